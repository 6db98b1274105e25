//! Whole runs in a sandbox of bubblewrap.

use sandcastle::sandbox::Bubblewrap;
use sandcastle::testing::{Script, Scripted, Turn};
use sandcastle::{Logging, RunOptions};

use super::Room;
use crate::support::repository::Repository;

#[tokio::test]
async fn case_162_a_scripted_agent_answers_from_inside_wherever_the_program_was_started() {
    if Room::new(Bubblewrap::new()).await.is_none() {
        return;
    }
    let repository = Repository::new();
    let script =
        Script::new().turn(Turn::new().shell("id -u >who; ls /proc | grep -c '^[0-9]' >seen").say("done"));
    let options = RunOptions::new(Scripted::new(script), Bubblewrap::new())
        .cwd(repository.path())
        .logging(Logging::off())
        .prompt("go");
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!(result.text, "done");
    let seen = repository.read("seen").unwrap();
    assert!(seen.trim().parse::<u32>().unwrap() < 10, "{seen}");
}

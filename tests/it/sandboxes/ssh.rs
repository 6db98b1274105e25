//! Runs on another machine, by ssh: an sshd of this host that sees nothing of its files.

use sandcastle::sandbox::{Isolated, Program, Ssh};
use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn};
use sandcastle::{BranchStrategy, ErrorKind, Logging, RunOptions, SandboxOptions, create_sandbox};

use crate::support::engines;

fn machine() -> Option<Ssh> {
    let ssh = engines::Ssh::user()?;
    Some(Ssh::new(ssh.host).program(ssh.program).config(ssh.config))
}

#[tokio::test]
async fn it_does_what_every_sandbox_does() {
    let Some(machine) = machine() else { return };
    sandcastle::testing::sandbox_conformance(Isolated::new(machine)).await.unwrap();
}

#[tokio::test]
async fn a_commit_that_is_made_on_another_machine_lands_here() {
    let Some(machine) = machine() else { return };
    let repository = ScratchRepo::new().await.unwrap();
    let turn = Turn::new().write_file("new.txt", "new\n").commit("made there").say("done");
    let options = RunOptions::new(Scripted::new(Script::new().turn(turn)), Isolated::new(machine))
        .cwd(repository.path())
        .branch_strategy(BranchStrategy::merge_to_head())
        .prompt("go")
        .logging(Logging::off());
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!(result.text, "done");
    assert_eq!(repository.git(["log", "-1", "--format=%s|%an"]).await.unwrap(), "made there|Scratch");
}

#[tokio::test]
async fn commands_see_the_other_machine_and_leave_nothing_there() {
    let Some(machine) = machine() else { return };
    let repository = ScratchRepo::new().await.unwrap();
    let options = SandboxOptions::new(Isolated::new(machine.clone())).cwd(repository.path());
    let sandbox = create_sandbox(options).await.unwrap();
    let script = format!("pwd; ls {} 2>&1 >/dev/null | grep -c 'o such'", repository.path().display());
    let done = sandbox.exec(Program::new("sh").args(["-c", &script])).await.unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    let (folder, count) = said.trim().split_once('\n').unwrap();
    assert!(folder.starts_with("/var/tmp/sandcastle-") && count == "1", "{said}");
    let failed = sandbox.exec(Program::new("sh").args(["-c", "kill -9 $$"])).await.unwrap();
    assert_eq!(failed.exit, sandcastle::Exit::Signal(9));
    // Somebody without a mark, who goes on.
    let racer = "setsid env -i sh -c 'while :; do sleep 0.05; done' >/dev/null 2>&1 </dev/null & echo";
    sandbox.exec(Program::new("sh").args(["-c", racer])).await.unwrap();
    sandbox.close().await.unwrap();

    let other =
        create_sandbox(SandboxOptions::new(Isolated::new(machine)).cwd(repository.path())).await.unwrap();
    let done = other.exec(Program::new("ls").args([folder])).await.unwrap();
    assert!(!done.exit.is_success(), "{done:?}");
    let look = format!("ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -c '{folder}'");
    let done = other.exec(Program::new("sh").args(["-c", &look])).await.unwrap();
    assert_eq!(String::from_utf8(done.stdout).unwrap().trim(), "0");
    other.close().await.unwrap();
}

#[tokio::test]
async fn a_machine_that_cannot_be_reached_is_named() {
    let Some(machine) = machine() else { return };
    let repository = ScratchRepo::new().await.unwrap();
    for (machine, said) in [
        (machine.clone().port(1), "refused"),
        (Ssh::new("sandcastle.invalid"), "sandcastle.invalid"),
        (Ssh::new("-oProxyCommand=x"), "no name of a machine"),
        (machine.program("/no/such/ssh"), "install an ssh client"),
    ] {
        let options = SandboxOptions::new(Isolated::new(machine)).cwd(repository.path());
        let error = create_sandbox(options).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Sandbox | ErrorKind::InvalidOptions), "{error:#}");
        assert!(format!("{error:#}").contains(said), "{error:#}");
    }
}

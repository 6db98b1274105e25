//! Sessions that the agents bring to another folder or another home, and the real programs that go on with them there.

use std::fs;
use std::path::{Path, PathBuf};

use sandcastle::agent::SessionPlace;
use sandcastle::session::{SessionTransfer, TransferOutcome};
use sandcastle::testing::ScratchRepo;
use sandcastle::{RunResult, SessionId};
use serde_json::json;

use super::{Bench, Subject, also_for, for_both_agents};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::real_agent::Home;

for_both_agents![
    a_session_goes_on_in_another_folder_and_home_and_comes_back,
    w_22_a_session_whose_folder_is_gone_goes_on_in_another,
    a_session_with_a_torn_end_goes_on_elsewhere,
    case_122_two_forks_at_once_of_a_session_that_was_brought,
];

also_for![
    pi in with_pi:
    a_session_goes_on_in_another_folder_and_home_and_comes_back,
    w_22_a_session_whose_folder_is_gone_goes_on_in_another,
    a_session_with_a_torn_end_goes_on_elsewhere,
    case_122_two_forks_at_once_of_a_session_that_was_brought,
];

/// A home and a folder.
#[derive(Clone, Copy)]
struct At<'a> {
    home: &'a Home,
    cwd: &'a Path,
}

impl<'a> At<'a> {
    fn new(home: &'a Home, cwd: &'a Path) -> Self {
        Self { home, cwd }
    }

    fn place(self) -> SessionPlace<'a> {
        SessionPlace::new(self.home.path(), self.cwd, &[])
    }
}

impl Bench {
    fn here(&self) -> At<'_> {
        At::new(&self.home, self.repository.path())
    }

    async fn say(&self, at: At<'_>, prompt: &str) -> RunResult<()> {
        sandcastle::run(self.prompted_at(at.home, at.cwd, prompt)).await.unwrap()
    }

    async fn resume(&self, at: At<'_>, session: &SessionId, prompt: &str) -> RunResult<()> {
        let options = self.prompted_at(at.home, at.cwd, prompt).resume_session(session.as_str());
        sandcastle::run(options).await.unwrap()
    }

    fn bring(&self, session: &SessionId, from: At<'_>, to: At<'_>) -> SessionTransfer {
        let transfer = self.agent.transfer_session(session, &from.place(), &to.place());
        transfer.unwrap().expect("a session")
    }
}

async fn a_session_goes_on_in_another_folder_and_home_and_comes_back(subject: Subject) {
    let bench = subject.bench(["one", "two", "three"].map(Reply::text)).await;
    let (home, repository) = (subject.program.home(&bench.server), ScratchRepo::new().await.unwrap());
    let (here, there) = (bench.here(), At::new(&home, repository.path()));
    let first = bench.say(here, "begin").await;
    let (session, file) = (id(&first), session_file(&first));
    let before = fs::read(&file).unwrap();

    let transfer = bench.bring(&session, here, there);
    assert_eq!((transfer.outcome, &transfer.notes[..]), (TransferOutcome::Written, &[] as &[String]));
    let second = bench.resume(there, &session, "go on").await;
    assert_eq!((second.session_id(), session_file(&second)), (Some(&session), transfer.file));
    assert_eq!(bench.server.turns()[1].assistant_texts(), ["one"]);
    assert_eq!(fs::read(&file).unwrap(), before);

    let transfer = bench.bring(&session, there, here);
    assert_eq!((transfer.outcome, transfer.file), (TransferOutcome::Written, file.clone()));
    let back = fs::read_to_string(&file).unwrap();
    assert!(back.len() > before.len());
    // Wherever a line was written, its session is held here now.
    let cwd = |at: At<'_>| format!("\"cwd\":\"{}\"", at.cwd.display());
    assert!(back.contains(&cwd(here)), "{back}");
    let third = bench.resume(here, &session, "and on").await;
    assert_eq!(session_file(&third), file);
    assert_eq!(bench.server.turns()[2].assistant_texts(), ["one", "two"]);
}

async fn w_22_a_session_whose_folder_is_gone_goes_on_in_another(subject: Subject) {
    let bench = subject.bench(["one", "two"].map(Reply::text)).await;
    let gone = ScratchRepo::new().await.unwrap();
    let path = gone.path().to_owned();
    let first = bench.say(At::new(&bench.home, &path), "begin").await;
    drop(gone);
    assert!(!path.exists());

    // It is not known any more which folder it was.
    bench.bring(&id(&first), bench.here(), bench.here());
    let second = bench.resume(bench.here(), &id(&first), "go on").await;
    assert_eq!(second.session_id(), first.session_id());
    assert_eq!(bench.server.turns()[1].assistant_texts(), ["one"]);
}

async fn a_session_with_a_torn_end_goes_on_elsewhere(subject: Subject) {
    let bench = subject.bench(["one", "two"].map(Reply::text)).await;
    let home = subject.program.home(&bench.server);
    let there = At::new(&home, bench.repository.path());
    let first = bench.say(bench.here(), "begin").await;
    let file = session_file(&first);
    let whole = fs::read_to_string(&file).unwrap();
    let torn = format!("{whole}{}", &whole.lines().last().unwrap()[..20]);
    fs::write(&file, &torn).unwrap();

    let transfer = bench.bring(&id(&first), bench.here(), there);
    assert!(fs::read_to_string(&transfer.file).unwrap() == torn);
    bench.resume(there, &id(&first), "go on").await;
    assert_eq!(bench.server.turns()[1].assistant_texts(), ["one"]);
    // What the program made of the torn end is more than what stayed behind.
    assert_eq!(bench.bring(&id(&first), there, bench.here()).outcome, TransferOutcome::Written);
}

async fn case_122_two_forks_at_once_of_a_session_that_was_brought(subject: Subject) {
    let bench = subject.bench([Reply::text("one"), Reply::text("forked").always()]).await;
    let (home, repository) = (subject.program.home(&bench.server), ScratchRepo::new().await.unwrap());
    let there = At::new(&home, repository.path());
    let parent = bench.say(bench.here(), "begin").await;
    let transfer = bench.bring(&id(&parent), bench.here(), there);
    let before = fs::read(&transfer.file).unwrap();

    let fork = |prompt| bench.prompted_at(there.home, there.cwd, prompt).fork_session(id(&parent).as_str());
    let (left, right) = tokio::join!(sandcastle::run(fork("left")), sandcastle::run(fork("right")));
    let ids = [id(&parent), id(&left.unwrap()), id(&right.unwrap())];
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
    assert_eq!(fs::read(&transfer.file).unwrap(), before);
    for fork in &ids[1..] {
        assert_eq!(bench.bring(fork, there, bench.here()).outcome, TransferOutcome::Written);
    }
    assert_eq!(bench.bring(&ids[0], there, bench.here()).outcome, TransferOutcome::UpToDate);
}

/// The program names the folder of a session after its working folder; here it is asked how.
#[tokio::test]
async fn w_34_claude_code_finds_what_is_brought_to_any_folder() {
    let Some(subject) = Subject::claude_code() else { return };
    let long = "long".repeat(30);
    for name in ["w.e_i rd é@x+🙂".to_owned(), format!("{long}/é🙂{long}")] {
        let bench = subject.bench(["one", "two"].map(Reply::text)).await;
        let cwd = bench.repository.path().join(name);
        fs::create_dir_all(&cwd).unwrap();
        let there = At::new(&bench.home, &cwd);
        let home = subject.program.home(&bench.server);
        let elsewhere = At::new(&home, Path::new("/nowhere"));
        let first = bench.say(there, "begin").await;
        let own = session_file(&first);

        let away = bench.bring(&id(&first), there, elsewhere);
        fs::remove_file(&own).unwrap();
        assert_eq!(bench.bring(&id(&first), elsewhere, there).file, own);
        bench.resume(there, &id(&first), "go on").await;
        assert_eq!(bench.server.turns()[1].assistant_texts(), ["one"]);
        assert!(fs::metadata(&own).unwrap().len() > fs::metadata(&away.file).unwrap().len());
    }
}

/// From a worktree the program finds the sessions of the main work tree; a copy of the worktree's own goes first.
#[tokio::test]
async fn case_117_claude_code_goes_on_in_a_worktree_and_back() {
    let Some(subject) = Subject::claude_code() else { return };
    let bench = subject.bench(["one", "two", "three"].map(Reply::text)).await;
    let folder = tempfile::tempdir().unwrap();
    let tree = fs::canonicalize(folder.path()).unwrap().join("tree");
    bench.repository.git(["worktree", "add", "--quiet", tree.to_str().unwrap()]).await.unwrap();
    let (here, there) = (bench.here(), At::new(&bench.home, &tree));
    let first = bench.say(here, "begin").await;

    let copy = bench.bring(&id(&first), here, there);
    let second = bench.resume(there, &id(&first), "go on").await;
    assert_eq!(session_file(&second), copy.file);
    assert_eq!(bench.server.turns()[1].assistant_texts(), ["one"]);

    // Back in the main work tree, where an earlier state is.
    assert_eq!(bench.bring(&id(&first), here, here).outcome, TransferOutcome::Written);
    let third = bench.resume(here, &id(&first), "and on").await;
    assert_eq!(session_file(&third), session_file(&first));
    assert_eq!(bench.server.turns()[2].assistant_texts(), ["one", "two"]);
}

/// The program starts a sub-agent anew from its transcript when the main agent writes to it.
#[tokio::test]
async fn sub_agents_of_claude_code_go_on_where_their_session_was_brought() {
    let Some(subject) = Subject::claude_code() else { return };
    let call = json!({ "description": "count", "prompt": "Count.", "subagent_type": "general-purpose" });
    let bench = subject.bench([Reply::tool("Agent", call), Reply::text("five"), Reply::text("done")]).await;
    let first = bench.say(bench.here(), "begin").await;
    let sub_agent = only_sub_agent(&session_file(&first));

    let call = json!({ "to": sub_agent, "message": "Go on.", "summary": "counting on" });
    let replies = [Reply::tool("SendMessage", call), Reply::text("six").always()];
    let server = ModelServer::start(replies);
    let (home, repository) = (subject.program.home(&server), ScratchRepo::new().await.unwrap());
    let there = At::new(&home, repository.path());
    let transfer = bench.bring(&id(&first), bench.here(), there);
    assert_eq!((transfer.sub_agents, &transfer.notes[..]), (1, &[] as &[String]));
    assert_eq!(only_sub_agent(&transfer.file), sub_agent);
    bench.resume(there, &id(&first), "go on").await;
    let remembers = server.turns().iter().any(|turn| turn.assistant_texts() == ["five"]);
    assert!(remembers);
    // And on the way back.
    let back = bench.bring(&id(&first), there, bench.here());
    assert_eq!((back.outcome, back.sub_agents), (TransferOutcome::Written, 1), "{back:?}");
}

/// The id of the sub-agent whose transcript is kept with this session.
fn only_sub_agent(session_file: &Path) -> String {
    let entries = fs::read_dir(session_file.with_extension("").join("subagents")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut ids =
        names.filter_map(|name| Some(name.strip_prefix("agent-")?.strip_suffix(".jsonl")?.to_owned()));
    let (first, second) = (ids.next().expect("a sub-agent"), ids.next());
    assert_eq!(second, None);
    first
}

fn id(result: &RunResult<()>) -> SessionId {
    result.session_id().expect("a session").clone()
}

fn session_file(result: &RunResult<()>) -> PathBuf {
    result.iterations[0].session_file.clone().expect("a session file")
}

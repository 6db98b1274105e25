//! Which places are asked, in which order, and what is said of them. The agent here keeps a session as one file in a
//! folder that is named by the working folder.

use std::fs;
use std::sync::Mutex;

use futures_util::FutureExt as _;
use tempfile::TempDir;

use super::*;
use crate::agent::{AgentCommand, AgentRequest, Capabilities, Decoder};
use crate::sandbox::{NoSandbox, SandboxProvider as _, SandboxRequest};

const ID: &str = "0a1b2c3d";

#[derive(Debug, Default)]
struct Keeper {
    keeps: Keeps,
    /// Homes from which nothing can be brought.
    stuck: Mutex<Vec<PathBuf>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Keeps {
    #[default]
    Files,
    Nothing,
}

fn folder_in(place: &SessionPlace<'_>) -> PathBuf {
    place.home.join(".keeper")
}

fn file_in(place: &SessionPlace<'_>, id: &SessionId) -> PathBuf {
    folder_in(place).join(place.cwd.to_string_lossy().replace('/', "-")).join(id.as_str())
}

impl Agent for Keeper {
    fn name(&self) -> &str {
        "keeper"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().with_resume()
    }

    fn command(&self, _: &AgentRequest<'_>) -> Result<AgentCommand> {
        Ok(AgentCommand::new("true"))
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        struct Deaf;
        impl Decoder for Deaf {
            fn line(&mut self, _: &[u8], _: &mut Vec<crate::AgentEvent>) {}
        }
        Box::new(Deaf)
    }

    fn session_folder(&self, place: &SessionPlace<'_>) -> Option<PathBuf> {
        (self.keeps == Keeps::Files).then(|| folder_in(place))
    }

    fn session_file(&self, session: &SessionId, place: &SessionPlace<'_>) -> Option<PathBuf> {
        let expected = file_in(place, session);
        let folders = fs::read_dir(folder_in(place)).into_iter().flatten().flatten();
        let others = folders.map(|folder| folder.path().join(session.as_str()));
        [expected].into_iter().chain(others).find(|file| file.is_file())
    }

    fn transfer_session(
        &self,
        session: &SessionId,
        from: &SessionPlace<'_>,
        to: &SessionPlace<'_>,
    ) -> Result<Option<SessionTransfer>> {
        let Some(found) = self.session_file(session, from) else { return Ok(None) };
        if self.stuck.lock().unwrap().contains(&from.home.to_path_buf()) {
            return Err(
                Error::new(ErrorKind::Io, "bring it").with_source(std::io::Error::other("it is stuck"))
            );
        }
        let (source, target) = (fs::read_to_string(&found).unwrap(), file_in(to, session));
        let present = fs::read_to_string(&target).unwrap_or_default();
        let outcome = match (source.strip_prefix(&present), present.starts_with(&source)) {
            (_, true) => TransferOutcome::UpToDate,
            (Some(_), false) => TransferOutcome::Written,
            (None, false) => TransferOutcome::Parted,
        };
        if outcome == TransferOutcome::Written {
            write(&target, &source);
        }
        Ok(Some(SessionTransfer::new(target, outcome)))
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A home, a store, and an agent that works in a worktree of the host's folder.
struct Bench {
    home: TempDir,
    store: TempDir,
    keeper: Arc<Keeper>,
}

impl Bench {
    fn new() -> Self {
        Self::keeping(Keeps::Files)
    }

    fn keeping(keeps: Keeps) -> Self {
        let keeper = Keeper { keeps, ..Keeper::default() };
        Self { home: TempDir::new().unwrap(), store: TempDir::new().unwrap(), keeper: Arc::new(keeper) }
    }

    fn sessions(&self) -> Sessions {
        self.sessions_with(Some(self.store.path().to_owned()))
    }

    fn sessions_with(&self, store: Option<PathBuf>) -> Sessions {
        Sessions::new(Arc::clone(&self.keeper) as Arc<dyn Agent>, store, PathBuf::from("/host"))
    }

    fn inside(&self) -> Inside {
        let provider = NoSandbox::new();
        let made = provider.create(SandboxRequest::new("/tree"));
        Inside {
            home: Some(self.home.path().to_owned()),
            home_inside: None,
            sandbox: made.now_or_never().unwrap().unwrap(),
            cwd: PathBuf::from("/tree"),
            env: Vec::new(),
        }
    }

    fn at_home(&self, cwd: &str) -> PathBuf {
        file_in(&SessionPlace::new(self.home.path(), Path::new(cwd), &[]), &id())
    }

    fn in_store(&self) -> PathBuf {
        file_in(&SessionPlace::new(self.store.path(), Path::new("/host"), &[]), &id())
    }

    fn stick(&self, home: &TempDir) {
        self.keeper.stuck.lock().unwrap().push(home.path().to_owned());
    }
}

fn id() -> SessionId {
    SessionId::new(ID).unwrap()
}

fn resume() -> SessionRequest {
    SessionRequest::Resume(id())
}

#[tokio::test]
async fn a_session_comes_from_the_store_for_a_resume_and_for_a_fork() {
    for request in [resume(), SessionRequest::Fork(id())] {
        let bench = Bench::new();
        write(&bench.in_store(), "said\n");
        assert_eq!(bench.sessions().bring_in(&request, &bench.inside()).await.unwrap(), [] as [&str; 0]);
        assert_eq!(fs::read_to_string(bench.at_home("/tree")).unwrap(), "said\n");
    }
}

#[tokio::test]
async fn case_117_a_session_of_a_worktree_that_is_gone_comes_from_the_same_home() {
    let bench = Bench::new();
    write(&bench.at_home("/tree/that/is/gone"), "said\n");
    for sessions in [bench.sessions_with(None), bench.sessions()] {
        assert_eq!(sessions.bring_in(&resume(), &bench.inside()).await.unwrap(), [] as [&str; 0]);
        assert_eq!(fs::read_to_string(bench.at_home("/tree")).unwrap(), "said\n");
    }
}

#[tokio::test]
async fn what_the_store_has_more_is_added() {
    let bench = Bench::new();
    write(&bench.at_home("/host"), "one\n");
    write(&bench.in_store(), "one\ntwo\n");
    bench.sessions().bring_in(&resume(), &bench.inside()).await.unwrap();
    assert_eq!(fs::read_to_string(bench.at_home("/tree")).unwrap(), "one\ntwo\n");
}

#[tokio::test]
async fn a_session_that_went_on_in_two_places_is_said() {
    let bench = Bench::new();
    write(&bench.at_home("/tree"), "one\ntwo\n");
    write(&bench.in_store(), "one\nother\n");
    let warnings = bench.sessions().bring_in(&resume(), &bench.inside()).await.unwrap();
    assert!(matches!(&warnings[..], [warning] if warning.contains("went on in two places")), "{warnings:?}");
    assert_eq!(fs::read_to_string(bench.at_home("/tree")).unwrap(), "one\ntwo\n");

    let captured = bench.sessions().bring_out(&id(), &bench.inside()).await.unwrap();
    assert_eq!(captured.file, Some(bench.at_home("/tree")));
    assert!(captured.warnings[0].contains("went on in two places"), "{captured:?}");
    assert_eq!(fs::read_to_string(bench.in_store()).unwrap(), "one\nother\n");
}

#[tokio::test]
async fn a_session_that_is_nowhere_is_named_with_all_the_folders() {
    let bench = Bench::new();
    let error = bench.sessions().bring_in(&resume(), &bench.inside()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionNotFound);
    let [home, store] = [&bench.home, &bench.store].map(|folder| folder.path().join(".keeper"));
    let expected = format!(
        "find the session `{ID}` of the agent `keeper`: it is not in `{}` or `{}`",
        home.display(),
        store.display()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.hints().len(), 1);
}

#[tokio::test]
async fn what_cannot_be_brought_is_a_failure_only_if_it_is_needed() {
    let bench = Bench::new();
    write(&bench.in_store(), "said\n");
    bench.stick(&bench.store);
    let error = bench.sessions().bring_in(&resume(), &bench.inside()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    write(&bench.at_home("/tree"), "said\n");
    let warnings = bench.sessions().bring_in(&resume(), &bench.inside()).await.unwrap();
    assert_eq!(warnings, ["failed to bring it: it is stuck"]);
}

#[tokio::test]
async fn nothing_is_asked_where_nothing_can_be_known() {
    let bench = Bench::keeping(Keeps::Nothing);
    bench.sessions().bring_in(&resume(), &bench.inside()).await.unwrap();
    assert_eq!(bench.sessions().known(&id(), Some(bench.home.path()), &[]), Known::CannotTell);
    assert_eq!(bench.sessions().bring_out(&id(), &bench.inside()).await.unwrap(), Captured::default());

    let bench = Bench::new();
    let unseen = Inside { home: None, ..bench.inside() };
    bench.sessions().bring_in(&resume(), &unseen).await.unwrap();
    assert_eq!(bench.sessions().bring_out(&id(), &unseen).await.unwrap(), Captured::default());
    bench.sessions().bring_in(&SessionRequest::Fresh, &bench.inside()).await.unwrap();
}

#[test]
fn a_session_is_known_before_there_is_a_sandbox() {
    let bench = Bench::new();
    let sessions = bench.sessions();
    let folder = |home: &TempDir| home.path().join(".keeper");
    assert_eq!(sessions.known(&id(), None, &[]), Known::No(vec![folder(&bench.store)]));
    write(&bench.in_store(), "said\n");
    assert_eq!(sessions.known(&id(), None, &[]), Known::Yes(bench.in_store()));
    write(&bench.at_home("/elsewhere"), "said\n");
    let home = Some(bench.home.path());
    assert_eq!(sessions.known(&id(), home, &[]), Known::Yes(bench.at_home("/elsewhere")));
    let other = SessionId::new("other").unwrap();
    assert_eq!(sessions.known(&other, home, &[]), Known::No(vec![folder(&bench.home), folder(&bench.store)]));
    assert_eq!(bench.sessions_with(None).known(&id(), None, &[]), Known::CannotTell);
}

#[tokio::test]
async fn a_session_is_captured_into_a_store_that_is_made_private() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    let store = bench.store.path().join("made/for/it");
    write(&bench.at_home("/tree"), "said\n");
    let captured = bench.sessions_with(Some(store.clone())).bring_out(&id(), &bench.inside()).await.unwrap();
    let file = file_in(&SessionPlace::new(&store, Path::new("/host"), &[]), &id());
    assert_eq!(captured, Captured { file: Some(file), warnings: Vec::new() });
    assert_eq!(fs::metadata(&store).unwrap().permissions().mode() & 0o777, 0o700);

    let captured = bench.sessions_with(None).bring_out(&id(), &bench.inside()).await.unwrap();
    assert_eq!(captured.file, Some(bench.at_home("/tree")));
}

#[tokio::test]
async fn w_16_a_session_that_cannot_be_captured_is_an_error_that_says_so() {
    let bench = Bench::new();
    let error = bench.sessions().bring_out(&id(), &bench.inside()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionNotFound);
    write(&bench.at_home("/tree"), "said\n");
    bench.stick(&bench.home);
    assert_eq!(bench.sessions().bring_out(&id(), &bench.inside()).await.unwrap_err().kind(), ErrorKind::Io);
    let beyond = bench.at_home("/tree").join("below/a/file");
    let error = bench.sessions_with(Some(beyond)).bring_out(&id(), &bench.inside()).await.unwrap_err();
    assert!(error.to_string().contains("make the session store"), "{error:#}");
}

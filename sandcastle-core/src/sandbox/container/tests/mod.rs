//! What an engine is told, by a program that plays its client: these need no engine.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::ExitStatus;

use super::*;
use crate::error::ErrorKind;
use crate::process::{Output, Program};

/// A client that writes down what it is told, and a work tree.
struct Stub {
    folder: tempfile::TempDir,
    tree: tempfile::TempDir,
}

impl Stub {
    fn new() -> Self {
        let stub = Self { folder: tempfile::tempdir().unwrap(), tree: tempfile::tempdir().unwrap() };
        stub.write("client", include_str!("engine.sh"));
        stub.write("image", r#"{"User":"","Env":["HOME=/root"]}"#);
        fs::set_permissions(stub.path().join("client"), fs::Permissions::from_mode(0o755)).unwrap();
        stub
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.path().join(name), content).unwrap();
    }

    fn provider(&self) -> Docker {
        Docker::new("a:b").program(self.path().join("client"))
    }

    async fn create(&self, provider: &Docker) -> Result<Arc<dyn SandboxHandle>> {
        SandboxProvider::create(provider, SandboxRequest::new(self.tree.path())).await
    }

    /// The calls that were made, each with as many words as matter.
    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.path().join("calls")).unwrap_or_default();
        let words = |call: &str| call.split(' ').take(2).collect::<Vec<_>>().join(" ");
        // A look for orphans takes place beside a start, whenever it comes.
        calls.lines().map(words).filter(|call| !call.starts_with("ps ")).collect()
    }
}

async fn played(sandbox: &dyn SandboxHandle, script: &str) -> (String, ExitStatus) {
    let program = Program::new("sh").args(["-c", script]).env("OWN", "s3cret-42");
    let mut running = sandbox.start(program).await.unwrap();
    let mut said = String::new();
    loop {
        match running.next().await.unwrap() {
            Output::Stdout(bytes) => said.push_str(std::str::from_utf8(bytes).unwrap()),
            Output::Exited(status) => return (said, status),
        }
    }
}

#[tokio::test]
async fn a_start_is_one_call_of_the_client_beside_a_look_at_the_image() {
    let stub = Stub::new();
    let provider = stub.provider();
    let sandbox = stub.create(&provider).await.unwrap();
    assert_eq!(played(&*sandbox, "pwd").await.0.trim(), stub.tree.path().display().to_string());
    assert_eq!(stub.calls(), ["image inspect", "run --interactive"], "the first program takes no call");
    assert_eq!(played(&*sandbox, "exit 3").await.1.code(), Some(3));
    sandbox.close().await.unwrap();
    sandbox.close().await.unwrap();
    drop(sandbox);
    let all = ["image inspect", "run --interactive", "exec --interactive", "rm --force"];
    assert_eq!(stub.calls(), all);
    drop(stub.create(&provider).await.unwrap());
    assert_eq!(stub.calls()[4..], ["run --interactive", "rm --force"], "the image is known by now");
}

#[tokio::test]
async fn case_179_a_client_that_writes_everything_down_knows_no_value() {
    let stub = Stub::new();
    let sandbox = stub.create(&stub.provider().env("TOKEN", "s3cret-42")).await.unwrap();
    for _ in 0..2 {
        assert_eq!(played(&*sandbox, "echo $TOKEN $OWN").await.0, "s3cret-42 s3cret-42\n");
    }
    sandbox.close().await.unwrap();
    for file in ["calls", "environment"] {
        assert!(!fs::read_to_string(stub.path().join(file)).unwrap().contains("s3cret"), "{file}");
    }
}

#[tokio::test]
async fn what_a_client_says_is_an_error_and_what_may_have_been_made_is_removed() {
    let stub = Stub::new();
    stub.write(
        "refusal",
        "docker: Error response from daemon: network nonet not found.\n\nRun 'docker run --help'\n",
    );
    let error = stub.create(&stub.provider()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Sandbox);
    let said = "start a container from `a:b`: docker says: docker: Error response from daemon: network nonet not found.";
    assert_eq!(error.to_string(), said);
    assert_eq!(error.hints(), ["`docker network ls` shows the networks that are there"]);
    assert_eq!(stub.calls(), ["image inspect", "run --interactive", "rm --force"]);
    fs::remove_file(stub.path().join("image")).unwrap();
    let error = stub.create(&stub.provider()).await.unwrap_err();
    assert!(error.to_string().starts_with("look at the image `a:b`"), "{error}");
    assert!(error.hints()[0].contains("sandcastle docker build-image"), "{error:#}");
    assert_eq!(stub.calls().len(), 4, "nothing is started without an image");
}

#[tokio::test]
async fn a_home_that_cannot_be_written_is_refused_before_anything_is_started() {
    let stub = Stub::new();
    let client = include_str!("engine.sh").replace("HOME=\"$here\"", "HOME=/nowhere");
    stub.write("client", &client);
    let error = stub.create(&stub.provider()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Sandbox);
    assert!(error.to_string().contains("has no home that it can write: `/nowhere`"), "{error}");
    assert!(error.hints().join("\n").contains(".home("), "{error:#}");
    assert_eq!(stub.calls().last().unwrap(), "rm --force");
}

//! GitHub, read and written over both of its interfaces, as a server on loopback plays them.

mod hostile;
mod reading;
mod refusals;
mod writing;

use sandcastle::review::PullRequest;
use sandcastle::{Error, forge::Forge};

use crate::support::github::{GitHubServer, NUMBER, Scene, TOKEN};

/// The commits of a pull request that no repository has to have.
const HEAD: &str = "6dcb09b5b57875f334f61aebed695e2e4193db5e";
const BASE: &str = "c3d0be41ecbe669545ee3e94d31ed9a4bc91ee3c";

fn scene() -> Scene {
    Scene::new(HEAD, BASE)
}

fn server() -> GitHubServer {
    GitHubServer::start(scene())
}

async fn read(server: &GitHubServer) -> PullRequest {
    server.client().pull_request(NUMBER).await.unwrap()
}

/// Why a pull request cannot be read. Whatever went wrong, the token is nowhere.
async fn failure(server: &GitHubServer) -> Error {
    let error = server.client().pull_request(NUMBER).await.unwrap_err();
    assert_hidden(&error);
    error
}

#[track_caller]
fn assert_hidden(error: &Error) {
    assert!(!format!("{error} {error:#} {error:?} {error:#?}").contains(TOKEN), "{error:#?}");
}

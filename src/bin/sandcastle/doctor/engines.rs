//! Docker and Podman: whether the engine answers, and what it is like.
//!
//! Both are asked by their own programs, with the user's configuration, which says where the engine is. One that is reached
//! over a network is not asked: that would take the user's keys.

use std::path::Path;

use sandcastle::sandbox::Program;
use serde_json::Value;

use super::tools::silent;
use super::{Finding, LIMIT, State, Subject};
use crate::programs::answer;

const DOCKER_HINT: &str = "https://docs.docker.com/engine/install says how to install and start it";
const PODMAN_HINT: &str = "https://podman.io/docs/installation says how to install it";

/// Where Podman keeps its programs.
const PODMAN_PROGRAMS: &[&str] = &[
    "/usr/libexec/podman",
    "/usr/local/libexec/podman",
    "/usr/lib/podman",
    "/usr/local/lib/podman",
    "/usr/bin",
];

pub(super) async fn docker() -> Finding {
    let found = |state| Finding::new(Subject::Sandbox, "docker", state);
    let context =
        Program::new("docker").args(["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"]);
    let address = match answer(&context, LIMIT).await {
        Ok(ended) if ended.status.success() => ended.first_line().to_owned(),
        Ok(_) => String::new(),
        Err(silence) => return silent(Subject::Sandbox, "docker", &silence).hint(DOCKER_HINT),
    };
    if is_remote(&address) {
        return found(State::Works).detail(format!("the engine is at `{address}` and was not asked"));
    }
    let info = Program::new("docker").args(["info", "--format", "{{json .}}"]);
    match answer(&info, LIMIT).await {
        Ok(ended) => {
            let info: Value = serde_json::from_str(ended.stdout.trim()).unwrap_or_default();
            match info["ServerVersion"].as_str().filter(|version| !version.is_empty()) {
                Some(version) => found(State::Works).version(version).detail(docker_detail(&info)),
                None => {
                    let why = info["ServerErrors"][0].as_str().unwrap_or_else(|| ended.complaint());
                    found(State::Broken).detail(format!("the client is there, the engine is not: {why}"))
                }
            }
        }
        Err(silence) => silent(Subject::Sandbox, "docker", &silence),
    }
    .hint(DOCKER_HINT)
}

/// Tells whether an engine is on another machine.
fn is_remote(address: &str) -> bool {
    !address.is_empty() && !["unix://", "npipe://", "fd://"].iter().any(|local| address.starts_with(local))
}

fn docker_detail(info: &Value) -> String {
    let options = info["SecurityOptions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_rootless = options.iter().any(|option| option.as_str().is_some_and(|it| it.contains("rootless")));
    let init = info["InitBinary"].as_str().filter(|init| !init.is_empty());
    detail(is_rootless, init.is_some())
}

fn detail(is_rootless: bool, has_init: bool) -> String {
    let rights = if is_rootless { "rootless" } else { "rootful" };
    let init = if has_init { "with an init program" } else { "without an init program" };
    format!("{rights}, {init}")
}

pub(super) async fn podman() -> Finding {
    let found = |state| Finding::new(Subject::Sandbox, "podman", state);
    let info = Program::new("podman")
        .args(["info", "--format", "json"])
        .env_remove("CONTAINER_HOST")
        .env_remove("CONTAINER_CONNECTION");
    match answer(&info, LIMIT).await {
        Ok(ended) if ended.status.success() => {
            let info: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
            let is_rootless = info["host"]["security"]["rootless"].as_bool().unwrap_or_default();
            let has_init = PODMAN_PROGRAMS.iter().any(|folder| Path::new(folder).join("catatonit").exists());
            let version = info["version"]["Version"].as_str().unwrap_or("unknown");
            found(State::Works).version(version).detail(detail(is_rootless, has_init))
        }
        Ok(ended) => found(State::Broken).detail(ended.complaint()),
        Err(silence) => silent(Subject::Sandbox, "podman", &silence),
    }
    .hint(PODMAN_HINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_over_a_network_is_not_asked() {
        assert!(
            !is_remote("unix:///var/run/docker.sock") && !is_remote("") && !is_remote("npipe:////./pipe/x")
        );
        assert!(is_remote("ssh://me@host") && is_remote("tcp://10.0.0.1:2376"));
    }
}

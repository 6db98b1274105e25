//! Docker and Podman, as builders of images: one way for both.
//!
//! A program that is missing, an engine that does not answer and a build that fails are three failures. Each is told by its
//! kind, and only the last one means that anything was begun.

use std::ffi::OsString;
use std::time::Duration;

use rustix::process::{getgid, getuid};
use sandcastle::sandbox::Program;
use serde_json::json;

use super::{Image, Recipe};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::programs::{Ended, Silence, answer, lines};

/// How long an engine may take to say that it is there.
const GREETING: Duration = Duration::from_secs(20);
/// How long an engine may take to remove an image.
const REMOVAL: Duration = Duration::from_secs(120);

/// A container engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Docker,
    Podman,
}

impl Engine {
    /// Returns the name of the engine, of its program and of its subcommand.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }

    /// Returns what the engine calls a recipe.
    pub(crate) fn recipe(self) -> &'static str {
        match self {
            Self::Docker => "Dockerfile",
            Self::Podman => "Containerfile",
        }
    }

    /// Builds an image for the user and the group of this process, and hands on what the engine prints, line by line.
    ///
    /// A dropped future ends the build.
    pub(crate) async fn build(
        self,
        image: &Image,
        recipe: &Recipe,
        each: impl FnMut(&str),
    ) -> Result<(), Failure> {
        self.greet().await?;
        let (uid, gid) = (getuid().as_raw(), getgid().as_raw());
        let program = Program::new(self.name()).args(build_args(image, recipe, uid, gid));
        let (status, tail) = lines(&program, each).await.map_err(|silence| self.unheard(&silence))?;
        if status.success() {
            return Ok(());
        }
        let last = tail.trim_end().lines().next_back().unwrap_or_default();
        let what =
            format_args!("build the image `{image}`: `{} build` ended with {status}: {last}", self.name());
        let mut failure = Failure::of_kind(Exit::Failed, "image-build", what);
        failure.json["output"] = json!(tail);
        Err(failure)
    }

    /// Removes an image.
    pub(crate) async fn remove(self, image: &Image) -> Result<(), Failure> {
        self.greet().await?;
        let program = Program::new(self.name()).args(["image", "rm", image.as_str()]);
        let ended = answer(&program, REMOVAL).await.map_err(|silence| self.unheard(&silence))?;
        if ended.status.success() {
            return Ok(());
        }
        let is_absent = ["no such image", "image not known"].iter().any(|said| ended_says(&ended, said));
        let kind = if is_absent { "image-missing" } else { "image-remove" };
        let what = format_args!("remove the image `{image}`: {}", ended.complaint());
        Err(Failure::of_kind(Exit::Failed, kind, what))
    }

    /// Asks whether the engine is there. The client of Docker asks its daemon; Podman looks at its storage.
    async fn greet(self) -> Result<(), Failure> {
        let args: &[&str] = match self {
            Self::Docker => &["version", "--format", "{{.Server.Version}}"],
            Self::Podman => &["info", "--format", "{{.Host.OS}}"],
        };
        match answer(&Program::new(self.name()).args(args), GREETING).await {
            Ok(ended) if ended.status.success() => Ok(()),
            Ok(ended) => Err(self.unreachable(ended.complaint())),
            Err(silence) => Err(self.unheard(&silence)),
        }
    }

    fn unheard(self, silence: &Silence) -> Failure {
        match silence {
            Silence::Absent => {
                let what = format_args!("find the program `{}`", self.name());
                Failure::of_kind(Exit::Usage, "engine-missing", what)
                    .with_hint("install it, or use another sandbox; `sandcastle doctor` says what works here")
            }
            Silence::TooLong(limit) => {
                self.unreachable(&format!("it did not answer within {} s", limit.as_secs()))
            }
            Silence::Failed(error) => self.unreachable(&error.to_string()),
        }
    }

    fn unreachable(self, why: &str) -> Failure {
        let hint = match self {
            Self::Docker => "start the daemon, or set `DOCKER_HOST` or `docker context use` to one that runs",
            Self::Podman => "`podman info` shows what is wrong; on macOS and Windows: `podman machine start`",
        };
        Failure::of_kind(Exit::Usage, "engine-unreachable", format_args!("reach {}: {why}", self.name()))
            .with_hint(hint)
    }
}

fn ended_says(ended: &Ended, text: &str) -> bool {
    ended.stderr.to_lowercase().contains(text)
}

/// Returns what is behind the name of an engine to build an image.
fn build_args(image: &Image, recipe: &Recipe, uid: u32, gid: u32) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["build".into(), "--tag".into(), image.as_str().into()];
    for id in [format!("AGENT_UID={uid}"), format!("AGENT_GID={gid}")] {
        args.extend(["--build-arg".into(), id.into()]);
    }
    args.extend(["--file".into(), recipe.file.clone().into(), recipe.context.clone().into()]);
    args
}

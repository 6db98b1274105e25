//! What can be typed behind `docker` and `podman`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::runs::PlaceArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum DockerCommand {
    /// Build the image that agents work in, with your user and group ids.
    ///
    /// The build is shown as it goes on, on the standard error.
    BuildImage {
        /// The recipe; the current folder is its context then [default: .sandcastle/Dockerfile, with .sandcastle/ as
        /// its context].
        #[arg(long, value_name = "FILE")]
        dockerfile: Option<PathBuf>,
        #[command(flatten)]
        image: ImageArgs,
    },
    /// Remove the image.
    RemoveImage {
        #[command(flatten)]
        image: ImageArgs,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum PodmanCommand {
    /// Build the image that agents work in, with your user and group ids.
    ///
    /// The build is shown as it goes on, on the standard error.
    BuildImage {
        /// The recipe; the current folder is its context then [default: .sandcastle/Containerfile, with .sandcastle/ as
        /// its context].
        #[arg(long, value_name = "FILE")]
        containerfile: Option<PathBuf>,
        #[command(flatten)]
        image: ImageArgs,
    },
    /// Remove the image.
    RemoveImage {
        #[command(flatten)]
        image: ImageArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ImageArgs {
    /// The name of the image [default: sandcastle:<folder of the repository>].
    #[arg(long, value_name = "NAME")]
    pub(crate) image_name: Option<String>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

//! `sandcastle docker` and `sandcastle podman`: build and remove the image that agents work in.

use std::path::{Path, PathBuf};

use sandcastle::journal::Runs;
use serde_json::json;

use super::signals::{Keyboard, cancelled_by_signals};
use crate::cli::{DockerCommand, ImageArgs, PodmanCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::images::{Engine, Image, Recipe};
use crate::reporter::Reporter;

pub(super) async fn docker(command: DockerCommand, reporter: &Reporter) -> Result<Exit, Failure> {
    match command {
        DockerCommand::BuildImage { dockerfile, image } => {
            build(Engine::Docker, image, dockerfile, reporter).await
        }
        DockerCommand::RemoveImage { image } => remove(Engine::Docker, &image, reporter).await,
    }
}

pub(super) async fn podman(command: PodmanCommand, reporter: &Reporter) -> Result<Exit, Failure> {
    match command {
        PodmanCommand::BuildImage { containerfile, image } => {
            build(Engine::Podman, image, containerfile, reporter).await
        }
        PodmanCommand::RemoveImage { image } => remove(Engine::Podman, &image, reporter).await,
    }
}

async fn build(
    engine: Engine,
    args: ImageArgs,
    recipe: Option<PathBuf>,
    reporter: &Reporter,
) -> Result<Exit, Failure> {
    let folder = config_dir(&args.place.cwd).await?;
    let image = named(&args, &folder)?;
    built(engine, &image, recipe.as_deref(), &folder, reporter).await?;
    reporter.result(
        &json!({ "engine": engine.name(), "image": image.as_str(), "built": true }),
        &format!("built {image}"),
    )?;
    Ok(Exit::Done)
}

/// Builds an image, by a recipe of the user's or by the one in the configuration folder.
pub(super) async fn built(
    engine: Engine,
    image: &Image,
    recipe: Option<&Path>,
    folder: &Path,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let recipe = match recipe {
        Some(file) => Recipe::of_user(file)?,
        None => Recipe::of_scaffold(engine, folder)?,
    };
    let stop = cancelled_by_signals(Keyboard::default());
    tokio::select! {
        built = engine.build(image, &recipe, |line| reporter.progress(line)) => built,
        () = stop.cancelled() => Err(Failure::cancelled(format_args!("build the image `{image}`: it was interrupted"))),
    }
}

async fn remove(engine: Engine, args: &ImageArgs, reporter: &Reporter) -> Result<Exit, Failure> {
    let image = match &args.image_name {
        Some(name) => Image::new(name)?,
        None => default_image(&config_dir(&args.place.cwd).await?),
    };
    engine.remove(&image).await?;
    reporter.result(
        &json!({ "engine": engine.name(), "image": image.as_str(), "removed": true }),
        &format!("removed {image}"),
    )?;
    Ok(Exit::Done)
}

fn named(args: &ImageArgs, folder: &Path) -> Result<Image, Failure> {
    args.image_name.as_deref().map_or_else(|| Ok(default_image(folder)), Image::new)
}

/// Names the image of the repository that has this configuration folder.
pub(super) fn default_image(config_dir: &Path) -> Image {
    Image::of_repository(config_dir.parent().unwrap_or(config_dir))
}

/// Names the image of the repository that a folder is in, as `build-image` does.
pub(super) async fn of_repository(cwd: &Path) -> Result<Image, Failure> {
    config_dir(cwd).await.map(|folder| default_image(&folder))
}

async fn config_dir(cwd: &Path) -> Result<PathBuf, Failure> {
    let runs = Runs::of(cwd).await.map_err(|error| Failure::at_entry(&error))?;
    Ok(runs.config_dir().to_path_buf())
}

//! The recipe that an image is built by, and the folder that is its context.

use std::path::{Path, PathBuf};

use super::Engine;
use crate::exit::Exit;
use crate::failure::Failure;

/// A recipe with its context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recipe {
    pub(super) file: PathBuf,
    pub(super) context: PathBuf,
}

impl Recipe {
    /// Finds the recipe that `init` made.
    pub(crate) fn of_scaffold(engine: Engine, folder: &Path) -> Result<Self, Failure> {
        let file = folder.join(engine.recipe());
        if file.is_file() {
            return Ok(Self { file, context: folder.to_path_buf() });
        }
        let what = format_args!("find the recipe `{}`", file.display());
        Err(Failure::of_kind(Exit::Usage, "recipe-missing", what).with_hint(&format!(
            "`sandcastle init --sandbox {}` makes it; name another one with `--{}`",
            engine.name(),
            engine.recipe().to_lowercase()
        )))
    }

    /// Takes a recipe of the user's, with the current folder as its context.
    pub(crate) fn of_user(file: &Path) -> Result<Self, Failure> {
        let found = file.canonicalize().and_then(|file| std::env::current_dir().map(|here| (file, here)));
        match found {
            Ok((file, context)) if file.is_file() => Ok(Self { file, context }),
            Ok(_) => {
                Err(Failure::input(format_args!("use the recipe `{}`", file.display()), "it is not a file"))
            }
            Err(error) => Err(Failure::input(format_args!("use the recipe `{}`", file.display()), error)),
        }
    }
}

//! Names of images.

use std::fmt;
use std::path::Path;

use crate::failure::Failure;

/// The most characters of a tag.
const TAG: usize = 128;
/// The most characters of a name that a person gives.
const NAME: usize = 512;

/// The name of an image: nothing that an engine could take for an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image(String);

impl Image {
    /// Checks a name that was given.
    pub(crate) fn new(name: &str) -> Result<Self, Failure> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
        let begins_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
        let (repository, tag) = match name.rsplit_once(':') {
            Some((repository, tag)) if !tag.contains('/') => (repository, Some(tag)),
            _ => (name, None),
        };
        // An engine would say so too, but not before a daemon is there to ask.
        let has_lower_case = !repository.contains(|c: char| c.is_ascii_uppercase());
        let has_tag = tag.is_none_or(|tag| !tag.is_empty() && tag.len() <= TAG);
        if begins_well && has_lower_case && has_tag && name.len() <= NAME && name.chars().all(is_part) {
            return Ok(Self(name.to_owned()));
        }
        Err(Failure::usage(format!("failed to call an image `{:.100}`", name.escape_debug().to_string()))
            .with_hint("a name is like `sandcastle:my-project`, its part before the `:` in lower case"))
    }

    /// Names the image of a repository after its folder: `sandcastle:` and the name in lower case, with `-` for everything
    /// else than letters, digits, `_`, `.` and `-`.
    pub(crate) fn of_repository(folder: &Path) -> Self {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.-".contains(c);
        let tag: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
        // A tag cannot begin with these.
        let tag = tag.trim_start_matches(['.', '-']);
        let tag = &tag[..tag.len().min(TAG)];
        Self(format!("sandcastle:{}", if tag.is_empty() { "local" } else { tag }))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_096_an_image_is_called_after_the_folder_of_its_repository() {
        for (folder, name) in [
            ("/home/me/My Repo!", "sandcastle:my-repo-"),
            ("/home/me/a_b.c-d", "sandcastle:a_b.c-d"),
            ("/home/me/.dotfiles", "sandcastle:dotfiles"),
            ("/home/me/日本", "sandcastle:local"),
            ("/", "sandcastle:local"),
        ] {
            assert_eq!(Image::of_repository(Path::new(folder)).as_str(), name, "{folder}");
        }
        let long = Image::of_repository(Path::new(&"x".repeat(200)));
        assert_eq!(long.as_str().len(), "sandcastle:".len() + TAG);
        assert_eq!(Image::new(long.as_str()).unwrap(), long);
    }

    #[test]
    fn a_name_is_no_option_and_no_sentence() {
        for name in ["sandcastle:local", "a", "host:5000/team/image", "localhost/x:1.0-b", "x@sha256:abc"] {
            assert_eq!(Image::new(name).unwrap().as_str(), name);
        }
        for name in ["", "-x", "--all", "a b", "A:x", "a:", "a\n", "$(x)", "sandcastle:é"] {
            assert!(Image::new(name).is_err(), "{name}");
        }
    }
}

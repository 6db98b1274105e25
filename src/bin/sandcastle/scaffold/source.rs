//! Where a scaffold takes the library from.

use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Where a scaffold takes the library from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Path(PathBuf),
    Git { address: String, rev: Option<String> },
}

impl Source {
    /// Checks what was given.
    pub(crate) fn new(
        path: Option<&Path>,
        address: Option<String>,
        rev: Option<String>,
    ) -> Result<Self, Failure> {
        for text in [&address, &rev].into_iter().flatten() {
            if text.is_empty() || text.chars().any(char::is_control) {
                return Err(Failure::usage(format!(
                    "failed to take the library from `{}`",
                    text.escape_debug()
                )));
            }
        }
        let Some(path) = path else {
            let address = address.unwrap_or_else(|| env!("CARGO_PKG_REPOSITORY").to_owned());
            return Ok(Self::Git { address, rev });
        };
        let no_library = |why: String| {
            Failure::usage(format!("failed to take the library from `{}`: {why}", path.display())).with_hint(
                "`--sandcastle-path` is a folder with the sources of `sandcastle`, with its `Cargo.toml`",
            )
        };
        let folder = path.canonicalize().map_err(|error| no_library(error.to_string()))?;
        if !folder.join("Cargo.toml").is_file() {
            return Err(no_library("it has no `Cargo.toml`".to_owned()));
        }
        match folder.to_str() {
            Some(text) if !text.chars().any(char::is_control) => Ok(Self::Path(folder)),
            _ => Err(no_library("its path cannot be written into a manifest".to_owned())),
        }
    }

    /// Words the dependency for a manifest.
    pub(super) fn dependency(&self) -> String {
        match self {
            Self::Path(path) => format!("{{ path = {} }}", toml_string(&path.to_string_lossy())),
            Self::Git { address, rev: None } => format!("{{ git = {} }}", toml_string(address)),
            Self::Git { address, rev: Some(rev) } => {
                format!("{{ git = {}, rev = {} }}", toml_string(address), toml_string(rev))
            }
        }
    }
}

/// Writes a text without control characters as a basic string of TOML.
fn toml_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_is_one_value_whatever_is_in_it() {
        let source = Source::Path(PathBuf::from(r#"/a "b"\c"#));
        assert_eq!(source.dependency(), r#"{ path = "/a \"b\"\\c" }"#);
        let source = Source::new(None, Some("u".into()), Some("v1".into())).unwrap();
        assert_eq!(source.dependency(), r#"{ git = "u", rev = "v1" }"#);
        let source = Source::new(None, None, None).unwrap();
        assert_eq!(source.dependency(), r#"{ git = "https://github.com/sandcastle-rs/sandcastle" }"#);
    }

    #[test]
    fn what_is_no_source_is_refused() {
        assert!(Source::new(None, Some("a\nb".into()), None).is_err());
        assert!(Source::new(None, None, Some(String::new())).is_err());
        assert!(Source::new(Some(Path::new("/no/such/folder")), None, None).is_err());
        assert!(Source::new(Some(Path::new("/")), None, None).is_err());
    }
}

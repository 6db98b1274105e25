//! The file of a template, read whole and once.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};

/// What a prompt file may have: more than any model reads.
const LIMIT: u64 = 16 * 1024 * 1024;
/// What some editors write at the front of a UTF-8 file; no part of its text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads a prompt file.
///
/// # Errors
/// [`ErrorKind::Prompt`] when it cannot be read, is no regular file, is larger than 16 MiB, or is not UTF-8.
pub(super) fn read(path: &Path) -> Result<String> {
    let failed = |why: String| {
        Error::new(ErrorKind::Prompt, format!("read the prompt file `{}`{why}", path.display()))
    };
    let bytes = match bytes(path) {
        Ok(Content::Whole(bytes)) => bytes,
        Ok(Content::Folder) => return Err(failed(": it is a folder".to_owned())),
        // To open a named pipe would be to wait for whoever writes into it.
        Ok(Content::NoFile) => {
            return Err(failed(": it is no regular file".to_owned())
                .with_hint("write the template into a file, or give its text as an inline prompt"));
        }
        Ok(Content::TooLarge) => {
            return Err(failed(format!(": it is larger than {} MiB", LIMIT >> 20))
                .with_hint("name large files in the prompt, and let the agent read them"));
        }
        Err(error) => {
            return Err(failed(String::new()).with_source(error).with_hint(
                "a relative path is looked up in the folder of this process, not in the run's `cwd`",
            ));
        }
    };
    let text = String::from_utf8(bytes)
        .map_err(|error| failed(format!(": byte {} is not UTF-8", error.utf8_error().valid_up_to())))?;
    Ok(text.strip_prefix(BYTE_ORDER_MARK).map(str::to_owned).unwrap_or(text))
}

enum Content {
    Whole(Vec<u8>),
    Folder,
    NoFile,
    TooLarge,
}

fn bytes(path: &Path) -> std::io::Result<Content> {
    let metadata = path.metadata()?;
    if metadata.is_dir() {
        return Ok(Content::Folder);
    }
    if !metadata.is_file() {
        return Ok(Content::NoFile);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LIMIT + 1).read_to_end(&mut bytes)?;
    Ok(if bytes.len() as u64 > LIMIT { Content::TooLarge } else { Content::Whole(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &Path) -> String {
        let error = read(path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Prompt);
        format!("{error:#}")
    }

    #[test]
    fn what_is_no_text_file_is_refused_with_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert!(refused(&path("none")).contains("No such file"));
        assert!(refused(folder.path()).contains("is a folder"));
        assert!(refused(Path::new("/dev/zero")).contains("no regular file"));
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        assert!(refused(&path("pipe")).contains("no regular file"));
        std::fs::write(path("latin"), b"caf\xe9").unwrap();
        assert!(refused(&path("latin")).contains("byte 3 is not UTF-8"));
        File::create(path("huge")).unwrap().set_len(LIMIT + 1).unwrap();
        assert!(refused(&path("huge")).contains("larger than 16 MiB"));
    }

    #[test]
    fn a_byte_order_mark_is_no_text_and_line_ends_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.md");
        std::fs::write(&path, "\u{feff}a\r\nb").unwrap();
        assert_eq!(read(&path).unwrap(), "a\r\nb");
    }
}

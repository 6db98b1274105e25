//! A program in shell words, for a shell that reads it from its input.
//!
//! Everything is quoted, and there is no line feed in it: where a word holds one, the variable `newline` stands for it,
//! which the shell has set.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::process::{Mark, Program};

/// Writes one line that sets the folder, the variables and the arguments.
pub(super) fn request(program: &Program, mark: &Mark) -> io::Result<Vec<u8>> {
    let mut line = Line::default();
    let cwd = program.cwd.as_deref().map_or(OsStr::new("."), |cwd| cwd.as_os_str());
    line.text("cwd=").word(cwd)?;
    for name in &program.removed_env {
        line.text("; unset ").name(name)?;
    }
    for (name, value) in program.env.iter().chain([&mark.variable()]) {
        line.text("; export ").name(name)?.text("=").word(value)?;
    }
    line.text("; set -- ").word(&program.name)?;
    for arg in &program.args {
        line.text(" ").word(arg)?;
    }
    line.0.push(b'\n');
    Ok(line.0)
}

#[derive(Default)]
struct Line(Vec<u8>);

impl Line {
    fn text(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    fn name(&mut self, name: &OsStr) -> io::Result<&mut Self> {
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let bytes = name.as_bytes();
        if bytes.is_empty() || bytes[0].is_ascii_digit() || !bytes.iter().all(is_letter) {
            let name = OsString::from_vec(bytes.to_vec());
            let what = format!("a shell cannot set the variable `{}`", name.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        self.0.extend_from_slice(bytes);
        Ok(self)
    }

    fn word(&mut self, word: &OsStr) -> io::Result<&mut Self> {
        if word.as_bytes().contains(&0) {
            let what = "a zero byte cannot be handed to a program";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        self.0.push(b'\'');
        for byte in word.as_bytes() {
            match byte {
                b'\'' => self.0.extend_from_slice(b"'\\''"),
                b'\n' => self.0.extend_from_slice(b"'\"$newline\"'"),
                byte => self.0.push(*byte),
            }
        }
        self.0.push(b'\'');
        Ok(self)
    }
}

//! The output that flags describe, and the files they name.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use sandcastle::OutputSpec;
use serde_json::Value;

use crate::failure::Failure;

/// Builds the contract from a tag, a schema file or `--text`.
pub(super) fn spec(tag: &str, schema: Option<&Path>, text: bool) -> Result<OutputSpec, Failure> {
    match (schema, text) {
        (_, true) => Ok(OutputSpec::text(tag)?),
        (None, false) => Ok(OutputSpec::json(tag, Value::Bool(true))?),
        (Some(path), false) => Ok(OutputSpec::json(tag, read_schema(path)?)?),
    }
}

/// Reads a JSON Schema.
pub(super) fn read_schema(path: &Path) -> Result<Value, Failure> {
    let bytes = read(path)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Failure::input(format_args!("read the schema `{}`", path.display()), error))
}

/// Reads a file, or the standard input for `-`.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(path)
    };
    read.map_err(|error| Failure::input(format_args!("read `{}`", path.display()), error))
}

/// Opens a file, or the standard input for `-`, to read it piece by piece.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = fs::File::open(path)
        .map_err(|error| Failure::input(format_args!("open `{}`", path.display()), error))?;
    Ok(Box::new(file))
}

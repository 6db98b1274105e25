//! The contract of one output, known at run time.

/// Says what an answer must be: a tag, a format and a schema.
#[derive(Clone, Debug)]
pub struct OutputSpec {}

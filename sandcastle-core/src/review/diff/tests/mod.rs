//! Tests of reading diffs: as git writes them (`real`), as nobody should (`hostile`), and of edits that are known
//! (`generated`).

mod generated;
mod hostile;
mod real;

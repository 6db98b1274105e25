//! Model runs against a scripted model.

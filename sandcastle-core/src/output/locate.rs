//! Finds the last block with a tag while the text streams.

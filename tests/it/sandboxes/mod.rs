//! Real sandboxes: what works in them, and what an agent cannot do from inside.

mod bubblewrap;

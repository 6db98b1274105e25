//! What a run of a workflow writes down, so that it can be resumed.

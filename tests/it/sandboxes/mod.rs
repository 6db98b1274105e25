//! Sandboxes with real engines behind them, as programs inside and people outside see them.

mod containers;
mod docker;
mod podman;

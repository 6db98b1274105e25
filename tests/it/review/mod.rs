//! Pull requests: what agents report, what of it is kept, and what is written down.

mod files;
mod flow;
mod github;
mod outputs;
mod trust;

//! Pull requests of real repositories, fetched from real remotes and pushed to them.

mod comparing;
mod hostile;
mod merged;
mod opening;
mod place;
mod pushing;
mod token;

//! Documents: a corpus of broken ones and good ones, hostile ones, and what is read of them.

mod contract;
mod corpus;
mod hostile;
mod reading;

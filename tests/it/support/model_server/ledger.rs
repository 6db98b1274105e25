//! What a server has been told to say and what it has been asked: the script's position and the requests.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::reply::{Outcome, Reply, Times};
use super::request::{Purpose, Request};

/// The script and the record of one server.
#[derive(Debug)]
pub(super) struct Ledger {
    pages: Mutex<Pages>,
}

#[derive(Debug)]
struct Pages {
    script: VecDeque<Reply>,
    requests: Vec<Request>,
}

impl Ledger {
    pub(super) fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self { pages: Mutex::new(Pages { script: replies.into_iter().collect(), requests: Vec::new() }) }
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.pages().requests.clone()
    }

    /// Keeps a request and gives its number, counted from one, and what becomes of it.
    ///
    /// Both happen under one lock, so that the order of the record is the order of the replies.
    pub(super) fn enter(&self, request: Request) -> (usize, Outcome) {
        let mut pages = self.pages();
        let outcome = match request.purpose {
            Purpose::Turn => pages.next_reply().outcome,
            _ => Reply::text("aside").outcome,
        };
        pages.requests.push(request);
        (pages.requests.len(), outcome)
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    fn next_reply(&mut self) -> Reply {
        match self.script.front() {
            Some(reply) if reply.times == Times::Always => reply.clone(),
            _ => self.script.pop_front().unwrap_or_else(|| Reply::status(400).because("the script is spent")),
        }
    }
}

//! What a server has been told to say and what it has been asked: the script's position and the requests.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::police::Law;
use super::reply::{Outcome, Reply, Times};
use super::request::{Purpose, Request};

/// The script and the record of one server.
#[derive(Debug)]
pub(super) struct Ledger {
    audience: Audience,
    pages: Mutex<Pages>,
}

/// Who asks a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// Programs that also ask for titles and the like, which uses up nothing.
    Agents,
    /// Clients whose every question is meant, and whose requests are held to a service's law.
    Clients(Law),
}

#[derive(Debug)]
struct Pages {
    script: VecDeque<Reply>,
    requests: Vec<Request>,
    abandoned: usize,
}

impl Ledger {
    pub(super) fn new(audience: Audience, replies: impl IntoIterator<Item = Reply>) -> Self {
        let pages = Pages { script: replies.into_iter().collect(), requests: Vec::new(), abandoned: 0 };
        Self { audience, pages: Mutex::new(pages) }
    }

    /// The law that requests are held to, if they are.
    pub(super) fn law(&self) -> Option<Law> {
        match self.audience {
            Audience::Agents => None,
            Audience::Clients(law) => Some(law),
        }
    }

    /// Notes a stream that its client went away from.
    pub(super) fn abandon(&self) {
        self.pages().abandoned += 1;
    }

    pub(super) fn abandoned(&self) -> usize {
        self.pages().abandoned
    }

    /// Keeps a request that no reply of the script answers.
    pub(super) fn note(&self, request: Request) {
        self.pages().requests.push(request);
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.pages().requests.clone()
    }

    /// Keeps a request and gives its number, counted from one, and what becomes of it.
    ///
    /// Both happen under one lock, so that the order of the record is the order of the replies.
    pub(super) fn enter(&self, request: Request) -> (usize, Outcome) {
        let mut pages = self.pages();
        let outcome = match (request.purpose, self.audience) {
            (Purpose::Turn, _) | (Purpose::Aside, Audience::Clients(_)) => pages.next_reply().outcome,
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

//! Lists as they come, page by page, each of which is bounded before it is kept.
//!
//! A host that answers a question for a hundred with a million is not believed, and its million is not kept first. Lists end:
//! at their last page, at a bound, or where a page is named for the second time.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use super::failure::Failure;

/// The most that GitHub has on one page, and what is asked for.
pub(super) const MAX_PER_PAGE: usize = 100;

/// The most pages of one list.
const MAX_PAGES: usize = 200;

/// A list that is read page by page, by the names of its pages.
#[derive(Debug)]
pub(super) struct List<T> {
    pub(super) items: Vec<T>,
    next: Option<String>,
    had: HashSet<String>,
}

impl<T> List<T> {
    /// Begins a list with its first page.
    pub(super) fn from(first: String) -> Self {
        Self { items: Vec::new(), next: Some(first), had: HashSet::new() }
    }

    /// The name of the page that is to be read, if there is one.
    pub(super) fn turn(&mut self) -> Result<Option<String>, Failure> {
        let Some(page) = self.next.take() else { return Ok(None) };
        if self.had.len() == MAX_PAGES {
            return Err(Failure::beyond(format!("more than {MAX_PAGES} pages of one list")));
        }
        if !self.had.insert(page.clone()) {
            return Err(Failure::strange("a list goes on with a page that it had before"));
        }
        Ok(Some(page))
    }

    /// Adds what was on a page, which names the one that follows it.
    pub(super) fn add(&mut self, items: impl IntoIterator<Item = T>, next: Option<String>) {
        self.items.extend(items);
        self.next = next;
    }
}

/// One page of a list.
#[derive(Debug)]
pub(super) struct Page<T>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Page<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Items(PhantomData))
    }
}

struct Items<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
    type Value = Page<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MAX_PER_PAGE}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            if items.len() == MAX_PER_PAGE {
                return Err(A::Error::invalid_length(MAX_PER_PAGE + 1, &self));
            }
            items.push(item);
        }
        Ok(Page(items))
    }
}

/// One page of a list of GraphQL, and where it goes on.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Connection<T> {
    pub(super) page_info: PageInfo,
    /// What may not be seen is `None`.
    pub(super) nodes: Page<Option<T>>,
}

/// Where a list goes on.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageInfo {
    has_next_page: bool,
    end_cursor: Option<String>,
}

impl PageInfo {
    /// The cursor of what follows, if anything does.
    pub(super) fn next(self) -> Option<String> {
        // A list that goes on from nowhere begins anew, and its beginning has been.
        self.has_next_page.then(|| self.end_cursor.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_bounded() {
        let list = |count| format!("[{}]", vec!["null"; count].join(","));
        let read = |count| serde_json::from_str::<Page<Option<u8>>>(&list(count));
        assert_eq!(read(MAX_PER_PAGE).unwrap().0.len(), MAX_PER_PAGE);
        let error = read(MAX_PER_PAGE + 1).unwrap_err().to_string();
        assert!(error.contains("a list of at most 100"), "{error}");
    }

    #[test]
    fn lists_end() {
        let mut list = List::from("a".to_owned());
        assert_eq!(list.turn().unwrap().as_deref(), Some("a"));
        list.add([1], Some("a".to_owned()));
        assert!(list.turn().unwrap_err().to_string().contains("a page that it had before"));
        let mut list = List::from("0".to_owned());
        let ended = (1..).find_map(|page: usize| {
            list.add([page], Some(page.to_string()));
            list.turn().err()
        });
        assert!(ended.unwrap().to_string().contains("more than 200 pages"));
        list.add([], None);
        assert_eq!(list.turn().unwrap(), None);
    }
}

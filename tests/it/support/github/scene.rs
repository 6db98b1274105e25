//! One pull request as GitHub has it: what its REST interface says of it, and its threads and issues in GraphQL.
//!
//! The shapes are those of the examples and the schema in GitHub's documentation: <https://docs.github.com/en/rest/pulls/pulls>,
//! <https://docs.github.com/en/rest/pulls/reviews>, <https://docs.github.com/en/rest/issues/comments> and
//! <https://docs.github.com/en/graphql/reference/objects>. A test changes what it wants to be otherwise.

use serde_json::{Value, json};

/// A repository with one pull request.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// The document of `tests/fixtures/github/scene.json`, filled in.
    pub(crate) data: Value,
}

impl Scene {
    /// Pull request 12 of `octo/sand`, from `tower` to `release` at these commits: three threads that were said (`PRRT_walls`
    /// with three comments on line 2 of `src/lib.rs`, `PRRT_done`, which is resolved, and `PRRT_moat`, on a whole file), one
    /// that is a draft, three comments, two reviews with words, and the issues 34 (linked) and 35 (named).
    pub(crate) fn new(head: &str, base: &str) -> Self {
        let text = include_str!("../../../fixtures/github/scene.json");
        let text = text.replace("\"HEAD\"", &format!("{head:?}")).replace("\"BASE\"", &format!("{base:?}"));
        Self { data: serde_json::from_str(&text).expect("the scene is JSON") }
    }

    /// Names the two branches.
    pub(crate) fn branches(mut self, head: &str, base: &str) -> Self {
        self.data["pull"]["head"]["ref"] = json!(head);
        self.data["pull"]["base"]["ref"] = json!(base);
        self
    }

    /// Says whose repository the head is in; of one that is gone, `None`.
    pub(crate) fn head_in(mut self, repository: Option<&str>) -> Self {
        let repository = repository.map(|name| json!({ "id": 99, "full_name": name, "fork": true }));
        self.data["pull"]["head"]["repo"] = json!(repository);
        self
    }

    /// Changes a value, by its pointer.
    pub(crate) fn with(mut self, pointer: &str, value: Value) -> Self {
        *self.data.pointer_mut(pointer).unwrap_or_else(|| panic!("the scene has no `{pointer}`")) = value;
        self
    }

    pub(super) fn name(&self) -> &str {
        self.data["pull"]["base"]["repo"]["full_name"].as_str().expect("a repository's name")
    }

    pub(super) fn number(&self) -> u64 {
        self.data["pull"]["number"].as_u64().expect("a number")
    }

    /// The thread of this id.
    pub(super) fn thread(&self, id: &str) -> Option<&Value> {
        self.data["reviewThreads"].as_array()?.iter().find(|thread| thread["id"] == id)
    }

    /// The issue of this number, as the REST interface has it.
    pub(super) fn issue(&self, number: &str) -> Option<&Value> {
        let number: u64 = number.parse().ok()?;
        self.data["issues"].as_array()?.iter().find(|issue| issue["number"] == number)
    }
}

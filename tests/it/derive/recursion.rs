//! Types that contain themselves.

use sandcastle::AgentOutput;
use sandcastle::output::Stage;
use schemars::JsonSchema;
use serde::Deserialize;

use super::agreement::{answer, problem_paths};

#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "tree")]
struct Tree {
    v: i64,
    #[serde(default)]
    kids: Vec<Tree>,
}

impl Tree {
    fn depth(&self) -> usize {
        1 + self.kids.iter().map(Self::depth).max().unwrap_or(0)
    }
}

fn nested(depth: usize, innermost: &str) -> String {
    let open = r#"{"v":1,"kids":["#.repeat(depth - 1);
    format!("{open}{innermost}{}", "]}".repeat(depth - 1))
}

/// Case 79: three levels are read.
#[test]
fn case_079_a_tree_is_read_to_its_leaves() {
    let tree = answer::<Tree>(&nested(3, r#"{"v":2}"#)).unwrap();
    assert_eq!((tree.depth(), tree.v, tree.kids[0].kids[0].v), (3, 1, 2));
    assert_eq!(problem_paths::<Tree>(&nested(3, r#"{"v":"2"}"#)), ["/kids/0/kids/0/v"]);
}

/// Case 79: two hundred are an error with a place, not an overflow.
#[test]
fn case_079_a_tree_beyond_the_limit_is_refused() {
    let error = answer::<Tree>(&nested(200, r#"{"v":2}"#)).unwrap_err();
    assert!(matches!(error.stage(), Stage::JsonParse | Stage::SchemaValidate), "{error:#}");
    assert!(!error.problems.is_empty(), "{error:#}");
}

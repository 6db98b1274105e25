//! What models write instead of what they are told, put into the schema's form before that is asked.
//!
//! Other names for the same field, a range where a line belongs, `null` or nothing for an empty list, `./` before a path. What
//! fits none of that is left as it is, so that the schema says what is wrong with it. Nothing is made up, and only names and
//! forms are touched, never what is said.
//!
//! Serde's aliases would do for the names, but an answer that has both names of a field would be refused by them, and an answer
//! with another fault would be told of fields that it does have.

use serde_json::{Map, Value};

use super::lines;

type Object = Map<String, Value>;

/// What is done to a [`ReviewOutput`](super::ReviewOutput).
pub(super) fn review(value: &mut Value) {
    let Some(root) = object(value) else { return };
    list(root, "inlineComments", inline_comment);
    list(root, "replies", remark);
}

/// What is done to an [`ImplementOutput`](super::ImplementOutput).
pub(super) fn implement(value: &mut Value) {
    let Some(root) = object(value) else { return };
    list(root, "threadReplies", remark);
    list(root, "newInlineComments", inline_comment);
    list(root, "topLevelComments", remark);
}

/// What is done to an [`ExploreOutput`](super::ExploreOutput).
pub(super) fn explore(value: &mut Value) {
    if let Some(root) = object(value) {
        rename(root, "body", "comment");
    }
}

/// What is done to an [`UpdateBranchOutput`](super::UpdateBranchOutput).
pub(super) fn update_branch(value: &mut Value) {
    explore(value);
}

/// Returns the fields of an object that say something: `null` is as good as absent.
fn object(value: &mut Value) -> Option<&mut Object> {
    let object = value.as_object_mut()?;
    object.retain(|_, field| !field.is_null());
    Some(object)
}

/// Has an empty list where there is none, and goes through the objects of one that is there.
fn list(root: &mut Object, name: &str, each: fn(&mut Object)) {
    let list = root.entry(name).or_insert_with(|| Value::Array(Vec::new()));
    list.as_array_mut().into_iter().flatten().filter_map(object).for_each(each);
}

fn inline_comment(comment: &mut Object) {
    remark(comment);
    rename(comment, "file", "path");
    if let Some(Value::String(path)) = comment.get_mut("path") {
        *path = without_dots(path).to_owned();
    }
    // A range of which no line can be told is put there as it is: that says more than that there is no line.
    if let Some(range) = comment.shift_remove("lineRange") {
        let line = lines::first(&range).map_or(range, Value::from);
        comment.entry("line").or_insert(line);
    }
}

fn remark(remark: &mut Object) {
    rename(remark, "comment", "body");
}

/// Gives a field the name that the schema has for it. The right name counts if both are there.
fn rename(object: &mut Object, from: &str, to: &str) {
    if let Some(field) = object.shift_remove(from) {
        object.entry(to).or_insert(field);
    }
}

/// Takes `./` away from the beginning, however often it is there.
fn without_dots(mut path: &str) -> &str {
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    path
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::AgentOutput;
    use crate::review::{InlineComment, ReviewOutput, ThreadReply};

    const NAMES: &[&str] = &[
        "summary",
        "comment",
        "body",
        "inlineComments",
        "newInlineComments",
        "replies",
        "threadReplies",
        "topLevelComments",
        "path",
        "file",
        "line",
        "lineRange",
        "commentId",
        "start",
        "other",
    ];

    /// Any JSON, out of words that are known here.
    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[aL0-9./-]{0,5}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 48, 6, |inner| {
            let field = (select(NAMES).prop_map(str::to_owned), inner.clone());
            prop_oneof![
                vec(inner, 0..4).prop_map(Value::from),
                vec(field, 0..7).prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    prop_compose! {
        fn comment()(path in "[a-z]{1,5}(/[a-z.]{3,5}x)?", line in 1..=u64::from(u32::MAX), body in "[a-z]{1,9}") -> InlineComment {
            InlineComment { path, line, body }
        }
    }

    prop_compose! {
        fn report()(
            summary in "[a-z]{1,9}",
            inline_comments in vec(comment(), 0..4),
            replies in vec(("[A-Z]{1,4}", "[a-z]{1,9}"), 0..4),
        ) -> ReviewOutput {
            let reply = |(comment_id, body)| ThreadReply { comment_id, body };
            ReviewOutput { summary, inline_comments, replies: replies.into_iter().map(reply).collect() }
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_is_put_into_form_once_and_for_all(value in anything()) {
            for prepare in [review, implement, explore, update_branch] {
                let mut once = value.clone();
                prepare(&mut once);
                let mut twice = once.clone();
                prepare(&mut twice);
                prop_assert_eq!(once, twice);
            }
        }

        #[test]
        fn what_is_in_form_is_left_alone_and_read(report in report()) {
            let value = serde_json::to_value(&report).unwrap();
            let mut prepared = value.clone();
            review(&mut prepared);
            prop_assert_eq!(&prepared, &value);
            prop_assert_eq!(ReviewOutput::extract(&format!("<output>{value}</output>")).unwrap(), report);
        }
    }
}

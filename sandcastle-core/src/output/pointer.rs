//! JSON Pointers (RFC 6901): how they are written, and where in a text they point.

use std::collections::HashMap;

use serde_json::value::RawValue;

/// Appends one step to a pointer.
pub(super) fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    for c in token.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// Returns the pointer one step below `pointer`.
pub(super) fn join(pointer: &str, token: &str) -> String {
    let mut joined = pointer.to_owned();
    push(&mut joined, token);
    joined
}

/// Returns the steps of a pointer.
pub(super) fn tokens(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
}

/// Returns the offset in `json` of what the pointer leads to, or of the last thing on the way that exists.
pub(super) fn offset_in(json: &str, pointer: &str) -> Option<usize> {
    let mut here: &RawValue = serde_json::from_str(json).ok()?;
    for token in tokens(pointer) {
        let Some(next) = child(here, &token) else { break };
        here = next;
    }
    (here.get().as_ptr() as usize).checked_sub(json.as_ptr() as usize)
}

fn child<'j>(parent: &'j RawValue, token: &str) -> Option<&'j RawValue> {
    let text = parent.get();
    if text.starts_with('{') {
        serde_json::from_str::<HashMap<String, &RawValue>>(text).ok()?.remove(token)
    } else {
        serde_json::from_str::<Vec<&RawValue>>(text).ok()?.get(token.parse::<usize>().ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_found_in_the_text_as_far_as_it_leads() {
        let json = "  {\"a/b\": [1, {\"~\": \"x\"}]}";
        let at = |pointer: &str| offset_in(json, pointer).map(|offset| &json[offset..]);
        assert_eq!(at(""), Some(json.trim_start()));
        assert_eq!(at("/a~1b/1/~0"), Some("\"x\"}]}"));
        assert_eq!(at("/a~1b/1/missing"), Some("{\"~\": \"x\"}]}"));
        assert_eq!(at("/a~1b/7"), Some("[1, {\"~\": \"x\"}]}"));
        assert_eq!(offset_in("not json", ""), None);
        assert_eq!(join("/a", "b/~c"), "/a/b~1~0c");
        assert_eq!(tokens("/a/b~1~0c").collect::<Vec<_>>(), ["a", "b/~c"]);
    }
}

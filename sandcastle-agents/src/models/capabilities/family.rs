//! Whether a model belongs to a family, by its name.
//!
//! Names come with dates, with the path of a gateway before them, with dots for hyphens. What follows the family may only say
//! which build of it is meant: `claude-opus-4` has nothing to say of `claude-opus-4-9`.

/// Tells whether `model` is a model of `family`.
pub(super) fn is_of(family: &str, model: &str) -> bool {
    let name = bare(model);
    name.strip_prefix(hyphenated(family).as_str()).is_some_and(names_a_build)
}

/// The name without what gateways put before it. Claude's may stand anywhere in an id.
fn bare(model: &str) -> String {
    let name = hyphenated(model);
    let start = name.find("claude-").or_else(|| name.rfind('/').map(|slash| slash + 1)).unwrap_or_default();
    name[start..].to_owned()
}

fn hyphenated(name: &str) -> String {
    name.to_ascii_lowercase().replace('.', "-")
}

/// Tells whether the rest of a name only says which build it is: a date, a version, a place.
fn names_a_build(rest: &str) -> bool {
    if rest.is_empty() || rest.starts_with(['@', ':', '[']) {
        return true;
    }
    let Some(rest) = rest.strip_prefix('-') else { return false };
    ["latest", "preview"].iter().any(|word| rest.strip_prefix(word).is_some_and(names_a_build))
        || rest.strip_prefix('v').is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
        || DATES.iter().any(|date| after(date, rest).is_some_and(names_a_build))
}

/// The shapes of numbers that say which build it is; `0` stands for any digit.
const DATES: [&str; 5] = ["00000000", "0000-00-00", "00-0000", "00-00", "000"];

/// What follows a number of this shape. The plain `0` of the first builds is one, too.
fn after<'r>(shape: &str, rest: &'r str) -> Option<&'r str> {
    if let Some(rest) = rest.strip_prefix('0').filter(|rest| rest.is_empty()) {
        return Some(rest);
    }
    let head = rest.get(..shape.len())?;
    let fits = head.bytes().zip(shape.bytes()).all(|(byte, mark)| match mark {
        b'0' => byte.is_ascii_digit(),
        _ => byte == mark,
    });
    fits.then(|| &rest[shape.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_belong_to_their_family_and_nothing_else_does() {
        for (family, model, expected) in [
            ("claude-opus-4-5", "claude-opus-4-5", true),
            ("claude-opus-4-5", "claude-opus-4-5-20251101", true),
            ("claude-opus-4-5", "claude-opus-4.5", true),
            ("claude-opus-4-5", "anthropic/claude-opus-4.5", true),
            ("claude-opus-4-5", "us.anthropic.claude-opus-4-5-20251101-v1:0", true),
            ("claude-opus-4-5", "claude-opus-4-5@20251101", true),
            ("claude-opus-4-5", "claude-opus-4-5[1m]", true),
            ("claude-opus-4", "claude-opus-4-0", true),
            ("claude-opus-4", "claude-opus-4-9", false),
            ("claude-opus-5", "claude-opus-5-5", false),
            ("claude-opus-4", "claude-opus-42", false),
            ("gpt-5", "gpt-5-2025-08-07", true),
            ("gpt-5", "gpt-5-mini", false),
            ("gpt-4.1", "gpt-4.1-2025-04-14", true),
            ("gpt-4.1", "gpt-4-1106-preview", false),
            ("gpt-4o", "ft:gpt-4o:acme::1", false),
            ("gemini-2.5-flash", "models/gemini-2.5-flash-preview-09-2025", true),
            ("gemini-2.5-flash", "gemini-2.5-flash-001", true),
            ("gemini-2.5-flash", "gemini-2.5-flash-lite", false),
            ("gemini-3-pro", "gemini-3-pro-preview", true),
            ("gemini-3-pro", "gemini-3-pro-image-preview", false),
            ("claude-opus-4", "é", false),
            ("claude-opus-4", "claude-opus-4-é0000000", false),
        ] {
            assert_eq!(is_of(family, model), expected, "{family} {model}");
        }
    }
}

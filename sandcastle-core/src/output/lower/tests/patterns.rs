//! Which regular expressions which wire is trusted with.

use super::super::pattern::{Pattern, Patterns};

fn carried(pattern: &str, patterns: Patterns) -> Option<String> {
    Pattern::read(pattern)?.for_wire(patterns)
}

#[test]
fn what_engines_read_differently_is_never_sent() {
    for pattern in [
        "(?i)a",
        "(?P<n>a)",
        "(?<n>a)",
        "(?=a)",
        "(?<!a)",
        r"\Aa\z",
        r"\pL",
        r"\x41",
        r"\u0041",
        r"(a)\1",
        "a**",
        "*a",
        "a{2,1}",
        "a{,2}",
        "a{99999999999}",
        "{",
        "a]",
        "[]a]",
        "[]",
        "[",
        "(",
        ")",
        r"[\d-z]",
        "[a-b-[b]]",
        "[a&&b]",
        "[z-a]",
        r"\",
        r"\y",
        "[[:alpha:]]",
        "a{2",
        "^*",
    ] {
        for patterns in [Patterns::Portable, Patterns::Simple, Patterns::Anchored] {
            assert_eq!(carried(pattern, patterns), None, "{pattern}");
        }
    }
}

#[test]
fn what_they_read_in_one_way_goes_as_it_is() {
    for pattern in [
        "",
        "abc",
        "^a$",
        "a|b",
        "(a|b)+",
        "(?:a)?",
        "[a-z]{2}",
        "[^a-z]{2,}",
        r"[\d_-]*",
        r"\w+@\w+\.\w+",
        "a+?",
        r"\bx",
        "ä|[ä-ü]",
        r"^/\[\]\{\}\^\$\|\\$",
        "[-a]",
        "[.*+?(){}|^$]",
        r"[\]\-]",
    ] {
        assert_eq!(carried(pattern, Patterns::Portable).as_deref(), Some(pattern), "{pattern}");
    }
}

#[test]
fn a_grammar_is_of_the_whole_text_and_of_plain_characters() {
    for (pattern, grammar) in [
        (r"^\d{2}-\w+$", "^[0-9]{2}-[A-Za-z0-9_]+$"),
        (r"^[\d.]+$", "^[0-9.]+$"),
        ("^(?:a|b)$", "^(a|b)$"),
        ("^(a|b){1,3}$", "^(a|b){1,3}$"),
        ("^[-a]$", "^[-a]$"),
        // An escape before a count would have what is before it repeated, too, and not every escape is known.
        (r"^a\.+$", "^a[.]+$"),
        (r"^a\/b$", "^a[/]b$"),
        (r"^\[\]\{\}\^\$\|$", r"^[\[][\]][{][}][\x5E][$][|]$"),
        (r"^[\w\.\-\[\]\^]{2}$", r"^[A-Za-z0-9_.\x2D\[\]\x5E]{2}$"),
        // A count would be of the last byte.
        ("^é+[é]ab$", "^[é]+[é]ab$"),
    ] {
        assert_eq!(carried(pattern, Patterns::Anchored).as_deref(), Some(grammar), "{pattern}");
    }
    for pattern in [
        "a", "^a", "a$", "^a|b$", "^a$|^b$", "^.$", "^[^a]$", "^\"$", r"^\\$", r"^\s$", r"^\S$", "^[ -~]$",
        "^a+?$", r"^\ba$",
    ] {
        assert_eq!(carried(pattern, Patterns::Anchored), None, "{pattern}");
    }
}

#[test]
fn a_simple_pattern_has_small_counts() {
    assert!(carried("^a{100}$", Patterns::Simple).is_some());
    assert!(carried("^a{101}$", Patterns::Simple).is_none());
    assert!(carried("^a{0,101}$", Patterns::Simple).is_none());
    assert!(carried(r"\ba", Patterns::Simple).is_none());
}

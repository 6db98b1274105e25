//! The issues that a description says it closes.
//!
//! GitHub links them itself only when a pull request goes to the default branch. What is read here is what it reads:
//! <https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue>.

/// What announces an issue.
const KEYWORDS: [&str; 9] =
    ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];

/// The most issues that are looked for by their numbers.
pub(super) const MAX_NAMED: usize = 10;

/// The numbers behind keywords, such as `Closes #12` or `fixes: #3`, in their order; none twice, and not too many.
pub(super) fn named(text: &str) -> Vec<u64> {
    let mut numbers = Vec::new();
    let words: Vec<&str> = text.split_whitespace().collect();
    for pair in words.windows(2) {
        let keyword = pair[0].trim_start_matches(|c: char| !c.is_alphanumeric()).trim_end_matches(':');
        let is_keyword = KEYWORDS.iter().any(|known| known.eq_ignore_ascii_case(keyword));
        if let Some(number) = number(pair[1]).filter(|_| is_keyword)
            && !numbers.contains(&number)
        {
            numbers.push(number);
        }
        if numbers.len() == MAX_NAMED {
            break;
        }
    }
    numbers
}

/// The number in `#12`, whatever punctuation ends it.
fn number(word: &str) -> Option<u64> {
    let digits = word.strip_prefix('#')?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (digits, rest) = digits.split_at(end);
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || "-_/".contains(c));
    digits.parse().ok().filter(|&number| ends && number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_are_named_as_github_reads_them() {
        for (text, expected) in [
            ("Closes #12", &[12][..]),
            ("FIXES: #3, and resolves #4.\nCloses #3", &[3, 4]),
            ("(fixed #7) **resolve #8**", &[7, 8]),
            ("see #5; prefixes #6; closes o/n#7; closes #; fixes #0; closes #1a; fix #2-3", &[]),
            ("close 9, disclose #9", &[]),
            ("closes #99999999999999999999", &[]),
            ("", &[]),
        ] {
            assert_eq!(named(text), expected, "{text}");
        }
    }

    #[test]
    fn not_too_many_are_named() {
        let text: String = (1..100).map(|number| format!("closes #{number} ")).collect();
        assert_eq!(named(&text).len(), MAX_NAMED);
    }
}

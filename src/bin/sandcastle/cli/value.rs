//! Values that are more than a word: pairs, seconds, branch strategies, numbers of pull requests.

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use sandcastle::output::lower::Dialect;

/// Which branch the agent works on, as it is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BranchChoice {
    Head,
    MergeToHead,
    Branch(String),
}

/// Something of this host that is seen inside, as it is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BindMount {
    pub(crate) host: String,
    pub(crate) inside: Option<String>,
    pub(crate) is_read_only: bool,
}

impl fmt::Display for BindMount {
    /// Writes it as it is given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inside = self.inside.as_ref().map(|inside| format!(":{inside}")).unwrap_or_default();
        write!(f, "{}{inside}{}", self.host, if self.is_read_only { ":ro" } else { "" })
    }
}

/// Reads the name of a dialect.
pub(super) fn dialects() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(Dialect::ALL.map(Dialect::as_str)).try_map(|name| {
        let named = Dialect::ALL.into_iter().find(|dialect| dialect.as_str() == name);
        named.ok_or_else(|| format!("there is no dialect `{name}`"))
    })
}

/// Reads a mount.
pub(super) fn bind_mount(text: &str) -> Result<BindMount, String> {
    let (paths, is_read_only) = text.strip_suffix(":ro").map_or((text, false), |paths| (paths, true));
    let (host, inside) = paths.split_once(':').map_or((paths, None), |(host, inside)| (host, Some(inside)));
    match (host, inside) {
        ("", _) | (_, Some("")) => Err(format!("`{text}` is not of the form HOST[:INSIDE][:ro]")),
        _ => Ok(BindMount { host: host.to_owned(), inside: inside.map(str::to_owned), is_read_only }),
    }
}

/// Reads the numbers of a user and a group.
pub(super) fn ids(text: &str) -> Result<(u32, u32), String> {
    let numbers = text.split_once(':').and_then(|(uid, gid)| Some((uid.parse().ok()?, gid.parse().ok()?)));
    numbers.ok_or_else(|| format!("`{text}` is not of the form UID:GID"))
}

/// Reads a size in bytes, or in units of 1024.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let units = [("k", 10), ("m", 20), ("g", 30)];
    let in_unit = units.into_iter().find_map(|(unit, shift)| Some((lower.strip_suffix(unit)?, shift)));
    let (number, shift) = in_unit.unwrap_or((&*lower, 0));
    let number: Option<u64> = number.parse().ok().filter(|number| *number > 0);
    let bytes = number.and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| format!("`{text}` is no size such as 4g or 512m"))
}

/// Reads a branch strategy.
pub(super) fn branch_choice(text: &str) -> Result<BranchChoice, String> {
    match (text, text.strip_prefix("branch:")) {
        ("head", _) => Ok(BranchChoice::Head),
        ("merge-to-head", _) => Ok(BranchChoice::MergeToHead),
        (_, Some(name)) if !name.is_empty() => Ok(BranchChoice::Branch(name.to_owned())),
        _ => Err("it is `head`, `merge-to-head` or `branch:` with the name of a branch".to_owned()),
    }
}

/// Reads a name and a value.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not of the form KEY=VALUE")),
    }
}

/// Reads the number of a pull request, which people also have as `#12` or as the address of its page.
pub(super) fn pull_request_number(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ if text.contains('/') => {
            Err("it is the number alone, such as 12; `--repo OWNER/NAME` names the repository".to_owned())
        }
        _ => Err("it is the number alone, such as 12".to_owned()),
    }
}

/// Reads a limit.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    match Duration::try_from_secs_f64(number) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(format!("`{text}` is not a positive number of seconds")),
    }
}

/// Reads the limit of one of several steps.
pub(super) fn limit<S: ValueEnum>(text: &str) -> Result<(S, Duration), String> {
    let (step, limit) =
        text.split_once('=').ok_or_else(|| format!("`{text}` is not of the form STEP=SECS"))?;
    match S::from_str(step, false) {
        Ok(step) => Ok((step, seconds(limit)?)),
        Err(_) => {
            let steps = S::value_variants().iter().filter_map(ValueEnum::to_possible_value);
            let steps: Vec<String> = steps.map(|step| format!("`{}`", step.get_name())).collect();
            Err(format!("there is no step `{step}`; the steps are {}", steps.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_request_is_named_by_its_number_alone() {
        assert_eq!(pull_request_number("12"), Ok(12));
        for wrong in ["", "0", "-1", "#12", "twelve", "18446744073709551616"] {
            assert!(pull_request_number(wrong).is_err_and(|told| told.ends_with("such as 12")), "{wrong}");
        }
        let told = pull_request_number("https://github.com/owner/name/pull/12").unwrap_err();
        assert!(told.contains("`--repo OWNER/NAME`"), "{told}");
    }

    #[test]
    fn a_branch_strategy_is_a_word_or_has_a_name() {
        assert_eq!(branch_choice("head"), Ok(BranchChoice::Head));
        assert_eq!(branch_choice("merge-to-head"), Ok(BranchChoice::MergeToHead));
        assert_eq!(branch_choice("branch:a/b"), Ok(BranchChoice::Branch("a/b".to_owned())));
        for wrong in ["branch:", "branch", "", "main", "merge_to_head"] {
            assert!(branch_choice(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_mount_has_one_place_or_two() {
        let mount = |host: &str, inside: Option<&str>, is_read_only| {
            Ok(BindMount { host: host.to_owned(), inside: inside.map(str::to_owned), is_read_only })
        };
        assert_eq!(bind_mount("~/.cache"), mount("~/.cache", None, false));
        assert_eq!(bind_mount("/a:ro"), mount("/a", None, true));
        assert_eq!(bind_mount("/a:/b:ro"), mount("/a", Some("/b"), true));
        for wrong in ["", ":", "/a:", ":/b"] {
            assert!(bind_mount(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_and_numbers_of_users_are_read() {
        assert_eq!((bytes("512m"), bytes("4G"), bytes("10")), (Ok(512 << 20), Ok(4 << 30), Ok(10)));
        assert_eq!(ids("1000:1001"), Ok((1000, 1001)));
        for wrong in ["", "0", "m", "-1m", "4gg", "99999999999999999999", "99999999999999999g"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        for wrong in ["1000", "a:b", "1:", "-1:0"] {
            assert!(ids(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_limit_is_longer_than_nothing() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in ["0", "-1", "inf", "NaN", "1e300", "never", ""] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}

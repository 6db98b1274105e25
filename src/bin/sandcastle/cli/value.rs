//! Values that are more than a word: pairs, seconds, branch strategies.

use std::time::Duration;

use clap::ValueEnum;

/// Which branch the agent works on, as it is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BranchChoice {
    Head,
    MergeToHead,
    Branch(String),
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
    fn a_branch_strategy_is_a_word_or_has_a_name() {
        assert_eq!(branch_choice("head"), Ok(BranchChoice::Head));
        assert_eq!(branch_choice("merge-to-head"), Ok(BranchChoice::MergeToHead));
        assert_eq!(branch_choice("branch:a/b"), Ok(BranchChoice::Branch("a/b".to_owned())));
        for wrong in ["branch:", "branch", "", "main", "merge_to_head"] {
            assert!(branch_choice(wrong).is_err(), "{wrong}");
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

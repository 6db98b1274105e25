//! Names the default log: `[<target>-]<source>[-<name>].log`.
//!
//! Names of branches and runs come from people and from agents. What is made of them is one plain file name, whatever they
//! are.

/// The most bytes that are made of a name; file systems allow 255, with the number and the ending.
const LONGEST: usize = 200;

/// What a default log is called after.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct LogName<'a> {
    /// The branch that is merged into, if any is.
    pub(in crate::run) target: Option<&'a str>,
    /// The branch that is worked on.
    pub(in crate::run) source: &'a str,
    /// What the caller calls the run.
    pub(in crate::run) name: Option<&'a str>,
}

impl LogName<'_> {
    /// Returns the file's name without its ending.
    pub(super) fn stem(&self) -> String {
        let name = self.name.map(of_run).filter(|name| !name.is_empty());
        let parts = [self.target.map(of_branch), Some(of_branch(self.source)), name];
        let stem = parts.into_iter().flatten().collect::<Vec<_>>().join("-");
        // A file that begins with a dot is hidden, and one that begins with a dash is taken for an option.
        let stem = stem.trim_start_matches(['.', '-']);
        let stem = &stem[..stem.floor_char_boundary(LONGEST)];
        if stem.is_empty() { "run".to_owned() } else { stem.to_owned() }
    }
}

fn of_branch(branch: &str) -> String {
    let unsafe_in_a_name = |c: char| {
        c.is_control()
            || c.is_whitespace()
            || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|')
    };
    branch.chars().map(|c| if unsafe_in_a_name(c) { '-' } else { c }).collect()
}

fn of_run(name: &str) -> String {
    let is_safe = |c: &char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.' | '-');
    name.to_lowercase().chars().map(|c| if is_safe(&c) { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_173_a_log_is_called_after_its_branches_and_its_run() {
        let of = |target, source, name| LogName { target, source, name }.stem();
        assert_eq!(of(None, "main", None), "main");
        assert_eq!(of(Some("main"), "agent/fix", None), "main-agent-fix");
        assert_eq!(of(Some("main"), "agent/fix", Some("Fix #42!")), "main-agent-fix-fix--42-");
        assert_eq!(of(None, r#"a/b\c:d*e?f"g<h>i|j"#, None), "a-b-c-d-e-f-g-h-i-j");
        assert_eq!(of(None, "Größe", Some("Größe")), "Größe-gr--e");
    }

    #[test]
    fn no_name_leaves_the_folder() {
        let of = |source, name| LogName { target: None, source, name }.stem();
        let long = "z".repeat(300);
        for source in ["../../x", "..", ".", "", "/etc/passwd", "-rf", "a\n\0b", &"é".repeat(300)] {
            for name in [None, Some("../y"), Some(""), Some("."), Some(long.as_str())] {
                let stem = of(source, name);
                assert!(!stem.contains(['/', '\0', '\n']) && !stem.starts_with(['.', '-']), "{stem:?}");
                assert!(!stem.is_empty() && stem.len() <= LONGEST, "{stem:?}");
            }
        }
    }
}

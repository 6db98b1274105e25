//! What was started by somebody who is gone.
//!
//! The handle of a program ends what it started; after a `SIGKILL` of its owner there is no handle. The marks that the
//! owner wrote down are enough to find the same processes again (see `tree`).

use std::collections::HashSet;

use super::tree::{Mark, Tree};

/// The living processes that carry one of some marks, or descend from one that does.
#[derive(Debug)]
pub(crate) struct Leftovers {
    tree: Tree,
}

/// One process that was left running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leftover {
    pub(crate) pid: u32,
    /// Its name as the kernel has it.
    pub(crate) name: String,
}

impl Leftovers {
    /// Looks for what carries one of `marks`. This process is never among it.
    pub(crate) fn of(marks: impl IntoIterator<Item = Mark>) -> Self {
        let marks: HashSet<Mark> = marks.into_iter().collect();
        Self { tree: Tree::marked(marks.into_iter().collect()) }
    }

    /// Lists what lives now.
    pub(crate) fn list(&mut self) -> Vec<Leftover> {
        let pids = self.tree.members().into_iter();
        pids.map(|pid| Leftover { pid: pid.cast_unsigned(), name: name_of(pid) }).collect()
    }

    /// Kills what lives, and whatever it starts meanwhile, and returns how many processes that were.
    pub(crate) async fn end(&mut self) -> usize {
        self.tree.kill().await
    }
}

fn name_of(pid: i32) -> String {
    let name = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    String::from_utf8_lossy(&name).trim_end().to_owned()
}

/// Tells whether this process itself carries one of `marks`.
pub(crate) fn are_own(marks: &[Mark]) -> bool {
    #[cfg(target_os = "linux")]
    return std::fs::read("/proc/self/environ")
        .is_ok_and(|environ| marks.iter().any(|mark| mark.is_in(&environ)));
    #[cfg(not(target_os = "linux"))]
    return {
        let _ = marks;
        false
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_no_other_variable() {
        let mark = Mark::random();
        assert_eq!(Mark::parse(mark.name()), Some(mark));
        for name in ["PATH", "", "SANDCASTLE_TREE_", "SANDCASTLE_TREE_0123456789abcdef0123456789abcdef"] {
            assert_eq!(Mark::parse(name), None, "{name}");
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn what_lost_its_owner_is_found_by_its_mark_and_ended() {
        use crate::process::{Program, capture};
        let mark = Mark::random();
        let (key, value) = mark.variable();
        let script = "setsid sleep 300 >/dev/null 2>&1 & echo started";
        let program = Program::new("sh").args(["-c", script]).env(key, value);
        capture(&program, 1024, std::time::Duration::from_secs(10)).await.unwrap();

        let mut left = Leftovers::of([mark.clone()]);
        // The shell has gone before its child has become what it is to be.
        while left.list().iter().any(|process| process.name == "setsid" || process.name == "sh") {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        assert_eq!(left.list().iter().map(|process| process.name.as_str()).collect::<Vec<_>>(), ["sleep"]);
        assert_eq!(Leftovers::of([Mark::random()]).list(), []);
        assert_eq!(left.end().await, 1);
        assert_eq!(Leftovers::of([mark]).list(), []);
    }
}

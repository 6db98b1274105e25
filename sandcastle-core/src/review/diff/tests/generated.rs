//! Random edits of files with hostile names and lines, told to git, and the lines that are known because the edits are.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::review::Diff;
use crate::testing::ScratchRepo;

/// How many unchanged lines git shows around what was changed.
const CONTEXT: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    Keep,
    Delete,
    Insert,
}

/// One file: its edits, line by line, and whether both of its sides end without a line feed.
#[derive(Clone, Debug)]
struct Edited {
    edits: Vec<(Edit, &'static str)>,
    ends_open: bool,
    is_moved: bool,
}

fn edited() -> impl Strategy<Value = Edited> {
    let edit = prop_oneof![8 => Just(Edit::Keep), 1 => Just(Edit::Delete), 1 => Just(Edit::Insert)];
    let lines = [
        "",
        "++",
        "--",
        "+++ b/x",
        "--- a/x",
        "@@ -1 +1 @@",
        "diff --git a/x b/x",
        "\\ No newline at end of file",
        " ",
        "\t",
        "ä\r",
        "Binary files a/x and b/x differ",
        "index 1..2",
        "\u{1b}[31m",
        "rename to y",
    ];
    let edits = prop::collection::vec((edit, prop::sample::select(lines.to_vec())), 0..60);
    (edits, any::<bool>(), any::<bool>()).prop_map(|(edits, ends_open, is_moved)| Edited {
        edits,
        ends_open,
        is_moved,
    })
}

impl Edited {
    /// Writes one side. Every line is the only one of its kind, so that there is one shortest way from side to side.
    fn side(&self, absent: Edit) -> String {
        let numbered = self.edits.iter().enumerate().filter(|(_, (edit, _))| *edit != absent);
        let mut text: String = numbered.map(|(number, (_, line))| format!("{line} {number}\n")).collect();
        text.push_str("the end");
        if !self.ends_open {
            text.push('\n');
        }
        text
    }

    /// Lists the lines of the new side that are new, or at most three lines away from something that changed.
    fn lines(&self) -> BTreeSet<u64> {
        let edits: Vec<Edit> = self.edits.iter().map(|(edit, _)| *edit).chain([Edit::Keep]).collect();
        let is_near = |at: usize| {
            let nearby = &edits[at.saturating_sub(CONTEXT)..edits.len().min(at + CONTEXT + 1)];
            edits[at] == Edit::Insert || nearby.iter().any(|edit| *edit != Edit::Keep)
        };
        let on_new_side = (0..edits.len()).filter(|at| edits[*at] != Edit::Delete);
        (1..).zip(on_new_side).filter(|(_, at)| is_near(*at)).map(|(line, _)| line).collect()
    }
}

const NAMES: [&str; 8] = [
    "plain.txt",
    "b/a/b/x",
    "with space b/x",
    "quo\"te",
    "tab\t",
    "back\\slash",
    "ä\u{301}日本",
    "line\nfeed",
];

async fn check(files: Vec<Edited>, quotes: bool) {
    let scratch = ScratchRepo::new().await.unwrap();
    scratch.git(["config", "core.quotePath", if quotes { "true" } else { "false" }]).await.unwrap();
    let named: Vec<_> = files.into_iter().zip(NAMES).collect();
    for (file, name) in &named {
        scratch.write(name, file.side(Edit::Insert)).unwrap();
    }
    scratch.git(["add", "--all"]).await.unwrap();
    scratch.git(["commit", "--quiet", "--allow-empty", "--message", "old"]).await.unwrap();
    for (file, name) in &named {
        if file.is_moved {
            std::fs::remove_file(scratch.path().join(name)).unwrap();
        }
        scratch.write(new_name(file, name), file.side(Edit::Delete)).unwrap();
    }
    scratch.git(["add", "--all"]).await.unwrap();
    let quoting = format!("core.quotePath={quotes}");
    let args = ["-c", &quoting, "diff", "--cached", "--find-renames", "--output=.git/diff"];
    scratch.git(args).await.unwrap();
    let diff = Diff::parse(&std::fs::read(scratch.path().join(".git/diff")).unwrap()).unwrap();
    for (file, name) in &named {
        compare(&diff, file, name);
    }
}

fn new_name(file: &Edited, name: &str) -> String {
    if file.is_moved { format!("moved {name}") } else { name.to_owned() }
}

fn compare(diff: &Diff, file: &Edited, name: &str) {
    let path = new_name(file, name);
    let found = diff.files().iter().find(|found| found.path.as_ref() == Some(&path));
    match found {
        // Too little of it is left to be taken for the same file.
        Some(found) if file.is_moved && found.old_path.as_deref() != Some(name) => {
            let all = (1..=file.side(Edit::Delete).lines().count() as u64).collect();
            assert!(found.lines == all || found.old_path.is_some(), "{path:?}");
        }
        Some(found) => assert_eq!(found.lines, file.lines(), "{path:?}"),
        None => assert!(file.lines().is_empty() && !file.is_moved, "{path:?} is not in the diff"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn row_197_the_lines_are_those_that_were_edited_and_those_around(
        files in prop::collection::vec(edited(), 1..8),
        quotes in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(files, quotes));
    }
}

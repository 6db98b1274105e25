//! The rules of the repository, as ordinary tests: sizes, layers, headers, forgotten files, versions.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};

/// The most lines a source file has.
const MAX_LINES: usize = 400;
/// The most lines a compile-fail case has.
const MAX_UI_LINES: usize = 40;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(below: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(below)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if path.is_dir()
                && !matches!(name.as_str(), "target" | "fixtures" | "wip")
                && !name.starts_with('.')
            {
                folders.push(path);
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn sources() -> Vec<PathBuf> {
    let folders = [
        "src",
        "sandcastle-core",
        "sandcastle-agents",
        "sandcastle-derive",
        "examples",
        "benches",
        "tests",
        "fuzz",
    ];
    folders.iter().flat_map(|folder| files(folder, ".rs")).collect()
}

fn is_ui_case(path: &Path) -> bool {
    path.starts_with(root().join("tests/ui"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[track_caller]
fn assert_none(what: &str, offenders: impl IntoIterator<Item = String>) {
    let offenders: Vec<String> = offenders.into_iter().collect();
    assert!(offenders.is_empty(), "{what}:\n  {}", offenders.join("\n  "));
}

/// The code of a file without the tests at its end.
fn without_tests(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text)
}

#[test]
fn files_have_one_subject_and_are_short() {
    let long = sources().into_iter().filter(|path| !is_ui_case(path)).filter_map(|path| {
        let lines = without_tests(&read(&path)).lines().count();
        (lines > MAX_LINES).then(|| format!("{} has {lines} lines", shown(&path)))
    });
    assert_none("longer than 400 lines without their tests: split by concept", long);
}

#[test]
fn files_say_what_lives_in_them() {
    let silent = sources().into_iter().filter(|path| !is_ui_case(path)).filter(|path| {
        let text = read(path);
        !text.starts_with("//!") && !text.starts_with("#![doc = include_str!")
    });
    assert_none("begin with a `//!` paragraph", silent.map(|path| shown(&path)));
}

#[test]
fn lines_end_where_they_end() {
    let mut found = Vec::new();
    for path in sources().into_iter().chain(files("docs", ".md")) {
        for (number, line) in read(&path).lines().enumerate() {
            if line != line.trim_end() {
                found.push(format!("{}:{}", shown(&path), number + 1));
            }
        }
    }
    assert_none("trailing white space", found);
}

#[test]
fn words_that_say_nothing_name_no_file() {
    let names = ["util", "utils", "helper", "helpers", "common", "misc", "types", "imp"];
    let empty = sources().into_iter().filter(|path| {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let folder =
            path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
        names.contains(&stem) || names.contains(&folder)
    });
    assert_none("name it after what is in it", empty.map(|path| shown(&path)));
}

/// The rooms of the core, row by row: a room imports only from rows above its own.
const ROWS: &[&[&str]] = &[
    &["error", "id", "work"],
    &["process", "jsonl", "secret", "budget", "cancellation"],
    &["git", "event", "session"],
    &["config"],
    &["output", "prompt", "worktree"],
    &["strategy"],
    &["agent", "model", "forge", "sandbox", "journal"],
    &["run"],
    &["model_run"],
    &["workflow", "review"],
    &["testing", "private"],
];

/// Imports against the rows that are argued for in docs/ARCHITECTURE.md.
const ARGUED_FOR: &[(&str, &str)] = &[("process", "agent")];

#[test]
fn rooms_import_only_from_above() {
    let row = |room: &str| ROWS.iter().position(|row| row.contains(&room));
    let mut wrong = Vec::new();
    for path in files("sandcastle-core/src", ".rs") {
        let relative = path.strip_prefix(root().join("sandcastle-core/src")).unwrap();
        // Tests of a room may use what helps all tests.
        if relative.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let first = relative.components().next().unwrap().as_os_str().to_str().unwrap();
        let room = first.trim_end_matches(".rs").to_owned();
        // The tests of a room may use the scratch repository, which is above all rooms.
        if room == "lib" || path.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let own = row(&room)
            .unwrap_or_else(|| panic!("`{room}` has no row: give it one here and in ARCHITECTURE.md"));
        for import in imports(without_tests(&read(&path))) {
            let argued = ARGUED_FOR.contains(&(room.as_str(), import.as_str()));
            if row(&import).is_some_and(|other| other >= own && import != room)
                && !argued
                && own != row(&import).unwrap()
            {
                wrong.push(format!("{} imports `{import}`", shown(&path)));
            }
        }
    }
    assert_none("against the rows", wrong);
}

fn imports(text: &str) -> Vec<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.match_indices("crate::").map(move |(at, _)| &line[at + "crate::".len()..]))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

#[test]
fn the_core_knows_no_agent_and_output_is_pure() {
    let mut wrong = Vec::new();
    for path in files("sandcastle-core/src", ".rs") {
        let text = read(&path);
        let code: String =
            without_tests(&text).lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        // What the wires accept of JSON Schema is data, under the names of those who own them.
        let is_dialect = path.starts_with(root().join("sandcastle-core/src/output/lower"));
        let mut banned = if is_dialect { Vec::new() } else { vec!["claude", "codex"] };
        if path.starts_with(root().join("sandcastle-core/src/output")) {
            banned.extend(["async ", "tokio", "std::fs", "std::process", "std::time", "std::env"]);
        }
        for word in banned.into_iter().filter(|word| code.to_lowercase().contains(word)) {
            wrong.push(format!("{} says `{word}`", shown(&path)));
        }
    }
    assert_none("not the business of that room", wrong);
}

#[test]
fn libraries_keep_no_loose_ends() {
    let mut found = Vec::new();
    let folders = [
        "src/testing.rs",
        "src/lib.rs",
        "sandcastle-core/src",
        "sandcastle-agents/src",
        "sandcastle-derive/src",
    ];
    let in_tests = |path: &Path| path.components().any(|part| part.as_os_str() == "tests");
    for path in sources()
        .into_iter()
        .filter(|path| !in_tests(path))
        .filter(|path| folders.iter().any(|folder| path.starts_with(root().join(folder))))
    {
        let text = read(&path);
        let code = without_tests(&text);
        let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for word in [
            concat!("todo", "!("),
            concat!("unimplemented", "!("),
            concat!("#[", "allow("),
            concat!(".unwrap", "()"),
        ] {
            if code.iter().any(|line| line.contains(word)) {
                found.push(format!("{}: {word}", shown(&path)));
            }
        }
    }
    assert_none("not in a library", found);
}

#[test]
fn no_test_file_is_forgotten() {
    let mut forgotten = Vec::new();
    for path in files("tests/it", ".rs").into_iter().filter(|path| !path.ends_with("it/main.rs")) {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let (name, folder) = match stem {
            "mod" => {
                let folder = path.parent().unwrap();
                (folder.file_name().unwrap().to_str().unwrap(), folder.parent().unwrap())
            }
            stem => (stem, path.parent().unwrap()),
        };
        let parents = [folder.join("mod.rs"), folder.join("main.rs"), folder.with_extension("rs")];
        let line = format!("mod {name};");
        if !parents.iter().filter(|path| path.exists()).any(|path| {
            read(path)
                .lines()
                .any(|l| l.trim_start_matches("pub(crate) ").trim_start_matches("pub ").trim() == line)
        }) {
            forgotten.push(shown(&path));
        }
    }
    assert_none("in no `mod` line", forgotten);
}

#[test]
fn compile_fail_cases_are_short_and_expected() {
    let mut wrong = Vec::new();
    for path in files("tests/ui", ".rs") {
        if read(&path).lines().count() > MAX_UI_LINES && !shown(&path).contains("/pass/") {
            wrong.push(format!("{} is longer than {MAX_UI_LINES} lines", shown(&path)));
        }
        if !shown(&path).contains("/pass/") && !path.with_extension("stderr").exists() {
            wrong.push(format!("{} has no .stderr beside it", shown(&path)));
        }
    }
    assert_none("compile-fail cases", wrong);
}

#[test]
fn our_crates_move_together() {
    let manifest = read(&root().join("Cargo.toml"));
    let version = env!("CARGO_PKG_VERSION");
    for name in ["sandcastle-core", "sandcastle-derive", "sandcastle-agents"] {
        let pin = format!("{name} = {{ path = \"{name}\", version = \"={version}\" }}");
        assert!(manifest.contains(&pin), "pin it exactly: {pin}");
    }
}

#[test]
fn the_changelog_is_ready_for_the_next_release() {
    let text = read(&root().join("CHANGELOG.md"));
    assert!(text.contains("\n## Unreleased\n"), "CHANGELOG.md has no `## Unreleased`");
    for line in text.lines().filter(|line| line.starts_with("- ")) {
        assert!(line.contains(": "), "a line begins with its area: {line}");
    }
}

#[test]
fn exit_codes_are_the_documented_ones() {
    let code = read(&root().join("src/bin/sandcastle/exit.rs"));
    let documented = read(&root().join("README.md"));
    for (name, number, words) in [
        ("Done", 0, "0 done"),
        ("Failed", 1, "1 failed"),
        ("Usage", 2, "2 bad usage or a\nfailed entry check"),
        ("NoOutput", 3, "3 a structured output was not obtained"),
        ("Interrupted", 130, "130 interrupted"),
    ] {
        assert!(code.contains(&format!("{name} = {number},")), "exit.rs has no `{name} = {number}`");
        assert!(documented.contains(words), "README.md does not say `{words}`");
    }
}

/// The names of tests in the last column of the tables of a document.
fn tests_named_in(document: &str) -> Vec<String> {
    let text = read(&root().join(document));
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let shown_by = rows.filter_map(|row| row.trim_end_matches([' ', '|']).rsplit(" | ").next());
    let quoted = shown_by.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let is_a_name = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // A word of one part in a cell is a command of the program.
    quoted.filter(|name| *name == "ui" || name.contains('_')).filter(is_a_name).map(str::to_owned).collect()
}

#[test]
fn the_tests_that_documents_name_exist() {
    let code: String = sources().iter().map(|path| read(path)).collect();
    for document in ["docs/SEEDS.md", "docs/CASES.md", "docs/PARITY.md"] {
        let named = tests_named_in(document);
        assert!(!named.is_empty(), "{document} names no test");
        let missing = named.into_iter().filter(|name| !code.contains(&format!("fn {name}(")));
        assert_none(&format!("{document} names tests that do not exist"), missing);
    }
}

/// The tests whose names bear a number behind one of these words, with the files that they are in.
fn tests_numbered_by(words: &[&str]) -> Vec<(String, String)> {
    let bears = |name: &str| {
        let parts: Vec<&str> = name.split('_').collect();
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        parts.windows(2).any(|pair| words.contains(&pair[0]) && is_number(pair[1]))
    };
    let mut found = Vec::new();
    for path in sources().into_iter().filter(|path| !path.ends_with("tidy.rs")) {
        let text = read(&path);
        let functions = text.lines().filter_map(|line| line.split_once("fn ")?.1.split_once('('));
        let named = functions.filter(|(name, _)| bears(name));
        found.extend(named.map(|(name, _)| (shown(&path), name.to_owned())));
    }
    found
}

#[test]
fn numbered_tests_are_listed() {
    for (document, words) in [("docs/CASES.md", &["case"][..]), ("docs/PARITY.md", &["w", "row"])] {
        let listed = tests_named_in(document);
        let numbered = tests_numbered_by(words);
        assert!(!numbered.is_empty(), "no test bears a number of {document}");
        let unlisted = numbered.into_iter().filter(|(_, name)| !listed.contains(name));
        assert_none(&format!("not in {document}"), unlisted.map(|(path, name)| format!("{path}: {name}")));
    }
}

//! Hostile values in expressions, given to every shell that is here.

use std::path::Path;
use std::time::Duration;

use super::{Filled, Piece, filled};
use crate::process::{Program, capture};

const HOSTILE: &[&str] = &[
    "plain",
    "",
    " two  words ",
    "it's",
    "\"",
    "'\"'\"'",
    "$(touch pwned)",
    "`touch pwned`",
    "${IFS}$HOME",
    "; touch pwned",
    "'; touch pwned; '",
    "\"; touch pwned; \"",
    "a\ntouch pwned\n",
    "# x\n touch pwned",
    "\\",
    "\\'; touch pwned #",
    "*",
    "~",
    "{a,b}",
    "-n",
    "--help",
    "a[$(touch pwned)]",
    ")); touch pwned; ((",
    "} ; touch pwned; {",
    "é日本\u{202e}",
    "\u{1}!`touch pwned`",
];

/// Commands that print the value between `[` and `]`, whatever it is.
const COMMANDS: &[&str] = &[
    "printf '[%s]' {{A}}",
    r#"printf '[%s]' "{{A}}""#,
    "printf '[%s]' '{{A}}'",
    "printf '%s' '['{{A}}']'",
    r#"printf '%s' "[{{A}}]""#,
    "printf '%s' '[{{A}}]'",
    r#"x={{A}}; printf '[%s]' "$x""#,
    r#"printf '%s' "$(printf '[%s]' {{A}}; printf x)" | sed '$s/x$//'"#,
    r#"printf '%s' "$(printf '%s' "[{{A}}]")""#,
    "# it's {{A}}\nprintf '[%s]' {{A}}",
    "(printf '[%s]' {{A}})",
    r#"case {{A}} in {{A}}) printf '[%s]' {{A}};; esac"#,
    r#"set -- a b; printf '[%s]' {{A}}"#,
    "f() { printf '[%s]' {{A}}; }; f other",
    r#"printf '\133%s\135' "${HOME:+}"{{A}}"#,
];

fn shells() -> impl Iterator<Item = &'static str> {
    ["sh", "dash", "bash", "busybox", "ksh", "zsh"]
        .into_iter()
        .filter(|shell| *shell == "sh" || Path::new("/bin").join(shell).exists())
}

async fn printed(shell: &str, filled: &Filled, folder: &Path) -> String {
    let [_, Piece::Expression(expression), _] = &filled.pieces[..] else { panic!("{filled:?}") };
    let mut program = Program::new(shell).cwd(folder);
    if shell == "busybox" {
        program = program.args(["sh"]);
    }
    let program = program.args(expression.arguments());
    let captured = capture(&program, 1 << 20, Duration::from_secs(20)).await.unwrap();
    assert!(captured.status.success(), "{shell}: {}", captured.stderr);
    String::from_utf8(captured.stdout).unwrap()
}

#[tokio::test]
async fn w_10_a_value_stays_one_word_in_whatever_quotes_it_is_put() {
    let folder = tempfile::tempdir().unwrap();
    for shell in shells() {
        for command in COMMANDS {
            for value in HOSTILE {
                let filled = filled(&format!("!`{command}`"), &[("A", value)]);
                let printed = printed(shell, &filled, folder.path()).await;
                assert_eq!(printed, format!("[{value}]"), "{shell}: {command} with {value:?}");
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{shell} ran a value");
    }
}

#[tokio::test]
async fn more_values_than_digits() {
    let names: Vec<String> = (0..12).map(|number| format!("K{number}")).collect();
    let arguments: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    let keys: String = names.iter().map(|name| format!(" {{{{{name}}}}}")).collect();
    let filled = filled(&format!("!`printf '%s,'{keys}; printf '%s' $#`"), &arguments);
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(printed("sh", &filled, folder.path()).await, format!("{},0", names.join(",")));
}

#[test]
fn a_command_without_values_is_run_as_it_is_written() {
    let filled = filled("!`git log | head -n 3`", &[]);
    let [_, Piece::Expression(expression), _] = &filled.pieces[..] else { panic!() };
    assert_eq!(expression.arguments(), ["-c", "git log | head -n 3"]);
}

/// Pieces of shell that change how what follows is read.
const PIECES: &[&str] = &[
    "echo ",
    ": ",
    " ",
    "'",
    "\"",
    "\\",
    "$(",
    "(",
    ")",
    "${x:-",
    "${x#",
    "}",
    "$((",
    "))",
    "#",
    "\n",
    ";",
    "|",
    "&&",
    "$",
    "$'",
    "$\"",
    "<<E\n",
    "\nE\n",
    "case a in a",
    "esac",
    "[[ ",
    " -eq 1 ]]",
    "eval ",
    "let ",
    "x=",
    "{ ",
    "((",
    "if ",
    "then ",
    "fi",
    "!",
    "=",
    "a",
    "{{A}}",
    "{{A}}",
    "{{A}}",
    "{{A}}",
];

#[tokio::test]
async fn w_10_no_value_is_run_whatever_the_command_looks_like() {
    let folder = tempfile::tempdir().unwrap();
    let value = "a[$(touch pwned)]';touch pwned;'\"; touch pwned;\"$(touch pwned)`touch pwned`\ntouch pwned\nE\ntouch pwned\n)";
    let mut random = fastrand::Rng::with_seed(10);
    let (mut run, mut refused) = (0, 0);
    while run < 400 {
        let command: String =
            (0..random.usize(3..14)).map(|_| random.choice(PIECES).unwrap()).copied().collect();
        let bench = super::Bench::new(&format!("x !`{command}` x"));
        let Ok(template) = bench.read(&[("A", value)]) else {
            refused += 1;
            continue;
        };
        let branch = crate::id::BranchName::from_git("main");
        let filled = template.fill(&super::Branches { source: &branch, target: &branch });
        let Some(Piece::Expression(expression)) = filled.pieces.get(1) else { continue };
        run += 1;
        for shell in
            ["sh", "bash"].into_iter().filter(|shell| *shell == "sh" || Path::new("/bin/bash").exists())
        {
            let program = Program::new(shell).cwd(folder.path()).args(expression.arguments());
            // Most of these are no shell at all: that nothing of the value was run is the point.
            let _ = capture(&program, 1 << 20, Duration::from_secs(20)).await.unwrap();
            assert!(!folder.path().join("pwned").exists(), "{shell} ran the value: {command}");
        }
    }
    assert!(refused > 0, "no place was refused");
}

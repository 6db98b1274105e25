//! Templates from the file to what is filled in. That values are inert in a real shell is shown in `shell`.

mod shell;

use std::path::PathBuf;

use super::*;

/// A template file, and the folder that holds it.
struct Bench {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Bench {
    fn new(template: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prompt.md");
        std::fs::write(&path, template).unwrap();
        Self { _folder: folder, path }
    }

    fn read(&self, arguments: &[(&str, &str)]) -> Result<PromptTemplate> {
        PromptSource::File(self.path.clone()).read(&owned(arguments))
    }
}

fn owned(arguments: &[(&str, &str)]) -> Vec<(String, String)> {
    arguments.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

fn filled(template: &str, arguments: &[(&str, &str)]) -> Filled {
    let (source, target) = (BranchName::from_git("agent/fix"), BranchName::from_git("main"));
    Bench::new(template).read(arguments).unwrap().fill(&Branches { source: &source, target: &target })
}

fn text(template: &str, arguments: &[(&str, &str)]) -> String {
    let filled = filled(template, arguments);
    assert!(!filled.has_expressions());
    filled.for_checks()
}

#[track_caller]
fn refused(template: &str, arguments: &[(&str, &str)]) -> String {
    let error = Bench::new(template).read(arguments).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Prompt);
    format!("{error:#}")
}

#[test]
fn a_template_that_is_in_no_file_is_one_all_the_same() {
    let template = |text: &str| PromptSource::Template { name: "<mine>".to_owned(), text: text.to_owned() };
    let (source, target) = (BranchName::from_git("agent/fix"), BranchName::from_git("main"));
    let read =
        template("Fix {{WHAT}} on {{SOURCE_BRANCH}}.").read(&owned(&[("WHAT", "{{X}} !`id`")])).unwrap();
    let filled = read.fill(&Branches { source: &source, target: &target });
    assert!(!filled.has_expressions());
    assert_eq!(filled.for_checks(), "Fix {{X}} !`id` on agent/fix.");
    let error = template("Fix\n {{WHAT}}.").read(&[]).unwrap_err();
    assert!(error.to_string().contains("`{{WHAT}}` at <mine>:2:2"), "{error}");
}

#[test]
fn case_189_spaces_inside_the_braces_do_not_matter() {
    assert_eq!(text("{{ KEY }} {{KEY}} {{\tKEY}} {{KEY  }}", &[("KEY", "v")]), "v v v v");
}

#[test]
fn case_187_what_an_argument_brings_is_text() {
    let forged = text("{{A}}{{B}}", &[("A", "{{B}}"), ("B", "!`touch pwned`")]);
    assert_eq!(forged, "{{B}}!`touch pwned`");
    assert_eq!(text("{{A}}B}}", &[("A", "{{"), ("B", "x")]), "{{B}}");
    // The two halves of a mark, one of them from a value.
    assert_eq!(text("!{{A}}", &[("A", "`touch pwned`")]), "!`touch pwned`");
    assert_eq!(text("{{A}}`touch pwned`", &[("A", "!")]), "!`touch pwned`");
    assert_eq!(text("{{A}}{{B}}", &[("A", "\\"), ("B", "x")]), "\\x");
}

#[test]
fn case_187_no_value_ends_an_expression_or_begins_one() {
    let one = filled("!`echo {{A}}` {{A}}", &[("A", "x` !`touch pwned")]);
    let commands = one.pieces.iter().filter(|piece| matches!(piece, Piece::Expression(_))).count();
    assert_eq!(commands, 1);
    assert_eq!(one.for_checks(), "!`echo {{A}}` x` !`touch pwned");
}

#[test]
fn case_186_an_inline_prompt_is_never_looked_into() {
    let (main, inline) = (BranchName::from_git("main"), "{{A}} \\{{B}} {{SOURCE_BRANCH}} !`touch pwned`");
    let template = PromptSource::Inline(inline.to_owned()).read(&[]).unwrap();
    assert_eq!(template.missing(), Vec::<&str>::new());
    let filled = template.fill(&Branches { source: &main, target: &main });
    assert_eq!(filled.pieces, [Piece::Text(inline.to_owned())]);
    assert!(!filled.has_expressions());
    let arguments = owned(&[("A", "1")]);
    let error = PromptSource::Inline(inline.to_owned()).read(&arguments).unwrap_err();
    assert!(format!("{error:#}").contains("prompt_file"));
}

#[test]
fn case_190_missing_arguments_are_named_with_their_place() {
    let said = refused("a\n  é {{ ONE }} {{TWO}} !`git log {{THREE}}`", &[("TWO", "2")]);
    assert!(said.contains("`{{ONE}}` at ") && said.contains("prompt.md:2:5"), "{said}");
    assert!(said.contains("`{{THREE}}` at ") && said.contains("prompt.md:2:33"), "{said}");
    assert!(!said.contains("TWO"), "{said}");
}

#[test]
fn what_is_missing_can_be_asked_for() {
    let bench = Bench::new("{{B}} {{A}} {{B}} {{SOURCE_BRANCH}} !`x {{C}}`");
    let template = PromptSource::File(bench.path.clone()).template(&owned(&[("A", "1")])).unwrap();
    assert_eq!(template.missing(), ["B", "C"]);
}

#[test]
fn unused_arguments_are_told() {
    let template =
        Bench::new("{{A}} !`echo {{C}}`").read(&[("D", ""), ("A", "1"), ("B", "2"), ("C", "3")]).unwrap();
    assert_eq!(template.unused(), ["B", "D"]);
}

#[test]
fn the_branches_are_built_in_and_cannot_be_given() {
    assert_eq!(text("{{SOURCE_BRANCH}} -> {{ TARGET_BRANCH }}", &[]), "agent/fix -> main");
    for name in ["SOURCE_BRANCH", "TARGET_BRANCH"] {
        assert!(refused("x", &[(name, "y")]).contains(&format!("`{name}`")));
    }
}

#[test]
fn w_8_and_w_32_each_iteration_has_its_own_branches() {
    let template = Bench::new("{{SOURCE_BRANCH}}..{{TARGET_BRANCH}}").read(&[]).unwrap();
    let fill = |source: &str, target: &str| {
        let (source, target) = (BranchName::from_git(source), BranchName::from_git(target));
        template.fill(&Branches { source: &source, target: &target }).for_checks()
    };
    assert_eq!((fill("a", "main"), fill("b", "main")), ("a..main".to_owned(), "b..main".to_owned()));
}

#[test]
fn arguments_that_cannot_be_any_are_refused() {
    for name in ["", "1A", "a-b", "é", "A B"] {
        assert!(refused("x", &[(name, "y")]).contains("name of a prompt argument"), "{name:?}");
    }
    assert!(refused("{{A}}", &[("A", "a\0b")]).contains("NUL"));
    let long = "x".repeat(200_000);
    assert!(refused("\n!`wc -c {{A}}`", &[("A", &long)]).contains("prompt.md:2:9: it has 200000 bytes"));
    assert_eq!(text("{{A}}", &[("A", &long)]), long);
}

#[test]
fn a_blank_prompt_is_refused_and_one_that_may_become_more_is_not() {
    for blank in ["", " \n\t", "{{A}} {{A}}"] {
        assert!(refused(blank, &[("A", " ")]).contains("blank"), "{blank:?}");
    }
    assert!(filled("!`git log`", &[]).has_expressions());
    assert_eq!(text("{{SOURCE_BRANCH}}", &[]), "agent/fix");
}

#[test]
fn of_two_arguments_with_one_name_the_last_counts() {
    assert_eq!(text("{{A}}", &[("A", "1"), ("A", "2")]), "2");
}

#[test]
fn w_10_a_place_where_no_value_is_safe_is_refused_with_its_place() {
    let said = refused("look:\n!`cat <<END\n{{A}}\nEND\n`", &[("A", "x")]);
    assert!(said.contains("prompt.md:3:1 is behind `<<`"), "{said}");
    assert!(said.contains("value={{KEY}}"), "{said}");
}

#[test]
fn the_text_for_checks_has_expressions_as_they_are_written() {
    let filled = filled("<result> !`git log {{ A }}` {{A}}", &[("A", "v")]);
    assert!(filled.has_expressions());
    assert_eq!(filled.for_checks(), "<result> !`git log {{ A }}` v");
}

#[test]
fn slash_commands_are_told_from_paths() {
    assert_eq!(slash_command("/review --fix"), Some("/review"));
    assert_eq!(slash_command("/usr/bin/x is broken"), None);
    assert_eq!(slash_command("fix it"), None);
}

//! Commands: arguments that stay what they are, ends that are really ends, output that is bounded or judged.

use std::time::{Duration, Instant};

use serde_json::json;

use super::super::super::{OnFailure, Step, Workflow};
use super::Ground;
use crate::error::ErrorKind;
use crate::output::OutputSpec;
use crate::process::Leftovers;

fn one(step: Step) -> Workflow {
    Workflow::new("flow").step(step)
}

#[tokio::test]
async fn an_argument_stays_one_whatever_a_template_puts_into_it() {
    let ground = Ground::new();
    let hostile = "a b; touch pwned $(touch pwned) `touch pwned` \n --help";
    let workflow = one(Step::tool("show", ["printf", "[%s]", "--", "{{ input }}", "x{{ input }}y"]));
    let result = workflow.run(ground.options().input(hostile)).await.unwrap();
    assert_eq!(result.output["show"]["stdout"], format!("[--][{hostile}][x{hostile}y]"));
    assert!(!ground.path().join("pwned").exists());
}

#[tokio::test]
async fn it_reads_its_input_its_variables_and_runs_in_its_folder() {
    let ground = Ground::new();
    std::fs::create_dir(ground.path().join("inner")).unwrap();
    let mut step = Step::tool("show", ["sh", "-c", "cat; printf ' %s ' \"$WORD\"; basename \"$PWD\""])
        .stdin("{{ input }}")
        .env("WORD", "{{ vars.word }}");
    if let super::super::super::StepKind::Tool(tool) = &mut step.kind {
        tool.cwd = Some(super::super::super::definition::Text::of("inner"));
    }
    let workflow = one(step).var("word", "hello");
    let result = workflow.run(ground.options().input("in")).await.unwrap();
    assert_eq!(result.output["show"]["stdout"], "in hello inner\n");
}

#[tokio::test]
async fn it_does_not_run_outside_of_the_folder_of_the_workflow() {
    for outside in ["..", "/", "inner/../..", "link"] {
        let ground = Ground::new();
        std::os::unix::fs::symlink("/", ground.path().join("link")).unwrap();
        let mut step = Step::tool("show", ["true"]);
        if let super::super::super::StepKind::Tool(tool) = &mut step.kind {
            // What is written out is refused before the run; what a step gives is known only here.
            tool.cwd = Some(super::super::super::definition::Text::of("{{ place.stdout }}"));
        }
        let place = Step::tool("place", ["printf", outside]);
        let error = ground.fails(&Workflow::new("flow").step(place).step(step)).await;
        assert!(error.to_string().contains("would run in"), "{outside}: {error}");
    }
}

#[tokio::test]
async fn a_failure_says_how_and_what_was_printed_last() {
    let ground = Ground::new();
    let script = "echo out; echo 'no such thing' >&2; exit 3";
    let error = ground.fails(&one(Step::tool("try", ["sh", "-c", script]))).await;
    assert_eq!(error.kind(), ErrorKind::WorkflowStep);
    assert!(error.to_string().ends_with("exit code 3: no such thing"), "{error}");
    let error = ground.fails(&one(Step::tool("try", ["sh", "-c", "kill -9 $$"]))).await;
    assert!(error.to_string().ends_with("signal 9"), "{error}");
}

#[tokio::test]
async fn a_command_that_does_not_start_says_which_file_what_is_wrong_and_what_to_do() {
    use std::os::unix::fs::PermissionsExt as _;
    let ground = Ground::new();
    let folder = ground.path().canonicalize().unwrap();
    std::fs::create_dir(folder.join("scripts")).unwrap();
    std::fs::write(folder.join("plain.sh"), "#!/bin/sh\n").unwrap();
    std::fs::write(folder.join("lost.sh"), "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(folder.join("lost.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let at = |name: &str| format!("`{}`", folder.join(name).display());
    for (program, what, hint) in [
        ("scripts/none.sh", format!("there is no file {}", at("scripts/none.sh")), "folder of the workflow"),
        (
            "no-such-program-4711",
            "no program `no-such-program-4711` is on the `PATH`".to_owned(),
            "install it",
        ),
        ("./plain.sh", format!("{} may not be executed", at("./plain.sh")), "chmod +x"),
        (
            "./lost.sh",
            format!("{} is there, and the program that its first line", at("./lost.sh")),
            "correct the line",
        ),
        ("./scripts", format!("{} is a folder", at("./scripts")), "path of a program"),
    ] {
        let error = ground.fails(&one(Step::tool("try", [program]))).await;
        assert!(error.to_string().contains(&format!("start `{program}`: {what}")), "{error}");
        assert!(error.hints()[0].contains(hint), "{error:#}");
    }
}

#[tokio::test]
async fn a_failure_that_may_be_is_an_exit_code_that_later_steps_read() {
    let ground = Ground::new();
    let workflow = Workflow::new("flow")
        .step(Step::tool("tests", ["sh", "-c", "echo bad >&2; exit 3"]).on_failure(OnFailure::Continue))
        .step(Step::tool("killed", ["sh", "-c", "kill -15 $$"]).on_failure(OnFailure::Continue))
        .step(Step::condition("ok", "tests.exit_code == 0").then([Step::tool("never", ["false"])]));
    let result = ground.run(&workflow).await;
    assert_eq!(result.output["tests"], json!({ "stdout": "", "stderr": "bad\n", "exit_code": 3 }));
    assert_eq!(result.output["killed"]["exit_code"], 143);
    assert_eq!(result.output["ok"]["taken"], "else");
    assert!(result.step("never").is_none());
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_with_all_that_it_started() {
    let ground = Ground::new();
    let script = "setsid sleep 61 & sleep 62";
    let step = Step::tool("long", ["sh", "-c", script]).timeout(Duration::from_millis(300));
    let begun = Instant::now();
    let error = ground.fails(&one(step)).await;
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert_eq!(error.kind(), ErrorKind::StepTimeout);
    assert!(error.to_string().contains("within 0.3 s"), "{error}");
    let run = error.workflow_failure().unwrap().run_id.clone();
    let record = ground.path().join(".sandcastle/runs").join(run.as_str()).join("workflow.jsonl");
    let text = std::fs::read_to_string(record).unwrap();
    let head: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let mark = crate::process::Mark::parse(head["mark"].as_str().unwrap()).unwrap();
    assert_eq!(Leftovers::of([mark]).list(), []);
}

#[tokio::test]
async fn of_a_long_output_the_end_is_kept() {
    let ground = Ground::new();
    let script = "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo the end";
    let result = ground.run(&one(Step::tool("long", ["sh", "-c", script]))).await;
    let stdout = result.output["long"]["stdout"].as_str().unwrap();
    assert_eq!(stdout.len(), 1 << 20);
    assert!(stdout.ends_with("x\nthe end\n"));
    let record = result.step("long").unwrap();
    assert_eq!((record.stdout_truncated, record.stderr_truncated), (true, false));
    assert_eq!(result.warnings.len(), 1, "{:?}", result.warnings);
    assert!(
        result.warnings[0].starts_with("the step `long`: its `stdout` is the last 1048576 of 3000009 bytes")
    );
}

#[tokio::test]
async fn later_steps_read_whether_an_output_is_whole_also_when_the_run_goes_on() {
    let ground = Ground::new();
    let prints = |bytes: u32, to: u32| format!("head -c {bytes} /dev/zero | tr '\\0' x >&{to}");
    let workflow = |last: &str| {
        Workflow::new("flow")
            .step(Step::tool("whole", ["sh", "-c", &prints(1 << 20, 1)]))
            .step(Step::tool("long", ["sh", "-c", &prints((1 << 20) + 1, 1)]))
            .step(Step::tool("loud", ["sh", "-c", &prints(20_000, 2)]))
            .step(Step::condition(
                "cut",
                "steps.long.stdout_truncated and steps.loud.stderr_truncated and not steps.whole.stdout_truncated",
            ).then([Step::tool("yes", ["true"])]))
            .step(Step::tool("last", [last]))
    };
    assert!(workflow("true").check().as_slice().is_empty(), "{:?}", workflow("true").check());
    let error = ground.fails(&workflow("false")).await;
    let failure = error.workflow_failure().unwrap();
    assert!(failure.outputs.contains_key("yes"), "{failure:?}");
    let resumed = workflow("true").run(ground.options().resume(failure.run_id.clone())).await.unwrap();
    assert!(resumed.step("long").unwrap().stdout_truncated, "{:?}", resumed.trace);
}

#[tokio::test]
async fn an_output_with_a_schema_is_refused_beyond_its_bound() {
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    let ground = Ground::new();
    let script = "printf '{\"text\": \"'; head -c 1048576 /dev/zero | tr '\\0' x; printf '\"}'";
    let step = Step::tool("long", ["sh", "-c", script]);
    let step = step.output_spec(OutputSpec::json("output", schema).unwrap());
    let error = ground.fails(&one(step)).await.to_string();
    assert!(error.contains("printed 1048588 bytes") && error.contains("at most 1048576"), "{error}");
}

#[tokio::test]
async fn with_a_schema_its_output_is_json_that_fits_and_it_is_run_once() {
    let schema = json!({ "type": "object", "properties": {
        "n": { "type": "integer" }, "unit": { "type": "string", "default": "s" } }, "required": ["n"] });
    let spec = || OutputSpec::json("output", schema.clone()).unwrap();
    let ground = Ground::new();
    let good = Step::tool("count", ["sh", "-c", "echo run >> runs; echo '{\"n\": 3}'"]).output_spec(spec());
    assert_eq!(ground.run(&one(good)).await.output["count"], json!({ "n": 3, "unit": "s" }));

    let bad =
        Step::tool("count", ["sh", "-c", "echo run >> runs; echo '{\"n\": \"3\"}'"]).output_spec(spec());
    let error = ground.fails(&one(bad)).await;
    assert_eq!(error.kind(), ErrorKind::StructuredOutput);
    assert!(error.to_string().contains("the step `count` did not match output_schema: output.n"), "{error}");
    assert!(error.structured_output().is_some());
    assert_eq!(ground.lines("runs").len(), 2, "each was run once");
}

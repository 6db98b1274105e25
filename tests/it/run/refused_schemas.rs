//! A schema that the agent's program or its model's service refuses: when words take over, and when the run fails.

use sandcastle::agent::SchemaDelivery;
use sandcastle::event::FailureKind;
use sandcastle::testing::{Script, Scripted, Sequence, Turn};
use sandcastle::{AnswerGuarantee, AttemptOutcome, ErrorKind};

use super::native::{GOOD, TAGGED, UNTAGGED, heard, outcomes};
use super::{Bench, N, say};

use sandcastle::OutputStrategy::{Auto, Native, Tag};

fn schema_refused() -> Turn {
    Turn::new().fail(FailureKind::SchemaRefused, "the grammar is too large")
}

#[tokio::test]
async fn case_075_a_refused_schema_is_asked_for_by_the_tag_once() {
    let bench = Bench::new().await;
    let agent = Scripted::new(
        Script::new()
            .native(SchemaDelivery::Argument)
            .sequence(Sequence::AcrossSessions)
            .turn(schema_refused())
            .turn(say(GOOD)),
    );
    let options = bench.asked(agent.state_dir(bench.state.path()), Auto, TAGGED);
    let (options, told) = heard(options);
    let result = sandcastle::run_with::<N>(options).await.unwrap();

    assert_eq!((result.output, result.answer_guarantee), (N { n: 5 }, Some(AnswerGuarantee::Tag)));
    let [first, second] = result.attempts.as_slice() else { panic!("{:#?}", result.attempts) };
    assert_eq!((first.outcome, first.strategy), (AttemptOutcome::SchemaRefused, Native));
    assert_eq!((second.outcome, second.strategy), (AttemptOutcome::Accepted, Tag));
    let choice = result.strategy.unwrap();
    assert!(choice.strategy == Tag && choice.reason.contains("the grammar is too large"), "{choice:?}");
    assert_eq!(*told.lock().unwrap(), [Native, Tag]);
    let [warning] = result.warnings.as_slice() else { panic!("{:?}", result.warnings) };
    assert!(warning.contains("the grammar is too large"), "{warning}");
    assert_eq!(bench.schemas(second.session_id.as_ref()), [None]);
    assert_eq!(bench.prompts(second.session_id.as_ref().unwrap()), [TAGGED]);
}

#[tokio::test]
async fn a_refused_schema_fails_the_run_where_nothing_else_asks_for_the_answer() {
    for (strategy, prompt) in [(Native, TAGGED), (Auto, UNTAGGED)] {
        let bench = Bench::new().await;
        let options = bench.by(strategy, prompt, [schema_refused(), say(GOOD)]);
        let error = sandcastle::run_with::<N>(options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AgentFailed, "{error:#}");
        assert!(error.to_string().contains("the schema of the answer was refused"), "{error}");
        assert_eq!(outcomes(&error), [AttemptOutcome::SchemaRefused]);
        assert_eq!(bench.sessions(), 1);
    }
}

#[tokio::test]
async fn no_other_failure_changes_the_strategy() {
    for kind in [FailureKind::Request, FailureKind::Transport, FailureKind::Limit, FailureKind::Other] {
        let bench = Bench::new().await;
        let options = bench.by(Auto, TAGGED, [Turn::new().fail(kind, "no"), say(GOOD)]);
        let error = sandcastle::run_with::<N>(options).await.unwrap_err();
        assert_eq!((error.kind(), bench.sessions()), (ErrorKind::AgentFailed, 1), "{kind:?}: {error:#}");
    }
}

//! Whatever a model says: what is sent is a conversation that every service takes, and the limits hold.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::model::{ModelAnswer, ModelStop, ToolCall, ToolSpec};
use crate::output::lower::Dialect;
use crate::{AttemptOutcome, Result};

const MAX_CALLS: u32 = 6;
const RETRIES: u32 = 3;

const TEXTS: &[&str] =
    &["", " \n", "no", GOOD, BAD, r#"{"n":1}"#, r#"{"n":"x"}"#, "<result>{", "[output check: ..."];

fn texts() -> impl Strategy<Value = String> {
    prop::sample::select(TEXTS).prop_map(str::to_owned)
}

fn calls() -> impl Strategy<Value = Vec<ToolCall>> {
    let names = prop::sample::select(&["look", "respond_with_result", "unknown"][..]);
    let arguments = prop::sample::select(&["", "{}", r#"{"n":1}"#, r#"{"n":"x"}"#, "{\"n\":", "[]"][..]);
    let call = (names, arguments).prop_map(|(name, arguments)| ToolCall::new("", name, arguments));
    prop::collection::vec(call, 0..3)
}

fn stops() -> impl Strategy<Value = ModelStop> {
    prop_oneof![
        8 => Just(ModelStop::Complete),
        1 => Just(ModelStop::Other("paused".to_owned())),
        1 => Just(ModelStop::OutputLimit),
        1 => Just(ModelStop::ContextLimit),
        1 => Just(ModelStop::Refused),
    ]
}

fn answers() -> impl Strategy<Value = ModelAnswer> {
    (texts(), calls(), stops(), any::<bool>()).prop_map(|(text, calls, stop, replayed)| ModelAnswer {
        replay: replayed.then(|| json!({ "text": text, "calls": calls.len() })),
        text,
        calls,
        stop,
        ..ModelAnswer::default()
    })
}

/// An answer, or trouble on the way.
fn script() -> impl Strategy<Value = Vec<Option<ModelAnswer>>> {
    prop::collection::vec(prop::option::weighted(0.9, answers()), 1..8)
}

fn play(model: &ScriptedModel, other: &ScriptedModel) -> Result<Option<Value>> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let look = ToolSpec::new("look", "Looks.", json!({ "type": "object" }));
    let run = asking(model)
        .alternate(other.clone())
        .max_retries(RETRIES)
        .max_iterations(MAX_CALLS)
        .transport_retries(0)
        .total_timeout(Duration::from_secs(3600))
        .tool(look, async |_| Ok("seen".to_owned()));
    runtime.block_on(async {
        let result = run.run().await?;
        let accepted =
            result.attempts.iter().filter(|attempt| attempt.outcome == AttemptOutcome::Accepted).count();
        assert_eq!((result.output.is_some(), result.unmet.is_none()), (accepted == 1, accepted == 1));
        assert!(result.attempts.len() <= RETRIES as usize + 1 && result.iterations <= MAX_CALLS);
        assert_is_a_conversation(&result.messages);
        Ok(result.output)
    })
}

/// Each call has its result before anything else is said, and no message is empty.
fn assert_is_a_conversation(messages: &[Message]) {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message {
            Message::ToolResult { call, .. } => {
                let place = open.iter().position(|id| id == call);
                open.remove(place.unwrap_or_else(|| panic!("{messages:#?}")));
            }
            Message::User { text } => assert!(open.is_empty() && !text.trim().is_empty(), "{messages:#?}"),
            Message::Assistant { text, calls, .. } => {
                assert!(open.is_empty(), "{messages:#?}");
                assert!(!text.trim().is_empty() || !calls.is_empty(), "{messages:#?}");
                open.extend(calls.iter().map(|call| call.id.as_str()));
            }
        }
    }
    assert!(open.is_empty(), "{messages:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn whatever_is_answered_the_conversation_is_whole_and_the_limits_hold(
        script in script(),
        after in script(),
        strategy in 0..3,
    ) {
        let play_script = |model: ScriptedModel, script: Vec<Option<ModelAnswer>>| {
            script.into_iter().fold(model, |model, entry| match entry {
                Some(answer) => model.reply(answer),
                None => model.fail(transport()),
            })
        };
        let model = ScriptedModel::new().named("one", "a");
        let model = match strategy {
            0 => model,
            1 => model.native(Dialect::OpenAi),
            _ => model.forced_tool(Dialect::OpenAi),
        };
        let (model, other) = (play_script(model, script), play_script(ScriptedModel::new(), after));
        let played = play(&model, &other);
        if let Ok(Some(value)) = played {
            prop_assert_eq!(value, json!({ "n": 1 }));
        }
        let requests: Vec<_> = model.requests().into_iter().chain(other.requests()).collect();
        // One of them may have failed on the way and have been made of the other.
        prop_assert!(requests.len() <= MAX_CALLS as usize + 1);
        for request in &requests {
            assert_is_a_conversation(&request.messages);
            let last_word = request.messages.last();
            assert!(!matches!(last_word, Some(Message::Assistant { .. })), "{last_word:?}");
        }
    }
}

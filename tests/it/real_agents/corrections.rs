//! Answers that are not valid: what the program is told, in which session, and what is left when nothing helps.

use sandcastle::{AttemptOutcome, ErrorKind, Stage};

use super::{BAD, GOOD, PROMPT, Retried, Subject, also_for, for_both_agents};
use crate::support::model_server::Reply;

for_both_agents![
    a_bad_answer_is_corrected_in_its_session,
    an_output_that_is_never_right_is_an_error,
    a_retry_that_fails_leaves_the_first_refusal,
    a_correction_is_sent_again_when_the_service_fails,
];

also_for![
    pi in with_pi:
    a_bad_answer_is_corrected_in_its_session,
    an_output_that_is_never_right_is_an_error,
    a_retry_that_fails_leaves_the_first_refusal,
    a_correction_is_sent_again_when_the_service_fails,
];

also_for![
    gemini in with_gemini:
    a_bad_answer_is_corrected_in_its_session,
    an_output_that_is_never_right_is_an_error,
];

async fn a_bad_answer_is_corrected_in_its_session(subject: Subject) {
    let work = "git commit --quiet --allow-empty --message One";
    let replies = [
        Reply::shell(work).usage(1000, 1),
        Reply::text(BAD).usage(200, 20),
        Reply::text(GOOD).usage(3000, 300),
    ];
    let bench = subject.bench(replies).await;
    let result = sandcastle::run_with::<Retried>(bench.options()).await.unwrap();

    assert_eq!(result.output, Retried { n: 5 });
    let [first, second] = result.attempts.as_slice() else { panic!("{result:#?}") };
    assert_eq!((first.outcome, second.outcome), (AttemptOutcome::SchemaValidate, AttemptOutcome::Accepted));
    assert!(first.session_id.is_some());
    assert_eq!(first.session_id, second.session_id);
    assert_eq!((first.commits.len(), second.commits.len(), result.commits.len()), (1, 0, 1));

    assert_eq!((first.usage.input_tokens, first.usage.output_tokens), (1200, 21));
    assert_eq!((second.usage.input_tokens, second.usage.output_tokens), (3000, 300));
    assert_eq!((result.usage.input_tokens, result.usage.output_tokens), (4200, 321));

    let turns = bench.server.turns();
    assert_eq!(turns.len(), 3);
    let correction = &turns[2];
    assert!(correction.user_texts().iter().any(|text| text == PROMPT), "{:?}", correction.user_texts());
    assert_eq!(correction.assistant_texts(), [BAD]);
    let newest = correction.user_texts().pop().expect("something the user said");
    assert!(newest.contains("<result>") && newest != PROMPT, "{newest}");
}

async fn an_output_that_is_never_right_is_an_error(subject: Subject) {
    let bench = subject.bench([Reply::text(BAD).usage(50, 5).always()]).await;
    let error = sandcastle::run_with::<Retried>(bench.options()).await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::StructuredOutput);
    let output = error.structured_output().expect("the reason");
    assert_eq!((output.stage(), output.attempts.len()), (Stage::SchemaValidate, 3));
    assert_eq!(output.raw_matched.as_deref(), Some(r#"{"n":"x"}"#));
    assert_eq!(output.session_id.as_ref(), error.work().unwrap().session_id());
    assert!(output.session_id.is_some());
    assert_eq!((output.usage.input_tokens, output.usage.output_tokens), (150, 15));
    assert_eq!(bench.server.turns().len(), 3);

    // What the error names is enough to go on.
    let session = output.session_id.clone().unwrap();
    let resumed = sandcastle::run(bench.prompted("And now?").resume_session(session.as_str())).await.unwrap();
    assert_eq!(resumed.text, BAD);
    assert_eq!(bench.server.turns()[3].assistant_texts().len(), 3);
}

async fn a_retry_that_fails_leaves_the_first_refusal(subject: Subject) {
    let bench = subject.bench([Reply::text(BAD), Reply::status(401).always()]).await;
    let error = sandcastle::run_with::<Retried>(bench.options()).await.unwrap_err();

    let output = error.structured_output().expect("the reason");
    assert_eq!(output.stage(), Stage::SchemaValidate);
    let outcomes: Vec<_> = output.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::SchemaValidate, AttemptOutcome::AgentFailed]);
    let warnings = &error.work().unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.contains("401")), "{warnings:?}");
}

/// Trouble of the service uses up no retry, and the model is told of the answer's mistake all the same.
async fn a_correction_is_sent_again_when_the_service_fails(subject: Subject) {
    let refused = Reply::status(500);
    let asked = requests_of_one_process(&subject, refused.clone()).await;
    let mut replies = vec![Reply::text(BAD)];
    replies.extend(vec![refused; asked]);
    replies.extend([Reply::text(BAD), Reply::text(GOOD)]);
    let bench = subject.bench(replies).await;
    let result = sandcastle::run_with::<Retried>(bench.options()).await.unwrap();

    assert_eq!(result.output, Retried { n: 5 });
    let outcomes: Vec<_> = result.attempts.iter().map(|attempt| attempt.outcome).collect();
    use AttemptOutcome::{Accepted, SchemaValidate, Transport};
    assert_eq!(outcomes, [SchemaValidate, Transport, SchemaValidate, Accepted]);
    let sessions = result.iterations.iter().map(|iteration| &iteration.session_id);
    assert!(sessions.clone().all(|session| *session == result.iterations[0].session_id), "{result:#?}");
    assert_eq!((result.usage.input_tokens, result.usage.output_tokens), (33, 21));
    assert_eq!(bench.server.turns().last().unwrap().assistant_texts(), [BAD, BAD]);
}

/// How often a program asks before it gives up.
async fn requests_of_one_process(subject: &Subject, refused: Reply) -> usize {
    let bench = subject.bench([refused.always()]).await;
    sandcastle::run(bench.options()).await.unwrap_err();
    bench.server.turns().len()
}

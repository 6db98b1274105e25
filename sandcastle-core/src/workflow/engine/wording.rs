//! What is wrong with an answer, in the words of workflows: `output.items[2].name is required`.

use crate::output::{AnswerForm, ExtractError, Problem, Stage, clip, one_line};

/// The most bytes of a list of problems, and of an answer, that a model is shown again.
const MAX_LIST: usize = 1800;
const MAX_ANSWER: usize = 1200;
/// The most problems that are told of one answer.
const MAX_TOLD: usize = 20;

/// Words every problem of an answer.
pub(super) fn problems(error: &ExtractError) -> Vec<String> {
    of_stage(error.stage(), &error.problems)
}

/// Words the problems of an answer that failed at this stage.
pub(super) fn of_stage(stage: Stage, problems: &[Problem]) -> Vec<String> {
    located(problems, matches!(stage, Stage::SchemaValidate | Stage::Rejected))
}

/// Words problems; those of an answer without a value have no place in one.
pub(super) fn located(problems: &[Problem], is_about_a_value: bool) -> Vec<String> {
    let word = |problem: &Problem| {
        let message = one_line(&problem.message).replace('`', "");
        let is_about_others = problem.path.is_empty() && message.starts_with("and ");
        if !is_about_a_value || is_about_others {
            return message;
        }
        let is_predicate = ["must ", "is ", "has ", "needs "].iter().any(|begin| message.starts_with(begin));
        format!("{}{} {message}", place(&problem.path), if is_predicate { "" } else { ":" })
    };
    let mut told: Vec<String> = problems.iter().take(MAX_TOLD).map(word).collect();
    if problems.len() > MAX_TOLD {
        told.push(format!("and {} more", problems.len() - MAX_TOLD));
    }
    told
}

/// Turns a JSON Pointer into the words of an expression. What is a number in it is taken for the place in a list.
fn place(pointer: &str) -> String {
    let mut place = "output".to_owned();
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let is_index = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
        let is_name = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        place.push_str(&match (is_index, is_name && !token.is_empty()) {
            (true, _) => format!("[{token}]"),
            (false, true) => format!(".{token}"),
            (false, false) => format!("[\"{}\"]", one_line(&token)),
        });
    }
    place
}

/// Words what a model is told of an answer that was not accepted: the problems, and the answer.
pub(super) fn correction(
    error: &ExtractError,
    problems: &[String],
    form: AnswerForm,
    number: u32,
    most: u32,
) -> String {
    let mut quoted = String::new();
    for problem in problems {
        if quoted.len() + problem.len() > MAX_LIST {
            quoted.push_str("- and more\n");
            break;
        }
        quoted.push_str(&format!("- {problem}\n"));
    }
    if let Some(answer) = error.raw_matched.as_deref().filter(|answer| !answer.trim().is_empty()) {
        quoted.push_str(&format!("\nThe rejected answer:\n{}", clip(answer.trim(), MAX_ANSWER)));
    }
    error.output_check_quoting(&quoted, form, number, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_located_in_the_words_of_an_expression() {
        let problems = [
            Problem::new("/severity", "must be one of `low`, `high`"),
            Problem::new("/items/2/name", "is required"),
            Problem::new("/a~1b", "must be a string, got 3"),
            Problem::new("", "must be an object, got array"),
            Problem::new("", "and 3 more"),
        ];
        assert_eq!(
            located(&problems, true),
            [
                "output.severity must be one of low, high",
                "output.items[2].name is required",
                "output[\"a/b\"] must be a string, got 3",
                "output must be an object, got array",
                "and 3 more",
            ]
        );
        assert_eq!(located(&[Problem::new("", "the answer is empty")], false), ["the answer is empty"]);
    }
}

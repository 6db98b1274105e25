//! The shell expressions of a prompt: run in the sandbox, side by side, and put in their places.
//!
//! What a command prints is text. It is never looked at again, so it can hold neither placeholders nor expressions.

use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::shell::{Bounds, Call, Shell, Stdout};
use crate::error::{Error, ErrorKind, Result};
use crate::output::one_line;
use crate::prompt::{Expression, Filled, Piece};
use crate::sandbox::BoxFuture;

/// How many expressions run at once.
const AT_ONCE: usize = 8;
/// What one expression may print: about a quarter of a million tokens.
const OUTPUT_LIMIT: usize = 1024 * 1024;
/// How many characters make a token, roughly.
const CHARS_PER_TOKEN: usize = 4;

/// A prompt that is ready to be said.
#[derive(Debug)]
pub(super) struct Expanded {
    pub(super) text: String,
    /// What was run, and about how many tokens it printed.
    pub(super) expressions: Vec<(String, u64)>,
}

/// Runs the expressions of a prompt, all at once but not more than eight, and joins the pieces.
///
/// Output is read as UTF-8 when it is complete; white space at its end is cut off. The first failure ends all the others.
///
/// # Errors
/// [`ErrorKind::PromptExpansion`] with command, place, exit and the end of what it printed when one fails,
/// [`ErrorKind::StepTimeout`] when one takes too long, and [`ErrorKind::Prompt`] when the prompt turns out blank.
///
/// # Cancel safety
/// Dropping the future ends what it has started.
pub(super) async fn expand(filled: &Filled, shell: &Shell<'_>, bounds: &Bounds<'_>) -> Result<Expanded> {
    let mut runs: Vec<BoxFuture<'_, Result<(usize, String)>>> = Vec::new();
    for piece in &filled.pieces {
        if let Piece::Expression(expression) = piece {
            let index = runs.len();
            runs.push(Box::pin(async move { Ok((index, run(expression, shell, bounds).await?)) }));
        }
    }
    let all = stream::iter(runs).buffer_unordered(AT_ONCE).try_collect();
    let mut printed: Vec<(usize, String)> = bounds.apply("expand the prompt", all).await?;
    printed.sort_unstable_by_key(|(index, _)| *index);
    join(filled, printed.into_iter().map(|(_, text)| text))
}

async fn run(expression: &Expression, shell: &Shell<'_>, bounds: &Bounds<'_>) -> Result<String> {
    let mut argv = vec!["sh"];
    argv.extend(expression.arguments());
    let limit = bounds.timeouts.prompt_expression;
    let call =
        Call { argv, shown: &expression.source, limit, stdin: &[], stdout: Stdout::Whole(OUTPUT_LIMIT) };
    let finished = shell.run(call).await.map_err(|failure| {
        let what = format!("run the shell expression at {}", expression.place);
        let error = failure.into_error(ErrorKind::PromptExpansion, &what);
        match error.kind() {
            ErrorKind::StepTimeout => error.with_hint("raise `prompt_expression` in the timeouts of the run"),
            _ => error.with_hint("end it with `|| true` if it may fail"),
        }
    })?;
    // No program can be given a NUL character.
    let text = String::from_utf8_lossy(&finished.stdout).replace('\0', "\u{fffd}");
    Ok(text.trim_end().to_owned())
}

fn join(filled: &Filled, mut printed: impl Iterator<Item = String>) -> Result<Expanded> {
    let mut text = String::new();
    let mut expressions = Vec::new();
    for piece in &filled.pieces {
        match piece {
            Piece::Text(known) => text.push_str(known),
            Piece::Expression(expression) => {
                let printed = printed.next().unwrap_or_default();
                let tokens = printed.chars().count().div_ceil(CHARS_PER_TOKEN);
                expressions.push((one_line(&expression.source).into_owned(), tokens as u64));
                text.push_str(&printed);
            }
        }
    }
    if text.trim().is_empty() {
        return Err(Error::new(
            ErrorKind::Prompt,
            "use a blank prompt: its shell expressions printed nothing",
        )
        .with_hint("say in the template what the agent is to do"));
    }
    Ok(Expanded { text, expressions })
}

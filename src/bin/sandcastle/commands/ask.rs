//! Asks on the terminal for what a prompt template needs and was not given.

use std::io::{self, BufRead, IsTerminal, Write};

use sandcastle::RunOptions;

use crate::failure::Failure;

/// Gives the options every argument that their template needs, in the order of the template.
///
/// Nobody is asked where nobody sits at a terminal: the keys are named in the failure then.
pub(super) fn with_answers(mut options: RunOptions) -> Result<RunOptions, Failure> {
    let missing = options.missing_prompt_args()?;
    if missing.is_empty() {
        return Ok(options);
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let keys: Vec<String> = missing.iter().map(|key| format!("`{{{{{key}}}}}`")).collect();
        let keys = keys.join(", ");
        return Err(Failure::usage(format!("failed to fill in the prompt: no argument for {keys}"))
            .with_hint("give it with `--arg`, or answer at a terminal"));
    }
    for key in missing {
        let value = answer(&key, &mut io::stdin().lock(), &mut io::stderr())?;
        options = options.prompt_arg(key, value);
    }
    Ok(options)
}

/// Asks for one value until there is one.
fn answer(key: &str, from: &mut dyn BufRead, to: &mut dyn Write) -> Result<String, Failure> {
    let failed = |error| Failure::io(format_args!("ask for `{{{{{key}}}}}`"), error);
    loop {
        write!(to, "Enter value for {{{{{key}}}}}: ").and_then(|()| to.flush()).map_err(failed)?;
        let mut line = String::new();
        if from.read_line(&mut line).map_err(failed)? == 0 {
            let _ = writeln!(to);
            return Err(Failure::cancelled(format_args!("fill in `{{{{{key}}}}}`: no value was entered")));
        }
        let value = line.strip_suffix('\n').unwrap_or(&line);
        let value = value.strip_suffix('\r').unwrap_or(value);
        if !value.trim().is_empty() {
            return Ok(value.to_owned());
        }
        writeln!(to, "a value is needed").map_err(failed)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_answer_is_refused_and_another_is_taken_as_it_is() {
        let mut asked = Vec::new();
        let value = answer("KEY", &mut &b"\n  \r\n a value \r\nmore\n"[..], &mut asked).unwrap();
        assert_eq!(value, " a value ");
        let asked = String::from_utf8(asked).unwrap();
        assert_eq!(asked.matches("Enter value for {{KEY}}: ").count(), 3, "{asked}");
    }

    #[test]
    fn who_enters_nothing_has_changed_their_mind() {
        let failure = answer("KEY", &mut &b""[..], &mut Vec::new()).unwrap_err();
        assert_eq!(failure.exit, crate::exit::Exit::Interrupted);
    }
}

//! `sandcastle interactive`: opens the agent's own terminal program.

use sandcastle::RunEvent;

use super::agent::{Interrupt, cancelled_by_signals, options};
use crate::cli::InteractiveArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reporter::Reporter;

pub(super) async fn interactive(args: InteractiveArgs, reporter: &Reporter) -> Result<Exit, Failure> {
    let mut options = options(&args.agent)?;
    if let Some(prompt) = args.prompt {
        options = options.prompt(prompt);
    }
    let result =
        sandcastle::interactive(options.cancel(cancelled_by_signals(Interrupt::LeftToTheAgent))).await?;
    for warning in &result.warnings {
        reporter.event(&RunEvent::Warning { message: warning.clone() });
    }
    Ok(if result.exit_code == Some(0) { Exit::Done } else { Exit::Failed })
}

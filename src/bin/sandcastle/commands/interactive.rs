//! `sandcastle interactive`: opens the agent's own terminal program.

use super::agent::options;
use crate::cli::InteractiveArgs;
use crate::exit::Exit;
use crate::failure::Failure;

pub(super) async fn interactive(args: InteractiveArgs) -> Result<Exit, Failure> {
    let mut options = options(&args.agent)?;
    if let Some(prompt) = args.prompt {
        options = options.prompt(prompt);
    }
    let result = sandcastle::interactive(options).await?;
    Ok(if result.exit_code == Some(0) { Exit::Done } else { Exit::Failed })
}

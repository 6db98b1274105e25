//! One agent process, from its start to its end.
//!
//! Here it is started and ended. What it prints is read in `listener`, which makes a [`Turn`] of it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::arguments::check_arguments;
use super::deadline::Limits;
use super::driver::Job;
use super::ending::End;
use super::event::RunEvent;
use super::ledger::Ledger;
use super::listener::Listener;
use super::native::Heard;
use super::plan::Ask;
use super::quiet::Quiet;
use super::sessions::{Inside, Sessions};
use super::shell::Bounds;
use super::trace;
use super::workplace::Workplace;
use crate::agent::{Agent, AgentCommand, AgentRequest, SessionPlace, TurnMode};
use crate::budget::{Budget, Spent};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{FailureKind, StopReason};
use crate::id::{RunId, SessionId};
use crate::output::locate::Locator;
use crate::sandbox::{Program, Running, Sharing};
use crate::session::SessionRequest;
use crate::work::Iteration;

/// How long it is waited before an agent is asked once more.
const PAUSE: Duration = Duration::from_millis(500);

/// What all agent processes in one place have in common.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) agent: Arc<dyn Agent>,
    pub(super) workplace: &'a Workplace,
    /// The folder that the agent works in, as seen inside.
    pub(super) cwd: PathBuf,
    pub(super) env: &'a [(OsString, OsString)],
    pub(super) signals: Vec<String>,
    pub(super) limits: Limits,
    pub(super) budget: Budget,
    pub(super) cancel: CancellationToken,
    pub(super) bounds: Bounds<'a>,
    pub(super) sessions: Sessions,
    /// What the agent may do in the processes that are played here.
    pub(super) mode: TurnMode,
    /// What the sandbox shows of the files of this host.
    pub(super) sharing: Sharing,
    pub(super) run: &'a RunId,
}

/// What one agent process did.
pub(super) struct Turn {
    pub(super) end: TurnEnd,
    pub(super) signal: Option<String>,
    pub(super) located: Option<Locator>,
    /// What was heard of the program's own structured output, in a turn that has a schema.
    pub(super) native: Option<Heard>,
    /// Whether the main agent said anything but white space.
    pub(super) spoke: bool,
    /// Whether anything at all was said or done.
    pub(super) acted: bool,
    pub(super) record: Iteration,
}

/// How one agent process came to its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TurnEnd {
    Completed(StopReason),
    Failed(FailureKind, String),
    /// What it ran in is gone.
    Lost(String),
    Idle,
    OutOfTime,
    OverBudget(Spent),
    Cancelled,
}

impl TurnEnd {
    /// Returns how the model's last answer ended, as far as that is known.
    pub(super) fn stop(&self) -> Option<StopReason> {
        match self {
            Self::Completed(stop) => Some(*stop),
            Self::Failed(kind, _) => kind.stop(),
            _ => None,
        }
    }

    /// Tells whether the agent may have refused for a reason that passes by itself in a moment. A session that was held in
    /// this run is not unknown to it for long.
    fn is_a_refusal(&self, held_before: bool) -> bool {
        match self {
            Self::Failed(FailureKind::Transport | FailureKind::SchemaRefused, _) => false,
            Self::Failed(FailureKind::SessionNotFound, _) => held_before,
            Self::Failed(..) => true,
            _ => false,
        }
    }
}

impl<'a> Stage<'a> {
    pub(super) fn new(job: &'a Job, workplace: &'a Workplace) -> Self {
        Self {
            agent: Arc::clone(&job.settings.agent),
            workplace,
            cwd: workplace.cwd(job),
            env: job.checked.environment.variables(),
            signals: job.settings.signals(),
            limits: job.limits,
            budget: job.settings.budget,
            cancel: job.settings.cancel.token().clone(),
            bounds: job.bounds(),
            sessions: job.sessions(),
            mode: TurnMode::Work,
            sharing: job.settings.sandbox.sharing(),
            run: &job.checked.run,
        }
    }

    /// Sets what the agent may do from now on.
    pub(super) fn in_mode(mut self, mode: TurnMode) -> Self {
        self.mode = mode;
        self
    }

    /// Plays one agent process to its end, and ends whatever it leaves behind.
    ///
    /// An agent that refuses to go on with a session before it did anything, as some do while another of their processes is
    /// being put away or makes a copy of the same session, is asked once more.
    pub(super) async fn play(
        &self,
        prompt: &str,
        session: &SessionRequest,
        ask: Option<Ask<'_>>,
        ledger: &mut Ledger,
    ) -> Result<Turn> {
        let turn = self.play_once(prompt, session, ask, ledger).await?;
        let held_before = !ledger.work.iterations.is_empty();
        let refused = session.origin().is_some() && !turn.acted && turn.end.is_a_refusal(held_before);
        if !refused {
            return Ok(turn);
        }
        ledger.record(turn.record);
        self.pause(PAUSE).await?;
        self.play_once(prompt, session, ask, ledger).await
    }

    async fn play_once(
        &self,
        prompt: &str,
        session: &SessionRequest,
        ask: Option<Ask<'_>>,
        ledger: &mut Ledger,
    ) -> Result<Turn> {
        ledger.afford(&self.budget, &format!("start `{}` again", self.agent.name()))?;
        let number = ledger.next_process();
        ledger.tell(&RunEvent::IterationStarted { number });
        let quiet = match self.mode {
            TurnMode::SpeakOnly => Quiet::begin(self, ledger).await?,
            TurnMode::Work => None,
        };
        let playing = self.play_to_the_end(prompt, session, ask, ledger);
        let played = playing.instrument(trace::iteration(number)).await;
        if let Some(quiet) = quiet {
            quiet.end(ledger).await;
        }
        played
    }

    /// Waits before something is said again. A run that is cut off meanwhile starts no further process.
    pub(super) async fn pause(&self, length: Duration) -> Result<()> {
        let what = format!("finish `{}`", self.agent.name());
        let pause = async {
            tokio::time::sleep(length).await;
            Ok(())
        };
        self.bounds.apply(&what, pause).await
    }

    async fn play_to_the_end(
        &self,
        prompt: &str,
        session: &SessionRequest,
        ask: Option<Ask<'_>>,
        ledger: &mut Ledger,
    ) -> Result<Turn> {
        let schema = ask.and_then(|ask| ask.schema);
        let request = AgentRequest::new(prompt, &self.cwd, session)
            .with_schema(schema)
            .with_mode(self.mode)
            .with_max_cost(self.budget.money_left(&ledger.work.usage));
        let command = self.agent.command(&request)?;
        if let Some(warning) = check_arguments(&command.program, &command.args, ledger.secrets())? {
            ledger.warn_once(warning);
        }
        self.learn_usage_before(session, ledger);
        ledger.playing();
        let stop = command.stop;
        let begun = Instant::now();
        let mut running = self.start(command).await?;
        let mut listener = Listener::new(self, session, ask.as_ref());
        let end = listener.listen(&mut running, ledger).await;
        match end {
            End::Exited(_) => {
                let left_behind = running.sweep().await;
                if left_behind > 0 {
                    let processes = if left_behind == 1 { "process" } else { "processes" };
                    ledger.warn(format!("ended {left_behind} {processes} that the agent had left behind"));
                }
            }
            End::Finished => running.end(stop).await,
            _ => listener.listen_to_the_end(&mut running, stop, ledger).await,
        }
        let turn = listener.conclude(&end, running.stderr(), begun, ledger);
        ledger.look_for_a_price(&self.budget, self.agent.name(), &turn.record.usage);
        ledger.tell(&RunEvent::IterationEnded { exit: turn.record.exit, usage: turn.record.usage });
        Ok(turn)
    }

    async fn start(&self, command: AgentCommand) -> Result<Running> {
        let name = command.program.to_string_lossy().into_owned();
        let mut program =
            Program::new(command.program).args(command.args).stdin(command.stdin).cwd(&self.cwd);
        program.env.extend(command.env);
        program.env.extend(self.env.iter().cloned());
        self.workplace.sandbox().start(program).await.map_err(|error| {
            let agent = self.agent.name();
            let hint = match error.kind() {
                std::io::ErrorKind::NotFound => {
                    "install it where the agent runs (for a container, in its image) and put it on the `PATH`, or name its path \
                     on the agent"
                }
                std::io::ErrorKind::PermissionDenied => {
                    "make it executable, or name another program on the agent"
                }
                std::io::ErrorKind::ArgumentListTooLong => "shorten the arguments of the agent",
                _ => "see whether the program starts from a shell",
            };
            Error::new(ErrorKind::AgentStart, format!("start the program `{name}` of the agent `{agent}`"))
                .with_source(error)
                .with_hint(hint)
        })
    }

    /// Brings the session that is asked for to where the agent looks for it.
    pub(super) async fn bring_in(&self, session: &SessionRequest, ledger: &mut Ledger) -> Result<()> {
        let (inside, limit) = (self.inside(), self.bounds.timeouts.session_transfer);
        let bringing = self.sessions.bring_in(session, &inside);
        let warnings = self.bounds.step("bring the session to the agent", limit, bringing).await?;
        warnings.into_iter().for_each(|warning| ledger.warn(warning));
        Ok(())
    }

    /// Returns where the agent is, as its sessions see it.
    pub(super) fn inside(&self) -> Inside {
        let sandbox = Arc::clone(self.workplace.sandbox());
        let (home, home_inside) = (sandbox.home(), sandbox.home_inside());
        Inside { home, home_inside, sandbox, cwd: self.cwd.clone(), env: self.env.to_vec() }
    }

    pub(super) fn session_file(&self, session: &SessionId) -> Option<PathBuf> {
        let Some(home) = self.workplace.sandbox().home() else { return self.sessions.stored_file(session) };
        self.agent.session_file(session, &SessionPlace::new(&home, &self.cwd, self.env))
    }

    /// Notes what the session had used by now, for agents that count over whole sessions.
    fn learn_usage_before(&self, session: &SessionRequest, ledger: &mut Ledger) {
        let Some(id) = session.origin() else { return };
        if ledger.total_of(id).is_none()
            && let Some(total) = self.session_file(id).and_then(|file| self.agent.session_usage(&file))
        {
            ledger.used_before(id.clone(), total);
        }
    }
}

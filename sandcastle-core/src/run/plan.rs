//! How the schema of a run's output reaches the model: chosen at the entry, settled once the program's version is known, and
//! given up where the schema is refused.
//!
//! What is decided is a [`StrategyChoice`], with its reason. An explicit strategy is never replaced here either: where it
//! cannot be kept the run fails, and says who could not keep it.

use std::path::Path;

use super::iteration::Stage;
use super::version::{self, Turns};
use crate::agent::{Agent, NativeOutput, RequestSchema, SchemaDelivery};
use crate::error::{Error, ErrorKind, Result};
use crate::output::lower::Lowering;
use crate::output::{OutputSpec, one_line};
use crate::session::SessionRequest;
use crate::strategy::{self, OutputStrategy, SchemaSupport, StrategyChoice, Support};

/// The longest argument that Linux starts a program with, its end included.
const MAX_ARGUMENT: usize = 128 * 1024;

/// How the schema of one run's output reaches the model.
#[derive(Clone, Debug)]
pub(super) struct SchemaPlan {
    who: String,
    wanted: OutputStrategy,
    choice: StrategyChoice,
    /// `None` where words carry the schema.
    native: Option<Native>,
    words: Words,
}

/// The program's own structured output, as it is used in a run.
#[derive(Clone, Debug)]
pub(super) struct Native {
    pub(super) output: NativeOutput,
    pub(super) lowering: Lowering,
    /// The schema as it is sent: JSON on one line.
    pub(super) text: String,
    resumed: Resumed,
}

/// Says whether the prompt asks for the tag as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Words {
    Present,
    /// Nothing but the schema asks for the answer.
    Absent,
}

/// Says how the schema reaches the model in turns that go on with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resumed {
    /// As in every turn.
    Natively,
    /// By words: the program is too old for anything else.
    ByWords,
}

/// What one turn is asked for besides its work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask<'a> {
    pub(super) spec: &'a OutputSpec,
    /// The program's own structured output, if this turn uses it.
    pub(super) native: Option<&'a Native>,
    pub(super) schema: Option<RequestSchema<'a>>,
    pub(super) when_dropped: WhenDropped,
}

/// Says what becomes of a turn whose program has dropped the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenDropped {
    /// It is ended: it cannot bring what it is for.
    End,
    /// It goes on: the prompt asks for the tag, too.
    GoOn,
}

impl SchemaPlan {
    /// Decides, by what the agent declares, before anything is started.
    ///
    /// # Errors
    /// As [`strategy::choose`]; also when an explicit strategy's schema does not fit on a command line.
    pub(super) fn choose(agent: &dyn Agent, wanted: OutputStrategy, spec: &OutputSpec) -> Result<Self> {
        let output = agent.native_output();
        let support = support_of(agent, output.as_ref());
        let chosen = strategy::choose(wanted, spec, &support)?;
        let native = output.zip(chosen.lowering).map(|(output, lowering)| Native::new(output, lowering));
        let who = support.who;
        let mut plan = Self { who, wanted, choice: chosen.choice, native, words: Words::Absent };
        if let Some(reason) = plan.native.as_ref().and_then(Native::is_too_long) {
            if wanted != OutputStrategy::Auto {
                return Err(plan.refused(ErrorKind::InvalidOutput, spec, &reason));
            }
            plan.leave_to_words(format!("`native`: {reason}"));
        }
        Ok(plan)
    }

    pub(super) fn wanted(&self) -> OutputStrategy {
        self.wanted
    }

    pub(super) fn choice(&self) -> &StrategyChoice {
        &self.choice
    }

    /// Tells whether the prompt has to ask for the tag, because in some turn nothing else does.
    fn needs_words(&self) -> bool {
        self.native.as_ref().is_none_or(|native| native.resumed == Resumed::ByWords)
    }

    /// Checks that a prompt asks for its output, where nothing else does.
    ///
    /// # Errors
    /// [`ErrorKind::Prompt`] when it does not, with the reason for which `auto` leaves the schema to words.
    pub(super) fn check_prompt(&self, prompt: &str, spec: &OutputSpec) -> Result<()> {
        let opener = spec.opener();
        if !self.needs_words() || prompt.contains(&opener) {
            return Ok(());
        }
        let mut message = format!("ask for an output: the prompt does not contain `{opener}`");
        if self.wanted == OutputStrategy::Auto {
            message += &format!(", and `auto` leaves the schema to words: {}", self.choice.reason);
        }
        Err(Error::new(ErrorKind::Prompt, message)
            .with_hint("nothing is added to a prompt: put the type's `prompt_snippet()` into it"))
    }

    /// Notes whether the prompt of the first turn asks for the tag.
    ///
    /// # Errors
    /// As [`check_prompt`](Self::check_prompt).
    pub(super) fn asked_by(mut self, prompt: &str, spec: &OutputSpec) -> Result<Self> {
        self.check_prompt(prompt, spec)?;
        self.words = if prompt.contains(&spec.opener()) { Words::Present } else { Words::Absent };
        Ok(self)
    }

    /// Tells whether words may still take over.
    pub(super) fn may_leave_to_words(&self) -> bool {
        self.native.is_some() && self.wanted == OutputStrategy::Auto && self.words == Words::Present
    }

    /// Tells whether a block in what was said may stand in for a value that is missing.
    pub(super) fn takes_blocks(&self) -> bool {
        self.wanted != OutputStrategy::Native
    }

    /// Leaves the schema to words.
    pub(super) fn leave_to_words(&mut self, reason: impl Into<String>) {
        self.choice = strategy::Chosen::tag(reason).choice;
        self.native = None;
    }

    /// Returns what made the schema that is sent, and undoes it in answers.
    pub(super) fn lowering(&self) -> Option<&Lowering> {
        self.native.as_ref().map(|native| &native.lowering)
    }

    /// Says what a turn of `session` is asked for.
    pub(super) fn ask<'a>(
        &'a self,
        spec: &'a OutputSpec,
        session: &SessionRequest,
        file: Option<&'a Path>,
    ) -> Ask<'a> {
        let native = self.native.as_ref().filter(|native| native.serves(session));
        let when_dropped = if self.may_leave_to_words() { WhenDropped::GoOn } else { WhenDropped::End };
        Ask { spec, native, schema: native.and_then(|native| native.request(file)), when_dropped }
    }

    /// Returns the schema as the entry check can see it: what is in a file is no argument.
    pub(super) fn argument(&self) -> Option<RequestSchema<'_>> {
        self.native.as_ref().and_then(|native| native.request(None))
    }

    /// Returns the text of the schema, if it goes by a file.
    pub(super) fn text_for_file(&self) -> Option<&str> {
        let native = self.native.as_ref()?;
        (native.output.delivery == SchemaDelivery::File).then_some(&*native.text)
    }

    /// Asks the program for its version, in the sandbox and before any turn, and settles by it: `first` is what
    /// the first one is that has the schema. What is left
    /// to words then has to be in the prompt, see [`check_prompt`](Self::check_prompt).
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when it is too old or not known, and the strategy is an explicit one;
    /// [`ErrorKind::AgentStart`] when the program cannot be started.
    pub(super) async fn settle(mut self, stage: &Stage<'_>, spec: &OutputSpec, first: Turns) -> Result<Self> {
        let Some(check) = self.native.as_ref().and_then(|native| native.output.version.clone()) else {
            return Ok(self);
        };
        let what = format!("ask `{}` for its version", stage.agent.name());
        let found = stage.bounds.apply(&what, async { Ok(version::ask(&check, stage).await) }).await?;
        let found = found.map_err(|why| self.refused(ErrorKind::AgentStart, spec, &why))?;
        let begins = found.suits(&check, first);
        let goes_on = if spec.retries() > 0 { found.suits(&check, Turns::Resumed) } else { Ok(()) };
        let Err(reason) = begins.as_ref().and(goes_on.as_ref()) else { return Ok(self) };
        if self.wanted != OutputStrategy::Auto {
            return Err(self.refused(ErrorKind::InvalidOptions, spec, reason));
        }
        if begins.is_err() {
            self.leave_to_words(format!("`native`: {}: {reason}", self.who));
        } else {
            self.choice.reason += &format!("; corrections go by the tag: {reason}");
            self.native.iter_mut().for_each(|native| native.resumed = Resumed::ByWords);
        }
        Ok(self)
    }

    /// Words why the answer cannot be held to its schema.
    fn refused(&self, kind: ErrorKind, spec: &OutputSpec, reason: &str) -> Error {
        let (tag, wanted, who) = (spec.tag(), self.wanted, &self.who);
        let message = format!("get `<{tag}>` by the strategy `{wanted}` from {who}: {reason}");
        let hint = match kind {
            ErrorKind::AgentStart => {
                "install it where the agent runs (for a container, in its image) and put it on the `PATH`, or name its path on the \
                 agent"
            }
            ErrorKind::InvalidOptions => "install a newer version, or use the strategy `auto` or `tag`",
            _ => "use a smaller type, or the strategy `auto` or `tag`",
        };
        Error::new(kind, message).with_hint(hint)
    }
}

impl Native {
    fn new(output: NativeOutput, lowering: Lowering) -> Self {
        let text = lowering.wire.to_string();
        Self { output, lowering, text, resumed: Resumed::Natively }
    }

    fn serves(&self, session: &SessionRequest) -> bool {
        session.origin().is_none() || self.resumed == Resumed::Natively
    }

    fn request<'a>(&'a self, file: Option<&'a Path>) -> Option<RequestSchema<'a>> {
        match self.output.delivery {
            SchemaDelivery::Argument => Some(RequestSchema::Text(&self.text)),
            SchemaDelivery::File => file.map(RequestSchema::File),
        }
    }

    fn is_too_long(&self) -> Option<String> {
        let length = self.text.len();
        let too_long = self.output.delivery == SchemaDelivery::Argument && length >= MAX_ARGUMENT;
        too_long
            .then(|| format!("the schema has {length} bytes, and an argument has less than {MAX_ARGUMENT}"))
    }
}

fn support_of(agent: &dyn Agent, native: Option<&NativeOutput>) -> SchemaSupport {
    let name = agent.name();
    let Some(native) = native else { return SchemaSupport::none(format!("the agent `{name}`")) };
    let who = match agent.model() {
        Some(model) if native.support == Support::Unlisted => {
            format!("the agent `{name}` with the model `{}`", one_line(model))
        }
        _ => format!("the agent `{name}`"),
    };
    SchemaSupport::none(who).with_dialect(native.dialect).with_native(native.support.clone())
}

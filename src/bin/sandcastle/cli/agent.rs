//! Flags of every command that starts an agent: which one, in what, with which variables, in which conversation.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::container::ContainerArgs;

#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The agent: `claude-code`, `codex`, `pi`, `opencode`, `gemini`, `copilot`, `cursor` or `scripted`.
    #[arg(long)]
    pub(crate) agent: String,
    /// The model the agent is told to use [default: the agent's own choice]; for `scripted`, the file of the script,
    /// such as {"turns": [{"steps": [{"shell": "date >>dates"}, {"commit": "work"},
    /// {"say": "<result>1</result>"}]}]}.
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Where the agent runs.
    #[arg(long, value_enum, default_value_t = Sandbox::None)]
    pub(crate) sandbox: Sandbox,
    /// What of the network is reached from the sandbox [default: on].
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true)]
    pub(crate) network: Option<NetworkChoice>,
    /// A host that is reached from the sandbox, and no other than those named so: NAME, *.NAME or an address, each with
    /// :PORT or without, which means 443 and 80. May be repeated.
    #[arg(long, value_name = "HOST", conflicts_with = "network")]
    pub(crate) allow_host: Vec<String>,
    /// A variable for the agent, as KEY=VALUE, or KEY to take it from this environment. May be repeated.
    #[arg(long, value_name = "K=V")]
    pub(crate) env: Vec<String>,
    /// A variable of this environment whose value is masked in logs and errors, as those are anyway whose names look
    /// secret, such as API_TOKEN. May be repeated.
    #[arg(long, value_name = "KEY")]
    pub(crate) secret_env: Vec<String>,
    #[command(flatten)]
    pub(crate) container: ContainerArgs,
}

impl AgentArgs {
    /// Returns the flags that say where the agent runs, with their values, as they can be given again.
    pub(crate) fn whereabouts(&self) -> Vec<(&'static str, Option<String>)> {
        let mut given = Vec::new();
        if self.sandbox != Sandbox::None {
            given.push(("--sandbox", Some(self.sandbox.name().to_owned())));
        }
        let network = self.network.map(|network| match network {
            NetworkChoice::On => "on",
            NetworkChoice::Off => "off",
        });
        given.extend(network.map(|network| ("--network", Some(network.to_owned()))));
        given.extend(self.allow_host.iter().map(|host| ("--allow-host", Some(host.clone()))));
        given.extend(self.container.given());
        given
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sandbox {
    /// On this host, without isolation.
    None,
    /// In a container of Docker.
    Docker,
    /// In a container of Podman.
    Podman,
    /// In a sandbox of bubblewrap, on Linux: it sees the work tree and the system's folders, and has a home folder of its own.
    Bubblewrap,
}

/// What `--network` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NetworkChoice {
    On,
    Off,
}

impl Sandbox {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Bubblewrap => "bubblewrap",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// The session to continue.
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,
    /// The session whose history a new session begins with.
    #[arg(long, value_name = "ID", conflicts_with = "resume")]
    pub(crate) fork: Option<String>,
    /// The folder that sessions are kept in, in the form of a home folder [default: the agent's own, or
    /// .sandcastle/sessions where that goes with the sandbox].
    #[arg(long, value_name = "DIR")]
    pub(crate) session_store: Option<PathBuf>,
}

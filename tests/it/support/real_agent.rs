//! The real agent programs: where they are, and a home for one in which it talks to a model server only.
//!
//! `.ci/install-agents` puts them below `.cache/agents`; `SANDCASTLE_AGENTS_DIR` names another folder of that
//! layout. A home starts from an empty environment: none of the user's folders, keys or settings reach the
//! program.

use std::collections::BTreeMap;
use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::model_server::ModelServer;
use super::process::Invocation;
use super::requirement::{absent, variable};

/// A model that the program knows, and offers its shell tool as it is. To newer ones it offers a script
/// instead.
const CODEX_MODEL: &str = "gpt-5.5";

/// A model that the program knows; left to itself it would ask another one which to take.
pub(crate) const GEMINI_MODEL: &str = "gemini-2.5-flash";

const CLAUDE_TURN: [&str; 5] = [
    "--print",
    "--verbose",
    "--output-format=stream-json",
    "--dangerously-skip-permissions",
    "--model=sonnet",
];

const PI_TURN: [&str; 5] = ["-p", "--mode", "json", "--model", SCRIPTED_MODEL];

const OPENCODE_TURN: [&str; 6] = ["run", "--format", "json", "--auto", "--model", SCRIPTED_MODEL];

const GEMINI_TURN: [&str; 6] =
    ["--output-format=stream-json", "--skip-trust", "--approval-mode", "yolo", "--model", GEMINI_MODEL];

/// The model of the server, as programs name it that know no models of their own.
pub(crate) const SCRIPTED_MODEL: &str = "scripted/model";

const CODEX_FREE_HAND: &str = "--dangerously-bypass-approvals-and-sandbox";

/// A key that opens nothing.
const DUMMY_KEY: &str = "dummy-key";

/// An installed agent program.
#[derive(Clone, Debug)]
pub(crate) struct RealAgent {
    kind: Kind,
    /// The path of the program.
    pub(crate) program: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ClaudeCode,
    Codex,
    Pi,
    OpenCode,
    Gemini,
}

/// A scratch home folder and the whole environment of a program that lives in it.
#[derive(Debug)]
pub(crate) struct Home {
    folder: TempDir,
    /// In place of the system's temporary folder, which Claude Code would leave something in.
    _scratch: TempDir,
    environment: BTreeMap<String, String>,
}

impl RealAgent {
    /// Finds Claude Code, or says that the test is skipped.
    #[track_caller]
    pub(crate) fn claude_code() -> Option<Self> {
        let package = format!("@anthropic-ai/claude-code-{}", npm_platform());
        Self::find(Kind::ClaudeCode, &format!("{package}/claude"))
    }

    /// Finds Codex's own program, or says that the test is skipped.
    #[track_caller]
    pub(crate) fn codex() -> Option<Self> {
        let triple = match OS {
            "macos" => format!("{ARCH}-apple-darwin"),
            _ => format!("{ARCH}-unknown-linux-musl"),
        };
        let package = format!("@openai/codex-{}", npm_platform());
        Self::find(Kind::Codex, &format!("{package}/vendor/{triple}/bin/codex"))
    }

    /// Finds the script that npm puts on the search path for Codex, or says that the test is skipped.
    #[track_caller]
    pub(crate) fn codex_launcher() -> Option<Self> {
        Self::find(Kind::Codex, ".bin/codex")
    }

    /// Finds pi, or says that the test is skipped.
    #[track_caller]
    pub(crate) fn pi() -> Option<Self> {
        Self::find(Kind::Pi, ".bin/pi")
    }

    /// Finds OpenCode, or says that the test is skipped.
    #[track_caller]
    pub(crate) fn opencode() -> Option<Self> {
        Self::find(Kind::OpenCode, &format!("opencode-{}/bin/opencode", npm_platform()))
    }

    /// Finds Gemini CLI, which is a script, or says that the test is skipped.
    #[track_caller]
    pub(crate) fn gemini() -> Option<Self> {
        Self::find(Kind::Gemini, ".bin/gemini")
    }

    /// Makes a home in which the program asks this server and nobody else.
    pub(crate) fn home(&self, server: &ModelServer) -> Home {
        let home = Home::new();
        match self.kind {
            Kind::ClaudeCode => home.with(&claude_environment(server)),
            Kind::Codex => home.with(&[("MODEL_SERVER_KEY", DUMMY_KEY.to_owned())]).with_codex_config(server),
            Kind::Pi => home.with(&[("PI_OFFLINE", "1".to_owned())]).with_pi_config(server),
            Kind::OpenCode => home.with(&opencode_environment()).with_opencode_config(server),
            Kind::Gemini => home.with(&gemini_environment(server)).with_gemini_settings(),
        }
    }

    /// A turn of a new session, with nobody to ask for permission. The prompt is its input.
    pub(crate) fn turn(&self, home: &Home, folder: &Path) -> Invocation {
        let arguments: &[&str] = match self.kind {
            Kind::ClaudeCode => &CLAUDE_TURN,
            Kind::Codex => &["exec", "--json", CODEX_FREE_HAND, "-"],
            Kind::Pi => &PI_TURN,
            Kind::OpenCode => &OPENCODE_TURN,
            Kind::Gemini => &GEMINI_TURN,
        };
        self.invocation(home, folder).arguments(arguments)
    }

    /// A further turn of a session.
    pub(crate) fn next_turn(&self, home: &Home, folder: &Path, session: &str) -> Invocation {
        let invocation = self.invocation(home, folder);
        match self.kind {
            Kind::ClaudeCode => invocation.arguments(CLAUDE_TURN).arguments(["--resume", session]),
            Kind::Codex => invocation.arguments(["exec", "resume", "--json", CODEX_FREE_HAND, session, "-"]),
            Kind::Pi => invocation.arguments(PI_TURN).arguments(["--session", session]),
            Kind::OpenCode => invocation.arguments(OPENCODE_TURN).arguments(["--session", session]),
            Kind::Gemini => invocation.arguments(GEMINI_TURN).arguments(["--resume", session]),
        }
    }

    /// The program in that home, without any argument.
    fn invocation(&self, home: &Home, folder: &Path) -> Invocation {
        Invocation::new(&self.program, folder).environment(home.environment())
    }

    #[track_caller]
    fn find(kind: Kind, below_modules: &str) -> Option<Self> {
        let program = agents_folder().join("node_modules").join(below_modules);
        if program.is_file() {
            return Some(Self { kind, program });
        }
        let name = match kind {
            Kind::ClaudeCode => "claude",
            Kind::Codex => "codex",
            Kind::Pi => "pi",
            Kind::OpenCode => "opencode",
            Kind::Gemini => "gemini",
        };
        absent(name, &format!("there is no `{}`; `.ci/install-agents` installs it", program.display()));
        None
    }
}

impl Home {
    fn new() -> Self {
        // Not in the system's temporary folder: Codex warns of a home that lies there.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
        let home = folder.path().display().to_string();
        // Short, because sockets are made in it.
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let temporary = scratch.path().display().to_string();
        let environment = [
            ("HOME", home),
            ("PATH", search_path()),
            ("TERM", "dumb".to_owned()),
            ("TMPDIR", temporary.clone()),
            ("CLAUDE_CODE_TMPDIR", temporary),
        ];
        Self { folder, _scratch: scratch, environment: BTreeMap::new() }.with(&environment)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The whole environment of the program.
    pub(crate) fn environment(&self) -> BTreeMap<String, String> {
        self.environment.clone()
    }

    /// Adds variables or replaces them.
    pub(crate) fn with(mut self, variables: &[(&str, String)]) -> Self {
        self.environment.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        self
    }

    fn with_codex_config(self, server: &ModelServer) -> Self {
        let folder = self.path().join(".codex");
        fs::create_dir(&folder).expect("a folder in a new home");
        let url = server.url();
        let config = format!(
            r#"model = "{CODEX_MODEL}"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "MODEL_SERVER_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false
"#
        );
        fs::write(folder.join("config.toml"), config).expect("a file in a new home");
        self
    }

    /// A refused request is not repeated: the program would wait five seconds before it does so.
    fn with_gemini_settings(self) -> Self {
        let folder = self.path().join(".gemini");
        fs::create_dir(&folder).expect("a folder in a new home");
        let settings = serde_json::json!({
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "general": { "maxAttempts": 1, "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
            "privacy": { "usageStatisticsEnabled": false },
            "telemetry": { "enabled": false },
        });
        fs::write(folder.join("settings.json"), settings.to_string()).expect("a file in a new home");
        self
    }
}

/// A plug-in that OpenCode wants to have in every home.
const OPENCODE_PLUGIN: &str = "@opencode-ai/plugin";

impl Home {
    fn with_pi_config(self, server: &ModelServer) -> Self {
        let models = json!([{ "id": "model", "reasoning": true }]);
        let provider = json!({
            "baseUrl": format!("{}/v1", server.url()),
            "api": "openai-completions",
            "apiKey": DUMMY_KEY,
            "models": models,
        });
        self.write(".pi/agent/models.json", &json!({ "providers": { "scripted": provider } }));
        // It tries again as often as ever, only sooner.
        let retry = json!({ "baseDelayMs": 50, "provider": { "maxRetries": 0 } });
        self.write(".pi/agent/settings.json", &json!({ "retry": retry }));
        self
    }

    fn with_opencode_config(self, server: &ModelServer) -> Self {
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible",
            "options": { "baseURL": format!("{}/v1", server.url()), "apiKey": DUMMY_KEY },
            "models": { "model": { "reasoning": true } },
        });
        let config = json!({ "provider": { "scripted": provider }, "snapshot": false });
        self.write(".config/opencode/opencode.json", &config);
        // As after an installation: otherwise each new home begins with one, from the network.
        let dependencies = json!({ "dependencies": { OPENCODE_PLUGIN: "*" } });
        self.write(".config/opencode/package.json", &dependencies);
        self.write(".config/opencode/package-lock.json", &json!({ "packages": { "": dependencies } }));
        self.write(".config/opencode/node_modules/package.json", &json!({}));
        self
    }

    fn write(&self, file: &str, contents: &Value) {
        let file = self.path().join(file);
        fs::create_dir_all(file.parent().expect("a file in a folder")).expect("a folder in a new home");
        fs::write(file, contents.to_string()).expect("a file in a new home");
    }
}

/// The folders of the programs that agents and their tools need, and the system's own.
pub(crate) fn search_path() -> String {
    let own = variable("PATH").unwrap_or_default();
    let holds = |program: &str| own.split(':').find(|folder| Path::new(folder).join(program).is_file());
    let mut folders: Vec<&str> = ["git", "node"].into_iter().filter_map(holds).collect();
    folders.extend(["/usr/bin", "/bin"]);
    folders.dedup();
    folders.join(":")
}

fn claude_environment(server: &ModelServer) -> [(&'static str, String); 8] {
    [
        ("ANTHROPIC_BASE_URL", server.url()),
        ("ANTHROPIC_API_KEY", DUMMY_KEY.to_owned()),
        ("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ("DISABLE_TELEMETRY", "1".to_owned()),
        ("DISABLE_ERROR_REPORTING", "1".to_owned()),
        // Without it the program refuses to work unattended as root.
        ("IS_SANDBOX", "1".to_owned()),
    ]
}

/// Nothing from the network, and nothing from the folders of other programs.
fn opencode_environment() -> [(&'static str, String); 5] {
    [
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_DISABLE_CLAUDE_CODE",
    ]
    .map(|name| (name, "1".to_owned()))
}

fn gemini_environment(server: &ModelServer) -> [(&'static str, String); 2] {
    [("GOOGLE_GEMINI_BASE_URL", server.url()), ("GEMINI_API_KEY", DUMMY_KEY.to_owned())]
}

fn agents_folder() -> PathBuf {
    variable("SANDCASTLE_AGENTS_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(".cache/agents"), PathBuf::from)
}

/// The platform as npm packages name it.
fn npm_platform() -> String {
    let os = if OS == "macos" { "darwin" } else { OS };
    let arch = match ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{os}-{arch}")
}

//! The sandboxes that a scaffold can have: their types, their image recipes, and what a workflow does before it uses one.

use serde_json::{Value, json};

use super::{Choices, ScaffoldAgent};
use crate::cli::{SandboxChoice, word};

/// Returns the name of the image recipe of a sandbox, if it has an image.
pub(crate) fn image_file(sandbox: SandboxChoice) -> Option<&'static str> {
    match sandbox {
        SandboxChoice::Docker => Some("Dockerfile"),
        SandboxChoice::Podman => Some("Containerfile"),
        SandboxChoice::None | SandboxChoice::Bubblewrap => None,
    }
}

/// Returns what the templates of the scaffold read.
pub(super) fn described(choices: &Choices) -> Value {
    let (type_name, about) = match choices.sandbox {
        SandboxChoice::None => {
            ("NoSandbox", "On this machine, with your rights: agents can do whatever you can.")
        }
        SandboxChoice::Docker => {
            ("Docker", "In a container of this image; `sandcastle docker build-image` builds it.")
        }
        SandboxChoice::Podman => {
            ("Podman", "In a container of this image; `sandcastle podman build-image` builds it.")
        }
        SandboxChoice::Bubblewrap => {
            ("Bubblewrap", "On this machine, with the worktree as the only place to write to.")
        }
    };
    let image = image_file(choices.sandbox).map(|_| format!("{:?}", choices.image)).unwrap_or_default();
    json!({
        "name": word(&choices.sandbox),
        "type": type_name,
        "about": about,
        "new": format!("{type_name}::new({image})"),
        "image_file": image_file(choices.sandbox),
        "workflow_steps": workflow_steps(choices),
    })
}

/// Returns what has to be there on a machine that nobody has prepared.
fn workflow_steps(choices: &Choices) -> Vec<Value> {
    let step = |name: &str, lines: Vec<String>| json!({ "name": name, "lines": lines });
    let agent = |agent: &ScaffoldAgent| step("Install the agent", agent.install_on_runner());
    match (choices.sandbox, image_file(choices.sandbox)) {
        (engine, Some(recipe)) => vec![step(
            "Build the image",
            vec![
                format!("{} build --tag '{}' \\", word(&engine), choices.image),
                "  --build-arg AGENT_UID=\"$(id -u)\" --build-arg AGENT_GID=\"$(id -g)\" \\".to_owned(),
                format!("  --file .sandcastle/{recipe} .sandcastle"),
            ],
        )],
        (SandboxChoice::Bubblewrap, None) => vec![
            step(
                "Install bubblewrap",
                vec![
                    "sudo apt-get update && sudo apt-get install -y bubblewrap socat".to_owned(),
                    "# Ubuntu lets no program but a few make user namespaces.".to_owned(),
                    "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0".to_owned(),
                ],
            ),
            agent(choices.agent),
        ],
        _ => vec![agent(choices.agent)],
    }
}

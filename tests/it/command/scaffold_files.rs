//! The files that `sandcastle init` writes: what each choice brings, and what it must not.

use std::path::Path;

use super::init::{AGENTS, TEMPLATES};
use crate::support::desk::{Desk, json_of};
use crate::support::process::Invocation;
use crate::support::requirement::absent;

#[tokio::test]
async fn case_197_the_scaffold_names_the_sandbox_that_was_chosen_and_no_other() {
    for (sandbox, type_name, recipe) in [
        ("none", "NoSandbox", None),
        ("docker", "Docker", Some("Dockerfile")),
        ("podman", "Podman", Some("Containerfile")),
        ("bubblewrap", "Bubblewrap", None),
    ] {
        for template in TEMPLATES {
            let desk = Desk::new().await;
            let flags = ["--sandbox", sandbox, "--template", template, "--workflow", "false"];
            let made = desk.scaffolded(&flags);
            let code: String = made["files"]
                .as_array()
                .unwrap()
                .iter()
                .map(|file| desk.part(file.as_str().unwrap()))
                .collect();
            for other in ["NoSandbox", "Docker", "Podman", "Bubblewrap"] {
                assert_eq!(code.contains(&format!("{other}::new(")), other == type_name, "{sandbox}: {code}");
            }
            for file in ["Dockerfile", "Containerfile"] {
                assert_eq!(desk.has_part(file), recipe == Some(file), "{sandbox}: {file}");
            }
            assert_eq!(made["image"].is_null(), recipe.is_none());
            if recipe.is_some() {
                let image = format!("{type_name}::new({})", made["image"]);
                assert!(desk.part("src/sandbox.rs").contains(&image), "{image}");
            }
        }
    }
}

#[tokio::test]
async fn case_200_what_runs_write_is_ignored_and_what_people_write_is_not() {
    let desk = Desk::new().await;
    let made = desk.scaffolded(&["--sandbox", "docker"]);
    for path in [
        ".env",
        "logs/y",
        "runs/x/journal.jsonl",
        "worktrees/x",
        "locks/l",
        "sandboxes/s",
        "sessions/s",
        "target/debug/x",
    ] {
        let path = format!(".sandcastle/{path}");
        assert_eq!(desk.git(["check-ignore", &path]).await.trim(), path);
    }
    let untracked = desk.git(["status", "--porcelain", "--untracked-files=all"]).await;
    for file in made["files"].as_array().unwrap() {
        let line = format!("?? .sandcastle/{}", file.as_str().unwrap());
        assert!(untracked.lines().any(|it| it == line), "{line} is not in {untracked}");
    }
}

/// `groupadd` and its kin take a number that is in use only with `-o`: a Mac's users have group 20, which is taken in Debian.
#[tokio::test]
async fn case_149_ids_that_are_in_use_can_be_those_of_the_agent() {
    for agent in AGENTS {
        for (sandbox, recipe) in [("docker", "Dockerfile"), ("podman", "Containerfile")] {
            let desk = Desk::new().await;
            desk.scaffolded(&["--agent", agent, "--sandbox", sandbox]);
            let text = desk.part(recipe);
            assert!(text.contains("ARG AGENT_UID=1000\nARG AGENT_GID=1000\n"), "{text}");
            assert!(text.contains("\nUSER ${AGENT_UID}:${AGENT_GID}\n"), "{text}");
            let step = text.split("\nRUN ").find(|step| step.starts_with("groupmod")).expect("a step");
            assert!(step.contains("groupmod -o ") && step.contains("usermod -o "), "{step}");
            assert!(desk.part(".dockerignore").lines().any(|line| line == ".env"));
        }
    }
}

#[tokio::test]
async fn case_149_the_step_of_the_recipe_does_what_it_says() {
    if !Path::new("/usr/sbin/usermod").exists() {
        return absent("usermod", "it is a part of Debian's `passwd`");
    }
    let desk = Desk::new().await;
    desk.scaffolded(&["--sandbox", "docker"]);
    let recipe = desk.part("Dockerfile");
    let step = recipe.split("\nRUN ").find(|step| step.starts_with("groupmod")).unwrap();
    let step = step.split("\n\n").next().unwrap().replace("\\\n", " ");
    // The real programs, on files like those of the image.
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    for folder in ["etc", "home/node"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    let write = |file: &str, text: &str| std::fs::write(root.join("etc").join(file), text).unwrap();
    write("passwd", "root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/bash\n");
    write("group", "root:x:0:\ndialout:x:20:\nnode:x:1000:\n");
    write("shadow", "root:*:1::::::\nnode:!:1::::::\n");
    write("gshadow", "root:*::\ndialout:*::\nnode:!::\n");
    let step = ["groupmod", "usermod"]
        .iter()
        .fold(step, |step, program| step.replace(program, &format!("/usr/sbin/{program} -P \"$ROOT\"")));
    let environment = [
        ("PATH", "/usr/sbin:/usr/bin:/bin"),
        ("ROOT", root.to_str().unwrap()),
        ("AGENT_UID", "0"),
        ("AGENT_GID", "20"),
    ];
    let ended = Invocation::new("/bin/sh", root)
        .arguments(["-ec", &step])
        .environment(environment.map(|(key, value)| (key.to_owned(), value.to_owned())))
        .run();
    assert_eq!(ended.code(), Some(0), "{step}: {ended:?}");
    let read = |file: &str| std::fs::read_to_string(root.join("etc").join(file)).unwrap();
    assert!(read("passwd").contains("\nagent:x:0:20::/home/agent:/bin/bash\n"), "{}", read("passwd"));
    assert!(read("group").contains("\nagent:x:20:\n"), "{}", read("group"));
}

#[tokio::test]
async fn row_189_issues_are_chosen_by_the_label_only_if_it_was_wanted() {
    let desk = Desk::new().await;
    desk.program("gh", "#!/bin/sh\nexit 0\n");
    let flags = ["--template", "simple-loop", "--create-label", "true"];
    let ended = desk.with_programs(desk.init(&flags)).run();
    assert_eq!(json_of(&ended)["label"], "created", "{ended:?}");
    let workflow = desk.repository.path().join(".github/workflows/sandcastle.yml");
    let with = (desk.part("prompts/work.md"), std::fs::read_to_string(workflow).unwrap());
    let desk = Desk::new().await;
    desk.scaffolded(&flags[..2]);
    let workflow = desk.repository.path().join(".github/workflows/sandcastle.yml");
    let without = (desk.part("prompts/work.md"), std::fs::read_to_string(workflow).unwrap());
    assert!(with.0.contains("--label Sandcastle") && !without.0.contains("--label"), "{}", without.0);
    assert!(with.1.contains("types: [labeled]") && !without.1.contains("labeled"), "{}", without.1);
}

#[tokio::test]
async fn row_188_each_tracker_has_its_commands() {
    for (tracker, list, close) in
        [("github-issues", "gh issue list ", "gh issue close "), ("beads", "bd ready", "bd close ")]
    {
        let desk = Desk::new().await;
        desk.scaffolded(&["--issue-tracker", tracker, "--template", "simple-loop", "--sandbox", "docker"]);
        let prompt = desk.part("prompts/work.md");
        assert!(prompt.contains(&format!("!`{list}")) && prompt.contains(close), "{prompt}");
        assert!(!desk.has_part("SETUP_ISSUE_TRACKER.md"));
    }
}

#[tokio::test]
async fn row_188_a_custom_tracker_is_broken_until_it_is_set_up() {
    for template in ["simple-loop", "sequential-reviewer", "parallel-planner"] {
        let desk = Desk::new().await;
        let made = desk.scaffolded(&["--issue-tracker", "custom", "--template", template]);
        assert!(made["next"][0].as_str().unwrap().contains("SETUP_ISSUE_TRACKER.md"), "{made}");
        assert!(desk.part("SETUP_ISSUE_TRACKER.md").contains("claude"));
        assert!(!desk.repository.path().join(".github").exists());
        let lists = ["work.md", "plan.md", "implement.md"].map(|file| format!("prompts/{file}"));
        let prompt =
            lists.iter().filter(|file| desk.has_part(file)).map(|file| desk.part(file)).collect::<String>();
        let command = prompt.split("!`").nth(1).and_then(|rest| rest.split('`').next()).expect("a command");
        let ended = Invocation::new("/bin/sh", desk.repository.path()).arguments(["-c", command]).run();
        assert_eq!(ended.code(), Some(1));
        assert!(ended.stderr.contains(".sandcastle/SETUP_ISSUE_TRACKER.md"), "{ended:?}");
        assert!(ended.stdout.is_empty());
    }
}

#[tokio::test]
async fn row_186_the_example_of_the_variables_names_keys_and_no_values() {
    for agent in AGENTS {
        let desk = Desk::new().await;
        desk.scaffolded(&["--agent", agent]);
        let example = desk.part(".env.example");
        let lines = example.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let keys: Vec<_> = lines.map(|line| line.strip_suffix('=').expect("no value")).collect();
        assert_eq!(keys.last(), Some(&"GH_TOKEN"), "{example}");
        assert!(keys.len() > 1, "{example}");
    }
}

#[tokio::test]
async fn a_workflow_of_that_name_stays_and_a_new_one_has_no_more_rights_than_it_needs() {
    let desk = Desk::new().await;
    let file = desk.repository.write(".github/workflows/sandcastle.yml", "mine\n").unwrap();
    let made = desk.scaffolded(&[]);
    assert_eq!((made["workflow"].is_null(), made["warnings"].as_array().unwrap().len()), (true, 1), "{made}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "mine\n");
    for sandbox in ["none", "docker", "podman", "bubblewrap"] {
        let desk = Desk::new().await;
        let made = desk.scaffolded(&["--sandbox", sandbox]);
        assert_eq!(made["workflow"], ".github/workflows/sandcastle.yml");
        let text =
            std::fs::read_to_string(desk.repository.path().join(".github/workflows/sandcastle.yml")).unwrap();
        assert!(text.contains("\npermissions: {}\n") && !text.contains("pull_request"), "{text}");
        let agents = text.split("  branches:").next().unwrap();
        assert!(agents.contains("contents: read") && !agents.contains("contents: write"), "{agents}");
        assert!(agents.contains("persist-credentials: false"), "{agents}");
        let uses_engine = agents.contains(&format!("{sandbox} build --tag"));
        assert_eq!(uses_engine, ["docker", "podman"].contains(&sandbox), "{agents}");
    }
    let desk = Desk::new().await;
    desk.scaffolded(&["--workflow", "false"]);
    assert!(!desk.repository.path().join(".github").exists());
}

#[tokio::test]
async fn row_190_worktrees_are_made_ready_by_the_package_manager_of_the_repository() {
    let desk = Desk::new().await;
    desk.repository.write("package.json", "{}").unwrap();
    desk.repository.write("pnpm-lock.yaml", "").unwrap();
    desk.scaffolded(&["--template", "simple-loop"]);
    let code = desk.part("src/sandbox.rs");
    assert!(code.contains(r#"Hooks::new().sandbox_ready(Hook::new("pnpm install")"#), "{code}");
}

//! `sandcastle docker` and `sandcastle podman`: what engines are told, how failures are told apart, and real builds.

use serde_json::Value;

use crate::support::desk::{Desk, json_of};
use crate::support::process::{Finished, Invocation};
use crate::support::real_agent::search_path;
use crate::support::requirement::{absent, variable};

/// An engine that writes down what it is told, and does it. A build prints on both streams.
const ENGINE: &str = r#"#!/bin/sh
for argument; do printf '%s\n' "$argument"; done >>"$HOME/told"; echo -- >>"$HOME/told"
if [ "$1" = build ]; then echo "step 1"; echo "step 2" >&2; fi
"#;

const ENGINES: [(&str, &str); 2] = [("docker", "Dockerfile"), ("podman", "Containerfile")];

impl Desk {
    /// The command with an engine that is this script.
    fn engine(&self, engine: &str, script: &str, args: &[&str]) -> Invocation {
        self.program(engine, script);
        let all = [&["--format", "json", engine], args].concat();
        self.with_programs(self.command(&all))
    }

    /// What the engine was told, call by call.
    fn told(&self) -> Vec<Vec<String>> {
        let told = std::fs::read_to_string(self.home.path().join("told")).unwrap_or_default();
        let calls = told.split("--\n").filter(|call| !call.is_empty());
        calls.map(|call| call.lines().map(str::to_owned).collect()).collect()
    }
}

fn error(ended: &Finished) -> Value {
    json_of(ended)["error"].clone()
}

#[tokio::test]
async fn case_150_w_50_both_engines_are_told_the_ids_of_the_user() {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    for (engine, recipe) in ENGINES {
        let desk = Desk::new().await;
        desk.scaffolded(&["--sandbox", engine]);
        let ended = desk.engine(engine, ENGINE, &["build-image"]).run();
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        let image = json_of(&ended)["image"].as_str().unwrap().to_owned();
        let folder = desk.repository.path().canonicalize().unwrap();
        let name = folder.file_name().unwrap().to_string_lossy().to_lowercase();
        assert_eq!(image, format!("sandcastle:{name}"));
        let context = folder.join(".sandcastle");
        let file = context.join(recipe);
        let expected = [
            "build",
            "--tag",
            &image,
            "--build-arg",
            &format!("AGENT_UID={uid}"),
            "--build-arg",
            &format!("AGENT_GID={gid}"),
            "--file",
            file.to_str().unwrap(),
            context.to_str().unwrap(),
        ];
        assert_eq!(desk.told().last().unwrap(), &expected);
        for line in ["step 1", "step 2"] {
            assert!(ended.stderr.lines().any(|it| it == line), "{line}: {}", ended.stderr);
        }
    }
}

#[tokio::test]
async fn row_192_a_recipe_of_ones_own_is_built_in_the_current_folder() {
    for (engine, recipe) in ENGINES {
        let desk = Desk::new().await;
        let file = desk.repository.write("my.recipe", "FROM scratch\n").unwrap().canonicalize().unwrap();
        let flag = format!("--{}", recipe.to_lowercase());
        let ended =
            desk.engine(engine, ENGINE, &["build-image", &flag, "my.recipe", "--image-name", "a/b:c"]).run();
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        let told = desk.told().pop().unwrap();
        let here = desk.repository.path().canonicalize().unwrap();
        assert_eq!(told[2], "a/b:c");
        assert_eq!(told[told.len() - 2..], [file.to_str().unwrap(), here.to_str().unwrap()]);
        let ended = desk.engine(engine, ENGINE, &["build-image", &flag, "no.recipe"]).run();
        assert_eq!(ended.code(), Some(2), "{ended:?}");
    }
}

#[tokio::test]
async fn row_192_without_a_recipe_init_is_named() {
    for (engine, recipe) in ENGINES {
        let desk = Desk::new().await;
        desk.scaffolded(&[]);
        let ended = desk.engine(engine, ENGINE, &["build-image"]).run();
        assert_eq!(ended.code(), Some(2), "{ended:?}");
        let error = error(&ended);
        assert_eq!(error["kind"], "recipe-missing");
        assert!(error["message"].as_str().unwrap().contains(recipe), "{error}");
        assert!(error["hints"][0].as_str().unwrap().contains(&format!("init --sandbox {engine}")), "{error}");
        assert!(desk.told().is_empty(), "no engine is needed to see that");
    }
}

#[tokio::test]
async fn w_44_a_missing_program_a_silent_engine_and_a_failed_build_are_told_apart() {
    for (engine, _) in ENGINES {
        let desk = Desk::new().await;
        desk.scaffolded(&["--sandbox", engine]);
        let down = "#!/bin/sh\necho 'Cannot connect to the daemon' >&2; exit 1\n";
        let ended = desk.engine(engine, down, &["build-image"]).run();
        let failure = error(&ended);
        assert_eq!(
            (ended.code(), failure["kind"].as_str()),
            (Some(2), Some("engine-unreachable")),
            "{failure}"
        );
        assert!(failure["message"].as_str().unwrap().contains("Cannot connect"), "{failure}");
        let fails =
            "#!/bin/sh\n[ \"$1\" = build ] || exit 0\necho 'step 1'; echo 'no such package' >&2; exit 7\n";
        let ended = desk.engine(engine, fails, &["build-image"]).run();
        let failure = error(&ended);
        assert_eq!((ended.code(), failure["kind"].as_str()), (Some(1), Some("image-build")), "{failure}");
        assert!(failure["message"].as_str().unwrap().contains("no such package"), "{failure}");
        assert_eq!(failure["output"], "step 1\nno such package\n");
    }
}

#[tokio::test]
async fn w_44_an_engine_that_is_not_installed_is_named() {
    let desk = Desk::new().await;
    desk.scaffolded(&["--sandbox", "podman"]);
    // Only git is there.
    desk.program("git", &format!("#!/bin/sh\nPATH={} exec git \"$@\"\n", search_path()));
    let _ = std::os::unix::fs::symlink("/bin/sh", desk.home.path().join("programs/sh"));
    let path = desk.home.path().join("programs").display().to_string();
    let command = desk.command(&["--format", "json", "podman", "build-image"]);
    let ended = command.environment([("PATH".to_owned(), path)]).run();
    assert_eq!(
        (ended.code(), error(&ended)["kind"].as_str()),
        (Some(2), Some("engine-missing")),
        "{ended:?}"
    );
    assert!(error(&ended)["hints"][0].as_str().unwrap().contains("sandcastle doctor"));
}

#[tokio::test]
async fn progress_is_shown_while_the_build_goes_on() {
    let desk = Desk::new().await;
    desk.scaffolded(&["--sandbox", "docker"]);
    // It goes on only when somebody has seen what it said.
    let waits = "#!/bin/sh\n[ \"$1\" = build ] || exit 0\necho 'half \x1b[2Jway'; while [ ! -e \"$HOME/seen\" ]; do sleep 0.02; done\n";
    desk.program("docker", waits);
    let command = desk.with_programs(desk.command(&["docker", "build-image"]));
    let terminal = crate::support::terminal::Terminal::start(command);
    terminal.wait_for("half \u{fffd}[2Jway");
    desk.file("seen", "");
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(0), "{seen}");
}

#[tokio::test]
async fn an_interrupt_ends_the_build() {
    let desk = Desk::new().await;
    desk.scaffolded(&["--sandbox", "docker"]);
    let hangs =
        "#!/bin/sh\n[ \"$1\" = build ] || exit 0\necho $$ >\"$HOME/pid\"; echo begun; exec sleep 1000\n";
    let running = desk.engine("docker", hangs, &["build-image"]).start();
    crate::support::desk::wait_for(&desk.home.path().join("pid")).await;
    running.signal(rustix::process::Signal::INT);
    let ended = running.finish();
    assert_eq!((ended.code(), error(&ended)["kind"].as_str()), (Some(130), Some("cancelled")), "{ended:?}");
    let pid = std::fs::read_to_string(desk.home.path().join("pid")).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    assert!(!crate::support::process::is_running(pid));
}

#[tokio::test]
async fn row_192_an_image_is_removed_by_name_and_needs_no_scaffold() {
    for (engine, _) in ENGINES {
        let desk = Desk::new().await;
        let ended = desk.engine(engine, ENGINE, &["remove-image", "--image-name", "a:b"]).run();
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        assert_eq!(desk.told().last().unwrap(), &["image", "rm", "a:b"]);
        let gone = "#!/bin/sh\n[ \"$1\" = image ] || exit 0\necho 'Error: No such image: a:b' >&2; exit 1\n";
        let ended = desk.engine(engine, gone, &["remove-image", "--image-name", "a:b"]).run();
        assert_eq!(
            (ended.code(), error(&ended)["kind"].as_str()),
            (Some(1), Some("image-missing")),
            "{ended:?}"
        );
        let ended = desk.engine(engine, ENGINE, &["remove-image", "--image-name", "--all"]).run();
        assert_eq!(ended.code(), Some(2), "{ended:?}");
    }
}

#[tokio::test]
async fn an_image_that_init_cannot_build_leaves_the_scaffold_and_says_so() {
    let desk = Desk::new().await;
    desk.program("docker", "#!/bin/sh\necho 'no daemon' >&2; exit 1\n");
    let ended = desk.with_programs(desk.init(&["--sandbox", "docker", "--build-image", "true"])).run();
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let made = json_of(&ended);
    assert_eq!(made["image_built"], false);
    assert!(made["warnings"][0].as_str().unwrap().contains("no daemon"), "{made}");
    assert!(made["next"].to_string().contains("sandcastle docker build-image"), "{made}");
    assert!(desk.part("Cargo.toml").contains("sandcastle"));
    let desk = Desk::new().await;
    desk.program("docker", ENGINE);
    let ended = desk.with_programs(desk.init(&["--sandbox", "docker", "--build-image", "true"])).run();
    assert_eq!((ended.code(), json_of(&ended)["image_built"].as_bool()), (Some(0), Some(true)), "{ended:?}");
    assert_eq!(desk.told().last().unwrap()[0], "build");
}

/// The variables of the engines that tests may use. Podman's networks are made by programs of the administrator.
fn engine_environment(engine: &str) -> Option<Vec<(String, String)>> {
    let given: &[(&str, &str)] = match engine {
        "docker" => &[("DOCKER_HOST", "SANDCASTLE_TEST_DOCKER_HOST")],
        _ => &[
            ("CONTAINERS_CONF", "SANDCASTLE_TEST_CONTAINERS_CONF"),
            ("CONTAINERS_STORAGE_CONF", "SANDCASTLE_TEST_CONTAINERS_STORAGE_CONF"),
        ],
    };
    let given = given.iter().map(|(key, given)| Some(((*key).to_owned(), variable(given)?)));
    let path = Some(("PATH".to_owned(), format!("{}:/usr/sbin:/sbin", search_path())));
    given.chain([path]).collect()
}

/// The image holds nothing but labels, so nothing is fetched.
const RECIPE: &str = "FROM scratch\nARG AGENT_UID=1\nARG AGENT_GID=1\nLABEL ids=\"${AGENT_UID}:${AGENT_GID}\"\nCOPY my.recipe /\n";

#[tokio::test]
async fn case_150_real_engines_build_with_the_ids_and_remove_what_they_built() {
    for (engine, recipe) in ENGINES {
        let Some(environment) = engine_environment(engine) else {
            absent(engine, "no engine for tests is named");
            continue;
        };
        let desk = Desk::new().await;
        desk.repository.write("my.recipe", RECIPE).unwrap();
        let image = format!("sandcastle-build-test:{}", std::process::id());
        let run = |args: &[&str]| {
            let all = [&["--format", "json", engine], args, &["--image-name", &image]].concat();
            desk.command(&all).environment(environment.clone()).run()
        };
        let ended = run(&["build-image", &format!("--{}", recipe.to_lowercase()), "my.recipe"]);
        assert_eq!(ended.code(), Some(0), "{engine}: {ended:?}");
        assert!(ended.stderr.to_lowercase().contains("step"), "{engine}: {}", ended.stderr);
        let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        let inspect = ["image", "inspect", "--format", "{{.Config.Labels.ids}}", &image];
        let path = search_path();
        let mut found = path.split(':').map(|folder| format!("{folder}/{engine}"));
        let program = found.find(|program| std::path::Path::new(program).exists()).unwrap();
        let inspected = Invocation::new(program, desk.home.path())
            .arguments(inspect)
            .environment(environment.clone())
            .environment([
                ("PATH".to_owned(), path),
                ("HOME".to_owned(), desk.home.path().display().to_string()),
            ])
            .run();
        assert_eq!(inspected.stdout.trim(), format!("{uid}:{gid}"), "{engine}: {inspected:?}");
        let ended = run(&["remove-image"]);
        assert_eq!(ended.code(), Some(0), "{engine}: {ended:?}");
        let ended = run(&["remove-image"]);
        assert_eq!(
            (ended.code(), error(&ended)["kind"].as_str()),
            (Some(1), Some("image-missing")),
            "{ended:?}"
        );
    }
}

/// Nothing is fetched: the base is an image for tests, and what would install something does nothing.
#[tokio::test]
async fn row_185_real_engines_understand_the_recipes() {
    for ((engine, recipe), agent) in ENGINES.into_iter().zip(["claude-code", "codex"]) {
        let (Some(environment), Some(base)) = (engine_environment(engine), variable("SANDCASTLE_TEST_IMAGE"))
        else {
            absent(engine, "no engine for tests is named");
            continue;
        };
        let desk = Desk::new().await;
        desk.scaffolded(&["--sandbox", engine, "--agent", agent]);
        let text = desk.part(recipe).replace("FROM node:22-bookworm", &format!("FROM {base}\nUSER 0:0"));
        desk.repository.write(format!(".sandcastle/{recipe}"), without_steps(&text)).unwrap();
        let image = format!("sandcastle-recipe-test:{}", std::process::id());
        let run = |verb: &str| {
            let args = ["--format", "json", engine, verb, "--image-name", &image];
            desk.command(&args).environment(environment.clone()).run()
        };
        let ended = run("build-image");
        assert_eq!(ended.code(), Some(0), "{engine}: {ended:?}");
        let ended = run("remove-image");
        assert_eq!(ended.code(), Some(0), "{engine}: {ended:?}");
    }
}

/// The recipe with steps that do nothing.
fn without_steps(recipe: &str) -> String {
    let mut lines = Vec::new();
    let mut in_step = false;
    for line in recipe.lines() {
        if line.starts_with("RUN ") {
            lines.push("RUN true");
        } else if !in_step {
            lines.push(line);
        }
        in_step = (in_step || line.starts_with("RUN ")) && line.ends_with('\\');
    }
    lines.join("\n") + "\n"
}

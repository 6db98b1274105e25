//! Ways out of a sandbox, each a row: a shell script that ends with 0 if it is out.

use std::process::Command;

use sandcastle::BranchStrategy;
use sandcastle::testing::{ScratchRepo, Turn};
use tempfile::TempDir;

use super::super::every::{Kind, kinds};
use super::picture;
use crate::support::processes::UniqueSleep;
use crate::support::requirement::variable;

/// When an attempt succeeds without a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    /// Always.
    Always,
    /// Where the test has all capabilities.
    AsRoot,
    /// Where an engine is there, whose socket it looks for.
    WithEngine,
    /// It could do harm, or depends on the kernel; it is tried in sandboxes only.
    Untried,
}

/// Whose doors an attempt is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    /// Files and variables of whoever started the run: no sandbox shows them.
    Host,
    /// The kernel and its processes: a machine that is reached by ssh is the agent's own.
    Kernel,
}

struct Escape {
    name: &'static str,
    /// Knows `$SECRET` (a file outside), `$OUT` (its folder), `$ROOT` (the user's checkout), `$OTHER` (another run's worktree),
    /// `$VICTIM` (a process), `$NAP` (what it sleeps) and `$SOCKET` (of an engine).
    attempt: &'static str,
    control: Control,
    door: Door,
}

const fn host(name: &'static str, attempt: &'static str) -> Escape {
    Escape { name, attempt, control: Control::Always, door: Door::Host }
}

const fn kernel(name: &'static str, attempt: &'static str, control: Control) -> Escape {
    Escape { name, attempt, control, door: Door::Kernel }
}

const ESCAPES: &[Escape] = &[
    host("a secret file", "grep -q s3cret \"$SECRET\""),
    host("a file beside it", "echo x >\"$OUT/written\" && [ -e \"$SECRET\" ]"),
    host("a link to it in the worktree", "ln -s \"$SECRET\" out1 && grep -q s3cret out1"),
    host("a link to its folder", "ln -s \"$OUT\" out2 && grep -q s3cret out2/secret"),
    host("a way up", "grep -q s3cret \"$(pwd)/../../../../../../../../$SECRET\""),
    host("a hard link to it", "ln \"$SECRET\" \"$OUT/hard\" && grep -q s3cret \"$OUT/hard\""),
    kernel("the root of another process", "grep -qs s3cret /proc/[0-9]*/root/\"$SECRET\"", Control::Always),
    kernel("the folder of another process", "grep -qs s3cret /proc/[0-9]*/cwd/secret", Control::Always),
    kernel("what another process has open", "grep -qs s3cret \"/proc/$VICTIM/fd/0\"", Control::Always),
    host("what is not committed in the checkout", "grep -q s3cret \"$ROOT/private\""),
    host("the worktree of another run", "grep -q s3cret \"$OTHER/half\""),
    host(
        "a file in the worktree of another run",
        "echo x >\"$OTHER/planted\" && grep -q s3cret \"$OTHER/half\"",
    ),
    host("the variables of runs", "grep -q s3cret \"$ROOT/.sandcastle/.env\""),
    host("the logs of runs", "grep -q s3cret \"$ROOT/.sandcastle/logs/old.log\""),
    host("the journals of runs", "grep -q s3cret \"$ROOT/.sandcastle/runs/old.json\""),
    host("the sessions of runs", "grep -q s3cret \"$ROOT/.sandcastle/sessions/old\""),
    host("the git folders of sandboxes", "grep -q s3cret \"$ROOT/.sandcastle/sandboxes/old/config\""),
    host("a password in the settings of the repository", "grep -qr s3cret \"$ROOT/.git/config\""),
    host("a variable", "[ -n \"$CARGO_MANIFEST_DIR\" ]"),
    kernel(
        "a variable of any process",
        "grep -qs ^CARGO_MANIFEST_DIR= /proc/[0-9]*/environ || grep -qsa CARGO_MANIFEST_DIR= /proc/[0-9]*/environ",
        Control::Always,
    ),
    kernel("what another process is", "grep -qs \"$NAP\" \"/proc/$VICTIM/cmdline\"", Control::Always),
    kernel(
        "to end another process",
        "grep -qs \"$NAP\" \"/proc/$VICTIM/cmdline\" && kill -0 \"$VICTIM\"",
        Control::Always,
    ),
    kernel(
        "to end every process that is asleep",
        "for p in /proc/[0-9]*; do grep -qsa \"sleep.$NAP\" $p/cmdline && kill -9 ${p#/proc/} && exit 0; done; false",
        Control::Always,
    ),
    kernel("the control socket of an engine", "[ -S \"$SOCKET\" ]", Control::WithEngine),
    kernel(
        "the control socket in its usual places",
        "[ -S /run/docker.sock ] || [ -S /var/run/docker.sock ] || [ -S /run/podman/podman.sock ]",
        Control::Untried,
    ),
    kernel("a device that is made", "mknod device c 1 3 && echo x >device", Control::AsRoot),
    kernel("a disk that is made", "mknod disk b 7 0", Control::AsRoot),
    kernel(
        "a disk",
        "for d in /dev/[svx]d? /dev/[svx]d?? /dev/loop* /dev/nvme* /dev/mem /dev/kmsg; do [ -r $d ] && exit 0; done; false",
        Control::Untried,
    ),
    kernel("new privileges", "grep -q 'NoNewPrivs:.*0' /proc/self/status", Control::Untried),
    kernel("powers", "grep -q 'CapEff:.*[1-9a-f]' /proc/self/status", Control::AsRoot),
    kernel("powers that could be had", "grep -q 'CapBnd:.*[1-9a-f]' /proc/self/status", Control::Always),
    kernel("a mount", "mkdir -p mnt && mount -t tmpfs none mnt", Control::Untried),
    kernel("a namespace of its own", "unshare -Ur true", Control::Untried),
    kernel("another root", "chroot / true", Control::AsRoot),
    kernel("another user", "setpriv --reuid=1 true || chown 1:1 .", Control::AsRoot),
    kernel(
        "another host name",
        "hostname \"$(hostname)\" || echo \"$(cat /proc/sys/kernel/hostname)\" >/proc/sys/kernel/hostname",
        Control::Untried,
    ),
    // Opened and never written to.
    kernel("keys of the kernel", ": >>/proc/sysrq-trigger", Control::Untried),
    kernel("settings of the kernel", ": >>/proc/sys/kernel/core_pattern", Control::Untried),
    kernel("settings of modules", ": >>/proc/sys/kernel/modprobe", Control::Untried),
    kernel("an agent of control groups", ": >>/sys/fs/cgroup/release_agent", Control::Untried),
    kernel(
        "processes of control groups",
        ": >>/sys/fs/cgroup/cgroup.procs || : >>/sys/fs/cgroup/memory/cgroup.procs",
        Control::Untried,
    ),
    kernel("a file of the system", ": >>/etc/passwd", Control::AsRoot),
    kernel("passwords", "cat /etc/shadow | grep -q .", Control::AsRoot),
];

/// A host with something of everything.
struct Scene {
    repository: ScratchRepo,
    outside: TempDir,
    nap: UniqueSleep,
}

impl Scene {
    async fn new() -> Self {
        let scene = Self {
            repository: ScratchRepo::new().await.unwrap(),
            outside: TempDir::new().unwrap(),
            nap: UniqueSleep::new(),
        };
        std::fs::write(scene.outside.path().join("secret"), "s3cret\n").unwrap();
        let root = scene.repository.path();
        scene.repository.write(".git/info/exclude", "private\n.sandcastle\n").unwrap();
        for file in [
            "private",
            ".sandcastle/logs/old.log",
            ".sandcastle/runs/old.json",
            ".sandcastle/sessions/old",
            ".sandcastle/sandboxes/old/config",
        ] {
            scene.repository.write(file, "s3cret\n").unwrap();
        }
        scene.repository.write(".sandcastle/.env", "UNUSED=s3cret\n").unwrap();
        scene.repository.git(["config", "http.https://host.invalid/.extraheader", "s3cret"]).await.unwrap();
        let other = root.join(".sandcastle/worktrees/other");
        scene.repository.git(["worktree", "add", "-qb", "other", other.to_str().unwrap()]).await.unwrap();
        std::fs::write(other.join("half"), "s3cret\n").unwrap();
        scene
    }

    /// An agent that tries everything and writes down what was out.
    fn agent(&self, escapes: &[&Escape], victim: u32) -> Turn {
        let (root, out, nap) =
            (self.repository.path().display(), self.outside.path().display(), self.nap.seconds());
        let socket = variable("SANDCASTLE_TEST_DOCKER_HOST").unwrap_or_default();
        // A pattern that does not find itself.
        let nap = format!("[{}]{}", &nap[..1], &nap[1..]);
        let begin = format!(
            "ROOT='{root}' OUT='{out}' SECRET='{out}/secret' OTHER='{root}/.sandcastle/worktrees/other' VICTIM={victim} \
             NAP='{nap}' SOCKET='{}'",
            socket.trim_start_matches("unix://")
        );
        let mut script = format!("{begin}\n: >escaped\n");
        for escape in escapes {
            script +=
                &format!("( {} ) >/dev/null 2>&1 && echo '{}' >>escaped\n", escape.attempt, escape.name);
        }
        Turn::new().shell(format!("{script}\nrm -rf out1 out2 device disk mnt; true")).say("ok")
    }

    /// Returns the names of the attempts that succeeded.
    #[expect(clippy::disallowed_methods, reason = "the victim is a program of this host and of no sandbox")]
    async fn escaped(&self, kind: &Kind, escapes: &[&Escape], strategy: BranchStrategy) -> Vec<String> {
        let open = std::fs::File::open(self.outside.path().join("secret")).unwrap();
        let mut victim = Command::new("sleep")
            .arg(self.nap.seconds())
            .current_dir(self.outside.path())
            .stdin(open)
            .spawn()
            .unwrap();
        let turn = self.agent(escapes, victim.id()).shell("git add -f escaped; git commit -qm Escaped");
        let ran = sandcastle::run(kind.run(&self.repository, turn, strategy)).await;
        let was_alive = victim.try_wait().unwrap().is_none();
        victim.kill().unwrap();
        victim.wait().unwrap();
        let result = ran.unwrap_or_else(|error| panic!("{}: {error:#}", kind.name));
        assert!(was_alive || kind.name == "none", "{}: it ended a process", kind.name);
        let said = self.repository.git(["show", &format!("{}:escaped", result.branch)]).await.unwrap();
        said.lines().map(str::to_owned).collect()
    }
}

fn has_all_powers() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap().trim();
    // To make devices, to change the root, and to change owners.
    let needed = 1 << 27 | 1 << 18 | 1;
    u64::from_str_radix(effective, 16).unwrap() & needed == needed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn w_24_nothing_leads_out_of_a_sandbox() {
    let strategies = [BranchStrategy::branch("agent/hostile"), BranchStrategy::head()];
    for kind in kinds().iter().filter(|kind| kind.name != "none") {
        for strategy in &strategies {
            let scene = Scene::new().await;
            let is_head = *strategy == BranchStrategy::head();
            let tried = ESCAPES.iter().filter(|escape| escape.door == Door::Host || kind.name != "ssh");
            // In place the agent works in the user's checkout.
            let tried: Vec<_> =
                tried.filter(|escape| !(is_head && escape.name.contains("in the checkout"))).collect();
            let outside = picture(scene.outside.path());
            let escaped = scene.escaped(kind, &tried, strategy.clone()).await;
            assert_eq!(escaped, [""; 0], "{}, {strategy:?}", kind.name);
            assert_eq!(picture(scene.outside.path()), outside, "{}", kind.name);
            let other = scene.repository.path().join(".sandcastle/worktrees/other");
            assert!(other.join("half").exists() && !other.join("planted").exists(), "{}", kind.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_sandbox_everything_leads_out() {
    let none = kinds().remove(0);
    assert_eq!(none.name, "none");
    let scene = Scene::new().await;
    let expected = |escape: &&Escape| match escape.control {
        Control::Always => true,
        Control::AsRoot => has_all_powers(),
        Control::WithEngine => variable("SANDCASTLE_TEST_DOCKER_HOST").is_some(),
        Control::Untried => false,
    };
    let tried: Vec<_> = ESCAPES.iter().filter(expected).collect();
    let escaped = scene.escaped(&none, &tried, BranchStrategy::branch("agent/hostile")).await;
    let names: Vec<_> = tried.iter().map(|escape| escape.name).collect();
    assert_eq!(escaped, names);
}

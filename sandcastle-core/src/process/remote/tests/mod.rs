//! Programs behind a client, with a shell of this host in the part of the other side.

use std::ffi::OsStr;
use std::io::{Seek as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;

use super::*;
use crate::agent::{StopRequest, StopSignal};
use crate::process::{Inherit, Leftovers};

/// A shell that is in no way the child of the host's program but for its standard streams.
#[derive(Debug)]
struct Elsewhere;

impl RemoteShell for Elsewhere {
    fn client(&self, script: &str, args: &[&str], streams: Streams) -> Program {
        let mut program = Program::new("env").args(["-i", "PATH=/usr/bin:/bin", "sh", "-c", script, "sh"]);
        program.inherit = Inherit::Nothing;
        program.args(args).streams(streams)
    }
}

fn shell(script: &str) -> Program {
    Program::new("sh").args(["-c", script]).cwd("/")
}

async fn start(program: Program) -> io::Result<Running> {
    Running::remote(Arc::new(Elsewhere), &program).await
}

async fn printed(running: &mut Running) -> (Vec<u8>, io::Result<ExitStatus>) {
    let mut all = Vec::new();
    loop {
        match running.next().await {
            Ok(super::super::Output::Stdout(bytes)) => all.extend_from_slice(bytes),
            Ok(super::super::Output::Exited(status)) => return (all, Ok(status)),
            Err(error) => return (all, Err(error)),
        }
    }
}

async fn played(program: Program) -> (String, ExitStatus, String) {
    let mut running = start(program).await.unwrap();
    let (stdout, status) = printed(&mut running).await;
    running.sweep().await;
    (String::from_utf8(stdout).unwrap(), status.unwrap(), running.stderr().text())
}

#[tokio::test]
async fn what_a_program_prints_and_how_it_ends_comes_back() {
    let (stdout, status, stderr) = played(shell("printf out; printf err >&2; exit 3")).await;
    assert_eq!((stdout.as_str(), status.code(), stderr.as_str()), ("out", Some(3), "err"));
}

#[tokio::test]
async fn case_148_a_signal_is_named() {
    let (_, status, _) = played(shell("kill -9 $$")).await;
    assert_eq!((status.code(), status.signal()), (None, Some(9)));
}

#[tokio::test]
async fn words_arrive_byte_for_byte() {
    let odd = OsStr::from_bytes(b" a'b\"c\n\n$HOME `x` \\ \xff%s*");
    let program = Program::new("printf").args([OsStr::new("%s|"), odd]).cwd("/");
    let mut running = start(program.env("ODD", odd)).await.unwrap();
    let mut expected = odd.as_bytes().to_vec();
    expected.push(b'|');
    assert_eq!(printed(&mut running).await.0, expected);
    let mut running = start(shell("printf %s \"$ODD\"").env("ODD", odd)).await.unwrap();
    assert_eq!(printed(&mut running).await.0, odd.as_bytes());
}

#[tokio::test]
async fn w_6_the_input_is_what_is_behind_the_request() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&vec![b'x'; 3 << 20]).unwrap();
    file.rewind().unwrap();
    let (stdout, _, _) = played(shell("wc -c").stdin("first\n").stdin_file(file)).await;
    assert_eq!(stdout.trim(), (6 + (3 << 20)).to_string());
    let (stdout, _, _) = played(shell("cat; echo end")).await;
    assert_eq!(stdout, "end\n");
}

#[tokio::test]
async fn an_input_that_nobody_reads_is_no_error() {
    let (stdout, status, _) = played(shell("echo hello").stdin(vec![b'x'; 4 << 20])).await;
    assert_eq!((stdout.as_str(), status.code()), ("hello\n", Some(0)));
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let error = start(Program::new("no-such-program").cwd("/")).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(error.to_string().contains("`no-such-program`"), "{error}");
    let error = start(shell("true").cwd("/no/such/folder")).await.unwrap_err();
    assert!(error.to_string().contains("`/no/such/folder`"), "{error}");
    let error = start(shell("true").env("a.b", "c")).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[tokio::test]
async fn nothing_of_the_program_stands_in_an_argument_on_the_way() {
    let secret = format!("s3cret-{}", fastrand::u64(..));
    let look = "all=$(cat /proc/[0-9]*/cmdline | tr '\\0' ' '); case $all in *\"$TOKEN\"*) echo seen;; *) echo hidden;; esac";
    let (stdout, _, _) = played(shell(look).env("TOKEN", secret)).await;
    assert_eq!(stdout.trim(), "hidden");
}

#[tokio::test]
async fn what_is_left_behind_is_ended_and_counted() {
    let mut running = start(shell("(setsid sleep 100 &) ; echo on")).await.unwrap();
    let mark = running.far().unwrap().mark.clone();
    let (stdout, status) = printed(&mut running).await;
    assert_eq!((stdout.as_slice(), status.unwrap().code()), (&b"on\n"[..], Some(0)));
    assert_eq!(running.sweep().await, 1);
    assert_eq!(Leftovers::of([mark]).list(), []);
}

#[tokio::test]
async fn it_is_asked_to_stop_where_it_runs() {
    let script = "trap 'echo interrupted; exit 7' INT; echo ready; while :; do sleep 0.05; done";
    let mut running = start(shell(script)).await.unwrap();
    assert!(matches!(running.next().await.unwrap(), super::super::Output::Stdout(b"ready\n")));
    running.ask_to_stop(StopSignal::Interrupt);
    let (stdout, status) = printed(&mut running).await;
    assert_eq!((stdout.as_slice(), status.unwrap().code()), (&b"interrupted\n"[..], Some(7)));
}

#[tokio::test]
async fn case_173_one_that_does_not_stop_is_killed_with_what_it_started() {
    let script = "trap '' TERM INT; setsid sh -c \"trap '' TERM; sleep 100\" & echo ready; wait";
    for dropped in [false, true] {
        let mut running = start(shell(script)).await.unwrap();
        let mark = running.far().unwrap().mark.clone();
        running.next().await.unwrap();
        if dropped {
            drop(running);
        } else {
            running.end(StopRequest::default()).await;
        }
        assert_eq!(Leftovers::of([mark]).list(), [], "dropped: {dropped}");
    }
}

#[tokio::test]
async fn a_connection_that_is_lost_is_no_end_of_the_program() {
    let mut running = start(shell("echo on; exec sleep 100")).await.unwrap();
    running.next().await.unwrap();
    let client = running.id().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed())).unwrap();
    rustix::process::kill_process_group(client, Signal::KILL).unwrap();
    let error = printed(&mut running).await.1.unwrap_err();
    assert!(error.to_string().contains("lost"), "{error}");
}

#[tokio::test]
async fn a_line_says_what_its_probe_found_and_why_it_did_not_open() {
    let mut line = Line::open(Arc::new(Elsewhere), Afterwards::Leave, "echo a; echo b").unwrap();
    assert_eq!(line.ready().await.unwrap(), "a b");
    let mut running = line.run(&shell("echo c")).await.unwrap();
    assert_eq!(printed(&mut running).await.0, b"c\n");

    #[derive(Debug)]
    struct Broken;
    impl RemoteShell for Broken {
        fn client(&self, _: &str, _: &[&str], _: Streams) -> Program {
            shell("echo no such host >&2; exit 125")
        }
    }
    let mut line = Line::open(Arc::new(Broken), Afterwards::Leave, ":").unwrap();
    let error = line.ready().await.unwrap_err();
    assert!(error.to_string().contains("no such host"), "{error}");
}

#[tokio::test]
async fn what_a_client_warns_of_is_not_said_by_the_program() {
    #[derive(Debug)]
    struct Warning;
    impl RemoteShell for Warning {
        fn client(&self, script: &str, args: &[&str], streams: Streams) -> Program {
            let warned = format!("echo 'the moon is full' >&2\n{script}");
            Elsewhere.client(&warned, args, streams)
        }
    }
    let mut running = Running::remote(Arc::new(Warning), &shell("echo err >&2")).await.unwrap();
    printed(&mut running).await.1.unwrap();
    assert_eq!(running.stderr().text(), "err\n");
}

#[tokio::test]
async fn a_launcher_that_stays_is_let_go_of_when_its_program_has_ended() {
    let line = Line::open(Arc::new(Elsewhere), Afterwards::Stay, ":").unwrap();
    let mut running = line.run(&shell("echo first; (sleep 100 &)")).await.unwrap();
    let (stdout, status) = printed(&mut running).await;
    assert_eq!((stdout.as_slice(), status.unwrap().code()), (&b"first\n"[..], Some(0)));
}

//! Processes inside: how they end, what they see of others, and their variables.

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use sandcastle::agent::{StopRequest, StopSignal};
use sandcastle::sandbox::{Bubblewrap, Output, Program};

use super::{Room, said, shell};
use crate::support::processes::UniqueSleep;

#[tokio::test]
async fn case_148_exit_statuses_pass_through_and_a_death_by_signal_is_no_success() {
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    for (script, code) in [("exit 0", 0), ("exit 3", 3), ("exit 128", 128), ("exit 255", 255)] {
        let said = room.sh(script).await;
        assert_eq!(said.status.code(), Some(code), "{script}: {said:?}");
    }
    for (script, signal) in [("kill -9 $$", 9), ("kill -TERM $$", 15), ("sh -c 'kill -9 $$'", 9)] {
        let said = room.sh(script).await;
        assert_eq!(said.status.signal(), Some(signal), "{script}: {said:?}");
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_not_found_as_without_a_sandbox() {
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    for name in ["no-such-program", "./no-such-program", "/no/such/program", ""] {
        let error = room.start(Program::new(name)).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{name}: {error}");
    }
    let error = room.start(Program::new("true").cwd("/root")).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "a folder that is not seen: {error}");
    room.repository.write("text", "x");
    let error = room.start(Program::new("./text")).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied, "{error}");
}

#[tokio::test]
async fn input_and_output_pass_as_they_are() {
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    let long = "x".repeat(300_000);
    let said = room.run(Program::new("cat").stdin(long.clone())).await;
    assert_eq!(said.stdout, long);
    let said = room.run(Program::new("printf").args(["%s|", "a b", "--", "$HOME", "'\n"])).await;
    assert_eq!(said.stdout, "a b|--|$HOME|'\n|");
}

#[tokio::test]
async fn other_processes_are_neither_seen_nor_reached() {
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    let own = std::process::id();
    let seen = room.told("ls /proc | grep -c '^[0-9]'").await;
    assert!(seen.parse::<u32>().unwrap() < 10, "{seen} processes are seen");
    for reach in
        [format!("kill -0 {own}"), format!("cat /proc/{own}/environ"), "kill -9 -1; sleep 5".to_owned()]
    {
        let said = room.sh(&format!("({reach}) 2>/dev/null")).await;
        assert!(!said.went_well() && said.stdout.is_empty(), "{reach}: {said:?}");
    }
    let mut other = other_process();
    let mut sleeper = other.spawn().unwrap();
    room.sh("kill -9 -1").await;
    assert!(sleeper.try_wait().unwrap().is_none(), "a process of the same user lives on");
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
}

#[expect(clippy::disallowed_methods, reason = "a process that belongs to nobody's sandbox")]
fn other_process() -> std::process::Command {
    let mut command = std::process::Command::new("sleep");
    command.arg("30");
    command
}

#[tokio::test]
async fn variables_of_this_process_are_not_seen_and_values_stand_in_no_argument() {
    let provider = Bubblewrap::new().env("SET", "s3cret-set").keep_env("CARGO_MANIFEST_DIR");
    let Some(room) = Room::new(provider).await else { return };
    let sleep = UniqueSleep::new();
    let script = format!("env; exec sleep {}", sleep.seconds());
    let program = shell(&script).env("OWN", "s3cret-own").env("HOME", "/tmp/elsewhere");
    let mut running = room.start(program).await.unwrap();
    sleep.wait_for(1).await;
    for line in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(line.path().join("cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&line).contains("s3cret-"), "a value is in an argument vector");
    }
    let Ok(Output::Stdout(printed)) = running.next().await else { panic!("nothing was printed") };
    let printed = String::from_utf8_lossy(printed).into_owned();
    for line in ["SET=s3cret-set", "OWN=s3cret-own", "HOME=/tmp/elsewhere", "CARGO_MANIFEST_DIR=/"] {
        assert!(printed.lines().any(|own| own.starts_with(line)), "{line} in {printed}");
    }
    for name in ["CARGO=", "CARGO_PKG_NAME=", "RUSTUP_TOOLCHAIN=", "SANDCASTLE_REQUIRE="] {
        assert!(!printed.lines().any(|own| own.starts_with(name)), "{name} in {printed}");
    }
    running.sweep().await;
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn a_library_that_an_agent_names_is_not_loaded_outside() {
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    let elsewhere = super::elsewhere();
    // Outside, the loader would find the file and complain of what is in it; inside there is none.
    let library = elsewhere.path().join("secret");
    let said = room.run(Program::new("true").env("LD_PRELOAD", &library)).await;
    assert!(said.went_well() && said.stderr.contains("cannot open shared object file"), "{said:?}");
    assert!(said.stderr.lines().all(|line| line.contains("cannot open")), "{said:?}");
}

#[tokio::test]
async fn what_this_process_has_open_is_not_open_inside() {
    use std::os::fd::AsRawFd;

    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    let elsewhere = super::elsewhere();
    let folder = std::fs::File::open(elsewhere.path()).unwrap();
    let high = rustix::io::fcntl_dupfd_cloexec(&folder, 200).unwrap();
    rustix::io::fcntl_setfd(&high, rustix::io::FdFlags::empty()).unwrap();
    let said = room.sh(&format!("cat /proc/self/fd/{}/secret", high.as_raw_fd())).await;
    assert!(!said.went_well() && said.stdout.is_empty(), "{said:?}");
    let said = room.run(shell("ls /proc/$$/fd; echo out; cat; exit 4").stdin("in\n")).await;
    assert_eq!((said.stdout.as_str(), said.status.code()), ("0\n1\n2\nout\nin\n", Some(4)), "{said:?}");
}

/// Waits for what an agent leaves running in a session of its own, with an empty environment, and without parents.
fn hidden(sleep: &UniqueSleep) -> String {
    format!("(setsid env -i sleep {} >/dev/null 2>&1 </dev/null &)", sleep.seconds())
}

#[tokio::test]
async fn nothing_is_left_of_what_a_program_started_however_it_hides() {
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    let sleep = UniqueSleep::new();
    room.sh(&format!("{}; sleep 0.2", hidden(&sleep))).await;
    assert_eq!(sleep.alive(), 0, "after the program has exited");

    let mut stop = StopRequest::terminate();
    stop.grace = Duration::from_millis(300);
    let stubborn =
        format!("trap '' TERM INT; {}; while :; do sleep {}; done", hidden(&sleep), sleep.seconds());
    let mut running = room.start(shell(&stubborn)).await.unwrap();
    sleep.wait_for(2).await;
    running.end(stop).await;
    assert_eq!(sleep.alive(), 0, "after `end`");

    let running = room.start(shell(&stubborn)).await.unwrap();
    sleep.wait_for(2).await;
    drop(running);
    assert_eq!(sleep.alive(), 0, "after a drop");

    let running = room.start(shell(&stubborn)).await.unwrap();
    sleep.wait_for(2).await;
    room.handle.close().await.unwrap();
    sleep.wait_for(0).await;
    drop(running);
}

#[tokio::test]
async fn a_program_that_is_asked_to_stop_can_say_farewell() {
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    for (signal, name) in [(StopSignal::Terminate, "TERM"), (StopSignal::Interrupt, "INT")] {
        let script = format!("trap 'echo farewell; exit 7' {name}; echo ready; while :; do sleep 0.05; done");
        let mut running = room.start(shell(&script)).await.unwrap();
        assert!(matches!(running.next().await.unwrap(), Output::Stdout(b"ready\n")));
        running.ask_to_stop(signal);
        let said = said(running).await;
        assert_eq!((said.stdout.as_str(), said.status.code()), ("farewell\n", Some(7)), "{name}: {said:?}");
    }
}

#[tokio::test]
async fn a_program_outlives_the_thread_that_asked_for_it() {
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    let runtime = tokio::runtime::Handle::current();
    let handle = std::sync::Arc::clone(&room.handle);
    let started = std::thread::spawn(move || runtime.block_on(handle.start(shell("sleep 0.3; echo alive"))));
    let running = tokio::task::spawn_blocking(|| started.join().unwrap().unwrap()).await.unwrap();
    let said = said(running).await;
    assert_eq!((said.stdout.as_str(), said.status.signal()), ("alive\n", None), "{said:?}");
}

#[tokio::test]
async fn many_at_once_are_no_trouble() {
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    let begun = Instant::now();
    let all = (0..20).map(|n| {
        let script = format!("echo {n} >~/{n}; ls /proc | grep -c '^[0-9]'");
        let room = &room;
        async move { room.told(&script).await }
    });
    for seen in futures(all).await {
        assert!(seen.parse::<u32>().unwrap() < 10, "each sees only its own: {seen}");
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
}

async fn futures<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut all: Vec<_> = all.map(Box::pin).collect();
    let mut done = Vec::new();
    std::future::poll_fn(|context| {
        all.retain_mut(|future| match future.as_mut().poll(context) {
            std::task::Poll::Ready(value) => {
                done.push(value);
                false
            }
            std::task::Poll::Pending => true,
        });
        if all.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done
}

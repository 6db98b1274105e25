//! Programs are really ended, with everything they started; nothing they print is lost.

use std::time::{Duration, Instant};

use sandcastle::agent::StopRequest;
use sandcastle::sandbox::{Output, Program, Running, Streams};

use crate::support::processes::UniqueSleep;

fn shell(script: &str) -> Program {
    Program::new("sh").args(["-c", script])
}

async fn read_to_end(running: &mut Running) -> (Vec<u8>, std::process::ExitStatus) {
    let mut stdout = Vec::new();
    loop {
        match running.next().await.unwrap() {
            Output::Stdout(bytes) => stdout.extend_from_slice(bytes),
            Output::Exited(status) => return (stdout, status),
            _ => unreachable!(),
        }
    }
}

/// A tool in a session of its own whose parent has gone, as agents start them.
fn hidden(sleep: &UniqueSleep) -> String {
    format!("setsid sh -c 'sleep {} &' </dev/null >/dev/null 2>&1", sleep.seconds())
}

#[tokio::test]
async fn ending_a_program_ends_what_hides_from_its_group() {
    let sleep = UniqueSleep::new();
    let mut running = Running::start(&shell(&format!("{}; sleep 60", hidden(&sleep)))).unwrap();
    sleep.wait_for(1).await;
    running.end(StopRequest::terminate()).await;
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn dropping_a_program_ends_what_hides_from_its_group() {
    let sleep = UniqueSleep::new();
    let running = Running::start(&shell(&format!("{}; sleep 60", hidden(&sleep)))).unwrap();
    sleep.wait_for(1).await;
    drop(running);
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn a_child_with_an_empty_environment_is_found_through_its_parent() {
    let sleep = UniqueSleep::new();
    let script = format!("setsid env -i sleep {} & setsid sleep 61 & wait", sleep.seconds());
    let running = Running::start(&shell(&script)).unwrap();
    sleep.wait_for(1).await;
    drop(running);
    sleep.wait_for(0).await;
}

#[tokio::test]
async fn what_is_left_behind_by_a_finished_program_is_counted_and_ended() {
    let sleep = UniqueSleep::new();
    let mut running = Running::start(&shell(&hidden(&sleep))).unwrap();
    let (_, status) = read_to_end(&mut running).await;
    assert!(status.success());
    sleep.wait_for(1).await;
    assert_eq!(running.sweep().await, 1);
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn a_program_that_ignores_the_request_is_killed_after_the_grace() {
    let sleep = UniqueSleep::new();
    let script = format!("trap '' TERM INT; while :; do sleep {}; done", sleep.seconds());
    let mut running = Running::start(&shell(&script)).unwrap();
    sleep.wait_for(1).await;
    let begun = Instant::now();
    let mut stop = StopRequest::terminate();
    stop.grace = Duration::from_millis(300);
    running.end(stop).await;
    assert!(begun.elapsed() >= Duration::from_millis(300) && begun.elapsed() < Duration::from_secs(3));
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_does_not_delay_the_end() {
    let sleep = UniqueSleep::new();
    let mut running = Running::start(&shell(&format!("sleep {} & echo done", sleep.seconds()))).unwrap();
    let begun = Instant::now();
    let (stdout, status) = read_to_end(&mut running).await;
    assert_eq!(stdout, b"done\n");
    assert!(status.success());
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    running.sweep().await;
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn case_166_the_input_is_written_and_closed() {
    let input = vec![b'x'; 300 * 1024];
    let mut running = Running::start(&shell("wc -c; wc -c").stdin(input)).unwrap();
    let (stdout, _) = read_to_end(&mut running).await;
    assert_eq!(String::from_utf8(stdout).unwrap().split_whitespace().collect::<Vec<_>>(), ["307200", "0"]);
}

#[tokio::test]
async fn a_program_that_does_not_read_its_input_is_no_error() {
    let mut running =
        Running::start(&shell("exec <&-; echo bye; exit 3").stdin(vec![b'x'; 1024 * 1024])).unwrap();
    let (stdout, status) = read_to_end(&mut running).await;
    assert_eq!((stdout.as_slice(), status.code()), (b"bye\n".as_slice(), Some(3)));
}

#[tokio::test]
async fn case_148_death_by_signal_is_not_an_exit_code() {
    use std::os::unix::process::ExitStatusExt;
    let mut running = Running::start(&shell("kill -9 $$")).unwrap();
    let (_, status) = read_to_end(&mut running).await;
    assert_eq!((status.code(), status.signal()), (None, Some(9)));
}

#[tokio::test]
async fn everything_that_was_printed_arrives_even_if_it_is_read_late() {
    let mut running = Running::start(&shell("head -c 3000000 /dev/zero; echo err >&2")).unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut count = 0;
    loop {
        match running.next().await.unwrap() {
            Output::Stdout(bytes) => count += bytes.len(),
            _ => break,
        }
        if count % 5 == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    assert_eq!(count, 3_000_000);
    assert_eq!(running.stderr().text(), "err\n");
}

#[tokio::test]
async fn a_grandchild_that_never_stops_printing_does_not_hide_the_exit() {
    let mut running = Running::start(&shell("yes & exit 7")).unwrap();
    let exited = async {
        loop {
            if let Output::Exited(status) = running.next().await.unwrap() {
                return status;
            }
            // A reader that takes its time finds the pipe full whenever it comes back.
            std::thread::sleep(Duration::from_millis(1));
            tokio::task::yield_now().await;
        }
    };
    let status = tokio::time::timeout(Duration::from_secs(10), exited).await.expect("the exit is told");
    assert_eq!(status.code(), Some(7));
    running.sweep().await;
}

#[tokio::test]
async fn a_program_on_the_terminal_is_asked_to_stop_too() {
    let folder = tempfile::tempdir().unwrap();
    let (ready, asked) = (folder.path().join("ready"), folder.path().join("asked"));
    let script = format!(
        "trap 'touch {}; exit' TERM; touch {}; while :; do sleep 0.01; done",
        asked.display(),
        ready.display()
    );
    let mut running = Running::start(&shell(&script).streams(Streams::Terminal)).unwrap();
    while !ready.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    running.end(StopRequest::terminate()).await;
    assert!(asked.exists());
}

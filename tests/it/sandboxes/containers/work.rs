//! Programs do their work inside, one after the other and at once.

use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use sandcastle::sandbox::Program;

use super::desk::{Desk, done, played, shell};

pub(in crate::sandboxes) async fn a_program_works_as_the_owner_at_the_path_of_the_work_tree(desk: &Desk) {
    let sandbox = desk.sandbox().await;
    let tree = desk.tree(0);
    assert_eq!(sandbox.worktree(), tree);
    let owner = std::fs::metadata(&tree).unwrap().uid();
    // The first comes by way of the container's own process, the others by that of the engine.
    for name in ["first", "second"] {
        let said = done(&*sandbox, &format!("pwd; echo text >{name}; printf %s \"$HOME\" >home")).await;
        assert_eq!(said.trim(), tree.display().to_string());
        assert_eq!(std::fs::metadata(tree.join(name)).unwrap().uid(), owner);
        let home = std::fs::read_to_string(tree.join("home")).unwrap();
        assert_eq!(sandbox.home_inside().unwrap().display().to_string(), home);
    }
    let both = tokio::join!(done(&*sandbox, "sleep 0.2; echo a"), done(&*sandbox, "sleep 0.1; echo b"));
    assert_eq!((both.0.as_str(), both.1.as_str()), ("a\n", "b\n"));
    sandbox.close().await.unwrap();
    sandbox.close().await.unwrap();
}

pub(in crate::sandboxes) async fn case_154_and_152_commits_are_made_in_a_linked_worktree(desk: &Desk) {
    let sandbox = desk.sandbox().await;
    let author = "git -c user.name=Agent -c user.email=a@example.invalid";
    let said = done(&*sandbox, &format!("git status --short && echo x >new && git add new && {author} commit -qm inside && git log -1 --format=%s")).await;
    assert_eq!(said, "inside\n");
    sandbox.close().await.unwrap();
    assert_eq!(desk.subjects(0)[0], "inside by Agent");
}

pub(in crate::sandboxes) async fn w_7_and_case_148_a_death_by_signal_is_no_success(desk: &Desk) {
    let sandbox = desk.sandbox().await;
    for _ in 0..2 {
        let (_, status) = played(&*sandbox, shell("kill -9 $$")).await;
        assert_eq!((status.code(), status.signal()), (None, Some(9)));
    }
    let (_, status) = played(&*sandbox, shell("exit 3")).await;
    assert_eq!(status.code(), Some(3));
}

pub(in crate::sandboxes) async fn w_25_an_input_that_nobody_reads_ends_nothing(desk: &Desk) {
    let sandbox = desk.sandbox().await;
    for _ in 0..2 {
        let (said, status) = played(&*sandbox, shell("echo done").stdin(vec![b'x'; 8 << 20])).await;
        assert_eq!((said.as_str(), status.code()), ("done\n", Some(0)));
        let (said, _) = played(&*sandbox, shell("wc -c").stdin(vec![b'x'; 3 << 20])).await;
        assert_eq!(said.trim(), (3 << 20).to_string());
    }
    let missing = sandbox.start(Program::new("no-such-program")).await.unwrap_err();
    assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
}

pub(in crate::sandboxes) async fn twenty_containers_at_once_commit_without_a_failure(desk: &Desk) {
    let requests: Vec<_> = (0..20).map(|number| desk.request(number)).collect();
    let work = requests.into_iter().enumerate().map(|(number, request)| {
        let provider = desk.provider();
        async move {
            let sandbox = provider.create(request).await.unwrap();
            let author = "git -c user.name=Agent -c user.email=a@example.invalid";
            done(
                &*sandbox,
                &format!("echo {number} >new && git add new && {author} commit -qm 'task {number}'"),
            )
            .await;
            sandbox.close().await.unwrap();
        }
    });
    let mut tasks: Vec<_> = work.map(tokio::spawn).collect();
    for task in tasks.drain(..) {
        task.await.unwrap();
    }
    for number in 0..20 {
        assert_eq!(desk.subjects(number)[0], format!("task {number} by Agent"));
    }
    assert_eq!(desk.containers(), Vec::<String>::new());
}

pub(in crate::sandboxes) async fn a_start_that_was_dropped_leaves_a_sandbox_that_can_be_used(desk: &Desk) {
    let sandbox = desk.sandbox().await;
    for wait in [0, 1, 30] {
        let start = sandbox.start(shell("sleep 100"));
        let _ = tokio::time::timeout(Duration::from_millis(wait), start).await;
        assert_eq!(done(&*sandbox, "echo on").await, "on\n");
    }
    let refused = sandbox.start(shell("true").env("not a name", "x")).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
    assert_eq!(done(&*sandbox, "ls /proc | grep -c '^[0-9]' >/dev/null; echo on").await, "on\n");
}

pub(in crate::sandboxes) async fn w_39_words_and_variables_arrive_as_they_are(desk: &Desk) {
    let odd = " a'b\"c\n$HOME `x` $(y) \\ ü*";
    let sandbox = desk.provider().env("SET", odd).create(desk.request(0)).await.unwrap();
    for _ in 0..2 {
        let program = Program::new("printf").args(["%s|", odd]).cwd("/");
        assert_eq!(played(&*sandbox, program).await.0, format!("{odd}|"));
        let program = shell("printf '%s|%s' \"$SET\" \"$OWN\"").env("OWN", odd);
        assert_eq!(played(&*sandbox, program).await.0, format!("{odd}|{odd}"));
    }
}

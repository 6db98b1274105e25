//! What does not fit is refused before anything is started inside, with what to do about it.

use sandcastle::sandbox::{Access, Docker, Mount, Podman};
use sandcastle::{BranchStrategy, ErrorKind, Logging, RunOptions, Scripted};

use super::desk::{Desk, Provider};
use crate::support::repository::Repository;

pub(in crate::sandboxes) async fn case_156_a_file_in_a_folder_that_is_not_there_is_refused(desk: &Desk) {
    let file = desk.tree(0).join("README.md");
    let mount = Mount::new(&file, Access::ReadOnly).at("~/.agent/auth.json");
    let error = desk.provider_of_image().mount(mount).create(desk.request(0)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Sandbox);
    assert!(error.to_string().contains("/.agent"), "{error}");
    assert!(error.hints()[0].contains("mount the whole folder"), "{error:#}");
    assert_eq!(desk.containers(), Vec::<String>::new());
    let mount = Mount::new(&file, Access::ReadOnly).at("~/auth.json");
    let sandbox = desk.provider_of_image().mount(mount).create(desk.request(0)).await.unwrap();
    assert_eq!(super::desk::done(&*sandbox, "cat ~/auth.json").await, "scratch\n");
}

pub(in crate::sandboxes) async fn w_50_a_user_whom_the_work_tree_does_not_belong_to_is_refused(desk: &Desk) {
    let error = desk.provider().userns("host").user(4321, 4321).create(desk.request(0)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Sandbox, "{error:#}");
    let hints = error.hints().join("\n");
    let expected = hints.contains("build-image") && hints.contains(".user(");
    // An engine of an ordinary user may not even know such a number.
    assert!(expected || error.to_string().contains("says"), "{error:#}");
    assert_eq!(desk.containers(), Vec::<String>::new());
}

fn provider(desk: &Desk, image: &str) -> Provider {
    match desk.provider() {
        Provider::Docker(_) => Provider::Docker(Docker::new(image)),
        Provider::Podman(_) => Provider::Podman(Podman::new(image)),
    }
}

fn of_a_missing_image(desk: &Desk) -> Provider {
    let client = desk.client().into_iter();
    let missing = provider(desk, "sandcastle-test:missing");
    client.fold(missing, |missing, (key, value)| missing.client_env(&key, &value)).program(desk.program())
}

pub(in crate::sandboxes) async fn case_134_a_missing_image_leaves_no_worktree_and_no_branch_of_its_own(
    desk: &Desk,
) {
    let repository = Repository::new();
    repository.git(["branch", "before"]);
    for strategy in
        [BranchStrategy::merge_to_head(), BranchStrategy::branch("new"), BranchStrategy::branch("before")]
    {
        let options = RunOptions::new(Scripted::answering("ok"), of_a_missing_image(desk))
            .cwd(repository.path())
            .branch_strategy(strategy)
            .logging(Logging::off())
            .prompt("Work.");
        let error = sandcastle::run(options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Sandbox, "{error:#}");
        assert_eq!(
            repository.git(["for-each-ref", "--format=%(refname:short)", "refs/heads"]),
            "before\nmain\n"
        );
        assert_eq!(repository.git(["worktree", "list"]).lines().count(), 1);
    }
}

pub(in crate::sandboxes) async fn w_44_a_missing_image_and_a_missing_client_are_told_apart(desk: &Desk) {
    let error = of_a_missing_image(desk).create(desk.request(0)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Sandbox);
    assert!(error.to_string().contains("look at the image `sandcastle-test:missing`"), "{error}");
    assert!(error.hints().join("").contains("build-image"), "{error:#}");

    let error = provider(desk, "a").program("/no/such/client").create(desk.request(0)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Sandbox);
    assert!(error.to_string().contains("find `/no/such/client`"), "{error}");

    if let Provider::Docker(_) = desk.provider() {
        let silent = Provider::Docker(Docker::new("a").host("unix:///no/such.sock").program(desk.program()));
        let error = silent.create(desk.request(0)).await.unwrap_err();
        assert!(error.hints().join("").contains("start Docker"), "{error:#}");
    }
}

pub(in crate::sandboxes) async fn an_unknown_network_is_refused_and_leaves_nothing(desk: &Desk) {
    let provider = desk.provider_on("sandcastle-no-such-network");
    let error = provider.create(desk.request(0)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Sandbox);
    assert!(error.hints().join("").contains("network ls"), "{error:#}");
    assert_eq!(desk.containers(), Vec::<String>::new());
}

//! What does not fit is refused before anything is started inside, with what to do about it.

use sandcastle::ErrorKind;
use sandcastle::sandbox::{Access, Docker, Mount, Podman};

use super::desk::{Desk, Provider};

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

pub(in crate::sandboxes) async fn w_44_a_missing_image_and_a_missing_client_are_told_apart(desk: &Desk) {
    let provider = |image: &str| match desk.provider() {
        Provider::Docker(_) => Provider::Docker(Docker::new(image)),
        Provider::Podman(_) => Provider::Podman(Podman::new(image)),
    };
    let mut missing = provider("sandcastle-test:missing");
    for (key, value) in desk.client() {
        missing = missing.client_env(&key, &value);
    }
    let error = missing.program(desk.program()).create(desk.request(0)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Sandbox);
    assert!(error.to_string().contains("look at the image `sandcastle-test:missing`"), "{error}");
    assert!(error.hints().join("").contains("build-image"), "{error:#}");

    let error = provider("a").program("/no/such/client").create(desk.request(0)).await.unwrap_err();
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

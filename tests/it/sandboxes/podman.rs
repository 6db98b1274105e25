//! What every container does, in those of Podman: root's, and an ordinary user's.

mod of_root {
    use super::super::containers::{self, Desk};

    containers::tests!(Desk::podman);
}

mod rootless {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::super::containers::{self, Desk};
    use crate::support::engines::{Engine, ordinary_user};
    use crate::support::process::Invocation;

    containers::tests!(Desk::podman_rootless);

    /// The whole of a run, by the user whose engine it is: nothing is told to the provider but the image.
    const RUN: &str = r#"
        repository=$(mktemp -d) && cd "$repository"
        git init -q -b main && git config user.name Ordinary && git config user.email o@example.invalid
        git commit -q --allow-empty -m first
        echo '{"turns":[{"steps":[{"shell":"id -u >who; echo made >made"},{"commit":"Inside"},{"say":"done"}]}]}' >~/script.json
        "$sandcastle" run --agent scripted --model ~/script.json --prompt go --sandbox podman --image "$image" \
            --network off --branch-strategy merge-to-head >/dev/null
        git log -1 --format='%s by %an' && cat who && stat -c %u made && podman ps --all --quiet --filter "label=sandcastle.repository=$repository"
        rm -rf "$repository""#;

    #[test]
    fn an_ordinary_user_needs_to_say_nothing_and_owns_what_is_made() {
        let Some(engine) = Engine::podman_rootless() else { return };
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let sandcastle = folder.path().join("sandcastle");
        std::fs::copy(env!("CARGO_BIN_EXE_sandcastle"), &sandcastle).unwrap();
        // What the program of the engine sets before it becomes that user.
        let wrapper = std::fs::read_to_string(&engine.program).unwrap();
        let is_set = |line: &&str| ["cd ", "export ", "unset "].iter().any(|word| line.starts_with(word));
        let settings: Vec<&str> = wrapper.lines().filter(is_set).collect();
        let script = format!(
            "set -e\n{}\nsandcastle={} image={}\n{RUN}",
            settings.join("\n"),
            sandcastle.display(),
            engine.image
        );
        let (uid, gid) = ordinary_user();
        let ended = Invocation::new("/usr/bin/setpriv", Path::new("/"))
            .arguments([format!("--reuid={uid}"), format!("--regid={gid}"), "--init-groups".to_owned()])
            .arguments(["sh", "-c", &script])
            .environment([("PATH".to_owned(), "/usr/sbin:/usr/bin:/sbin:/bin".to_owned())])
            .run();
        assert_eq!(ended.stdout, format!("Inside by Ordinary\n1000\n{uid}\n"), "{ended:?}");
    }
}

//! Files are copied in and out, and what comes out is not trusted.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use sandcastle::sandbox::{CopyLimits, copy_in, copy_out};

use super::desk::{Desk, done};

pub(in crate::sandboxes) async fn w_35_what_is_copied_in_belongs_to_the_agent_and_comes_out_again(
    desk: &Desk,
) {
    let sandbox = desk.sandbox().await;
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("söurce");
    std::fs::create_dir_all(source.join("in/ner")).unwrap();
    std::fs::write(source.join("in/ner/ünï \n.bin"), [0, 159, 146, 150]).unwrap();
    std::fs::write(source.join("run.sh"), "#!/bin/sh\necho ran\n").unwrap();
    std::fs::set_permissions(source.join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("in/ner", source.join("link")).unwrap();
    let home = sandbox.home_inside().unwrap();
    let inside = home.join("deep/er/copy");
    copy_in(&*sandbox, &source, &inside).await.unwrap();
    // Again, and it is not copied into itself.
    copy_in(&*sandbox, &source, &inside).await.unwrap();
    let script = format!(
        "cd '{}' && ls && readlink link && ./run.sh && echo more >>run.sh && find . ! -user \"$(id -u)\" && chmod 4755 run.sh && mkfifo pipe && ln -s /etc/passwd away",
        inside.display()
    );
    assert_eq!(done(&*sandbox, &script).await, "in\nlink\nrun.sh\nin/ner\nran\n");
    let out = folder.path().join("out");
    let copied = copy_out(&*sandbox, &inside, &out, CopyLimits::default()).await.unwrap();
    assert_eq!(std::fs::read(out.join("in/ner/ünï \n.bin")).unwrap(), [0, 159, 146, 150]);
    assert_eq!(std::fs::read_link(out.join("link")).unwrap(), Path::new("in/ner"));
    assert_eq!(std::fs::metadata(out.join("run.sh")).unwrap().permissions().mode() & 0o7777, 0o755);
    let left_out: Vec<_> = copied.left_out.iter().map(|path| path.display().to_string()).collect();
    assert_eq!(left_out.len(), 2, "{left_out:?}");
    assert!(std::fs::symlink_metadata(out.join("pipe")).is_err());
    assert!(std::fs::symlink_metadata(out.join("away")).is_err());
    let file = folder.path().join("one");
    copy_out(&*sandbox, &inside.join("run.sh"), &file, CopyLimits::default()).await.unwrap();
    assert!(std::fs::read_to_string(&file).unwrap().ends_with("more\n"));
    // What is there is not written over.
    copy_out(&*sandbox, &inside, &out, CopyLimits::default()).await.unwrap_err();
    let missing =
        copy_out(&*sandbox, &home.join("none"), &folder.path().join("x"), CopyLimits::default()).await;
    assert!(missing.unwrap_err().to_string().contains("none"));
}

pub(in crate::sandboxes) async fn a_hostile_archive_writes_nothing_outside(desk: &Desk) {
    let sandbox = desk.sandbox().await;
    let home = sandbox.home_inside().unwrap().display().to_string();
    // The programs inside are the agent's, so is what they print: a `tar` that says what it likes.
    let evil = "mkdir -p ~/bin ~/made && cd ~/made && mkdir d && echo evil >d/f && tar -cPf ~/evil.tar --transform 's,^d/f,d/../../../escaped,' d && \
                printf '#!/bin/sh\\ncat ~/evil.tar\\n' >~/bin/tar && chmod +x ~/bin/tar";
    done(&*sandbox, evil).await;
    let limits = CopyLimits { bytes: 10, ..CopyLimits::default() };
    let folder = tempfile::tempdir().unwrap();
    let error =
        copy_out(&*sandbox, Path::new("/usr/bin"), &folder.path().join("big"), limits).await.unwrap_err();
    assert!(error.to_string().contains("10 bytes"), "{error}");
    drop(sandbox);
    let provider = desk.provider();
    let sandbox =
        provider.env("PATH", &format!("{home}/bin:/usr/bin:/bin")).create(desk.request(0)).await.unwrap();
    done(&*sandbox, evil).await;
    let target = folder.path().join("a/b/out");
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    let error = copy_out(&*sandbox, &Path::new(&home).join("made/d"), &target, CopyLimits::default()).await;
    assert_eq!(error.unwrap_err().kind(), sandcastle::ErrorKind::Sandbox);
    assert!(!folder.path().join("escaped").exists() && !folder.path().join("a/escaped").exists());
}

//! What programs inside cannot do and see, and what is not seen of them from outside.

use sandcastle::sandbox::{Access, Mount};

use super::desk::{Desk, done, shell, unique};

pub(in crate::sandboxes) async fn w_23_and_case_179_no_value_is_seen_from_outside(desk: &Desk) {
    let secret = format!("s3cret-{:016x}", unique());
    let sandbox = desk.provider().env("TOKEN", &secret).create(desk.request(0)).await.unwrap();
    let mut programs = Vec::new();
    for _ in 0..2 {
        let mut running =
            sandbox.start(shell("echo \"$TOKEN\"; sleep 100").env("OTHER", &secret)).await.unwrap();
        let first = running.next().await.unwrap();
        assert!(
            matches!(first, sandcastle::sandbox::Output::Stdout(said) if said == format!("{secret}\n").as_bytes())
        );
        programs.push(running);
    }
    let name = sandbox.id().unwrap();
    assert!(!desk.says(&["inspect", &name]).contains(&secret));
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&line).contains(&secret), "{:?}", process.path());
    }
    for mut running in programs {
        running.end(sandcastle::agent::StopRequest::terminate()).await;
    }
}

pub(in crate::sandboxes) async fn nothing_of_this_host_is_inherited(desk: &Desk) {
    let provider = desk
        .provider()
        .client_env("HTTPS_PROXY", "http://me:s3cret@proxy.invalid")
        .client_env("SEEN", "s3cret");
    let sandbox = provider.create(desk.request(0)).await.unwrap();
    for _ in 0..2 {
        let said = done(&*sandbox, "env; cat /proc/1/environ | tr '\\0' '\\n'").await;
        assert!(!said.contains("s3cret"), "{said}");
    }
    let processes = done(&*sandbox, "cat /proc/[0-9]*/comm").await;
    assert!(!processes.contains("dockerd") && !processes.contains("conmon"), "{processes}");
    // The loopback interface is all that there is without a network.
    assert_eq!(done(&*sandbox, "tail -n +3 /proc/net/dev | grep -vc '^ *lo:' || true").await.trim(), "0");
}

pub(in crate::sandboxes) async fn w_24b_a_program_has_no_powers_and_writes_only_where_it_may(desk: &Desk) {
    let sandbox = desk.sandbox().await;
    let status = done(&*sandbox, "cat /proc/self/status").await;
    let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim().to_owned();
    for set in ["CapEff:", "CapPrm:", "CapBnd:", "CapInh:", "CapAmb:"] {
        assert_eq!(value(set), "0000000000000000", "{set}");
    }
    assert_eq!(value("NoNewPrivs:"), "1");
    let said = done(
        &*sandbox,
        "for folder in /tmp /var/tmp \"$HOME\" .; do echo x >$folder/written || echo closed $folder; done; \
         printf '#!/bin/sh\\necho runs' >/tmp/program; chmod +x /tmp/program; /tmp/program; \
         for folder in / /etc /usr/bin /sys /proc/sys/kernel; do (echo x >$folder/written) 2>/dev/null && echo open $folder; done; \
         mknod /tmp/device b 8 0 2>/dev/null && echo device; mount -t tmpfs none /mnt 2>/dev/null && echo mounted; true",
    )
    .await;
    assert_eq!(said, "runs\n");
    // Without an init program, process 1 would be the shell.
    assert!(!done(&*sandbox, "cat /proc/1/comm").await.starts_with("sh"));
}

pub(in crate::sandboxes) async fn what_is_hidden_is_empty_and_what_is_read_only_stays(desk: &Desk) {
    let tree = desk.tree(0);
    std::fs::create_dir_all(tree.join("folder")).unwrap();
    std::fs::write(tree.join("folder/key"), "s3cret").unwrap();
    std::fs::write(tree.join("file"), "s3cret").unwrap();
    let mut request = desk.request(0);
    request.mounts.push(Mount::new(tree.join("README.md"), Access::ReadOnly));
    request.hidden = ["folder", "file", "none"].map(|name| tree.join(name)).to_vec();
    let sandbox = desk.provider().create(request).await.unwrap();
    let said = done(
        &*sandbox,
        "ls folder; cat file; cat folder/key; echo x >folder/new; echo x >file; echo x >README.md; rm -f README.md folder file; \
         ls none; grep -r s3cret . ; true",
    )
    .await;
    assert_eq!(said, "");
    sandbox.close().await.unwrap();
    assert_eq!(std::fs::read_to_string(tree.join("folder/key")).unwrap(), "s3cret");
    assert_eq!(std::fs::read_to_string(tree.join("file")).unwrap(), "s3cret");
    assert_eq!(std::fs::read_to_string(tree.join("README.md")).unwrap(), "scratch\n");
    assert!(!tree.join("none").exists());
}

//! Ways in which an agent makes git of the host run a program of its choice.
//!
//! A new one is one more row. Each plants a program that leaves a mark, and names a command of plain git by which the
//! user would run it: what does not spring there would prove nothing.

use std::path::{Path, PathBuf};

use crate::process::{Program, capture};
use crate::testing::ScratchRepo;

/// One way. Both scripts run in the host's work tree; `$TRAP` is a program that leaves a mark, `$GIT_FOLDER` the
/// repository's folder, `$AGENT` the work tree of the agent, `$OUT` a folder outside of the repository.
#[derive(Debug)]
pub(crate) struct Trap {
    pub(crate) name: &'static str,
    pub(crate) plant: &'static str,
    pub(crate) spring: &'static str,
}

macro_rules! traps {
    ($($name:literal: $plant:literal => $spring:literal;)*) => {
        &[$(Trap { name: $name, plant: $plant, spring: $spring }),*]
    };
}

/// The ways.
pub(crate) const TRAPS: &[Trap] = traps! {
    "hook of a checkout": "hook post-checkout" => "git checkout -q HEAD";
    "hook of a merge": "hook post-merge" => "git merge -q side";
    "hook before a merge": "hook pre-merge-commit" => "git merge -q --no-ff side";
    "hook of a commit": "hook pre-commit" => "git commit -q --allow-empty -m x";
    "hook of references": "hook reference-transaction" => "git update-ref refs/heads/x HEAD";
    "hook of an index": "hook post-index-change" => "touch README.md; git status";
    "hook before gc": "hook pre-auto-gc; git config gc.auto 1; mkdir -p $GIT_FOLDER/objects/17; for i in 1 2 3 4 5; do : >$GIT_FOLDER/objects/17/${i}0000000000000000000000000000000000000; done" => "git merge -q side; git gc --auto";
    "folder of hooks": "mkdir $OUT/h; cp $TRAP $OUT/h/post-checkout; git config core.hooksPath $OUT/h" => "git checkout -q HEAD";
    "link to hooks": "mkdir $OUT/h; cp $TRAP $OUT/h/post-checkout; rm -r $GIT_FOLDER/hooks; ln -s $OUT/h $GIT_FOLDER/hooks" => "git checkout -q HEAD";
    "monitor of files": "git config core.fsmonitor $TRAP" => "git status";
    "monitor by an include": "printf '[core]\\nfsmonitor = %s\\n' $TRAP >$OUT/i; git config include.path $OUT/i" => "git status";
    "monitor by a condition": "printf '[core]\\nfsmonitor = %s\\n' $TRAP >$OUT/i; git config includeIf.onbranch:main.path $OUT/i" => "git status";
    "monitor of one work tree": "git config extensions.worktreeConfig true; git config --worktree core.fsmonitor $TRAP" => "git status";
    "monitor of the agent's work tree": "git config extensions.worktreeConfig true; git -C $AGENT config --worktree core.fsmonitor $TRAP" => "git -C $AGENT status";
    "filter that smudges": "filter smudge; git config filter.x.smudge $TRAP" => "rm README.md; git checkout -q README.md";
    "filter that cleans": "filter; git config filter.x.clean $TRAP" => "echo >>README.md; git status; git add README.md";
    "filter that goes on": "filter; git config filter.x.process $TRAP; git config filter.x.required true" => "echo >>README.md; git add README.md";
    "filter of an odd name": "echo '* filter=a=b.c' >$GIT_FOLDER/info/attributes; git config filter.a=b.c.clean $TRAP" => "echo >>README.md; git add README.md";
    "filter of the old form": "echo '* filter=odd' >$GIT_FOLDER/info/attributes; printf '[filter.ODD]\\nclean = %s\\n' $TRAP >>$GIT_FOLDER/config" => "echo >>README.md; git add README.md";
    "filter in the work tree": "echo '* filter=x' >.gitattributes; git config filter.x.clean $TRAP" => "echo >>README.md; git add README.md";
    "filter of one work tree": "filter; git config extensions.worktreeConfig true; git config --worktree filter.x.clean $TRAP" => "echo >>README.md; git add README.md";
    "driver of merges": "echo '* merge=x' >$GIT_FOLDER/info/attributes; git config merge.x.driver \"$TRAP %A\"" => "git merge -q clash";
    "driver of all merges": "git config merge.default x; git config merge.x.driver \"$TRAP %A\"" => "git merge -q clash";
    "driver of differences": "echo '* diff=x' >$GIT_FOLDER/info/attributes; git config diff.x.command $TRAP" => "git diff HEAD~1";
    "text of differences": "echo '* diff=x' >$GIT_FOLDER/info/attributes; git config diff.x.textconv $TRAP" => "git diff HEAD~1";
    "every difference": "git config diff.external $TRAP" => "git diff HEAD~1";
    "program that signs": "git config commit.gpgSign true; git config gpg.program $TRAP" => "git commit -q --allow-empty -m x";
    "program that signs with ssh": "git config commit.gpgSign true; git config gpg.format ssh; git config gpg.ssh.program $TRAP; git config user.signingKey x" => "git commit -q --allow-empty -m x";
    "program that names the key": "git config commit.gpgSign true; git config gpg.format ssh; git config gpg.ssh.defaultKeyCommand $TRAP" => "git commit -q --allow-empty -m x";
    "program that verifies": "sign; git config log.showSignature true; git config gpg.program $TRAP" => "git log -1";
    "program that verifies merges": "sign; git config merge.verifySignatures true; git config gpg.program $TRAP; git branch -q signed; git reset -q --hard HEAD~1" => "git merge -q signed";
    "program of ssh": "git config core.sshCommand $TRAP; git remote set-url origin ssh://localhost/x" => "git fetch -q origin";
    "program of a proxy": "git config core.gitProxy $TRAP; git remote set-url origin git://localhost/x" => "git fetch -q origin";
    "program of an upload": "git config remote.origin.uploadpack $TRAP" => "git fetch -q origin";
    "protocol of its own": "git config protocol.ext.allow always; git remote set-url origin \"ext::$TRAP\"" => "git fetch -q origin";
    "protocol by an alias of addresses": "git config protocol.ext.allow always; git config \"url.ext::$TRAP .insteadOf\" \"$(git remote get-url origin)\"" => "git fetch -q origin";
    "references of borrowed objects": "git config core.alternateRefsCommand $TRAP; git init -q --bare $OUT/b; echo $OUT/b/objects >$GIT_FOLDER/objects/info/alternates" => "git fetch -q origin";
    "strategy of a merge": "git config branch.main.mergeOptions '-s x --no-ff'; mkdir $OUT/p; cp $TRAP $OUT/p/git-merge-x" => "PATH=$OUT/p:$PATH git merge -q side";
    "editor": "git config core.editor $TRAP" => "git merge -q --edit --no-ff side";
    "submodule with a monitor": "git init -q sub; git -C sub commit -q --allow-empty -m x; git add sub; git commit -q -m sub; git -C sub config core.fsmonitor $TRAP" => "git status";
    "update of a submodule": "git init -q sub; git -C sub commit -q --allow-empty -m x; printf '[submodule \"sub\"]\\npath = sub\\nurl = ./sub\\n' >.gitmodules; git add .; git commit -q -m sub; git config submodule.sub.url ./sub; git config submodule.sub.update \"!$TRAP\"; git -C sub commit -q --allow-empty -m y" => "git submodule update";
};

/// Functions for the scripts above.
const PRELUDE: &str = r#"
GIT_FOLDER=$(git rev-parse --path-format=absolute --git-common-dir)
hook() { mkdir -p "$GIT_FOLDER/hooks"; cp "$TRAP" "$GIT_FOLDER/hooks/$1"; }
filter() { mkdir -p "$GIT_FOLDER/info"; echo '* filter=x' >"$GIT_FOLDER/info/attributes"; }
sign() {
  printf '#!/bin/sh\ncat >/dev/null\necho "[GNUPG:] SIG_CREATED " >&2\nprintf "%%s\\n" "-----BEGIN PGP SIGNATURE-----" x "-----END PGP SIGNATURE-----"\n' >"$OUT/sign"
  chmod +x "$OUT/sign"
  git -c gpg.program="$OUT/sign" commit -q --allow-empty -S -m signed
}
mkdir -p "$GIT_FOLDER/info" "$GIT_FOLDER/hooks"
"#;

/// A repository in which a trap was set.
pub(crate) struct Trapped {
    pub(crate) scratch: ScratchRepo,
    outside: tempfile::TempDir,
}

impl Trapped {
    /// Makes a repository with a remote, the branches `side` and `clash`, and the agent's work tree on `agent`.
    pub(crate) async fn repository() -> Self {
        let place =
            Self { scratch: ScratchRepo::new().await.unwrap(), outside: tempfile::tempdir().unwrap() };
        let trap = place.outside.path().join("trap");
        let mark = place.mark();
        std::fs::write(&trap, format!("#!/bin/sh\necho sprung >>'{}'\nexit 1\n", mark.display())).unwrap();
        let prepared = place
            .script(
                "chmod +x $TRAP; echo 2 >README.md; git commit -qam second
                 git clone -q --bare . $OUT/origin.git; git remote add origin $OUT/origin.git
                 git branch -q agent; git branch -q clash HEAD~1
                 git worktree add -q $AGENT agent; cd $AGENT
                 echo a >a.txt; echo agent >>README.md; git add .; git commit -qm agent
                 git branch -q side; git push -q origin side
                 git switch -q clash; echo clash >README.md; git commit -qam clash; git switch -q agent
                 git -C $OUT/origin.git branch -q behind agent || git push -q origin agent:behind",
            )
            .await;
        assert!(prepared.0, "{}", prepared.1);
        place
    }

    pub(crate) fn agent(&self) -> PathBuf {
        self.outside.path().join("agent")
    }

    pub(crate) async fn plant(&self, trap: &Trap) {
        let (is_success, said) = self.script(&format!("set -e; {}", trap.plant)).await;
        assert!(is_success, "{}: {said}", trap.name);
        let _ = std::fs::remove_file(self.mark());
    }

    /// Runs plain git, which obeys the repository.
    pub(crate) async fn spring(&self, trap: &Trap) -> String {
        self.script(trap.spring).await.1
    }

    pub(crate) fn is_sprung(&self) -> bool {
        self.mark().exists()
    }

    fn mark(&self) -> PathBuf {
        self.outside.path().join("mark")
    }

    pub(crate) fn out(&self) -> &Path {
        self.outside.path()
    }

    pub(crate) async fn script(&self, script: &str) -> (bool, String) {
        let out = self.outside.path();
        let program = Program::new("sh")
            .args(["-c", &format!("{PRELUDE}\n{script}")])
            .cwd(self.scratch.path())
            .env("TRAP", out.join("trap"))
            .env("OUT", out)
            .env("AGENT", self.agent())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_AUTHOR_NAME", "T")
            .env("GIT_AUTHOR_EMAIL", "t@example.invalid")
            .env("GIT_COMMITTER_NAME", "T")
            .env("GIT_COMMITTER_EMAIL", "t@example.invalid");
        let captured = capture(&program, 1 << 20, std::time::Duration::from_secs(60)).await.unwrap();
        (captured.status.success(), captured.stderr)
    }
}

//! What agents plant, row by row. A new vector is one row.

/// One way to make the host's git run a program.
pub(crate) struct Vector {
    pub(crate) name: &'static str,
    /// What the agent does last, in its worktree: a shell script that knows `$EVIL` (the program to be run), `$ROOT` (the
    /// host's checkout) and `$OUT` (a folder outside).
    pub(crate) plant: &'static str,
    /// What a user would do with plain git to set it off; `None` where plain git is not known to fall for it.
    pub(crate) fires: Option<&'static str>,
    /// Whether it changes what git executes, which a run refuses by name.
    pub(crate) is_a_change_of_the_repository: bool,
}

const fn changed(name: &'static str, plant: &'static str, fires: &'static str) -> Vector {
    Vector { name, plant, fires: Some(fires), is_a_change_of_the_repository: true }
}

const fn silent(name: &'static str, plant: &'static str) -> Vector {
    Vector { name, plant, fires: None, is_a_change_of_the_repository: false }
}

pub(crate) const VECTORS: &[Vector] = &[
    changed("file-system monitor", "git config core.fsmonitor \"$EVIL\"", "git status"),
    changed(
        "hooks in the default folder",
        "for hook in post-checkout post-merge reference-transaction pre-commit post-index-change pre-auto-gc post-rewrite; do
            cp \"$EVIL\" \"$ROOT/.git/hooks/$hook\"; done",
        "git checkout -q -b elsewhere",
    ),
    changed(
        "a hooks folder that is named",
        "mkdir -p \"$OUT/hooks\"; cp \"$EVIL\" \"$OUT/hooks/post-checkout\"; cp \"$EVIL\" \"$OUT/hooks/reference-transaction\";
         git config core.hooksPath \"$OUT/hooks\"",
        "git checkout -q -b elsewhere",
    ),
    changed(
        "a hooks folder that is a link",
        "mkdir -p \"$OUT/hooks\"; cp \"$EVIL\" \"$OUT/hooks/post-checkout\"; rm -rf \"$ROOT/.git/hooks\";
         ln -s \"$OUT/hooks\" \"$ROOT/.git/hooks\"",
        "git checkout -q -b elsewhere",
    ),
    changed(
        "a clean filter",
        "echo '* filter=evil' >\"$ROOT/.git/info/attributes\"; git config filter.evil.clean \"$EVIL\"",
        "echo x >>both.txt; git add both.txt",
    ),
    changed(
        "a smudge filter of the branch's own attributes",
        "echo '* filter=evil' >.gitattributes; git add .gitattributes; git commit -qm Attributes;
         git config filter.evil.smudge \"$EVIL\"; git config filter.evil.required true",
        "git config filter.evil.smudge \"$EVIL\"; echo '* filter=evil' >.gitattributes; rm both.txt; git checkout -q both.txt",
    ),
    changed(
        "a filter process",
        "git config filter.evil.process \"$EVIL\"; echo '* filter=evil' >\"$ROOT/.git/info/attributes\"",
        "echo x >>both.txt; git add both.txt",
    ),
    changed(
        "a merge driver",
        "git config merge.evil.driver \"$EVIL %A\"; echo '* merge=evil' >\"$ROOT/.git/info/attributes\"",
        "git branch -f other HEAD~1; git checkout -q other; echo o >>both.txt; git commit -qam Other; git merge -q main",
    ),
    changed("an external diff", "git config diff.external \"$EVIL\"", "echo x >>both.txt; git diff"),
    changed(
        "a text conversion",
        "git config diff.evil.textconv \"$EVIL\"; echo '* diff=evil' >\"$ROOT/.git/info/attributes\"",
        "git log -p",
    ),
    changed(
        "a remote's upload program",
        "git config remote.origin.uploadpack \"$EVIL\"",
        "git fetch origin",
    ),
    changed(
        "an ssh command",
        "git config core.sshCommand \"$EVIL\"; git config remote.origin.url ssh://host.invalid/path",
        "git fetch origin",
    ),
    changed(
        "a remote that is a command",
        "git config protocol.ext.allow always; git config remote.origin.url \"ext::$EVIL\"",
        "git fetch origin",
    ),
    changed(
        "an address that is rewritten to a command",
        "git config protocol.ext.allow always; git config \"url.ext::$EVIL .insteadOf\" \"$OUT\"",
        "git fetch origin",
    ),
    changed(
        "a signing program",
        "git config commit.gpgSign true; git config gpg.program \"$EVIL\"; git config log.showSignature true;
         git config merge.verifySignatures true",
        "git commit -q --allow-empty -m x",
    ),
    changed(
        "a file that is included",
        "printf '[core]\\n\\tfsmonitor = %s\\n' \"$EVIL\" >\"$OUT/more\"; git config include.path \"$OUT/more\"",
        "git status",
    ),
    changed(
        "a configuration of each worktree",
        "git config extensions.worktreeConfig true; git config --worktree core.fsmonitor \"$EVIL\";
         (cd \"$ROOT\"; git config --worktree core.fsmonitor \"$EVIL\")",
        "git status",
    ),
    changed(
        "attributes in a file that is named",
        "echo '* filter=evil' >\"$OUT/attributes\"; git config core.attributesFile \"$OUT/attributes\";
         git config filter.evil.clean \"$EVIL\"",
        "echo x >>both.txt; git add both.txt",
    ),
    changed(
        "another repository in the place of the worktree's",
        "git init -q \"$OUT/other\"; git -C \"$OUT/other\" config core.fsmonitor \"$EVIL\";
         echo \"gitdir: $OUT/other/.git\" >.git",
        "git -C \"$OUT/other\" status",
    ),
    changed(
        "another common folder for the worktree",
        "git init -q \"$OUT/other\"; git -C \"$OUT/other\" config core.fsmonitor \"$EVIL\";
         echo \"$OUT/other/.git\" >\"$(git rev-parse --git-dir)/commondir\"",
        "git -C \"$OUT/other\" status",
    ),
    changed(
        "a nested repository that is staged",
        "git init -q nested; git -C nested commit -q --allow-empty -m nested; git add nested;
         git -C nested config core.fsmonitor \"$EVIL\"",
        "for tree in .sandcastle/worktrees/*/; do git -C \"$tree\" status; done",
    ),
    changed(
        "a nested repository whose folder is elsewhere",
        "git init -q --separate-git-dir=\"$OUT/apart\" nested; git -C nested commit -q --allow-empty -m nested; git add nested;
         git -C nested config core.fsmonitor \"$EVIL\"",
        "for tree in .sandcastle/worktrees/*/; do git -C \"$tree\" status; done",
    ),
    silent("a branch whose name is a command", "git checkout -q -b 'x$(touch${IFS}mark)' 2>/dev/null || true"),
    silent(
        "a nested repository with a monitor",
        "git init -q nested; git -C nested config core.fsmonitor \"$EVIL\"; echo x >nested/x",
    ),
    silent(
        "a submodule with a monitor",
        "git init -q \"$OUT/sub\"; git -C \"$OUT/sub\" commit -q --allow-empty -m sub;
         git -c protocol.file.allow=always submodule --quiet add \"$OUT/sub\" sub && git commit -qm Sub;
         git -C sub config core.fsmonitor \"$EVIL\"; echo x >sub/x",
    ),
    silent(
        "a submodule that is updated by a command",
        "printf '[submodule \"s\"]\\n\\tpath = s\\n\\turl = ./s\\n\\tupdate = !%s\\n' \"$EVIL\" >.gitmodules;
         git add .gitmodules; git commit -qm Modules",
    ),
    silent("a program with the name of git", "cp \"$EVIL\" git; cp \"$EVIL\" \"$ROOT/git\""),
    silent(
        "an address of another protocol in a commit",
        "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -qm Link",
    ),
];

//! What agents plant in git, from inside each sandbox: nothing of it is executed by the host, and nothing of it is there for
//! the user's own git afterwards.

use std::collections::BTreeMap;

use sandcastle::testing::Turn;
use sandcastle::{BranchStrategy, ErrorKind};

use super::super::every::{Kind, kinds};
use super::picture;
use crate::hostile::Trap;
use crate::hostile::vectors::{VECTORS, Vector};

/// What has to be in the git folder of the user as it was.
fn steering(trap: &Trap) -> BTreeMap<String, String> {
    let git = trap.repository.path().join(".git");
    let mut all = BTreeMap::new();
    for folder in ["hooks", "info", "worktrees", "modules", "objects/info"] {
        all.extend(picture(&git.join(folder)));
    }
    for file in ["config", "config.worktree", "shallow", "packed-refs"] {
        all.insert(file.to_owned(), format!("{:?}", std::fs::read(git.join(file)).ok()));
    }
    // Where a shallow clone ends, a log, and the graph of commits change with every commit.
    all.retain(|path, _| !path.contains("commit-graph"));
    all
}

/// Has an agent plant some vectors, each in a shell of its own, as its last deeds.
fn planting(trap: &Trap, vectors: &[&Vector]) -> Turn {
    // Inside there is neither the program nor the folder, if the sandbox is worth its name.
    let begin = "mkdir -p \"$OUT\" 2>/dev/null; [ -e \"$EVIL\" ] || printf '#!/bin/sh\\n' >\"$EVIL\"; chmod +x \"$EVIL\"";
    let work = "sed -i 's/one/ONE/' both.txt; echo made >made.txt; git add --all; git commit -qm Work";
    let mut turn = Turn::new().shell(format!("set -e; {work}"));
    for vector in vectors {
        turn = turn
            .shell(trap.script(&format!("({begin}) 2>/dev/null\n({}\n) 2>/dev/null || true", vector.plant)));
    }
    turn.say("ok")
}

/// Whether it is the trap that the command needs, and no trap of the command's own.
fn is_pure(fires: &str) -> bool {
    !fires.contains("$EVIL") && !fires.contains("$OUT/other")
}

async fn plant(kind: &Kind, vectors: &[&Vector], strategy: BranchStrategy) {
    let trap = Trap::new().await;
    let names: Vec<_> = vectors.iter().map(|vector| vector.name).collect();
    let who = format!("{}, {strategy:?}, {names:?}", kind.name);
    trap.repository.git(["branch", "other"]).await.unwrap();
    let others = ["rev-parse", "other"];
    let other = trap.repository.git(others).await.unwrap();
    let before = steering(&trap);

    let first = sandcastle::run(kind.run(&trap.repository, planting(&trap, vectors), strategy.clone())).await;
    assert_eq!(trap.executed(), "", "{who}: set off by the run that planted it");
    if let Err(error) = &first {
        let kinds = [ErrorKind::RepositoryChanged, ErrorKind::Merge, ErrorKind::Git, ErrorKind::Sync];
        assert!(kinds.contains(&error.kind()), "{who}: {error:#}");
    }
    let again = Turn::new().write_file("again.txt", "1").say("ok");
    let _ = sandcastle::run(kind.run(&trap.repository, again, strategy)).await;
    assert_eq!(trap.executed(), "", "{who}: set off by the next run");

    let is_in_the_tree = |vector: &&&Vector| vector.name == "a nested repository that is staged";
    let refused = first.as_ref().err().is_some_and(|error| error.kind() == ErrorKind::RepositoryChanged);
    assert!(
        refused || vectors.len() > 1 || !vectors.iter().any(|vector| is_in_the_tree(&vector)),
        "{who}: {first:?}"
    );
    let vectors = vectors.iter().filter(|vector| !is_in_the_tree(vector));

    // A worktree is looked at and goes, as it would by a user's hand.
    trap.as_a_user("for tree in .sandcastle/worktrees/*/; do [ -d \"$tree/nested/.git\" ] || git -C \"$tree\" status; done");
    let _ = std::fs::remove_dir_all(trap.repository.path().join(".sandcastle/worktrees"));
    let _ = std::fs::remove_dir_all(trap.repository.path().join("nested"));
    trap.as_a_user("git worktree prune");
    assert_eq!(steering(&trap), before, "{who}");
    assert_eq!(trap.repository.git(others).await.unwrap(), other, "{who}");
    for fires in vectors.filter_map(|vector| vector.fires).filter(|fires| is_pure(fires)) {
        trap.as_a_user(fires);
    }
    assert_eq!(trap.executed(), "", "{who}: set off by the user's git");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn w_1_all_that_is_planted_at_once_from_inside_sets_nothing_off() {
    let all: Vec<_> = VECTORS.iter().collect();
    for kind in kinds().iter().filter(|kind| kind.name != "none") {
        for strategy in [BranchStrategy::merge_to_head(), BranchStrategy::branch("agent/hostile")] {
            plant(kind, &all, strategy).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn w_1_each_thing_that_is_planted_from_inside_sets_nothing_off() {
    for kind in kinds().iter().filter(|kind| kind.name == "bubblewrap") {
        for vector in VECTORS {
            plant(kind, &[vector], BranchStrategy::merge_to_head()).await;
            plant(kind, &[vector], BranchStrategy::head()).await;
        }
    }
}

//! Agents that want the host to delete or to read what is not theirs.

use sandcastle::BranchStrategy;
use sandcastle::testing::Turn;

use super::Trap;

/// Plants something, and expects a folder outside and the host's checkout to be as they were.
async fn spares(name: &str, plant: &str) {
    let trap = Trap::new().await;
    let victim = trap.outside.path().join("victim");
    std::fs::create_dir_all(victim.join("deep")).unwrap();
    std::fs::write(victim.join("deep/precious"), "data").unwrap();
    for strategy in [BranchStrategy::merge_to_head(), BranchStrategy::branch("agent/hostile")] {
        let turn = Turn::new().write_file("made", "1").commit("Work").shell(trap.script(plant)).say("ok");
        let _ = sandcastle::run(trap.options(turn, strategy.clone())).await;
        let again = Turn::new().say("ok");
        let _ = sandcastle::run(trap.options(again, strategy)).await;
        let precious = std::fs::read_to_string(victim.join("deep/precious"));
        assert_eq!(precious.ok().as_deref(), Some("data"), "{name}");
        assert!(trap.repository.path().join("both.txt").exists(), "{name}");
    }
}

#[tokio::test]
async fn w_19_a_worktree_that_became_a_link() {
    spares("a link", "here=$PWD; cd \"$OUT\"; mv \"$here\" moved; ln -s \"$OUT/victim\" \"$here\"").await;
}

#[tokio::test]
async fn a_worktree_with_a_link_inside() {
    spares("a link inside", "ln -s \"$OUT/victim\" inside; ln -s / everything").await;
}

#[tokio::test]
async fn a_worktree_whose_record_points_elsewhere() {
    spares("a record", "echo \"$OUT/victim/.git\" >\"$(git rev-parse --git-dir)/gitdir\"").await;
}

#[tokio::test]
async fn the_folder_of_worktrees_that_became_a_link() {
    let plant = "cd \"$ROOT/.sandcastle\"; mv worktrees \"$OUT/moved-$$\"; ln -s \"$OUT/victim\" worktrees";
    spares("a folder", plant).await;
}

#[tokio::test]
async fn a_configuration_that_cannot_be_read_does_not_hang() {
    for plant in
        ["rm \"$ROOT/.git/config\"; mkfifo \"$ROOT/.git/config\"", "ln -sf /dev/zero \"$ROOT/.git/config\""]
    {
        let trap = Trap::new().await;
        let turn = Turn::new().write_file("made", "1").commit("Work").shell(trap.script(plant)).say("ok");
        let run = sandcastle::run(trap.options(turn, BranchStrategy::merge_to_head()));
        let ended = tokio::time::timeout(std::time::Duration::from_secs(60), run).await;
        assert!(ended.expect("it ends").is_err(), "{plant}");
    }
}

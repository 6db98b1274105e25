//! What a merge has left in files, and where a run works.

use super::place::Place;
use crate::id::CommitId;
use crate::work::Commit;
use crate::worktree::BranchStrategy;

/// What git leaves of a conflict.
const HALF: &str = "1\n<<<<<<< HEAD\nfeature\n=======\nmain\n>>>>>>> origin/main\n3\n";

#[tokio::test]
async fn marks_of_conflicts_are_found_where_the_merge_has_left_them() {
    let place = Place::new().await;
    // A test of merges holds such marks, and a heading is underlined.
    place.author_commits("merges.txt", HALF).await;
    place.author_commits("notes.md", "Notes\n=======\n").await;
    place.publish("feature").await;
    let checkout = place.open().await.unwrap();
    place.git(&["switch", "--quiet", "feature"]).await;
    let names = ["shared.txt", "merges.txt", "notes.md", "ä\nb*.txt", "ä\nbc.txt", ":(top)x", "absent"];
    let names = names.map(str::to_owned);
    assert_eq!(checkout.unresolved(&names).await.unwrap(), [""; 0]);
    for name in ["shared.txt", "ä\nb*.txt", ":(top)x", "other.txt"] {
        place.commits(name, HALF).await;
    }
    place.commits("ä\nbc.txt", "resolved\n").await;
    let mut found = checkout.unresolved(&names).await.unwrap();
    found.sort_unstable();
    assert_eq!(found, [":(top)x", "shared.txt", "ä\nb*.txt"]);
    assert_eq!(checkout.unresolved(&[]).await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn only_commits_that_are_on_the_branch_are_counted() {
    let place = Place::new().await;
    let checkout = place.open().await.unwrap();
    let commit = |sha: &CommitId| Commit::new(sha.clone(), "one");
    place.git(&["switch", "--quiet", "feature"]).await;
    let here = place.commits("one.txt", "1\n").await;
    place.git(&["switch", "--quiet", "-c", "elsewhere"]).await;
    let elsewhere = place.commits("two.txt", "2\n").await;
    let made = [commit(&here), commit(&elsewhere), commit(checkout.start())];
    assert_eq!(checkout.count_of(&made).await.unwrap(), 1);
    assert_eq!(checkout.count_of(&[]).await.unwrap(), 0);
}

#[tokio::test]
async fn a_branch_that_is_checked_out_is_worked_on_in_place_and_another_one_in_a_worktree() {
    let place = Place::new().await;
    let checkout = place.open().await.unwrap();
    assert_eq!(checkout.strategy().await.unwrap(), BranchStrategy::branch("feature"));
    place.git(&["switch", "--quiet", "feature"]).await;
    assert_eq!(checkout.strategy().await.unwrap(), BranchStrategy::head());
}

//! What the branch has, what merging its base would come to, and the merge.

use super::place::Place;
use crate::error::ErrorKind;
use crate::review::{Diff, MergeOutlook};

#[tokio::test]
async fn row_197_the_diff_is_that_of_the_branch_as_it_is_now_from_where_it_left_its_base() {
    let place = Place::new().await;
    let checkout = place.open().await.unwrap();
    let lines = |diff: Vec<u8>| Diff::parse(&diff).unwrap().commentable();
    let before = lines(checkout.diff().await.unwrap());
    assert_eq!(before.paths().collect::<Vec<_>>(), ["feature.txt"]);
    assert_eq!(before.of("feature.txt").unwrap().len(), 2);
    place.git(&["switch", "--quiet", "feature"]).await;
    place.commits("ä \"q\"\tt.txt", "1\n2\n3\n").await;
    let after = lines(checkout.diff().await.unwrap());
    assert_eq!(after.of("ä \"q\"\tt.txt").unwrap().len(), 3, "w_47: counted after the agent's commits");
    assert!(after.of("main.txt").is_none());
}

#[tokio::test]
async fn the_diff_is_the_same_whatever_is_set_up() {
    let place = Place::new().await;
    let checkout = place.open().await.unwrap();
    place.git(&["switch", "--quiet", "feature"]).await;
    place.git(&["mv", "feature.txt", "ö renamed.txt"]).await;
    let long: String = (1..40).map(|line| format!("{line}\n")).collect();
    place.commits("long.txt", &long).await;
    place.commits("long.txt", &long.replace("20\n", "")).await;
    place.commits(".gitattributes", "long.txt diff=x\n").await;
    let before = checkout.diff().await.unwrap();
    for (key, value) in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.renames", "false"),
        ("diff.context", "0"),
        ("diff.interHunkContext", "99"),
        ("diff.algorithm", "patience"),
        ("diff.external", "/bin/false"),
        ("diff.x.textconv", "/bin/false"),
        ("diff.x.command", "/bin/false"),
        ("diff.submodule", "log"),
        ("diff.suppressBlankEmpty", "true"),
        ("diff.orderFile", "/nowhere"),
        ("diff.wordRegex", "."),
        ("color.ui", "always"),
        ("color.diff", "always"),
        ("core.quotePath", "true"),
    ] {
        place.git(&["config", key, value]).await;
    }
    std::fs::write(place.here().join(".git/info/attributes"), "* -diff\n").unwrap();
    std::fs::write(place.here().join(".gitattributes"), "* -diff\n").unwrap();
    assert_eq!(String::from_utf8(checkout.diff().await.unwrap()), String::from_utf8(before.clone()));
    assert!(Diff::parse(&before).unwrap().commentable().of("ö renamed.txt").is_some());
}

#[tokio::test]
async fn a_file_that_the_branch_calls_binary_has_no_lines() {
    let place = Place::new().await;
    let checkout = place.open().await.unwrap();
    place.git(&["switch", "--quiet", "feature"]).await;
    place.commits(".gitattributes", "*.gen -diff\n").await;
    place.commits("made.gen", "1\n").await;
    let lines = Diff::parse(&checkout.diff().await.unwrap()).unwrap().commentable();
    assert!(lines.of("made.gen").unwrap().is_empty() && lines.of(".gitattributes").unwrap().len() == 1);
}

#[tokio::test]
async fn a_merge_that_the_agent_has_made_brings_nothing_of_the_base_into_the_diff() {
    let place = Place::new().await;
    let checkout = place.open().await.unwrap();
    let before = checkout.diff().await.unwrap();
    checkout.merge_base().await.unwrap();
    assert_eq!(checkout.diff().await.unwrap(), before);
    let tip = checkout.push().await.unwrap();
    assert_eq!(place.remote_tip("feature").await, tip);
}

#[tokio::test]
async fn a_base_that_merges_by_itself_is_merged_with_the_files_of_a_checkout() {
    let place = Place::new().await;
    let checkout = place.open().await.unwrap();
    assert_eq!(checkout.outlook().await.unwrap(), MergeOutlook::Clean);
    assert_eq!(checkout.tip().await.unwrap(), *checkout.start(), "asking moves nothing");
    place.git(&["switch", "--quiet", "feature"]).await;
    let merged = checkout.merge_base().await.unwrap();
    assert_eq!(place.here_tip("feature").await, merged);
    let parents = place.git(&["rev-list", "--parents", "-1", &merged]).await;
    assert_eq!(parents, format!("{merged} {} {}", checkout.start(), checkout.base()));
    assert_eq!(
        place.git(&["log", "-1", "--format=%s%n%an", &merged]).await,
        "Merge branch 'origin/main' into feature\nHere"
    );
    assert!(place.here().join("main.txt").exists());
    assert_eq!(place.git(&["status", "--porcelain"]).await, "");
    assert_eq!(checkout.outlook().await.unwrap(), MergeOutlook::UpToDate);
    assert_eq!(checkout.merge_base().await.unwrap(), merged, "there is nothing to do");
}

#[tokio::test]
async fn conflicts_are_named_and_change_nothing() {
    let place = Place::new().await;
    place.author_commits("shared.txt", "1\nfeature\n3\n").await;
    place.author_commits("ä\nb.txt", "feature\n").await;
    place.publish("feature").await;
    place.author.git(["switch", "--quiet", "main"]).await.unwrap();
    place.author_commits("shared.txt", "1\nmain\n3\n").await;
    place.author_commits("ä\nb.txt", "main\n").await;
    place.publish("main").await;
    let checkout = place.open().await.unwrap();
    let before = place.state().await;
    let expected = MergeOutlook::Conflicts(vec!["shared.txt".to_owned(), "ä\nb.txt".to_owned()]);
    assert_eq!(checkout.outlook().await.unwrap(), expected);
    let error = checkout.merge_base().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Merge);
    assert!(error.to_string().contains("conflicts in `shared.txt`"), "{error}");
    assert!(error.hints().concat().contains("git switch feature && git merge origin/main"), "{error:#}");
    assert_eq!(place.state().await, before);
}

#[tokio::test]
async fn an_edit_in_the_way_of_the_merge_is_named_and_stays() {
    let place = Place::new().await;
    let checkout = place.open().await.unwrap();
    place.git(&["switch", "--quiet", "feature"]).await;
    std::fs::write(place.here().join("main.txt"), "mine\n").unwrap();
    let error = checkout.merge_base().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Merge);
    assert!(error.to_string().contains("`main.txt`"), "{error}");
    assert_eq!(std::fs::read_to_string(place.here().join("main.txt")).unwrap(), "mine\n");
    assert_eq!(place.here_tip("feature").await, *checkout.start());
}

#[tokio::test]
async fn a_partial_clone_is_told_what_it_lacks_and_how_it_gets_it() {
    let place = Place::new().await;
    place.author_commits("main.txt", "another\n").await;
    place.publish("feature").await;
    crate::git::print(&place.remote(), ["config", "uploadpack.allowFilter", "true"]).await.unwrap();
    place.clone_with(&["--filter=blob:none", "--no-single-branch", "--no-checkout"]).await;
    let checkout = place.open().await.unwrap();
    let before = place.state().await;
    let refetch = "git fetch --refetch --no-filter origin";
    for error in [checkout.diff().await.unwrap_err(), checkout.outlook().await.unwrap_err()] {
        let hints = error.hints().concat();
        assert!(hints.contains("is a partial clone") && hints.contains(refetch), "{error:#}");
    }
    assert_eq!(place.state().await, before);

    // What the hint says works, and what is wrong then is not that it is a partial clone.
    place.git(&refetch.split(' ').skip(1).collect::<Vec<_>>()).await;
    let lines = Diff::parse(&checkout.diff().await.unwrap()).unwrap().commentable();
    assert_eq!(lines.paths().collect::<Vec<_>>(), ["feature.txt", "main.txt"]);
    assert_eq!(checkout.outlook().await.unwrap(), MergeOutlook::Conflicts(vec!["main.txt".to_owned()]));
    place.git(&["branch", "-D", "feature"]).await;
    let error = checkout.outlook().await.unwrap_err();
    assert!(!error.hints().concat().contains("partial"), "{error:#}");
}

#[tokio::test]
async fn a_branch_that_has_gone_meanwhile_is_told() {
    let place = Place::new().await;
    let checkout = place.open().await.unwrap();
    place.git(&["branch", "-D", "feature"]).await;
    let error = checkout.tip().await.unwrap_err();
    assert!(error.to_string().contains("read the branch `feature`: it has gone"), "{error}");
    assert_eq!(checkout.diff().await.unwrap_err().kind(), ErrorKind::Git);
    assert_eq!(checkout.outlook().await.unwrap_err().kind(), ErrorKind::Merge);
    assert_eq!(checkout.merge_base().await.unwrap_err().kind(), ErrorKind::Merge);
}

//! Git folders whose contents lie: forged indexes, refs without number, folders that came with a commit.

use super::*;

/// Writes an entry into an index that git itself would refuse, and has the index say that its trees are as before.
fn forge(index: &[u8], id: &str, path: &str) -> Vec<u8> {
    let count = u32::from_be_bytes(index[8..12].try_into().unwrap());
    let mut end = 12;
    for _ in 0..count {
        let name = usize::from(u16::from_be_bytes(index[end + 60..end + 62].try_into().unwrap()) & 0xfff);
        end += (62 + name + 8) & !7;
    }
    let mut entry = vec![0; 40];
    entry[24..28].copy_from_slice(&0o100_755_u32.to_be_bytes());
    entry.extend(data_encoding::HEXLOWER.decode(id.as_bytes()).unwrap());
    entry.extend(u16::try_from(path.len()).unwrap().to_be_bytes());
    entry.extend(path.as_bytes());
    entry.resize((entry.len() + 8) & !7, 0);
    // The tree of everything says how many entries it has.
    assert_eq!(&index[end..end + 4], b"TREE");
    let said = String::from_utf8_lossy(&index[end + 9..]).split(' ').next().unwrap().to_owned();
    let more = (said.parse::<u32>().unwrap() + 1).to_string();
    assert_eq!(more.len(), said.len());
    let rest = &index[end + 9 + said.len()..index.len() - 20];
    let head = [&index[..8], (count + 1).to_be_bytes().as_slice()].concat();
    [&head, &entry, &index[12..end], &index[end..end + 9], more.as_bytes(), rest, &[0; 20]].concat()
}

#[tokio::test]
async fn an_index_that_would_write_into_a_git_folder_is_not_taken_over() {
    for (path, is_left_out) in [(".git/hooks/post-checkout", false), ("zzz", true)] {
        let scene = Scene::in_place().await;
        scene.commits("new.txt", "new\n").await;
        let tree = scene.inside(&["write-tree"]).await;
        fs::write(scene.stand_in.folder().join("evil"), "#!/bin/sh\n").unwrap();
        let evil = scene.stand_in.folder().join("evil");
        let id = scene.inside(&["hash-object", "-w", evil.to_str().unwrap()]).await;
        scene.inside(&["tag", "evil", &id]).await;
        let index = fs::read(scene.own().join("index")).unwrap();
        fs::write(scene.own().join("index"), forge(&index, &id, path)).unwrap();
        // Git believes it.
        assert!(scene.inside(&["ls-files"]).await.contains(path));
        assert_eq!(scene.inside(&["write-tree"]).await, tree);
        let notes = scene.stand_in.bring_back().await.unwrap();
        assert_eq!(notes.iter().any(|note| note.contains("staged")), is_left_out, "{notes:?}");
        assert_eq!(scene.outside(&["cat-file", "-t", &id]).await, "blob");
        assert_eq!(scene.outside(&["ls-files"]).await, "README.md\nnew.txt");
        scene.outside(&["checkout-index", "-fa"]).await;
        assert!(!scene.top().join(path).exists());
    }
}

#[tokio::test]
async fn a_file_that_is_to_be_added_later_is_not_staged_and_an_empty_one_is() {
    let scene = Scene::linked().await;
    for file in ["empty", "later"] {
        fs::write(scene.top().join(file), "").unwrap();
    }
    scene.inside(&["add", "empty"]).await;
    scene.inside(&["add", "-N", "later"]).await;
    assert_eq!(scene.stand_in.bring_back().await.unwrap(), [""; 0]);
    assert_eq!(scene.outside(&["status", "--porcelain"]).await, "A  empty\n?? later");
    // It was levelled, so that what the user stages meanwhile stays.
    let index = |git: PathBuf| fs::read(git.join("index")).unwrap();
    assert_eq!(index(scene.own()), index(scene.repository.git_dir().to_path_buf()));
}

#[tokio::test]
async fn many_refs_are_taken_over_at_once_and_too_many_are_refused() {
    for (count, is_taken) in [(3_000, true), (100_000, false)] {
        let scene = Scene::linked().await;
        let id = scene.commits("new.txt", "new\n").await;
        let refs = (0..count).map(|number| format!("{id} refs/heads/many/{number:06}\n"));
        let notes = (0..30).map(|number| format!("{id} refs/notes/many/{number}\n"));
        let packed = fs::read_to_string(scene.stand_in.git().join("packed-refs")).unwrap();
        let packed: String = std::iter::once(packed).chain(refs).chain(notes).collect();
        fs::write(scene.stand_in.git().join("packed-refs"), packed).unwrap();
        let limit = std::time::Duration::from_secs(30);
        let brought = tokio::time::timeout(limit, scene.stand_in.bring_back()).await.unwrap();
        let branches = scene.outside(&["for-each-ref", "refs/heads/many"]).await.lines().count();
        assert_eq!(branches, if is_taken { count } else { 0 });
        match brought {
            Ok(notes) => assert!(is_taken && notes.len() == 21, "{notes:?}"),
            Err(error) => assert!(!is_taken && error.to_string().contains("100031 refs"), "{error}"),
        }
    }
}

#[tokio::test]
async fn a_folder_that_came_with_a_commit_moves_nothing() {
    let scene = Scene::linked().await;
    let any = Repository::discover(scene.host.path()).await.unwrap();
    let place = scene.host.path().join(".sandcastle/sandboxes/1-evil");
    fs::create_dir_all(&place).unwrap();
    let evil = StandIn::make(&place.join("made"), Original { repository: &any, seen: None, run: None })
        .await
        .unwrap();
    let mut known: serde_json::Value =
        serde_json::from_slice(&fs::read(evil.folder().join(KNOWN)).unwrap()).unwrap();
    known["owner"] = serde_json::json!({ "pid": u32::MAX });
    known["level"]["own"] = serde_json::json!(["refs/heads/other"]);
    fs::rename(evil.git(), place.join(GIT)).unwrap();
    fs::write(place.join(KNOWN), known.to_string()).unwrap();
    // Of its own it is believed.
    assert!(matches!(StandIn::left_in(&place, &any).await, Ok(Some(Left::Abandoned(..)))));
    scene.host.git(["add", "-f", ".sandcastle/sandboxes/1-evil/known.json"]).await.unwrap();
    let error = StandIn::left_in(&place, &any).await.unwrap_err();
    assert!(error.to_string().contains("came with a commit"), "{error}");
    // Nor does a link lead anywhere.
    scene.host.git(["reset", "-q"]).await.unwrap();
    fs::rename(place.join(GIT), place.join("elsewhere")).unwrap();
    symlink("elsewhere", place.join(GIT)).unwrap();
    let Ok(Some(Left::Abandoned(left, _))) = StandIn::left_in(&place, &any).await else { panic!() };
    assert!(left.bring_back().await.unwrap_err().to_string().contains("cannot be read"));
}

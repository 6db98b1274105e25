//! Sessions that are brought from place to place.

use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn a_session_is_brought_with_its_folder_respelled() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    let odd = "{\"cwd\":\"/sandbox/below\"}\nnot json\n\n{\"cwd\" :\"/sandbox\"";
    let source = from.write(format!("{}{odd}", line(1, "/sandbox")));
    let before = fs::read(&source).unwrap();

    let transfer = bring(&from, &to).unwrap().unwrap();
    assert_eq!(transfer, SessionTransfer::new(to.session(), TransferOutcome::Written));
    assert_eq!(to.read(), format!("{}{odd}", line(1, "/host")));
    assert_eq!(fs::read(&source).unwrap(), before);
    assert_eq!(tree(&to.home()), [to.session()], "no temporary file is left");
}

#[test]
fn w_23_what_is_written_is_private() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    fs::set_permissions(from.write(line(1, "/sandbox")), fs::Permissions::from_mode(0o666)).unwrap();
    bring(&from, &to).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&to.session()), 0o600);
    for folder in to.session().ancestors().skip(1).take_while(|path| *path != to.home()) {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
}

#[test]
fn w_35_what_is_written_belongs_to_the_owner_of_the_home() {
    use std::os::unix::fs::{MetadataExt, chown};
    let (from, to) = (Place::new("/host"), Place::new("/sandbox"));
    from.write(line(1, "/host"));
    // Only `root` can give a folder away, and only for `root` is there anything to do.
    if chown(to.folder.path(), Some(4711), Some(4712)).is_err() {
        return;
    }
    bring(&from, &to).unwrap();
    for path in to.session().ancestors().take_while(|path| *path != to.home()) {
        let metadata = fs::metadata(path).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (4711, 4712), "{}", path.display());
    }
}

#[test]
fn a_session_goes_to_and_fro_and_grows() {
    let (host, sandbox) = (Place::new("/host"), Place::new("/sandbox"));
    host.write(lines(1..3, "/host"));
    assert_eq!(outcome(bring(&host, &sandbox)), TransferOutcome::Written);
    assert_eq!(sandbox.read(), lines(1..3, "/sandbox"));
    sandbox.write(lines(1..5, "/sandbox"));
    assert_eq!(outcome(bring(&sandbox, &host)), TransferOutcome::Written);
    assert_eq!(host.read(), lines(1..5, "/host"));
    assert_eq!(outcome(bring(&sandbox, &host)), TransferOutcome::UpToDate);
    // Another sandbox, in which the folder has another name.
    let second = Place::new("/second");
    bring(&host, &second).unwrap();
    second.write(lines(1..9, "/second"));
    assert_eq!(outcome(bring(&second, &host)), TransferOutcome::Written);
    assert_eq!(host.read(), lines(1..9, "/host"));
}

#[test]
fn a_session_that_is_further_is_not_overwritten() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    from.write(lines(1..3, "/sandbox"));
    let further = format!("{}{}", lines(1..3, "/host"), line(3, "/sandbox"));
    to.write(&further);
    assert_eq!(outcome(bring(&from, &to)), TransferOutcome::UpToDate);
    assert_eq!(to.read(), further);
}

#[test]
fn a_session_that_went_on_in_both_places_is_left_and_said_to_be() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    from.write(format!("{}{}", line(1, "/sandbox"), line(2, "/sandbox")));
    let other = format!("{}{}", line(1, "/host"), line(7, "/host"));
    to.write(&other);
    assert_eq!(outcome(bring(&from, &to)), TransferOutcome::Parted);
    assert_eq!(to.read(), other);
    assert_eq!(tree(&to.home()), [to.session()]);
}

#[test]
fn a_torn_end_is_brought_and_then_overtaken() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    let whole = line(2, "/sandbox");
    from.write(format!("{}{}", line(1, "/sandbox"), &whole[..whole.len() - 5]));
    bring(&from, &to).unwrap();
    assert!(to.read().ends_with(&whole[..whole.len() - 5]));
    from.write(lines(1..4, "/sandbox"));
    assert_eq!(outcome(bring(&from, &to)), TransferOutcome::Written);
    assert_eq!(to.read(), lines(1..4, "/host"));
}

#[test]
fn states_that_are_brought_at_once_leave_a_whole_one() {
    let to = Place::new("/host");
    let states: Vec<Place> = (0..8).map(|_| Place::new("/sandbox")).collect();
    for (count, state) in (10..).step_by(10).zip(&states) {
        state.write(lines(0..count, "/sandbox"));
    }
    std::thread::scope(|threads| {
        for state in &states {
            // One that lost to all the others says so, and is brought by the next turn.
            threads.spawn(|| {
                bring(state, &to)
                    .map_or_else(|error| assert!(refused(Err(error)).contains("by somebody else")), drop)
            });
        }
    });
    let brought = to.read();
    assert_eq!(brought, lines(0..brought.lines().count() as u32, "/host"));
    assert_eq!(tree(&to.home()), [to.session()]);
    assert!(bring(states.last().unwrap(), &to).unwrap().is_some());
    assert_eq!(to.read(), lines(0..80, "/host"));
}

#[test]
fn a_place_to_itself_is_nothing_to_do() {
    let place = Place::new("/host");
    place.write(line(1, "/host"));
    assert_eq!(outcome(bring(&place, &place)), TransferOutcome::UpToDate);
    assert_eq!(place.read(), line(1, "/host"));
    // By another name of the same home.
    let mut alias = Place::new("/host");
    fs::remove_dir(alias.folder.path()).unwrap();
    std::os::unix::fs::symlink(place.home(), alias.folder.path()).unwrap();
    assert_eq!(outcome(bring(&alias, &place)), TransferOutcome::UpToDate);
    assert_eq!(place.read(), line(1, "/host"));
    fs::remove_file(alias.folder.path()).unwrap();
    alias.folder.disable_cleanup(true);
}

#[test]
fn w_22_a_session_of_a_worktree_that_is_gone_is_brought_within_its_home() {
    let worktree = Place::new("/worktree/that/is/gone");
    worktree.write(line(1, worktree.cwd));
    let here = Place { folder: worktree.folder, cwd: "/repository", env: Vec::new() };
    assert_eq!(outcome(bring(&here, &here)), TransferOutcome::Written);
    assert_eq!(here.read(), line(1, "/repository"));
}

#[test]
fn the_copy_that_went_on_furthest_is_brought() {
    let here = Place::new("/repository");
    here.write(lines(1..3, "/repository"));
    // Longer by its name alone, shorter by its name alone, and one that parted.
    let longer = "/a/folder/with/a/very/long/name/that/makes/it/longer/than/the/others";
    write(&here.path(&format!(".claude/projects/-longer/{ID}.jsonl")), line(1, longer));
    write(&here.path(&format!(".claude/projects/-w/{ID}.jsonl")), lines(1..4, "/w"));
    write(&here.path(&format!(".claude/projects/-x/{ID}.jsonl")), lines([1, 2, 8, 9, 10, 11], "/x"));
    assert_eq!(outcome(bring(&here, &here)), TransferOutcome::Written);
    let brought = here.read();
    assert!([lines(1..4, "/repository"), lines([1, 2, 8, 9, 10, 11], "/repository")].contains(&brought));
    assert_eq!(outcome(bring(&here, &here)), TransferOutcome::UpToDate);
    assert_eq!(here.read(), brought);
}

#[test]
fn transcripts_of_sub_agents_come_along_in_both_directions() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    from.write(line(1, "/sandbox"));
    let below = |place: &Place, path: &str| place.session().with_extension("").join("subagents").join(path);
    for name in ["agent-a.jsonl", "deep/er/agent-b.jsonl"] {
        write(&below(&from, name), line(1, "/sandbox"));
    }
    write(&below(&from, "agent-a.meta.json"), "{}");
    write(&below(&from, "other.jsonl"), "other");
    let transfer = bring(&from, &to).unwrap().unwrap();
    assert_eq!((transfer.sub_agents, transfer.notes.len()), (2, 0));
    for name in ["agent-a.jsonl", "deep/er/agent-b.jsonl"] {
        assert_eq!(fs::read_to_string(below(&to, name)).unwrap(), line(1, "/host"));
    }
    assert!(below(&to, "agent-a.meta.json").exists() && !below(&to, "other.jsonl").exists());

    let back = Place::new("/again");
    let transfer = bring(&to, &back).unwrap().unwrap();
    assert_eq!(transfer.sub_agents, 2);
    assert_eq!(fs::read_to_string(below(&back, "agent-a.jsonl")).unwrap(), line(1, "/again"));
}

#[test]
fn a_transcript_that_cannot_be_brought_costs_nothing_else() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    from.write(line(1, "/sandbox"));
    let folder = from.session().with_extension("").join("subagents");
    write(&folder.join("agent-good.jsonl"), "{}\n");
    std::os::unix::fs::symlink("/etc/hostname", folder.join("agent-link.jsonl")).unwrap();
    let transfer = bring(&from, &to).unwrap().unwrap();
    assert_eq!((transfer.outcome, transfer.sub_agents), (TransferOutcome::Written, 1));
    assert!(transfer.notes[0].contains("agent-link.jsonl` was left behind"), "{:?}", transfer.notes);
}

#[test]
fn codex_keeps_the_day_of_a_session() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    let name = format!(".codex/sessions/2026/11/30/rollout-2026-11-30T03-21-31-{ID}.jsonl");
    let meta = |cwd: &str| format!("{{\"type\":\"session_meta\",\"payload\":{{\"cwd\":\"{cwd}\"}}}}\n");
    let context = "{\"type\":\"turn_context\",\"payload\":{\"cwd\":\"/sandbox\"}}\n";
    write(&from.path(&name), format!("{}{context}", meta("/sandbox")));
    let codex = Codex::new("");
    let transfer = bring_for(&codex, &from, &to).unwrap().unwrap();
    assert_eq!(transfer, SessionTransfer::new(to.path(&name), TransferOutcome::Written));
    assert_eq!(fs::read_to_string(to.path(&name)).unwrap(), format!("{}{context}", meta("/host")));
    assert_eq!(outcome(bring_for(&codex, &from, &to)), TransferOutcome::UpToDate);
    let elsewhere = Place { folder: to.folder, cwd: "/elsewhere", env: Vec::new() };
    assert_eq!(outcome(bring_for(&codex, &elsewhere, &elsewhere)), TransferOutcome::UpToDate);
}

#[test]
fn codex_goes_on_in_the_file_that_is_there() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    let name = |day| format!(".codex/sessions/2026/11/{day}/rollout-2026-11-{day}T03-21-31-{ID}.jsonl");
    write(&from.path(&name(30)), lines(1..3, "/sandbox"));
    write(&to.path(&name(29)), line(1, "/host"));
    let transfer = bring_for(&Codex::new(""), &from, &to).unwrap().unwrap();
    assert_eq!(transfer, SessionTransfer::new(to.path(&name(29)), TransferOutcome::Written));
    assert_eq!(tree(&to.home()), [to.path(&name(29))]);
}

#[test]
fn codex_ids_are_whole() {
    let place = Place::new("/host");
    write(&place.path(&format!(".codex/sessions/2026/11/30/rollout-2026-11-30T03-21-31-{ID}.jsonl")), "");
    let codex = Codex::new("");
    for part in ["0b737afdf681", "903a-0b737afdf681", "30T03-21-31-f6e43651-ba73-4658-903a-0b737afdf681"] {
        assert_eq!(codex.session_file(&SessionId::new(part).unwrap(), &place.place()), None, "{part}");
    }
    assert!(codex.session_file(&SessionId::new(ID).unwrap(), &place.place()).is_some());
}

#[test]
fn a_session_that_is_not_there_is_not_brought() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    for agent in [&ClaudeCode::new("") as &dyn Agent, &Codex::new("")] {
        assert_eq!(bring_for(agent, &from, &to).unwrap(), None);
    }
    write(&from.path(".claude/projects/-other/other.jsonl"), "");
    assert_eq!(bring(&from, &to).unwrap(), None);
    assert_eq!(tree(&to.home()), [] as [PathBuf; 0]);
}

#[test]
fn folders_that_a_variable_names_are_used() {
    let (mut from, mut to) = (Place::new("/sandbox"), Place::new("/host"));
    let config = tempfile::tempdir().unwrap();
    from.write(line(1, "/sandbox"));
    from.env = vec![("CLAUDE_CONFIG_DIR".into(), from.path(".claude").into())];
    to.env = vec![("CLAUDE_CONFIG_DIR".into(), config.path().join("not/there/yet").into())];
    let transfer = bring(&from, &to).unwrap().unwrap();
    assert!(transfer.file.ends_with(format!("not/there/yet/projects/-host/{ID}.jsonl")));
    assert_eq!(fs::read_to_string(transfer.file).unwrap(), line(1, "/host"));
    assert_eq!(tree(&to.home()), [] as [PathBuf; 0]);
}

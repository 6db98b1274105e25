//! However a text is split, the same is shown; and what is shown is what the plainest algorithm shows.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// Masks by looking for every needle at every place.
fn plainest(needles: &[String], text: &str) -> String {
    let mut secret = vec![false; text.len()];
    for needle in needles {
        for at in 0..text.len() {
            if text.as_bytes()[at..].starts_with(needle.as_bytes()) {
                secret[at..at + needle.len()].fill(true);
            }
        }
    }
    let mut shown = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match (secret[at], at > 0 && secret[at - 1]) {
            (false, _) => shown.push(byte),
            (true, false) => shown.extend_from_slice(MASK.as_bytes()),
            (true, true) => {}
        }
    }
    String::from_utf8(shown).unwrap()
}

fn in_pieces(secrets: &Secrets, text: &str, cuts: &[usize]) -> String {
    let mut masker = Masker::new(secrets);
    let mut shown = String::new();
    let mut cuts: Vec<usize> =
        cuts.iter().map(|cut| text.floor_char_boundary(cut % (text.len() + 1))).collect();
    cuts.sort_unstable();
    let mut at = 0;
    for cut in cuts.into_iter().chain([text.len()]) {
        masker.push(&text[at..cut], &mut shown);
        at = cut;
    }
    masker.finish(&mut shown);
    shown
}

proptest! {
    #[test]
    fn any_split_shows_the_same(
        needles in prop::collection::vec("[abä]{4,9}", 1..5),
        text in "[abäc]{0,60}",
        cuts in prop::collection::vec(0_usize..200, 0..12),
    ) {
        let secrets = Secrets::declared(&needles).unwrap();
        let whole = secrets.mask(&text).into_owned();
        prop_assert_eq!(&in_pieces(&secrets, &text, &cuts), &whole);
        prop_assert_eq!(&plainest(&needles, &text), &whole);
    }

    #[test]
    fn any_secret_in_any_text_is_gone(
        secret in "\\PC{6,40}",
        (before, behind) in ("\\PC{0,20}", "\\PC{0,20}"),
        cuts in prop::collection::vec(0_usize..200, 0..6),
    ) {
        let trimmed = secret.trim();
        prop_assume!(trimmed.len() >= 6 && !MASK.contains(trimmed));
        let secrets = Secrets::declared([&secret]).unwrap();
        let json = serde_json::to_string(&format!("{before}{secret}{behind}")).unwrap();
        for text in [format!("{before}{secret}{behind}"), json] {
            let shown = in_pieces(&secrets, &text, &cuts);
            prop_assert!(shown.contains(MASK), "{} is shown as {}", text, shown);
            prop_assert_eq!(shown, secrets.mask(&text).into_owned());
        }
    }
}

#[test]
fn a_hostile_text_takes_linear_time() {
    let secrets = Secrets::declared(["a".repeat(1000), "a".repeat(500) + "b"]).unwrap();
    let begun = Instant::now();
    let mut masker = Masker::new(&secrets);
    let mut shown = String::new();
    let text = "a".repeat(4 * 1024 * 1024);
    for piece in text.as_bytes().chunks(100) {
        masker.push(std::str::from_utf8(piece).unwrap(), &mut shown);
    }
    masker.finish(&mut shown);
    assert_eq!(shown, MASK);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

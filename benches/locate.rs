//! Measures the locator against one plain memory search over the same bytes, and its growth on hostile text.
//!
//! Run with `cargo bench --bench locate`. Prints one line for each measurement; the ratio is the share of the speed of
//! the plain search that is left.

#![expect(clippy::print_stdout, reason = "a bench reports on the terminal")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use memchr::memmem;
use sandcastle::output::OutputFormat;
use sandcastle::output::locate::Locator;

const SIZE: usize = 64 << 20;
const ROUNDS: usize = 5;

fn main() {
    let text = transcript();
    let search = fastest(|| memmem::find_iter(black_box(text.as_bytes()), "<result>").count());
    println!("memmem            {:>8.0} MiB/s", rate(search));
    for (name, piece) in [("one giant piece", SIZE), ("64 KiB pieces", 64 << 10), ("4 KiB pieces", 4 << 10)] {
        let locate = fastest(|| run(black_box(&text), piece));
        println!(
            "{name:<17} {:>8.0} MiB/s  ratio {:.2}",
            rate(locate),
            search.as_secs_f64() / locate.as_secs_f64()
        );
    }
    println!("{:<32} {:>12} {:>12} {:>7}", "hostile text", "half", "whole", "growth");
    for (name, unit, count) in hostile() {
        let (half, whole) = (unit.repeat(count / 2), unit.repeat(count));
        let half = fastest(|| run(black_box(&half), 4 << 10));
        let whole = fastest(|| run(black_box(&whole), 4 << 10));
        let growth = whole.as_secs_f64() / half.as_secs_f64();
        println!("{name:<32} {half:>12.2?} {whole:>12.2?} {growth:>7.2}");
    }
}

/// Prose with a tag now and then, and the answer at the end.
fn transcript() -> String {
    let paragraph = "The function reads the configuration and returns `None` if a < b and c > d; see \u{201c}notes\u{201d}.\n\
                     I ran the tests again, all of them pass, and I will go on with the next file in the list.\n";
    let mut text = paragraph.repeat(SIZE / paragraph.len());
    text.push_str("<result>\n```json\n{\"summary\": \"a </result> b\", \"score\": 7}\n```\n</result>\n");
    text
}

fn hostile() -> [(&'static str, &'static str, usize); 6] {
    [
        ("a million openers", "<result>", 1_000_000),
        ("a million attempts", "<result>[", 1_000_000),
        ("openers in strings", "<result>[\"", 1_000_000),
        ("fences on one line", "<result>```x", 1_000_000),
        ("escaped openers in one string", "\"<result>{\\\"", 1_000_000),
        ("good blocks", "<result>{}</result>", 500_000),
    ]
}

fn run(text: &str, piece: usize) -> bool {
    let mut locator = Locator::new("result", OutputFormat::Json);
    let mut rest = text;
    while !rest.is_empty() {
        let (head, tail) = rest.split_at(rest.floor_char_boundary(piece));
        locator.push(head);
        rest = tail;
    }
    locator.finish().is_ok()
}

fn fastest<T>(mut run: impl FnMut() -> T) -> Duration {
    let time = |run: &mut dyn FnMut() -> T| {
        let begin = Instant::now();
        black_box(run());
        begin.elapsed()
    };
    (0..ROUNDS).map(|_| time(&mut run)).min().unwrap_or_default()
}

fn rate(time: Duration) -> f64 {
    (SIZE >> 20) as f64 / time.as_secs_f64()
}

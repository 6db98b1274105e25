//! The locator on any text, cut anywhere: no panic, and where the text is cut makes no difference.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sandcastle_core::OutputFormat;
use sandcastle_core::output::locate::Locator;

fuzz_target!(|input: (String, Vec<u8>)| {
    let (text, cuts) = input;
    for format in [OutputFormat::Json, OutputFormat::Text] {
        let whole = locate(format, [text.as_str()]);
        assert_eq!(whole, locate(format, pieces(&text, &cuts)));
    }
});

fn locate<'t>(format: OutputFormat, pieces: impl IntoIterator<Item = &'t str>) -> Result<String, String> {
    let mut locator = Locator::new("r", format);
    for piece in pieces {
        locator.push(piece);
    }
    match locator.finish() {
        Ok(block) => Ok(block.into_string()),
        Err(error) => Err(format!("{error:#}{}", error.feedback(1))),
    }
}

fn pieces<'t>(text: &'t str, cuts: &[u8]) -> Vec<&'t str> {
    let mut rest = text;
    let mut pieces = Vec::new();
    for cut in cuts {
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(usize::from(*cut)));
        pieces.push(piece);
        rest = behind;
    }
    pieces.push(rest);
    pieces
}

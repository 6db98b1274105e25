//! The forms in which a secret is printed: as it is, and as JSON, URLs and headers write it.

use std::collections::BTreeMap;

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, Encoding};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{SHORTEST, SHORTEST_DECLARED};

/// The longest text that is looked for as a whole; longer secrets are looked for piece by piece. It bounds what has to be
/// held back of a text.
const LONGEST: usize = 1024;

/// What a URL leaves as it is.
const IN_URLS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Says why a value is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// Its variable looks secret.
    Guessed,
    /// It was declared.
    Declared,
}

impl Origin {
    fn shortest(self) -> usize {
        match self {
            Self::Guessed => SHORTEST,
            Self::Declared => SHORTEST_DECLARED,
        }
    }
}

/// Adds all forms of a secret to what is looked for, and tells whether it is long enough to be looked for.
pub(super) fn add(value: &str, origin: Origin, needles: &mut BTreeMap<String, Origin>) -> bool {
    let mut note = |form: &str, shortest: usize| {
        if form.len() < shortest {
            return false;
        }
        let noted = needles.entry(form.to_owned()).or_insert(origin);
        *noted = origin.max(*noted);
        true
    };
    let mut any = false;
    for piece in pieces(value) {
        if !note(piece, origin.shortest()) {
            continue;
        }
        any = true;
        encodings(piece).iter().for_each(|form| _ = note(form, SHORTEST.max(origin.shortest())));
    }
    // The lines of a secret are found one by one, but not where it is one line of Base64.
    if value.contains('\n') {
        for piece in chunks(value) {
            in_base64(piece).iter().for_each(|form| _ = note(form, SHORTEST));
        }
    }
    any
}

/// Cuts a value into what is looked for: its lines, and those into pieces that are not too long.
fn pieces(value: &str) -> impl Iterator<Item = &str> {
    // A line around a key in PEM is the same for all keys.
    let is_secret = |line: &&str| !(line.starts_with("-----") && line.ends_with("-----"));
    value.lines().map(str::trim).filter(is_secret).flat_map(chunks)
}

/// Cuts a text into pieces of at most about [`LONGEST`] bytes; no piece is much shorter, so that none is too short.
fn chunks(text: &str) -> Vec<&str> {
    let mut rest = text;
    let mut chunks = Vec::new();
    while rest.len() > 2 * LONGEST {
        let (chunk, behind) = rest.split_at(rest.floor_char_boundary(LONGEST));
        chunks.push(chunk);
        rest = behind;
    }
    chunks.push(rest);
    chunks
}

fn encodings(text: &str) -> Vec<String> {
    let once = in_json(text);
    let url = utf8_percent_encode(text, IN_URLS).to_string();
    let mut forms = vec![
        in_json(&once),
        once.replace('/', "\\/"),
        in_ascii(&once),
        in_json(&in_ascii(&once)),
        text.escape_debug().to_string(),
        url.replace("%20", "+"),
        lower_escapes(&url),
        url,
        once,
    ];
    forms.extend(in_base64(text));
    forms
}

/// Writes a text as it is between the quotes of JSON.
fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Escapes what is not ASCII as many writers of JSON do.
fn in_ascii(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    let mut units = [0; 2];
    for c in json.chars() {
        if c.is_ascii() {
            ascii.push(c);
        } else {
            c.encode_utf16(&mut units).iter().for_each(|unit| ascii.push_str(&format!("\\u{unit:04x}")));
        }
    }
    ascii
}

/// Writes the digits of percent escapes in lower case.
fn lower_escapes(url: &str) -> String {
    let mut digits = 0;
    let lower = |c: char| {
        if c == '%' {
            digits = 2;
            return c;
        }
        let in_escape = digits > 0;
        digits -= u8::from(in_escape);
        if in_escape { c.to_ascii_lowercase() } else { c }
    };
    url.chars().map(lower).collect()
}

/// Writes a text as it is in the middle of Base64, in both alphabets and at each of the three offsets that it can have there.
///
/// The characters at its ends that other bytes have a part in are left off.
fn in_base64(text: &str) -> Vec<String> {
    let aligned = |encoding: &Encoding, offset: usize| {
        let mut bytes = vec![0; offset];
        bytes.extend_from_slice(text.as_bytes());
        let encoded = encoding.encode(&bytes);
        let shared_before = if offset == 0 { 0 } else { offset + 1 };
        let shared_behind = usize::from(!bytes.len().is_multiple_of(3));
        encoded.get(shared_before..encoded.len() - shared_behind).unwrap_or_default().to_owned()
    };
    let at = |offset| [aligned(&BASE64_NOPAD, offset), aligned(&BASE64URL_NOPAD, offset)];
    (0..3).flat_map(at).collect()
}

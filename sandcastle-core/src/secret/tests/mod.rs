//! What is masked, in which forms, and that no split of a text changes it.

mod split;

use super::*;

fn declared(value: &str) -> Secrets {
    Secrets::declared([value]).unwrap()
}

fn variables(variables: &[(&str, &str)]) -> Secrets {
    Secrets::of([""; 0], variables.iter().copied()).unwrap()
}

#[test]
fn case_181_the_value_of_a_variable_that_looks_secret_is_masked() {
    let secrets = variables(&[("TOKEN", "s3cret"), ("LANG", "en_US.UTF-8")]);
    assert_eq!(secrets.mask("TOKEN=s3cret\nLANG=en_US.UTF-8"), "TOKEN=***\nLANG=en_US.UTF-8");
}

#[test]
fn every_form_is_masked() {
    let value = "p\"ä/s s+w\\0rd";
    let secrets = declared(value);
    let json = serde_json::to_string(value).unwrap();
    let twice = serde_json::to_string(&json).unwrap();
    let forms = [
        value.to_owned(),
        json.clone(),
        twice,
        r#""p\"\u00e4\/s""#.replace("\\/s", "/s s+w\\\\0rd"),
        json.replace('/', "\\/"),
        "p%22%C3%A4%2Fs%20s%2Bw%5C0rd".to_owned(),
        "p%22%c3%a4%2fs%20s%2bw%5c0rd".to_owned(),
        "p%22%C3%A4%2Fs+s%2Bw%5C0rd".to_owned(),
        format!("{value:?}"),
    ];
    for form in forms {
        let shown = secrets.mask(&form).into_owned();
        assert!(shown.trim_matches(['"', '\\']) == MASK, "{form} is shown as {shown}");
    }
}

#[test]
fn base64_is_masked_wherever_the_secret_is_in_it() {
    let secrets = declared("correct horse battery");
    for before in ["", "u", "us", "use", "user:"] {
        for behind in ["", "\n", "!!"] {
            let encoded =
                data_encoding::BASE64.encode(format!("{before}correct horse battery{behind}").as_bytes());
            let shown = secrets.mask(&encoded).into_owned();
            assert!(shown.contains(MASK) && shown.len() < 20, "{encoded} is shown as {shown}");
        }
    }
}

#[test]
fn a_secret_of_several_lines_is_masked_line_by_line() {
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END PRIVATE KEY-----\n";
    let secrets = declared(key);
    assert_eq!(secrets.mask("> kqhkiG9w0BAQEF"), "> ***");
    let json = serde_json::to_string(key).unwrap();
    let shown = secrets.mask(&json).into_owned();
    assert!(!shown.contains("MIIE") && !shown.contains("kqhki"), "{shown}");
}

#[test]
fn secrets_that_overlap_are_masked_together() {
    let secrets = Secrets::declared(["abcdef", "defghi", "abc"]).unwrap();
    assert_eq!(secrets.mask("<abcdefghi>"), "<***>");
    assert_eq!(secrets.mask("<abcdefabcdef>"), "<***>");
    assert_eq!(secrets.mask("abc"), "abc", "three bytes are too few");
}

#[test]
fn a_text_without_secrets_is_not_copied() {
    let secrets = declared("hunter22");
    assert!(matches!(secrets.mask("nothing here"), Cow::Borrowed(_)));
    assert!(matches!(Secrets::none().mask("hunter22"), Cow::Borrowed(_)));
    assert!(matches!(secrets.mask_cut("nothing here"), Cow::Borrowed(_)));
}

#[test]
fn where_a_text_was_cut_off_the_beginning_of_a_secret_is_hidden() {
    let secrets = declared("hunter22hunter33");
    assert_eq!(secrets.mask_cut("x hunter22hun"), "x ***");
    assert_eq!(secrets.mask_cut("x hun"), "x hun");
}

#[test]
fn debug_shows_the_count() {
    let secrets = Secrets::of(["hunter22"], [("API_KEY", "s3cret"), ("DB", "pg://u:pa55word@h")]).unwrap();
    assert_eq!(format!("{secrets:?}"), "Secrets(3)");
    assert_eq!(format!("{:?}", Secrets::none()), "Secrets(0)");
    let mut masker = Masker::new(&secrets);
    masker.push("hunter", &mut String::new());
    assert_eq!(format!("{masker:?}"), "Masker { secrets: Secrets(3), held: 6, .. }");
}

#[test]
fn a_long_secret_is_hidden_whole_and_little_is_held_back() {
    let long: String = (0..20_000_u32).map(|n| char::from(b'a' + (n * n % 23) as u8)).collect();
    let secrets = declared(&long);
    assert_eq!(secrets.mask(&format!("<{long}>")), "<***>");
    let mut masker = Masker::new(&secrets);
    let mut shown = String::new();
    for piece in long.as_bytes().chunks(7) {
        masker.push(std::str::from_utf8(piece).unwrap(), &mut shown);
        let held = format!("{masker:?}").split("held: ").nth(1).unwrap().replace(", .. }", "");
        assert!(held.parse::<usize>().unwrap() <= 4096, "{masker:?}");
    }
    masker.finish(&mut shown);
    assert_eq!(shown, MASK);
}

#[test]
fn w_43_a_secret_in_an_argument_is_found() {
    let secrets = Secrets::of(["hunter22"], [("API_KEY", "s3cret")]).unwrap();
    let args = |args: &[&str]| args.iter().map(std::ffi::OsString::from).collect::<Vec<_>>();
    assert_eq!(secrets.shown_by(args(&["-p", "do it"])), None);
    assert_eq!(secrets.shown_by(args(&["--key=s3cret"])), Some(Shown::Guessed));
    assert_eq!(secrets.shown_by(args(&["--key=s3cret", "hunter22"])), Some(Shown::Declared));
}

#[test]
fn an_error_is_reworded_and_stays_what_it_is() {
    use crate::error::ErrorKind;
    let secrets = declared("hunter22");
    let error = Error::new(ErrorKind::AgentFailed, "finish `x`: bad key hunter22")
        .with_source(std::io::Error::other("hunter22 was refused"))
        .with_hint("hunter22 is wrong");
    let masked = secrets.mask_error(error);
    assert_eq!(masked.kind(), ErrorKind::AgentFailed);
    assert_eq!(masked.to_string(), "finish `x`: bad key ***");
    for shown in [format!("{masked:#}"), format!("{masked:?}"), format!("{masked:#?}")] {
        assert!(!shown.contains("hunter22") && shown.contains("*** was refused"), "{shown}");
    }
    let cause = std::error::Error::source(&masked).unwrap();
    assert_eq!(cause.to_string(), "*** was refused");
    let innocent = Error::new(ErrorKind::Io, "x").with_source(std::io::Error::other("disk"));
    let innocent = secrets.mask_error(innocent);
    assert!(std::error::Error::source(&innocent).unwrap().is::<std::io::Error>());
}

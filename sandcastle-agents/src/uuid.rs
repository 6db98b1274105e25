//! The form of the ids that most agents give their sessions.
//!
//! Some programs take an id of another form for the beginning of one, or for a title, and then go on in a conversation
//! that nobody asked for. Their ids are checked here before they are passed on.

/// Tells whether `text` is a whole UUID, in its form with hyphens.
pub(crate) fn is_uuid(text: &str) -> bool {
    let hyphens = [8, 13, 18, 23];
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match byte {
            b'-' => hyphens.contains(&at),
            _ => byte.is_ascii_hexdigit() && !hyphens.contains(&at),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_whole() {
        assert!(is_uuid("01a22a7e-d29e-7d31-b9cd-cb4025110f7d"));
        for other in
            ["", "01a22a7e", "01a22a7ed29e-7d31-b9cd-cb4025110f7d-", "01a22a7e-d29e-7d31-b9cd-cb4025110f7é"]
        {
            assert!(!is_uuid(other), "{other}");
        }
    }
}

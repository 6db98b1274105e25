//! The shape of the ids that most agents give their sessions.
//!
//! Programs that look for a session by several marks at once (an id, a number, a title) take what is no id for one of
//! the others and go on in a session that nobody named; they are asked for UUIDs only.

use sandcastle_core::{Error, ErrorKind, Result, SessionId};

/// Refuses the id of a session that is no UUID.
///
/// # Errors
/// [`ErrorKind::SessionNotFound`], because no session of the agent has such an id.
pub(crate) fn check_uuid(agent: &str, verb: &str, id: &SessionId) -> Result<()> {
    if is_uuid(id) {
        return Ok(());
    }
    let problem = format!("{verb} the session `{id}`: the sessions of `{agent}` are named by UUIDs");
    Err(Error::new(ErrorKind::SessionNotFound, problem)
        .with_hint("take the id from `iterations[].session_id` of a result or from an error"))
}

fn is_uuid(text: &str) -> bool {
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
    fn only_a_whole_uuid_is_one() {
        assert!(is_uuid("01a22a7e-d29e-7d31-b9cd-cb4025110f7d"));
        for other in [
            "",
            "1",
            "latest",
            "01a22a7e",
            "01a22a7ed29e-7d31-b9cd-cb4025110f7d-",
            "01a22a7ed29e7d31b9cdcb4025110f7d",
            "01a22a7e-d29e-7d31-b9cd-cb4025110f7é",
        ] {
            assert!(!is_uuid(other), "{other}");
        }
    }
}

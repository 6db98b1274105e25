//! Arguments of a user's own that give a program a free hand, left out of a turn in which it may only speak.
//!
//! What else such arguments do is not known here; that nothing has changed afterwards is looked at by whoever runs the turn.

use std::ffi::OsString;

use sandcastle_core::agent::TurnMode;

/// Returns the arguments that stand in a turn of this mode: all of them, or those that are none of `flags`.
pub(crate) fn arguments<'a>(
    args: &'a [OsString],
    mode: TurnMode,
    flags: &'a [&'a str],
) -> impl Iterator<Item = &'a OsString> {
    let is_left_out =
        move |arg: &OsString| mode == TurnMode::SpeakOnly && flags.iter().any(|flag| arg == flag);
    args.iter().filter(move |arg| !is_left_out(arg))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_frees_a_programs_hand_is_left_out_only_where_it_may_only_speak() {
        let args = ["--bare", "--yolo", "yolo"].map(OsString::from);
        let left = |mode| arguments(&args, mode, &["--yolo", "-y"]).count();
        assert_eq!((left(TurnMode::Work), left(TurnMode::SpeakOnly)), (3, 2));
    }
}

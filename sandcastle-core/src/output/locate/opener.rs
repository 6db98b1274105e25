//! Decides whether the value of an answer begins behind an opener, or whether the tag is only mentioned.
//!
//! Behind the opener come white space and at most one code fence, and then the first character of a JSON value. A fence
//! can be read in two ways, and both are tried: the rest of its line is an info string and the value stands below, or
//! the value begins in the fence's own line, behind at most one word. An opener in an info string begins anew.

/// One byte of the text, with what its position in the text says about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glyph {
    pub(super) byte: u8,
    pub(super) kind: GlyphKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GlyphKind {
    /// White space, or the first byte of a white space character.
    Space,
    /// The first byte of any other character.
    Visible,
    /// A later byte of a character.
    Continuation,
}

impl Glyph {
    /// Looks at the byte at `at`.
    pub(super) fn at(text: &str, at: usize) -> Self {
        let byte = text.as_bytes()[at];
        let kind = match byte {
            b'\t'..=b'\r' | b' ' => GlyphKind::Space,
            0..0x80 => GlyphKind::Visible,
            0x80..0xc0 => GlyphKind::Continuation,
            0xc0.. => match text.get(at..).and_then(|rest| rest.chars().next()) {
                Some(c) if c.is_whitespace() => GlyphKind::Space,
                _ => GlyphKind::Visible,
            },
        };
        Self { byte, kind }
    }

    pub(super) fn is_space(self) -> bool {
        self.kind == GlyphKind::Space
    }
}

/// How a value is read on from its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// An object, an array or a string, which begins with this byte.
    Delimited,
    /// A number; this byte is its first digit.
    Number,
    /// `true`, `false` or `null`, which ended before this byte.
    Word,
}

/// Follows the text behind one opener.
#[derive(Clone, Debug)]
pub(super) struct Opener {
    phase: Phase,
}

#[derive(Clone, Debug)]
enum Phase {
    /// No fence was seen yet.
    Bare(Lead),
    Fence {
        mark: u8,
        run: usize,
    },
    Info {
        mark: u8,
        inline: Inline,
    },
    /// The line of the fence has ended.
    Below {
        mark: u8,
        lead: Lead,
    },
}

/// What one byte told.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenerStep {
    /// A value begins in the line of the fence with this mark; the opener is still to be followed.
    pub(super) inline: Option<(Begin, u8)>,
    pub(super) main: Main,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Main {
    #[default]
    Wait,
    /// A value begins here, in a fence with this mark or in none.
    Value(Begin, Option<u8>),
    Prose,
}

impl Opener {
    pub(super) fn new() -> Self {
        Self { phase: Phase::Bare(Lead::Space) }
    }

    pub(super) fn step(&mut self, glyph: Glyph) -> OpenerStep {
        if glyph.kind == GlyphKind::Continuation {
            return OpenerStep::default();
        }
        match &mut self.phase {
            Phase::Bare(Lead::Space) if matches!(glyph.byte, b'`' | b'~') => {
                self.phase = Phase::Fence { mark: glyph.byte, run: 1 };
                OpenerStep::default()
            }
            Phase::Bare(lead) => OpenerStep { inline: None, main: lead.step(glyph).main(None) },
            Phase::Below { mark, lead } => {
                let mark = *mark;
                OpenerStep { inline: None, main: lead.step(glyph).main(Some(mark)) }
            }
            Phase::Fence { mark, run } if glyph.byte == *mark => {
                *run += 1;
                OpenerStep::default()
            }
            Phase::Fence { run: ..3, .. } => OpenerStep { inline: None, main: Main::Prose },
            Phase::Fence { mark, .. } => {
                self.phase = Phase::Info { mark: *mark, inline: Inline::First(Some(Lead::Space)) };
                self.info(glyph)
            }
            Phase::Info { .. } => self.info(glyph),
        }
    }

    fn info(&mut self, glyph: Glyph) -> OpenerStep {
        let Phase::Info { mark, inline } = &mut self.phase else { return OpenerStep::default() };
        let mark = *mark;
        let inline = inline.step(glyph).map(|begin| (begin, mark));
        let mut main = Main::Wait;
        if glyph.byte == b'\n' {
            self.phase = Phase::Below { mark, lead: Lead::Space };
        } else if glyph.byte == mark && mark == b'`' {
            main = Main::Prose;
        }
        OpenerStep { inline, main }
    }

    /// Tells whether the text, if it ends here, ends in an answer rather than in a mention of the tag.
    pub(super) fn is_begun(&self) -> bool {
        match &self.phase {
            Phase::Bare(lead) => !matches!(lead, Lead::Space),
            Phase::Fence { run, .. } => *run >= 3,
            Phase::Info { .. } | Phase::Below { .. } => true,
        }
    }
}

/// White space and the beginning of a value.
#[derive(Clone, Debug)]
enum Lead {
    Space,
    Minus,
    Word { literal: &'static [u8], matched: usize },
}

enum LeadStep {
    Wait,
    Value(Begin),
    Dead,
}

impl LeadStep {
    fn main(self, fence: Option<u8>) -> Main {
        match self {
            Self::Wait => Main::Wait,
            Self::Value(begin) => Main::Value(begin, fence),
            Self::Dead => Main::Prose,
        }
    }
}

impl Lead {
    fn step(&mut self, glyph: Glyph) -> LeadStep {
        match (&mut *self, glyph.byte) {
            (Self::Space, _) if glyph.is_space() => LeadStep::Wait,
            (Self::Space, b'{' | b'[' | b'"') => LeadStep::Value(Begin::Delimited),
            (Self::Space | Self::Minus, b'0'..=b'9') => LeadStep::Value(Begin::Number),
            (Self::Space, b'-') => self.wait(Self::Minus),
            (Self::Space, b't') => self.wait(Self::Word { literal: b"true", matched: 1 }),
            (Self::Space, b'f') => self.wait(Self::Word { literal: b"false", matched: 1 }),
            (Self::Space, b'n') => self.wait(Self::Word { literal: b"null", matched: 1 }),
            (Self::Word { literal, matched }, byte) if literal.get(*matched) == Some(&byte) => {
                *matched += 1;
                LeadStep::Wait
            }
            (Self::Word { literal, matched }, _) if *matched == literal.len() && !is_word(glyph) => {
                LeadStep::Value(Begin::Word)
            }
            _ => LeadStep::Dead,
        }
    }

    fn wait(&mut self, next: Self) -> LeadStep {
        *self = next;
        LeadStep::Wait
    }
}

fn is_word(glyph: Glyph) -> bool {
    let Glyph { byte, kind } = glyph;
    kind != GlyphKind::Space
        && (byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || !byte.is_ascii())
}

/// The reading in which the value begins in the line of the fence.
#[derive(Clone, Debug)]
enum Inline {
    /// Before or in the one word that may come first; while that may still be the value itself, with its beginning.
    First(Option<Lead>),
    /// Behind the word.
    Second(Lead),
    Off,
}

impl Inline {
    fn step(&mut self, glyph: Glyph) -> Option<Begin> {
        if glyph.byte == b'\n'
            && !matches!(self, Self::First(Some(Lead::Word { .. })) | Self::Second(Lead::Word { .. }))
        {
            *self = Self::Off;
            return None;
        }
        let step = match self {
            Self::First(Some(lead)) | Self::Second(lead) => lead.step(glyph),
            Self::First(None) => LeadStep::Dead,
            Self::Off => LeadStep::Wait,
        };
        let step = match (step, &self, glyph.byte) {
            // The word is over, and the value follows without a space.
            (LeadStep::Dead, Self::First(_), b'{' | b'[' | b'"') => LeadStep::Value(Begin::Delimited),
            (step, ..) => step,
        };
        match step {
            LeadStep::Wait => None,
            LeadStep::Value(begin) => {
                *self = Self::Off;
                Some(begin)
            }
            LeadStep::Dead => {
                *self = match self {
                    Self::First(_) if glyph.is_space() => Self::Second(Lead::Space),
                    Self::First(_) if is_word(glyph) || matches!(glyph.byte, b'+' | b'.' | b'#') => {
                        Self::First(None)
                    }
                    _ => Self::Off,
                };
                None
            }
        }
    }
}

//! Regular expressions, as far as a dialect has to understand them.
//!
//! Every wire reads patterns with an engine of its own. What all of them read in the same way is recognised here; a
//! pattern with anything else in it moves into the description, where it cannot be misread.

use super::treatment::MAX_REPEATS;

/// What a dialect accepts of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patterns {
    None,
    /// What engines in general understand in the same way.
    Portable,
    /// The same without word boundaries and with small counts.
    Simple,
    /// From the first character to the last, in classes that are written out, and without any that would fit a quote:
    /// the grammar is of the text as JSON writes it.
    Anchored,
}

/// The largest count that a simple pattern may have.
const SMALL_COUNT: u32 = 100;

/// What was seen in a pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The pattern as it is.
    original: String,
    /// The pattern without groups of a special kind and with everything written out that a grammar reads otherwise: `\d` and
    /// `\w`, what is escaped, and what takes more than one byte, of which it would repeat the last.
    explicit: String,
    starts: bool,
    ends: bool,
    /// An anchor that is not the first or the last of all.
    inner_anchor: bool,
    boundary: bool,
    lazy: bool,
    /// `\s`, which engines read differently.
    space: bool,
    /// Fits a quote, a backslash or a control character, which JSON writes otherwise.
    escaped_in_json: bool,
    alternatives_outside: bool,
    largest_count: u32,
    /// How much of a grammar it takes: one for each character, as often as it may be repeated.
    weight: u64,
}

impl Pattern {
    /// Reads a pattern, unless there is something in it that engines read differently.
    pub(super) fn read(pattern: &str) -> Option<Self> {
        let seen = Self { original: pattern.to_owned(), ..Self::default() };
        let mut reader = Reader { rest: pattern, seen, open: Vec::new(), last: 0, repeatable: false };
        while !reader.rest.is_empty() {
            reader.step(pattern)?;
        }
        reader.open.is_empty().then_some(reader.seen)
    }

    /// Returns the pattern as the wire has it, or nothing if that cannot carry it.
    pub(super) fn for_wire(self, patterns: Patterns) -> Option<String> {
        match patterns {
            Patterns::None => None,
            Patterns::Portable => Some(self.original),
            Patterns::Simple => self.is_simple().then_some(self.original),
            Patterns::Anchored => self.is_a_grammar().then_some(self.explicit),
        }
    }

    fn is_simple(&self) -> bool {
        !self.boundary && !self.lazy && self.largest_count <= SMALL_COUNT
    }

    fn is_a_grammar(&self) -> bool {
        let whole = self.starts && self.ends && !self.inner_anchor && !self.alternatives_outside;
        let is_plain = !(self.boundary || self.lazy || self.space || self.escaped_in_json);
        whole && is_plain && self.weight <= MAX_REPEATS
    }
}

/// Returns how much of a grammar a pattern takes that was made for one.
pub(super) fn weight(pattern: &str) -> u64 {
    let written_out = [of_class('^'), of_class('-')];
    let plain = written_out.iter().fold(pattern.to_owned(), |pattern, escape| pattern.replace(escape, "_"));
    Pattern::read(&plain).map_or(MAX_REPEATS, |seen| seen.weight)
}

struct Reader<'p> {
    rest: &'p str,
    seen: Pattern,
    /// What the pattern weighed before each of the open groups.
    open: Vec<u64>,
    /// What the piece before this one weighs.
    last: u64,
    /// Whether a count may follow.
    repeatable: bool,
}

impl<'p> Reader<'p> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        self.seen.explicit.push(c);
        Some(c)
    }

    /// Passes over a text, if it is next.
    fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn step(&mut self, whole: &'p str) -> Option<()> {
        let is_first = self.rest.len() == whole.len();
        let c = self.next()?;
        let could_repeat = std::mem::replace(&mut self.repeatable, true);
        match c {
            '^' => self.anchor(is_first, true),
            '$' => self.anchor(self.rest.is_empty(), false),
            '*' | '+' | '?' if could_repeat => self.repeat(),
            '{' if could_repeat => self.count()?,
            '*' | '+' | '?' | '{' | '}' | ']' => return None,
            '.' => self.seen.escaped_in_json = true,
            '(' => {
                if !self.eat("?:") && self.rest.starts_with('?') {
                    return None;
                }
                self.open.push(self.seen.weight);
                self.repeatable = false;
            }
            ')' => self.last = self.seen.weight - self.open.pop()?,
            '|' => {
                self.seen.alternatives_outside |= self.open.is_empty();
                self.repeatable = false;
            }
            '[' => self.class()?,
            '\\' => self.escape(Place::Outside)?,
            c => self.literal_outside(c),
        }
        if !matches!(c, '^' | '$' | '*' | '+' | '?' | '{' | '(' | ')' | '|') {
            self.seen.weight = self.seen.weight.saturating_add(1);
            self.last = 1;
        }
        Some(())
    }

    fn anchor(&mut self, outermost: bool, start: bool) {
        self.repeatable = false;
        match (outermost, start) {
            (true, true) => self.seen.starts = true,
            (true, false) => self.seen.ends = true,
            (false, _) => self.seen.inner_anchor = true,
        }
    }

    fn repeat(&mut self) {
        self.repeatable = false;
        // A lazy count fits the same texts.
        self.seen.lazy |= self.eat("?");
    }

    /// Reads `{2}`, `{2,}` or `{2,5}` behind its brace.
    fn count(&mut self) -> Option<()> {
        let (inside, rest) = self.rest.split_once('}')?;
        let (least, most) = inside.split_once(',').unwrap_or((inside, inside));
        let number =
            |text: &str| text.parse::<u32>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
        let least = number(least)?;
        let most = if most.is_empty() { least } else { number(most)? };
        if most < least {
            return None;
        }
        self.seen.largest_count = self.seen.largest_count.max(most);
        let again = self.last.saturating_mul(u64::from(most.saturating_sub(1)));
        self.seen.weight = self.seen.weight.saturating_add(again);
        self.seen.explicit += inside;
        self.seen.explicit.push('}');
        self.rest = rest;
        self.repeat();
        Some(())
    }

    /// Reads a class behind its bracket.
    fn class(&mut self) -> Option<()> {
        if self.rest.starts_with('^') {
            // What is not listed includes control characters, at the least.
            self.next();
            self.seen.escaped_in_json = true;
        }
        let mut is_empty = true;
        loop {
            match self.next()? {
                ']' if is_empty => return None,
                ']' => return Some(()),
                '[' | '&' | '~' => return None,
                '\\' => self.escape(Place::Class)?,
                first if self.rest.starts_with('-') && !self.rest.starts_with("-]") => {
                    self.next();
                    let last = self.next().filter(|last| *last >= first && !matches!(last, '\\' | '['))?;
                    let within = |c: char| (first..=last).contains(&c);
                    self.seen.escaped_in_json |= within('"') || within('\\') || first < ' ';
                }
                c => self.literal(c),
            }
            is_empty = false;
        }
    }

    /// Reads what follows a backslash.
    fn escape(&mut self, place: Place) -> Option<()> {
        match self.next()? {
            'd' => self.write_out("0-9", place),
            'w' => self.write_out("A-Za-z0-9_", place),
            's' => self.seen.space = true,
            'D' | 'W' | 'S' => self.seen.escaped_in_json = true,
            'b' if place == Place::Outside => {
                self.seen.boundary = true;
                self.repeatable = false;
            }
            'n' | 'r' | 't' | '\\' => self.seen.escaped_in_json = true,
            c @ ('^' | '$' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/') => {
                self.write_out(&of_class(c), place);
            }
            c @ '-' if place == Place::Class => self.write_out(&of_class(c), place),
            _ => return None,
        }
        // A class as an end of a range is read in as many ways as there are engines.
        (place == Place::Outside || !self.rest.starts_with('-') || self.rest.starts_with("-]")).then_some(())
    }

    /// Puts a class in the place of an escape of two characters.
    fn write_out(&mut self, class: &str, place: Place) {
        let explicit = &mut self.seen.explicit;
        explicit.truncate(explicit.len().saturating_sub(2));
        match place {
            Place::Outside => *explicit += &format!("[{class}]"),
            Place::Class => *explicit += class,
        }
    }

    fn literal(&mut self, c: char) {
        self.seen.escaped_in_json |= c == '"' || c < ' ';
    }

    fn literal_outside(&mut self, c: char) {
        self.literal(c);
        if !c.is_ascii() {
            self.seen.explicit.pop();
            self.seen.explicit += &format!("[{c}]");
        }
    }
}

/// Writes a character as classes of every engine have it, those of grammars included.
fn of_class(c: char) -> String {
    match c {
        '[' | ']' => format!("\\{c}"),
        '^' | '-' => format!("\\x{:02X}", u32::from(c)),
        c => c.to_string(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    Class,
}

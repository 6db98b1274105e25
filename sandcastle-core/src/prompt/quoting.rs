//! Where in a shell command a place is: outside of quotes, inside of them, or where nothing can be put safely.
//!
//! It follows the quotes of POSIX `sh` through a command as it is written in a template. What a value brings never
//! becomes shell text: a reference to a variable is put in its place, and this says how the reference has to be
//! written so that it stays one word. A mistake here could therefore split a word and not run one. Places at which a
//! shell would read a value as a language of its own (arithmetic, here-documents, `eval`, the text of `sh -c`) are refused; other
//! programs that run what they are given, such as `ssh` or `awk`, are not known here.

/// How a reference has to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// Outside of quotes.
    None,
    /// Between double quotes.
    Double,
    /// Between single quotes.
    Single,
}

/// Follows a command from its first character on.
#[derive(Debug)]
pub(super) struct Quoting {
    frames: Vec<Frame>,
    /// Why nothing can be put anywhere from here on.
    lost: Option<&'static str>,
    escaped: bool,
    /// The two characters before, if neither was escaped.
    before: [char; 2],
    /// The beginning of the word that is being read.
    word: String,
    /// How far a command such as `sh -c text` has come, and how many frames are around it.
    shell: Option<(Shell, usize)>,
}

/// How far a command has come that has another shell read a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shell {
    Named,
    /// The next word is the text; those behind it are its arguments, and as safe as any.
    Reading,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    /// Commands within parentheses.
    Command,
    Double,
    Single,
    /// `${...}`.
    Parameter,
    /// `$((...))`, with the number of parentheses that are open.
    Arithmetic(usize),
    Comment,
}

/// Words that read what follows them as shell text or as arithmetic.
const READERS: [&str; 3] = ["eval", "let", "[["];
/// Shells, which read what follows `-c` as shell text.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "zsh"];
/// How much of a word is kept: more than any that matters has, with the folder it may be in.
const WORD: usize = 32;

impl Quoting {
    pub(super) fn new() -> Self {
        Self {
            frames: Vec::new(),
            lost: None,
            escaped: false,
            before: ['\n'; 2],
            word: String::new(),
            shell: None,
        }
    }

    /// Reads the next piece of the command.
    pub(super) fn read(&mut self, shell: &str) {
        shell.chars().for_each(|c| self.step(c));
    }

    /// Says how a value is to be referred to here, or why it cannot be. What follows is read behind a word.
    pub(super) fn place(&mut self) -> Result<Quotes, &'static str> {
        self.end_word_of_readers();
        let quotes = match (self.lost, self.frames.last()) {
            (Some(reason), _) => return Err(reason),
            (None, _) if matches!(self.shell, Some((Shell::Reading, _))) => {
                return Err("in the text behind `-c`, which another shell would read");
            }
            (None, None | Some(Frame::Command | Frame::Comment)) => Quotes::None,
            (None, Some(Frame::Double)) => Quotes::Double,
            (None, Some(Frame::Single)) => Quotes::Single,
            (None, Some(Frame::Parameter)) => return Err("inside of `${...}`"),
            (None, Some(Frame::Arithmetic(_))) => return Err("inside of arithmetic"),
        };
        self.shift('x');
        self.push_word('x');
        Ok(quotes)
    }

    fn step(&mut self, c: char) {
        if self.escaped {
            self.escaped = false;
            self.shift('x');
            self.push_word('x');
            return;
        }
        match self.frames.last().copied() {
            None | Some(Frame::Command) => self.step_in_command(c),
            Some(Frame::Double) => self.step_in_double(c),
            Some(Frame::Parameter) => self.step_in_parameter(c),
            Some(Frame::Arithmetic(open)) => self.step_in_arithmetic(c, open),
            Some(Frame::Single) if c == '\'' => self.pop(),
            Some(Frame::Comment) if c == '\n' => self.pop(),
            Some(Frame::Single | Frame::Comment) => {}
        }
        self.shift(c);
    }

    fn step_in_command(&mut self, c: char) {
        let at_word_start = self.word.is_empty();
        if c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '<' | '>') {
            self.end_word();
            self.follow_shell(c);
            self.word.clear();
        } else {
            self.push_word(c);
        }
        match c {
            '\\' => self.escaped = true,
            '\'' if self.before[1] == '$' => {
                self.lose("behind `$'`, which shells read differently");
                self.frames.push(Frame::Single);
            }
            '\'' => self.frames.push(Frame::Single),
            '"' => self.frames.push(Frame::Double),
            '(' if self.before[1] == '(' => self.begin_arithmetic(),
            '(' => self.frames.push(Frame::Command),
            // Parentheses that are not open belong to the patterns of a `case`.
            ')' if self.frames.last() == Some(&Frame::Command) => self.pop(),
            '{' if self.before[1] == '$' => self.frames.push(Frame::Parameter),
            '#' if at_word_start => self.frames.push(Frame::Comment),
            '<' if self.before[1] == '<' => self.lose("behind `<<`, which begins a here-document"),
            _ => {}
        }
    }

    fn step_in_double(&mut self, c: char) {
        match c {
            '\\' => self.escaped = true,
            '"' => self.pop(),
            '(' if self.before[1] == '$' => self.open_command(),
            '{' if self.before[1] == '$' => self.frames.push(Frame::Parameter),
            _ => {}
        }
    }

    fn step_in_parameter(&mut self, c: char) {
        match c {
            '\\' => self.escaped = true,
            '}' => self.pop(),
            '\'' | '"' if self.frames.contains(&Frame::Double) => {
                self.lose("behind quotes inside of `\"${...}\"`, which shells read differently");
            }
            '\'' => self.frames.push(Frame::Single),
            '"' => self.frames.push(Frame::Double),
            '(' if self.before[1] == '$' => self.open_command(),
            '{' if self.before[1] == '$' => self.frames.push(Frame::Parameter),
            _ => {}
        }
    }

    fn step_in_arithmetic(&mut self, c: char, open: usize) {
        let open = match c {
            '(' => open + 1,
            ')' => open - 1,
            _ => open,
        };
        self.pop();
        if open > 0 {
            self.frames.push(Frame::Arithmetic(open));
        }
    }

    fn open_command(&mut self) {
        self.word.clear();
        self.frames.push(Frame::Command);
    }

    /// The second of two parentheses: what the first one opened is no command.
    fn begin_arithmetic(&mut self) {
        self.pop();
        self.frames.push(Frame::Arithmetic(2));
    }

    fn end_word(&mut self) {
        self.end_word_of_readers();
        if self.word == "case" && !self.frames.is_empty() {
            self.lose("behind a `case` within parentheses, whose end cannot be told from its patterns");
        }
    }

    /// Follows `sh -c text argument` from word to word; `c` ends one.
    fn follow_shell(&mut self, c: char) {
        let depth = self.frames.len();
        let reached = match self.shell {
            // A substitution within the text: its words are not those of the command.
            Some((_, around)) if around < depth => return,
            reached => reached.map(|(reached, _)| reached),
        };
        let word = self.word.as_str();
        let next = match reached {
            _ if matches!(c, '\n' | ';' | '&' | '|' | '(' | ')') => None,
            None => SHELLS.contains(&word.rsplit('/').next().unwrap_or(word)).then_some(Shell::Named),
            Some(Shell::Named) if word.starts_with('-') && !word.starts_with("--") && word.contains('c') => {
                Some(Shell::Reading)
            }
            Some(Shell::Reading) if !word.is_empty() => None,
            Some(reached) => Some(reached),
        };
        self.shell = next.map(|next| (next, depth));
    }

    fn end_word_of_readers(&mut self) {
        if READERS.contains(&self.word.as_str()) {
            self.lose("behind `eval`, `let` or `[[`, which would read the value as shell text or arithmetic");
        }
    }

    fn push_word(&mut self, c: char) {
        if self.word.len() < WORD {
            self.word.push(c);
        }
    }

    fn lose(&mut self, reason: &'static str) {
        self.lost.get_or_insert(reason);
    }

    fn pop(&mut self) {
        self.frames.pop();
    }

    fn shift(&mut self, c: char) {
        self.before = [self.before[1], c];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a value is referred to behind `shell`.
    fn behind(shell: &str) -> Result<Quotes, &'static str> {
        let mut quoting = Quoting::new();
        quoting.read(shell);
        quoting.place()
    }

    #[test]
    fn quotes_are_followed_into_substitutions_and_out_again() {
        for bare in [
            "echo ",
            "a --x=",
            "echo 'it'\\''s' ",
            r#"echo "a" "#,
            r#"echo \" "#,
            r"echo \' ",
            "# don't\necho ",
            "echo a#'b' ",
            "(cd x && ",
            r#"echo "$(git log "#,
            r#"echo "${x:-y}" "#,
            "echo $((1 + (2))) ",
            "echo ${x:-'}'} ",
            "case x in a) echo ",
            "sh -c 'echo \"$1\"' name ",
            "sh script.sh ",
            "sh -c 'true'; grep -c ",
            "sh -c 'true' | wc -c ",
            "",
        ] {
            assert_eq!(behind(bare), Ok(Quotes::None), "{bare}");
        }
        for double in [r#"echo ""#, r#"echo "it's "#, r#"echo "$(echo "a")"#, r#"x "\""#, r#"x "${y}"#] {
            assert_eq!(behind(double), Ok(Quotes::Double), "{double}");
        }
        for single in ["echo '", r"echo '\", r#"echo '"#, r#"echo "$(echo '"#, r"echo \''"] {
            assert_eq!(behind(single), Ok(Quotes::Single), "{single}");
        }
    }

    #[test]
    fn a_place_that_a_shell_reads_as_a_language_is_refused() {
        for refused in [
            "cat <<END\n",
            "cat <<'END'\n",
            "echo $((",
            "((x = ",
            "echo ${x:-",
            r#"echo "${x:-"#,
            r#"echo "${x:-'a'}"#,
            "echo $'a",
            "echo $'don\\'t ",
            "eval ",
            "x; eval ",
            "let ",
            "[[ ",
            "[[",
            r#"echo "$(case x in a) "#,
            "sh -c '",
            "sh -c ",
            r#"x; /bin/bash  -euo pipefail -ec ""#,
            r#"sh -c "$(a; b) "#,
            r#"sh -c "echo $(printf "#,
            r#"echo "$(xargs sh -c '"#,
        ] {
            assert!(behind(refused).is_err(), "{refused}");
        }
    }
}

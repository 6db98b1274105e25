//! The end of a text that is too long to keep.

/// Keeps the last bytes of what is pushed into it, and how much there was.
#[derive(Clone, Debug)]
pub struct Tail {
    kept: Vec<u8>,
    limit: usize,
    total: u64,
}

impl Tail {
    /// Creates a tail that keeps at least `limit` bytes and never more than twice as many.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { kept: Vec::new(), limit, total: 0 }
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if bytes.len() >= self.limit {
            self.kept.clear();
            self.kept.extend_from_slice(&bytes[bytes.len() - self.limit..]);
            return;
        }
        if self.kept.len() + bytes.len() > 2 * self.limit {
            let surplus = self.kept.len() + bytes.len() - self.limit;
            self.kept.drain(..surplus);
        }
        self.kept.extend_from_slice(bytes);
    }

    /// Returns the last bytes as text; a character that was cut in two becomes a replacement character.
    #[must_use]
    pub fn text(&self) -> String {
        let start = self.kept.len().saturating_sub(self.limit);
        let mut kept = &self.kept[start..];
        if self.total > kept.len() as u64 {
            let cut = kept.iter().take(3).take_while(|&&byte| byte & 0b1100_0000 == 0b1000_0000).count();
            kept = &kept[cut..];
        }
        String::from_utf8_lossy(kept).into_owned()
    }

    /// Tells whether more was pushed than is kept.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.total > self.limit as u64
    }

    /// Returns how many of the last bytes are kept.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns how many bytes were pushed.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_are_kept_whatever_the_pieces() {
        let text: String = (0..1000).map(|n| format!("{n} ")).collect();
        for piece in [1, 7, 64, 5000] {
            let mut tail = Tail::new(50);
            for bytes in text.as_bytes().chunks(piece) {
                tail.push(bytes);
            }
            assert_eq!(tail.text(), text[text.len() - 50..], "pieces of {piece}");
            assert_eq!(tail.total(), text.len() as u64);
        }
    }

    #[test]
    fn a_character_cut_at_the_front_is_dropped() {
        let mut tail = Tail::new(4);
        tail.push("x日本".as_bytes());
        assert_eq!(tail.text(), "本");
    }
}

//! JSON values as they stand in a line, read no further than needed.
//!
//! Wire types are built from these: text that is borrowed where it has no escapes, and fields whose type an agent may
//! change without making the whole line unreadable.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A string, borrowed from the line if it has no escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text<'a>(Cow<'a, str>);

impl Text<'_> {
    pub(crate) fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor).map(Self)
    }
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text))
    }
}

/// A value that is absent if it has another type than expected.
#[derive(Debug)]
pub(crate) struct Lenient<T>(pub(crate) Option<T>);

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Deref for Lenient<T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str(raw.get()).ok()))
    }
}

/// The first `N` elements of a list; a hostile list may have millions, and nobody reads them.
#[derive(Debug)]
pub(crate) struct First<T, const N: usize = 20>(Vec<T>);

impl<T, const N: usize> Default for First<T, N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const N: usize> Deref for First<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const N: usize> IntoIterator for First<T, N> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for First<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FirstVisitor::<T, N>(PhantomData)).map(Self)
    }
}

struct FirstVisitor<T, const N: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for FirstVisitor<T, N> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while elements.len() < N {
            match seq.next_element()? {
                Some(element) => elements.push(element),
                None => return Ok(elements),
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_borrowed_unless_it_has_escapes() {
        assert!(matches!(serde_json::from_str::<Text<'_>>(r#""plain""#).unwrap().0, Cow::Borrowed("plain")));
        assert!(
            matches!(serde_json::from_str::<Text<'_>>(r#""a\nb""#).unwrap().0, Cow::Owned(text) if text == "a\nb")
        );
        assert!(serde_json::from_str::<Text<'_>>("1").is_err());
    }

    #[test]
    fn a_value_of_another_type_is_absent() {
        assert_eq!(*serde_json::from_str::<Lenient<u16>>("401").unwrap(), Some(401));
        for other in ["null", "\"401\"", "1e999", "[]", "70000"] {
            assert_eq!(*serde_json::from_str::<Lenient<u16>>(other).unwrap(), None, "{other}");
        }
        assert!(serde_json::from_str::<Lenient<u16>>("{").is_err());
    }

    #[test]
    fn a_long_list_is_read_to_its_end_and_cut() {
        let list = |length: usize| format!("[{}]", vec!["1"; length].join(","));
        for (length, kept) in [(0, 0), (19, 19), (20, 20), (21, 20), (1000, 20)] {
            assert_eq!(serde_json::from_str::<First<u8>>(&list(length)).unwrap().len(), kept);
        }
        assert!(serde_json::from_str::<First<u8>>("{}").is_err());
    }
}

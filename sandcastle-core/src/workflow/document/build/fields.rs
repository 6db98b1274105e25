//! What a map has under a key, as what it is for; nothing if it is absent or of another kind, which has been said then.

use std::time::Duration;

use super::super::tree::Node;
use crate::workflow::definition::Text;

impl Node {
    pub(super) fn string(&self, key: &str) -> Option<String> {
        self.get(key).and_then(Self::str).map(str::to_owned)
    }

    pub(super) fn template(&self, key: &str) -> Option<Text> {
        self.get(key).and_then(Self::text).cloned()
    }

    /// The names and the templates of a map.
    pub(super) fn templates(&self, key: &str) -> Vec<(String, Text)> {
        let entries = self.get(key).map(Self::entries).unwrap_or_default();
        entries.iter().filter_map(|entry| Some((entry.key.clone(), entry.value.spelled()?))).collect()
    }

    /// The templates of a list.
    pub(super) fn template_list(&self, key: &str) -> Vec<Text> {
        let items = self.get(key).map(Self::items).unwrap_or_default();
        items.iter().filter_map(Self::spelled).collect()
    }

    pub(super) fn whole<T: TryFrom<u64>>(&self, key: &str) -> Option<T> {
        let number = self.get(key).and_then(Self::number)?;
        T::try_from(number.as_u64()?).ok()
    }

    pub(super) fn float(&self, key: &str) -> Option<f64> {
        self.get(key).and_then(Self::number)?.as_f64()
    }

    pub(super) fn seconds(&self, key: &str) -> Option<Duration> {
        Duration::try_from_secs_f64(self.float(key)?).ok()
    }
}

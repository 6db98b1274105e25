//! Keys of services, and other values that must not be shown.
//!
//! A key is given by whoever makes a model; nothing here reads the environment. It goes into a header and nowhere else:
//! `Debug` shows a mask, and texts of a service that repeat it are masked before they become a message.

use std::fmt;
use std::sync::Arc;

use sandcastle_core::secret::MASK;

/// A key of a service. It is never shown.
///
/// ```
/// use sandcastle_agents::models::ApiKey;
///
/// assert_eq!(format!("{:?}", ApiKey::from("sk-secret")), "ApiKey(***)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Arc<str>);

impl ApiKey {
    /// The key itself, for a header.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<&str> for ApiKey {
    fn from(key: &str) -> Self {
        Self(key.into())
    }
}

impl From<String> for ApiKey {
    fn from(key: String) -> Self {
        Self(key.into())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({MASK})")
    }
}

//! How a service on the network is reached: by whose certificates, by way of which proxies, and how long that may take.
//!
//! What is built here follows no redirects, since they would carry a key to another host. Nothing is sent here, and nothing
//! here knows what a service is asked.

mod tls;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};

pub(crate) use self::tls::objection_of;
use crate::excerpt::one_line;

/// How a service is reached.
#[derive(Clone)]
pub(crate) struct Transport {
    /// How long a connection may take.
    pub(crate) connect: Duration,
    pub(crate) proxies: Proxies,
    /// Certificates that are trusted beside those of the platform, in PEM, as they were given.
    pub(crate) roots: Vec<Arc<[u8]>>,
}

/// Whether requests go by way of proxies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proxies {
    /// They do not, and nobody looks for any.
    None,
    /// By those that the environment or the settings of the system name.
    OfTheSystem,
}

impl Transport {
    /// Begins a client for a service that is at `base`.
    ///
    /// # Errors
    /// When a certificate cannot be read, or there are none.
    pub(crate) fn client(&self, base: &Url) -> Result<ClientBuilder, Objection> {
        let builder = Client::builder()
            .tls_backend_preconfigured(tls::config(base, &self.roots)?)
            .redirect(Policy::none())
            .connect_timeout(self.connect);
        Ok(match self.proxies {
            // What is on this machine is not reached by way of another one.
            Proxies::OfTheSystem if !is_loopback(base) => builder,
            _ => builder.no_proxy(),
        })
    }
}

impl Default for Transport {
    fn default() -> Self {
        Self { connect: Duration::from_secs(30), proxies: Proxies::None, roots: Vec::new() }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport")
            .field("connect", &self.connect)
            .field("proxies", &self.proxies)
            .field("roots", &self.roots.len())
            .finish()
    }
}

/// Why a service is not spoken to. The next time it would be the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Objection {
    pub(crate) to: Subject,
    pub(crate) words: String,
    pub(crate) hint: Option<&'static str>,
}

/// What there is to object to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// What the caller gave.
    Given,
    /// What this machine has, or what the other side says of itself.
    Found,
}

impl Objection {
    fn new(words: impl Into<String>) -> Self {
        Self { to: Subject::Found, words: words.into(), hint: None }
    }

    fn to_what_was_given(words: impl Into<String>) -> Self {
        Self { to: Subject::Given, ..Self::new(words) }
    }

    fn with_hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }
}

/// What is said when no client can be made.
pub(crate) fn unusable(error: &dyn Error) -> Objection {
    Objection::new(format!("no connection can be made from here: {error}"))
}

/// The causes of an error without its first words, which name the address.
pub(crate) fn causes(error: &reqwest::Error) -> String {
    let mut causes = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if causes.last() != Some(&words) {
            causes.push(words);
        }
        next = cause.source();
    }
    one_line(&causes.join(": "))
}

/// Tells whether a service is on this machine.
pub(crate) fn is_loopback(base: &Url) -> bool {
    let host = base.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_built_without_anything_installed() {
        for base in ["https://api.example.com", "http://127.0.0.1:1"] {
            let builder = Transport::default().client(&Url::parse(base).unwrap()).unwrap();
            builder.build().unwrap();
        }
        assert!(rustls::crypto::CryptoProvider::get_default().is_none());
    }

    #[test]
    fn what_is_on_this_machine_is_known() {
        for (base, expected) in [
            ("http://localhost:8080", true),
            ("http://127.0.0.2/v1", true),
            ("http://[::1]:11434", true),
            ("https://localhost.example.com", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(base).unwrap()), expected, "{base}");
        }
    }
}

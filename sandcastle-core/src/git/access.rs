//! How a token opens a remote.
//!
//! It goes into a header that git sends to one address, by a setting that stands in the environment of one call: never in an
//! argument, a file or a message.

use data_encoding::BASE64;

use super::overrides::Key;
use crate::secret::{Secrets, Token};

/// The name that code hosts take beside a token.
const USER: &str = "x-access-token";

/// Tells whether a setting is a header that goes to a remote.
pub(super) fn is_header(key: Key<'_>) -> bool {
    (key.section, key.name) == ("http", "extraheader")
}

/// Returns the settings by which a token goes to an address; `None` for one that is not reached over HTTP, or over a network
/// on which it could be read.
pub(super) fn grant(token: &Token, address: &str) -> Option<Vec<(String, String)>> {
    let address = without_user(address)?;
    let setting = |name: &str| format!("http.{address}.{name}");
    Some(vec![
        // A header that is empty drops those before it, also the user's: two of a kind are refused by code hosts.
        (setting("extraheader"), String::new()),
        (setting("extraheader"), format!("Authorization: Basic {}", password(token))),
        (setting("followredirects"), "false".to_owned()),
    ])
}

/// Knows a token in all forms in which it is sent.
pub(super) fn secrets(token: &Token) -> Secrets {
    Secrets::declared([token.reveal(), &password(token)]).unwrap_or_default()
}

fn password(token: &Token) -> String {
    BASE64.encode(format!("{USER}:{}", token.reveal()).as_bytes())
}

/// Returns an address that a token may go to, without a user and a password in it.
fn without_user(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let is_safe = match scheme {
        "https" => true,
        "http" => is_loopback(host),
        _ => false,
    };
    (is_safe && !host.is_empty()).then(|| format!("{scheme}://{host}{path}"))
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_where_nobody_else_can_read_it() {
        for (address, expected) in [
            ("https://host.invalid/o/r.git", Some("https://host.invalid/o/r.git")),
            ("https://user:pass@host.invalid:8443/o/r", Some("https://host.invalid:8443/o/r")),
            ("https://host.invalid", Some("https://host.invalid")),
            ("http://127.0.0.1:8080/o/r", Some("http://127.0.0.1:8080/o/r")),
            ("http://[::1]:80/x", Some("http://[::1]:80/x")),
            ("http://localhost/x", Some("http://localhost/x")),
            ("http://host.invalid/o/r", None),
            ("http://localhost.host.invalid/o/r", None),
            ("http://127.0.0.1@host.invalid/o/r", None),
            ("https://@/x", None),
            ("ssh://git@host.invalid/o/r", None),
            ("git@host.invalid:o/r", None),
            ("/srv/r.git", None),
            ("file:///srv/r.git", None),
        ] {
            assert_eq!(without_user(address).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn a_token_is_masked_in_the_forms_in_which_it_is_sent() {
        let token = Token::from("ghs_abcdef");
        let sent = &grant(&token, "https://h.invalid/r").unwrap()[1].1;
        assert_eq!(secrets(&token).mask(&format!("ghs_abcdef; {sent}")), "***; Authorization: Basic ***");
    }
}

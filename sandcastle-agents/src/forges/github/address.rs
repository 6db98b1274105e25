//! Where a GitHub is, and the names that are part of its addresses.
//!
//! Whatever is asked goes to an address that is made, or checked, here: one that the other side names is used only when it
//! is at the same host and below the same path, so that the token goes nowhere else.

use reqwest::Url;
use sandcastle_core::{Error, ErrorKind, Result};

/// Where GitHub itself is.
pub(super) const OFFICIAL: &str = "https://api.github.com";

/// The base of the REST interface, and with it that of GraphQL.
#[derive(Clone)]
pub(super) struct Address(Url);

impl Address {
    /// Checks a base address. It is not repeated in the error: it may hold a password.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] unless it is that of a web server, without a user and without a query.
    pub(super) fn new(base: &str) -> Result<Self> {
        let refuse = |problem: &str| {
            Error::new(ErrorKind::InvalidOptions, format!("use the base address of GitHub: it {problem}"))
        };
        let url = Url::parse(base)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or_else(|| refuse("does not begin with `https://` or `http://` and the name of a host"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse("holds a user or a password").with_hint("give a token apart from it"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refuse("has something behind its path"));
        }
        Ok(Self(url))
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }

    /// The address of something in the REST interface, by the parts of its path.
    pub(super) fn rest<'p>(&self, parts: impl IntoIterator<Item = &'p str>) -> Url {
        let mut url = self.0.clone();
        // Only addresses that are none of a web server have no path.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(parts);
        }
        url
    }

    /// The address of the GraphQL interface. That of GitHub Enterprise Server is beside its REST interface, which is at
    /// `/api/v3`, and not below it.
    pub(super) fn graphql(&self) -> Url {
        let mut url = self.0.clone();
        let path = url.path().trim_end_matches('/');
        let path = match path.strip_suffix("/api/v3") {
            Some(before) => format!("{before}/api/graphql"),
            None => format!("{path}/graphql"),
        };
        url.set_path(&path);
        url
    }

    /// Tells whether an address is one of these interfaces'.
    pub(super) fn holds(&self, url: &Url) -> bool {
        let below = self.0.path().trim_end_matches('/');
        let is_below = url.path().strip_prefix(below).is_some_and(|rest| rest.starts_with('/'));
        let is_here =
            url.origin() == self.0.origin() && url.username().is_empty() && url.password().is_none();
        is_here && (is_below || *url == self.graphql())
    }
}

/// A repository's name, in two parts that can be parts of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RepositoryName {
    pub(super) owner: String,
    pub(super) name: String,
}

impl RepositoryName {
    /// Reads `owner/name`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let is_part = |part: &str| {
            let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            (1..=100).contains(&part.len()) && part.bytes().all(is_known) && part != "." && part != ".."
        };
        let (owner, name) = text.split_once('/')?;
        let is_name = is_part(owner) && is_part(name);
        is_name.then(|| Self { owner: owner.to_owned(), name: name.to_owned() })
    }

    /// The address of something of the repository's in the REST interface.
    pub(super) fn url<'p>(&'p self, address: &Address, parts: impl IntoIterator<Item = &'p str>) -> Url {
        address.rest(["repos", &self.owner, &self.name].into_iter().chain(parts))
    }

    /// Tells whether `text` names it; case counts for nothing.
    pub(super) fn is(&self, text: &str) -> bool {
        text.split_once('/').is_some_and(|(owner, name)| {
            owner.eq_ignore_ascii_case(&self.owner) && name.eq_ignore_ascii_case(&self.name)
        })
    }
}

/// The longest address that is shown.
const MAX_ADDRESS: usize = 2000;

/// An address for people, if it is one.
pub(super) fn web_address(text: &str) -> Option<String> {
    let url =
        Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())?;
    Some(url.to_string()).filter(|url| url.len() <= MAX_ADDRESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(base: &str) -> Address {
        Address::new(base).unwrap()
    }

    #[test]
    fn both_interfaces_are_found_from_one_address() {
        for (base, rest, graphql) in [
            (OFFICIAL, "https://api.github.com/repos/o/n", "https://api.github.com/graphql"),
            (
                "https://git.example.com/api/v3/",
                "https://git.example.com/api/v3/repos/o/n",
                "https://git.example.com/api/graphql",
            ),
            ("http://127.0.0.1:9/x", "http://127.0.0.1:9/x/repos/o/n", "http://127.0.0.1:9/x/graphql"),
        ] {
            let address = address(base);
            assert_eq!(address.rest(["repos", "o", "n"]).as_str(), rest);
            assert_eq!(address.graphql().as_str(), graphql);
            assert!(address.holds(&address.rest(["repos"])) && address.holds(&address.graphql()));
        }
    }

    #[test]
    fn what_is_elsewhere_is_known() {
        let address = address("https://git.example.com/api/v3");
        for elsewhere in [
            "https://evil.example.com/api/v3/repos",
            "http://git.example.com/api/v3/repos",
            "https://git.example.com:444/api/v3/repos",
            "https://git.example.com/api/v33/repos",
            "https://git.example.com/api/v3/../../login",
            "https://git.example.com/api/v3/%2e%2e/admin",
            "https://user@git.example.com/api/v3/repos",
            "https://git.example.com@evil.example.com/api/v3/repos",
        ] {
            assert!(!address.holds(&Url::parse(elsewhere).unwrap()), "{elsewhere}");
        }
        assert!(address.holds(&Url::parse("https://git.example.com/api/v3/repositories/1?page=2").unwrap()));
    }

    #[test]
    fn an_address_that_is_none_is_refused_and_not_repeated() {
        for base in ["", "api.github.com", "ftp://x/y", "https://u:hunter2@x", "https://x/?a=hunter2"] {
            let error = Address::new(base).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{base}");
            assert!(!format!("{error:#?}").contains("hunter2"), "{error:?}");
        }
    }

    #[test]
    fn a_repository_has_an_owner_and_a_name() {
        assert!(RepositoryName::read("Owner/na.me_-1").unwrap().is("owner/NA.me_-1"));
        for bad in ["", "name", "/", "o/", "/n", "o/n/x", "o/..", "./n", "o /n", "o/n?x", "o/n%2f", "ö/n"] {
            assert_eq!(RepositoryName::read(bad), None, "{bad}");
        }
    }
}

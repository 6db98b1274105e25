//! What the repository's own configuration names for git to execute, and what stands in its place.
//!
//! Reads a listing of the configuration and answers with settings that outrank it. Where the user's own configuration
//! has a value of the same name, that one stands: a filter of git-lfs that is set up for the user goes on working.
//! Nothing is run or written here.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::error::{Error, ErrorKind, Result};

/// How many of its settings may have to be overruled; the rest would not fit into a command line either.
const MAX_OVERRULED: usize = 1000;

/// Settings that outrank those of the repository.
#[derive(Clone, Debug, Default)]
pub(super) struct Overrides {
    settings: Vec<(Vec<u8>, Vec<u8>)>,
    /// The names of the filters that only the repository defines.
    filters: BTreeSet<Vec<u8>>,
}

/// A key of the configuration in its parts; the section and the name are in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key<'a> {
    pub(super) section: &'a str,
    pub(super) subsection: Option<&'a [u8]>,
    pub(super) name: &'a str,
}

impl<'a> Key<'a> {
    /// Takes a key apart as git prints it; `None` if git would not print it.
    pub(super) fn parse(key: &'a [u8]) -> Option<Self> {
        let first = key.iter().position(|byte| *byte == b'.')?;
        let last = key.iter().rposition(|byte| *byte == b'.')?;
        Some(Self {
            section: std::str::from_utf8(&key[..first]).ok()?,
            subsection: (first < last).then(|| &key[first + 1..last]),
            name: std::str::from_utf8(&key[last + 1..]).ok()?,
        })
    }

    /// Returns a value under which nothing is executed, if the key is one of those under which something is.
    pub(super) fn harmless_value(&self) -> Option<&'static str> {
        let nested = self.subsection.is_some();
        Some(match (self.section, self.name) {
            ("filter", "clean" | "smudge" | "process") if nested => "",
            ("filter", "required") if nested => "false",
            // An empty driver would succeed and keep our side.
            ("merge", "driver") if nested => "false",
            ("branch", "mergeoptions") if nested => "--no-stat",
            ("diff", "command" | "textconv") if nested => "",
            ("diff", "external") | ("interactive", "difffilter") => "",
            ("core", "sshcommand") => "ssh",
            ("core", "gitproxy" | "askpass") => "",
            ("core", "editor") | ("sequence", "editor") => "false",
            ("gpg", "program") | ("gpg", "defaultkeycommand") => "false",
            ("credential", "helper") => "",
            ("remote", "uploadpack") if nested => "git-upload-pack",
            ("remote", "receivepack") if nested => "git-receive-pack",
            ("remote", "vcs") if nested => "",
            ("submodule", "update") if nested => "checkout",
            ("trailer", "command" | "cmd") if nested => "",
            ("uploadpack", "packobjectshook") => "",
            // Read by git-lfs, whose filter the user may have set up for all repositories.
            ("lfs", "path" | "args" | "clean" | "smudge" | "standalonetransferagent") => "",
            _ => return None,
        })
    }
}

impl Overrides {
    /// Reads what `git config --list -z --show-scope` printed.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when the repository names more than can be overruled.
    pub(super) fn against(listing: &[u8]) -> Result<Self> {
        let mut users = BTreeMap::new();
        let mut users_helpers = Vec::new();
        let mut own = BTreeSet::new();
        for (scope, key, value) in entries(listing) {
            let Some(parsed) = Key::parse(key) else { continue };
            if parsed.harmless_value().is_none() {
                continue;
            }
            if is_of_repository(scope) {
                own.insert(key);
            } else {
                users.insert(key, value);
                if parsed.section == "credential" {
                    users_helpers.push((key.to_vec(), value.to_vec()));
                }
            }
        }
        if own.len() > MAX_OVERRULED {
            let what = format!("use the repository: its configuration names {} programs", own.len());
            return Err(
                Error::new(ErrorKind::Git, what).with_hint("look at `git config --list --show-origin`")
            );
        }
        let mut overrides = Self::default();
        let mut helpers = None;
        for key in own {
            let Some((parsed, harmless)) =
                Key::parse(key).and_then(|parsed| Some((parsed, parsed.harmless_value()?)))
            else {
                continue;
            };
            match parsed.section {
                "credential" => helpers = Some(()),
                "filter" if !users.contains_key(key) => {
                    overrides.filters.extend(parsed.subsection.map(<[u8]>::to_vec));
                }
                _ => {}
            }
            let value = users.get(key).copied().unwrap_or(harmless.as_bytes());
            overrides.settings.push((key.to_vec(), value.to_vec()));
        }
        if helpers.is_some() {
            overrides.replace_helpers(users_helpers);
        }
        Ok(overrides)
    }

    /// Helpers are a list, in which an empty one drops those before it, whatever address they are for.
    fn replace_helpers(&mut self, users: Vec<(Vec<u8>, Vec<u8>)>) {
        self.settings.retain(|(key, _)| !key.starts_with(b"credential."));
        self.settings.push((b"credential.helper".to_vec(), Vec::new()));
        self.settings.extend(users);
    }

    /// Returns the names of the filters that only the repository defines, and that are therefore not run.
    pub(super) fn filters(&self) -> &BTreeSet<Vec<u8>> {
        &self.filters
    }

    /// Keeps those of the repository's settings that are `wanted`.
    pub(super) fn carried(listing: &[u8], wanted: impl Fn(Key<'_>) -> bool) -> Self {
        let carried = entries(listing)
            .filter(|(scope, key, _)| is_of_repository(scope) && Key::parse(key).is_some_and(&wanted));
        let settings = carried.map(|(_, key, value)| (key.to_vec(), value.to_vec())).take(MAX_OVERRULED);
        Self { settings: settings.collect(), filters: BTreeSet::new() }
    }

    /// Drops the settings that are `unwanted`, and adds others.
    pub(super) fn replace(
        &mut self,
        unwanted: impl Fn(Key<'_>) -> bool,
        others: impl IntoIterator<Item = (String, String)>,
    ) {
        self.settings.retain(|(key, _)| !Key::parse(key).is_some_and(&unwanted));
        self.settings.extend(others.into_iter().map(|(key, value)| (key.into_bytes(), value.into_bytes())));
    }

    /// Returns the options of git that name the settings. A key may hold `=`, which `-c` would take for its end.
    pub(super) fn options(&self) -> impl Iterator<Item = OsString> {
        self.settings.iter().enumerate().map(|(number, (key, _))| {
            let option = [b"--config-env=", &key[..], b"=", variable(number).as_bytes()].concat();
            OsString::from_vec(option)
        })
    }

    /// Returns the variables that hold the values.
    pub(super) fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> {
        let values = self.settings.iter().enumerate();
        values.map(|(number, (_, value))| (variable(number).into(), OsStr::from_bytes(value).to_owned()))
    }
}

fn variable(number: usize) -> String {
    format!("SANDCASTLE_GIT_SETTING_{number}")
}

/// Tells whether settings of this scope are written in the repository.
pub(super) fn is_of_repository(scope: &[u8]) -> bool {
    matches!(scope, b"local" | b"worktree")
}

/// Reads a listing of the configuration: scope, key and value of each entry; a key without a value means true.
pub(super) fn entries(listing: &[u8]) -> impl Iterator<Item = (&[u8], &[u8], &[u8])> {
    let mut fields = listing.split(|byte| *byte == 0);
    std::iter::from_fn(move || {
        let (scope, entry) = (fields.next()?, fields.next()?);
        let (key, value) = match entry.iter().position(|byte| *byte == b'\n') {
            Some(at) => (&entry[..at], &entry[at + 1..]),
            None => (entry, &b"true"[..]),
        };
        Some((scope, key, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(listing: &str) -> Vec<(String, String)> {
        let overrides = Overrides::against(listing.replace('|', "\0").as_bytes()).unwrap();
        let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).unwrap();
        overrides.settings.iter().map(|(key, value)| (text(key), text(value))).collect()
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn what_the_repository_names_gives_way_to_what_the_user_names() {
        let listing = "global|filter.lfs.clean\ngit-lfs clean|local|filter.lfs.clean\n/evil|local|filter.x.smudge\n/evil|\
                       local|user.name\nA|worktree|merge.a=b.c.driver\n/evil|local|filter.x.required|";
        assert_eq!(
            settings(listing),
            [
                pair("filter.lfs.clean", "git-lfs clean"),
                pair("filter.x.required", "false"),
                pair("filter.x.smudge", ""),
                pair("merge.a=b.c.driver", "false"),
            ]
        );
    }

    #[test]
    fn helpers_of_the_repository_are_dropped_and_those_of_the_user_kept_in_order() {
        let listing = "system|credential.helper\nstore|global|credential.https://a.helper\ncache|\
                       local|credential.https://b.helper\n!evil|";
        assert_eq!(
            settings(listing),
            [
                pair("credential.helper", ""),
                pair("credential.helper", "store"),
                pair("credential.https://a.helper", "cache"),
            ]
        );
    }

    #[test]
    fn a_flood_of_settings_is_refused_and_half_a_listing_is_read_as_far_as_it_goes() {
        let flood: String = (0..=MAX_OVERRULED).map(|n| format!("local\0filter.{n}.clean\nx\0")).collect();
        assert_eq!(Overrides::against(flood.as_bytes()).unwrap_err().kind(), ErrorKind::Git);
        assert!(Overrides::against(b"local\0").unwrap().settings.is_empty());
        assert!(Overrides::against(b"local\0nodot\nx\0\0").unwrap().settings.is_empty());
    }
}

//! Containers whose owner was killed.
//!
//! Each container is labelled with the process that it belongs to. One whose process is gone on this very machine is removed
//! by the next start on the same engine. Everything else is left alone: containers of living processes, of other machines
//! that use the engine, and those of other people, whatever they are called.

use std::time::Duration;

use super::client::Client;
use super::engine::Engine;
use super::instance::remove;
use super::refusal::is_no_container;
use crate::error::Result;
use crate::sandbox::request::{HOST_LABEL, Life, OWNER_LABEL, life};

/// How long looking for containers may take.
const LIMIT: Duration = Duration::from_secs(20);
/// How long a start is held up by them, if it is done before.
const SWEEP: Duration = Duration::from_secs(30);

/// What became of a container that a run had noted as its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It is gone.
    Gone,
    /// It is there, and its owner is not.
    Orphan,
    /// It is there and is not to be touched, and this is why.
    Kept(String),
}

/// Lists the containers of an engine whose owners are gone.
pub(crate) async fn orphans(client: &Client) -> Result<Vec<String>> {
    let (owner, host) = match client.engine() {
        Engine::Docker => {
            (format!("{{{{.Label \"{OWNER_LABEL}\"}}}}"), format!("{{{{.Label \"{HOST_LABEL}\"}}}}"))
        }
        Engine::Podman => (
            format!("{{{{index .Labels \"{OWNER_LABEL}\"}}}}"),
            format!("{{{{index .Labels \"{HOST_LABEL}\"}}}}"),
        ),
    };
    let format = format!("{{{{.Names}}}}\t{owner}\t{host}");
    let filter = format!("label={OWNER_LABEL}");
    let args = ["ps", "--all", "--no-trunc", "--filter", &filter, "--format", &format];
    let said = client.told("list containers", args, LIMIT).await?;
    Ok(read(&said))
}

fn read(said: &str) -> Vec<String> {
    let rows = said.lines().filter_map(|line| {
        let mut fields = line.split('\t');
        Some((fields.next()?, fields.next()?, fields.next()?))
    });
    let gone = rows.filter(|(name, owner, host)| is_ours(name) && life(owner, host) == Some(Life::Gone));
    gone.map(|(name, ..)| name.to_owned()).collect()
}

/// Removes the containers whose owners are gone. It fails nobody: who comes next tries again.
pub(super) async fn sweep(client: &Client) {
    let sweeping = async {
        for name in orphans(client).await.unwrap_or_default() {
            let _ = remove(client, &name).await;
        }
    };
    let _ = tokio::time::timeout(SWEEP, sweeping).await;
}

/// Looks for a container that somebody says was ours; `None` if the provider makes none.
///
/// # Errors
/// [`ErrorKind::Sandbox`](crate::ErrorKind::Sandbox) when the engine does not answer.
pub(crate) async fn left(provider: &str, id: &str) -> Option<Result<Left>> {
    let client = Client::new(Engine::named(provider)?);
    Some(look(&client, id).await)
}

async fn look(client: &Client, id: &str) -> Result<Left> {
    if !is_ours(id) {
        return Ok(Left::Kept("that is no name that a container of ours has".to_owned()));
    }
    let format = format!(
        "{{{{index .Config.Labels \"{OWNER_LABEL}\"}}}}\t{{{{index .Config.Labels \"{HOST_LABEL}\"}}}}"
    );
    let called = client.call(["container", "inspect", "--format", &format, id], LIMIT).await?;
    if !called.status.success() {
        return match is_no_container(&called.stderr) {
            true => Ok(Left::Gone),
            false => Err(super::refusal::refusal(client.engine(), "look for a container", &called.stderr)),
        };
    }
    let said = String::from_utf8_lossy(&called.stdout);
    let (owner, host) = said.trim_end_matches('\n').split_once('\t').unwrap_or_default();
    Ok(match life(owner, host) {
        Some(Life::Gone) => Left::Orphan,
        Some(Life::Alive) => Left::Kept("its owner lives".to_owned()),
        Some(Life::Unknown) => Left::Kept("it belongs to another machine".to_owned()),
        None => Left::Kept("it does not say whom it belongs to".to_owned()),
    })
}

/// Removes a container that was [looked at](left).
///
/// # Errors
/// [`ErrorKind::Sandbox`](crate::ErrorKind::Sandbox) when the engine does not do it.
pub(crate) async fn remove_left(provider: &str, id: &str) -> Result<()> {
    match Engine::named(provider) {
        Some(engine) => remove(&Client::new(engine), id).await,
        None => Ok(()),
    }
}

/// Tells whether a name is of the form that ours have.
fn is_ours(name: &str) -> bool {
    let digits = name.strip_prefix("sandcastle-");
    digits.is_some_and(|digits| digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Owner;

    #[test]
    fn only_what_belonged_to_a_process_of_this_machine_that_is_gone_is_an_orphan() {
        let labels = Owner::new("/r").labels();
        let value = |name: &str| labels.iter().find(|(key, _)| *key == name).unwrap().1.clone();
        let (owner, host) = (value(OWNER_LABEL), value(HOST_LABEL));
        let (pid, rest) = owner.split_once('/').unwrap();
        let (start, boot) = rest.split_once('/').unwrap();
        let name = format!("sandcastle-{:032x}", 7);
        let gone = format!("{pid}/{start}1/{boot}");
        let rows = [
            (name.clone(), owner.clone(), host.clone(), false),
            (name.clone(), gone.clone(), host.clone(), true),
            (name.clone(), format!("{pid}/{start}/another-boot"), host.clone(), true),
            (name.clone(), gone.clone(), "another".to_owned(), false),
            (name.clone(), gone.clone(), String::new(), false),
            ("somebody".to_owned(), gone.clone(), host.clone(), false),
            (name.clone(), "x".to_owned(), host.clone(), false),
            (name.clone(), "<no value>".to_owned(), host, false),
        ];
        for (name, owner, host, is_orphan) in rows {
            let listed = read(&format!("{name}\t{owner}\t{host}\n"));
            assert_eq!(listed.len(), usize::from(is_orphan), "{owner} {host}");
        }
        assert!(read("\n\t\t\n").is_empty());
    }
}

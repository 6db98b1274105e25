//! One connection of a client: what it asks is held against the list, and served or refused.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpStream, UnixStream};

use super::allow::{AllowList, Host, Target};
use super::head::{self, Asked, Refusal};
use super::{Desk, body, relay};

/// How long a name may take to be resolved, and a server to be reached.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a client that was refused may take to read why.
const LINGER: Duration = Duration::from_secs(2);

/// Serves one connection to its end.
pub(super) async fn serve(mut client: UnixStream, desk: &Desk) -> io::Result<()> {
    let (asked, rest) = match head::read(&mut client).await? {
        None => return Ok(()),
        Some(Ok(asked)) => asked,
        Some(Err(refusal)) => return refuse(client, &refusal, desk).await,
    };
    let (Asked::Tunnel(target) | Asked::Request { target, .. }) = &asked;
    let mut server = match reach(target, &desk.allow).await {
        Ok(server) => server,
        Err(refusal) => return refuse(client, &refusal, desk).await,
    };
    let _ = server.set_nodelay(true);
    let (mut from_client, mut to_client) = client.split();
    let (from_server, mut to_server) = server.split();
    match asked {
        Asked::Tunnel(_) => {
            to_client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
            to_server.write_all(&rest).await?;
            relay::both_ways((from_client, to_client), (from_server, to_server), relay::SILENCE).await
        }
        Asked::Request { head, body, .. } => {
            to_server.write_all(&head).await?;
            let answer = relay::answer(from_server, to_client, relay::SILENCE);
            let sent = body::pass_on(body, &rest, &mut from_client, &mut to_server);
            // A server may answer before it has read everything, and then the rest is of no interest.
            tokio::pin!(answer);
            tokio::select! {
                answered = &mut answer => answered,
                sent = sent => match sent {
                    Ok(()) => answer.await,
                    Err(error) => Err(error),
                },
            }
        }
    }
}

/// Connects to a target that is allowed, at an address that it may have.
async fn reach(target: &Target, allow: &AllowList) -> Result<TcpStream, Refusal> {
    let refusal = |status, why| Refusal { status, why, target: shown(target) };
    let forbidden = |why| refusal("403 Forbidden", why);
    let Some(reach) = allow.reach(target) else {
        return Err(forbidden("it is not among the hosts that this sandbox may reach"));
    };
    let unreachable = || refusal("502 Bad Gateway", "it could not be reached from the host");
    let connecting = async {
        let addresses = addresses(target).await.map_err(|_| unreachable())?;
        let is_named = matches!(target.host, Host::Address(_));
        let may_be: Vec<_> =
            addresses.into_iter().filter(|address| is_named || allow.may_be(reach, *address)).collect();
        if may_be.is_empty() {
            return Err(forbidden("its name stands for an address of a local network, which is not allowed"));
        }
        TcpStream::connect(may_be.as_slice()).await.map_err(|_| unreachable())
    };
    let late = || Err(refusal("504 Gateway Timeout", "it could not be reached from the host in time"));
    tokio::time::timeout(PATIENCE, connecting).await.unwrap_or_else(|_| late())
}

async fn addresses(target: &Target) -> io::Result<Vec<SocketAddr>> {
    match &target.host {
        Host::Address(ip) => Ok(vec![SocketAddr::new(*ip, target.port)]),
        Host::Name(name) => match tokio::net::lookup_host((name.as_str(), target.port)).await?.collect() {
            none if Vec::is_empty(&none) => Err(io::ErrorKind::NotFound.into()),
            addresses => Ok(addresses),
        },
    }
}

fn shown(target: &Target) -> String {
    match &target.host {
        Host::Name(name) => format!("{name}:{}", target.port),
        Host::Address(ip) => SocketAddr::new(*ip, target.port).to_string(),
    }
}

async fn refuse(mut client: UnixStream, refusal: &Refusal, desk: &Desk) -> io::Result<()> {
    let Refusal { status, why, target } = refusal;
    if !status.starts_with('5') {
        desk.note_refused(target);
    }
    let what = if target.is_empty() { "the request".to_owned() } else { target.escape_debug().to_string() };
    let text = format!("sandcastle's proxy refused {what}: {why}\n");
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{text}",
        text.len()
    );
    client.write_all(answer.as_bytes()).await?;
    client.shutdown().await?;
    // To close while the client still writes would take the answer from it.
    let _ = tokio::time::timeout(LINGER, tokio::io::copy(&mut client, &mut tokio::io::sink())).await;
    Ok(())
}

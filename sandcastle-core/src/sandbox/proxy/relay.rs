//! Moves bytes between two ends until both are done, or nothing has moved for long.

use std::cell::Cell;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;

/// How long a connection may be silent: a model can think for a while before it says anything.
pub(super) const SILENCE: Duration = Duration::from_secs(30 * 60);
/// How much is moved at once.
const CHUNK: usize = 16 * 1024;

/// Moves bytes both ways. An end that says that it is done is told to the other, which may go on.
pub(super) async fn both_ways(
    client: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    server: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    silence: Duration,
) -> io::Result<()> {
    let moved = Cell::new(Instant::now());
    let (up, down) = (one_way(client.0, server.1, &moved), one_way(server.0, client.1, &moved));
    tokio::select! {
        done = async { tokio::try_join!(up, down) } => done.map(|_| ()),
        () = until_silent(&moved, silence) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Moves what a server answers.
pub(super) async fn answer(
    server: impl AsyncRead + Unpin,
    client: impl AsyncWrite + Unpin,
    silence: Duration,
) -> io::Result<()> {
    let moved = Cell::new(Instant::now());
    tokio::select! {
        done = one_way(server, client, &moved) => done,
        () = until_silent(&moved, silence) => Err(io::ErrorKind::TimedOut.into()),
    }
}

async fn one_way(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    moved: &Cell<Instant>,
) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    loop {
        let count = from.read(&mut buffer).await?;
        moved.set(Instant::now());
        if count == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..count]).await?;
        moved.set(Instant::now());
    }
}

async fn until_silent(moved: &Cell<Instant>, silence: Duration) {
    loop {
        let until = moved.get() + silence;
        if until <= Instant::now() {
            return;
        }
        tokio::time::sleep_until(until).await;
    }
}

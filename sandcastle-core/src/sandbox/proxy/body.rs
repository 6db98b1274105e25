//! Passes on the body of one request, and not a byte of what stands behind it.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::head::Body;

/// The longest line that a chunk begins with, and the longest trailer.
const LONGEST_LINE: usize = 4096;

/// Copies a body. `rest` is what was read behind the head.
pub(super) async fn pass_on(
    body: Body,
    rest: &[u8],
    client: &mut (impl AsyncRead + Unpin),
    server: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    let mut client = tokio::io::BufReader::new(rest.chain(client));
    match body {
        Body::Length(length) => exactly(length, &mut client, server).await?,
        Body::Chunked => chunks(&mut client, server).await?,
    }
    server.flush().await
}

async fn exactly(
    length: u64,
    client: &mut (impl AsyncRead + Unpin),
    server: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    match tokio::io::copy(&mut client.take(length), server).await? {
        copied if copied == length => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Copies chunks up to the last one. Their extensions and trailers are not passed on.
async fn chunks(
    client: &mut (impl AsyncRead + Unpin),
    server: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    loop {
        let line = line(client).await?;
        let Ok(httparse::Status::Complete((_, size))) = httparse::parse_chunk_size(&line) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        server.write_all(format!("{size:x}\r\n").as_bytes()).await?;
        if size == 0 {
            break;
        }
        exactly(size, client, server).await?;
        let mut end = [0; 2];
        client.read_exact(&mut end).await?;
        if end != *b"\r\n" {
            return Err(io::ErrorKind::InvalidData.into());
        }
        server.write_all(b"\r\n").await?;
    }
    server.write_all(b"\r\n").await?;
    while line(client).await? != b"\r\n" {}
    Ok(())
}

async fn line(client: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        if line.len() == LONGEST_LINE {
            return Err(io::ErrorKind::InvalidData.into());
        }
        line.push(client.read_u8().await?);
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn passed(body: Body, rest: &str, more: &str) -> io::Result<String> {
        let mut server = Vec::new();
        pass_on(body, rest.as_bytes(), &mut more.as_bytes(), &mut server).await?;
        Ok(String::from_utf8(server).unwrap())
    }

    #[tokio::test]
    async fn nothing_behind_a_body_is_passed_on() {
        assert_eq!(passed(Body::Length(3), "ab", "cGET http://evil.test/").await.unwrap(), "abc");
        assert_eq!(passed(Body::Length(0), "GET /smuggled", "x").await.unwrap(), "");
        let chunked =
            passed(Body::Chunked, "2;ext=1\r\nab\r\n1\r", "\nc\r\n0\r\nTrailer: 1\r\n\r\nGET /smuggled")
                .await;
        assert_eq!(chunked.unwrap(), "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n");
    }

    #[tokio::test]
    async fn a_body_that_is_none_breaks_the_connection() {
        for wrong in ["zz\r\n", "2\r\nabc\r\n0\r\n\r\n", "fffffffffffffffff\r\n", "-1\r\n", "2\nab\n", ""] {
            assert!(passed(Body::Chunked, wrong, "").await.is_err(), "{wrong:?}");
        }
        assert!(passed(Body::Length(4), "abc", "").await.is_err());
    }
}

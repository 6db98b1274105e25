//! Reads what a client asks for: the head of a request, its target, and how its body ends.
//!
//! Anything that two readers could understand in two ways is refused.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};

use super::allow::Target;

/// How many bytes a head may have.
const LONGEST_HEAD: usize = 32 * 1024;
/// How many fields a head may have.
const MOST_FIELDS: usize = 100;
/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(15);

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A tunnel.
    Tunnel(Target),
    /// One request that is to be passed on.
    Request { target: Target, head: Vec<u8>, body: Body },
}

/// Says where the body of a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// After so many bytes.
    Length(u64),
    /// After the last of its chunks.
    Chunked,
}

/// Says why a request is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: &'static str,
    pub(super) why: &'static str,
    /// What was asked for, as far as it could be told.
    pub(super) target: String,
}

const fn malformed(why: &'static str) -> Refusal {
    Refusal { status: "400 Bad Request", why, target: String::new() }
}

/// Reads a head, and returns it with what was read behind it; `None` if the client has gone.
pub(super) async fn read(
    client: &mut (impl AsyncRead + Unpin),
) -> io::Result<Option<Result<(Asked, Vec<u8>), Refusal>>> {
    let reading = async {
        let mut bytes = Vec::with_capacity(1024);
        loop {
            if let Some(end) = memchr::memmem::find(&bytes, b"\r\n\r\n") {
                let rest = bytes.split_off(end + 4);
                return Ok(Some(understand(&bytes).map(|asked| (asked, rest))));
            }
            if bytes.len() > LONGEST_HEAD {
                let why = "the head of the request is too long";
                return Ok(Some(Err(Refusal {
                    status: "431 Request Header Fields Too Large",
                    ..malformed(why)
                })));
            }
            if client.read_buf(&mut bytes).await? == 0 {
                return Ok(None);
            }
        }
    };
    tokio::time::timeout(PATIENCE, reading).await.unwrap_or(Ok(None))
}

/// Understands a head that is complete.
fn understand(bytes: &[u8]) -> Result<Asked, Refusal> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length == bytes.len() => {}
        _ => return Err(malformed("the request is not HTTP/1.1")),
    }
    let (Some(method), Some(uri)) = (request.method, request.path) else {
        return Err(malformed("the request is not HTTP/1.1"));
    };
    if method == "CONNECT" {
        let target = Target::parse(uri, None).ok_or_else(|| refused(uri, "`CONNECT` takes `host:port`"))?;
        return Ok(Asked::Tunnel(target));
    }
    let (authority, path) = split(uri)?;
    let target =
        Target::parse(authority, Some(80)).ok_or_else(|| refused(authority, "the host cannot be read"))?;
    let body = body(request.headers)?;
    let head = passed_on(method, authority, &path, request.headers, body);
    Ok(Asked::Request { target, head, body })
}

fn refused(target: &str, why: &'static str) -> Refusal {
    Refusal { target: target.chars().take(300).collect(), ..malformed(why) }
}

/// Splits a URL into its authority and the path that a server is asked for.
fn split(uri: &str) -> Result<(&str, String), Refusal> {
    const SCHEME: &str = "http://";
    let rest = match uri.get(..SCHEME.len()) {
        Some(scheme) if scheme.eq_ignore_ascii_case(SCHEME) => &uri[SCHEME.len()..],
        _ => {
            return Err(refused(
                uri,
                "plain requests need an `http://` URL; for all else there is `CONNECT`",
            ));
        }
    };
    if rest.contains(['#', '\\']) {
        return Err(refused(uri, "the URL cannot be read"));
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    Ok((authority, if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }))
}

/// Finds out where the body ends; whatever could be understood in two ways is refused.
fn body(fields: &[httparse::Header<'_>]) -> Result<Body, Refusal> {
    let values = |name: &'static str| {
        fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
    };
    let (mut lengths, mut codings) = (values("content-length"), values("transfer-encoding"));
    let ambiguous = malformed("it cannot be told where the request ends");
    match (lengths.next(), codings.next(), lengths.next().or(codings.next())) {
        (None, None, _) => Ok(Body::Length(0)),
        (None, Some(coding), None) if coding.eq_ignore_ascii_case(b"chunked") => Ok(Body::Chunked),
        (Some(length), None, None) if !length.is_empty() && length.iter().all(u8::is_ascii_digit) => {
            let length = std::str::from_utf8(length).ok().and_then(|digits| digits.parse().ok());
            length.map(Body::Length).ok_or(ambiguous)
        }
        _ => Err(ambiguous),
    }
}

/// Fields that are between a client and its proxy, that the proxy writes itself, or that would make it one of several on a
/// connection.
const NOT_PASSED_ON: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Writes the head that the server gets. Its `Host` is the one that was looked up in the list.
fn passed_on(
    method: &str,
    authority: &str,
    path: &str,
    fields: &[httparse::Header<'_>],
    body: Body,
) -> Vec<u8> {
    let mut head =
        format!("{method} {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n").into_bytes();
    match body {
        Body::Chunked => head.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        Body::Length(0) if matches!(method, "GET" | "HEAD" | "OPTIONS" | "DELETE") => {}
        Body::Length(length) => head.extend_from_slice(format!("Content-Length: {length}\r\n").as_bytes()),
    }
    let named: Vec<&[u8]> = fields
        .iter()
        .filter(|field| field.name.eq_ignore_ascii_case("connection"))
        .flat_map(|field| field.value.split(|&byte| byte == b','))
        .map(<[u8]>::trim_ascii)
        .collect();
    for field in fields {
        let dropped = NOT_PASSED_ON.iter().any(|name| field.name.eq_ignore_ascii_case(name));
        if dropped || named.iter().any(|name| field.name.as_bytes().eq_ignore_ascii_case(name)) {
            continue;
        }
        head.extend_from_slice(field.name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(field.value);
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<Asked, Refusal> {
        understand(text.as_bytes())
    }

    #[test]
    fn a_plain_request_is_written_anew_with_the_host_that_was_looked_up() {
        let asked = head(
            "POST http://Ok.test:81?q=1 HTTP/1.1\r\nHost: evil.test\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\n\
             Proxy-Authorization: Basic x\r\nUpgrade: h2c\r\ncontent-length: 3\r\nAccept: */*\r\n\r\n",
        );
        let Ok(Asked::Request { target, head, body }) = asked else { panic!("{asked:?}") };
        assert_eq!(target, Target::parse("ok.test:81", None).unwrap());
        assert_eq!(body, Body::Length(3));
        let expected = "POST /?q=1 HTTP/1.1\r\nHost: Ok.test:81\r\nConnection: close\r\nContent-Length: 3\r\nAccept: */*\r\n\r\n";
        assert_eq!(String::from_utf8(head).unwrap(), expected);
    }

    #[test]
    fn what_could_be_understood_in_two_ways_is_refused() {
        for request in [
            "GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n",
            "GET https://ok.test/ HTTP/1.1\r\n\r\n",
            "GET http://ok.test@evil.test/ HTTP/1.1\r\n\r\n",
            "GET http://ok.test\\@evil.test/ HTTP/1.1\r\n\r\n",
            "GET http://ok.test#@evil.test/ HTTP/1.1\r\n\r\n",
            "GET http:///ok.test HTTP/1.1\r\n\r\n",
            "GET http://ok.test/ HTTP/1.1\r\nHost : x\r\n\r\n",
            "GET http://ok.test/ HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
            "GET http://ok.test/ HTTP/1.1\r\nA: b\0c\r\n\r\n",
            "GET http://ok.test/ HTTP/2.0\r\n\r\n",
            "POST http://ok.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "POST http://ok.test/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
            "POST http://ok.test/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
            "POST http://ok.test/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST http://ok.test/ HTTP/1.1\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
            "POST http://ok.test/ HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n",
            "CONNECT http://ok.test:443 HTTP/1.1\r\n\r\n",
            "CONNECT ok.test HTTP/1.1\r\n\r\n",
            "CONNECT ok.test:443/ HTTP/1.1\r\n\r\n",
            "\x16\x03\x01\r\n\r\n",
        ] {
            assert!(head(request).is_err(), "{request:?}: {:?}", head(request));
        }
    }

    #[tokio::test]
    async fn a_head_has_a_limit() {
        let long = format!("GET http://ok.test/ HTTP/1.1\r\nA: {}", "x".repeat(2 * LONGEST_HEAD));
        let refusal = read(&mut long.as_bytes()).await.unwrap().unwrap().unwrap_err();
        assert!(refusal.status.starts_with("431"), "{refusal:?}");
        assert!(read(&mut b"GET http://".as_slice()).await.unwrap().is_none());
    }
}

//! Tests of the proxy over real sockets.

use std::net::SocketAddr;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};
use tokio::task::JoinHandle;

use super::*;

/// A proxy in a folder of its own.
struct Room {
    proxy: Option<Proxy>,
    folder: TempDir,
}

impl Room {
    fn new<R: AsRef<str>>(allow: &[R]) -> Self {
        let folder = TempDir::new().unwrap();
        let proxy = Proxy::start(AllowList::parse(allow).unwrap(), &folder.path().join("socket")).unwrap();
        Self { proxy: Some(proxy), folder }
    }

    async fn client(&self) -> UnixStream {
        UnixStream::connect(self.folder.path().join("socket")).await.unwrap()
    }

    /// Sends something, and reads until the other end closes.
    async fn said(&self, text: &str) -> String {
        let mut client = self.client().await;
        client.write_all(text.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        tokio::time::timeout(Duration::from_secs(10), client.read_to_end(&mut answer))
            .await
            .unwrap()
            .unwrap();
        String::from_utf8(answer).unwrap()
    }

    fn refused(&self) -> Option<String> {
        self.proxy.as_ref().unwrap().refused()
    }
}

/// A server that reads until a line that is `end`, or the end, and gives back what it read.
async fn server() -> (SocketAddr, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let heard = tokio::spawn(async move {
        let mut heard = Vec::new();
        while let Ok(Ok((mut client, _))) =
            tokio::time::timeout(Duration::from_millis(500), listener.accept()).await
        {
            let mut bytes = Vec::new();
            while let Ok(Ok(1..)) =
                tokio::time::timeout(Duration::from_millis(200), client.read_buf(&mut bytes)).await
            {
            }
            let text = String::from_utf8(bytes).unwrap();
            client
                .write_all(format!("HTTP/1.1 200 OK\r\n\r\nheard {}", text.len()).as_bytes())
                .await
                .unwrap();
            heard.push(text);
        }
        heard
    });
    (address, heard)
}

#[tokio::test]
async fn a_tunnel_to_a_named_address_carries_bytes_both_ways_and_half_closes() {
    let (address, heard) = server().await;
    let room = Room::new(&[address.to_string()]);
    let mut client = room.client().await;
    client
        .write_all(format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n\r\nearly ").as_bytes())
        .await
        .unwrap();
    client.write_all(b"late").await.unwrap();
    client.shutdown().await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.ends_with("heard 10"), "{answer}");
    assert_eq!(heard.await.unwrap(), ["early late"]);
    assert_eq!(room.refused(), None);
}

#[tokio::test]
async fn a_plain_request_is_passed_on_and_nothing_that_is_smuggled_behind_it() {
    let (address, heard) = server().await;
    let room = Room::new(&[address.to_string()]);
    let answer = room
        .said(&format!(
            "POST http://{address}/path HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 4\r\n\r\nbody\
             GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"
        ))
        .await;
    assert!(answer.contains("200 OK"), "{answer}");
    let expected = format!(
        "POST /path HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody"
    );
    assert_eq!(heard.await.unwrap(), [expected]);
}

#[tokio::test]
async fn what_is_not_named_is_refused_with_a_reason_and_counted() {
    let (address, heard) = server().await;
    let port = address.port();
    // The server's own address is not named here, only names and other addresses.
    let room =
        Room::new(&["allowed.test".to_owned(), format!("127.0.0.2:{port}"), format!("*.localhost:{port}")]);
    let requests = [
        format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n"),
        format!("CONNECT [::ffff:7f00:1]:{port} HTTP/1.1\r\n\r\n"),
        format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n"),
        format!("CONNECT LOCALHOST.:{port} HTTP/1.1\r\n\r\n"),
        format!("CONNECT 127.1:{port} HTTP/1.1\r\n\r\n"),
        format!("CONNECT 2130706433:{port} HTTP/1.1\r\n\r\n"),
        format!("CONNECT allowed.test:443@127.0.0.1:{port} HTTP/1.1\r\n\r\n"),
        format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: allowed.test:443\r\n\r\n"),
        format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n"),
        format!("GET http://allowed.test@127.0.0.1:{port}/ HTTP/1.1\r\n\r\n"),
        "CONNECT allowed.test:22 HTTP/1.1\r\n\r\n".to_owned(),
        "CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n".to_owned(),
        "\x16\x03\x01 nonsense\r\n\r\n".to_owned(),
    ];
    for request in &requests {
        let answer = room.said(request).await;
        let refused = answer.starts_with("HTTP/1.1 403 ") || answer.starts_with("HTTP/1.1 400 ");
        assert!(refused && answer.contains("sandcastle's proxy refused"), "{request:?}: {answer}");
    }
    let said = room.refused().unwrap();
    assert!(said.contains(&format!(" {} connections ", requests.len())), "{said}");
    assert!(said.contains(&format!("`127.0.0.1:{port}`")), "{said}");
    assert!(said.matches('`').count() <= 2 * MOST_TARGETS, "not all are named: {said}");
    assert_eq!(room.refused(), None, "it is said once");
    assert_eq!(heard.await.unwrap(), [""; 0], "nothing has reached the server");
}

#[tokio::test]
async fn a_name_that_is_an_address_of_this_host_is_refused_unless_it_is_marked() {
    let (address, heard) = server().await;
    // A name below `localhost` is this host wherever it is resolved at all; where it is not, it is not reached either.
    let name = format!("sub.localhost:{}", address.port());
    let closed = Room::new(std::slice::from_ref(&name));
    let answer = closed.said(&format!("CONNECT {name} HTTP/1.1\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 403 ") || answer.starts_with("HTTP/1.1 502 "), "{answer}");
    assert_eq!(heard.await.unwrap(), [""; 0]);
    let (address, heard) = server().await;
    let name = format!("localhost:{}", address.port());
    let open = Room::new(std::slice::from_ref(&name));
    let answer = open.said(&format!("GET http://{name}/ HTTP/1.1\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(heard.await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_proxy_that_is_dropped_closes_its_connections_and_takes_its_socket_away() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut room = Room::new(&[address.to_string()]);
    let mut client = room.client().await;
    client.write_all(format!("CONNECT {address} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    let mut established = [0; 39];
    client.read_exact(&mut established).await.unwrap();
    drop(room.proxy.take());
    assert_eq!(server.read(&mut [0]).await.unwrap_or(0), 0);
    assert_eq!(client.read(&mut [0]).await.unwrap_or(0), 0);
    assert!(!room.folder.path().join("socket").exists());
}

#[tokio::test]
async fn many_connections_that_say_nothing_keep_nobody_else_out_for_ever() {
    let (address, heard) = server().await;
    let room = Room::new(&[address.to_string()]);
    let mut silent = Vec::new();
    for _ in 0..CONNECTIONS {
        silent.push(room.client().await);
    }
    let request = format!("GET http://{address}/ HTTP/1.1\r\n\r\n");
    let waiting = room.said(&request);
    tokio::pin!(waiting);
    assert!(
        tokio::time::timeout(Duration::from_millis(100), &mut waiting).await.is_err(),
        "all seats are taken"
    );
    silent.pop();
    assert!(waiting.await.starts_with("HTTP/1.1 200 "));
    assert_eq!(heard.await.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_connection_on_which_nothing_moves_is_closed() {
    let (_client, near) = tokio::io::duplex(64);
    let (_server, far) = tokio::io::duplex(64);
    let ended = relay::both_ways(tokio::io::split(near), tokio::io::split(far), relay::SILENCE).await;
    assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
}

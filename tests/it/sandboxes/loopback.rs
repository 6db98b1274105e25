//! A server on the loopback of this host, to be reached from inside or not.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::thread;

/// A server on this host that says who it is.
pub(super) fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // It ends with the process of the test.
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let _ = client.read(&mut [0; 4096]);
            let _ =
                client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhost\n");
        }
    });
    address
}

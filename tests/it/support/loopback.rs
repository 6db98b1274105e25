//! An HTTP server on loopback, with a thread of its own: what the servers that tests script have in common.
//!
//! It binds a free port of 127.0.0.1 and is gone when it is dropped: its thread owns the runtime and with it every connection.
//! What is answered is the affair of whoever starts it.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread;

use http_body_util::channel::Channel;
use http_body_util::{Either, Full};
use hyper::Response;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::oneshot;

/// What is sent: all at once, or piece by piece.
pub(crate) type Body = Either<Full<Bytes>, Channel<Bytes, io::Error>>;

/// A port that nobody is answered at yet.
#[derive(Debug)]
pub(crate) struct Port {
    listener: TcpListener,
    address: SocketAddr,
}

impl Port {
    /// Takes a free one.
    pub(crate) fn free() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on loopback");
        let address = listener.local_addr().expect("a bound listener has an address");
        listener.set_nonblocking(true).expect("tokio wants listeners that do not block");
        Self { listener, address }
    }

    /// The address without a path.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers from now on, each request on its own. An error closes the connection without an answer.
    pub(crate) fn serve<A, F>(self, name: &'static str, answer: A) -> Loopback
    where
        A: Fn(hyper::Request<Incoming>) -> F + Clone + Send + 'static,
        F: Future<Output = io::Result<Response<Body>>> + Send + 'static,
    {
        let url = self.url();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || run(self.listener, answer, stopped))
            .expect("a thread for the server");
        Loopback { name, url, stop: Some(stop), thread: Some(thread) }
    }
}

/// A running server; dropping it stops it.
#[derive(Debug)]
pub(crate) struct Loopback {
    name: &'static str,
    url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Loopback {
    /// The address without a path.
    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        // The receiver is gone only if the thread already ended, and then there is nothing to stop.
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking(), "the {} panicked", self.name);
        }
    }
}

/// Serves until told to stop. Whatever is still open then is closed with the runtime.
fn run<A, F>(listener: TcpListener, answer: A, stopped: oneshot::Receiver<()>)
where
    A: Fn(hyper::Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = io::Result<Response<Body>>> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        tokio::select! {
            never = accept(listener, answer) => match never {},
            // An error is a server that was dropped without a word: a stop as well.
            _ = stopped => {}
        }
    });
}

async fn accept<A, F>(listener: TcpListener, answer: A) -> Infallible
where
    A: Fn(hyper::Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = io::Result<Response<Body>>> + Send + 'static,
{
    let listener = tokio::net::TcpListener::from_std(listener).expect("a listener that does not block");
    loop {
        let (connection, _) = listener.accept().await.expect("a connection");
        let service = service_fn(answer.clone());
        tokio::spawn(async move {
            // An error is a client that went away or an answer that is to be dropped.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(connection), service)
                .await;
        });
    }
}

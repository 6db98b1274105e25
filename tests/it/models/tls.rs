//! Servers with certificates of their own: trusted where one is given, and refused with what is wrong and what to do.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use sandcastle::ModelRun;
use sandcastle::event::FailureKind;
use sandcastle::model::{Model, ModelFailure};
use sandcastle::models::{Anthropic, Gemini, Ollama, OpenAi, OpenAiCompatible, OpenAiResponses};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::{KEY, question};

/// A whole answer of chat completions, over a connection that ends with it.
const ANSWER: &str = concat!(
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    "data: {\"choices\":[{\"delta\":{\"content\":\"safe\"},\"finish_reason\":\"stop\"}]}\n\n",
);

/// Who signs certificates.
struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn named(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    fn pem(&self) -> String {
        self.certificate.pem()
    }

    /// A server at `127.0.0.1` with a certificate for another name, or that one, changed in some way.
    async fn server(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> String {
        self.counted(name, change).await.0
    }

    /// The same, with how many connections it has had.
    async fn counted(
        &self,
        name: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) -> (String, Arc<AtomicUsize>) {
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        serve(&certificate, &key).await
    }
}

async fn serve(certificate: &Certificate, key: &KeyPair) -> (String, Arc<AtomicUsize>) {
    let chain = vec![CertificateDer::from(certificate.der().to_vec())];
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a certificate with its key");
    let (acceptor, listener) = (TlsAcceptor::from(Arc::new(config)), listener().await);
    let address = listener.local_addr().expect("an address");
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::Relaxed);
            let acceptor = acceptor.clone();
            tokio::spawn(async move { answer(acceptor.accept(connection).await?).await });
        }
    });
    (format!("https://{address}"), connections)
}

/// Reads a request, whose body is one object of JSON, and answers.
async fn answer(mut stream: tokio_rustls::server::TlsStream<TcpStream>) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"}") {
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    stream.write_all(ANSWER.as_bytes()).await?;
    stream.shutdown().await
}

async fn listener() -> TcpListener {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port")
}

fn model(url: &str) -> OpenAi {
    OpenAi::new("gpt-4.1", KEY).base_url(url)
}

async fn failure(model: &dyn Model) -> ModelFailure {
    model.answer(&question(), &mut |_| {}).await.expect_err("nobody to trust")
}

#[tokio::test]
async fn a_certificate_of_ones_own_is_trusted_where_it_is_given() {
    let (authority, other) = (Authority::named("ours"), Authority::named("another"));
    let made_anew = Authority::named("ours");
    let url = authority.server("127.0.0.1", |_| {}).await;
    let both = format!("{}{}", other.pem(), authority.pem());
    for trusting in [
        model(&url).root_certificate(authority.pem()),
        model(&url).root_certificate(other.pem()).root_certificate(authority.pem()),
        model(&url).root_certificate(both),
    ] {
        assert_eq!(trusting.answer(&question(), &mut |_| {}).await.expect("an answer").text, "safe");
    }
    for distrusting in [
        model(&url),
        model(&url).root_certificate(other.pem()),
        model(&url).root_certificate(made_anew.pem()),
    ] {
        let failure = failure(&distrusting).await;
        assert!(failure.hint.as_deref().is_some_and(|hint| hint.contains("root_certificate")), "{failure:?}");
    }
}

/// Elsewhere the platform judges, in words of its own.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn whoever_is_not_trusted_is_not_spoken_to_and_it_is_said_why() {
    let authority = Authority::named("ours");
    let long_ago = |params: &mut CertificateParams| params.not_after = rcgen::date_time_ymd(2001, 1, 1);
    let tomorrow = |params: &mut CertificateParams| params.not_before = rcgen::date_time_ymd(4000, 1, 1);
    let of_authority =
        |params: &mut CertificateParams| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    for (url, words, hint) in [
        (authority.server("example.com", |_| {}).await, "is for other names", "a name in the base address"),
        (authority.server("127.0.0.1", long_ago).await, "has expired", "renew it"),
        (authority.server("127.0.0.1", tomorrow).await, "is not valid yet", "the clock"),
        (authority.server("127.0.0.1", of_authority).await, "is not accepted", "not one of an authority"),
    ] {
        let failure = failure(&model(&url).root_certificate(authority.pem())).await;
        assert_eq!((failure.kind, failure.status), (FailureKind::Other, None), "{failure}");
        assert!(failure.message.starts_with("the certificate of the service"), "{failure}");
        assert!(failure.message.contains(words), "{words}: {failure}");
        assert!(failure.hint.as_deref().is_some_and(|said| said.contains(hint)), "{failure:?}");
        assert!(!failure.message.contains("127.0.0.1:"), "{failure}");
    }
}

/// Every provider has the way out, and a run says it: once, since the next time would be the same.
#[tokio::test]
async fn a_run_says_what_to_do_about_a_certificate() {
    let (url, connections) = &Authority::named("ours").counted("127.0.0.1", |_| {}).await;
    let strange = &Authority::named("another").pem();
    let models: [Arc<dyn Model>; 6] = [
        Arc::new(Anthropic::new("claude-opus-5", KEY).base_url(url).root_certificate(strange.as_str())),
        Arc::new(OpenAi::new("gpt-4.1", KEY).base_url(url).root_certificate(strange.as_str())),
        Arc::new(OpenAiResponses::new("gpt-5.5", KEY).base_url(url).root_certificate(strange.as_str())),
        Arc::new(Gemini::new("gemini-3.8-flash", KEY).base_url(url).root_certificate(strange.as_str())),
        Arc::new(Ollama::new("qwen3").base_url(url).root_certificate(strange.as_str())),
        Arc::new(OpenAiCompatible::new("qwen3", url).root_certificate(strange.as_str())),
    ];
    for model in models {
        let before = connections.load(Ordering::Relaxed);
        let error = ModelRun::shared(model).prompt("how many?").await.expect_err("nobody to trust");
        assert!(error.to_string().contains("signed by nobody whom this machine trusts"), "{error}");
        assert!(error.hints().iter().any(|hint| hint.contains("root_certificate")), "{error:?}");
        assert_eq!(connections.load(Ordering::Relaxed), before + 1, "it is asked once");
    }
}

#[tokio::test]
async fn a_certificate_that_is_none_is_refused_before_anything_is_sent() {
    let url = Authority::named("ours").server("127.0.0.1", |_| {}).await;
    let broken = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
    for pem in ["", "hello", broken] {
        let failure = failure(&model(&url).root_certificate(pem)).await;
        assert_eq!(failure.kind, FailureKind::Request, "{failure}");
        assert!(failure.message.contains("root certificate that was given"), "{failure}");
        assert!(failure.hint.is_some_and(|hint| hint.contains("PEM")));
    }
}

#[tokio::test]
async fn a_server_without_tls_is_told_from_one_that_is_gone() {
    let plain = super::Service::OpenAi.server([]);
    let failure = failure(&model(&plain.url().replace("http://", "https://"))).await;
    assert_eq!(failure.message, "what is at the base address does not speak TLS");
    assert!(failure.hint.is_some_and(|hint| hint.contains("http://")));
}

#[tokio::test]
async fn nobody_waits_longer_for_a_connection_than_they_said() {
    // The connection stands; the handshake never ends.
    let silent = listener().await;
    let url = format!("https://{}", silent.local_addr().expect("an address"));
    assert_given_up(&url).await;
}

/// As behind a firewall that drops what comes: the queue of who listens is full, so that nobody answers.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_black_hole_is_given_up_in_time() {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).expect("a free port");
    let full = socket.listen(1).expect("a queue of one");
    let address = full.local_addr().expect("an address");
    let mut waiting = Vec::new();
    while let Ok(Ok(stream)) =
        tokio::time::timeout(Duration::from_millis(200), TcpStream::connect(address)).await
    {
        waiting.push(stream);
        assert!(waiting.len() < 100, "the queue has no end");
    }
    assert_given_up(&format!("http://{address}")).await;
}

async fn assert_given_up(url: &str) {
    let began = Instant::now();
    let failure = failure(&model(url).connect_timeout(Duration::from_millis(300))).await;
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (FailureKind::Transport, "the service could not be reached within 0.3 s")
    );
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

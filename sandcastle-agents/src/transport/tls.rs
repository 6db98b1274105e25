//! How the other side proves who it is: by a certificate that the platform trusts, or one that the caller does.
//!
//! The client gets its cryptography handed to it: nothing is installed for the whole process, where it could clash with
//! what the program around it has installed. There is no way to trust everybody.

use std::error::Error;
use std::io;
use std::sync::Arc;

use reqwest::Url;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use super::{Objection, unusable};

/// Certificates are judged as the platform does. Where there are none to judge, none are looked for: a machine without any
/// can still talk to a server of its own.
pub(super) fn config(base: &Url, roots: &[Arc<[u8]>]) -> Result<ClientConfig, Objection> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = certificates(roots)?;
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error))?;
    let mut config = match base.scheme() {
        "https" => {
            let verifier: Arc<dyn ServerCertVerifier> =
                Arc::new(Verifier::new_with_extra_roots(roots, provider).map_err(|error| no_roots(&error))?);
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        }
        _ => builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The certificates that were given, each of which may be several.
fn certificates(roots: &[Arc<[u8]>]) -> Result<Vec<CertificateDer<'static>>, Objection> {
    let mut all = Vec::new();
    for pem in roots {
        let known = all.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            all.push(certificate.map_err(|error| no_certificate(&error.to_string()))?);
        }
        if all.len() == known {
            return Err(no_certificate("there is none in it"));
        }
    }
    Ok(all)
}

fn no_certificate(problem: &str) -> Objection {
    let problem = format!("the root certificate that was given cannot be read: {problem}");
    Objection::to_what_was_given(problem)
        .with_hint("give it as PEM, which begins with `-----BEGIN CERTIFICATE-----`")
}

fn no_roots(error: &rustls::Error) -> Objection {
    unusable(error).with_hint(
        "install the certificates of this system (`ca-certificates`), or give one with `root_certificate`",
    )
}

/// Why the other side is not spoken to, if it is for what it proves, or cannot prove. The next time it would be the same.
pub(crate) fn objection_of(error: &reqwest::Error) -> Option<Objection> {
    let (problem, hint) = match find(error).filter(|_| error.is_connect())? {
        rustls::Error::InvalidCertificate(problem) => distrust(problem),
        rustls::Error::InvalidMessage(_) => (
            "what is at the base address does not speak TLS".to_owned(),
            "begin the base address with `http://` if the server is yours and means to do without",
        ),
        _ => return None,
    };
    Some(Objection::new(problem).with_hint(hint))
}

/// What is wrong with a certificate, and what can be done about it.
fn distrust(problem: &CertificateError) -> (String, &'static str) {
    use CertificateError as Wrong;
    let (words, hint) = match problem {
        // A bad signature is that of another authority which has the same name: one that was made anew.
        Wrong::UnknownIssuer | Wrong::BadSignature => (
            "is signed by nobody whom this machine trusts",
            "give the certificate of who signed it with `root_certificate`",
        ),
        Wrong::NotValidForName | Wrong::NotValidForNameContext { .. } => (
            "is for other names than that in the base address",
            "use a name in the base address that the certificate is for",
        ),
        Wrong::Expired | Wrong::ExpiredContext { .. } => {
            ("has expired", "renew it at the server, and see that the clock of this machine is right")
        }
        Wrong::NotValidYet | Wrong::NotValidYetContext { .. } => {
            ("is not valid yet", "see that the clock of this machine is right")
        }
        other => {
            return (
                format!("the certificate of the service is not accepted: {other}"),
                "give the server a certificate of its own, not one of an authority (`CA:TRUE`), and who signed it with `root_certificate`",
            );
        }
    };
    (format!("the certificate of the service {words}"), hint)
}

/// What TLS had to object to, beneath the errors of those who asked for it.
fn find(error: &reqwest::Error) -> Option<&rustls::Error> {
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref() {
            return Some(found);
        }
        // What an error of the system wraps is not among its sources.
        let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => cause.source(),
        };
    }
    None
}

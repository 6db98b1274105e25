//! The client that speaks HTTP, and the headers of a request.
//!
//! Nothing is sent here, and how the other side proves who it is stands in `tls`.

use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use sandcastle_core::event::FailureKind;
use sandcastle_core::model::ModelFailure;

use super::{KeyHeader, Proxies, Service, tls};
use crate::models::key::ApiKey;

/// Builds the client for a service, which is at `base`.
pub(super) fn build(base: &Url, service: &Service) -> Result<Client, ModelFailure> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls::config(base, &service.roots)?)
        .redirect(Policy::none())
        .connect_timeout(service.connect)
        .read_timeout(service.silence);
    let builder = match service.proxies {
        // What is on this machine is not reached by way of another one.
        Proxies::OfTheSystem if !is_loopback(base) => builder,
        _ => builder.no_proxy(),
    };
    builder.build().map_err(|error| unusable(&error))
}

/// The headers of a request. A key that no header can carry is refused without being shown.
pub(super) fn headers(
    key: Option<&(KeyHeader, ApiKey)>,
    further: &[(String, ApiKey)],
) -> Result<HeaderMap, ModelFailure> {
    if key.is_some_and(|(_, key)| key.reveal().trim().is_empty()) {
        return Err(ModelFailure::new(FailureKind::Authentication, "the key is empty"));
    }
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    match key {
        Some((KeyHeader::Bearer, key)) => {
            headers.insert(AUTHORIZATION, secret(&format!("Bearer {}", key.reveal()), "key")?);
        }
        Some((KeyHeader::Named(name), key)) => {
            headers.insert(HeaderName::from_static(name), secret(key.reveal(), "key")?);
        }
        None => {}
    }
    for (name, value) in further {
        let known = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| refused(format!("`{}` is no name of a header", name.escape_debug())))?;
        headers.insert(known, secret(value.reveal(), &format!("header `{name}`"))?);
    }
    Ok(headers)
}

fn secret(text: &str, what: &str) -> Result<HeaderValue, ModelFailure> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| refused(format!("the {what} has characters that no header can carry")))?;
    value.set_sensitive(true);
    Ok(value)
}

fn refused(problem: String) -> ModelFailure {
    ModelFailure::new(FailureKind::Request, problem)
}

fn is_loopback(base: &Url) -> bool {
    let host = base.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

pub(super) fn unusable(error: &dyn std::error::Error) -> ModelFailure {
    ModelFailure::new(FailureKind::Other, format!("no connection can be made from here: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_built_without_anything_installed() {
        for base in ["https://api.example.com", "http://127.0.0.1:1"] {
            let base = Url::parse(base).unwrap();
            build(&base, &Service::at(base.as_str())).unwrap();
        }
        assert!(rustls::crypto::CryptoProvider::get_default().is_none());
    }

    #[test]
    fn what_is_on_this_machine_is_known() {
        for (base, expected) in [
            ("http://localhost:8080", true),
            ("http://127.0.0.2/v1", true),
            ("http://[::1]:11434", true),
            ("https://localhost.example.com", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(base).unwrap()), expected, "{base}");
        }
    }

    #[test]
    fn a_key_that_is_empty_or_that_no_header_carries_is_refused_and_not_shown() {
        let key = (KeyHeader::Bearer, ApiKey::from("sk-\nsecret"));
        let failure = headers(Some(&key), &[]).unwrap_err();
        assert!(failure.kind == FailureKind::Request && !failure.message.contains("secret"), "{failure}");
        let empty = (KeyHeader::Bearer, ApiKey::from(" "));
        assert_eq!(headers(Some(&empty), &[]).unwrap_err().kind, FailureKind::Authentication);
        let failure = headers(None, &[("a b".to_owned(), ApiKey::from("v"))]).unwrap_err();
        assert!(failure.message.contains("`a b`"), "{failure}");
    }
}

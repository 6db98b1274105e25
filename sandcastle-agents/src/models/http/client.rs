//! The client that speaks HTTP to a model's service, and the headers of a request.
//!
//! Nothing is sent here, and how a service is reached stands in `transport`.

use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};
use sandcastle_core::event::FailureKind;
use sandcastle_core::model::ModelFailure;

use super::{KeyHeader, Service};
use crate::models::key::ApiKey;
use crate::transport::{Objection, Subject, unusable};

/// Builds the client for a service, which is at `base`.
pub(super) fn build(base: &Url, service: &Service) -> Result<Client, ModelFailure> {
    let builder = service.transport.client(base).map_err(failure_of)?;
    builder.read_timeout(service.silence).build().map_err(|error| failure_of(unusable(&error)))
}

/// What a model does not answer for.
pub(super) fn failure_of(objection: Objection) -> ModelFailure {
    let kind = match objection.to {
        Subject::Given => FailureKind::Request,
        Subject::Found => FailureKind::Other,
    };
    let failure = ModelFailure::new(kind, objection.words);
    match objection.hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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

//! What is asked of GitHub, by way of `octocrab`: one answer, all pages of a list, a query of GraphQL.
//!
//! A client is made for one purpose and knows how much it has read for it. Lists end: at their last page, at a bound, or
//! where a page is named for the second time.

use http::HeaderMap;
use http::header::LINK;
use octocrab::{AuthState, FromResponse, Octocrab, OctocrabBuilder};
use reqwest::Url;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::address::Address;
use super::failure::{Failure, GraphQlError};
use super::gate::Gate;
use super::page::{List, MAX_PER_PAGE, Page};

/// The most that is read of all lists together.
const MAX_ITEMS: usize = 10_000;

/// GitHub, for one purpose.
pub(super) struct Client {
    octocrab: Octocrab,
    address: Address,
    items: usize,
}

/// An answer, and what came with it.
struct Answer<T> {
    value: T,
    headers: HeaderMap,
}

/// What GraphQL answers with.
#[derive(Deserialize)]
struct Envelope {
    data: Option<Box<RawValue>>,
    errors: Option<Page<GraphQlError>>,
}

impl Client {
    /// Makes a client in the runtime that it is used in.
    pub(super) fn new(gate: Gate, address: Address) -> Self {
        let service = tower::service_fn(move |request| gate.clone().pass(request));
        let builder = OctocrabBuilder::new_empty().with_service(service).with_auth(AuthState::None);
        let octocrab = builder.build().unwrap_or_else(|never| match never {});
        Self { octocrab, address, items: 0 }
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Reads one thing.
    pub(super) async fn get<T: DeserializeOwned>(&self, url: &Url) -> Result<T, Failure> {
        Ok(self.ask(url, None).await?.value)
    }

    /// Says something.
    pub(super) async fn post<T: DeserializeOwned>(&self, url: &Url, body: &Value) -> Result<T, Failure> {
        Ok(self.ask(url, Some(body)).await?.value)
    }

    /// Reads all pages of a list.
    pub(super) async fn list<T: DeserializeOwned>(&mut self, mut first: Url) -> Result<Vec<T>, Failure> {
        first.query_pairs_mut().append_pair("per_page", &MAX_PER_PAGE.to_string());
        let mut list = List::from(first.to_string());
        while let Some(page) = list.turn()? {
            let page = self.within(&page)?;
            let answer: Answer<Page<T>> = self.ask(&page, None).await?;
            self.count(answer.value.0.len())?;
            list.add(answer.value.0, next(&answer.headers));
        }
        Ok(list.items)
    }

    /// Asks, or says, something in GraphQL. An answer that is only a part of one is none.
    pub(super) async fn query<T: DeserializeOwned>(
        &self,
        query: &str,
        variables: &Value,
    ) -> Result<T, Failure> {
        let body = json!({ "query": query, "variables": variables });
        let answer: Answer<Envelope> = self.ask(&self.address.graphql(), Some(&body)).await?;
        match (answer.value.data, answer.value.errors) {
            (_, Some(errors)) if !errors.0.is_empty() => Err(Failure::of_errors(&errors.0, &answer.headers)),
            (Some(data), _) => {
                let mut data = serde_json::Deserializer::from_str(data.get());
                serde_path_to_error::deserialize(&mut data).map_err(Failure::strange)
            }
            (None, _) => Err(Failure::strange("it has neither data nor errors")),
        }
    }

    /// Counts what came in a page, towards the bound of all.
    pub(super) fn count(&mut self, items: usize) -> Result<(), Failure> {
        self.items += items;
        if self.items > MAX_ITEMS {
            return Err(Failure::beyond(format!("more than {MAX_ITEMS} comments, reviews and issues")));
        }
        Ok(())
    }

    async fn ask<T: DeserializeOwned>(&self, url: &Url, body: Option<&Value>) -> Result<Answer<T>, Failure> {
        let sent = match body {
            None => self.octocrab._get(url.as_str()).await,
            Some(body) => self.octocrab._post(url.as_str(), Some(body)).await,
        };
        let response = octocrab::map_github_error(sent?).await?;
        let headers = response.headers().clone();
        Ok(Answer { value: T::from_response(response).await?, headers })
    }

    /// The address of a page, which may not be elsewhere: what is asked there is asked with the token.
    fn within(&self, page: &str) -> Result<Url, Failure> {
        let url = self.address.url().join(page).ok().filter(|url| self.address.holds(url));
        url.ok_or_else(|| Failure::strange("it names a next page that is not at the base address"))
    }
}

/// Where a list of the REST interface goes on, if it does.
fn next(headers: &HeaderMap) -> Option<String> {
    let links = headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
    links.into_iter().find_map(next_of).map(str::to_owned)
}

/// The target of the link that is called `next`. (Of relations that it does not know, `octocrab` would tell the terminal.)
fn next_of(links: &str) -> Option<&str> {
    links.split('<').skip(1).find_map(|link| {
        let (target, parameters) = link.split_once('>')?;
        let mut parameters = parameters.split([';', ',']).map(str::trim);
        parameters.any(|parameter| matches!(parameter, "rel=\"next\"" | "rel=next")).then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_to_the_next_page_is_found() {
        let last = r#"<https://x/?page=1>; rel="prev", <https://x/?page=1>; rel="first""#;
        let middle = r#"<https://x/?page=1>; rel="prev", <https://x/?a=1,2&page=3>; rel="next", <https://x/?page=9>; rel="last""#;
        assert_eq!(next_of(middle), Some("https://x/?a=1,2&page=3"));
        for none in [last, "", "rel=\"next\"", "<https://x", r#"<https://x>; rel="nextish""#] {
            assert_eq!(next_of(none), None, "{none}");
        }
    }
}

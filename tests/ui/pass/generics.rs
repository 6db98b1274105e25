//! Parameters need what the type needs, no more: serde's and schemars' own bounds decide.

use std::fmt::Display;
use std::marker::PhantomData;

use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "found")]
struct Found<T, E = String>
where
    E: Display,
{
    value: Option<T>,
    error: Option<E>,
}

/// Neither can be read nor described, and need not be.
struct Unit;

#[derive(Deserialize, JsonSchema, AgentOutput)]
#[serde(bound = "")]
#[schemars(bound = "")]
#[output(tag = "length")]
struct Length<U: Send + 'static> {
    metres: f64,
    #[serde(skip)]
    unit: PhantomData<U>,
}

trait Source {
    type Item;
}

struct Files;

impl Source for Files {
    type Item = String;
}

#[derive(Deserialize, JsonSchema, AgentOutput)]
#[serde(bound = "S::Item: DeserializeOwned")]
#[schemars(bound = "S::Item: JsonSchema")]
#[output(tag = "listing", validate = "Self::check")]
struct Listing<S: Source, const LIMIT: usize>
where
    S::Item: Send + 'static,
{
    items: Vec<S::Item>,
}

impl<S: Source, const LIMIT: usize> Listing<S, LIMIT>
where
    S::Item: Send + 'static,
{
    fn check(&self) -> Result<(), Vec<sandcastle::output::Problem>> {
        if self.items.len() <= LIMIT {
            return Ok(());
        }
        Err(vec![sandcastle::output::Problem::new("/items", format!("must have at most {LIMIT} items"))])
    }
}

#[derive(AgentOutput)]
#[output(tag = "name", text)]
struct Name<S: From<String> + Send + 'static>(S);

fn asked<O: AgentOutput>() -> &'static str {
    O::TAG
}

fn main() {
    let tags = [asked::<Found<u8>>(), asked::<Length<Unit>>(), asked::<Name<Box<str>>>()];
    assert_eq!(tags, ["found", "length", "name"]);

    let found = Found::<u8>::extract(r#"<found>{"value":3,"error":null}</found>"#).unwrap();
    assert_eq!((found.value, found.error), (Some(3), None));
    assert!(Found::<u8>::extract(r#"<found>{"value":"3","error":null}</found>"#).is_err());

    let length = Length::<Unit>::extract(r#"<length>{"metres":2.5}</length>"#).unwrap();
    assert_eq!((length.metres, length.unit), (2.5, PhantomData));

    let text = r#"<listing>{"items":["a","b"]}</listing>"#;
    assert_eq!(Listing::<Files, 2>::extract(text).unwrap().items, ["a", "b"]);
    assert!(Listing::<Files, 1>::extract(text).is_err());

    assert_eq!(&*Name::<Box<str>>::extract("<name>Ada</name>").unwrap().0, "Ada");
}

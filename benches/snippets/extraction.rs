//! Answers read out of documents: invoices, people, events, addresses.

use std::collections::BTreeMap;

use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::Deserialize;

/// An invoice, as it is printed.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "invoice")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Invoice {
    #[schemars(length(min = 1, max = 40))]
    number: String,
    #[schemars(extend("format" = "date"))]
    issued: String,
    #[schemars(extend("format" = "date"))]
    due: Option<String>,
    seller: Party,
    buyer: Party,
    /// ISO 4217.
    #[schemars(regex(pattern = "^[A-Z]{3}$"))]
    currency: String,
    #[schemars(length(min = 1))]
    lines: Vec<InvoiceLine>,
    /// In the smallest unit of the currency, with tax.
    total: i64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Party {
    name: String,
    /// One line.
    address: String,
    #[schemars(regex(pattern = "^[A-Z]{2}[0-9A-Z]{2,12}$"))]
    vat_id: Option<String>,
    #[schemars(email)]
    email: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct InvoiceLine {
    description: String,
    #[schemars(extend("exclusiveMinimum" = 0))]
    quantity: f64,
    /// In the smallest unit of the currency, without tax.
    unit_price: i64,
    /// In percent.
    #[schemars(range(min = 0.0, max = 30.0))]
    tax_rate: f64,
}

/// What a curriculum vitae says.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "candidate")]
pub(crate) struct Candidate {
    name: String,
    #[schemars(email)]
    email: Option<String>,
    /// With the country code.
    #[schemars(regex(pattern = r"^\+[0-9]{6,15}$"))]
    phone: Option<String>,
    #[schemars(url)]
    website: Option<String>,
    /// Newest first.
    positions: Vec<Position>,
    /// From 1 (heard of it) to 5 (teaches it).
    skills: BTreeMap<String, Level>,
    languages: Vec<Language>,
}

#[derive(Deserialize, JsonSchema)]
struct Position {
    employer: String,
    title: String,
    /// Year and month, such as `2021-04`.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}$"))]
    from: String,
    /// Absent for the present position.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}$"))]
    to: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Level(#[schemars(range(min = 1, max = 5))] u8);

#[derive(Deserialize, JsonSchema)]
struct Language {
    /// ISO 639-1.
    #[schemars(length(equal = 2))]
    code: String,
    level: LanguageLevel,
}

#[derive(Deserialize, JsonSchema)]
enum LanguageLevel {
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
}

/// Places that a text speaks of.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "places")]
pub(crate) struct Places {
    places: Vec<Place>,
    /// Smallest box around all of them: west, south, east, north.
    bounds: (f64, f64, f64, f64),
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    name: String,
    kind: PlaceKind,
    #[schemars(range(min = -90.0, max = 90.0))]
    latitude: f64,
    #[schemars(range(min = -180.0, max = 180.0))]
    longitude: f64,
    /// Words of the text that name it.
    #[schemars(length(min = 1))]
    mentions: Vec<String>,
    population: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PlaceKind {
    Country,
    Region,
    City,
    Building,
    Other,
}

/// Events of an e-mail thread for a calendar.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "events")]
pub(crate) struct Events {
    #[schemars(length(max = 10))]
    events: Vec<Event>,
}

#[derive(Deserialize, JsonSchema)]
struct Event {
    title: String,
    when: When,
    location: Location,
    #[schemars(inner(email))]
    attendees: Vec<String>,
    /// Minutes before the start.
    #[serde(default)]
    #[schemars(inner(range(min = 0, max = 10080)))]
    reminders: Vec<u16>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum When {
    /// A whole day.
    Day {
        #[schemars(extend("format" = "date"))]
        date: String,
    },
    Span {
        #[schemars(extend("format" = "date-time"))]
        start: String,
        #[schemars(extend("format" = "date-time"))]
        end: String,
    },
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", content = "at", rename_all = "lowercase")]
enum Location {
    /// Street and town.
    Address(String),
    /// Link to the call.
    Online(String),
    Unknown,
}

/// A recipe from a web page.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "recipe")]
pub(crate) struct Recipe {
    title: String,
    #[schemars(range(min = 1, max = 24))]
    servings: u8,
    minutes: u16,
    ingredients: Vec<Ingredient>,
    #[schemars(length(min = 1), inner(length(min = 5)))]
    steps: Vec<String>,
    diet: Vec<Diet>,
}

#[derive(Deserialize, JsonSchema)]
struct Ingredient {
    name: String,
    /// Absent for "to taste".
    amount: Option<f32>,
    unit: Option<Unit>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    G,
    Ml,
    Piece,
    Spoon,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Diet {
    Vegan,
    Vegetarian,
    GlutenFree,
    LactoseFree,
}

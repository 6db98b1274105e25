//! The animals of the zoo: a type for each way in which serde writes structs and enums, and for their combinations.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroU8;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Part {
    pub(super) c: String,
    pub(super) d: Option<u8>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct UnitStruct;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Empty {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Newtype(pub(super) u32);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Pair(pub(super) u8, pub(super) String);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) enum Unit {
    A,
    #[serde(rename = "b c")]
    B,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) enum DocumentedUnit {
    /// The first.
    A,
    /// The second.
    B,
    C,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) enum External {
    A,
    /// Documented.
    B,
    C(i64),
    D(u8, bool),
    E {
        x: Option<i8>,
        #[serde(default)]
        y: Vec<Unit>,
    },
    F(Part),
    G(Option<u8>),
    H(UnitStruct),
    I(),
    J {},
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum Internal {
    Nothing,
    /// Documented.
    Square {
        side: u8,
    },
    Wrapped(Part),
    WithUnit(UnitStruct),
    WithEmpty(Empty),
    WithMap(BTreeMap<String, u8>),
    Nested(Inner),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "inner")]
pub(super) enum Inner {
    X,
    Y { size: u8 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClosedPart {
    pub(super) e: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", deny_unknown_fields)]
pub(super) enum ClosedInternal {
    Nothing,
    Square { side: u8 },
    Wrapped(ClosedPart),
    Open(Part),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c", deny_unknown_fields)]
pub(super) enum Adjacent {
    Nothing,
    One(f32),
    Two(u8, u8),
    Square { side: u8 },
    Maybe(Option<Part>),
    WithUnit(()),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Untagged {
    Nothing,
    Flag(bool),
    Number(i32),
    Text(String),
    Many(Vec<u8>),
    Square { side: u8 },
    Closed(ClosedPart),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Flat<E> {
    pub(super) property: String,
    #[serde(flatten)]
    pub(super) rest: E,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClosedFlat<E> {
    pub(super) property: String,
    #[serde(flatten)]
    pub(super) rest: E,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct TwoFlat<A, B> {
    #[serde(flatten)]
    pub(super) a: A,
    #[serde(flatten)]
    pub(super) b: B,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Defaults {
    pub(super) first_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) pet_names: Vec<String>,
    #[serde(skip)]
    pub(super) secret: u8,
    pub(super) nested: Option<Option<u8>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) enum Recursive {
    Leaf(u8),
    Node(Vec<Recursive>),
    Named(BTreeMap<String, Recursive>),
    Pair { left: Box<Recursive>, right: Option<Box<Recursive>> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Numbers {
    pub(super) a: u8,
    pub(super) b: i16,
    pub(super) c: u32,
    pub(super) d: i64,
    pub(super) e: u64,
    pub(super) f: u128,
    pub(super) g: i128,
    pub(super) h: f32,
    pub(super) i: f64,
    pub(super) j: NonZeroU8,
    pub(super) k: usize,
    pub(super) l: char,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Collections {
    pub(super) array: [u8; 3],
    pub(super) tuple: (u8, String, Option<bool>),
    pub(super) set: BTreeSet<u8>,
    pub(super) by_number: BTreeMap<u8, bool>,
    pub(super) by_variant: HashMap<Key, Vec<Option<Part>>>,
    pub(super) boxed: Box<str>,
    pub(super) unit: (),
    pub(super) result: Result<u8, String>,
    pub(super) any: serde_json::Value,
    pub(super) bound: std::ops::Range<u8>,
    pub(super) path: std::path::PathBuf,
    pub(super) address: std::net::IpAddr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Key {
    One,
    TwoWords,
}

/// A tagged enum around structs that restrict other fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
pub(super) enum Restricted {
    Rest(Flat<Map>),
    Closed(ClosedFlat<Part>),
    Deep(Flat<Option<ClosedInternal>>),
}

pub(super) type Map = BTreeMap<String, u8>;

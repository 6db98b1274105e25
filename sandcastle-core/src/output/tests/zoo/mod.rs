//! Whatever a type serialises to fits the type's schema and is read back: in every representation that serde has.

mod animals;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Debug;
use std::num::NonZeroU8;

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use self::animals::*;
use super::outputs;
use crate::output::{AgentOutput, OutputSpec, typed};

/// An output of any type, so that the zoo needs no tag for each animal.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Caged<T>(T);

macro_rules! cage {
    ($($type:ty),+ $(,)?) => { outputs!($(Caged<$type>),+); };
}

#[track_caller]
fn round_trip<T>(values: impl IntoIterator<Item = T>)
where
    Caged<T>: AgentOutput + Serialize + DeserializeOwned + PartialEq + Debug,
{
    let spec = OutputSpec::of::<Caged<T>>();
    let schema = OutputSpec::json("result", spec.schema().clone()).unwrap();
    for value in values {
        let value = Caged(value);
        let json = serde_json::to_string(&value).unwrap();
        if serde_json::from_str::<Caged<T>>(&json).ok().as_ref() != Some(&value) {
            // Some combinations of attributes write what they do not read, such as the same key twice.
            continue;
        }
        if let Err(error) = schema.read_block(&json) {
            panic!("{json}\n{error:#}\n{:#}", spec.schema());
        }
        assert_eq!(typed::read::<Caged<T>>(&json, &spec).unwrap(), value, "{json}");
    }
}

cage![
    Part, UnitStruct, Empty, Newtype, Pair, Unit, DocumentedUnit, External, Internal, ClosedInternal, Adjacent,
    Untagged, Defaults, Recursive, Numbers, Collections, Restricted, Flat<Restricted>, Vec<Restricted>,
    Flat<Part>, Flat<External>, Flat<Internal>, Flat<ClosedInternal>, Flat<Adjacent>, Flat<Untagged>, Flat<Map>,
    Flat<Inner>, Flat<Empty>, Flat<ClosedPart>, Flat<TwoFlat<Part, Inner>>, Flat<Flat<Inner>>, Flat<DocumentedUnit>,
    Flat<Option<Part>>, Flat<Option<External>>, Flat<Option<Internal>>, Flat<Option<Adjacent>>,
    Flat<Option<Untagged>>, Flat<Option<Inner>>, Flat<Option<Unit>>, Flat<Option<DocumentedUnit>>, Flat<Option<Map>>,
    ClosedFlat<Part>, ClosedFlat<External>, ClosedFlat<Inner>, ClosedFlat<Adjacent>, ClosedFlat<ClosedPart>,
    ClosedFlat<Map>, ClosedFlat<Option<Part>>, ClosedFlat<Option<Inner>>, ClosedFlat<Option<External>>,
    ClosedFlat<TwoFlat<Part, Inner>>, ClosedFlat<Flat<Inner>>, ClosedFlat<Untagged>,
    TwoFlat<Part, Inner>, TwoFlat<Inner, Internal>, TwoFlat<Inner, Map>, TwoFlat<Part, Option<Inner>>,
    TwoFlat<Option<Inner>, Option<Internal>>, TwoFlat<External, Internal>, TwoFlat<Untagged, Inner>,
    TwoFlat<Part, ClosedFlat<Inner>>,
];

fn externals() -> Vec<External> {
    use External::*;
    vec![
        A,
        B,
        C(i64::MIN),
        D(1, true),
        E { x: None, y: vec![Unit::A, Unit::B] },
        E { x: Some(-1), y: Vec::new() },
        F(Part { c: String::new(), d: None }),
        G(None),
        G(Some(1)),
        H(UnitStruct),
        I(),
        J {},
    ]
}

fn part() -> Part {
    Part { c: "x".to_owned(), d: Some(1) }
}

fn internals() -> Vec<Internal> {
    use Internal::*;
    vec![
        Nothing,
        Square { side: 1 },
        Wrapped(part()),
        WithUnit(UnitStruct),
        WithEmpty(Empty {}),
        WithMap(BTreeMap::from([("a".to_owned(), 1)])),
        Nested(Inner::X),
        Nested(Inner::Y { size: 1 }),
    ]
}

fn adjacents() -> Vec<Adjacent> {
    use Adjacent::*;
    vec![Nothing, One(0.1), Two(1, 2), Square { side: 1 }, Maybe(None), Maybe(Some(part())), WithUnit(())]
}

fn untagged() -> Vec<Untagged> {
    use Untagged::*;
    vec![
        Nothing,
        Flag(true),
        Number(i32::MIN),
        Text("a".to_owned()),
        Many(vec![1]),
        Square { side: 1 },
        Closed(ClosedPart { e: true }),
    ]
}

fn inners() -> Vec<Inner> {
    vec![Inner::X, Inner::Y { size: 1 }]
}

fn closed_internals() -> Vec<ClosedInternal> {
    use ClosedInternal::*;
    vec![Nothing, Square { side: 1 }, Wrapped(ClosedPart { e: true }), Open(part())]
}

fn restricted() -> Vec<Restricted> {
    let rest = Map::from([("a".to_owned(), 1)]);
    let mut all = vec![Restricted::Rest(Flat { property: "p".to_owned(), rest })];
    all.extend(closed([part()]).into_iter().map(Restricted::Closed));
    all.extend(flat(maybe(closed_internals())).into_iter().map(Restricted::Deep));
    all
}

fn flat<E>(rests: impl IntoIterator<Item = E>) -> Vec<Flat<E>> {
    rests.into_iter().map(|rest| Flat { property: "p".to_owned(), rest }).collect()
}

fn closed<E>(rests: impl IntoIterator<Item = E>) -> Vec<ClosedFlat<E>> {
    rests.into_iter().map(|rest| ClosedFlat { property: "p".to_owned(), rest }).collect()
}

fn maybe<E>(values: impl IntoIterator<Item = E>) -> Vec<Option<E>> {
    let mut all: Vec<_> = values.into_iter().map(Some).collect();
    all.push(None);
    all
}

fn both<A: Clone, B: Clone>(
    a: impl IntoIterator<Item = A>,
    b: impl IntoIterator<Item = B>,
) -> Vec<TwoFlat<A, B>> {
    let b: Vec<_> = b.into_iter().collect();
    let pair = |a: A| b.iter().map(move |b| TwoFlat { a: a.clone(), b: b.clone() }).collect::<Vec<_>>();
    a.into_iter().flat_map(pair).collect()
}

#[test]
fn structs_fit_their_schema() {
    round_trip([part(), Part { c: String::new(), d: None }]);
    round_trip([UnitStruct]);
    round_trip([Empty {}]);
    round_trip([Newtype(u32::MAX)]);
    round_trip([Pair(0, "a".to_owned())]);
    round_trip([
        Defaults::default(),
        Defaults { last_name: Some("x".into()), nested: Some(Some(1)), ..Default::default() },
    ]);
}

#[test]
fn enums_fit_their_schema() {
    round_trip([Unit::A, Unit::B]);
    round_trip([DocumentedUnit::A, DocumentedUnit::B, DocumentedUnit::C]);
    round_trip(externals());
    round_trip(internals());
    round_trip(closed_internals());
    round_trip(restricted());
    round_trip([restricted()]);
    round_trip(adjacents());
    round_trip(untagged());
}

#[test]
fn numbers_and_collections_fit_their_schema() {
    round_trip([Numbers {
        a: u8::MAX,
        b: i16::MIN,
        c: u32::MAX,
        d: i64::MIN,
        e: u64::MAX,
        f: u128::MAX,
        g: i128::MIN,
        h: f32::MIN_POSITIVE,
        i: f64::MAX,
        j: NonZeroU8::MIN,
        k: usize::MAX,
        l: '\u{1f980}',
    }]);
    round_trip([Collections {
        array: [1, 2, 3],
        tuple: (1, "a".to_owned(), None),
        set: BTreeSet::from([1, 2]),
        by_number: BTreeMap::from([(1, true)]),
        by_variant: HashMap::from([(Key::TwoWords, vec![None, Some(part())]), (Key::One, Vec::new())]),
        boxed: "a".into(),
        unit: (),
        result: Err("no".to_owned()),
        any: serde_json::json!({ "a": [null, 1.5] }),
        bound: 1..3,
        path: "/a/b".into(),
        address: std::net::IpAddr::from([127, 0, 0, 1]),
    }]);
}

#[test]
fn flattened_parts_fit_their_schema() {
    round_trip(flat([part()]));
    round_trip(flat(externals()));
    round_trip(flat(internals()));
    round_trip(flat(closed_internals()));
    round_trip(flat(adjacents()));
    round_trip(flat([
        Untagged::Square { side: 1 },
        Untagged::Closed(ClosedPart { e: true }),
        Untagged::Nothing,
    ]));
    round_trip(flat([Map::from([("a".to_owned(), 1)]), Map::new()]));
    round_trip(flat(inners()));
    round_trip(flat([Empty {}]));
    round_trip(flat([ClosedPart { e: true }]));
    round_trip(flat(both(vec![part()], inners())));
    round_trip(flat(flat(inners())));
    round_trip(flat(restricted()));
    round_trip(flat([DocumentedUnit::A, DocumentedUnit::C]));
}

#[test]
fn case_084_flattened_options_fit_their_schema() {
    round_trip(flat(maybe([part()])));
    round_trip(flat(maybe(externals())));
    round_trip(flat(maybe(internals())));
    round_trip(flat(maybe(adjacents())));
    round_trip(flat(maybe([Untagged::Square { side: 1 }, Untagged::Closed(ClosedPart { e: true })])));
    round_trip(flat(maybe(inners())));
    round_trip(flat(maybe([Unit::A, Unit::B])));
    round_trip(flat(maybe([DocumentedUnit::A, DocumentedUnit::C])));
    round_trip(flat(maybe([Map::from([("a".to_owned(), 1)])])));
}

#[test]
fn case_081_closed_structs_with_flattened_parts_fit_their_schema() {
    round_trip(closed([part()]));
    round_trip(closed(externals()));
    round_trip(closed(inners()));
    round_trip(closed(adjacents()));
    round_trip(closed([ClosedPart { e: true }]));
    round_trip(closed([Map::from([("a".to_owned(), 1)])]));
    round_trip(closed(maybe([part()])));
    round_trip(closed(maybe(inners())));
    round_trip(closed(maybe(externals())));
    round_trip(closed(both(vec![part()], inners())));
    round_trip(closed(flat(inners())));
    round_trip(closed([Untagged::Square { side: 1 }, Untagged::Closed(ClosedPart { e: true })]));
}

#[test]
fn several_flattened_parts_fit_their_schema() {
    round_trip(both(vec![part()], inners()));
    round_trip(both(inners(), internals()));
    round_trip(both(inners(), vec![Map::from([("a".to_owned(), 1)])]));
    round_trip(both(vec![part()], maybe(inners())));
    round_trip(both(maybe(inners()), maybe(internals())));
    round_trip(both(externals(), internals()));
    round_trip(both(vec![Untagged::Square { side: 1 }], inners()));
    round_trip(both(vec![part()], closed(inners())));
}

fn recursive() -> impl Strategy<Value = Recursive> {
    any::<u8>().prop_map(Recursive::Leaf).prop_recursive(6, 48, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Recursive::Node),
            prop::collection::btree_map("[a-z~/]{0,3}", inner.clone(), 0..3).prop_map(Recursive::Named),
            (inner.clone(), prop::option::of(inner)).prop_map(|(left, right)| Recursive::Pair {
                left: Box::new(left),
                right: right.map(Box::new)
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn recursive_values_fit_their_schema(value in recursive()) {
        round_trip([value]);
    }

    #[test]
    fn any_strings_and_numbers_fit_their_schema(text in ".*", small in any::<u8>(), large in any::<f32>()) {
        round_trip([Part { c: text, d: Some(small) }]);
        if large.is_finite() {
            round_trip([Adjacent::One(large)]);
        }
    }
}

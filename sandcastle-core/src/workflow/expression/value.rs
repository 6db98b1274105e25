//! JSON in and out of expressions. What comes in is looked at in place and never copied back into a template; every look at
//! it is a moment to see whether the time is up. What goes out is counted before it is made.

use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use minijinja::value::{Enumerator, Object, ObjectExt, ObjectRepr, Value, ValueKind};
use minijinja::{Error, ErrorKind};
use serde_json::Value as Json;

use crate::workflow::nearest::{instead_of, shortened};

/// The most bytes of text that an expression makes, as text or within a value.
pub(super) const MAX_SIZE: usize = 1_000_000;
/// How deep a value is at the most.
pub(super) const MAX_DEPTH: usize = 128;
/// How many misses are remembered: those that were covered by a default come before the one that was not.
const MAX_MISSES: usize = 32;

/// What all values of one rendering share.
pub(super) struct Watch {
    until: Instant,
    late: AtomicBool,
    /// The fields that were looked for in vain, and where.
    misses: Mutex<Vec<(String, Arc<Record>)>>,
}

impl Watch {
    pub(super) fn new(until: Instant) -> Arc<Self> {
        Arc::new(Self { until, late: AtomicBool::new(false), misses: Mutex::new(Vec::new()) })
    }

    /// Tells whether the time is up, or was when somebody last asked.
    pub(super) fn is_late(&self) -> bool {
        if !self.late.load(Ordering::Relaxed) && Instant::now() >= self.until {
            self.late.store(true, Ordering::Relaxed);
        }
        self.late.load(Ordering::Relaxed)
    }

    /// What is there where `field` was last looked for in vain.
    pub(super) fn instead_of(&self, field: &str) -> Option<String> {
        let misses = self.misses.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, record) = misses.iter().rev().find(|(name, _)| name == field)?;
        Some(instead_of(field, record.fields.iter().map(|(name, _)| name.as_ref())))
    }

    fn missed(&self, field: &str, record: &Arc<Record>) {
        let mut misses = self.misses.lock().unwrap_or_else(PoisonError::into_inner);
        if misses.len() == MAX_MISSES {
            misses.remove(0);
        }
        misses.push((shortened(field), Arc::clone(record)));
    }
}

/// Takes in the values that are named, as the object with which a template begins. The others cost nothing.
pub(super) fn take(
    names: &BTreeSet<&str>,
    values: &serde_json::Map<String, Json>,
    watch: &Arc<Watch>,
) -> Result<Value, Error> {
    let mut record = Record::new(watch);
    for name in names {
        if let Some(value) = values.get(*name) {
            record.insert(name, take_value(value, watch, 0)?);
        }
    }
    Ok(Value::from_object(record))
}

/// Takes in a value.
fn take_value(value: &Json, watch: &Arc<Watch>, depth: usize) -> Result<Value, Error> {
    if depth > MAX_DEPTH {
        return Err(failed(format!("a value is more than {MAX_DEPTH} levels deep")));
    }
    Ok(match value {
        Json::Null => Value::from(()),
        Json::Bool(value) => Value::from(*value),
        Json::String(text) => Value::from(text.as_str()),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::from(number),
            (None, Some(number)) => Value::from(number),
            (None, None) => Value::from(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::Array(items) => {
            let items =
                items.iter().map(|item| take_value(item, watch, depth + 1)).collect::<Result<_, _>>()?;
            Value::from_object(List { items, watch: Arc::clone(watch) })
        }
        Json::Object(fields) => {
            let mut record = Record::new(watch);
            for (name, value) in fields {
                record.insert(name, take_value(value, watch, depth + 1)?);
            }
            Value::from_object(record)
        }
    })
}

/// An object. Its fields are found by their own names, and nothing else of it can be seen.
pub(super) struct Record {
    fields: Vec<(Arc<str>, Value)>,
    index: HashMap<Arc<str>, usize>,
    watch: Arc<Watch>,
}

impl Record {
    fn new(watch: &Arc<Watch>) -> Self {
        Self { fields: Vec::new(), index: HashMap::new(), watch: Arc::clone(watch) }
    }

    fn insert(&mut self, name: &str, value: Value) {
        let name: Arc<str> = name.into();
        self.index.insert(Arc::clone(&name), self.fields.len());
        self.fields.push((name, value));
    }
}

impl Object for Record {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        if self.watch.is_late() {
            return Some(Value::from(late()));
        }
        let found = self.index.get(key).and_then(|at| self.fields.get(*at));
        if found.is_none() {
            self.watch.missed(key, self);
        }
        found.map(|(_, value)| value.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.mapped_enumerator(|record| {
            Box::new(record.fields.iter().map(|(name, _)| Value::from(Arc::clone(name))))
        })
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.fields.len())
    }
}

impl Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record").field("fields", &self.fields.len()).finish_non_exhaustive()
    }
}

/// An array.
struct List {
    items: Vec<Value>,
    watch: Arc<Watch>,
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        if self.watch.is_late() {
            return Some(Value::from(late()));
        }
        self.items.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.items.len())
    }
}

impl Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").field("items", &self.items.len()).finish_non_exhaustive()
    }
}

/// Gives a value out as JSON.
pub(super) fn give(value: &Value) -> Result<Json, Error> {
    give_within(value, &mut { MAX_SIZE }, 0)
}

fn give_within(value: &Value, left: &mut usize, depth: usize) -> Result<Json, Error> {
    if depth > MAX_DEPTH {
        return Err(failed(format!("a value is more than {MAX_DEPTH} levels deep")));
    }
    // What a value costs beside its text: quotes or brackets, a comma, a colon.
    spend(left, 4)?;
    Ok(match value.kind() {
        ValueKind::None => Json::Null,
        ValueKind::Bool => Json::Bool(value.is_true()),
        ValueKind::Number => give_number(value)?,
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            spend(left, text.len())?;
            Json::String(text.to_owned())
        }
        ValueKind::Seq | ValueKind::Iterable => {
            let mut items = Vec::new();
            for item in value.try_iter()?.checked() {
                items.push(give_within(&item?, left, depth + 1)?);
            }
            Json::Array(items)
        }
        ValueKind::Map => {
            let mut fields = serde_json::Map::new();
            for name in value.try_iter()?.checked() {
                let name = name?;
                let text = name
                    .as_str()
                    .ok_or_else(|| failed(format!("the key `{name}` of an object is no text")))?;
                spend(left, text.len())?;
                fields.insert(text.to_owned(), give_within(&value.get_item(&name)?, left, depth + 1)?);
            }
            Json::Object(fields)
        }
        ValueKind::Undefined => return Err(Error::from(ErrorKind::UndefinedError)),
        kind => return Err(failed(format!("a value of the type `{kind}` is no JSON"))),
    })
}

fn give_number(value: &Value) -> Result<Json, Error> {
    let number = if !value.is_integer() {
        let float = f64::try_from(value.clone())?;
        serde_json::Number::from_f64(float)
            .ok_or_else(|| failed(format!("`{float}` is no number of JSON")))?
    } else if let Ok(number) = i64::try_from(value.clone()) {
        number.into()
    } else if let Ok(number) = u64::try_from(value.clone()) {
        number.into()
    } else {
        return Err(failed(format!("the number {value} has more than 64 bits")));
    };
    Ok(Json::Number(number))
}

fn spend(left: &mut usize, bytes: usize) -> Result<(), Error> {
    *left = left.checked_sub(bytes).ok_or_else(|| failed(too_large()))?;
    Ok(())
}

/// Writes a value into a text: a text as it is, everything else as JSON.
pub(super) fn written(value: &Value) -> Result<String, Error> {
    Ok(match give(value)? {
        Json::String(text) => text,
        value => value.to_string(),
    })
}

pub(super) fn too_large() -> String {
    format!("it makes more than {MAX_SIZE} bytes of text")
}

pub(super) fn failed(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

fn late() -> Error {
    failed("the time is up".to_owned())
}

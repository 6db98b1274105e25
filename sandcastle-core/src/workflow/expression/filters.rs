//! Filters whose own versions would make Python of JSON, or more of it than anybody pays for.

use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error};

use super::value::{MAX_SIZE, failed, give, too_large, written};

/// Puts them in the place of those of `minijinja`, and takes its functions away.
pub(super) fn install(environment: &mut Environment<'_>) {
    let functions: Vec<String> = environment.globals().map(|(name, _)| name.to_owned()).collect();
    functions.iter().for_each(|name| environment.remove_global(name));
    environment.add_filter("string", |value: Value| written(&value));
    environment.add_filter("tojson", |value: Value| give(&value).map(|json| json.to_string()));
    environment.add_filter("join", join);
}

/// Joins items with a text between them. The one of `minijinja` counts what it has made when it is done.
#[expect(clippy::needless_pass_by_value, reason = "a filter gets its arguments by value")]
fn join(items: &Value, between: Option<String>, named: Kwargs) -> Result<String, Error> {
    let attribute: Option<String> = named.get("attribute")?;
    named.assert_all_used()?;
    let between = between.unwrap_or_default();
    let mut text = String::new();
    for (index, item) in items.try_iter()?.checked().enumerate() {
        let mut item = item?;
        for field in attribute.iter().flat_map(|path| path.split('.')) {
            item = item.get_attr(field)?;
        }
        if index > 0 {
            text.push_str(&between);
        }
        text.push_str(&written(&item)?);
        if text.len() > MAX_SIZE || index > MAX_SIZE {
            return Err(failed(too_large()));
        }
    }
    Ok(text)
}

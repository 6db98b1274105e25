//! The inside of a block, unfenced, read and held against a schema: no panic, and errors that can be shown.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sandcastle_core::OutputSpec;
use serde_json::json;

static SPECS: LazyLock<[OutputSpec; 2]> = LazyLock::new(|| {
    let strict = json!({
        "type": "object",
        "properties": {
            "n": { "type": "integer", "minimum": 0 },
            "s": { "type": ["string", "null"], "maxLength": 3 },
            "kids": { "type": "array", "items": { "$ref": "#" } }
        },
        "required": ["n"],
        "additionalProperties": false
    });
    [json!(true), strict].map(|schema| OutputSpec::json("r", schema).expect("a good schema"))
});

fuzz_target!(|block: &str| {
    for spec in &*SPECS {
        if let Err(error) = spec.read_block(block) {
            assert!(!error.problems.is_empty());
            let _ = format!("{error} {error:#} {}", error.feedback(1));
        }
    }
});

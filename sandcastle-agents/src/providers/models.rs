//! Models behind services by the names of their providers.

use std::sync::Arc;

use sandcastle_core::model::{Model, OwnTools};
use sandcastle_core::output::lower::Dialect;
use sandcastle_core::workflow::ModelSpec;
use sandcastle_core::{Error, ErrorKind, OutputStrategy, Result};

use super::nearest::unknown;
use super::shown;
use crate::models::{
    Anthropic, ApiKey, Capabilities, Gemini, Ollama, OpenAi, OpenAiCompatible, OpenAiResponses,
};

/// Where the server of llama.cpp is unless it is said.
const LLAMA_CPP: &str = "http://127.0.0.1:8080";

/// A provider of models.
struct Service {
    name: &'static str,
    make: Make,
}

/// How a model of it is made.
enum Make {
    /// With a key, which is in this variable unless another one is named.
    Keyed(&'static str, fn(&ModelSpec, ApiKey) -> Arc<dyn Model>),
    /// With a key only if one is named.
    Open(fn(&ModelSpec, Option<ApiKey>) -> Made),
}

type Made = Result<Arc<dyn Model>>;

/// Says to a model what the setters of all providers say.
macro_rules! told {
    ($model:expr, $spec:expr) => {{
        let mut model = $model;
        if let Some(timeout) = $spec.timeout {
            model = model.silence_timeout(timeout);
        }
        Arc::new(model) as Arc<dyn Model>
    }};
}

/// As [`told`], where the address is not a part of what the model is. What its wire accepts is asked before it is placed.
macro_rules! placed {
    ($model:expr, $spec:expr) => {{
        let mut model = $model;
        let capabilities = capabilities(&model, $spec);
        if let Some(base) = &$spec.base_url {
            model = model.base_url(base);
        }
        told!(capabilities.into_iter().fold(model, |model, can| model.declares(can)), $spec)
    }};
}

const SERVICES: &[Service] = &[
    Service {
        name: "anthropic",
        make: Make::Keyed("ANTHROPIC_API_KEY", |spec, key| placed!(Anthropic::new(&spec.name, key), spec)),
    },
    Service {
        name: "openai",
        make: Make::Keyed("OPENAI_API_KEY", |spec, key| placed!(OpenAi::new(&spec.name, key), spec)),
    },
    Service {
        name: "openai-responses",
        make: Make::Keyed("OPENAI_API_KEY", |spec, key| placed!(OpenAiResponses::new(&spec.name, key), spec)),
    },
    Service {
        name: "gemini",
        make: Make::Keyed("GEMINI_API_KEY", |spec, key| placed!(Gemini::new(&spec.name, key), spec)),
    },
    Service {
        name: "openrouter",
        make: Make::Keyed("OPENROUTER_API_KEY", |spec, key| {
            placed!(OpenAiCompatible::open_router(&spec.name, key), spec)
        }),
    },
    Service { name: "ollama", make: Make::Open(ollama) },
    Service { name: "llama-cpp", make: Make::Open(llama_cpp) },
    Service { name: "openai-compatible", make: Make::Open(compatible) },
];

/// Makes a model; `key` looks up the value of a variable.
pub(super) fn make(spec: &ModelSpec, key: &dyn Fn(&str) -> Option<String>) -> Made {
    // It has two spellings: its own, and that of the folder of models.
    let name = if spec.provider == "open-router" { "openrouter" } else { spec.provider.as_str() };
    let Some(service) = SERVICES.iter().find(|service| service.name == name) else {
        let names: Vec<&str> = SERVICES.iter().map(|service| service.name).collect();
        return Err(unknown("a provider of models", &spec.provider, &names));
    };
    let named = spec.api_key.as_deref().map(|variable| found(variable, spec, key)).transpose()?;
    match &service.make {
        Make::Open(make) => make(spec, named),
        Make::Keyed(variable, make) => {
            let key = match named {
                Some(named) => named,
                None if spec.base_url.is_some() => return Err(unsaid(spec, variable)),
                None => found(variable, spec, key)?,
            };
            Ok(make(spec, key))
        }
    }
}

/// The key in a variable.
fn found(variable: &str, spec: &ModelSpec, key: &dyn Fn(&str) -> Option<String>) -> Result<ApiKey> {
    key(variable).map(ApiKey::from).ok_or_else(|| {
        refused(spec, &format!("its key is to be in `{}`, which is not set", shown(variable)))
            .with_hint(format!("set `{}`, or name another variable with `api_key`", shown(variable)))
    })
}

/// A key that is not named goes to nobody but its own service.
fn unsaid(spec: &ModelSpec, variable: &str) -> Error {
    refused(spec, "its `base_url` is not the address of the service, and no key is named for it").with_hint(
        format!(
            "name the variable of a key that may go there, such as `api_key: ${{{variable}}}`, or take \
             `openai-compatible` for a server that needs none"
        ),
    )
}

fn refused(spec: &ModelSpec, why: &str) -> Error {
    let what = format!("make the model `{}` of `{}`: {why}", shown(&spec.name), spec.provider);
    Error::new(ErrorKind::InvalidOptions, what)
}

/// What a document says that a model can do, in the dialect of its service; `None` leaves it to what is known.
fn capabilities(model: &dyn Model, spec: &ModelSpec) -> Option<Capabilities> {
    match (spec.supports.as_slice(), &spec.base_url) {
        ([], None) => None,
        ([], Some(_)) => Some(Capabilities::none(
            "nothing is believed of a server behind a `base_url` that the document does not say with `supports`",
        )),
        (supports, _) => Some(said(model, supports)),
    }
}

/// Only answers are asked of a model in a workflow, so that it has no tools beside them.
fn said(model: &dyn Model, supports: &[OutputStrategy]) -> Capabilities {
    let dialect = model.support(OwnTools::None).dialect.unwrap_or(Dialect::OpenAi);
    supports.iter().fold(Capabilities::of(dialect), |can, strategy| match strategy {
        OutputStrategy::Native => can.with_native(),
        OutputStrategy::ForcedTool => can.with_forced_tool(),
        _ => can,
    })
}

fn ollama(spec: &ModelSpec, key: Option<ApiKey>) -> Made {
    let model = Ollama::new(&spec.name);
    let model = key.into_iter().fold(model, Ollama::key);
    Ok(placed!(model, spec))
}

/// Its address is no other service's, so that what is known of the server holds wherever it is.
fn llama_cpp(spec: &ModelSpec, key: Option<ApiKey>) -> Made {
    let model = OpenAiCompatible::llama_cpp(spec.base_url.as_deref().unwrap_or(LLAMA_CPP)).model(&spec.name);
    let model = key.into_iter().fold(model, OpenAiCompatible::key);
    let model = match spec.supports.as_slice() {
        [] => model,
        supports => {
            let can = said(&model, supports);
            model.declares(can)
        }
    };
    Ok(told!(model, spec))
}

fn compatible(spec: &ModelSpec, key: Option<ApiKey>) -> Made {
    let Some(base) = &spec.base_url else {
        return Err(refused(spec, "nobody knows where its server is")
            .with_hint("say it with `base_url`, such as `http://127.0.0.1:8000/v1`"));
    };
    let model = key.into_iter().fold(OpenAiCompatible::new(&spec.name, base), OpenAiCompatible::key);
    Ok(placed!(model, spec))
}

#[cfg(test)]
mod tests {
    use sandcastle_core::Support;

    use super::*;

    fn any_key(_: &str) -> Option<String> {
        Some("secret".to_owned())
    }

    fn no_key(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn every_provider_is_made_by_its_name() {
        for service in SERVICES {
            let mut spec = ModelSpec::new(service.name, "m");
            if service.name == "openai-compatible" {
                spec.base_url = Some("http://127.0.0.1:1/v1".to_owned());
            }
            let model = make(&spec, &any_key).unwrap();
            assert_eq!(model.provider().replace("open-router", "openrouter"), service.name);
            assert_eq!(model.name(), "m");
        }
        assert!(make(&ModelSpec::new("open-router", "m"), &any_key).is_ok());
    }

    #[test]
    fn a_key_that_is_missing_is_named() {
        let error = make(&ModelSpec::new("anthropic", "m"), &no_key).map(drop).unwrap_err();
        let said =
            "make the model `m` of `anthropic`: its key is to be in `ANTHROPIC_API_KEY`, which is not set";
        assert_eq!(error.to_string(), said);
        let mut spec = ModelSpec::new("ollama", "m");
        spec.api_key = Some("OTHER".to_owned());
        let error = make(&spec, &no_key).map(drop).unwrap_err();
        assert!(error.to_string().contains("`OTHER`"), "{error}");
        assert!(error.is_entry_check());
    }

    #[test]
    fn a_key_that_is_not_named_goes_to_no_other_address() {
        let mut spec = ModelSpec::new("openai", "m");
        spec.base_url = Some("http://127.0.0.1:1".to_owned());
        let error = make(&spec, &any_key).map(drop).unwrap_err();
        assert!(error.hints()[0].contains("`api_key: ${OPENAI_API_KEY}`"), "{error:#}");
        spec.api_key = Some("OPENAI_API_KEY".to_owned());
        assert!(make(&spec, &any_key).is_ok());
    }

    #[test]
    fn a_server_of_llama_cpp_is_known_wherever_it_is() {
        let mut spec = ModelSpec::new("llama-cpp", "qwen3");
        spec.base_url = Some("http://192.0.2.1:9".to_owned());
        let model = make(&spec, &no_key).unwrap();
        assert_eq!(model.support(OwnTools::None).native, Support::Declared);
    }

    #[test]
    fn what_a_server_of_ones_own_can_do_is_what_the_document_says() {
        for service in SERVICES {
            let mut spec = ModelSpec::new(service.name, "m");
            spec.base_url = Some("http://192.0.2.1:9".to_owned());
            spec.api_key = Some("KEY".to_owned());
            let silent = make(&spec, &any_key).unwrap().support(OwnTools::None);
            match (&silent.native, service.name) {
                (Support::Declared, "llama-cpp") => {}
                (Support::Denied(reason), _) => assert!(reason.contains("`supports`"), "{reason}"),
                (support, name) => panic!("{name}: {support:?}"),
            }
            spec.supports = vec![OutputStrategy::Native];
            let native = make(&spec, &any_key).unwrap().support(OwnTools::None);
            assert_eq!(native.native, Support::Declared, "{}", service.name);
            assert!(matches!(native.forced_tool, Support::Denied(_)), "{}", service.name);
            if let Ok(model) = make(&ModelSpec::new(service.name, "m"), &any_key) {
                assert_eq!(native.dialect, model.support(OwnTools::None).dialect, "{}", service.name);
            }
            spec.supports = vec![OutputStrategy::Native, OutputStrategy::ForcedTool];
            assert_eq!(make(&spec, &any_key).unwrap().support(OwnTools::None).forced_tool, Support::Declared);
        }
    }

    #[test]
    fn a_provider_that_is_not_known_is_answered_with_the_nearest() {
        let error = make(&ModelSpec::new("antropic", "m"), &any_key).map(drop).unwrap_err();
        assert_eq!(error.hints(), ["did you mean `anthropic`?"]);
        let error = make(&ModelSpec::new("openai-compatible", "m"), &any_key).map(drop).unwrap_err();
        assert!(error.to_string().contains("nobody knows where"), "{error}");
    }
}

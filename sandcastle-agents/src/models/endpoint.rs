//! What every provider is made of: a service, a model's name, and what is known or declared of it.
//!
//! A provider says what a request looks like on its wire and how the answer is read ([`Wire`]); sending it, reading the
//! events one by one and making one answer or one failure of them is done here, in the same way for all.

use futures_util::StreamExt;
use sandcastle_core::SchemaSupport;
use sandcastle_core::Usage;
use sandcastle_core::event::FailureKind;
use sandcastle_core::model::{
    ModelAnswer, ModelFailure, ModelListener, ModelRequest, ModelStop, OwnTools, Price, ToolChoice,
};
use serde_json::Value;

use super::capabilities::{self, Capabilities, Official};
use super::http::{ErrorBody, Framing, Service, cut, frames};
use super::wire::too_long;
use crate::excerpt::one_line;

/// The longest answer: no model says as much, and everything that is made of it is a multiple.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// A provider's protocol.
pub(crate) trait Wire {
    /// Reads the events of one answer.
    type Reader: Reader;

    /// What goes out.
    ///
    /// # Errors
    /// When the wire cannot say it.
    fn call(&self, request: &ModelRequest) -> Result<Call, ModelFailure>;

    fn reader(&self) -> Self::Reader;

    /// Looks closer at a failure whose meaning only this service's own words tell.
    fn refine(failure: &mut ModelFailure, body: &ErrorBody) {
        let _ = (failure, body);
    }
}

/// One call of a service.
#[derive(Debug)]
pub(crate) struct Call {
    /// Behind the base address.
    pub(crate) path: String,
    pub(crate) body: Value,
    pub(crate) framing: Framing,
}

/// Makes an answer of the events of a stream.
pub(crate) trait Reader: Send {
    /// Takes one event.
    ///
    /// # Errors
    /// When the event is a failure, or damaged.
    fn read(&mut self, data: &str, listener: &mut ModelListener<'_>) -> Result<Progress, ModelFailure>;

    /// How many bytes of the answer there are so far: of its text, its thoughts and its calls, as far as they are kept.
    fn size(&self) -> usize;

    /// What was used, as far as it is known.
    fn usage(&self) -> Usage;

    /// Gives the answer once the stream has ended.
    ///
    /// # Errors
    /// When it ended too early.
    fn finish(self) -> Result<ModelAnswer, ModelFailure>;
}

/// Whether an answer is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// There may be more.
    Open,
    /// What follows is no part of it.
    Complete,
}

/// Whether a service says in its answers what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Bill {
    #[default]
    Unsaid,
    /// In US dollars.
    Said,
}

/// A model at a service.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) provider: &'static str,
    pub(crate) model: String,
    pub(crate) service: Service,
    /// What is known without being declared.
    pub(crate) official: Official,
    /// What holds at the official address, where there is no table.
    pub(crate) preset: Option<Capabilities>,
    pub(crate) declared: Option<Capabilities>,
    pub(crate) price: Option<Price>,
    /// At the official address.
    pub(crate) bill: Bill,
}

impl Endpoint {
    /// A model at its provider's own address, where the tables hold.
    pub(crate) fn new(provider: &'static str, model: impl Into<String>, service: Service) -> Self {
        let (model, official) = (model.into(), Official::Yes);
        let (preset, declared, price, bill) = (None, None, None, Bill::Unsaid);
        Self { provider, model, service, official, preset, declared, price, bill }
    }

    pub(crate) fn support(&self, tools: OwnTools) -> SchemaSupport {
        let who = format!("the model `{}` of `{}`", self.model, self.provider);
        let preset = self.preset.as_ref().filter(|_| self.official == Official::Yes);
        match self.declared.as_ref().or(preset) {
            Some(capabilities) => capabilities.support(who, tools),
            None => capabilities::known(self.provider, &self.model, self.official).support(who, tools),
        }
    }

    /// What was said, or what the table says of the provider's own address.
    pub(crate) fn price(&self) -> Option<Price> {
        self.price.or_else(|| capabilities::price(self.provider, &self.model, self.official))
    }

    /// Whether costs are said where requests go to: what another server calls a cost may be anything.
    pub(crate) fn bill(&self) -> Bill {
        match self.official {
            Official::Yes => self.bill,
            Official::No => Bill::Unsaid,
        }
    }

    /// Calls the service once.
    pub(crate) async fn ask<W: Wire>(
        &self,
        wire: &W,
        request: &ModelRequest,
        listener: &mut ModelListener<'_>,
    ) -> Result<ModelAnswer, ModelFailure> {
        let mut reader = wire.reader();
        let asked = self.converse(wire, request, &mut reader, listener).await;
        let usage = reader.usage();
        match asked.and_then(|()| reader.finish()) {
            Ok(mut answer) => {
                // Unlike what the model says, this is shown as it is.
                answer.served_by = answer.served_by.map(|name| self.shown(&name));
                if let ModelStop::Other(reason) = &mut answer.stop {
                    *reason = self.shown(reason);
                }
                Ok(answer)
            }
            Err(mut failure) => {
                failure.message = self.shown(&failure.message);
                failure.usage = usage;
                Err(failure)
            }
        }
    }

    /// A service's words for a person: on one line, without keys, and not too many.
    fn shown(&self, words: &str) -> String {
        cut(&self.service.mask(&one_line(words))).to_owned()
    }

    async fn converse<W: Wire>(
        &self,
        wire: &W,
        request: &ModelRequest,
        reader: &mut W::Reader,
        listener: &mut ModelListener<'_>,
    ) -> Result<(), ModelFailure> {
        check(request)?;
        let call = wire.call(request)?;
        let refine = |(mut failure, body): (ModelFailure, ErrorBody)| {
            W::refine(&mut failure, &body);
            failure
        };
        let response = self.service.post(&call.path, &call.body).await.map_err(refine)?;
        let mut frames = frames(&self.service, response, call.framing).await.map_err(refine)?;
        while let Some(frame) = frames.next().await {
            if reader.read(&frame?, listener)? == Progress::Complete {
                break;
            }
            if reader.size() > MAX_ANSWER {
                return Err(too_long("the answer", MAX_ANSWER));
            }
        }
        Ok(())
    }
}

/// Refuses what no service could serve, before anything is sent.
fn check(request: &ModelRequest) -> Result<(), ModelFailure> {
    let refuse = |problem: String| Err(ModelFailure::new(FailureKind::Request, problem));
    if let Some(schema) = &request.schema
        && !schema.schema.is_object()
    {
        return refuse(format!(
            "the schema `{}` is no object, so that nothing would hold the answer to it",
            schema.name
        ));
    }
    match &request.tool_choice {
        ToolChoice::Named(name) if request.tools.iter().all(|tool| tool.name != *name) => {
            refuse(format!("the tool `{name}` has to be called and is not offered"))
        }
        ToolChoice::Any if request.tools.is_empty() => {
            refuse("a tool has to be called and none is offered".to_owned())
        }
        _ => Ok(()),
    }
}

/// Writes what all providers have in common: the setters, and [`Model`](sandcastle_core::model::Model) by way of [`Wire`].
macro_rules! provider {
    ($provider:ident) => {
        impl $provider {
            /// Sets the address that requests go to, in the place of the service's own. The path of the protocol is
            /// added to it.
            ///
            /// Nothing is known of what answers there, and a server that ignores a schema answers all the same: say what
            /// it can do with [`declares`](Self::declares).
            #[must_use]
            pub fn base_url(mut self, base: impl Into<String>) -> Self {
                let base = base.into();
                self.endpoint.service.change(|service| service.base = base);
                self.endpoint.official = $crate::models::capabilities::Official::No;
                self
            }

            /// Adds a header to every request. Its value is treated like a key: it is never shown.
            #[must_use]
            pub fn header(
                mut self,
                name: impl Into<String>,
                value: impl Into<$crate::models::ApiKey>,
            ) -> Self {
                self.endpoint.service = self.endpoint.service.with_header(name, value);
                self
            }

            /// Sets how long a connection may take; the default is 30 seconds.
            #[must_use]
            pub fn connect_timeout(mut self, timeout: std::time::Duration) -> Self {
                self.endpoint.service.change(|service| service.transport.connect = timeout);
                self
            }

            /// Sets how long the service may say nothing, before its answer or within it; the default is 300 seconds.
            #[must_use]
            pub fn silence_timeout(mut self, timeout: std::time::Duration) -> Self {
                self.endpoint.service.change(|service| service.silence = timeout);
                self
            }

            /// Sends requests by way of the proxies that the environment names (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY` and
            /// the like) or the settings of the system do; by default nobody looks for any, and requests go straight to the
            /// service. What is on this machine is never reached through a proxy.
            #[must_use]
            pub fn system_proxies(mut self) -> Self {
                let proxies = $crate::transport::Proxies::OfTheSystem;
                self.endpoint.service.change(|service| service.transport.proxies = proxies);
                self
            }

            /// Trusts services whose certificate is signed by this one, or by one of these, beside those whom the platform
            /// trusts; for a server of your own. It is PEM, as a file of it is.
            #[must_use]
            pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
                let pem: Vec<u8> = pem.into();
                self.endpoint.service.change(|service| service.transport.roots.push(pem.into()));
                self
            }

            /// Says what the model can be held to, in the place of what is known of it.
            #[must_use]
            pub fn declares(mut self, capabilities: $crate::models::Capabilities) -> Self {
                self.endpoint.declared = Some(capabilities);
                self
            }

            /// Says what the model costs, in the place of what is known of it.
            #[must_use]
            pub fn costs(mut self, price: sandcastle_core::model::Price) -> Self {
                self.endpoint.price = Some(price);
                self
            }
        }

        impl sandcastle_core::model::Model for $provider {
            fn provider(&self) -> &str {
                self.endpoint.provider
            }

            fn name(&self) -> &str {
                &self.endpoint.model
            }

            fn support(&self, tools: sandcastle_core::model::OwnTools) -> sandcastle_core::SchemaSupport {
                self.endpoint.support(tools)
            }

            fn price(&self) -> Option<sandcastle_core::model::Price> {
                self.endpoint.price()
            }

            fn says_cost(&self) -> bool {
                self.endpoint.bill() == $crate::models::endpoint::Bill::Said
            }

            fn answer<'a>(
                &'a self,
                request: &'a sandcastle_core::model::ModelRequest,
                listener: &'a mut sandcastle_core::model::ModelListener<'a>,
            ) -> sandcastle_core::model::ModelFuture<'a> {
                Box::pin(self.endpoint.ask(self, request, listener))
            }
        }
    };
}

pub(crate) use provider;

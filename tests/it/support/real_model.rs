//! The real model that tests of providers and strategies ask: a small one behind llama.cpp's server, on loopback.
//!
//! `.ci/model start` starts it and `.ci/model env` prints where it is. Where it is not, tests are skipped or fail, as
//! [`requirement`](super::requirement) has it. Nothing is started here. The questions here go over a plain connection and
//! know nothing of this project.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use super::requirement::{absent, variable};

/// The longest that an answer may take, on a machine that compiles beside it.
const PATIENCE: Duration = Duration::from_secs(300);

/// A model's server that is ready.
#[derive(Clone, Debug)]
pub(crate) struct RealModel {
    /// Its address, without a path.
    pub(crate) url: String,
    /// The model, as the server calls it.
    pub(crate) name: String,
}

impl RealModel {
    /// Finds it, or says that the test is skipped.
    #[track_caller]
    pub(crate) fn find() -> Option<Self> {
        match Self::told().and_then(Self::ready) {
            Ok(model) => Some(model),
            Err(why) => {
                absent("model", &why);
                None
            }
        }
    }

    fn told() -> Result<Self, String> {
        let told =
            |name: &str| variable(name).ok_or_else(|| format!("`{name}` is not set; see `.ci/model start`"));
        Ok(Self { url: told("SANDCASTLE_MODEL_URL")?, name: told("SANDCASTLE_MODEL_NAME")? })
    }

    fn ready(self) -> Result<Self, String> {
        match self.exchange("GET", "/health", "") {
            Ok((200, _)) => Ok(self),
            Ok((status, body)) => Err(format!("the server at `{}` says {status}: {body}", self.url)),
            Err(error) => Err(format!("nothing answers at `{}`: {error}", self.url)),
        }
    }

    /// Posts a body and gives the answer, which must be a good one.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.exchange("POST", path, &body.to_string()).expect("an answer");
        assert_eq!(status, 200, "{path}: {answer}");
        serde_json::from_str(&answer).expect("JSON")
    }

    /// One exchange of HTTP, without keeping the connection.
    fn exchange(&self, method: &str, path: &str, body: &str) -> io::Result<(u16, String)> {
        let host = self.url.trim_start_matches("http://");
        let mut connection = TcpStream::connect(host)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        write!(
            connection,
            "{method} {path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer)?;
        let status = answer.split_whitespace().nth(1).and_then(|status| status.parse().ok());
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
        status.zip(body).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it is no HTTP"))
    }
}

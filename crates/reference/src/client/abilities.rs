//! What a client can do for a server, and who does it: a person at a terminal, a script, nobody.

use std::future::Future;
use std::pin::Pin;

use serde_json::{Map, Value, json};
use wire::Revision;

/// What is declared, and only that is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an ability by itself")]
pub struct Abilities {
    /// It has roots to show.
    pub roots: bool,
    /// It has a model to ask.
    pub sampling: bool,
    /// Its user fills in forms.
    pub forms: bool,
    /// Its user visits addresses.
    pub urls: bool,
}

impl Abilities {
    /// Everything.
    pub const ALL: Self = Self { roots: true, sampling: true, forms: true, urls: true };

    /// As `revision` declares them.
    pub fn declared(self, revision: Revision) -> Value {
        let mut declared = Map::new();
        if self.roots {
            declared.insert("roots".to_owned(), json!({}));
        }
        if self.sampling {
            declared.insert("sampling".to_owned(), json!({}));
        }
        if (self.forms || self.urls) && revision.at_least(Revision::R2025_06_18) {
            let mut modes = Map::new();
            // Before 2025-11-25 there were forms alone, and nothing to say about it.
            if revision.at_least(Revision::R2025_11_25) {
                modes.extend(self.forms.then(|| ("form".to_owned(), json!({}))));
                modes.extend(self.urls.then(|| ("url".to_owned(), json!({}))));
            }
            declared.insert("elicitation".to_owned(), Value::Object(modes));
        }
        Value::Object(declared)
    }
}

/// What a server asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// Which directories it may look at.
    Roots,
    /// What the model says to these parameters of `sampling/createMessage`.
    Sampling(Value),
    /// A form to fill in.
    Form {
        /// What it is about.
        message: String,
        /// Its fields.
        schema: Value,
    },
    /// An address to visit.
    Url {
        /// What it is about.
        message: String,
        /// The address, which nobody has opened.
        url: String,
    },
}

/// Why a question stays without an answer, as a JSON-RPC error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its code.
    pub code: i64,
    /// In words.
    pub message: String,
}

impl Refused {
    /// The user does not want it.
    pub fn by_user() -> Self {
        Self { code: -1, message: "User rejected the request".to_owned() }
    }

    pub(super) fn unknown_method() -> Self {
        Self { code: -32601, message: "Method not found".to_owned() }
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self { code: -32602, message: message.into() }
    }
}

/// The result of the question's method, or why there is none.
pub type Answer = Result<Value, Refused>;

/// An answer in the making.
pub type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Answers what a server asks. It is asked nothing that it is not able to do.
pub trait Respondent: Send + Sync {
    /// What it is able to do.
    fn abilities(&self) -> Abilities;

    /// Answers. Dropped where the server no longer wants to know.
    fn answer(&self, question: Question) -> Answering;
}

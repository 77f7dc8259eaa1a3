//! What a client can do for a server, and who does it: a person, a program, or nobody.

use std::future::Future;
use std::pin::Pin;

use serde_json::{Map, Value, json};
use wire::error_code::{INVALID_PARAMS, METHOD_NOT_FOUND};
use wire::meta::{APP_MEDIA, APPS_EXTENSION};
use wire::{Era, Revision};

/// The abilities that are declared; only these are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an ability by itself")]
pub struct Abilities {
    /// It has roots to show.
    pub roots: bool,
    /// It announces changes of the roots.
    pub changing_roots: bool,
    /// It has a model to ask.
    pub sampling: bool,
    /// That model uses tools.
    pub sampling_tools: bool,
    /// Its user fills in forms.
    pub forms: bool,
    /// Its user visits addresses.
    pub urls: bool,
    /// It answers requests as tasks, where a server demands it (2025-11-25).
    pub tasks: bool,
    /// Its user sees apps. No revision closes the set of capabilities: it is declared at all of them.
    pub apps: bool,
    /// The supported extensions that have no settings (modern era).
    pub extensions: &'static [&'static str],
}

impl Abilities {
    /// Everything but extensions.
    pub const ALL: Self = Self {
        roots: true,
        changing_roots: true,
        sampling: true,
        sampling_tools: true,
        forms: true,
        urls: true,
        tasks: true,
        apps: false,
        extensions: &[],
    };

    /// As `revision` declares them.
    pub fn declared(self, revision: Revision) -> Value {
        let mut declared = Map::new();
        if self.roots {
            // The modern era has no way to announce changes.
            let changing = self.changing_roots && revision.era() == Era::Legacy;
            declared.insert("roots".to_owned(), if changing { json!({ "listChanged": true }) } else { json!({}) });
        }
        if self.sampling {
            let tools = self.sampling_tools && revision.at_least(Revision::R2025_11_25);
            declared.insert("sampling".to_owned(), if tools { json!({ "tools": {} }) } else { json!({}) });
        }
        if (self.forms || self.urls) && revision.at_least(Revision::R2025_06_18) {
            let mut modes = Map::new();
            // Before 2025-11-25 there were only forms, and no modes to declare.
            if revision.at_least(Revision::R2025_11_25) {
                modes.extend(self.forms.then(|| ("form".to_owned(), json!({}))));
                modes.extend(self.urls.then(|| ("url".to_owned(), json!({}))));
            }
            declared.insert("elicitation".to_owned(), Value::Object(modes));
        }
        if self.tasks && revision == Revision::R2025_11_25 {
            let mut requests = Map::new();
            requests.extend(self.sampling.then(|| ("sampling".to_owned(), json!({ "createMessage": {} }))));
            requests.extend((self.forms || self.urls).then(|| ("elicitation".to_owned(), json!({ "create": {} }))));
            declared.insert("tasks".to_owned(), json!({ "list": {}, "cancel": {}, "requests": requests }));
        }
        let extensions = self.declared_extensions(revision);
        if !extensions.is_empty() {
            declared.insert("extensions".to_owned(), Value::Object(extensions));
        }
        Value::Object(declared)
    }

    /// Extensions with their settings.
    fn declared_extensions(self, revision: Revision) -> Map<String, Value> {
        let of_era = self.extensions.iter().filter(|_| revision.era() == Era::Modern);
        let mut declared: Map<String, Value> = of_era.map(|name| ((*name).to_owned(), json!({}))).collect();
        if self.apps {
            declared.insert(APPS_EXTENSION.to_owned(), json!({ "mimeTypes": [APP_MEDIA] }));
        }
        declared
    }
}

/// A request of the server to the user.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// Which directories it may read.
    Roots,
    /// What the model answers to these parameters of `sampling/createMessage`.
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
        /// The address, which is not opened yet.
        url: String,
    },
}

/// Why a question is not answered, as a JSON-RPC error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its code.
    pub code: i64,
    /// In words.
    pub message: String,
}

impl Refused {
    /// The user rejects the question.
    pub fn by_user() -> Self {
        Self { code: -1, message: "User rejected the request".to_owned() }
    }

    pub(super) fn unknown_method() -> Self {
        Self { code: METHOD_NOT_FOUND, message: "Method not found".to_owned() }
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self { code: INVALID_PARAMS, message: message.into() }
    }
}

/// The result of the question's method, or why there is none.
pub type Answer = Result<Value, Refused>;

/// A future answer.
pub type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Answers questions of a server, within the declared abilities.
pub trait Respondent: Send + Sync {
    /// Its abilities.
    fn abilities(&self) -> Abilities;

    /// Answers. Dropped where the server cancels the question.
    fn answer(&self, question: Question) -> Answering;
}

/// Answers nothing: no ability is declared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unattended;

impl Respondent for Unattended {
    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    fn answer(&self, _: Question) -> Answering {
        Box::pin(async { Err(Refused::by_user()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apps_are_declared_with_their_settings_in_both_eras() {
        let settings = json!({ "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } });
        let abilities = Abilities { apps: true, ..Abilities::ALL };
        for revision in Revision::ALL {
            assert_eq!(abilities.declared(revision)["extensions"], settings, "{revision}");
            assert_eq!(Abilities::ALL.declared(revision).get("extensions"), None, "{revision}");
        }
        let both = Abilities { extensions: &["org.example/one"], ..abilities };
        assert_eq!(both.declared(Revision::NEWEST)["extensions"]["org.example/one"], json!({}));
        assert_eq!(both.declared(Revision::R2025_11_25)["extensions"], settings);
    }
}

//! The shape of a catalogue file as types, once `docs/catalog.schema.json` has found nothing wrong with it. What a broken
//! part was taken out of is read all the same, so that the rest is looked at too: an entry is then `None`.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::logging::Level;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(rename = "$schema")]
    _schema: Option<String>,
    #[serde(rename = "definitions")]
    _definitions: Option<Value>,
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) version: Option<String>,
    pub(super) instructions: Option<String>,
    #[serde(rename = "listChanged")]
    pub(super) list_changed: Option<bool>,
    #[serde(default)]
    pub(super) tools: Vec<Option<Tool>>,
    #[serde(default)]
    pub(super) resources: Vec<Option<Resource>>,
    #[serde(default)]
    pub(super) templates: Vec<Option<Template>>,
    #[serde(default)]
    pub(super) prompts: Vec<Option<Prompt>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: String,
    pub(super) input_schema: Option<Value>,
    pub(super) output_schema: Option<Value>,
    pub(super) annotations: Option<Hints>,
    #[serde(default)]
    pub(super) choose: Choose,
    pub(super) answers: Vec<Answer>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the protocol's names")]
pub(super) struct Hints {
    pub(super) read_only_hint: Option<bool>,
    pub(super) destructive_hint: Option<bool>,
    pub(super) idempotent_hint: Option<bool>,
    pub(super) open_world_hint: Option<bool>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Choose {
    #[default]
    First,
    Turn,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Answer {
    #[serde(default)]
    pub(super) when: Map<String, Value>,
    pub(super) delay: Option<String>,
    #[serde(default)]
    pub(super) before: Vec<Step>,
    pub(super) text: Option<String>,
    pub(super) content: Option<Vec<Content>>,
    pub(super) structured_content: Option<Value>,
    pub(super) is_error: Option<bool>,
    pub(super) failure: Option<Failure>,
    pub(super) error: Option<Error>,
}

/// What kind of failure an answer is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Failure {
    pub(super) category: String,
    pub(super) retryable: Option<bool>,
    /// JSON Schema takes 1.0 for an integer.
    pub(super) retry_after_ms: Option<f64>,
    pub(super) suggested_actions: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Step {
    Wait(String),
    Progress(String),
    Log(Log),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Log {
    pub(super) level: Level,
    pub(super) data: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Error {
    /// JSON Schema takes 1.0 for an integer.
    pub(super) code: f64,
    pub(super) message: String,
    pub(super) data: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Content {
    Text(String),
    Image(Media),
    Audio(Media),
    Resource(Embedded),
    Link(Link),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Media {
    pub(super) data: Option<String>,
    pub(super) file: Option<String>,
    pub(super) mime_type: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Embedded {
    pub(super) uri: String,
    pub(super) text: Option<String>,
    pub(super) blob: Option<String>,
    pub(super) file: Option<String>,
    pub(super) mime_type: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Link {
    pub(super) uri: String,
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) mime_type: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Resource {
    pub(super) uri: String,
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) mime_type: Option<String>,
    pub(super) annotations: Option<Value>,
    pub(super) text: Option<String>,
    pub(super) blob: Option<String>,
    pub(super) file: Option<String>,
    pub(super) delay: Option<String>,
    pub(super) error: Option<Error>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Template {
    #[serde(rename = "uriTemplate")]
    pub(super) uri: String,
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) mime_type: Option<String>,
    #[serde(default)]
    pub(super) completions: Map<String, Value>,
    pub(super) text: Option<String>,
    pub(super) delay: Option<String>,
    pub(super) error: Option<Error>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prompt {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: String,
    #[serde(default)]
    pub(super) arguments: Vec<Argument>,
    pub(super) delay: Option<String>,
    #[serde(default)]
    pub(super) before: Vec<Step>,
    pub(super) messages: Option<Vec<Message>>,
    pub(super) error: Option<Error>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: String,
    #[serde(default)]
    pub(super) required: bool,
    #[serde(default)]
    pub(super) completions: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) role: Value,
    #[serde(flatten)]
    pub(super) content: Content,
}

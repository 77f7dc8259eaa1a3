//! The shape of a test file as types, after validation with `docs/test.schema.json`. Invalid parts are removed so that the rest
//! is still checked: an invalid case is `None`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::requests::List;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(rename = "$schema")]
    _schema: Option<String>,
    #[serde(rename = "definitions")]
    _definitions: Option<Value>,
    pub(super) server: Option<Server>,
    #[serde(default)]
    pub(super) matrix: Matrix,
    #[serde(default)]
    pub(super) vars: Map<String, Value>,
    pub(super) timeout: Option<String>,
    #[serde(default)]
    pub(super) setup: Vec<Option<CaseEntry>>,
    #[serde(default)]
    pub(super) cases: Vec<Option<CaseEntry>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Server {
    pub(super) command: Option<Vec<String>>,
    pub(super) url: Option<String>,
    pub(super) transport: Option<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) inherit_env: Vec<String>,
    pub(super) cwd: Option<String>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    pub(super) bearer_env: Option<String>,
    #[serde(default)]
    pub(super) per_case: bool,
    pub(super) linux: Option<Platform>,
    pub(super) macos: Option<Platform>,
    pub(super) windows: Option<Platform>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Platform {
    pub(super) command: Option<Vec<String>>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Matrix {
    #[serde(default)]
    pub(super) revisions: Vec<String>,
    #[serde(default)]
    pub(super) servers: Vec<Server>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseEntry {
    pub(super) name: Option<String>,
    pub(super) call: Option<String>,
    pub(super) read: Option<String>,
    pub(super) get: Option<String>,
    pub(super) complete: Option<Complete>,
    pub(super) list: Option<List>,
    pub(super) raw: Option<String>,
    pub(super) arguments: Option<Value>,
    pub(super) params: Option<Value>,
    pub(super) answers: Option<Answers>,
    #[serde(default)]
    pub(super) expect: Expect,
    #[serde(default)]
    pub(super) capture: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) volatile: Vec<String>,
    #[serde(default)]
    pub(super) revisions: Vec<String>,
    pub(super) timeout: Option<String>,
    #[serde(default)]
    pub(super) tags: Vec<String>,
    pub(super) skip: Option<String>,
    #[serde(default)]
    pub(super) only: bool,
    pub(super) xfail: Option<String>,
    pub(super) repeat: Option<u32>,
    #[serde(default)]
    pub(super) independent: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Complete {
    pub(super) prompt: Option<String>,
    pub(super) template: Option<String>,
    pub(super) argument: String,
    pub(super) value: String,
    #[serde(default)]
    pub(super) known: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answers {
    pub(super) say: Option<String>,
    pub(super) form: Option<Value>,
    pub(super) url: Option<UrlAnswer>,
    pub(super) roots: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum UrlAnswer {
    Accept,
    Decline,
    Cancel,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Expect {
    pub(super) outcome: Option<Outcome>,
    pub(super) code: Option<i64>,
    pub(super) status: Option<u16>,
    pub(super) message: Option<Value>,
    pub(super) latency: Option<String>,
    pub(super) progress: Option<usize>,
    #[serde(default)]
    pub(super) notifications: Vec<String>,
    pub(super) snapshot: Option<Value>,
    /// Expectations by JSONPath.
    #[serde(flatten)]
    pub(super) at: BTreeMap<String, Value>,
}

/// The expected end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Outcome {
    Ok,
    ToolError,
    Error,
    Refused,
}

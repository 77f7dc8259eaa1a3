//! One server of the inventory.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::launch;

/// A text, or the variable that holds it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// The text.
    Plain(String),
    /// The name of a variable.
    Variable {
        /// The name.
        env: String,
    },
}

/// A stage by its name or its number.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum StageName {
    Number(u64),
    Name(String),
}

/// The name of a variable.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reference {
    pub(super) env: String,
}

/// An entry, as it stands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) source: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) stage: Option<StageName>,
    #[serde(default)]
    pub(super) tags: Vec<String>,
    pub(super) note: Option<String>,
    pub(super) language: Option<String>,
    pub(super) modules: Option<u64>,
    pub(super) lines: Option<u64>,
    pub(super) tools: Option<u64>,
    pub(super) command: Option<Vec<String>>,
    pub(super) url: Option<String>,
    pub(super) openapi: Option<String>,
    pub(super) config: Option<String>,
    pub(super) catalog: Option<String>,
    pub(super) cwd: Option<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, Text>,
    pub(super) bearer: Option<Reference>,
    #[serde(default)]
    pub(super) transports: Vec<String>,
    #[serde(default)]
    pub(super) revisions: Vec<String>,
    #[serde(default)]
    pub(super) tests: Vec<String>,
    pub(super) lock: Option<String>,
    pub(super) hints: Option<String>,
    pub(super) baseline: Option<String>,
    pub(super) ready: Option<String>,
    pub(super) admin: Option<String>,
    pub(super) evaluation: Option<Evaluation>,
    pub(super) manifest: Option<Manifest>,
}

/// What a model did with the tools.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// The cases.
    pub cases: String,
    /// The calls.
    pub calls: String,
}

/// A signed manifest.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The manifest.
    pub file: String,
    /// The keys to trust.
    pub keys: String,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// By a program and its arguments, in a folder.
    Command(Vec<String>),
    /// At an address.
    Url(String),
    /// `proof serve` with these arguments.
    Served(Vec<String>),
    /// Nothing says how: such a server is listed alone.
    Unknown,
}

/// A server of the inventory.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "docs/fleet.schema.json describes each member")]
pub struct Server {
    pub name: String,
    pub source: Option<String>,
    pub owner: Option<String>,
    /// The stage that it is meant to have, from 1.
    pub wanted: Option<usize>,
    pub tags: Vec<String>,
    pub note: Option<String>,
    pub language: Option<String>,
    pub modules: Option<u64>,
    pub lines: Option<u64>,
    pub tools: Option<u64>,
    pub launch: Launch,
    pub cwd: Option<String>,
    pub env: BTreeMap<String, Text>,
    /// The variable with the token.
    pub bearer: Option<String>,
    pub transports: Vec<String>,
    pub revisions: Vec<String>,
    pub tests: Vec<String>,
    pub lock: Option<String>,
    pub hints: Option<String>,
    pub baseline: Option<String>,
    pub ready: Option<String>,
    pub admin: Option<String>,
    pub evaluation: Option<Evaluation>,
    pub manifest: Option<Manifest>,
}

impl Server {
    /// The variables of this program that the server's credentials come from.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let of_env = self.env.values().filter_map(|text| match text {
            Text::Variable { env } => Some(env.as_str()),
            Text::Plain(_) => None,
        });
        of_env.chain(self.bearer.as_deref())
    }

    /// How it is reached, in one line and without values of variables.
    pub fn shown_launch(&self) -> String {
        match &self.launch {
            Launch::Command(words) => launch::quoted_words(words),
            Launch::Url(url) => url.clone(),
            Launch::Served(words) => format!("proof serve {}", launch::quoted_words(words)),
            Launch::Unknown => String::new(),
        }
    }
}

//! The one model of what a server declares: introduction and lists. Both the compatibility view (`proof snapshot`) and the
//! trust view (`proof lock`) are made from it. Must not know how it was fetched.

use serde_json::{Map, Value, json};
use wire::{Era, Revision, meta};

use crate::strict::{Integers, Unreadable, read};

/// The name and version of a saved surface.
pub const SNAPSHOT: &str = "proof.snapshot/1";

/// A kind of primitive that servers list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A tool.
    Tool,
    /// A resource.
    Resource,
    /// A resource template.
    Template,
    /// A prompt.
    Prompt,
}

impl Kind {
    /// All kinds, in the order of a surface.
    pub const ALL: [Self; 4] = [Self::Tool, Self::Resource, Self::Template, Self::Prompt];

    /// The member of a result that holds the list.
    pub const fn list(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Resource => "resources",
            Self::Template => "resourceTemplates",
            Self::Prompt => "prompts",
        }
    }

    /// The method that lists them.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Tool => "tools/list",
            Self::Resource => "resources/list",
            Self::Template => "resources/templates/list",
            Self::Prompt => "prompts/list",
        }
    }

    /// The member that names one of them.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "name",
            Self::Resource => "uri",
            Self::Template => "uriTemplate",
        }
    }

    /// The capability that a server with such a list declares.
    pub const fn capability(self) -> &'static str {
        match self {
            Self::Template => "resources",
            other => other.list(),
        }
    }

    /// The kind in words.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Template => "resource template",
            Self::Prompt => "prompt",
        }
    }

    /// An item by its kind and name: `tool echo`.
    pub fn called(self, item: &Value) -> String {
        format!("{} {}", self.word(), item[self.key()].as_str().unwrap_or("without a name"))
    }

    /// The kind of the list in the member `list`.
    pub fn of_list(list: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.list() == list)
    }
}

/// Everything that a server declares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// The revision that was spoken.
    pub revision: Option<String>,
    /// Name and version of the server.
    pub server: Option<Value>,
    /// The capabilities.
    pub capabilities: Option<Value>,
    /// The instructions for the model.
    pub instructions: Option<Value>,
    /// The lists, in the order of [`Kind::ALL`]; `None` where a list was not requested.
    lists: [Option<Vec<Value>>; 4],
}

impl Surface {
    /// Takes the introduction of a server, the result of `initialize` or `server/discover`.
    pub fn introduce(&mut self, revision: Revision, result: Option<&Value>) {
        self.revision = Some(revision.as_str().to_owned());
        let Some(result) = result else { return };
        let server = match revision.era() {
            Era::Legacy => result.get("serverInfo"),
            Era::Modern => result.get("_meta").and_then(|meta| meta.get(meta::SERVER_INFO)),
        };
        self.server = server.cloned();
        self.capabilities = result.get("capabilities").cloned();
        self.instructions = result.get("instructions").cloned();
    }

    /// The same of a text, read strictly.
    pub fn introduce_text(&mut self, revision: Revision, result: &str) -> Result<(), Unreadable> {
        self.introduce(revision, Some(&read(result, Integers::Digits)?));
        Ok(())
    }

    /// Adds items to a list, which is kept in the order of names.
    pub fn add(&mut self, kind: Kind, items: impl IntoIterator<Item = Value>) {
        let list = self.lists[kind as usize].get_or_insert_default();
        list.extend(items);
        list.sort_by(|a, b| a[kind.key()].as_str().cmp(&b[kind.key()].as_str()));
    }

    /// Adds a page of a list: the text of a result, read strictly.
    pub fn add_text(&mut self, kind: Kind, result: &str) -> Result<(), Unreadable> {
        let mut result = read(result, Integers::Digits)?;
        let items = result.get_mut(kind.list()).map(Value::take);
        match items {
            Some(Value::Array(items)) => self.add(kind, items),
            _ => self.add(kind, []),
        }
        Ok(())
    }

    /// The items of a kind, in the order of their names; none where that list was not requested.
    pub fn items(&self, kind: Kind) -> &[Value] {
        self.lists[kind as usize].as_deref().unwrap_or_default()
    }

    /// Whether a list was requested.
    pub const fn is_listed(&self, kind: Kind) -> bool {
        self.lists[kind as usize].is_some()
    }

    /// The name that the server gives itself.
    pub fn name(&self) -> Option<&str> {
        self.server.as_ref()?["name"].as_str()
    }

    /// The version that the server gives itself.
    pub fn version(&self) -> Option<&str> {
        self.server.as_ref()?["version"].as_str()
    }

    /// The document of `proof snapshot`: members of every object sorted by name.
    pub fn to_snapshot(&self) -> Value {
        let mut document = Map::new();
        document.insert("schema".to_owned(), json!(SNAPSHOT));
        for (member, value) in [
            ("revision", self.revision.clone().map(Value::from)),
            ("server", self.server.clone()),
            ("capabilities", self.capabilities.clone()),
            ("instructions", self.instructions.clone()),
        ] {
            document.extend(value.map(|value| (member.to_owned(), value)));
        }
        for kind in Kind::ALL {
            let list = self.lists[kind as usize].clone().map(Value::Array);
            document.extend(list.map(|list| (kind.list().to_owned(), list)));
        }
        sorted(&Value::Object(document))
    }

    /// Reads what [`Self::to_snapshot`] wrote.
    pub fn from_snapshot(document: &Value) -> Self {
        let member = |name: &str| document.get(name).cloned();
        let list = |kind: Kind| document.get(kind.list()).and_then(Value::as_array).cloned();
        Self {
            revision: document["revision"].as_str().map(str::to_owned),
            server: member("server"),
            capabilities: member("capabilities"),
            instructions: member("instructions"),
            lists: Kind::ALL.map(list),
        }
    }
}

/// The value with the members of every object sorted by name.
pub(crate) fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        value => value.clone(),
    }
}

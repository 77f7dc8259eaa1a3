//! One server of a lock: who it is, how it is started, and each text that a model sees with its digest. Must not know files.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use crate::surface::sorted;
use crate::{Change, Class, Digest, Kind, Surface};

/// Where a server comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The address of a remote server, without secrets.
    pub url: Option<String>,
    /// The name in a registry of MCP servers.
    pub registry: Option<String>,
    /// The package URL, such as `pkg:npm/name@1.2.3`.
    pub package: Option<String>,
    /// The digest of the package, as its registry states it.
    pub package_digest: Option<String>,
}

/// How a server is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The program and its arguments, without secrets.
    pub command: Vec<String>,
    /// The names of the variables that it gets, sorted.
    pub env: Vec<String>,
}

/// One primitive.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Every member but `_meta`.
    pub definition: Value,
    /// Their digest.
    pub digest: Digest,
    /// The digest of `_meta`, which does not decide.
    pub meta: Option<Digest>,
}

impl Item {
    /// The item of a kind as a server lists it.
    pub fn new(kind: Kind, mut item: Value) -> Self {
        let meta = item.as_object_mut().and_then(|members| members.shift_remove("_meta"));
        let meta = meta.map(|meta| Digest::of("meta", &meta));
        let definition = sorted(&item);
        Self { digest: Digest::of(kind.domain(), &definition), definition, meta }
    }
}

impl Kind {
    /// The domain of its digests.
    pub const fn domain(self) -> &'static str {
        match self {
            Self::Template => "resourceTemplate",
            other => other.word(),
        }
    }
}

/// A change that a person approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// What was approved: `tool echo`, `instructions`, `launch`.
    pub item: String,
    /// The digest that was approved; `None` for what has none, such as a removal.
    pub digest: Option<Digest>,
    /// Who approved it.
    pub by: String,
    /// When, in RFC 3339.
    pub at: String,
    /// Why.
    pub reason: String,
}

/// The newest manifest that was verified. Older ones are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The version of the server.
    pub version: String,
    /// When the manifest was issued, in RFC 3339.
    pub issued_at: String,
    /// The digest of the manifest without its signatures.
    pub digest: Digest,
}

/// One server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// Where it comes from.
    pub identity: Identity,
    /// How it is started, if it is a program.
    pub launch: Option<Launch>,
    /// Its name and version, as it gives them.
    pub server: Option<Value>,
    /// The protocol version that was spoken.
    pub protocol: Option<String>,
    /// Its capabilities.
    pub capabilities: Option<Value>,
    /// Its instructions for the model.
    pub instructions: Option<Value>,
    /// What it lists, by kind and name.
    pub items: BTreeMap<(Kind, String), Item>,
    /// The kinds that were listed.
    pub listed: Vec<Kind>,
    /// What was approved, oldest first.
    pub approvals: Vec<Approval>,
    /// The public keys of its publisher, pinned.
    pub keys: Vec<Value>,
    /// The newest manifest that was verified.
    pub release: Option<Release>,
}

/// Why a surface cannot be locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unlockable {
    /// No list was read.
    Nothing,
    /// An item of this kind has no name.
    Nameless(Kind),
}

impl fmt::Display for Unlockable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("no list of tools, prompts or resources was read"),
            Self::Nameless(kind) => write!(f, "a {} has no `{}`", kind.word(), kind.key()),
        }
    }
}

impl std::error::Error for Unlockable {}

impl Entry {
    /// What is locked of a surface. Of two items with one name, the first.
    pub fn new(identity: Identity, launch: Option<Launch>, surface: &Surface) -> Result<Self, Unlockable> {
        let listed: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| surface.is_listed(*kind)).collect();
        if listed.is_empty() {
            return Err(Unlockable::Nothing);
        }
        let mut items = BTreeMap::new();
        for kind in &listed {
            for item in surface.items(*kind) {
                let name = item[kind.key()].as_str().ok_or(Unlockable::Nameless(*kind))?.to_owned();
                items.entry((*kind, name)).or_insert_with(|| Item::new(*kind, item.clone()));
            }
        }
        Ok(Self {
            identity,
            launch,
            server: surface.server.as_ref().map(sorted),
            protocol: surface.revision.clone(),
            capabilities: surface.capabilities.as_ref().map(sorted),
            instructions: surface.instructions.clone(),
            items,
            listed,
            ..Self::default()
        })
    }

    /// The name that the server gives itself.
    pub fn name(&self) -> Option<&str> {
        self.server.as_ref()?["name"].as_str()
    }

    /// The version that the server gives itself.
    pub fn version(&self) -> Option<&str> {
        self.server.as_ref()?["version"].as_str()
    }

    /// The digest of the instructions.
    pub fn instructions_digest(&self) -> Option<Digest> {
        self.instructions.as_ref().map(|text| Digest::of("instructions", text))
    }

    /// The definition of `tool echo`, or the instructions.
    pub fn definition(&self, of: &str) -> Option<&Value> {
        if of == "instructions" {
            return self.instructions.as_ref();
        }
        self.item(of).map(|item| &item.definition)
    }

    fn item(&self, of: &str) -> Option<&Item> {
        let named = |kind: Kind| {
            let name = of.strip_prefix(kind.word())?.strip_prefix(' ')?;
            self.items.get(&(kind, name.to_owned()))
        };
        Kind::ALL.into_iter().find_map(named)
    }

    /// The digest of `tool echo`, or of the instructions.
    pub fn digest(&self, of: &str) -> Option<Digest> {
        if of == "instructions" {
            return self.instructions_digest();
        }
        self.item(of).map(|item| item.digest)
    }
}

/// Whether `of` is this item: `tool echo`.
pub(crate) fn is_called(of: &str, kind: Kind, name: &str) -> bool {
    of.strip_prefix(kind.word()).and_then(|rest| rest.strip_prefix(' ')) == Some(name)
}

impl Surface {
    /// Items that share a name with another of their kind: which of them a call reaches is unknown.
    pub fn repeated_names(&self) -> Vec<Change> {
        let mut found = Vec::new();
        for kind in Kind::ALL {
            for pair in self.items(kind).windows(2).filter(|pair| pair[0][kind.key()] == pair[1][kind.key()]) {
                let what = format!("two {}s have this name", kind.word());
                found.push(Change { of: kind.called(&pair[0]), what, breaks: true, class: Class::RepeatedName });
            }
        }
        found.dedup();
        found
    }
}

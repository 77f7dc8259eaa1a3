//! A manifest: what a publisher states about one version of a server. Digests of all that a model sees, who provides it, which
//! permissions it needs, from when until when it holds. Must not know signatures.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value, json};

use crate::entry::{Approval, Entry, Release};
use crate::place::Place;
use crate::strict::{Integers, Unreadable, read};
use crate::time::millis;
use crate::{Digest, Kind};

/// The name and version of the format.
pub const SCHEMA: &str = "mcp.manifest/1";

/// Where a server publishes it, at the origin of its URL. A2A has agent cards at such a path; MCP has none for manifests yet.
pub const WELL_KNOWN: &str = "/.well-known/mcp-manifest.json";

/// How far the clocks of publisher and verifier may differ, in milliseconds.
const CLOCKS: u64 = 300_000;

/// What a publisher states beside the digests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statement {
    /// Who provides the server.
    pub provider: Option<String>,
    /// The permissions or OAuth scopes that the server needs.
    pub permissions: Vec<String>,
    /// The permissions of single tools.
    pub tool_permissions: BTreeMap<String, Vec<String>>,
    /// When it is issued, in RFC 3339.
    pub issued_at: String,
    /// Until when it holds, in RFC 3339.
    pub expires: Option<String>,
    /// The keys that sign it, and from now on (JWKs).
    pub keys: Vec<Value>,
}

/// The manifest of a locked server, unsigned.
pub fn draft(entry: &Entry, statement: &Statement) -> Value {
    let mut out = Map::new();
    let identity = &entry.identity;
    let mut server = json!({ "name": entry.name(), "version": entry.version() });
    for (name, text) in [("registry", &identity.registry), ("package", &identity.package), ("url", &identity.url)] {
        if let Some(text) = text {
            server[name] = text.as_str().into();
        }
    }
    out.insert("schema".to_owned(), SCHEMA.into());
    out.extend(statement.provider.iter().map(|name| ("provider".to_owned(), json!({ "name": name }))));
    out.insert("server".to_owned(), server);
    out.insert("issuedAt".to_owned(), statement.issued_at.as_str().into());
    out.extend(statement.expires.iter().map(|time| ("expires".to_owned(), time.as_str().into())));
    if !statement.permissions.is_empty() {
        out.insert("permissions".to_owned(), json!(statement.permissions));
    }
    out.extend(entry.instructions_digest().map(|digest| ("instructions".to_owned(), digest.to_string().into())));
    for kind in &entry.listed {
        let items = entry.items.iter().filter(|((other, _), _)| other == kind).map(|((_, name), item)| {
            let mut stated = json!({ "name": name, "digest": item.digest.to_string() });
            if let Some(permissions) = statement.tool_permissions.get(name).filter(|_| *kind == Kind::Tool) {
                stated["permissions"] = json!(permissions);
            }
            stated
        });
        out.insert(kind.list().to_owned(), items.collect());
    }
    if !entry.approvals.is_empty() {
        out.insert("approvals".to_owned(), entry.approvals.iter().map(approval).collect());
    }
    if !statement.keys.is_empty() {
        out.insert("keys".to_owned(), json!({ "keys": statement.keys }));
    }
    Value::Object(out)
}

fn approval(approval: &Approval) -> Value {
    let digest = approval.digest.map(|digest| digest.to_string());
    json!({ "item": approval.item, "digest": digest, "by": approval.by, "at": approval.at, "reason": approval.reason })
}

/// A manifest, read. Nothing in it may be trusted before its signatures are verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The whole document.
    pub document: Value,
    /// The name of the server.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where it is.
    pub place: Place,
    /// When it was issued, in RFC 3339.
    pub issued_at: String,
    /// Until when it holds, in RFC 3339.
    pub expires: Option<String>,
    /// The digest of the instructions.
    pub instructions: Option<Digest>,
    /// The digests of all items, by kind and name.
    pub items: BTreeMap<(Kind, String), Digest>,
    /// The keys of the publisher (JWKs).
    pub keys: Vec<Value>,
}

/// Why a text is not a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadManifest {
    /// It is not JSON that is read strictly.
    Json(Unreadable),
    /// A member is missing or has another form: which one, and what was expected.
    Member(String, &'static str),
}

impl fmt::Display for BadManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(why) => why.fmt(f),
            Self::Member(at, expected) => write!(f, "{at}: expected {expected}"),
        }
    }
}

impl std::error::Error for BadManifest {}

/// Why a manifest is refused although its signature may be good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It no longer holds.
    Expired(String),
    /// It is issued in the future.
    Early(String),
    /// An older one than the newest that was verified.
    Rollback(String),
    /// The version was signed before, with other definitions.
    ImmutableVersion(String),
    /// The server says something else than the manifest.
    Differs(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired(at) => write!(f, "it expired at {at}"),
            Self::Early(at) => write!(f, "it is issued at {at}, in the future"),
            Self::Rollback(what) => write!(f, "rollback: {what}"),
            Self::ImmutableVersion(version) => write!(f, "version {version} was signed before with other definitions"),
            Self::Differs(what) => f.write_str(what),
        }
    }
}

impl Manifest {
    /// Reads a manifest.
    pub fn read(text: &str) -> Result<Self, BadManifest> {
        Self::of(read(text, Integers::Doubles).map_err(BadManifest::Json)?)
    }

    /// The manifest in a document that was read strictly.
    pub fn of(document: Value) -> Result<Self, BadManifest> {
        if document["schema"].as_str() != Some(SCHEMA) {
            return Err(BadManifest::Member("schema".to_owned(), "`mcp.manifest/1`"));
        }
        let text = |value: &Value, at: &str| {
            value.as_str().map(str::to_owned).ok_or_else(|| BadManifest::Member(at.to_owned(), "a text"))
        };
        let time = |value: &Value, at: &str| {
            let time = text(value, at)?;
            let wrong = || BadManifest::Member(at.to_owned(), "a time such as 2026-11-26T12:00:00Z");
            millis(&time).map(|_| time).ok_or_else(wrong)
        };
        let digest = |value: &Value, at: &str| {
            text(value, at)?
                .parse()
                .map_err(|_| BadManifest::Member(at.to_owned(), "a digest: `sha256:` and 64 digits"))
        };
        let mut items = BTreeMap::new();
        for kind in Kind::ALL {
            let Some(list) = document.get(kind.list()) else { continue };
            let list = list.as_array().ok_or_else(|| BadManifest::Member(kind.list().to_owned(), "a list"))?;
            for (index, item) in list.iter().enumerate() {
                let at = format!("{}[{index}]", kind.list());
                let name = text(&item["name"], &format!("{at}.name"))?;
                if items.insert((kind, name), digest(&item["digest"], &format!("{at}.digest"))?).is_some() {
                    return Err(BadManifest::Member(at, "a name that no other item of the list has"));
                }
            }
        }
        let optional = |name: &str| document.get(name);
        Ok(Self {
            name: text(&document["server"]["name"], "server.name")?,
            version: text(&document["server"]["version"], "server.version")?,
            place: Place::of(&document["server"])?,
            issued_at: time(&document["issuedAt"], "issuedAt")?,
            expires: optional("expires").map(|value| time(value, "expires")).transpose()?,
            instructions: optional("instructions").map(|value| digest(value, "instructions")).transpose()?,
            keys: document["keys"]["keys"].as_array().cloned().unwrap_or_default(),
            items,
            document,
        })
    }

    /// The digest of what the version defines: all items and the instructions.
    pub fn definitions(&self) -> Digest {
        let items: Vec<Value> =
            self.items.iter().map(|((kind, name), digest)| json!([kind.list(), name, digest.to_string()])).collect();
        Digest::of("definitions", &json!([self.instructions.map(|digest| digest.to_string()), items]))
    }

    /// What to remember of it, so that older ones are refused.
    pub fn release(&self) -> Release {
        Release { version: self.version.clone(), issued_at: self.issued_at.clone(), digest: self.definitions() }
    }

    /// Why it does not hold at `now`, in milliseconds since the epoch.
    pub fn validity(&self, now: u64) -> Option<Refusal> {
        let at = |text: &str| millis(text).unwrap_or_default();
        if at(&self.issued_at) > now.saturating_add(CLOCKS) {
            return Some(Refusal::Early(self.issued_at.clone()));
        }
        self.expires.clone().filter(|expires| at(expires) <= now).map(Refusal::Expired)
    }

    /// Why it is refused after `newest` was verified.
    pub fn succession(&self, newest: &Release) -> Option<Refusal> {
        let at = |text: &str| millis(text).unwrap_or_default();
        if at(&self.issued_at) < at(&newest.issued_at) {
            let what = format!("issued at {}, after one of {} was verified", self.issued_at, newest.issued_at);
            return Some(Refusal::Rollback(what));
        }
        if older(&self.version, &newest.version) {
            let what = format!("version {}, after version {} was verified", self.version, newest.version);
            return Some(Refusal::Rollback(what));
        }
        let is_same = self.version == newest.version;
        (is_same && self.definitions() != newest.digest).then(|| Refusal::ImmutableVersion(self.version.clone()))
    }

    /// Why a server is not at the place that the manifest states: another address, or another package.
    pub fn misplaced(&self, entry: &Entry) -> impl Iterator<Item = Refusal> {
        self.place.differences(entry).into_iter().map(Refusal::Differs)
    }

    /// What a server says that the manifest does not state, and the reverse, and that it is elsewhere. Kinds that were not listed
    /// are not compared.
    pub fn differences(&self, entry: &Entry) -> Vec<Refusal> {
        let mut found: Vec<Refusal> = self.misplaced(entry).collect();
        let mut differs = |what: String| found.push(Refusal::Differs(what));
        if entry.name() != Some(self.name.as_str()) {
            differs(format!("the manifest is for the server `{}`", self.name));
        } else if entry.version() != Some(self.version.as_str()) {
            differs(format!("the manifest is for version {}", self.version));
        }
        if entry.instructions_digest() != self.instructions {
            differs("the instructions are not those that were signed".to_owned());
        }
        for ((kind, name), item) in &entry.items {
            match self.items.get(&(*kind, name.clone())) {
                Some(digest) if *digest == item.digest => {}
                Some(_) => differs(format!("{} {name} is not the one that was signed", kind.word())),
                None => differs(format!("{} {name} was not signed", kind.word())),
            }
        }
        let missing = |(kind, name): &&(Kind, String)| {
            entry.listed.contains(kind) && !entry.items.contains_key(&(*kind, name.clone()))
        };
        for (kind, name) in self.items.keys().filter(missing) {
            differs(format!("{} {name} was signed and is missing", kind.word()));
        }
        found
    }
}

/// Whether version `one` comes before `other`. Versions that are not numbers with dots are not compared.
fn older(one: &str, other: &str) -> bool {
    /// The numbers, and what stands before a release.
    fn parts(version: &str) -> Option<(Vec<u64>, &str)> {
        let version = version.split('+').next().unwrap_or(version);
        let (numbers, before) = version.split_once('-').unwrap_or((version, ""));
        let numbers = numbers.trim_start_matches('v').split('.').map(|part| part.parse().ok());
        Some((numbers.collect::<Option<_>>()?, before))
    }
    let Some(((a, pre), (b, other_pre))) = parts(one).zip(parts(other)) else { return false };
    let length = a.len().max(b.len());
    let padded = |numbers: &[u64]| (0..length).map(|at| numbers.get(at).copied().unwrap_or(0)).collect::<Vec<_>>();
    match padded(&a).cmp(&padded(&b)) {
        Ordering::Equal => match (pre.is_empty(), other_pre.is_empty()) {
            (false, true) => true,
            (false, false) => before(pre, other_pre),
            _ => false,
        },
        order => order == Ordering::Less,
    }
}

/// Whether one mark of a version before its release comes before the other (Semantic Versioning, 11.4).
fn before(one: &str, other: &str) -> bool {
    let rank = |part: &str| part.parse::<u64>().map_or((1, 0, part.to_owned()), |number| (0, number, String::new()));
    one.split('.').map(rank).lt(other.split('.').map(rank))
}

#[cfg(test)]
mod tests {
    use super::older;

    #[test]
    fn versions_are_ordered_as_people_order_them() {
        for (one, other) in [
            ("1.2.3", "1.2.4"),
            ("1.9", "1.10"),
            ("1", "1.0.1"),
            ("1.0.0-rc.1", "1.0.0"),
            ("1.0.0-rc.2", "1.0.0-rc.10"),
            ("1.0.0-alpha", "1.0.0-beta"),
            ("v1.0", "v2.0"),
            ("1.0.0-1", "1.0.0-a"),
        ] {
            assert!(older(one, other) && !older(other, one), "{one} {other}");
        }
        for (one, other) in [("1.0", "1.0.0"), ("1.0+a", "1.0+b"), ("today", "1.0"), ("2024-a", "x")] {
            assert!(!older(one, other), "{one} {other}");
        }
    }
}

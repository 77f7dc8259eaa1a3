//! `mcp.lock`: several servers, read strictly and written in one order. Must not know where the file is.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value, json};

use crate::entry::{Approval, Entry, Identity, Item, Launch, Release};
use crate::strict::{Integers, Unreadable, read};
use crate::{Digest, Kind};

/// The name and version of the format.
pub const SCHEMA: &str = "mcp.lock/1";

/// A lock: servers by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lock {
    /// The servers.
    pub servers: BTreeMap<String, Entry>,
}

/// Why a text is not a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadLock {
    /// It is not JSON that is read strictly.
    Json(Unreadable),
    /// A member is missing or has another form: where, and what was expected.
    Member(String, &'static str),
    /// A digest is not that of the text that stands with it: the file was edited.
    Edited(String),
}

impl fmt::Display for BadLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(why) => why.fmt(f),
            Self::Member(at, expected) => write!(f, "{at}: expected {expected}"),
            Self::Edited(at) => write!(f, "{at}: the digest does not fit the definition; the file was edited by hand"),
        }
    }
}

impl std::error::Error for BadLock {}

impl Lock {
    /// Reads a lock. Every digest is computed again.
    pub fn read(text: &str) -> Result<Self, BadLock> {
        let document = read(text, Integers::Digits).map_err(BadLock::Json)?;
        if document["schema"].as_str() != Some(SCHEMA) {
            return Err(BadLock::Member("schema".to_owned(), "`mcp.lock/1`"));
        }
        let servers = members(&document, "servers", "")?;
        known(&document, "", &["schema", "servers"])?;
        let entry =
            |(name, value): (&String, &Value)| Ok((name.clone(), read_entry(value, &format!("servers.{name}"))?));
        Ok(Self { servers: servers.iter().map(entry).collect::<Result<_, _>>()? })
    }

    /// The lock as text: members in a fixed order, a line for each, so that a review shows what changed.
    pub fn to_text(&self) -> String {
        let servers: Map<String, Value> =
            self.servers.iter().map(|(name, entry)| (name.clone(), write_entry(entry))).collect();
        let document = json!({ "schema": SCHEMA, "servers": servers });
        let text = serde_json::to_string_pretty(&document).unwrap_or_default();
        format!("{}\n", wire::escape::json(&text))
    }
}

fn write_entry(entry: &Entry) -> Value {
    let mut out = Map::new();
    let Identity { url, registry, package, package_digest } = &entry.identity;
    let identity = [("url", url), ("registry", registry), ("package", package), ("packageDigest", package_digest)];
    let identity = identity.into_iter().filter_map(|(name, text)| Some((name.to_owned(), json!(text.as_ref()?))));
    out.insert("identity".to_owned(), Value::Object(identity.collect()));
    let launch = entry.launch.as_ref().map(|launch| json!({ "command": launch.command, "env": launch.env }));
    let instructions = entry.instructions.as_ref().zip(entry.instructions_digest());
    let instructions = instructions.map(|(text, digest)| json!({ "digest": digest.to_string(), "text": text }));
    for (name, value) in [
        ("launch", launch),
        ("server", entry.server.clone()),
        ("protocolVersion", entry.protocol.clone().map(Value::from)),
        ("capabilities", entry.capabilities.clone()),
        ("instructions", instructions),
    ] {
        out.extend(value.map(|value| (name.to_owned(), value)));
    }
    for kind in &entry.listed {
        let items = entry.items.iter().filter(|((other, _), _)| other == kind);
        let items: Vec<Value> = items.map(|((_, name), item)| write_item(name, item)).collect();
        out.insert(kind.list().to_owned(), Value::Array(items));
    }
    let approvals: Vec<Value> = entry.approvals.iter().map(write_approval).collect();
    let release = entry.release.as_ref().map(|Release { version, issued_at, digest }| {
        json!({ "version": version, "issuedAt": issued_at, "digest": digest.to_string() })
    });
    for (name, value) in [
        ("approvals", (!approvals.is_empty()).then_some(Value::Array(approvals))),
        ("keys", (!entry.keys.is_empty()).then(|| json!(entry.keys))),
        ("release", release),
    ] {
        out.extend(value.map(|value| (name.to_owned(), value)));
    }
    Value::Object(out)
}

fn write_item(name: &str, item: &Item) -> Value {
    let mut out = json!({ "name": name, "digest": item.digest.to_string() });
    if let Some(meta) = item.meta {
        out["meta"] = meta.to_string().into();
    }
    out["definition"] = item.definition.clone();
    out
}

fn write_approval(approval: &Approval) -> Value {
    let Approval { item, digest, by, at, reason } = approval;
    let mut out = json!({ "item": item });
    if let Some(digest) = digest {
        out["digest"] = digest.to_string().into();
    }
    for (name, text) in [("by", by), ("at", at), ("reason", reason)] {
        out[name] = text.as_str().into();
    }
    out
}

fn read_entry(value: &Value, at: &str) -> Result<Entry, BadLock> {
    let lists = Kind::ALL.map(Kind::list);
    let others = [
        "identity",
        "launch",
        "server",
        "protocolVersion",
        "capabilities",
        "instructions",
        "approvals",
        "keys",
        "release",
    ];
    known(value, at, &[&lists[..], &others[..]].concat())?;
    let mut entry = Entry {
        identity: read_identity(value, at)?,
        server: value.get("server").cloned(),
        protocol: optional_text(value, "protocolVersion", at)?,
        capabilities: value.get("capabilities").cloned(),
        ..Entry::default()
    };
    if value.get("launch").is_some() {
        let (launch, at) = (&value["launch"], format!("{at}.launch"));
        known(launch, &at, &["command", "env"])?;
        entry.launch = Some(Launch { command: texts(launch, "command", &at)?, env: texts(launch, "env", &at)? });
    }
    if let Some(instructions) = value.get("instructions") {
        let at = format!("{at}.instructions");
        known(instructions, &at, &["digest", "text"])?;
        entry.instructions = instructions.get("text").cloned();
        if entry.instructions_digest() != Some(digest(instructions, "digest", &at)?) {
            return Err(BadLock::Edited(at));
        }
    }
    for kind in Kind::ALL {
        let Some(list) = value.get(kind.list()) else { continue };
        let list = list.as_array().ok_or_else(|| BadLock::Member(format!("{at}.{}", kind.list()), "a list"))?;
        entry.listed.push(kind);
        for (index, item) in list.iter().enumerate() {
            let at = format!("{at}.{}[{index}]", kind.list());
            let (name, item) = read_item(kind, item, &at)?;
            if entry.items.insert((kind, name), item).is_some() {
                return Err(BadLock::Member(at, "a name that no other item of the list has"));
            }
        }
    }
    for (index, approval) in list(value, "approvals", at)?.iter().enumerate() {
        entry.approvals.push(read_approval(approval, &format!("{at}.approvals[{index}]"))?);
    }
    entry.keys = list(value, "keys", at)?.to_vec();
    if let Some(release) = value.get("release") {
        let at = format!("{at}.release");
        let (version, issued_at) = (text(release, "version", &at)?, text(release, "issuedAt", &at)?);
        entry.release = Some(Release { version, issued_at, digest: digest(release, "digest", &at)? });
    }
    Ok(entry)
}

fn read_identity(value: &Value, at: &str) -> Result<Identity, BadLock> {
    let identity = members(value, "identity", at)?;
    let at = format!("{at}.identity");
    known(&value["identity"], &at, &["url", "registry", "package", "packageDigest"])?;
    let of = |name: &str| identity.get(name).map(|_| text(&value["identity"], name, &at)).transpose();
    Ok(Identity {
        url: of("url")?,
        registry: of("registry")?,
        package: of("package")?,
        package_digest: of("packageDigest")?,
    })
}

fn read_item(kind: Kind, value: &Value, at: &str) -> Result<(String, Item), BadLock> {
    known(value, at, &["name", "digest", "meta", "definition"])?;
    let name = text(value, "name", at)?;
    let definition = value.get("definition").cloned().unwrap_or_default();
    let named = definition[kind.key()].as_str() == Some(name.as_str());
    let stated = digest(value, "digest", at)?;
    let item = Item::new(kind, definition);
    // An item with `_meta` inside its definition was not written by us.
    if item.digest != stated || item.meta.is_some() || !named {
        return Err(BadLock::Edited(at.to_owned()));
    }
    let meta = value.get("meta").map(|_| digest(value, "meta", at)).transpose()?;
    Ok((name, Item { meta, ..item }))
}

fn read_approval(value: &Value, at: &str) -> Result<Approval, BadLock> {
    known(value, at, &["item", "digest", "by", "at", "reason"])?;
    Ok(Approval {
        item: text(value, "item", at)?,
        digest: value.get("digest").map(|_| digest(value, "digest", at)).transpose()?,
        by: text(value, "by", at)?,
        at: text(value, "at", at)?,
        reason: text(value, "reason", at)?,
    })
}

/// Refuses unknown members: a misspelled one must not be taken for a missing one.
fn known(value: &Value, at: &str, names: &[&str]) -> Result<(), BadLock> {
    let members = value.as_object().ok_or_else(|| BadLock::Member(at.to_owned(), "an object"))?;
    match members.keys().find(|name| !names.contains(&name.as_str())) {
        Some(name) => Err(BadLock::Member(below(at, name), "no member of this name")),
        None => Ok(()),
    }
}

fn below(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

fn members<'v>(value: &'v Value, name: &str, at: &str) -> Result<&'v Map<String, Value>, BadLock> {
    value[name].as_object().ok_or_else(|| BadLock::Member(below(at, name), "an object"))
}

/// The items of a list that may be missing.
fn list<'v>(value: &'v Value, name: &str, at: &str) -> Result<&'v [Value], BadLock> {
    match value.get(name) {
        None => Ok(&[]),
        Some(list) => list.as_array().map(Vec::as_slice).ok_or_else(|| BadLock::Member(below(at, name), "a list")),
    }
}

fn text(value: &Value, name: &str, at: &str) -> Result<String, BadLock> {
    value[name].as_str().map(str::to_owned).ok_or_else(|| BadLock::Member(below(at, name), "a text"))
}

fn optional_text(value: &Value, name: &str, at: &str) -> Result<Option<String>, BadLock> {
    value.get(name).map(|_| text(value, name, at)).transpose()
}

fn texts(value: &Value, name: &str, at: &str) -> Result<Vec<String>, BadLock> {
    let wrong = || BadLock::Member(below(at, name), "a list of texts");
    let list = value[name].as_array().ok_or_else(wrong)?;
    list.iter().map(|one| one.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
}

fn digest(value: &Value, name: &str, at: &str) -> Result<Digest, BadLock> {
    let wrong = |_| BadLock::Member(below(at, name), "a digest: `sha256:` and 64 hexadecimal digits");
    text(value, name, at)?.parse().map_err(wrong)
}

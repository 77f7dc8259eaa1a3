//! Reads what clients see: `servers`, `ready` and `record`.

use std::collections::HashSet;

use document::{Content, Entry, Node, Position, nearest, quoted};
use serde_json::{Map, Value};

use super::Reader;
use super::members::Members;
use crate::settings::{
    Change, DEFAULT_SERVER, LONGEST_NAME, Pattern, Ready, RecordSettings, Selection, ServerSettings, UpstreamSettings,
};

const SERVER: &[&str] = &["upstreams", "tools", "prompts", "resources", "instructions", "longest_name"];
const SELECTION: &[&str] = &["only", "hide", "change"];
const CHOICE: &[&str] = &["only", "hide"];
const CHANGE: &[&str] = &["name", "title", "description", "pin"];
const RECORD: &[&str] = &["folder", "file_bytes", "files"];

/// Names that lead elsewhere.
const TAKEN: [&str; 6] = ["mcp", "sse", "messages", "ws", "health", "ready"];
/// The longest name of a server, in characters.
const MAX_NAME: usize = 32;
/// The smallest and the largest `longest_name`.
const NAMES: (u64, u64) = (16, 128);
/// The most files of recordings.
const MOST_FILES: u64 = 10_000;

impl Reader<'_> {
    pub(super) fn servers(&mut self, entry: &Entry, upstreams: &[UpstreamSettings]) -> Vec<ServerSettings> {
        let before = self.errors.len();
        let entries = self.named(entry, "a mapping: a name for each server, then its members", true);
        if entries.is_empty() && self.errors.len() == before {
            self.error(entry.at, "`servers` is empty", "add at least one server, or remove the key");
        }
        entries.into_iter().filter_map(|entry| self.server(entry, upstreams)).collect()
    }

    fn server(&mut self, entry: &Entry, upstreams: &[UpstreamSettings]) -> Option<ServerSettings> {
        let name = &entry.key;
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(letter) || TAKEN.contains(&name.as_str()) {
            let what = format!("the server name {} is invalid", quoted(name));
            let remedy = format!("1 to {MAX_NAME} letters, digits, `-` and `_`, not one of {}", TAKEN.join(", "));
            self.error(entry.at, what, remedy);
        }
        let all = || upstreams.iter().map(|upstream| upstream.name.clone()).collect::<Vec<_>>();
        let mut server = ServerSettings::everything(name, all());
        // Everything of all upstreams is a server, too.
        if matches!(entry.node.content, Content::Null) {
            return Some(server);
        }
        let members = self.members(&format!("the server {}", quoted(name)), entry.at, &entry.node, SERVER)?;
        if let Some(entry) = members.get("upstreams") {
            server.upstreams = self.upstream_names(entry, upstreams);
        }
        if let Some(entry) = members.get("tools") {
            server.tools = self.selection(entry, SELECTION, &server.upstreams);
        }
        if let Some(entry) = members.get("prompts") {
            server.prompts = self.selection(entry, SELECTION, &server.upstreams);
        }
        if let Some(entry) = members.get("resources") {
            server.resources = self.selection(entry, CHOICE, &server.upstreams);
        }
        server.instructions = members.get("instructions").and_then(|entry| self.text(entry)).map(str::to_owned);
        if let Some(entry) = members.get("longest_name") {
            server.longest_name = self.number(entry, NAMES).unwrap_or(LONGEST_NAME as u64) as usize;
        }
        Some(server)
    }

    fn upstream_names(&mut self, entry: &Entry, upstreams: &[UpstreamSettings]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let before = self.errors.len();
        for (name, at) in self.texts(entry, "[files, docs]") {
            if !upstreams.iter().any(|upstream| upstream.name == name) {
                let known = nearest(name, upstreams.iter().map(|upstream| upstream.name.as_str()));
                self.error(at, format!("there is no upstream {}", quoted(name)), known);
            } else if names.iter().any(|other| other == name) {
                self.error(at, format!("the upstream {} is listed twice", quoted(name)), "remove one of them");
            } else {
                names.push(name.to_owned());
            }
        }
        if names.is_empty() && self.errors.len() == before {
            self.error(entry.at, "`upstreams` is empty", "add at least one upstream, or remove the key");
        }
        names
    }

    fn selection(&mut self, entry: &Entry, known: &[&str], upstreams: &[String]) -> Selection {
        let Some(members) = self.members(&quoted(&entry.key), entry.at, &entry.node, known) else {
            return Selection::default();
        };
        let uris = known == CHOICE;
        let mut patterns = |name: &str, members: &Members<'_>| {
            let entry = members.get(name)?;
            let texts = self.texts(entry, "[read_*]");
            Some(texts.into_iter().filter_map(|(text, at)| self.pattern(text, at, uris, upstreams)).collect::<Vec<_>>())
        };
        let only = patterns("only", &members);
        let hide = patterns("hide", &members).unwrap_or_default();
        let change = members.get("change").map(|entry| self.changes(entry, upstreams)).unwrap_or_default();
        Selection { only, hide, change }
    }

    /// `read_*`, or `files.read_*` of one upstream. A URI has no upstream: it may contain any character.
    fn pattern(&mut self, text: &str, at: Position, is_uri: bool, upstreams: &[String]) -> Option<Pattern> {
        if text.is_empty() {
            self.error(at, "a name is empty", "a name, or a pattern such as read_*");
            return None;
        }
        let split = text.split_once('.').filter(|(name, _)| !is_uri && upstreams.iter().any(|one| one == name));
        Some(match split {
            Some((upstream, text)) => Pattern { upstream: Some(upstream.to_owned()), text: text.to_owned() },
            None => Pattern { upstream: None, text: text.to_owned() },
        })
    }

    fn changes(&mut self, entry: &Entry, upstreams: &[String]) -> Vec<(Pattern, Change)> {
        let mut changes = Vec::new();
        let mut names = HashSet::new();
        for entry in self.named(entry, "a mapping: { read_file: { description: … } }", false) {
            let Some(pattern) = self.pattern(&entry.key, entry.at, false, upstreams) else { continue };
            let what = format!("the change of {}", quoted(&entry.key));
            let Some(members) = self.members(&what, entry.at, &entry.node, CHANGE) else { continue };
            let mut text = |name: &str| {
                let entry = members.get(name)?;
                self.text(entry).map(str::to_owned)
            };
            let (name, title, description) = (text("name"), text("title"), text("description"));
            if let (Some(name), Some(entry)) = (&name, members.get("name")) {
                if pattern.text.contains('*') {
                    self.error(entry.at, "`name` cannot be given to a pattern", "name one item without `*`");
                } else if !names.insert(name.clone()) {
                    self.error(entry.at, format!("the name {} is given twice", quoted(name)), "choose another name");
                }
            }
            let pin = members.get("pin").map(|entry| self.pinned(entry)).unwrap_or_default();
            changes.push((pattern, Change { name, title, description, pin }));
        }
        changes
    }

    fn pinned(&mut self, entry: &Entry) -> Map<String, Value> {
        let entries = self.named(entry, "a mapping: { path: /data }", false);
        entries.into_iter().map(|entry| (entry.key.clone(), value_of(&entry.node))).collect()
    }

    /// A whole number within bounds.
    fn number(&mut self, entry: &Entry, (least, most): (u64, u64)) -> Option<u64> {
        let number = match &entry.node.content {
            Content::Number(number) => number.as_u64(),
            _ => None,
        };
        let fits = number.filter(|number| (least..=most).contains(number));
        if fits.is_none() {
            let what = format!("{} is not a whole number from {least} to {most}", quoted(&entry.key));
            self.error(entry.at, what, format!("a number such as {}", least.max(most / 2)));
        }
        fits
    }

    /// `any`, `all`, or a list of upstreams.
    pub(super) fn ready(&mut self, entry: &Entry, upstreams: &[UpstreamSettings]) -> Ready {
        if matches!(entry.node.content, Content::List(_)) {
            return Ready::Named(self.upstream_names(entry, upstreams));
        }
        match self.text(entry) {
            Some("any") | None => Ready::Any,
            Some("all") => Ready::All,
            Some(other) => {
                let what = format!("{} is not a value of `ready`", quoted(other));
                self.error(entry.at, what, "any, all, or a list of upstreams");
                Ready::Any
            }
        }
    }

    pub(super) fn record(&mut self, entry: &Entry) -> Option<RecordSettings> {
        if matches!(entry.node.content, Content::Text(_)) {
            return Some(RecordSettings::new(self.path(entry)?));
        }
        let members = self.members("`record`", entry.at, &entry.node, RECORD)?;
        let folder = members.get("folder").and_then(|entry| self.path(entry));
        if members.get("folder").is_none() {
            self.error(entry.at, "`record` has no `folder`", "add the folder of the recordings");
        }
        let mut record = RecordSettings::new(folder?);
        if let Some(entry) = members.get("files") {
            record.files = self.number(entry, (1, MOST_FILES))? as usize;
        }
        if let Some(bytes) = members.get("file_bytes").and_then(|entry| self.file_bytes(entry)) {
            record.file_bytes = bytes;
        }
        Some(record)
    }

    /// With `servers`, an upstream that none of them shows is a mistake.
    pub(super) fn unused_upstreams(
        &mut self,
        at: Position,
        servers: &[ServerSettings],
        upstreams: &[UpstreamSettings],
    ) {
        for upstream in upstreams {
            if !servers.iter().any(|server| server.upstreams.contains(&upstream.name)) {
                let what = format!("no server shows the upstream {}", quoted(&upstream.name));
                self.error(
                    at,
                    what,
                    format!("add it to a server, or remove it; `{DEFAULT_SERVER}:` shows all at /mcp"),
                );
            }
        }
    }
}

/// A value of the file as JSON.
fn value_of(node: &Node) -> Value {
    match &node.content {
        Content::Null => Value::Null,
        Content::Bool(value) => Value::Bool(*value),
        Content::Number(number) => Value::Number(number.clone()),
        Content::Text(text) => Value::from(text.as_str()),
        Content::List(items) => items.iter().map(value_of).collect(),
        Content::Map(entries) => {
            Value::Object(entries.iter().map(|entry| (entry.key.clone(), value_of(&entry.node))).collect())
        }
    }
}

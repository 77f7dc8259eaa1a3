//! The variables that an entry takes from the environment of its client, in the client's own syntax, and where they stand.

use serde_json::Value;

use crate::catalogue::Client;
use crate::reference::{Part, parts};
use crate::server::URLS;
use crate::text::Segment;

/// A variable that an entry needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// Its name.
    pub name: String,
    /// The way to the text in the entry.
    pub way: Vec<Segment>,
    /// How it is written there.
    pub written: String,
}

impl Needed {
    /// The place in the entry, as people write it: `args[0]`, `env.KEY`.
    pub fn place(&self) -> String {
        self.way.iter().fold(String::new(), |place, segment| match segment {
            Segment::Key(key) if place.is_empty() => key.clone(),
            Segment::Key(key) => place + "." + key,
            Segment::Index(index) => place + &format!("[{index}]"),
        })
    }
}

/// Members that are a text, or a list of texts.
const WORDS: [&str; 3] = ["command", "cmd", "args"];
/// Members that hold texts by name.
const NAMED: [&str; 5] = ["env", "envs", "environment", "headers", "http_headers"];
/// Members that name a variable, alone or by header. Names under `env_keys` may be in a keyring, so they are not needed.
const NAMES: [&str; 4] = ["env_vars", "bearer_token_env_var", "bearer_token_env", "env_http_headers"];

/// The variables that must be set where the client runs: those without a default.
pub fn needed(client: &Client, entry: &Value) -> Vec<Needed> {
    let mut found = Vec::new();
    if let Some(syntax) = &client.reference {
        let mut look = |way: &[Segment], text: &str| {
            found.extend(own(text, syntax).into_iter().map(|(name, written)| Needed {
                name,
                way: way.to_vec(),
                written,
            }));
        };
        for member in WORDS.iter().chain(&URLS).chain(&NAMED) {
            each(&[Segment::Key((*member).to_owned())], &entry[*member], &mut look);
        }
        let options = [Segment::Key("requestOptions".to_owned()), Segment::Key("headers".to_owned())];
        each(&options, &entry["requestOptions"]["headers"], &mut look);
    }
    let mut name = |way: &[Segment], name: &str| {
        found.push(Needed { name: name.to_owned(), way: way.to_vec(), written: name.to_owned() });
    };
    for member in NAMES {
        each(&[Segment::Key(member.to_owned())], &entry[member], &mut name);
    }
    found
}

/// A text, or each text directly in a list or a mapping, with the way to it.
fn each(way: &[Segment], value: &Value, look: &mut impl FnMut(&[Segment], &str)) {
    let mut inner = |last: Segment, value: &Value| {
        if let Some(text) = value.as_str() {
            look(&[way, &[last]].concat(), text);
        }
    };
    match value {
        Value::String(text) => look(way, text),
        Value::Array(items) => items.iter().enumerate().for_each(|(at, item)| inner(Segment::Index(at), item)),
        Value::Object(members) => members.iter().for_each(|(key, value)| inner(Segment::Key(key.clone()), value)),
        _ => {}
    }
}

/// The variables of a text that are written in a client's syntax and have no default: the name, and how it is written.
fn own(text: &str, syntax: &str) -> Vec<(String, String)> {
    let is_own = |name: &str| {
        let written = syntax.replace("NAME", name);
        text.contains(&written).then_some((name.to_owned(), written))
    };
    let names = parts(text).into_iter().filter_map(|part| match part {
        Part::Variable { name, default: None } => is_own(name),
        _ => None,
    });
    let mut found: Vec<_> = names.collect();
    found.dedup();
    found
}

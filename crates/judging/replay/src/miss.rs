//! What was not recorded. Unless told otherwise, the answer is an error that names the nearest request that was.

use std::io;

use net::service::{RpcError, code};
use serde_json::{Map, Value, json};
use wire::escape::snippet;
use wire::{Era, Revision};

use super::State;
use super::fit::TAG;
use super::index::{Entries, Entry};
use super::key::{Asked, Key};
use super::live::LiveServer;

/// What comes of a request that was not recorded.
#[derive(Clone, Debug, Default)]
pub enum Miss {
    /// An error that names the nearest recorded request.
    #[default]
    Error,
    /// An answer made from the server's schemas.
    Simulate,
    /// What this server answers, which is added to the recording.
    Live(Box<LiveServer>),
}

/// How many recorded requests are compared with one that was not, and how many bytes of them.
const COMPARED: usize = 1000;
const COMPARED_BYTES: u64 = 64 << 20;
/// How much of a request is shown.
const SHOWN: usize = 200;

/// Why there is no answer.
pub(super) fn error(state: &State, asked: &Asked, revision: Revision) -> RpcError {
    let mut data = Map::from_iter([(TAG.to_owned(), json!("miss"))]);
    let near = match nearest(state, asked) {
        Some((near, differences)) => {
            let text = told(&near);
            let recorded = json!({ "method": near.method, "name": near.name, "arguments": near.arguments });
            data.insert("nearest".to_owned(), recorded);
            data.insert("differences".to_owned(), json!(differences));
            let differences = snippet(&differences.join(", "), SHOWN);
            format!("Nearest there: {text} (differs at {differences})")
        }
        None => format!("No {} is", snippet(&asked.method, SHOWN)),
    };
    let message = format!("Not in the recording: {}. {near}", told(asked));
    let number = if asked.method == "resources/read" && revision.era() == Era::Legacy {
        code::RESOURCE_NOT_FOUND
    } else {
        code::INVALID_PARAMS
    };
    RpcError::new(number, message).with_data(Value::Object(data))
}

fn told(asked: &Asked) -> String {
    let name = asked.name.as_ref().map(|name| format!(" `{}`", snippet(name, SHOWN))).unwrap_or_default();
    let arguments = asked.arguments.to_string();
    let arguments = if arguments == "{}" { String::new() } else { format!(" {}", snippet(&arguments, SHOWN)) };
    format!("{}{name}{arguments}", snippet(&asked.method, SHOWN))
}

/// The recorded request that is most like this one, and where the two differ: of the same name if there is any, else of the
/// same method.
fn nearest(state: &State, asked: &Asked) -> Option<(Asked, Vec<String>)> {
    let index = &state.recording.index;
    let of_family = |family: &Key| index.family(family).into_iter().flat_map(Entries::iter);
    nearest_of(state, asked, of_family(&asked.family())).or_else(|| {
        let names = index.method(&asked.method).into_iter().flat_map(Entries::iter).take(COMPARED);
        let families = names.filter_map(|entry| Some(request(state, entry.ok()?)?.family()));
        nearest_of(state, asked, families.flat_map(|family| of_family(&family)))
    })
}

fn nearest_of(
    state: &State,
    asked: &Asked,
    entries: impl Iterator<Item = io::Result<Entry>>,
) -> Option<(Asked, Vec<String>)> {
    let mut bytes = 0;
    let few = entries.map_while(Result::ok).take(COMPARED).take_while(|entry| {
        bytes += u64::from(entry.request.length);
        bytes <= COMPARED_BYTES
    });
    let compared = few.filter_map(|entry| request(state, entry)).map(|near| {
        let mut differences = Vec::new();
        if near.name != asked.name {
            differences.push("name".to_owned());
        }
        differ(&near.arguments, &asked.arguments, "arguments", &mut differences);
        (near, differences)
    });
    compared.min_by_key(|(near, differences)| (differences.len(), strangeness(near, asked)))
}

fn request(state: &State, entry: Entry) -> Option<Asked> {
    let message = entry.request.load(&state.recording.file).ok()?;
    Some(Asked::of(&message, &state.options.volatile))
}

/// How unlike two names are: the shorter what they begin with alike, the more.
fn strangeness(near: &Asked, asked: &Asked) -> usize {
    let (near, asked) = (near.name.as_deref().unwrap_or_default(), asked.name.as_deref().unwrap_or_default());
    let alike = near.bytes().zip(asked.bytes()).take_while(|(a, b)| a == b).count();
    near.len().max(asked.len()) - alike
}

fn differ(one: &Value, other: &Value, at: &str, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
            for name in names {
                let of = |members: &Map<String, Value>| members.get(name).cloned();
                match (of(a), of(b)) {
                    (Some(x), Some(y)) => differ(&x, &y, &format!("{at}.{name}"), found),
                    _ => found.push(format!("{at}.{name}")),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (x, y)) in a.iter().zip(b).enumerate() {
                differ(x, y, &format!("{at}[{index}]"), found);
            }
        }
        (a, b) if wire::json::canonical(a) == wire::json::canonical(b) => {}
        _ => found.push(at.to_owned()),
    }
}

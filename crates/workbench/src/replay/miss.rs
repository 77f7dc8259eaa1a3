//! What was not recorded. Unless told otherwise, the answer is an error that names the nearest request that was.

use net::client::Address;
use net::service::{RpcError, code};
use serde_json::{Map, Value, json};
use wire::escape::snippet;
use wire::{Era, Revision};

use super::fit::TAG;
use super::key::Asked;
use super::{State, key};

/// What comes of a request that was not recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Miss {
    /// An error that names the nearest recorded request.
    #[default]
    Error,
    /// An answer made from the server's schemas.
    Simulate,
    /// What the server at this address answers, which is added to the recording.
    Live(Address),
}

/// How many recorded requests are compared with one that was not.
const COMPARED: usize = 1000;
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
    let family = |name: Option<&String>| Asked { name: name.cloned(), ..asked.clone() }.family();
    let mut keys: Vec<key::Key> =
        state.recording.index.families.get(&asked.family()).into_iter().flatten().copied().collect();
    if keys.is_empty() {
        let names = state.recording.index.names.get(&asked.method).into_iter().flatten();
        let families = names.filter_map(|name| state.recording.index.families.get(&family(Some(name))));
        keys = families.flatten().take(COMPARED).copied().collect();
    }
    let recorded = keys.iter().take(COMPARED).filter_map(|key| {
        let entry = state.recording.index.entries.get(key)?.first()?;
        let message = entry.request.load(&state.recording.file).ok()?;
        Some(Asked::of(&message, &state.options.volatile))
    });
    let compared = recorded.map(|near| {
        let mut differences = Vec::new();
        if near.name != asked.name {
            differences.push("name".to_owned());
        }
        differ(&near.arguments, &asked.arguments, "arguments", &mut differences);
        (near, differences)
    });
    compared.min_by_key(|(near, differences)| (differences.len(), strangeness(near, asked)))
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

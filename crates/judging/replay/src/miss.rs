//! Requests that were not recorded. By default the answer is an error that names the nearest recorded request.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use net::service::{RpcError, code};
use serde_json::{Map, Value, json};
use wire::escape::snippet;
use wire::{Era, Revision};

use super::State;
use super::free_text::TextWriter;
use super::index::{Entries, Entry};
use super::live::LiveServer;
use super::provenance::TAG;
use super::request_key::{Key, KeyedRequest};

/// How a request that was not recorded is answered: in the end by an error that names the nearest recorded request.
#[derive(Clone, Debug, Default)]
pub struct Miss {
    /// First by this server; its answers are added to the recording.
    pub live: Option<Box<LiveServer>>,
    /// Then by an answer made from recorded calls and the server's schemas.
    pub simulate: bool,
    /// The file where such answers are kept and found again.
    pub save: Option<PathBuf>,
    /// Writes their free texts.
    pub writer: Option<Arc<dyn TextWriter>>,
}

impl Miss {
    /// Whether every request that was not recorded gets an error.
    pub(super) const fn is_error(&self) -> bool {
        self.live.is_none() && !self.simulate
    }
}

/// How many recorded requests are compared with an unrecorded one, and how many bytes of them.
const COMPARED: usize = 1000;
const COMPARED_BYTES: u64 = 64 << 20;
/// How many recorded calls a simulated answer may follow.
const EXAMPLES: usize = 5;
/// How many characters of a request an error shows.
const SHOWN: usize = 200;

/// The error for a request that was not recorded.
pub(super) fn error(state: &State, request: &KeyedRequest, revision: Revision) -> RpcError {
    let mut data = Map::from_iter([(TAG.to_owned(), json!("miss"))]);
    let near = match nearest(state, request) {
        Some((near, differences)) => {
            let description = describe(&near);
            let recorded = json!({ "method": near.method, "name": near.name, "arguments": near.arguments });
            data.insert("nearest".to_owned(), recorded);
            data.insert("differences".to_owned(), json!(differences));
            let differences = snippet(&differences.join(", "), SHOWN);
            format!("Nearest recorded request: {description} (differs at {differences})")
        }
        None => format!("The recording holds no {}", snippet(&request.method, SHOWN)),
    };
    let message = format!("Not in the recording: {}. {near}", describe(request));
    let number = if request.method == "resources/read" && revision.era() == Era::Legacy {
        code::RESOURCE_NOT_FOUND
    } else {
        code::INVALID_PARAMS
    };
    RpcError::new(number, message).with_data(Value::Object(data))
}

fn describe(request: &KeyedRequest) -> String {
    let name = request.name.as_ref().map(|name| format!(" `{}`", snippet(name, SHOWN))).unwrap_or_default();
    let arguments = request.arguments.to_string();
    let arguments = if arguments == "{}" { String::new() } else { format!(" {}", snippet(&arguments, SHOWN)) };
    format!("{}{name}{arguments}", snippet(&request.method, SHOWN))
}

/// The calls of the same name that were recorded and succeeded, with their results: those that differ least from this one.
pub(super) fn alike(state: &State, request: &KeyedRequest) -> Vec<(KeyedRequest, Value)> {
    let entries = state.recording.index.family(&request.family());
    let mut compared: Vec<_> = within_bounds(entries.into_iter().flat_map(Entries::iter))
        .filter_map(|entry| {
            let near = load_request(state, entry)?;
            let mut differences = Vec::new();
            find_differences(&near.arguments, &request.arguments, "", &mut differences);
            Some((differences.len(), near, entry))
        })
        .collect();
    compared.sort_by_key(|(differences, ..)| *differences);
    let results = compared.into_iter().filter_map(|(differences, near, entry)| {
        let answer = entry.answer?.load(&state.recording.file).ok()?;
        let result = answer.result().filter(|result| result.get("isError") != Some(&json!(true)))?;
        Some((differences, near, result.clone()))
    });
    let mut least = None;
    let alike = results.take_while(|(differences, ..)| *least.get_or_insert(*differences) == *differences);
    alike.take(EXAMPLES).map(|(_, near, result)| (near, result)).collect()
}

/// The recorded request that is most like this one, and where the two differ: one with the same name if there is any, or else
/// with the same method.
fn nearest(state: &State, request: &KeyedRequest) -> Option<(KeyedRequest, Vec<String>)> {
    let index = &state.recording.index;
    let of_family = |family: &Key| index.family(family).into_iter().flat_map(Entries::iter);
    nearest_of(state, request, of_family(&request.family())).or_else(|| {
        let names = index.method(&request.method).into_iter().flat_map(Entries::iter).take(COMPARED);
        let families = names.filter_map(|entry| Some(load_request(state, entry.ok()?)?.family()));
        nearest_of(state, request, families.flat_map(|family| of_family(&family)))
    })
}

fn nearest_of(
    state: &State,
    request: &KeyedRequest,
    entries: impl Iterator<Item = io::Result<Entry>>,
) -> Option<(KeyedRequest, Vec<String>)> {
    let compared = within_bounds(entries);
    let compared = compared.filter_map(|entry| load_request(state, entry)).map(|near| {
        let mut differences = Vec::new();
        if near.name != request.name {
            differences.push("name".to_owned());
        }
        find_differences(&near.arguments, &request.arguments, "arguments", &mut differences);
        (near, differences)
    });
    compared.min_by_key(|(near, differences)| (differences.len(), name_distance(near, request)))
}

/// The first entries, as many as are compared.
fn within_bounds(entries: impl Iterator<Item = io::Result<Entry>>) -> impl Iterator<Item = Entry> {
    let mut bytes = 0;
    entries.map_while(Result::ok).take(COMPARED).take_while(move |entry| {
        bytes += u64::from(entry.request.length);
        bytes <= COMPARED_BYTES
    })
}

fn load_request(state: &State, entry: Entry) -> Option<KeyedRequest> {
    let message = entry.request.load(&state.recording.file).ok()?;
    Some(KeyedRequest::of(&message, &state.options.volatile))
}

/// How far two names differ: the length of the longer one without their common start.
fn name_distance(near: &KeyedRequest, request: &KeyedRequest) -> usize {
    let (near, request) = (near.name.as_deref().unwrap_or_default(), request.name.as_deref().unwrap_or_default());
    let common = near.bytes().zip(request.bytes()).take_while(|(a, b)| a == b).count();
    near.len().max(request.len()) - common
}

fn find_differences(one: &Value, other: &Value, at: &str, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
            for name in names {
                let of = |members: &Map<String, Value>| members.get(name).cloned();
                match (of(a), of(b)) {
                    (Some(x), Some(y)) => find_differences(&x, &y, &format!("{at}.{name}"), found),
                    _ => found.push(format!("{at}.{name}")),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (x, y)) in a.iter().zip(b).enumerate() {
                find_differences(x, y, &format!("{at}[{index}]"), found);
            }
        }
        (a, b) if wire::json::canonical(a) == wire::json::canonical(b) => {}
        _ => found.push(at.to_owned()),
    }
}

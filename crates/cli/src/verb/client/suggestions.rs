//! Errors for unknown names, with a suggestion.

use clap::Subcommand as _;
use client::{ClientError, Listed};
use serde_json::{Map, Value};
use wire::error_code::{INVALID_PARAMS, RESOURCE_NOT_FOUND};
use wire::escape::snippet;

use super::NotPrinted;
use crate::args::client::ClientVerb;
use crate::args::suggestion;
use crate::exit::{self, Exit, tell, usage};

/// How many characters of a name are shown.
const NAME: usize = 60;
/// How many characters of a server's message are shown.
const MESSAGE: usize = 300;

/// Reports an unknown verb.
pub(super) fn unknown_verb(typed: &str) -> Exit {
    let verbs = ClientVerb::augment_subcommands(clap::Command::new("client"));
    let names: Vec<&str> = verbs.get_subcommands().map(clap::Command::get_name).collect();
    let remedy = match suggestion(typed, names.iter().copied()) {
        _ if is_address(typed) => {
            "the verb comes first, the server last: proof client tools http://localhost:3000/mcp".to_owned()
        }
        Some(similar) => format!("`proof client {similar}`"),
        None => format!("one of {}", names.join(", ")),
    };
    usage(&format!("unknown verb `{}`", snippet(typed, NAME)), &remedy)
}

/// Whether a word is a port, or has what URLs have and verbs do not.
fn is_address(word: &str) -> bool {
    word.contains([':', '/', '.']) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Warns of arguments that the schema neither lists nor describes: servers ignore most of them, so that a typo goes unseen.
pub(super) fn warn_of_unknown(schema: &Value, arguments: &Map<String, Value>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    // Names may also come from elsewhere in the schema.
    let elsewhere =
        ["additionalProperties", "patternProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "$ref", "if"];
    if elsewhere.iter().any(|keyword| schema.get(keyword).is_some()) {
        return;
    }
    for name in arguments.keys().filter(|name| !properties.contains_key(*name)) {
        let meant = suggestion(name, properties.keys().map(String::as_str));
        let meant = meant.map_or_else(String::new, |meant| format!("; try `{}`", snippet(meant, NAME)));
        tell(format_args!("warning: the tool's schema has no argument `{}`{meant}", snippet(name, NAME)));
    }
}

/// Reports a tool that the server lists, and that must not be called.
pub(super) fn left_out_tool(name: &str, why: &str) -> Exit {
    let (name, why) = (snippet(name, NAME), snippet(why, MESSAGE));
    let what = format!("the tool `{name}` must not be called over HTTP: {why}");
    usage(&what, "fix its `x-mcp-header` annotations in the server, or reach the server over stdio")
}

/// Reports an unknown tool.
pub(super) fn unknown_tool<'n>(name: &str, tools: impl Iterator<Item = &'n str>) -> Exit {
    let what = format!("the server has no tool `{}`", snippet(name, NAME));
    match suggestion(name, tools) {
        Some(similar) => usage(&what, &format!("`{}`", snippet(similar, NAME))),
        None => usage(&what, "`proof client tools` lists them"),
    }
}

/// Reports a failed request; where the server lists a similar name, suggests that.
pub(super) fn request_failed(
    error: ClientError,
    (kind, name): (&str, &str),
    listed: Result<Listed, ClientError>,
    member: &str,
) -> NotPrinted {
    let ClientError::Rpc { method, code: code @ (INVALID_PARAMS | RESOURCE_NOT_FOUND), message, .. } = &error else {
        return error.into();
    };
    let listed = listed.map(|listed| listed.items).unwrap_or_default();
    let names = || listed.iter().filter_map(|item| item.get(member)?.as_str());
    let Some(similar) = suggestion(name, names()).filter(|similar| *similar != name) else { return error.into() };
    let (name, similar, message) = (snippet(name, NAME), snippet(similar, NAME), snippet(message, MESSAGE));
    exit::tell_redacted(&format!(
        "error: the server has no {kind} `{name}` in its list, and returned error {code}: {message}\n  at {method}"
    ));
    tell(format_args!("  try: `{similar}`"));
    NotPrinted::Reported(Exit::Finding)
}

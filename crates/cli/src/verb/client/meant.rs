//! Names that nothing goes by, and what may have been meant by them.

use clap::Subcommand as _;
use client::{ClientError, Listed};
use wire::escape::snippet;

use super::NotPrinted;
use crate::args::client::ClientVerb;
use crate::args::meant;
use crate::exit::{self, Exit, usage};

/// How much of a name is shown.
const NAME: usize = 60;
/// How much of what a server says is shown.
const SAID: usize = 300;

/// Says that the client has no such verb.
pub(super) fn no_verb(typed: &str) -> Exit {
    let verbs = ClientVerb::augment_subcommands(clap::Command::new("client"));
    let names: Vec<&str> = verbs.get_subcommands().map(clap::Command::get_name).collect();
    let remedy = match meant(typed, names.iter().copied()) {
        Some(meant) => format!("`proof client {meant}`"),
        None => format!("one of {}", names.join(", ")),
    };
    usage(&format!("the client has no verb `{}`", snippet(typed, NAME)), &remedy)
}

/// Says that the server has no such tool.
pub(super) fn no_tool<'n>(name: &str, tools: impl Iterator<Item = &'n str>) -> Exit {
    let what = format!("the server has no tool `{}`", snippet(name, NAME));
    match meant(name, tools) {
        Some(meant) => usage(&what, &format!("`{}`", snippet(meant, NAME))),
        None => usage(&what, "`proof client tools` lists them"),
    }
}

/// Says why the server did not answer: where it lists a name that is nearly the one it was asked for, with that.
pub(super) fn told(
    error: ClientError,
    (kind, name): (&str, &str),
    listed: Result<Listed, ClientError>,
    member: &str,
) -> NotPrinted {
    // The codes for parameters that a server does not take, and for a resource that it does not have.
    let ClientError::Rpc { method, code: code @ (-32602 | -32002), message, .. } = &error else { return error.into() };
    let listed = listed.map(|listed| listed.items).unwrap_or_default();
    let names = || listed.iter().filter_map(|item| item.get(member)?.as_str());
    let Some(meant) = meant(name, names()).filter(|meant| *meant != name) else { return error.into() };
    let (name, meant, message) = (snippet(name, NAME), snippet(meant, NAME), snippet(message, SAID));
    exit::tell_redacted(&format!(
        "error: the server lists no {kind} `{name}`, and answers with error {code}: {message}\n  at {method}"
    ));
    exit::tell(format_args!("  try: `{meant}`"));
    NotPrinted::Reported(Exit::Finding)
}

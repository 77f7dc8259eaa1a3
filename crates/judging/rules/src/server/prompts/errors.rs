//! `server/prompts#error-handling` and what follows it: requests for prompts that cannot be served.

use serde_json::Value;
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR};
use wire::revision::{R2024_11_05, R2026_07_28};

use crate::rule::{Anchor, Rule, at, client, server};
use crate::server::catalogue::{Catalogue, is_made_up};
use crate::server::listing::{PROMPTS, capability};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, MessageAt, View};

const ERRORS: Anchor = at("server/prompts", "error-handling");

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    server("prompts.unknown-refused")
        .says(R2024_11_05, ERRORS, "A request for a prompt that does not exist SHOULD be answered with the error -32602.")
        .needs("prompts")
        .how("Looks at the answers to requests under names that the list, read to its end, does not contain. A prompt that is given anyway counts only where its name says that it does not exist.")
        .fix("Answer -32602 (invalid params).")
        .judge(unknown),
    server("prompts.missing-arguments-refused")
        .says(R2024_11_05, ERRORS, "A request that lacks a required argument SHOULD be answered with the error -32602.")
        .needs("prompts")
        .how("Looks at the errors that answer requests for listed prompts without an argument they require.")
        .fix("Answer -32602 (invalid params).")
        .judge(missing_code),
    server("prompts.arguments-validated")
        .says(
            R2024_11_05,
            at("server/prompts", "implementation-considerations"),
            "A server SHOULD check a prompt's arguments before it uses them.",
        )
        .needs("prompts")
        .how("Looks at requests for listed prompts without an argument they require, or with one that is no text: there should be no prompt in the answer.")
        .fix("Refuse the request, or list the argument as optional.")
        .judge(validated),
    // Before, `lifecycle.list-changes-negotiated` judges it.
    server("prompts.negotiation-respected")
        .says(
            R2026_07_28,
            at("server/prompts", "implementation-considerations"),
            "A server SHOULD announce changes of its prompts only if it declared `prompts.listChanged`.",
        )
        .how("Looks for `notifications/prompts/list_changed`, and for `prompts.listChanged` among the declared capabilities.")
        .fix("Declare `prompts: {\"listChanged\": true}`, or send no such notification.")
        .judge(|view| capability(view, "prompts.listChanged", view.notifications(PROMPTS.changed))),
    client("prompts.only-where-declared")
        .says(
            R2024_11_05,
            at("server/prompts", "implementation-considerations"),
            "A client SHOULD ask for prompts only where the server declared `prompts`.",
        )
        .how("Needs a server that declares no `prompts`, and checks whether the client asks for any.")
        .fix("Look for `prompts` in the server's capabilities first.")
        .judge(only_where_declared),
    server("prompts.injection-prevented")
        .says(
            R2024_11_05,
            at("server/prompts", "security"),
            "A server MUST check what goes into its prompts and what comes out, against injection and unauthorized access.",
        )
        .unobservable("the wire does not show what was checked"),
];

fn named_requests<'v>(view: &View<'v>) -> Vec<(Call<'v>, &'v str)> {
    let named = |call: Call<'v>| Some((call, call.request.message.params()?.get("name")?.as_str()?));
    view.calls("prompts/get").filter(|call| view.judges_content(call)).filter_map(named).collect()
}

/// An error judged by its code; other codes than JSON-RPC's own say that something else was wrong.
fn coded(call: &Call<'_>) -> Option<(usize, Kept)> {
    let (response, code) = (call.response?, call.error_code()?);
    let kept = match code {
        INVALID_PARAMS => Ok(()),
        INTERNAL_ERROR..=INVALID_REQUEST | PARSE_ERROR => {
            Err(response.breach("/error/code", format!("the code is {code}, expected -32602")))
        }
        _ => return None,
    };
    Some((response.event, kept))
}

/// Prompts may exist that are not listed: what was answered with messages is judged only where the name says that there is
/// no such prompt.
fn unknown(view: &View<'_>) -> Verdict {
    let prompts = Catalogue::of(view, &PROMPTS);
    let unknown = named_requests(view).into_iter().filter(|(call, name)| prompts.surely_lacks(name, call));
    let judged = unknown.filter_map(|(call, name)| {
        let messages = call.result().and_then(|r| r.get("messages")).and_then(Value::as_array);
        match (call.response, messages) {
            (Some(response), Some(none)) if none.is_empty() => {
                Some((response.event, Err(response.breach("/result", "an unknown prompt has an empty result"))))
            }
            (Some(response), Some(_)) if is_made_up(name) => {
                Some((response.event, Err(response.breach("/result", "a prompt that does not exist is given"))))
            }
            _ => coded(&call),
        }
    });
    Verdict::of(judged, "no unknown prompt was asked for, or the list of prompts was not read to its end")
}

/// Requests for listed prompts that lack an argument, and which.
fn lacking<'v>(view: &View<'v>) -> Vec<(Call<'v>, &'v str)> {
    let prompts = Catalogue::of(view, &PROMPTS);
    let lacks = |(call, name): (Call<'v>, &'v str)| {
        let arguments = prompts.definition(name)?.get("arguments")?.as_array()?;
        let given = call.request.message.params()?.get("arguments");
        let required = arguments.iter().filter(|argument| argument.get("required").is_some_and(|r| r == true));
        let mut names = required.filter_map(|argument| argument.get("name")?.as_str());
        let missing = names.find(|name| given.and_then(|g| g.get(name)).is_none())?;
        Some((call, missing))
    };
    named_requests(view).into_iter().filter_map(lacks).collect()
}

fn missing_code(view: &View<'_>) -> Verdict {
    let judged = lacking(view).into_iter().filter_map(|(call, _)| coded(&call));
    Verdict::of(judged, "no request that lacks a required argument was refused")
}

fn validated(view: &View<'_>) -> Verdict {
    let missing = lacking(view).into_iter().filter_map(|(call, name)| refused(&call, name, "missing"));
    let judged = missing.chain(no_texts(view));
    Verdict::of(judged, "no request lacked a required argument, and none had one that is no text")
}

/// Requests for listed prompts with an argument that is an object or an array, where the schema has texts.
fn no_texts<'v>(view: &View<'v>) -> impl Iterator<Item = (usize, Kept)> + use<'v> {
    let prompts = Catalogue::of(view, &PROMPTS);
    named_requests(view).into_iter().filter_map(move |(call, name)| {
        prompts.definition(name)?;
        let arguments = call.request.message.params()?.get("arguments")?.as_object()?;
        let (argument, _) = arguments.iter().find(|(_, value)| value.is_object() || value.is_array())?;
        refused(&call, argument, "no text")
    })
}

/// Whether a request is refused of which one argument is not as it should be.
fn refused(call: &Call<'_>, argument: &str, flaw: &str) -> Option<(usize, Kept)> {
    let response = call.response?;
    if call.error().is_some() {
        return Some((response.event, Ok(())));
    }
    // An interim result may ask for what is missing.
    call.result()?.get("messages")?;
    let why = format!("the prompt is given though its argument `{}` is {flaw}", argument.escape_debug());
    Some((response.event, Err(response.breach("/result", why))))
}

fn only_where_declared(view: &View<'_>) -> Verdict {
    if view.server_capabilities().is_none() || view.declares_ever("prompts") {
        return Verdict::NotSeen("the server declares `prompts`, or was not asked what it declares".to_owned());
    }
    let beginning =
        |sent: &MessageAt<'_>| ["initialize", "server/discover", "ping"].into_iter().any(|method| sent.is(method));
    let requests = view.calls_by(wire::Party::Client).map(|call| call.request);
    let judged = requests.filter(|sent| view.is_current(*sent) && !beginning(sent));
    Verdict::every(judged, "nothing was asked of a server without prompts", |sent| {
        let asks = sent.message.method().is_some_and(|method| method.starts_with("prompts/"));
        if asks { Err(sent.breach("/method", "the server does not declare `prompts`")) } else { Ok(()) }
    })
}

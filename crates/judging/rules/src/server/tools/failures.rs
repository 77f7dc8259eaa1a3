//! What the schema says of errors that come from a tool itself.

use serde_json::{Map, Value};
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS};
use wire::revision::{R2024_11_05, R2025_11_25};
use wire::trace::StimulusKind;

use crate::reading::schema_fit::{Fit, fit};
use crate::rule::{Rule, at, server};
use crate::server::catalogue::Catalogue;
use crate::server::listing::TOOLS;
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, View};

/// The rule on a tool's own errors.
pub(crate) const RULES: &[Rule] = &[server("tools.failures-reported")
    .says(
        R2024_11_05,
        at("server/tools", "error-handling"),
        "An error of the tool itself SHOULD be reported in a result with `isError: true`, not as a protocol error.",
    )
    .needs("tools")
    .how("Makes a call that is known to fail in the tool (`failing` among the hints) and checks whether a result says so. Of other calls, an error -32603 counts whose message speaks of the very arguments, where these fit the schema and the tool succeeds with others, and one for an id that names nothing: asked for twice, while the same call with an id of the same form succeeds afterwards.")
    .fix("Catch what a tool throws and answer with its text as content and `isError: true`, so that the model sees it.")
    .judge(failures_reported)];

fn failures_reported(view: &View<'_>) -> Verdict {
    let failing = view.stimulated(StimulusKind::FailingCall).filter_map(|event| {
        let connection = view.frame(event).connection;
        view.calls("tools/call").find(|c| c.request.connection == connection && c.request.event > event)
    });
    let known = failing.filter_map(|call| Some((call.response?.event, reported(view, &call)?)));
    let judged: Vec<(usize, Kept)> = known.chain(over_arguments(view)).collect();
    Verdict::of(judged, "no call that is known to fail in the tool was made")
}

/// Calls that end in an internal error over arguments that fit the schema: the message says that it is about them, and the
/// tool works.
fn over_arguments<'v>(view: &View<'v>) -> Vec<(usize, Kept)> {
    let failed = |call: &Call<'v>| call.error_code() == Some(INTERNAL_ERROR) && view.judges_content(call);
    let calls: Vec<_> = view.calls("tools/call").collect();
    if !calls.iter().any(failed) {
        return Vec::new();
    }
    let tools = Catalogue::of(view, &TOOLS);
    let param = |call: &Call<'v>, member: &str| call.request.message.params().and_then(|params| params.get(member));
    let works = |name: &Value| {
        let succeeds = |call: &&Call<'v>| {
            param(call, "name") == Some(name)
                && call.result().is_some_and(|r| r.get("isError") != Some(&Value::Bool(true)))
        };
        calls.iter().any(|call| succeeds(&call))
    };
    let judged = calls.iter().filter(|call| failed(call)).filter_map(|call| {
        let (response, name, arguments) = (call.response?, param(call, "name")?, param(call, "arguments")?);
        let schema = tools.definition(name.as_str()?)?.get("inputSchema")?;
        let said = call.error()?.get("message")?.as_str()?;
        let fits = matches!(fit(schema, arguments, view.budget()), Fit::Yes);
        let speaks = || speaks_of(said, arguments) && works(name);
        let why = "the tool fails over its arguments, and says so by a protocol error, which the model never sees";
        (fits && (speaks() || names_nothing(&calls, call)))
            .then(|| (response.event, Err(response.breach("/error", why))))
    });
    judged.collect()
}

/// Whether a call that ends in an internal error did so before, too, and the same call succeeds after it with an id of the same
/// form in the place of one.
fn names_nothing(calls: &[Call<'_>], failed: &Call<'_>) -> bool {
    let asked = |call: &Call<'_>| {
        let params = call.request.message.params()?;
        Some((params.get("name")?.clone(), params.get("arguments")?.as_object()?.clone()))
    };
    let Some((name, arguments)) = asked(failed) else { return false };
    let here = |call: &&Call<'_>| call.request.connection == failed.request.connection;
    let before = calls.iter().filter(here).filter(|call| call.request.event < failed.request.event);
    let failed_before = before
        .filter(|call| call.error_code() == Some(INTERNAL_ERROR))
        .any(|call| asked(call).is_some_and(|(other, same)| other == name && same == arguments));
    let after = || calls.iter().filter(here).filter(|call| call.request.event > failed.request.event);
    failed_before
        && after().any(|call| {
            let succeeds = call.result().is_some_and(|r| r.get("isError") != Some(&Value::Bool(true)));
            succeeds && asked(call).is_some_and(|(other, known)| other == name && differ_in_an_id(&known, &arguments))
        })
}

/// Whether arguments differ in one member alone, by the number in it.
fn differ_in_an_id(known: &Map<String, Value>, unknown: &Map<String, Value>) -> bool {
    let mut different = known.iter().filter(|(member, value)| unknown.get(*member) != Some(*value));
    let Some((member, value)) = different.next() else { return false };
    let alike = match (value, unknown.get(member)) {
        (Value::String(one), Some(Value::String(other))) => form(one) == form(other),
        (Value::Number(one), Some(Value::Number(other))) => one.is_u64() && other.is_u64(),
        _ => false,
    };
    alike && different.next().is_none() && known.len() == unknown.len()
}

/// A text with one mark in the place of each run of digits.
fn form(text: &str) -> String {
    let mut form = String::new();
    for c in text.chars() {
        match c {
            c if !c.is_ascii_digit() => form.push(c),
            _ if form.ends_with('\0') => {}
            _ => form.push('\0'),
        }
    }
    form
}

/// Whether a message names every text among the arguments, of which there are two at least or one that names nothing.
fn speaks_of(said: &str, arguments: &Value) -> bool {
    let words: Vec<&str> = said.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').collect();
    let texts: Vec<&str> = arguments.as_object().into_iter().flatten().filter_map(|(_, v)| v.as_str()).collect();
    (texts.len() >= 2 || texts == ["proof-names-nothing"]) && texts.iter().all(|text| words.contains(text))
}

/// `None` where the answer says nothing of the tool: it may not have failed, or its arguments were refused, which before
/// 2025-11-25 is a protocol error.
fn reported(view: &View<'_>, call: &Call<'_>) -> Option<Kept> {
    let response = call.response.filter(|r| !view.is_envelope_refusal(*r))?;
    if let Some(result) = call.result() {
        return (result.get("isError") == Some(&Value::Bool(true))).then_some(Ok(()));
    }
    let refused = call.error_code() == Some(INVALID_PARAMS) && !view.revision().at_least(R2025_11_25);
    let why = "the tool's own failure comes as a protocol error, which the model never sees";
    (!refused).then(|| Err(response.breach("/error", why)))
}

//! What the schema says of errors that come from a tool itself.

use serde_json::Value;
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
    .how("Makes a call that is known to fail in the tool (`failing` among the hints) and checks whether a result says so. Of other calls, an error -32603 counts whose message speaks of the very arguments, where these fit the schema and the tool succeeds with others.")
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
        let why = "the tool fails over its arguments, and says so by a protocol error, which the model never sees";
        (fits && speaks_of(said, arguments) && works(name))
            .then(|| (response.event, Err(response.breach("/error", why))))
    });
    judged.collect()
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

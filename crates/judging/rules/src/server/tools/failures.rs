//! What the schema says of errors that come from a tool itself.

use serde_json::Value;
use wire::error_code::INVALID_PARAMS;
use wire::revision::{R2024_11_05, R2025_11_25};
use wire::trace::StimulusKind;

use crate::rule::{Rule, at, server};
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
    .how("Makes a call that is known to fail in the tool (`failing` among the hints) and checks whether a result says so.")
    .fix("Catch what a tool throws and answer with its text as content and `isError: true`, so that the model sees it.")
    .judge(failures_reported)];

fn failures_reported(view: &View<'_>) -> Verdict {
    let failing = view.stimulated(StimulusKind::FailingCall).filter_map(|event| {
        let connection = view.frame(event).connection;
        view.calls("tools/call").find(|c| c.request.connection == connection && c.request.event > event)
    });
    let judged = failing.filter_map(|call| Some((call.response?.event, reported(view, &call)?)));
    Verdict::of(judged.collect::<Vec<_>>(), "no call that is known to fail in the tool was made")
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

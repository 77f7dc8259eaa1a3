//! Multi round-trip requests (modern era): a call that asks for input, and every way to come back with too much, too
//! little or nonsense.

use serde_json::{Map, Value, json};
use wire::Era;

use super::tools;
use crate::check::answers::{self, Manner};
use crate::check::context::{Abort, ProbeContext};
use crate::check::probe::{Probe, Script};

/// How many calls that ask are played.
const CALLS: usize = 3;

pub(super) const ROUNDS: Probe = Probe::shared("rounds", rounds).era(Era::Modern).needs("tools");

/// Each retry comes with the state of a round of its own: what was said wrongly before must not matter.
fn rounds(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        for (name, arguments) in tools::likely_to_ask(case).into_iter().take(CALLS) {
            let call = json!({ "name": name, "arguments": arguments });
            let Some(asked) = ask(case, &call).await? else { continue };
            let right = answers::inputs(&asked, Manner::Usual);
            let mut more = right.clone();
            more.insert("proof-unasked".to_owned(), json!({ "action": "decline" }));
            let numbers: Map<_, _> = right.keys().map(|key| (key.clone(), json!(7))).collect();
            let responses =
                [json!("proof"), Value::Object(numbers), json!({}), Value::Object(more), Value::Object(right)];
            for response in responses {
                let Some(asked) = ask(case, &call).await? else { break };
                let mut retry = call.clone();
                retry["inputResponses"] = response;
                if let Some(state) = asked.get("requestState") {
                    retry["requestState"] = state.clone();
                }
                case.request("tools/call", retry).await?;
            }
        }
        Ok(())
    })
}

/// The result of a call that asks for input; `None` where it does not.
pub(super) async fn ask(case: &ProbeContext, call: &Value) -> Result<Option<Value>, Abort> {
    let reply = case.request("tools/call", call.clone()).await?;
    Ok(reply.result().filter(|result| result.get("resultType") == Some(&json!("input_required"))).cloned())
}

//! How long tasks are kept (2025-11-25): wishes beyond all measure, and a task that outlives its time.

use std::time::Duration;

use serde_json::{Value, json};
use wire::{Era, Revision};

use super::core::{begin, task_calls, worth};
use crate::check::context::{Abort, ProbeContext};
use crate::check::probe::{Probe, Script};

/// The longest that a whole number may ask for, in milliseconds.
const FOREVER: u64 = (1 << 53) - 1;

/// What is asked for, in milliseconds, and the longest that is waited for whatever a server makes of that.
const SHORT: u64 = 300;
const LONGEST: u64 = 3000;

/// How long after its time a task is looked at: it is given a second to go.
const AFTER: Duration = Duration::from_millis(1050);

pub(in super::super) const KEPT: Probe = Probe::fresh("tasks-kept", kept)
    .since(Revision::R2025_11_25)
    .era(Era::Legacy)
    .needs("tasks.requests.tools.call")
    .when(worth);

/// A task for ever, which is cancelled, and one for a moment.
fn kept(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let call = task_calls(case).into_iter().next().ok_or(Abort::Lacks("a tool that may run as a task"))?;
        if let Some(id) = begin(case, &call, json!({ "ttl": FOREVER }), "for-ever").await?
            && case.survey().has("tasks.cancel")
        {
            case.request("tasks/cancel", json!({ "taskId": id })).await?;
        }
        let Some(id) = begin(case, &call, json!({ "ttl": SHORT }), "for-a-moment").await? else { return Ok(()) };
        let which = json!({ "taskId": id });
        let looked = case.request("tasks/get", which.clone()).await?;
        let granted = looked.result().and_then(|task| task.get("ttl")).and_then(Value::as_u64);
        // Whatever the server says: it may keep its word for longer than it gives it, or not as long.
        let wait = granted.filter(|granted| *granted <= LONGEST).unwrap_or(SHORT);
        tokio::time::sleep(Duration::from_millis(wait) + AFTER).await;
        case.request("tasks/get", which).await?;
        Ok(())
    })
}

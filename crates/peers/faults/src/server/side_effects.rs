//! Faults of lists that differ after a call.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use wire::revision::R2025_03_26;

use super::{Fault, Kind, ServiceRequest, drop_member, fault};

pub(super) const FAULTS: &[&Fault] = &[
    &fault(
        "tool-unlocked-by-call",
        "tools.list-same-everywhere",
        "the list of tools has one more after a call of `echo`, and `tools.listChanged` is not declared",
        Kind::Several(&[
            Kind::Results("server/discover", undeclare),
            Kind::Answers(|asked, answer| unlock(asked, answer, "echo")),
        ]),
    )
    .breaks_too(&["safety.reading-changes-no-list", "subscriptions.only-supported-acknowledged"])
    .modern()
    .stdio(),
    &fault(
        "list-changes-undeclared",
        "safety.list-changes-declared",
        "the list of tools has one more after a call of `get_weather`, and `tools.listChanged` is not declared",
        Kind::Several(&[
            Kind::Results("initialize", undeclare),
            Kind::Results("tools/list", |answer| {
                let tools = answer["result"]["tools"].as_array_mut().into_iter().flatten();
                tools.filter(|tool| tool["name"] == "get_weather").for_each(|tool| drop_member(tool, "annotations"));
            }),
            Kind::Answers(|asked, answer| unlock(asked, answer, "get_weather")),
        ]),
    )
    .breaks_too(&["lifecycle.list-changes-negotiated"])
    .legacy()
    .stdio(),
    &fault(
        "reading-removes-prompt",
        "safety.reading-changes-no-list",
        "the first prompt is gone after a call of `echo`, which says that it only reads",
        Kind::Answers(|asked, answer| {
            if is_after(asked, "echo") && asked.is("prompts/list") && asked.param("cursor").is_null() {
                let prompts = answer.pointer_mut("/result/prompts").and_then(Value::as_array_mut);
                prompts.filter(|prompts| !prompts.is_empty()).map(|prompts| prompts.remove(0));
            }
        }),
    )
    .breaks_too(&["prompts.list-same-everywhere", "prompts.list-changed-sent"])
    .since(R2025_03_26)
    .stdio(),
];

/// Whether a tool was called.
#[derive(Default)]
struct Called(AtomicBool);

/// Whether `tool` was called before, or is called now.
fn is_after(asked: &ServiceRequest, tool: &str) -> bool {
    let called = asked.state.of::<Called>();
    if asked.is("tools/call") && asked.param("name") == tool {
        called.0.store(true, Ordering::Relaxed);
    }
    called.0.load(Ordering::Relaxed)
}

/// After a call of `tool`, the list of tools has one more.
fn unlock(asked: &ServiceRequest, answer: &mut Value, tool: &str) {
    if is_after(asked, tool)
        && asked.is("tools/list")
        && let Some(tools) = answer.pointer_mut("/result/tools").and_then(Value::as_array_mut)
        && let Some(mut more) = tools.first().cloned()
    {
        more["name"] = json!("unlocked");
        tools.push(more);
    }
}

fn undeclare(answer: &mut Value) {
    drop_member(&mut answer["result"]["capabilities"]["tools"], "listChanged");
}

//! `server/tools#tool-result`: what a tool's result holds.

use serde_json::Value;
use wire::json;
use wire::revision::R2025_06_18;

use crate::reading::schema_fit::{Fit, fit};
use crate::rule::{Rule, at, server};
use crate::server::catalogue::Catalogue;
use crate::server::listing::{self, TOOLS};
use crate::verdict::{Kept, Verdict};
use crate::view::{MessageAt, View};

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    server("tools.embedded-need-resources")
        .says(
            R2025_06_18,
            at("server/tools", "embedded-resources"),
            "A server whose tools return embedded resources SHOULD have the `resources` capability.",
        )
        .about(&["tools"])
        .how("Looks for content of type `resource` in tool results, and for `resources` among the declared capabilities.")
        .fix("Implement and declare `resources`, or return a link or plain text.")
        .judge(embedded),
    server("tools.structured-mirrored")
        .says(
            R2025_06_18,
            at("server/tools", "structured-content"),
            "A tool that returns structured content SHOULD return the same JSON as text, for older clients.",
        )
        .about(&["tools"])
        .how("Looks for a text block whose JSON equals `structuredContent`. Errors are accepted, and values other than objects, because the specification's own example omits the text there.")
        .fix("Add a text block holding the serialized `structuredContent`.")
        .judge(mirrored),
    server("tools.structured-present")
        .says(
            R2025_06_18,
            at("server/tools", "output-schema"),
            "A tool with an `outputSchema` MUST return `structuredContent` unless it failed.",
        )
        .about(&["tools"])
        .how("Looks at successful, final results of tools that were listed with an `outputSchema`.")
        .fix("Put the result into `structuredContent`, or remove the `outputSchema`.")
        .judge(present),
    server("tools.structured-conforms")
        .says(
            R2025_06_18,
            at("server/tools", "output-schema"),
            "`structuredContent` MUST conform to the tool's `outputSchema`.",
        )
        .about(&["tools"])
        .how("Reads `structuredContent` by the `outputSchema` the tool was listed with. Keywords that need a full validator (patterns, external references) are accepted.")
        .fix("Return what the schema promises, or correct the schema.")
        .judge(conforms),
];

/// A successful, final result of a tool call: the response, the tool's name and the result.
fn successes<'v>(view: &View<'v>) -> impl Iterator<Item = (MessageAt<'v>, &'v str, &'v Value)> {
    let calls = view.calls("tools/call").collect::<Vec<_>>();
    calls.into_iter().filter_map(|call| {
        let name = call.request.message.params()?.get("name")?.as_str()?;
        let result = call.result()?;
        let complete = result.get("resultType").is_none_or(|kind| kind == "complete");
        let failed = result.get("isError").is_some_and(|failed| failed == true);
        let response = call.response.filter(|sent| view.is_current(*sent))?;
        (complete && !failed && result.get("task").is_none()).then_some((response, name, result))
    })
}

fn blocks(result: &Value) -> impl Iterator<Item = &Value> {
    result.get("content").and_then(Value::as_array).into_iter().flatten()
}

fn embedded(view: &View<'_>) -> Verdict {
    let embeds = |result: &Value| blocks(result).any(|block| block.get("type").is_some_and(|kind| kind == "resource"));
    let shown = view.results("tools/call").filter(|(_, result)| embeds(result)).map(|(sent, _)| sent);
    listing::capability(view, "resources", shown)
}

fn mirrored(view: &View<'_>) -> Verdict {
    let judged = successes(view).filter_map(|(sent, _, result)| {
        let structured = result.get("structuredContent").filter(|value| value.is_object())?;
        // Read as `structuredContent` was: half a surrogate pair in both is no difference.
        let same = |text: &str| json::lenient(text).is_some_and(|value| json::same(&value, structured));
        let mirrored = blocks(result).any(|block| {
            block.get("type").is_some_and(|kind| kind == "text")
                && block.get("text").and_then(Value::as_str).is_some_and(same)
        });
        let why = "no text block holds the same JSON as `structuredContent`";
        Some((sent.event, if mirrored { Ok(()) } else { Err(sent.breach("/result/content", why)) }))
    });
    Verdict::of(judged, "no tool returned structured content")
}

fn promised<'v>(tools: &Catalogue<'v>, name: &str) -> Option<&'v Value> {
    tools.definition(name)?.get("outputSchema").filter(|schema| schema.is_object())
}

fn present(view: &View<'_>) -> Verdict {
    let tools = Catalogue::of(view, &TOOLS);
    let judged = successes(view).filter_map(|(sent, name, result)| {
        promised(&tools, name)?;
        let why = "the tool has an `outputSchema`, the result no `structuredContent`";
        let there = result.get("structuredContent").is_some();
        Some((sent.event, if there { Ok(()) } else { Err(sent.breach("/result", why)) }))
    });
    Verdict::of(judged, "no tool with an `outputSchema` was called with success")
}

fn conforms(view: &View<'_>) -> Verdict {
    let tools = Catalogue::of(view, &TOOLS);
    let judged = successes(view).filter_map(|(sent, name, result)| {
        let kept: Kept = match fit(promised(&tools, name)?, result.get("structuredContent")?, view.budget()) {
            Fit::Yes => Ok(()),
            Fit::No { pointer, why } => Err(sent.breach(format!("/result/structuredContent{pointer}"), why)),
            Fit::Unsure => return None,
        };
        Some((sent.event, kept))
    });
    Verdict::of(judged, "no structured content was returned whose `outputSchema` can be judged by reading")
}

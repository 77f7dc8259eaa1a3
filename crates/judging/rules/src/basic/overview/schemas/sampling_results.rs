//! What a server tells a client's model of a tool's result fits the schema that the same request gives that tool.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::pointer;
use wire::revision::R2025_11_25;

use crate::budget::Budget;
use crate::reading::schema_fit::{Fit, fit};
use crate::rule::{Rule, at, server};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::View;

/// The rule on results of tools in requests for sampling.
pub(crate) const RULES: &[Rule] = &[server("sampling.tool-results-conform")
    .says(
        R2025_11_25,
        at("basic/index", "schema"),
        "In a request for sampling, the structured result of a tool SHOULD conform to the `outputSchema` of that tool.",
    )
    .how("Reads `structuredContent` of every tool result in a request for sampling by the schema of the tool that its tool use names. Keywords that need a full validator are accepted.")
    .fix("Check what the tool gave before passing it on, or pass it on as text.")
    .judge(conform)];

fn conform(view: &View<'_>) -> Verdict {
    let requests = requests(view);
    let judged = requests.iter().flat_map(|(event, pointer, params)| {
        let of = |(at, fits): (String, Fit)| match fits {
            Fit::Yes => Some((*event, Ok(()))),
            Fit::No { pointer: place, why } => {
                Some((*event, Err(Breach::at(*event, format!("{pointer}{at}{place}"), why))))
            }
            Fit::Unsure => None,
        };
        results(params, view.budget()).into_iter().filter_map(of).collect::<Vec<(usize, Kept)>>()
    });
    Verdict::of(
        judged.collect::<Vec<_>>(),
        "no request for sampling held the structured result of a tool with an `outputSchema`",
    )
}

/// Every request for sampling, the server's own (legacy era) and those within results: event, pointer to its params,
/// params.
fn requests<'v>(view: &View<'v>) -> Vec<(usize, String, &'v Value)> {
    let mut found: Vec<_> = view
        .by_subject()
        .filter(|s| s.is("sampling/createMessage"))
        .filter_map(|s| Some((s.event, "/params".to_owned(), s.message.params()?)))
        .collect();
    for (sent, result) in super::super::meta::results(view) {
        for (key, request) in result.get("inputRequests").and_then(Value::as_object).into_iter().flatten() {
            let pointer = format!("/result/inputRequests/{}/params", pointer::escape(key));
            let sampling = request.get("method").is_some_and(|m| m == "sampling/createMessage");
            found.extend(request.get("params").filter(|_| sampling).map(|params| (sent.event, pointer, params)));
        }
    }
    found
}

/// The blocks of all messages, with their pointers.
fn blocks(params: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for (index, message) in params.get("messages").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let content = message.get("content");
        match content.and_then(Value::as_array) {
            Some(blocks) => {
                found.extend(
                    blocks.iter().enumerate().map(|(n, block)| (format!("/messages/{index}/content/{n}"), block)),
                );
            }
            None => found.extend(content.map(|block| (format!("/messages/{index}/content"), block))),
        }
    }
    found
}

/// Every structured result, with how it fits its tool's schema.
fn results(params: &Value, budget: &Budget) -> Vec<(String, Fit)> {
    let text = |value: &'_ Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let tools = params.get("tools").and_then(Value::as_array).into_iter().flatten();
    let schemas: BTreeMap<_, _> =
        tools.filter_map(|tool| Some((text(tool, "name")?, tool.get("outputSchema")?))).collect();
    let blocks = blocks(params);
    let of_kind =
        |kind: &'static str| blocks.iter().filter(move |(_, block)| block.get("type").is_some_and(|t| t == kind));
    let uses: BTreeMap<_, _> =
        of_kind("tool_use").filter_map(|(_, b)| Some((text(b, "id")?, text(b, "name")?))).collect();
    let structured = of_kind("tool_result").filter(|(_, block)| block.get("isError") != Some(&Value::Bool(true)));
    let fitted = structured.filter_map(|(at, block)| {
        let schema = schemas.get(uses.get(&text(block, "toolUseId")?)?)?;
        Some((format!("{at}/structuredContent"), fit(schema, block.get("structuredContent")?, budget)))
    });
    fitted.collect()
}

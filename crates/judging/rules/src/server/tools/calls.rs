//! `server/tools#error-handling` and `#security-considerations`: what happens to calls that cannot be served.

use std::collections::HashMap;

use serde_json::{Value, json};
use wire::Kind;
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR};
use wire::revision::{R2024_11_05, R2025_11_25};

use crate::reading::schema_fit::{Fit, fit};
use crate::rule::{Anchor, Rule, at, server};
use crate::server::catalogue::{Catalogue, is_made_up};
use crate::server::listing::TOOLS;
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, View};

const ERRORS: Anchor = at("server/tools", "error-handling");
const SECURITY: Anchor = at("server/tools", "security-considerations");

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    server("tools.unknown-refused")
        .says(R2024_11_05, ERRORS, "A call of a tool that does not exist SHOULD be answered with a protocol error.")
        .needs("tools")
        .how("Looks at calls under names that the list, read to its end, does not contain: the failure \
              should be a JSON-RPC error, not a result. A success counts only where the name says that there is no such tool.")
        .fix("Answer with a JSON-RPC error, code -32602, instead of a result with `isError`.")
        .judge(unknown_refused),
    server("tools.unknown-code")
        .says(R2024_11_05, ERRORS, "The protocol error for an unknown tool SHOULD have the code -32602.")
        .needs("tools")
        .how("Looks at the error codes that answer calls under names that the list does not contain: those of JSON-RPC, and statuses of HTTP in their place.")
        .fix("Use the code -32602 (invalid params): the method is known, its parameter is not.")
        .judge(unknown_code),
    server("tools.malformed-refused")
        .says(
            R2025_11_25,
            ERRORS,
            "A `tools/call` whose parameters do not have the form of such a call SHOULD be answered with a protocol error.",
        )
        .needs("tools")
        .how("Looks at the answers to calls without a name, with a name that is not a string, or with arguments that are not an object.")
        .fix("Check the form of the parameters first and answer -32602.")
        .judge(malformed_refused),
    server("tools.invalid-input-reported")
        .says(
            R2025_11_25,
            ERRORS,
            "Arguments that a tool's schema refuses SHOULD be reported in a result with `isError: true`, so that the model \
             can correct itself.",
        )
        .needs("tools")
        .how("Looks at well-formed calls of listed tools whose arguments surely do not fit the `inputSchema`: they should \
              not be answered with the protocol error -32602, nor with -32603 where other calls of the tool succeed.")
        .fix("Return a result with `isError: true` and a text that says what is wrong with the arguments.")
        .judge(invalid_input_reported),
    server("tools.inputs-validated")
        .says(R2024_11_05, SECURITY, "A server MUST validate what its tools are called with.")
        .needs("tools")
        .how("Looks at calls of listed tools without a required argument, or with one of a type that its schema refuses and that no conversion makes valid, such as an object for a text, or with a text outside of its `enum` or `const`: they must not succeed. A result whose text reports an error without `isError` is accepted here, and so are additional arguments, bounds and formats.")
        .fix("Check the arguments against the `inputSchema` before the tool runs, and report what does not fit.")
        .judge(inputs_validated),
    server("tools.bounds-held")
        .says(
            R2024_11_05,
            SECURITY,
            "A client MAY rely on the bounds in a tool's schema: a call with a number or a text outside of them does not succeed.",
        )
        .needs("tools")
        .how("Looks at calls of listed tools with a number beyond `minimum`, `maximum`, `exclusiveMinimum` or `exclusiveMaximum` of its argument, or a text beyond `minLength` or `maxLength`, where nothing else is wrong. A result whose text reports an error without `isError` is accepted here.")
        .fix("Check numbers and texts against the bounds in the `inputSchema`, or leave out bounds that you do not hold.")
        .judge(bounds_held),
    server("tools.arguments-optional")
        .says(
            R2024_11_05,
            at("server/tools", "calling-tools"),
            "A client MAY leave `arguments` out: a tool that succeeds with none does so without the member, too.",
        )
        .needs("tools")
        .how("Compares the answers to calls of one tool with empty `arguments` and without the member.")
        .fix("Take a missing `arguments` for an empty object.")
        .judge(arguments_optional),
    server("tools.access-controlled")
        .says(R2024_11_05, SECURITY, "A server MUST control access to its tools.")
        .unobservable("who may do what is the server's own policy"),
    server("tools.rate-limited")
        .says(R2024_11_05, SECURITY, "A server MUST limit the rate of tool calls.")
        .unobservable("the specification gives no figure, so no number of served calls is too many"),
    server("tools.outputs-sanitized")
        .says(R2024_11_05, SECURITY, "A server MUST sanitize what its tools return.")
        .unobservable("the wire does not show what the output was before"),
];

fn params<'v>(call: &Call<'v>) -> Option<&'v Value> {
    call.request.message.params()
}

fn name<'v>(call: &Call<'v>) -> Option<&'v str> {
    params(call)?.get("name")?.as_str()
}

/// Calls under names that no list has.
fn unknown<'v>(view: &View<'v>) -> Vec<Call<'v>> {
    let tools = Catalogue::of(view, &TOOLS);
    let missing = |call: &Call<'_>| name(call).is_some_and(|name| tools.surely_lacks(name, call));
    view.calls("tools/call").filter(|call| view.judges_content(call) && missing(call)).collect()
}

/// A success proves that the tool exists without being listed, which nothing forbids, unless its name says it cannot exist.
fn unknown_refused(view: &View<'_>) -> Verdict {
    let judged = unknown(view).into_iter().filter_map(|call| {
        let response = call.response?;
        if call.error().is_some() {
            return Some((response.event, Ok(())));
        }
        let result = call.result()?;
        let why = "an unknown tool is answered with a result instead of an error";
        if result.get("isError").is_some_and(|failed| failed == true) {
            return Some((response.event, Err(response.breach("/result/isError", why))));
        }
        let served = result.get("content").is_some() && name(&call).is_some_and(is_made_up);
        served.then(|| (response.event, Err(response.breach("/result", why))))
    });
    Verdict::of(judged, "no unknown tool was called, or the list of tools was not read to its end")
}

fn unknown_code(view: &View<'_>) -> Verdict {
    let judged = unknown(view).into_iter().filter_map(|call| {
        let (response, code) = (call.response?, call.error_code()?);
        let kept: Kept = match code {
            INVALID_PARAMS => Ok(()),
            // Refused for what the transport or the server's policy says, before the name was looked at.
            METHOD_NOT_FOUND | INTERNAL_ERROR | INVALID_REQUEST | PARSE_ERROR => {
                Err(response.breach("/error/code", format!("the code is {code}, expected -32602")))
            }
            400 | 404 | 422 => {
                Err(response.breach("/error/code", format!("the code is {code}, a status of HTTP; expected -32602")))
            }
            _ => return None,
        };
        Some((response.event, kept))
    });
    Verdict::of(judged, "no unknown tool was refused with a code of JSON-RPC's own")
}

fn malformed_refused(view: &View<'_>) -> Verdict {
    let malformed = |call: &Call<'_>| {
        let arguments = params(call).and_then(|p| p.get("arguments"));
        name(call).is_none() || arguments.is_some_and(|a| !a.is_object() && !a.is_null())
    };
    let calls = view.calls("tools/call").filter(|call| view.judges_content(call) && malformed(call));
    Verdict::every(calls.filter(|call| call.response.is_some()), "no malformed call was answered", |call| {
        match (call.response, call.result()) {
            (Some(response), Some(_)) => Err(response.breach("/result", "a malformed call is answered with a result")),
            _ => Ok(()),
        }
    })
}

/// The first argument, or member of one, that is of another type than the schema says, where no reading makes it fit.
fn mistyped(schema: &Value, arguments: &Value) -> Option<String> {
    // What is next to a reference counts in some dialects and not in others.
    let properties = schema.get("properties").filter(|_| schema.get("$ref").is_none())?.as_object()?;
    arguments.as_object()?.iter().find_map(|(name, value)| {
        let property = properties.get(name)?;
        let due = property.get("type")?.as_str()?;
        if is_beyond(due, value) {
            return Some(name.clone());
        }
        (due == "object").then(|| mistyped(property, value))?.map(|within| format!("{name}.{within}"))
    })
}

/// The first required argument that is missing, where the schema has no default for it.
fn left_out<'v>(schema: &'v Value, arguments: &Value) -> Option<&'v str> {
    let properties = schema.get("properties").filter(|_| schema.get("$ref").is_none())?;
    let given = arguments.as_object()?;
    let required = schema.get("required")?.as_array()?.iter().filter_map(Value::as_str);
    let is_plain = |name: &&str| properties.get(*name).is_some_and(|property| property.get("default").is_none());
    required.filter(|name| !given.contains_key(*name)).find(is_plain)
}

/// The first argument whose text is outside of the values that its schema lists, whatever its letter case.
fn outside_choice<'v>(schema: &'v Value, arguments: &Value) -> Option<&'v str> {
    let properties = schema.get("properties").filter(|_| schema.get("$ref").is_none())?.as_object()?;
    let is_outside = |(name, property): &(&'v String, &'v Value)| {
        let Some(given) = arguments.get(name.as_str()).and_then(Value::as_str) else { return false };
        let is_same =
            |listed: &Value| listed.as_str().is_none_or(|text| text.trim().eq_ignore_ascii_case(given.trim()));
        let listed = property.get("enum").and_then(Value::as_array);
        listed.is_some_and(|listed| !listed.iter().any(is_same))
            || property.get("const").is_some_and(|one| !is_same(one))
    };
    properties.iter().find(is_outside).map(|(name, _)| name.as_str())
}

/// Whether `value` is not a `due` by any reading: servers may take `"1"` for a number, `1` for a text, one item for a list.
fn is_beyond(due: &str, value: &Value) -> bool {
    let composed = value.is_object() || value.is_array();
    match due {
        "string" | "boolean" => composed,
        "number" | "integer" => {
            composed || value.as_str().is_some_and(|text| !text.contains(|c: char| c.is_ascii_digit()))
        }
        "object" => value.as_str().is_some_and(|text| !text.trim_start().starts_with('{')),
        _ => false,
    }
}

/// Words by which a result reports an error though `isError` is not set.
const TROUBLE: [&str; 14] = [
    "error", "invalid", "must be", "required", "expect", "fail", "cannot", "unable", "missing", "wrong", "provide",
    "specify", "needed", "supply",
];

/// Words by which a result says that it knows no such value.
const UNKNOWN_VALUE: [&str; 9] =
    ["unknown", "support", "not found", "no such", "available", "allowed", "valid", "one of", "recogni"];

fn speaks_of_trouble(result: &Value) -> bool {
    says(result, &TROUBLE)
}

fn says(result: &Value, words: &[&str]) -> bool {
    let blocks = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let mut texts = blocks.filter_map(|block| Some(block.get("text")?.as_str()?.to_lowercase()));
    texts.any(|text| words.iter().any(|word| text.contains(word)))
}

/// What is wrong with arguments beyond doubt, and the words by which a result may say so.
fn surely_wrong(schema: &Value, arguments: &Value) -> Option<(String, &'static str, &'static [&'static str])> {
    let mistyped = || Some((mistyped(schema, arguments)?, "is of another type than the schema says", &[][..]));
    let missing = || Some((left_out(schema, arguments)?.to_owned(), "is missing, and the schema requires it", &[][..]));
    let outside = || {
        let name = outside_choice(schema, arguments)?.to_owned();
        Some((name, "has a value that its schema does not list", &UNKNOWN_VALUE[..]))
    };
    mistyped().or_else(missing).or_else(outside)
}

fn inputs_validated(view: &View<'_>) -> Verdict {
    const UNSEEN: &str = "no listed tool was called with an argument missing, of a wrong type or outside of its values";
    let calls: Vec<_> = view.calls("tools/call").filter(|call| view.judges_content(call)).collect();
    // A list may be long: it is read where there is need of it.
    if calls.is_empty() {
        return Verdict::NotSeen(UNSEEN.to_owned());
    }
    let tools = Catalogue::of(view, &TOOLS);
    // What the server asks its client between a call and its answer may have been for what was wrong.
    let asks: Vec<usize> =
        view.by_subject().filter(|sent| sent.message.kind() == Kind::Request).map(|sent| sent.event).collect();
    let asked_back = |from: usize, to: usize| asks.get(asks.partition_point(|&e| e < from)).is_some_and(|&e| e < to);
    let empty = json!({});
    let judged = calls.into_iter().filter_map(|call| {
        let schema = tools.definition(name(&call)?)?.get("inputSchema")?;
        let arguments = params(&call)?.get("arguments").unwrap_or(&empty);
        let (argument, what, words) = surely_wrong(schema, arguments)
            .filter(|_| matches!(fit(schema, arguments, view.budget()), Fit::No { .. }))?;
        let response = call.response?;
        let refused = call.error_code() == Some(INVALID_PARAMS);
        let failed = call.result().is_some_and(|result| result.get("isError").is_some_and(|error| error == true));
        if refused || failed {
            return Some((response.event, Ok(())));
        }
        // An interim result or a task may still come to nothing.
        let result = call.result().filter(|result| result.get("content").is_some() && result.get("task").is_none())?;
        let final_word = result.get("resultType").is_none_or(|kind| kind == "complete");
        let alone =
            !asked_back(call.request.event, response.event) && !speaks_of_trouble(result) && !says(result, words);
        let why = || format!("the argument `{}` {what}", argument.escape_debug());
        (final_word && alone).then(|| (response.event, Err(response.breach("/result", why()))))
    });
    Verdict::of(judged, UNSEEN)
}

/// The argument whose number or text lies beyond the bounds of its schema.
fn out_of_bounds<'v>(schema: &'v Value, arguments: &Value) -> Option<&'v str> {
    let properties = schema.get("properties").filter(|_| schema.get("$ref").is_none())?.as_object()?;
    let beyond = |(name, property): &(&'v String, &'v Value)| match arguments.get(name.as_str()) {
        Some(Value::Number(given)) => given.as_f64().is_some_and(|given| is_number_beyond(property, given)),
        Some(Value::String(given)) => is_text_beyond(property, given),
        _ => false,
    };
    properties.iter().find(beyond).map(|(name, _)| name.as_str())
}

fn is_number_beyond(property: &Value, given: f64) -> bool {
    let bound = |keyword: &str| property.get(keyword).and_then(Value::as_f64);
    bound("maximum").is_some_and(|most| given > most)
        || bound("minimum").is_some_and(|least| given < least)
        || bound("exclusiveMaximum").is_some_and(|end| given >= end)
        || bound("exclusiveMinimum").is_some_and(|end| given <= end)
}

fn is_text_beyond(property: &Value, given: &str) -> bool {
    let length = given.chars().count() as u64;
    let bound = |keyword: &str| property.get(keyword).and_then(Value::as_u64);
    bound("maxLength").is_some_and(|most| length > most) || bound("minLength").is_some_and(|least| length < least)
}

/// Whether a call came to a final result that reports no failure, in whatever way.
fn succeeded(call: &Call<'_>) -> bool {
    call.result().is_some_and(|result| {
        result.get("content").is_some()
            && result.get("isError").is_none_or(|failed| *failed == false)
            && result.get("resultType").is_none_or(|kind| kind == "complete")
            && !speaks_of_trouble(result)
    })
}

fn bounds_held(view: &View<'_>) -> Verdict {
    let calls: Vec<_> = view.calls("tools/call").filter(|call| view.judges_content(call)).collect();
    let tools = Catalogue::of(view, &TOOLS);
    let judged = calls.into_iter().filter_map(|call| {
        let schema = tools.definition(name(&call)?)?.get("inputSchema")?;
        let arguments = params(&call)?.get("arguments")?;
        let argument = out_of_bounds(schema, arguments)?;
        let mut without = arguments.clone();
        without.as_object_mut()?.remove(argument);
        // Whatever else is wrong may be what a refusal is about.
        let is_sound = matches!(fit(schema, arguments, view.budget()), Fit::Yes);
        if is_sound || mistyped(schema, &without).is_some() || outside_choice(schema, &without).is_some() {
            return None;
        }
        let response = call.response?;
        let refused = call.error_code() == Some(INVALID_PARAMS);
        let failed = call.result().is_some_and(|result| result.get("isError").is_some_and(|error| *error == true));
        let why = || format!("the argument `{}` is out of bounds, and the call succeeded", argument.escape_debug());
        match (refused || failed, succeeded(&call)) {
            (true, _) => Some((response.event, Ok(()))),
            (false, true) => Some((response.event, Err(response.breach("/result", why())))),
            (false, false) => None,
        }
    });
    Verdict::of(judged, "no listed tool was called with a number or a text out of bounds")
}

fn arguments_optional(view: &View<'_>) -> Verdict {
    let calls: Vec<_> = view.calls("tools/call").filter(|call| view.judges_content(call)).collect();
    let given = |call: &Call<'_>| params(call).and_then(|p| p.get("arguments")).cloned();
    // The first of each tool; a search for each call would be slow in a long recording.
    let mut twins = HashMap::new();
    for call in calls.iter().filter(|call| given(call) == Some(json!({})) && succeeded(call)) {
        twins.entry(name(call)).or_insert(call);
    }
    let judged = calls.iter().filter(|call| given(call).is_none()).filter_map(|call| {
        let response = call.response?;
        let twin = twins.get(&name(call))?;
        if succeeded(call) {
            return Some((response.event, Ok(())));
        }
        let failed = call.error().is_some() || call.result()?.get("isError") == Some(&json!(true));
        let why =
            format!("without `arguments` the call fails, with empty ones it succeeds (event {})", twin.request.event);
        failed.then(|| (response.event, Err(response.breach("", why))))
    });
    Verdict::of(judged, "no tool that takes no arguments was called without the member")
}

/// Whether a call of that tool has a result that is no failure.
fn succeeds(view: &View<'_>, tool: &str) -> bool {
    view.calls("tools/call").any(|call| {
        name(&call) == Some(tool)
            && call
                .result()
                .is_some_and(|result| result.get("isError").is_none_or(|failed| *failed == Value::Bool(false)))
    })
}

fn invalid_input_reported(view: &View<'_>) -> Verdict {
    let tools = Catalogue::of(view, &TOOLS);
    let judged = view.calls("tools/call").filter(|call| view.judges_content(call)).filter_map(|call| {
        let schema = tools.definition(name(&call)?)?.get("inputSchema")?;
        let empty = json!({});
        let arguments = params(&call)?.get("arguments").unwrap_or(&empty);
        let refused = arguments.is_object() && matches!(fit(schema, arguments, view.budget()), Fit::No { .. });
        let response = call.response.filter(|_| refused)?;
        // An internal error may be the tool's in any case: only where other calls of it succeed, the arguments are the reason.
        let fails_here =
            || call.error_code() == Some(INTERNAL_ERROR) && name(&call).is_some_and(|name| succeeds(view, name));
        if call.error_code() == Some(INVALID_PARAMS) || fails_here() {
            let why = "arguments that do not fit the schema are answered with a protocol error";
            return Some((response.event, Err(response.breach("/error/code", why))));
        }
        let reported = call.result()?.get("isError")? == &Value::Bool(true);
        reported.then_some((response.event, Ok(())))
    });
    Verdict::of(judged, "no listed tool was called with arguments that surely do not fit its schema")
}

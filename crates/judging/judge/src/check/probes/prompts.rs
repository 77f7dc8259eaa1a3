//! Prompts and completion: arguments are what the hints say, what the server itself proposes, or made up.

use serde_json::{Map, Value, json};
use wire::error_code::METHOD_NOT_FOUND;

use super::lists::settled;
use crate::check::context::{Abort, ProbeContext};
use crate::check::probe::{Probe, Script};

/// How many prompts are got.
const PROMPTS_GOT: usize = 6;
/// How many required arguments are left out, one at a time.
const LEFT_OUT: usize = 3;
/// A name that programs find in every table of names, if they look it up carelessly.
pub(super) const INHERITED: &str = "constructor";

fn text<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value.get(member)?.as_str()
}

fn arguments(prompt: &Value) -> impl Iterator<Item = &Value> {
    prompt.get("arguments").and_then(Value::as_array).into_iter().flatten()
}

fn is_required(argument: &Value) -> bool {
    argument.get("required") == Some(&json!(true))
}

pub(super) const PROMPTS: Probe = Probe::shared("prompts-get", prompts).needs("prompts");

/// Gets prompts with all their arguments and without what they require, and one that does not exist.
fn prompts(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        for prompt in case.survey().prompts.iter().take(PROMPTS_GOT) {
            let Some(name) = text(prompt, "name") else { continue };
            let arguments = made(case, name, prompt).await?;
            case.request("prompts/get", json!({ "name": name, "arguments": arguments })).await?;
        }
        let turn = settled(case, "prompts/list", "prompts").await?;
        case.request("prompts/get", json!({ "name": "proof-no-such-prompt" })).await?;
        drop(turn);
        case.request("prompts/get", json!({})).await?;
        // What a language gives every name of its own.
        case.request("prompts/get", json!({ "name": INHERITED })).await?;
        let demanding = case.survey().prompts.iter().filter(|prompt| arguments(prompt).any(is_required));
        for prompt in demanding.take(PROMPTS_GOT) {
            let Some(name) = text(prompt, "name") else { continue };
            case.request("prompts/get", json!({ "name": name })).await?;
            let whole = made(case, name, prompt).await?;
            let required: Vec<_> =
                arguments(prompt).filter(|a| is_required(a)).filter_map(|a| text(a, "name")).collect();
            // Each by itself, where none is not the same.
            for left_out in required.iter().filter(|_| required.len() > 1).take(LEFT_OUT) {
                let mut arguments = whole.clone();
                arguments.remove(*left_out);
                case.request("prompts/get", json!({ "name": name, "arguments": arguments })).await?;
            }
            if let Some(first) = required.first() {
                let mut arguments = whole;
                arguments.insert((*first).to_owned(), json!({ "proof": ["no text"] }));
                case.request("prompts/get", json!({ "name": name, "arguments": arguments })).await?;
            }
        }
        Ok(())
    })
}

/// Arguments for a prompt: as hinted, else as the server completes them, else (where they are required) a URI where the
/// name asks for one, or any text.
async fn made(case: &ProbeContext, name: &str, prompt: &Value) -> Result<Map<String, Value>, Abort> {
    let mut made = Map::new();
    let hinted = case.setting().hints.prompts.get(name);
    for argument in arguments(prompt) {
        let Some(key) = text(argument, "name") else { continue };
        if let Some(value) = hinted.and_then(|hinted| hinted.get(key)) {
            made.insert(key.to_owned(), value.clone());
        } else if let Some(value) = proposed(case, name, key, &made).await? {
            made.insert(key.to_owned(), value);
        } else if is_required(argument) {
            made.insert(key.to_owned(), guessed(case, key));
        }
    }
    Ok(made)
}

/// The first value that the server proposes, where it completes at all.
async fn proposed(
    case: &ProbeContext,
    prompt: &str,
    key: &str,
    before: &Map<String, Value>,
) -> Result<Option<Value>, Abort> {
    if !case.survey().has("completions") {
        return Ok(None);
    }
    let mut params = json!({
        "ref": { "type": "ref/prompt", "name": prompt },
        "argument": { "name": key, "value": "" },
    });
    if case.revision().at_least(wire::revision::R2025_06_18) && !before.is_empty() {
        params["context"] = json!({ "arguments": before });
    }
    let reply = case.request("completion/complete", params).await?;
    Ok(reply.result().and_then(|result| result.pointer("/completion/values/0")).cloned())
}

fn guessed(case: &ProbeContext, key: &str) -> Value {
    let uri = || case.survey().resources.iter().find_map(|resource| text(resource, "uri"));
    json!(match likely(key) {
        Likely::Number => "1",
        Likely::Uri => uri().unwrap_or("https://example.com/"),
        Likely::Text => "proof",
    })
}

/// What an argument's name lets one expect.
pub(super) enum Likely {
    Number,
    Uri,
    Text,
}

/// What to expect of an argument called `key`.
pub(super) fn likely(key: &str) -> Likely {
    let key = key.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| key.contains(word));
    if key.ends_with("id") || has(&["number", "count", "index"]) {
        Likely::Number
    } else if has(&["uri", "url", "resource"]) {
        Likely::Uri
    } else {
        Likely::Text
    }
}

pub(super) const COMPLETION: Probe = Probe::shared("completion", completion);

/// Completes arguments of prompts and variables of templates, known ones and others. Who does not declare completion is
/// asked once, in order, and should refuse.
fn completion(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let survey = case.survey();
        let declared = survey.has("completions") || !case.revision().at_least(wire::revision::R2025_03_26);
        let mut asked = Vec::new();
        for prompt in survey.prompts.iter().take(PROMPTS_GOT) {
            let Some(name) = text(prompt, "name") else { continue };
            let names = arguments(prompt).filter_map(|a| text(a, "name")).take(2);
            asked.extend(names.map(|argument| (json!({ "type": "ref/prompt", "name": name }), argument)));
        }
        for template in survey.templates.iter().filter_map(|t| text(t, "uriTemplate")).take(2) {
            let variable = template.split('{').nth(1).and_then(|rest| rest.split('}').next()).unwrap_or("x");
            asked.push((json!({ "type": "ref/resource", "uri": template }), variable));
        }
        asked.truncate(if declared { asked.len() } else { 1 });
        let none = asked.first().cloned().filter(|_| declared);
        for (reference, argument) in asked {
            let argument = json!({ "name": argument, "value": "" });
            let least = json!({ "ref": reference, "argument": argument });
            let answer = case.request("completion/complete", least.clone()).await?.0;
            let code = answer.and_then(|answer| answer.error_code());
            if code.is_some_and(|code| declared && code != METHOD_NOT_FOUND) {
                with_more(case, least).await?;
            }
        }
        if let Some((reference, argument)) = none {
            case.request("completion/complete", json!({ "ref": reference })).await?;
            let foreign = json!({ "name": "proof-no-such-argument", "value": "" });
            case.request("completion/complete", json!({ "ref": reference, "argument": foreign })).await?;
            // An empty array becomes the empty text where it is converted, and everything begins with that.
            for value in [json!(7), json!([])] {
                let no_text = json!({ "name": argument, "value": value });
                case.request("completion/complete", json!({ "ref": reference, "argument": no_text })).await?;
            }
            let argument = json!({ "name": argument, "value": "proof-nothing-begins-like-this" });
            case.request("completion/complete", json!({ "ref": reference, "argument": argument })).await?;
        }
        if declared {
            let argument = json!({ "name": "x", "value": "" });
            let _turn = settled(case, "prompts/list", "prompts").await?;
            let unknown = json!({ "type": "ref/prompt", "name": "proof-no-such-prompt" });
            case.request("completion/complete", json!({ "ref": unknown, "argument": argument })).await?;
            case.request("completion/complete", json!({ "argument": argument })).await?;
            let no_kind = json!({ "type": "ref/proof-no-such-kind", "name": "proof" });
            case.request("completion/complete", json!({ "ref": no_kind, "argument": argument })).await?;
        }
        Ok(())
    })
}

/// A completion that was refused once more, with something typed, and with a context that says nothing.
async fn with_more(case: &ProbeContext, least: Value) -> Result<(), Abort> {
    let mut typed = least.clone();
    typed["argument"]["value"] = json!("a");
    case.request("completion/complete", typed).await?;
    if case.revision().at_least(wire::revision::R2025_06_18) {
        let mut in_context = least;
        in_context["context"] = json!({ "arguments": {} });
        case.request("completion/complete", in_context).await?;
    }
    Ok(())
}

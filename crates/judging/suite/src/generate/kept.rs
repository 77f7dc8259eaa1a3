//! Cases made from exchanges that were seen once, such as those that a person marked. Nothing is sent: what an answer says is
//! expected again, but for texts that depend on the time.

use serde_json::{Map, Value};
use wire::redact::Redactor;
use wire::{Revision, Transport};

use super::Generated;
use super::expect::{Verdict, expectations};
use super::machine::MachineFacts;
use super::plan::{Aim, Planned};
use super::play::Observation;
use crate::requests::{List, Reply, Request};

/// An exchange that was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// What it is called.
    pub label: String,
    /// The method.
    pub method: String,
    /// The parameters, without `_meta`.
    pub params: Value,
    /// The result, or code and message of the error.
    pub answer: Result<Value, (i64, String)>,
}

/// The cases, with nothing of what is `unwritten`, and the exchanges that became none, by their index, with the reason.
pub fn kept(
    exchanges: Vec<Exchange>,
    at: (Revision, Transport),
    server: Option<Value>,
    unwritten: (&Redactor, &MachineFacts),
) -> (Generated, Vec<(usize, String)>) {
    let mut left_out = Vec::new();
    let (mut planned, mut seen, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for (index, exchange) in exchanges.into_iter().enumerate() {
        match without_secret(exchange, unwritten.0).and_then(case) {
            Err(why) => left_out.push((index, why.to_owned())),
            Ok((case, _)) if planned.iter().any(|other: &Planned| other.request == case.request) => {
                left_out.push((index, "another case makes the same request".to_owned()));
            }
            Ok((case, reply)) => {
                planned.push(case);
                seen.push(Observation::Reply(reply));
                indices.push(index);
            }
        }
    }
    let cases = expectations(planned, seen.clone(), &seen, unwritten);
    let omitted = cases.iter().zip(indices).filter_map(|(case, index)| match &case.verdict {
        Verdict::Omitted(why) => Some((index, why.clone())),
        _ => None,
    });
    left_out.extend(omitted);
    let (revision, transport) = at;
    (Generated { revision, transport, server, cases, notes: Vec::new() }, left_out)
}

/// The exchange, if nothing in it is a secret by its name or its shape. What was recorded has a placeholder there: sent again it
/// is refused, and the server does not say it again.
fn without_secret(exchange: Exchange, redactor: &Redactor) -> Result<Exchange, &'static str> {
    let has_secret = |value: &Value| redactor.redact_value(value) != *value;
    if has_secret(&exchange.params) {
        return Err("its request holds what may be a secret");
    }
    if exchange.answer.as_ref().is_ok_and(has_secret) {
        return Err("its answer holds what may be a secret");
    }
    Ok(exchange)
}

fn case(exchange: Exchange) -> Result<(Planned, Reply), &'static str> {
    let Exchange { label, method, params, answer } = exchange;
    let Value::Object(params) = params else { return Err("its parameters are no object") };
    let request = request(&method, params)?;
    if matches!(request, Request::List(_)) && answer.as_ref().is_ok_and(|result| result.get("nextCursor").is_some()) {
        return Err("it is a page of a longer list, and a test reads the whole list");
    }
    let primitive = match &request {
        Request::Call { tool, .. } => format!("tool {tool}"),
        Request::Get { prompt, .. } => format!("prompt {prompt}"),
        Request::Read(uri) => format!("resource {uri}"),
        _ => method.clone(),
    };
    let case = Planned {
        name: wire::escape::line(&label).into_owned(),
        primitive,
        constraint: String::new(),
        violation: String::new(),
        sort: "kept",
        aim: Aim::Valid,
        skip: None,
        request,
        witness: None,
    };
    let reply = match answer {
        Ok(result) => Reply::Result(result),
        Err((code, message)) => Reply::Error { code, message },
    };
    Ok((case, reply))
}

/// The request as a test file has it.
fn request(method: &str, mut params: Map<String, Value>) -> Result<Request, &'static str> {
    let is_only =
        |params: &Map<String, Value>, names: &[&str]| params.keys().all(|name| names.contains(&name.as_str()));
    let text = |params: &Map<String, Value>, name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
    let arguments = |params: &mut Map<String, Value>| match params.remove("arguments") {
        None => Some(Map::new()),
        Some(Value::Object(arguments)) => Some(arguments),
        Some(_) => None,
    };
    let list = match method {
        "initialize" | "server/discover" | "ping" | "subscriptions/listen" => {
            return Err("a test opens its own session");
        }
        "tools/list" => Some(List::Tools),
        "prompts/list" => Some(List::Prompts),
        "resources/list" => Some(List::Resources),
        "resources/templates/list" => Some(List::Templates),
        _ => None,
    };
    if let Some(list) = list.filter(|_| params.is_empty()) {
        return Ok(Request::List(list));
    }
    let raw = Request::Raw { method: method.to_owned(), params: params.clone() };
    let named = text(&params, "name");
    Ok(match (method, named) {
        ("tools/call", Some(tool)) if is_only(&params, &["name", "arguments"]) => {
            arguments(&mut params).map_or(raw, |arguments| Request::Call { tool, arguments })
        }
        ("prompts/get", Some(prompt)) if is_only(&params, &["name", "arguments"]) => {
            arguments(&mut params).map_or(raw, |arguments| Request::Get { prompt, arguments })
        }
        ("resources/read", _) if is_only(&params, &["uri"]) => text(&params, "uri").map_or(raw, Request::Read),
        _ => raw,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn exchange(method: &str, params: Value, answer: Result<Value, (i64, String)>) -> Exchange {
        Exchange { label: format!("{method} seen"), method: method.to_owned(), params, answer }
    }

    fn text_of(exchanges: Vec<Exchange>) -> (String, Vec<(usize, String)>) {
        let at = (Revision::R2025_11_25, Transport::Stdio);
        let (made, left_out) = kept(exchanges, at, None, (&Redactor::masking(), &MachineFacts::default()));
        let server = Map::from_iter([("command".to_owned(), json!(["./server"]))]);
        (made.text(&[], &server), left_out)
    }

    #[test]
    fn an_exchange_becomes_a_case_that_expects_its_answer() {
        let result = json!({ "content": [{ "type": "text", "text": "3" }] });
        let call = exchange("tools/call", json!({ "name": "add", "arguments": { "a": 1 } }), Ok(result));
        let refused = exchange("resources/read", json!({ "uri": "demo://x" }), Err((-32002, "no".to_owned())));
        let (text, left_out) = text_of(vec![call, refused]);
        assert_eq!(left_out, []);
        for part in ["call: add", "arguments: { a: 1 }", "text: \"3\"", "read: \"demo://x\"", "{ code: -32002 }"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn what_cannot_be_a_case_is_left_out_with_the_reason() {
        let answer = || Ok(json!({ "tools": [], "nextCursor": "2" }));
        let token = json!({ "name": "a", "arguments": { "t": "ghp_0123456789abcdefghij" } });
        let same = || exchange("tools/call", json!({ "name": "b" }), Ok(json!({ "content": [] })));
        let (text, left_out) = text_of(vec![
            exchange("initialize", json!({}), Ok(json!({}))),
            exchange("tools/list", json!({}), answer()),
            exchange("tools/call", token, Ok(json!({ "content": [] }))),
            exchange("tools/call", json!([]), Ok(json!({}))),
            same(),
            same(),
        ]);
        let indices: Vec<usize> = left_out.iter().map(|(index, _)| *index).collect();
        assert_eq!(indices, [0, 1, 2, 3, 5], "{left_out:?}");
        assert!(!text.contains("ghp_") && text.matches("- name:").count() == 1, "{text}");
    }

    #[test]
    fn secrets_are_known_by_the_names_above_them() {
        let call = |arguments: Value, result: Value| {
            exchange("tools/call", json!({ "name": "log_in", "arguments": arguments }), Ok(result))
        };
        let (text, left_out) = text_of(vec![
            call(json!({ "user": "ada", "password": "correct horse" }), json!({ "content": [] })),
            call(json!({ "user": "ada" }), json!({ "content": [], "structuredContent": { "token": "Zx81kkPq" } })),
            call(json!({ "user": "ada", "maxTokens": "12" }), json!({ "content": [] })),
        ]);
        let indices: Vec<usize> = left_out.iter().map(|(index, _)| *index).collect();
        assert_eq!(indices, [0, 1], "{left_out:?}");
        assert!(text.matches("- name:").count() == 1 && !text.contains("horse") && !text.contains("Zx81"), "{text}");
    }

    #[test]
    fn parameters_without_a_word_in_test_files_are_sent_raw() {
        let odd = json!({ "name": "add", "arguments": {}, "more": 1 });
        let (text, _) = text_of(vec![exchange("tools/call", odd, Ok(json!({ "content": [] })))]);
        assert!(text.contains("raw: tools/call") && text.contains("more: 1"), "{text}");
    }
}

//! Answers that would take much memory are refused before they are parsed; usual ones are not.

use serde_json::{Value, json};

use super::Answered;
use crate::dialect::Dialect;

/// A completion with further members in its message.
fn completion(more: Value) -> Value {
    let mut message = json!({ "role": "assistant", "content": "x" });
    if let (Value::Object(members), Value::Object(more)) = (&mut message, more) {
        members.extend(more);
    }
    json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] })
}

fn calling(arguments: &str) -> Value {
    completion(json!({ "tool_calls": [{ "id": "c", "function": { "name": "f", "arguments": arguments } }] }))
}

fn parse(dialect: Dialect, answer: &str) -> Result<Answered, String> {
    Answered::parse(dialect, answer.as_bytes())
}

#[test]
fn answers_of_very_many_values_are_refused() {
    let many = |one: &str| format!("[{}{one}]", format!("{one},").repeat(200_000));
    let of = |junk: &str| completion(json!({ "junk": "JUNK" })).to_string().replace("\"JUNK\"", junk);
    let arguments = format!("{{\"a\":{}}}", many("0"));
    let escaped = calling("ARGUMENTS")
        .to_string()
        .replace("ARGUMENTS", &arguments.replace('[', "\\u005b").replace(',', "\\u002c").replace('"', "\\\""));
    for text in [of(&many("{\"\":0}")), of(&many("[]")), of(&many("0")), calling(&arguments).to_string(), escaped] {
        let why = parse(Dialect::Chat, &text).expect_err("too many values");
        assert_eq!(why, "the answer has more than 200000 values");
    }
}

#[test]
fn answers_that_nest_too_deep_for_a_recording_are_refused() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let arguments = |levels| calling(&format!("{{\"a\":{}}}", deep(levels))).to_string();
    let junk = |levels| completion(json!({ "junk": "JUNK" })).to_string().replace("\"JUNK\"", &deep(levels));
    assert!(parse(Dialect::Chat, &junk(90)).is_ok() && parse(Dialect::Chat, &arguments(90)).is_ok());
    for text in [junk(110), arguments(110)] {
        assert_eq!(parse(Dialect::Chat, &text).expect_err("deep"), "the answer nests deeper than 100 levels");
    }
}

#[test]
fn usual_answers_are_read() {
    let token =
        json!({ "token": "a", "logprob": -0.1, "bytes": [97], "top_logprobs": [{ "token": "a", "bytes": [97] }] });
    let mut long = completion(json!({ "content": "One, two, [three].\n".repeat(10_000) }));
    long["choices"][0]["logprobs"] = json!({ "content": vec![token; 10_000] });
    assert_eq!(parse(Dialect::Chat, &long.to_string()).expect("an answer").whole, long);

    let call = json!({ "type": "tool_use", "id": "c", "name": "f", "input": { "a": 1 } });
    for reason in [json!({}), json!({ "stop_reason": null }), json!({ "stop_reason": "tool_use", "type": "message" })] {
        let mut message = json!({ "role": "assistant", "content": [{ "type": "text", "text": "hm" }, call] });
        message.as_object_mut().expect("an object").extend(reason.as_object().cloned().unwrap_or_default());
        let answer = parse(Dialect::Messages, &message.to_string()).expect("an answer");
        assert_eq!((answer.sample.calls.len(), answer.sample.text.as_str(), &answer.whole), (1, "hm", &message));
        assert!(!answer.sample.is_partial);
    }
    let cut = json!({ "role": "assistant", "content": [], "stop_reason": "max_tokens" });
    assert!(parse(Dialect::Messages, &cut.to_string()).expect("an answer").sample.is_partial);
    for text in ["", "Sorry", "{\"choices\":", "\u{feff}{}"] {
        assert_eq!(parse(Dialect::Chat, text), Err("the answer is not JSON".to_owned()), "{text}");
    }
}

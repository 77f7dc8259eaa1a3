//! Reads requests of the server: refuses undeclared and invalid ones, and gives the others to the respondent.

use serde_json::{Value, json};

use super::abilities::{Abilities, Answer, Question, Refused, Respondent};

/// Answers `method`, asked by a request (legacy era) or within a result (modern era).
pub(super) async fn respond(respondent: &dyn Respondent, method: &str, params: &Value) -> Answer {
    match method {
        "ping" => Ok(json!({})),
        _ => respondent.answer(question(respondent.abilities(), method, params)?).await,
    }
}

pub(super) fn question(abilities: Abilities, method: &str, params: &Value) -> Result<Question, Refused> {
    match method {
        "roots/list" if abilities.roots => Ok(Question::Roots),
        "sampling/createMessage" if abilities.sampling => sampling(abilities, params),
        "elicitation/create" if abilities.forms || abilities.urls => elicitation(abilities, params),
        _ => Err(Refused::unknown_method()),
    }
}

fn sampling(abilities: Abilities, params: &Value) -> Result<Question, Refused> {
    let messages = params.get("messages").and_then(Value::as_array);
    let known = |role: &Value| role == "user" || role == "assistant";
    let whole = |message: &Value| message.get("role").is_some_and(known) && message.get("content").is_some();
    if !messages.is_some_and(|messages| !messages.is_empty() && messages.iter().all(whole)) {
        return Err(Refused::invalid_params("`messages` must hold messages with a role and content"));
    }
    if params.get("maxTokens").and_then(Value::as_u64).is_none() {
        return Err(Refused::invalid_params("`maxTokens` must be a whole number"));
    }
    if !abilities.sampling_tools && (params.get("tools").is_some() || params.get("toolChoice").is_some()) {
        return Err(Refused::invalid_params("tools in sampling were not declared"));
    }
    if abilities.sampling_tools && !is_balanced(messages.map_or(&[], Vec::as_slice)) {
        return Err(Refused::invalid_params("each use of a tool must be followed by its result, and by nothing else"));
    }
    Ok(Question::Sampling(params.clone()))
}

/// Whether every message with tool uses is followed by one with a result for each use, and messages with results contain
/// nothing else (2025-11-25 client/sampling#tool-use-and-result-balance).
fn is_balanced(messages: &[Value]) -> bool {
    let is = |block: &&Value, kind: &str| block.get("type").is_some_and(|found| found == kind);
    let whole = |message: &Value| {
        let results = blocks(message).iter().filter(|block| is(block, "tool_result")).count();
        results == 0 || results == blocks(message).len()
    };
    let answered = |(place, message): (usize, &Value)| {
        blocks(message).iter().filter(|block| is(block, "tool_use")).all(|used| {
            let mut results = messages.get(place + 1).map_or(&[][..], blocks).iter();
            results.any(|block| is(&block, "tool_result") && block.get("toolUseId") == used.get("id"))
        })
    };
    messages.iter().all(whole) && messages.iter().enumerate().all(answered)
}

/// The blocks of a message: one, or several.
fn blocks(message: &Value) -> &[Value] {
    match message.get("content") {
        Some(Value::Array(blocks)) => blocks,
        Some(block) => std::slice::from_ref(block),
        None => &[],
    }
}

fn elicitation(abilities: Abilities, params: &Value) -> Result<Question, Refused> {
    let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
    let missing = |name: &str| Refused::invalid_params(format!("`{name}` is missing"));
    let message = text("message").ok_or_else(|| missing("message"))?;
    match params.get("mode").map(Value::as_str) {
        None | Some(Some("form")) if abilities.forms => {
            let schema = params.get("requestedSchema").filter(|schema| schema.is_object()).cloned();
            Ok(Question::Form { message, schema: schema.ok_or_else(|| missing("requestedSchema"))? })
        }
        Some(Some("url")) if abilities.urls => {
            Ok(Question::Url { message, url: text("url").ok_or_else(|| missing("url"))? })
        }
        _ => Err(Refused::invalid_params("this mode of elicitation was not declared")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(abilities: Abilities, method: &str, params: Value) -> Result<Question, i64> {
        question(abilities, method, &params).map_err(|refused| refused.code)
    }

    #[test]
    fn what_was_not_declared_is_refused() {
        let none = Abilities::default();
        assert_eq!(asked(none, "roots/list", json!({})), Err(-32601));
        assert_eq!(asked(none, "elicitation/create", json!({ "message": "?" })), Err(-32601));
        let forms = Abilities { forms: true, ..none };
        let url = json!({ "mode": "url", "message": "?", "url": "https://a.example", "elicitationId": "1" });
        assert_eq!(asked(forms, "elicitation/create", url), Err(-32602));
        assert_eq!(asked(Abilities::ALL, "tools/list", json!({})), Err(-32601));
    }

    #[test]
    fn a_mode_that_is_not_named_is_a_form() {
        let schema = json!({ "type": "object", "properties": {} });
        let params = json!({ "message": "?", "requestedSchema": schema });
        let question = asked(Abilities::ALL, "elicitation/create", params);
        assert_eq!(question, Ok(Question::Form { message: "?".to_owned(), schema }));
    }

    #[test]
    fn messages_are_looked_at_before_a_model_sees_them() {
        for params in [
            json!({ "maxTokens": 9 }),
            json!({ "messages": [], "maxTokens": 9 }),
            json!({ "messages": [{ "role": "user" }], "maxTokens": 9 }),
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "a" } }] }),
        ] {
            assert_eq!(asked(Abilities::ALL, "sampling/createMessage", params), Err(-32602));
        }
    }

    #[test]
    fn uses_of_tools_and_their_results_go_together() {
        let used =
            json!({ "role": "assistant", "content": { "type": "tool_use", "id": "u", "name": "add", "input": {} } });
        let result = json!({ "type": "tool_result", "toolUseId": "u", "content": [] });
        let text = json!({ "type": "text", "text": "a" });
        let with = |content: Value| {
            let messages = json!([used, { "role": "user", "content": content }]);
            asked(Abilities::ALL, "sampling/createMessage", json!({ "messages": messages, "maxTokens": 9 }))
        };
        assert!(with(json!([result])).is_ok());
        assert_eq!(with(json!([result, text])), Err(-32602));
        assert_eq!(with(text), Err(-32602));
    }
}

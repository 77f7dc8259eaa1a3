//! `sample_with_tools`: lets the client's model use a tool of ours in a conversation, as often as it likes but not for ever
//! (client/sampling).

use serde_json::{Value, json};
use wire::revision::R2025_11_25;
use wire::serf::Category;

use crate::Server;
use crate::catalogue::{Hints, Invocation, Outcome, Question, Tool, ask_on};

/// How often the model may use the tool before it has to come to an end.
const TURNS: usize = 3;

pub(super) fn tool() -> Tool {
    Tool::later("sample_with_tools", "Asks the client's model for a sum, with a tool to add", run)
        .titled("Sample with tools")
        .since(R2025_11_25)
        .hints(Hints::ASKS)
}

async fn run(server: Server, invocation: Invocation) -> Outcome {
    match ask_on(&server, &invocation, next).await {
        Ok(answers) => match answers.last().map(|last| texts(&last["content"])) {
            Some(said) if !said.is_empty() => Outcome::text(format!("The model said: {said}")),
            _ => Outcome::failure(Category::UpstreamFailure, "The model came to no end"),
        },
        Err(unanswered) => unanswered.into(),
    }
}

/// The blocks of a message: one, or several.
fn blocks(content: &Value) -> &[Value] {
    content.as_array().map_or_else(|| std::slice::from_ref(content), Vec::as_slice)
}

fn uses(answer: &Value) -> impl Iterator<Item = &Value> {
    blocks(&answer["content"]).iter().filter(|block| block["type"] == "tool_use")
}

fn texts(content: &Value) -> String {
    blocks(content).iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join(" ")
}

/// What the model is asked after these answers; nothing once it uses no tool any more.
fn next(answers: &[Value]) -> Option<Question> {
    if answers.last().is_some_and(|last| uses(last).next().is_none()) || answers.len() > TURNS {
        return None;
    }
    let question = json!({ "type": "text", "text": "What is 17 plus 25?" });
    let mut messages = vec![json!({ "role": "user", "content": question })];
    for answer in answers {
        messages.push(json!({ "role": "assistant", "content": answer["content"] }));
        let results: Vec<_> = uses(answer).map(result).collect();
        messages.push(json!({ "role": "user", "content": results }));
    }
    let number = json!({ "type": "number" });
    let schema = json!({ "type": "object", "properties": { "a": number, "b": number }, "required": ["a", "b"] });
    let tools = json!([{ "name": "add", "description": "Adds two numbers", "inputSchema": schema }]);
    Some(Question::sampling_with_tools("conversation", json!(messages), tools, answers.len() == TURNS))
}

/// What comes of one use of the tool.
fn result(used: &Value) -> Value {
    let number = |name: &str| used["input"][name].as_f64();
    let (text, failed) = match (number("a"), number("b")) {
        (Some(a), Some(b)) => ((a + b).to_string(), false),
        _ => ("`a` and `b` must be numbers".to_owned(), true),
    };
    let content = json!([{ "type": "text", "text": text }]);
    json!({ "type": "tool_result", "toolUseId": used["id"], "content": content, "isError": failed })
}

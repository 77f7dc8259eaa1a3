//! `errors: {as: result}`: a failed call of a tool is answered by a result that says so, for models that see no errors. Must
//! not know why a call fails.

use std::sync::Arc;
use std::time::Duration;

use net::service::{Answer, Call, Reply, code};
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use wire::message::{Packet, parse};
use wire::translate::result;
use wire::{Message, RequestId, Revision};

use super::{Inner, identity};
use crate::audit::Trail;
use crate::failure::{self, Category, Failure};
use crate::upstream::Client;

/// How long the schema of a tool is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Errors that are no matter of the tool: clients act on these codes by themselves.
const PROTOCOL: [i64; 7] = [
    code::PARSE_ERROR,
    code::INVALID_REQUEST,
    code::METHOD_NOT_FOUND,
    code::HEADER_MISMATCH,
    code::MISSING_CLIENT_CAPABILITY,
    code::UNSUPPORTED_VERSION,
    code::URL_ELICITATION_REQUIRED,
];

impl Inner {
    /// Answers a call of a tool, by a result where it fails.
    pub(super) async fn failing_by_result(self: Arc<Self>, call: Call) -> Answer {
        let (id, revision, client) = (call.id().clone(), call.context.revision, self.client(&call, &Trail::default()));
        let tool = call.message.string_member("name").map(std::borrow::Cow::into_owned);
        let answer = match Arc::clone(&self).reply(call) {
            Reply::Now(answer) => answer,
            Reply::Later(answer) => answer.await,
        };
        let (Ok(client), Some(code)) = (client, answer.code().filter(|code| !PROTOCOL.contains(code))) else {
            return answer;
        };
        let Ok(Packet::Message(message)) = parse(answer.text()) else { return answer };
        let details = details(&message, code, answer.is_own_error());
        let structured = revision.at_least(Revision::R2025_06_18)
            && self.takes_details(&client, tool.as_deref().unwrap_or_default(), &details).await;
        by_result(&id, details, revision, structured)
    }

    /// Whether the structured content of a result of this tool may be anything.
    async fn takes_details(self: &Arc<Self>, client: &Client, tool: &str, details: &Map<String, Value>) -> bool {
        // Whether a tool that the client may not use has a schema is nothing that it may learn.
        if details.get("failure").is_some_and(|name| name == failure::ITEM_UNKNOWN.name) {
            return true;
        }
        let Ok(tools) = timeout(PATIENCE, self.known_tools(client)).await else { return false };
        match tools.item(tool) {
            Some(item) => item.get("outputSchema").is_none(),
            None => tools.missing.is_empty(),
        }
    }
}

/// What is known of an error: what the gateway says of its own, or the kind of a server's. What a server says of its error is
/// `data`, whatever its members are called.
fn details(message: &Message, code: i64, is_own: bool) -> Map<String, Value> {
    let error = message.error();
    let text = error.and_then(|error| error.get("message")?.as_str()).unwrap_or_default();
    let data = error.and_then(|error| error.get("data"));
    let mut details = Map::new();
    details.insert("code".to_owned(), json!(code));
    details.insert("message".to_owned(), json!(text));
    if let Some(data) = data.and_then(Value::as_object).filter(|_| is_own) {
        details.extend(data.clone());
    } else {
        details.extend(of_server(code).data());
        details.extend(data.map(|data| ("data".to_owned(), data.clone())));
    }
    details
}

fn of_server(code: i64) -> Failure {
    match code {
        code::INVALID_PARAMS => failure::SERVER_SAYS_INVALID,
        code::RESOURCE_NOT_FOUND => failure::SERVER_SAYS_UNKNOWN,
        _ => failure::SERVER_SAYS_ERROR,
    }
}

fn by_result(id: &RequestId, details: Map<String, Value>, revision: Revision, structured: bool) -> Answer {
    let text = |name: &str| details.get(name).and_then(Value::as_str).unwrap_or_default();
    let category = Some(text("category")).filter(|category| !category.is_empty());
    let category = category.unwrap_or(Category::InternalError.as_str());
    let actions = details.get("suggested_actions").and_then(Value::as_array);
    let action = actions.and_then(|actions| actions.first()?.as_str()).unwrap_or_default();
    let sentence = format!("{} ({category}). {action}.", text("message"));
    let details = Value::Object(details);
    let content = json!([
        { "type": "text", "text": sentence },
        { "type": "text", "text": details.to_string() },
    ]);
    let mut body = json!({ "content": content, "isError": true });
    if structured {
        body["structuredContent"] = details;
    } else {
        body["_meta"] = json!({ wire::meta::ERROR: details });
    }
    Answer::result(id, &result("tools/call", &body, revision, &identity()))
}

//! What is asked of a server, and what it answers: the same directly and through the gateway. Judges nothing.

use std::collections::BTreeMap;

use client::{CallPolicy, Client, ClientError};
use serde_json::{Map, Value, json};
use wire::message::{Packet, parse_owned};
use wire::{Message, Revision};

/// The most items of one kind that are asked for.
pub(super) const MOST: usize = 50;

/// The lists that servers have: the method, the member of the result, the member that names an item.
pub(super) const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "tools", "name"),
    ("prompts/list", "prompts", "name"),
    ("resources/list", "resources", "uri"),
    ("resources/templates/list", "resourceTemplates", "uriTemplate"),
];

/// What a server answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// A result.
    Result(Value),
    /// An error.
    Error { code: i64, message: String, data: Option<Value> },
    /// No answer, and why.
    None(String),
}

impl Answer {
    fn of(answer: Result<Message, ClientError>) -> Self {
        match answer {
            Ok(message) => Self::Result(message.result().cloned().unwrap_or_default()),
            Err(ClientError::Rpc { code, message, data, .. }) => {
                Self::Error { code, message, data: data.map(|data| *data) }
            }
            Err(error) => Self::None(error.to_string().lines().next().unwrap_or_default().to_owned()),
        }
    }
}

/// A request of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ask {
    /// The method.
    pub(super) method: &'static str,
    /// The item, as its own server names it; empty for a whole list.
    pub(super) item: String,
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// Tools and prompts with arguments, resources.
    pub(super) asks: Vec<(Ask, Map<String, Value>)>,
    /// Tools that are not called because they may change something.
    pub(super) left_out: usize,
}

/// What one conversation came to.
pub(super) type Seen = BTreeMap<Ask, Answer>;

/// The items of the lists, by list and the name that the server gives them.
pub(super) type Items = BTreeMap<(&'static str, String), Value>;

/// What to ask of a server, by its lists. Arguments are made from schemas.
pub(super) fn plan(items: &Items, calls: &CallPolicy) -> Plan {
    let mut plan = Plan::default();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for ((list, name), item) in items {
        let (method, arguments) = match *list {
            "tools/list" if !calls.allow(item) => {
                plan.left_out += 1;
                continue;
            }
            "tools/list" => {
                let schema = item.get("inputSchema").cloned().unwrap_or_else(|| json!({ "type": "object" }));
                ("tools/call", client::example(&schema))
            }
            "prompts/list" => ("prompts/get", prompt_arguments(item)),
            "resources/list" => ("resources/read", Map::new()),
            _ => continue,
        };
        let count = count.entry(method).or_default();
        *count += 1;
        if *count <= MOST {
            plan.asks.push((Ask { method, item: name.clone() }, arguments));
        }
    }
    // What no server has must be refused in the same way.
    for (method, item) in [("tools/call", "no-such-tool-1f3a"), ("resources/read", "proof://no-such-resource-1f3a")] {
        plan.asks.push((Ask { method, item: item.to_owned() }, Map::new()));
    }
    plan
}

fn prompt_arguments(prompt: &Value) -> Map<String, Value> {
    let arguments = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten();
    let required = arguments.filter(|argument| argument["required"] == true);
    required.filter_map(|argument| Some((argument.get("name")?.as_str()?.to_owned(), json!("text")))).collect()
}

/// Reads every list.
pub(super) async fn items(client: &Client) -> Items {
    let mut items = Items::new();
    for (method, key, name) in LISTS {
        for item in client.list(method, key).await.map(|listed| listed.items).unwrap_or_default() {
            if let Some(named) = item.get(name).and_then(Value::as_str) {
                items.insert((method, named.to_owned()), item.clone());
            }
        }
    }
    items
}

/// Asks everything of the plan; `shown` is how the server at this end names an item.
pub(super) async fn ask(client: &Client, plan: &Plan, shown: impl Fn(&Ask) -> String) -> Seen {
    let mut seen = Seen::new();
    for (ask, arguments) in &plan.asks {
        let name = shown(ask);
        let answer = match ask.method {
            "tools/call" => client.call_unseen(&name, arguments.clone()).await,
            "prompts/get" => client.prompt(&name, arguments.clone()).await,
            _ => client.read(&name).await,
        };
        seen.insert(ask.clone(), Answer::of(answer));
    }
    seen
}

/// An answer of a server of `from` as a client of `to` should get it.
pub(super) fn translated(answer: &Answer, method: &str, from: Revision, to: Revision) -> Answer {
    let text = match answer {
        Answer::Result(result) => json!({ "jsonrpc": "2.0", "id": 1, "result": result }),
        Answer::Error { code, message, data } => {
            let mut error = json!({ "code": code, "message": message });
            if let Some(data) = data {
                error["data"] = data.clone();
            }
            json!({ "jsonrpc": "2.0", "id": 1, "error": error })
        }
        Answer::None(_) => return answer.clone(),
    };
    let Ok(Packet::Message(message)) = parse_owned(text.to_string().into_bytes()) else { return answer.clone() };
    let changed = wire::translate::message::response(&message, method, from, to, &1.into(), &json!({}));
    let value: Value = serde_json::from_str(&changed.text).unwrap_or_default();
    match (value.get("result"), value.get("error")) {
        (Some(result), _) => Answer::Result(result.clone()),
        (_, Some(error)) => Answer::Error {
            code: error["code"].as_i64().unwrap_or_default(),
            message: error["message"].as_str().unwrap_or_default().to_owned(),
            data: error.get("data").cloned(),
        },
        _ => answer.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use client::CallPolicy;
    use serde_json::json;
    use wire::Revision;

    use super::{Answer, Items, plan, translated};

    #[test]
    fn only_tools_that_read_are_called_unless_allowed() {
        let tool = |name: &str, reads: bool| {
            let described = json!({ "name": name, "annotations": { "readOnlyHint": reads }, "inputSchema": {
                "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] } });
            (("tools/list", name.to_owned()), described)
        };
        let items: Items = [tool("look", true), tool("write", false)].into_iter().collect();
        let made = plan(&items, &CallPolicy::default());
        let called: Vec<_> = made.asks.iter().map(|(ask, _)| ask.item.as_str()).collect();
        assert!(called.contains(&"look") && !called.contains(&"write") && made.left_out == 1, "{called:?}");
        let (_, arguments) = &made.asks[0];
        assert!(arguments["n"].is_i64(), "{arguments:?}");
        let allowed = plan(&items, &CallPolicy::Safe(BTreeSet::from(["write".to_owned()])));
        assert_eq!(allowed.left_out, 0);
    }

    #[test]
    fn an_answer_is_expected_in_the_clients_revision() {
        let missing = Answer::Error { code: -32002, message: "Resource not found".to_owned(), data: None };
        let modern = translated(&missing, "resources/read", Revision::R2025_11_25, Revision::R2026_07_28);
        assert!(matches!(modern, Answer::Error { code: -32602, .. }), "{modern:?}");
        let result = Answer::Result(json!({ "content": [] }));
        let Answer::Result(modern) = translated(&result, "tools/call", Revision::R2025_11_25, Revision::R2026_07_28)
        else {
            panic!("a result")
        };
        assert_eq!(modern["resultType"], "complete");
    }
}

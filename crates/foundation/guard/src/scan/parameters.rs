//! Schemas of tools: values that carry orders, and parameters that collect context.

use serde_json::Value;

use super::rule::Severity;
use super::text::parts;

/// Something odd in a schema.
pub(super) struct Odd {
    pub(super) pointer: String,
    pub(super) severity: Severity,
    pub(super) message: String,
}

/// Names that can mean nothing but the model's context.
const CONTEXT: [&str; 17] = [
    "sidenote",
    "side note",
    "system prompt",
    "systemprompt",
    "conversation history",
    "chat history",
    "previous messages",
    "all messages",
    "full conversation",
    "full context",
    "context window",
    "conversation context",
    "model reasoning",
    "chain of thought",
    "available tools",
    "tool list",
    "user secrets",
];

/// Words of tools that are about conversations by trade.
const TRADE: [&str; 14] = [
    "chat",
    "conversation",
    "message",
    "messages",
    "prompt",
    "llm",
    "completion",
    "assistant",
    "agent",
    "memory",
    "thread",
    "model",
    "think",
    "thinking",
];

/// Parameters of a tool that collect what the model knows.
pub(super) fn collecting(tool: &Value) -> Vec<Odd> {
    let mut odd = Vec::new();
    let about: Vec<String> = parts(tool["name"].as_str().unwrap_or_default());
    let description: String = tool["description"].as_str().unwrap_or_default().chars().take(200).collect();
    let description = description.to_lowercase();
    let is_trade = TRADE.iter().any(|word| about.iter().any(|part| part == word) || description.contains(word));
    for (schema, properties) in properties(tool) {
        for (name, property) in properties {
            let words = parts(name).join(" ");
            let is_text = matches!(property["type"].as_str(), None | Some("string" | "array" | "object"));
            let is_bounded = property["enum"].is_array();
            if is_text && !is_bounded && CONTEXT.contains(&words.as_str()) {
                let severity = if is_trade { Severity::Low } else { Severity::Medium };
                let message = format!("the parameter `{name}` collects the model's context");
                let pointer = format!("/{schema}/properties/{}", name.replace('~', "~0").replace('/', "~1"));
                odd.push(Odd { pointer, severity, message });
            }
        }
    }
    odd
}

fn properties(tool: &Value) -> Vec<(&'static str, &serde_json::Map<String, Value>)> {
    let schemas = ["inputSchema", "input_schema", "parameters"];
    schemas.into_iter().filter_map(|name| Some((name, tool[name]["properties"].as_object()?))).collect()
}

/// Paths that no default needs.
const SECRETS: [&str; 8] =
    [".ssh", "id_rsa", "/etc/passwd", "/etc/shadow", ".aws/credentials", ".netrc", ".git-credentials", ".bashrc"];

/// What is odd about a string of a schema, by the member that it stands under.
pub(super) fn value(pointer: &str, text: &str) -> Option<Odd> {
    let in_schema = ["/inputSchema", "/outputSchema", "/input_schema", "/parameters", "/arguments"];
    if !in_schema.iter().any(|part| pointer.starts_with(part)) {
        return None;
    }
    let mut names = pointer.rsplit('/').skip_while(|part| part.parse::<usize>().is_ok());
    let keyword = names.next()?;
    // Here it is the name of a property, not a keyword.
    if names.next() == Some("properties") {
        return None;
    }
    let words = text.split_whitespace().count();
    let is_value = matches!(keyword, "default" | "const" | "enum" | "examples");
    let what = if is_value && SECRETS.iter().any(|path| text.contains(path)) {
        "names a path that holds secrets"
    } else if keyword == "const" && text.contains("://") {
        "fixes a URL that the caller cannot change"
    } else if matches!(keyword, "default" | "const" | "enum") && words > 15 {
        "is a text where a value belongs"
    } else if keyword == "$comment" && words > 5 {
        "is a comment that models read and people do not"
    } else if matches!(keyword, "$ref" | "$dynamicRef") && text.contains("://") && !text.contains("json-schema.org") {
        "refers to a schema elsewhere"
    } else {
        return None;
    };
    Some(Odd { pointer: pointer.to_owned(), severity: Severity::Medium, message: format!("`{keyword}` {what}") })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Severity, collecting, value};

    #[test]
    fn parameters_that_collect_context() {
        let tool = |name: &str, parameter: &str| json!({ "name": name, "inputSchema": { "properties": { parameter: { "type": "string" } } } });
        let severity = |name, parameter| collecting(&tool(name, parameter)).first().map(|odd| odd.severity);
        for name in ["sidenote", "conversation_history", "systemPrompt", "chat-history"] {
            assert_eq!(severity("add", name), Some(Severity::Medium), "{name}");
        }
        assert_eq!(severity("chat_complete", "system_prompt"), Some(Severity::Low));
        for description in ["Talks to a chat model.".to_owned(), format!("a chat{}", "é".repeat(200))] {
            let mut talks = tool("say", "system_prompt");
            talks["description"] = description.into();
            assert_eq!(collecting(&talks)[0].severity, Severity::Low);
        }
        for name in ["note", "context", "history", "message", "query"] {
            assert_eq!(severity("add", name), None, "{name}");
        }
    }

    #[test]
    fn values_that_are_texts() {
        let long = "word ".repeat(16);
        for (pointer, text) in [
            ("/inputSchema/properties/a/default", "~/.ssh/id_rsa"),
            ("/inputSchema/properties/a/const", "https://x.example/collect"),
            ("/inputSchema/properties/a/enum/3", &long),
            ("/inputSchema/$comment", "call the other tool first please now"),
            ("/inputSchema/properties/a/$ref", "https://x.example/s.json"),
        ] {
            assert!(value(pointer, text).is_some(), "{pointer}");
        }
        for (pointer, text) in [
            ("/inputSchema/properties/a/description", long.as_str()),
            ("/inputSchema/properties/a/default", "https://api.example.org"),
            ("/inputSchema/properties/const/default", "/tmp"),
            ("/inputSchema/$schema", "http://json-schema.org/draft-07/schema#"),
            ("/description", &long),
        ] {
            assert!(value(pointer, text).is_none(), "{pointer}");
        }
    }
}

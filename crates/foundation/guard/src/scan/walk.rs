//! Finds the items in a value of any known shape, and every string in an item.

use serde_json::Value;

use super::model::{Item, Kind};

/// How deep a value is looked through.
const DEEPEST: usize = 100;

/// A string of an item.
#[derive(Clone, Copy)]
pub(super) struct Text<'t> {
    /// JSON pointer.
    pub(super) pointer: &'t str,
    /// The string itself.
    pub(super) string: &'t str,
    /// Whether it is the name of a member.
    pub(super) is_key: bool,
}

/// Visits every string, names of members included; `false` where a part lies too deep.
pub(super) fn strings(value: &Value, visit: &mut dyn FnMut(Text<'_>)) -> bool {
    below(value, &mut String::new(), 0, visit)
}

fn below(value: &Value, pointer: &mut String, depth: usize, visit: &mut dyn FnMut(Text<'_>)) -> bool {
    if depth > DEEPEST {
        return false;
    }
    let length = pointer.len();
    let mut whole = true;
    match value {
        Value::String(text) => visit(Text { pointer, string: text, is_key: false }),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                pointer.push('/');
                pointer.push_str(&at.to_string());
                whole &= below(item, pointer, depth + 1, visit);
                pointer.truncate(length);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                pointer.push('/');
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                visit(Text { pointer, string: name, is_key: true });
                whole &= below(member, pointer, depth + 1, visit);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
    whole
}

/// The lists of a result, with their kinds.
const LISTS: [(&str, Kind); 4] = [
    ("tools", Kind::Tool),
    ("prompts", Kind::Prompt),
    ("resources", Kind::Resource),
    ("resourceTemplates", Kind::Template),
];

/// The items in a value, each with its server's name: results of lists, snapshots, JSON-RPC responses, arrays of tools or
/// of servers, maps of servers, function definitions, and tasks that replace descriptions.
pub fn items(value: &Value, server: &str) -> Vec<(String, Item)> {
    let mut found = Vec::new();
    collect(value, server, 0, &mut found);
    found
}

fn collect(value: &Value, server: &str, depth: usize, found: &mut Vec<(String, Item)>) {
    if depth > 6 {
        return;
    }
    match value {
        Value::Array(list) => {
            for one in list {
                if let Some(tool) = tool(one) {
                    found.push((server.to_owned(), tool));
                } else {
                    collect(one, server, depth + 1, found);
                }
            }
        }
        Value::Object(members) => {
            let named = ["server_name", "serverInfo", "server", "name"].iter().find_map(|key| {
                let member = members.get(*key)?;
                member.as_str().or_else(|| member.get("name")?.as_str())
            });
            let server = named.unwrap_or(server);
            let before = found.len();
            lists(value, server, depth, found);
            modified(value, server, found);
            if found.len() > before {
                return;
            }
            if let Some(tool) = tool(value) {
                found.push((server.to_owned(), tool));
                return;
            }
            for (name, member) in members {
                if !matches!(name.as_str(), "config" | "inputSchema" | "parameters" | "capabilities" | "mcpServers") {
                    let inner = if name == "result" { server } else { name };
                    collect(member, inner, depth + 1, found);
                }
            }
        }
        _ => {}
    }
}

fn lists(value: &Value, server: &str, depth: usize, found: &mut Vec<(String, Item)>) {
    if let Some(text) = value["instructions"].as_str() {
        let item = Item { kind: Kind::Instructions, name: String::new(), value: Value::from(text) };
        found.push((server.to_owned(), item));
    }
    for (member, kind) in LISTS {
        match &value[member] {
            Value::Array(list) => {
                found.extend(list.iter().filter(|one| one.is_object()).map(|one| {
                    let item = if kind == Kind::Tool { tool(one) } else { None };
                    let item = item.unwrap_or_else(|| Item { kind, name: name_of(one), value: one.clone() });
                    (server.to_owned(), item)
                }));
            }
            // A map from servers to what they list.
            map @ Value::Object(_) if kind == Kind::Tool => collect(map, server, depth + 1, found),
            _ => {}
        }
    }
}

fn name_of(value: &Value) -> String {
    let name = ["name", "uri", "uriTemplate"].iter().find_map(|key| value[*key].as_str());
    name.unwrap_or_default().to_owned()
}

/// A tool as MCP or as an API of functions describes it.
fn tool(value: &Value) -> Option<Item> {
    let definition = if value["function"].is_object() { &value["function"] } else { value };
    let name = definition["name"].as_str()?;
    let is_tool = ["inputSchema", "input_schema", "parameters"].iter().any(|key| definition[*key].is_object());
    is_tool.then(|| Item { kind: Kind::Tool, name: name.to_owned(), value: definition.clone() })
}

/// Tasks of attack data sets: what stands in the place of a tool's description or result.
fn modified(value: &Value, server: &str, found: &mut Vec<(String, Item)>) {
    for one in value["mcp_server_modifications"].as_array().into_iter().flatten() {
        let name = one["tool_name"].as_str().unwrap_or_default().to_owned();
        if one["modification_description"].is_string() {
            let value = serde_json::json!({ "name": name, "description": one["modification_description"] });
            found.push((server.to_owned(), Item { kind: Kind::Tool, name: name.clone(), value }));
        }
        if !one["modification_return"].is_null() {
            let value = one["modification_return"].clone();
            found.push((server.to_owned(), Item { kind: Kind::Result, name, value }));
        }
    }
}

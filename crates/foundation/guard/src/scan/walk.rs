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

/// How deep items are looked for.
const SEARCHED: usize = 12;

/// What a value holds.
#[derive(Debug, Default)]
pub struct Found {
    /// The items, each with its server's name.
    pub items: Vec<(String, Item)>,
    /// Parts next to items that gave none or lie too deep, in words.
    pub unread: Vec<String>,
}

/// The items in a value, each with its server's name: results of lists, snapshots, JSON-RPC responses, arrays of tools or
/// of servers, maps of servers, function definitions, and tasks that replace descriptions.
pub fn items(value: &Value, server: &str) -> Vec<(String, Item)> {
    search(std::slice::from_ref(value), server).items
}

/// The items in values that stand together, such as the lines of a file, and what gave none.
pub fn search(values: &[Value], server: &str) -> Found {
    let mut found = Found::default();
    match values {
        [value] => collect(value, server, 0, &mut found),
        values => collect_list(values, server, 0, &mut found),
    }
    found
}

/// Takes the lists, the instructions and the introduction off a result. What is left, which may be shown to a model too, is
/// `None` where it only serves the protocol.
pub fn listed(result: &Value) -> (Vec<Item>, Option<Value>) {
    let mut found = Found::default();
    lists(result, "", SEARCHED, &mut found);
    let Some(members) = result.as_object().filter(|_| !found.items.is_empty()) else {
        return (Vec::new(), Some(result.clone()));
    };
    let is_read = |name: &str, value: &Value| match name {
        "instructions" => value.is_string(),
        "serverInfo" => value.is_object(),
        "nextCursor" | "ttlMs" | "cacheScope" | "resultType" | "protocolVersion" | "capabilities" => true,
        name => value.is_array() && LISTS.iter().any(|(list, _)| *list == name),
    };
    let rest: serde_json::Map<String, Value> =
        members.iter().filter(|(name, value)| !is_read(name, value)).map(|(n, v)| (n.clone(), v.clone())).collect();
    let items = found.items.into_iter().map(|(_, item)| item).collect();
    (items, (!rest.is_empty()).then_some(Value::Object(rest)))
}

fn collect_list(list: &[Value], server: &str, depth: usize, found: &mut Found) {
    let before = found.items.len();
    let has_tool = list.iter().any(|one| tool(one).is_some());
    let mut empty = 0;
    for one in list {
        let count = found.items.len();
        if let Some(tool) = tool(one).or_else(|| described(one).filter(|_| has_tool)) {
            found.items.push((server.to_owned(), tool));
        } else {
            collect(one, server, depth + 1, found);
        }
        empty += usize::from(found.items.len() == count && !is_empty_list(one));
    }
    if found.items.len() > before && empty > 0 {
        let what = if empty == 1 { "value is no item" } else { "values are no items" };
        found.unread.push(format!("{}: {empty} {what}, next to items", wire::escape::snippet(server, 80)));
    }
}

/// A list of MCP without anything in it.
fn is_empty_list(value: &Value) -> bool {
    let value = if value["result"].is_object() { &value["result"] } else { value };
    LISTS.iter().any(|(member, _)| {
        value[*member].is_array() || value[*member].as_object().is_some_and(serde_json::Map::is_empty)
    })
}

fn collect(value: &Value, server: &str, depth: usize, found: &mut Found) {
    if depth > SEARCHED {
        if value.is_object() || value.is_array() {
            found.unread.push(format!("{}: a part lies too deep", wire::escape::snippet(server, 80)));
        }
        return;
    }
    match value {
        Value::Array(list) => collect_list(list, server, depth, found),
        Value::Object(members) => {
            let named = ["server_name", "serverInfo", "server", "name"].iter().find_map(|key| {
                let member = members.get(*key)?;
                member.as_str().or_else(|| member.get("name")?.as_str())
            });
            let server = named.unwrap_or(server);
            let before = found.items.len();
            lists(value, server, depth, found);
            modified(value, server, found);
            if found.items.len() > before {
                return;
            }
            if let Some(tool) = tool(value) {
                found.items.push((server.to_owned(), tool));
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

/// The name of the item that a server's introduction is.
const INTRODUCTION: &str = "serverInfo";

fn lists(value: &Value, server: &str, depth: usize, found: &mut Found) {
    let before = found.items.len();
    if let Some(text) = value["instructions"].as_str() {
        let item = Item { kind: Kind::Instructions, name: String::new(), value: Value::from(text) };
        found.items.push((server.to_owned(), item));
    }
    for (member, kind) in LISTS {
        match &value[member] {
            Value::Array(list) => {
                found.items.extend(list.iter().map(|one| {
                    let item = if kind == Kind::Tool { tool(one) } else { None };
                    let item = item.unwrap_or_else(|| Item { kind, name: name_of(one), value: one.clone() });
                    (server.to_owned(), item)
                }));
            }
            // A map from servers to what they list.
            map @ Value::Object(_) if kind == Kind::Tool && depth < SEARCHED => collect(map, server, depth + 1, found),
            _ => {}
        }
    }
    // An introduction alone is no list, unless a server says it to a client.
    let is_greeting = value["protocolVersion"].is_string();
    for member in [INTRODUCTION, "server"] {
        let introduction = &value[member];
        let has_text = ["title", "description"].iter().any(|text| introduction[*text].is_string());
        let is_plain = introduction["name"].as_str().is_none_or(is_plain_name);
        if (has_text || !is_plain) && introduction.is_object() && (found.items.len() > before || is_greeting) {
            let item = Item { kind: Kind::Instructions, name: INTRODUCTION.to_owned(), value: introduction.clone() };
            found.items.push((server.to_owned(), item));
        }
    }
}

/// Whether a server's name is one word, in which nothing can be said.
fn is_plain_name(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@')) && name.len() <= 100
}

/// An object with a name and a description, which is a tool where it stands among tools.
fn described(value: &Value) -> Option<Item> {
    let name = value["name"].as_str().filter(|_| value["description"].is_string())?;
    let has_list = LISTS.iter().any(|(list, _)| !value[*list].is_null());
    (!has_list).then(|| Item { kind: Kind::Tool, name: name.to_owned(), value: value.clone() })
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
fn modified(value: &Value, server: &str, found: &mut Found) {
    for one in value["mcp_server_modifications"].as_array().into_iter().flatten() {
        let name = one["tool_name"].as_str().unwrap_or_default().to_owned();
        if one["modification_description"].is_string() {
            let value = serde_json::json!({ "name": name, "description": one["modification_description"] });
            found.items.push((server.to_owned(), Item { kind: Kind::Tool, name: name.clone(), value }));
        }
        if !one["modification_return"].is_null() {
            let value = one["modification_return"].clone();
            found.items.push((server.to_owned(), Item { kind: Kind::Result, name, value }));
        }
    }
}

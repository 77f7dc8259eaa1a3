//! Which tools, arguments, resources and prompts of a server no case used.

use std::collections::BTreeSet;

use client::Client;
use regex::Regex;
use serde_json::{Map, Value};

use crate::requests::{List, Request};

/// Which parts of a server the cases of a file used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The server's name and version; files with equal ones count as files of one server.
    pub server: String,
    /// Everything that the server declares, in its order, and whether a case used it.
    pub parts: Vec<(Part, bool)>,
    /// The lists that could not be read, and why.
    pub unlisted: Vec<String>,
}

/// A part of what a server declares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A tool.
    Tool(String),
    /// An argument of a tool: the tool and its name.
    Argument(String, String),
    /// A resource, by its URI.
    Resource(String),
    /// A resource template, by its URI template. Reading a resource that matches it uses it.
    Template(String),
    /// A prompt.
    Prompt(String),
    /// An argument of a prompt: the prompt and its name.
    PromptArgument(String, String),
}

impl Part {
    /// The kind, in plural.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tools",
            Self::Argument(..) => "arguments",
            Self::Resource(_) => "resources",
            Self::Template(_) => "templates",
            Self::Prompt(_) => "prompts",
            Self::PromptArgument(..) => "prompt arguments",
        }
    }

    /// The name: `forecast`, `forecast.days`, `file:///a`.
    pub fn name(&self) -> String {
        match self {
            Self::Tool(name) | Self::Resource(name) | Self::Template(name) | Self::Prompt(name) => name.clone(),
            Self::Argument(of, name) | Self::PromptArgument(of, name) => format!("{of}.{name}"),
        }
    }
}

/// The parts that requests used.
#[derive(Debug, Default)]
pub(super) struct Touched(BTreeSet<Part>);

impl Touched {
    /// Records a request when it is sent.
    pub(super) fn record(&mut self, request: &Request) {
        match request {
            Request::Call { tool, arguments } => {
                self.0.extend(arguments.keys().map(|name| Part::Argument(tool.clone(), name.clone())));
                self.0.insert(Part::Tool(tool.clone()));
            }
            Request::Read(uri) => _ = self.0.insert(Part::Resource(uri.clone())),
            Request::Get { prompt, arguments } => {
                self.0.extend(arguments.keys().map(|name| Part::PromptArgument(prompt.clone(), name.clone())));
                self.0.insert(Part::Prompt(prompt.clone()));
            }
            Request::Raw { method, params } => {
                let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                let arguments = || params.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
                match method.as_str() {
                    "tools/call" => self.record(&Request::Call { tool: text("name"), arguments: arguments() }),
                    "resources/read" => self.record(&Request::Read(text("uri"))),
                    "prompts/get" => self.record(&Request::Get { prompt: text("name"), arguments: arguments() }),
                    _ => {}
                }
            }
            Request::Complete { .. } | Request::List(_) => {}
        }
    }

    fn has(&self, part: &Part) -> bool {
        let Part::Template(template) = part else { return self.0.contains(part) };
        let Some(addresses) = addresses(template) else { return false };
        self.0.iter().any(|part| matches!(part, Part::Resource(uri) if addresses.is_match(uri)))
    }

    /// Compares the used parts with those that a server declares.
    pub(super) fn of(&self, surface: Surface) -> Coverage {
        let parts = surface.parts.into_iter().map(|part| {
            let touched = self.has(&part);
            (part, touched)
        });
        Coverage { server: surface.server, parts: parts.collect(), unlisted: surface.unlisted }
    }
}

/// What a server declares.
#[derive(Debug, Default)]
pub(super) struct Surface {
    server: String,
    parts: Vec<Part>,
    unlisted: Vec<String>,
}

/// Reads all lists of a server.
pub(super) async fn surface(client: &Client) -> Surface {
    let greeting = client.greeting();
    let text = |name: &str| greeting.server_info().and_then(|info| info.get(name)).and_then(Value::as_str);
    let named: Vec<&str> = [text("name"), text("version")].into_iter().flatten().collect();
    let server = if named.is_empty() { "unnamed server".to_owned() } else { named.join(" ") };
    let mut surface = Surface { server, ..Surface::default() };
    for (capability, list) in [
        ("tools", List::Tools),
        ("resources", List::Resources),
        ("resources", List::Templates),
        ("prompts", List::Prompts),
    ] {
        if !greeting.may_have(capability) {
            continue;
        }
        let (method, key) = list.method();
        match client.list(method, key).await {
            Ok(listed) => {
                let items = listed.result.get(key).and_then(Value::as_array).into_iter().flatten();
                surface.parts.extend(items.flat_map(|item| parts(key, item)));
            }
            Err(error) => surface.unlisted.push(format!("{method}: {error}")),
        }
    }
    // A part that is listed twice counts once.
    let mut seen = BTreeSet::new();
    surface.parts.retain(|part| seen.insert(part.clone()));
    surface
}

/// The parts of an item of a list.
fn parts(key: &str, item: &Value) -> Vec<Part> {
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let name = text(item, "name");
    match key {
        "tools" => {
            let properties = item.pointer("/inputSchema/properties").and_then(Value::as_object);
            let arguments = properties.into_iter().flat_map(Map::keys);
            let arguments = arguments.map(|argument| Part::Argument(name.clone(), argument.clone()));
            std::iter::once(Part::Tool(name.clone())).chain(arguments).collect()
        }
        "resources" => vec![Part::Resource(text(item, "uri"))],
        "resourceTemplates" => vec![Part::Template(text(item, "uriTemplate"))],
        _ => {
            let arguments = item.get("arguments").and_then(Value::as_array).into_iter().flatten();
            let arguments = arguments.map(|argument| Part::PromptArgument(name.clone(), text(argument, "name")));
            std::iter::once(Part::Prompt(name.clone())).chain(arguments).collect()
        }
    }
}

/// A regular expression for the URIs of a URI template (RFC 6570). Expressions whose operator starts a part of the URI may be
/// empty; only those that keep reserved characters match more than one segment.
fn addresses(template: &str) -> Option<Regex> {
    let mut pattern = "^".to_owned();
    let mut parts = template.split('{');
    pattern.push_str(&regex::escape(parts.next()?));
    for part in parts {
        let (expression, literal) = part.split_once('}')?;
        pattern.push_str(match expression.chars().next()? {
            '+' => ".+",
            '#' | '/' | '.' | ';' | '?' | '&' => ".*",
            _ if expression.ends_with('*') || expression.contains(',') => "[^/?#]*",
            _ => "[^/?#]+",
        });
        pattern.push_str(&regex::escape(literal));
    }
    Regex::new(&(pattern + "$")).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{Part, Request, Surface, Touched, addresses, parts};

    #[test]
    fn reading_a_matching_uri_uses_a_template() {
        for (template, uri, fits) in [
            ("note:///{id}", "note:///7", true),
            ("note:///{id}", "note:///", false),
            ("note:///{id}", "note:///7/8", false),
            ("file:///{+path}", "file:///a/b.txt", true),
            ("find://x{?q,page}", "find://x?q=1", true),
            ("find://x{?q,page}", "find://x", true),
            ("a.b/{x}", "acb/1", false),
            ("a{", "a", false),
        ] {
            let addresses = addresses(template);
            assert_eq!(addresses.is_some_and(|addresses| addresses.is_match(uri)), fits, "{template} {uri}");
        }
    }

    #[test]
    fn parts_without_a_request_are_unused() {
        let map = |value: Value| value.as_object().cloned().unwrap_or_default();
        let mut touched = Touched::default();
        touched.record(&Request::Call { tool: "add".to_owned(), arguments: map(json!({ "a": 1 })) });
        touched
            .record(&Request::Raw { method: "resources/read".to_owned(), params: map(json!({ "uri": "note:///7" })) });
        touched.record(&Request::Get { prompt: "greet".to_owned(), arguments: Map::new() });
        let tool = json!({ "name": "add", "inputSchema": { "properties": { "a": {}, "b": {} } } });
        let prompt = json!({ "name": "greet", "arguments": [{ "name": "who" }] });
        let mut surface = Surface::default();
        surface.parts.extend(parts("tools", &tool));
        surface.parts.extend(parts("resourceTemplates", &json!({ "uriTemplate": "note:///{id}" })));
        surface.parts.extend(parts("prompts", &prompt));
        let coverage = touched.of(surface);
        let untouched: Vec<String> =
            coverage.parts.iter().filter(|(_, touched)| !touched).map(|(part, _)| part.name()).collect();
        assert_eq!(untouched, ["add.b", "greet.who"]);
        assert!(coverage.parts.contains(&(Part::Template("note:///{id}".to_owned()), true)));
    }
}

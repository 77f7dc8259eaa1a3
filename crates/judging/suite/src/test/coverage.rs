//! Which tools, arguments, resources and prompts of a server no case touched.

use std::collections::BTreeSet;

use client::Client;
use regex::Regex;
use serde_json::{Map, Value};

use crate::asking::{Ask, List};

/// What of a server's declared surface the cases of a file touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The server's name and version, as it gives them; files of equal ones are of one server.
    pub server: String,
    /// Everything that the server declares, in its order, and whether a case touched it.
    pub parts: Vec<(Part, bool)>,
    /// Which of its lists could not be had, and why.
    pub unlisted: Vec<String>,
}

/// A part of a server's declared surface.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A tool.
    Tool(String),
    /// An argument of a tool: the tool and its name.
    Argument(String, String),
    /// A resource, by its URI.
    Resource(String),
    /// A resource template, by its URI template. A case touches it that reads an address of it.
    Template(String),
    /// A prompt.
    Prompt(String),
    /// An argument of a prompt: the prompt and its name.
    PromptArgument(String, String),
}

impl Part {
    /// Which kind it is, as one says it of several.
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

    /// What it is called: `forecast`, `forecast.days`, `file:///a`.
    pub fn name(&self) -> String {
        match self {
            Self::Tool(name) | Self::Resource(name) | Self::Template(name) | Self::Prompt(name) => name.clone(),
            Self::Argument(of, name) | Self::PromptArgument(of, name) => format!("{of}.{name}"),
        }
    }
}

/// What requests touched.
#[derive(Debug, Default)]
pub(super) struct Touched(BTreeSet<Part>);

impl Touched {
    /// Notes a request as it goes out.
    pub(super) fn note(&mut self, asked: &Ask) {
        match asked {
            Ask::Call { tool, arguments } => {
                self.0.extend(arguments.keys().map(|name| Part::Argument(tool.clone(), name.clone())));
                self.0.insert(Part::Tool(tool.clone()));
            }
            Ask::Read(uri) => _ = self.0.insert(Part::Resource(uri.clone())),
            Ask::Get { prompt, arguments } => {
                self.0.extend(arguments.keys().map(|name| Part::PromptArgument(prompt.clone(), name.clone())));
                self.0.insert(Part::Prompt(prompt.clone()));
            }
            Ask::Raw { method, params } => {
                let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                let arguments = || params.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
                match method.as_str() {
                    "tools/call" => self.note(&Ask::Call { tool: text("name"), arguments: arguments() }),
                    "resources/read" => self.note(&Ask::Read(text("uri"))),
                    "prompts/get" => self.note(&Ask::Get { prompt: text("name"), arguments: arguments() }),
                    _ => {}
                }
            }
            Ask::Complete { .. } | Ask::List(_) => {}
        }
    }

    fn has(&self, part: &Part) -> bool {
        let Part::Template(template) = part else { return self.0.contains(part) };
        let Some(addresses) = addresses(template) else { return false };
        self.0.iter().any(|part| matches!(part, Part::Resource(uri) if addresses.is_match(uri)))
    }

    /// Holds what was touched against what a server declares.
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

/// Asks a server for all its lists.
pub(super) async fn surface(client: &Client) -> Surface {
    let greeting = client.greeting();
    let told = |name: &str| greeting.server_info().and_then(|info| info.get(name)).and_then(Value::as_str);
    let named: Vec<&str> = [told("name"), told("version")].into_iter().flatten().collect();
    let server = if named.is_empty() { "a server without a name".to_owned() } else { named.join(" ") };
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
    // One that is listed twice counts once.
    let mut seen = BTreeSet::new();
    surface.parts.retain(|part| seen.insert(part.clone()));
    surface
}

/// What an item of a list stands for.
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

/// The addresses that a URI template (RFC 6570) may become. Expressions whose operator begins a part of the address may be
/// empty; only those that keep reserved characters go beyond one segment.
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

    use super::{Ask, Part, Surface, Touched, addresses, parts};

    #[test]
    fn a_template_is_touched_by_an_address_of_it() {
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
    fn what_no_request_names_is_untouched() {
        let map = |value: Value| value.as_object().cloned().unwrap_or_default();
        let mut touched = Touched::default();
        touched.note(&Ask::Call { tool: "add".to_owned(), arguments: map(json!({ "a": 1 })) });
        touched.note(&Ask::Raw { method: "resources/read".to_owned(), params: map(json!({ "uri": "note:///7" })) });
        touched.note(&Ask::Get { prompt: "greet".to_owned(), arguments: Map::new() });
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

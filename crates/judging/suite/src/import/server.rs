//! Reads the server, which is similar in both formats.

use document::FileError;
use serde_json::{Map, Value, json};
use url::Url;

use super::Format;
use super::file::NotImported;
use super::read::Source;

/// The content of `server`, and what could not be imported.
#[derive(Debug, Default)]
pub(super) struct Server {
    pub(super) members: Map<String, Value>,
    pub(super) not_imported: Vec<NotImported>,
    pub(super) remarks: Vec<String>,
    /// The client's answers, as members of a case.
    pub(super) answers: Map<String, Value>,
    /// Answers without a counterpart.
    pub(super) unsupported_answers: Vec<NotImported>,
    /// The container image of the server.
    pub(super) image: Option<String>,
}

/// Reads the server; `None` after adding errors to `errors`.
pub(super) fn read(source: &Source, errors: &mut Vec<FileError>) -> Option<Server> {
    let Some(Value::Object(config)) = source.root.get("server") else {
        errors.push(source.error("/server", "no `server` mapping", "server: { command: node, args: [server.js] }"));
        return None;
    };
    let text = |name: &str| config.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let transport = text("transport").unwrap_or("stdio").to_ascii_lowercase();
    let url = text("url").filter(|_| transport != "stdio" || text("command").is_none());
    let mut server = Server::default();
    if let Some(url) = url {
        if !Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https" | "ws" | "wss") && url.has_host()) {
            errors.push(source.error("/server/url", "invalid URL", "http://127.0.0.1:3000/mcp"));
            return None;
        }
        server.members.insert("url".to_owned(), json!(url));
        if transport == "sse" && !url.starts_with("ws") {
            server.members.insert("transport".to_owned(), json!(transport));
        }
    } else if let Some(command) = text("command").filter(|_| transport == "stdio") {
        let args = config.get("args").and_then(Value::as_array).cloned().unwrap_or_default();
        let words: Vec<String> = std::iter::once(command.to_owned()).chain(args.iter().map(plain)).collect();
        server.members.insert("command".to_owned(), json!(words));
    } else {
        let what = if transport == "stdio" { "the server has no `command`" } else { "the server has no `url`" };
        errors.push(source.error("/server", what, "a `command`, or a `transport` and a `url`"));
        return None;
    }
    for (name, value) in config {
        member(&mut server, source.format, name, value);
    }
    Some(server)
}

fn member(server: &mut Server, format: Format, name: &str, value: &Value) {
    let spoken = if server.members.contains_key("url") { "headers" } else { "env" };
    match (name, value) {
        ("command" | "args" | "transport" | "url", _) => {}
        ("env" | "headers", Value::Object(pairs)) if pairs.is_empty() => {}
        ("env" | "headers", Value::Object(pairs)) if name == spoken => variables(server, format, name, pairs),
        ("docker", Value::String(image)) if format == Format::McpAssert => {
            server.image = Some(image.clone());
            server
                .not_imported
                .push(NotImported::new("docker", format!("{image}: the server would run outside of a container")));
        }
        ("client_capabilities", Value::Object(config)) if format == Format::McpAssert => capabilities(server, config),
        (name, value) => server.not_imported.push(NotImported::new(format!("server {name}"), value.to_string())),
    }
}

/// Variables of the command, or headers. mcp-assert fills `${NAME}` in from its own environment, which test files do not.
fn variables(server: &mut Server, format: Format, member: &str, pairs: &Map<String, Value>) {
    let mut kept = Map::new();
    for (name, value) in pairs {
        let value = plain(value);
        let variable = variable(&value).filter(|_| format == Format::McpAssert);
        let token = value.strip_prefix("Bearer ").and_then(self::variable);
        match (member, variable, token) {
            ("env", Some(variable), _) if variable == name => {
                server
                    .remarks
                    .push(format!("{name} comes from the environment, like every variable that is not set here"));
            }
            ("headers", _, Some(variable))
                if format == Format::McpAssert && name.eq_ignore_ascii_case("authorization") =>
            {
                server.members.insert("bearerEnv".to_owned(), json!(variable));
            }
            _ if format == Format::McpAssert && is_filled(&value) => {
                let kind = if member == "env" { "server env" } else { "server headers" };
                server
                    .not_imported
                    .push(NotImported::new(kind, format!("{name}, `{value}`: variables are not filled in")));
            }
            _ => {
                kept.insert(name.clone(), json!(value));
            }
        }
    }
    if !kept.is_empty() {
        server.members.insert(member.to_owned(), Value::Object(kept));
    }
}

/// The variable that a text is, `$NAME` or `${NAME}`.
fn variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

/// Whether mcp-assert would fill something in.
fn is_filled(text: &str) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '{';
    text.split('$').skip(1).any(|after| after.starts_with(name))
}

/// What the client says when the server asks.
fn capabilities(server: &mut Server, config: &Map<String, Value>) {
    let mut left =
        |kind: &str, value: &Value| server.unsupported_answers.push(NotImported::new(kind, value.to_string()));
    for (name, value) in config {
        match (name.as_str(), value) {
            ("roots", Value::Array(paths)) => {
                let uri = |path: &Value| {
                    let path = plain(path);
                    if path.contains("://") { path } else { format!("file://{path}") }
                };
                server.answers.insert("roots".to_owned(), paths.iter().map(uri).collect());
            }
            ("sampling", Value::Object(config)) => {
                for (name, value) in config {
                    match (name.as_str(), value) {
                        ("text", Value::String(text)) => {
                            server.answers.insert("say".to_owned(), json!(text));
                        }
                        (name, value) => left(&format!("sampling {name}"), value),
                    }
                }
            }
            ("elicitation", Value::Object(config)) => {
                let form = match (config.get("action").and_then(Value::as_str), config.get("content")) {
                    (Some(action @ ("decline" | "cancel")), _) => json!(action),
                    (_, Some(content @ Value::Object(_))) => content.clone(),
                    (Some("accept"), None) => json!({}),
                    _ => Value::Object(config.clone()),
                };
                server.answers.insert("form".to_owned(), form);
            }
            (name, value) => left(&format!("client_capabilities {name}"), value),
        }
    }
}

/// A scalar as the text that it was written as.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

//! The servers in a client's configuration: JSON with comments, TOML, or YAML.

use std::path::Path;

use guard::scan::{Item, Kind};
use net::client::{Address, Command, HttpAddress};
use serde_json::Value;

use crate::exit::{Exit, usage};
use crate::verb::{given_file, output};

/// The largest configuration.
const LARGEST: u64 = 64 << 20;

/// One server.
pub(super) struct Entry {
    pub(super) server: String,
    pub(super) value: Value,
}

impl Entry {
    /// The entry as a scan takes it.
    pub(super) fn item(&self) -> Item {
        Item { kind: Kind::Configuration, name: self.server.clone(), value: self.value.clone() }
    }

    /// Where the server is; `Err` says why it cannot be reached.
    pub(super) fn address(&self) -> Result<Address, String> {
        let url = ["httpUrl", "url", "uri", "serverUrl"].iter().find_map(|member| self.value[*member].as_str());
        if let Some(url) = url {
            let url = url::Url::parse(&expanded(url)?).map_err(|error| format!("its URL is invalid: {error}"))?;
            let headers = pairs(&self.value, &["headers", "http_headers"])?;
            return Ok(Address::Http(HttpAddress { headers, ..HttpAddress::new(url) }));
        }
        let mut words = Vec::new();
        for member in ["command", "cmd", "args"] {
            match &self.value[member] {
                Value::String(word) => words.push(expanded(word)?),
                Value::Array(list) => {
                    for word in list.iter().filter_map(Value::as_str) {
                        words.push(expanded(word)?);
                    }
                }
                _ => {}
            }
        }
        if words.is_empty() {
            return Err("it has neither a command nor a URL".to_owned());
        }
        let env = pairs(&self.value, &["env", "envs", "environment"])?;
        let cwd = self.value["cwd"].as_str().map(Into::into);
        Ok(Address::Stdio(Command { program: words.remove(0), args: words, env, cwd }))
    }
}

fn pairs(entry: &Value, members: &[&str]) -> Result<Vec<(String, String)>, String> {
    let all = members.iter().filter_map(|member| entry[*member].as_object()).flatten();
    all.filter_map(|(name, value)| Some((name, value.as_str()?)))
        .map(|(name, value)| Ok((name.clone(), expanded(value)?)))
        .collect()
}

/// A text with `${NAME}`, `${env:NAME}` and `{env:NAME}` replaced.
fn expanded(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${").into_iter().chain(rest.find("{env:")).min() {
        out.push_str(&rest[..at]);
        let inner = rest[at..].trim_start_matches('$').trim_start_matches('{');
        let Some((name, after)) = inner.split_once('}') else { return Err("a `${` is not closed".to_owned()) };
        let name = name.trim_start_matches("env:");
        let (name, default) = name.split_once(":-").map_or((name, None), |(name, value)| (name, Some(value)));
        let value = std::env::var(name).ok().or_else(|| default.map(str::to_owned));
        out.push_str(&value.ok_or_else(|| format!("it needs {}, which is not set", wire::escape::line(name)))?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Why a configuration cannot be read, and what to do.
pub(super) struct Unread {
    pub(super) what: String,
    remedy: &'static str,
}

/// Reads the servers of a configuration that must name one.
pub(super) fn read(path: &Path) -> Result<Vec<Entry>, Exit> {
    let entries = open(path).map_err(|unread| usage(&unread.what, unread.remedy))?;
    if entries.is_empty() {
        let what = format!("{} names no MCP server, so there is nothing to scan", output::shown(path));
        return Err(usage(
            &what,
            "give a file with `mcpServers`, `servers`, `context_servers` or `[mcp_servers.NAME]`",
        ));
    }
    Ok(entries)
}

/// Reads the servers of a configuration, which may name none.
pub(super) fn open(path: &Path) -> Result<Vec<Entry>, Unread> {
    let shown = output::shown(path);
    let text = given_file::text(path, LARGEST).map_err(|error| Unread {
        what: format!("cannot read {shown}: {error}"),
        remedy: "check the path and its permissions",
    })?;
    let is = |ending: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending));
    let parsed = if is("yaml") || is("yml") {
        yaml(&text)
    } else if is("toml") {
        toml::from_str(&text).map_err(|error| error.message().to_owned())
    } else {
        serde_json::from_str(&without_comments(&text)).map_err(|error: serde_json::Error| error.to_string())
    };
    let value: Value = parsed.map_err(|why| Unread {
        what: format!("{shown} is damaged: {}", wire::escape::line(&why)),
        remedy: "repair the file; clients read it the same way",
    })?;
    Ok(entries(&value))
}

/// A YAML document. Of a key that stands twice, clients take the one or the other: such a file is damaged.
fn yaml(text: &str) -> Result<Value, String> {
    let shown = |error: &document::FileError| match error.at {
        Some(at) => format!("{} (line {})", error.what, at.line),
        None => error.what.clone(),
    };
    let (tree, errors) = document::read(text).map_err(|error| shown(&error))?;
    errors.first().map_or_else(|| Ok(tree.to_value()), |error| Err(shown(error)))
}

/// The members under which clients keep their servers.
const MEMBERS: [&str; 7] =
    ["mcpServers", "servers", "context_servers", "mcp_servers", "amp.mcpServers", "extensions", "mcp"];

/// The servers in a configuration of any client.
pub(super) fn entries(value: &Value) -> Vec<Entry> {
    let mut found = Vec::new();
    for member in MEMBERS {
        collect(&value[member], &mut found);
        // VS Code's settings, and the native form of others.
        collect(&value["mcp"]["servers"], &mut found);
    }
    let projects = value["projects"].as_object();
    for project in projects.into_iter().flat_map(|projects| projects.values()) {
        collect(&project["mcpServers"], &mut found);
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|entry| seen.insert((entry.server.clone(), entry.value.to_string())));
    found
}

fn collect(servers: &Value, found: &mut Vec<Entry>) {
    let members = ["command", "cmd", "url", "uri", "serverUrl", "httpUrl"];
    let is_server = |value: &Value| members.iter().any(|member| !value[*member].is_null());
    let named = servers.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value));
    let listed = servers.as_array().into_iter().flatten();
    let listed = listed.map(|value| (value["name"].as_str().unwrap_or("unnamed").to_owned(), value));
    let all = named.chain(listed).filter(|(_, value)| is_server(value));
    found.extend(all.map(|(server, value)| Entry { server, value: value.clone() }));
}

/// JSON without comments and trailing commas, each replaced by spaces so that places stay.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut comma = None;
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                comma = None;
                out.push(c);
                while let Some(c) = chars.next() {
                    out.push(c);
                    match c {
                        '\\' => out.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '/' if chars.peek() == Some(&'/') => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                let mut before = ' ';
                for c in chars.by_ref() {
                    if c == '\n' {
                        out.push(c);
                    }
                    if before == '*' && c == '/' {
                        break;
                    }
                    before = c;
                }
            }
            '}' | ']' => {
                if let Some(at) = comma.take() {
                    out.replace_range(at..=at, " ");
                }
                out.push(c);
            }
            c => {
                if c == ',' {
                    comma = Some(out.len());
                } else if !c.is_whitespace() {
                    comma = None;
                }
                out.push(c);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{entries, without_comments};

    #[test]
    fn comments_and_trailing_commas_are_read_over() {
        let text = "\u{feff}{ // a\n \"a\": \"x // \\\" y\", /* b\n */ \"b\": [1, 2,], \"c\": \",]\",\n}";
        let value: Value = serde_json::from_str(&without_comments(text)).expect("JSON");
        assert_eq!(value, json!({ "a": "x // \" y", "b": [1, 2], "c": ",]" }));
        assert!(serde_json::from_str::<Value>(&without_comments("{ \"a\": 1 /* x")).is_err());
    }

    #[test]
    fn servers_of_every_client() {
        let entry = json!({ "command": "x" });
        for (value, server) in [
            (json!({ "mcpServers": { "a": entry } }), "a"),
            (json!({ "servers": { "a": entry }, "inputs": [] }), "a"),
            (json!({ "context_servers": { "a": { "url": "http://x" } } }), "a"),
            (json!({ "mcp": { "servers": { "a": entry } } }), "a"),
            (json!({ "mcp": { "a": { "type": "local", "command": ["x"] } } }), "a"),
            (json!({ "amp.mcpServers": { "a": entry } }), "a"),
            (json!({ "projects": { "/p": { "mcpServers": { "a": entry } } } }), "a"),
            (json!({ "mcpServers": [{ "name": "a", "command": "x" }] }), "a"),
        ] {
            let found: Vec<_> = entries(&value).into_iter().map(|entry| entry.server).collect();
            assert_eq!(found, [server], "{value}");
        }
        let text = "[mcp_servers.a]\ncommand = \"npx\"\nargs = [\"-y\", \"x\"]\n[mcp_servers.a.env]\nK = \"v\"\n";
        let found = entries(&toml::from_str::<Value>(text).expect("TOML"));
        assert_eq!((found.len(), &found[0].value["env"]["K"]), (1, &json!("v")));
        assert!(entries(&json!({ "editor": { "command": "x" } })).is_empty());
    }
}

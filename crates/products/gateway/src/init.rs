//! `init`: a first `gateway.yaml`, from a client's configuration, from commands and URLs, or with an example. Values that look
//! secret do not get into the file.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use clients::Launch;
use clients::findings::entries;
use clients::reference::only_variable;
use clients::text::Format;
use serde_json::Value;
use wire::redact::Redactor;

use crate::args::name_of_command;
use crate::tell::{Failure, tell};

/// The largest file of a client.
const MOST: u64 = 4 << 20;

/// Where the first file comes from.
#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    /// File to write
    #[arg(short, long, value_name = "FILE", default_value = "gateway.yaml")]
    output: PathBuf,
    /// Take the servers of this client's configuration
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// URLs of servers
    #[arg(value_name = "URL")]
    urls: Vec<String>,
    /// Command of a server
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// A server for the file.
struct Found {
    name: String,
    /// Members and their values as YAML.
    members: Vec<(String, String)>,
    /// Variables that the gateway needs.
    needs: Vec<String>,
}

/// Writes the file; an existing one is never overwritten.
pub(crate) fn run(args: &InitArgs) -> Result<(), Failure> {
    let mut found = match &args.from {
        Some(file) => of_client(file)?,
        None => Vec::new(),
    };
    found.extend(args.urls.iter().map(|url| of_url(url)));
    if !args.command.is_empty() {
        let words: Vec<_> = args.command.iter().map(|word| Value::from(word.as_str())).collect();
        let members = vec![("command".to_owned(), Value::Array(words).to_string())];
        found.push(Found { name: name_of_command(&args.command), members, needs: Vec::new() });
    }
    number_names(&mut found);
    let text = rendered(&found);
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(&args.output);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    let shown = args.output.display();
    written.map_err(|error| {
        Failure::usage(format!("cannot write {shown}: {error}"), "name another file with --output, or remove this one")
    })?;
    for variable in found.iter().flat_map(|found| &found.needs) {
        tell(&format!("set the environment variable {variable} before you start the gateway"));
    }
    tell(&format!("wrote {shown}; start it with `proof gateway --config {shown}`"));
    Ok(())
}

/// The servers of a client's configuration.
fn of_client(file: &Path) -> Result<Vec<Found>, Failure> {
    let shown = file.display();
    let remedy = "give a client's configuration, in JSON, YAML or TOML";
    let bad = |why: String| Failure::usage(format!("{shown}: {why}"), remedy);
    let mut text = String::new();
    let opened = net::open_regular(file).map_err(|error| bad(error.to_string()))?;
    opened.take(MOST).read_to_string(&mut text).map_err(|error| bad(error.to_string()))?;
    let value = clients::text::read(&text, Format::of_path(file)).map_err(|error| {
        let at = error.at.map(|at| format!("line {}, column {}: ", at.line, at.column)).unwrap_or_default();
        bad(format!("{at}{}", error.what))
    })?;
    let found: Vec<_> = entries(&value).iter().filter_map(|(name, entry)| of_entry(name, entry)).collect();
    if found.is_empty() {
        return Err(bad("it names no servers".to_owned()));
    }
    let named = ["mcpServers", "servers"].iter().find_map(|member| value.get(*member)?.as_object());
    let named = named.map_or(0, serde_json::Map::len);
    if found.len() < named {
        tell(&format!("warning: {} entries have neither `command` nor `url`", named - found.len()));
    }
    Ok(found)
}

fn of_entry(name: &str, entry: &Value) -> Option<Found> {
    let mut found = Found { name: plain_name(name), members: Vec::new(), needs: Vec::new() };
    match Launch::of_entry(entry)? {
        Launch::Stdio { command, args, env } => {
            let words: Vec<_> = std::iter::once(command).chain(args).map(Value::from).collect();
            found.members.push(("command".to_owned(), Value::Array(words).to_string()));
            found.values("env", &env);
        }
        Launch::Remote { url, headers, .. } => {
            found.members.push(("url".to_owned(), Value::from(url).to_string()));
            found.values("headers", &headers);
        }
    }
    Some(found)
}

impl Found {
    /// A mapping of texts, in which a secret is a reference.
    fn values(&mut self, member: &str, values: &[(String, String)]) {
        if values.is_empty() {
            return;
        }
        let mut parts = Vec::new();
        for (name, text) in values {
            let key = Value::from(name.as_str());
            let (prefix, bare) = match text.strip_prefix("Bearer ") {
                Some(bare) => (", prefix: \"Bearer \"", bare),
                None => ("", text.as_str()),
            };
            let variable = match only_variable(bare) {
                Some(variable) => variable.to_owned(),
                None if is_secret(name, text) => variable_of(&self.name, name),
                None => {
                    parts.push(format!("{key}: {}", Value::from(text.as_str())));
                    continue;
                }
            };
            parts.push(format!("{key}: {{ from_env: {variable}{prefix} }}"));
            self.needs.push(variable);
        }
        self.members.push((member.to_owned(), format!("{{ {} }}", parts.join(", "))));
    }
}

/// Whether a value is secret by its name or its look.
fn is_secret(name: &str, value: &str) -> bool {
    let object = serde_json::json!({ name: value });
    let redacted = Redactor::masking().redact_value(&object);
    redacted != object || name.eq_ignore_ascii_case("authorization")
}

/// The variable of our environment that holds a value.
fn variable_of(server: &str, name: &str) -> String {
    let word = |text: &str| {
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect::<String>()
    };
    format!("{}_{}", word(server), word(name))
}

fn of_url(url: &str) -> Found {
    let host = url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    let name = plain_name(&host.unwrap_or_else(|| "server".to_owned()));
    Found { name, members: vec![("url".to_owned(), Value::from(url).to_string())], needs: Vec::new() }
}

fn plain_name(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).take(32).collect();
    if plain.is_empty() { "server".to_owned() } else { plain }
}

fn number_names(found: &mut [Found]) {
    let mut seen = std::collections::HashSet::new();
    for one in found {
        let (base, mut number) = (one.name.chars().take(28).collect::<String>(), 2);
        while !seen.insert(one.name.clone()) {
            one.name = format!("{base}-{number}");
            number += 1;
        }
    }
}

fn rendered(found: &[Found]) -> String {
    let mut text = String::from(
        "# yaml-language-server: $schema=./gateway.schema.json\n# All keys: https://github.com/proofhouse/proofhouse/blob/main/docs/gateway-config.md\nupstreams:\n",
    );
    if found.is_empty() {
        text.push_str("  everything:\n    command: [npx, -y, \"@modelcontextprotocol/server-everything\", stdio]\n");
    }
    for one in found {
        let _ = writeln!(text, "  {}:", one.name);
        for (member, value) in &one.members {
            let _ = writeln!(text, "    {member}: {value}");
        }
    }
    text.push_str("\n# What clients see, by address; without `servers`, everything is at /mcp.\n");
    text.push_str("# servers:\n#   readers:               # at /readers/mcp\n#     tools: { only: [\"read_*\"] }\n");
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Found, number_names, of_entry, of_url, rendered};

    fn read(found: &[Found]) -> gateway::settings::Settings {
        let text = rendered(found);
        // The variables of the references are not set here; a file with one line holds as good a value.
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "value").expect("it can be written");
        let reference = format!("from_file: {}, prefix: ", file.path().display());
        let text = text.replace("from_env: ", &reference).replace(", prefix: \"Bearer \"", "");
        gateway::config::read(&text, "gateway.yaml").unwrap_or_else(|errors| panic!("{errors}\n{text}"))
    }

    #[test]
    fn a_clients_servers_become_upstreams_without_their_secrets() {
        let entries = [
            ("files & more", json!({ "command": "npx", "args": ["-y", "x: y", "{z}"], "env": { "LOG": "debug" } })),
            (
                "docs",
                json!({ "url": "https://docs.example/mcp", "headers": { "Authorization": "Bearer abc123def456" } }),
            ),
            ("docs", json!({ "command": "a", "env": { "API_KEY": "sk-1234567890abcdef" } })),
            ("none", json!({})),
            ("codex", json!({ "url": "https://c.example/mcp", "bearer_token_env_var": "C_TOKEN" })),
        ];
        let mut found: Vec<_> = entries.iter().filter_map(|(name, entry)| of_entry(name, entry)).collect();
        found.push(of_url("http://127.0.0.1:8080/mcp"));
        number_names(&mut found);
        let text = rendered(&found);
        assert!(!text.contains("abc123") && !text.contains("sk-1234"), "{text}");
        let needs: Vec<_> = found.iter().flat_map(|found| found.needs.clone()).collect();
        assert_eq!(needs, ["DOCS_AUTHORIZATION", "DOCS_API_KEY", "C_TOKEN"]);
        let settings = read(&found);
        let names: Vec<_> = settings.upstreams.iter().map(|upstream| upstream.name.as_str()).collect();
        assert_eq!(names, ["files---more", "docs", "docs-2", "codex", "127-0-0-1"]);
    }

    #[test]
    fn an_example_is_a_valid_file() {
        assert_eq!(read(&[]).upstreams.len(), 1);
    }
}

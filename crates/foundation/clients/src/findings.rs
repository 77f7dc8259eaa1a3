//! What is wrong with entries of clients, seen without starting a server.

use std::collections::HashMap;

use serde_json::Value;

use crate::server::{Launch, URLS};

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Issue {
    /// The package has no fixed version.
    Unpinned(String),
    /// The command is not found.
    MissingCommand(String),
    /// A secret stands in clear at this place.
    ClearSecret(String),
    /// The same server has other names in the same client.
    Duplicate(Vec<String>),
}

/// What is known of the machine and of values.
pub struct Machine<'m> {
    /// Whether a command can be started.
    pub has_command: &'m dyn Fn(&str) -> bool,
    /// Whether a value is secret, by its name and its look.
    pub is_secret: &'m dyn Fn(&str, &str) -> bool,
}

/// An entry: its client and file, its name, and the server.
pub struct Known<'k> {
    /// The client and the file, as one text.
    pub place: &'k str,
    /// The name.
    pub name: &'k str,
    /// The server.
    pub launch: &'k Launch,
}

/// The issues of each entry, in the same order.
pub fn issues(entries: &[Known<'_>], machine: &Machine<'_>) -> Vec<Vec<Issue>> {
    let mut names: HashMap<(&str, String), Vec<&str>> = HashMap::new();
    for entry in entries {
        names.entry((entry.place, entry.launch.identity())).or_default().push(entry.name);
    }
    let of = |entry: &Known<'_>| {
        let mut found = alone(entry.launch, machine);
        let same = names.get(&(entry.place, entry.launch.identity())).into_iter().flatten();
        let others: Vec<_> = same.filter(|name| **name != entry.name).map(|name| (*name).to_owned()).collect();
        if !others.is_empty() {
            found.push(Issue::Duplicate(others));
        }
        found
    };
    entries.iter().map(of).collect()
}

fn alone(launch: &Launch, machine: &Machine<'_>) -> Vec<Issue> {
    let mut found = Vec::new();
    if let Some(package) = launch.package().filter(|package| !package.is_pinned()) {
        found.push(Issue::Unpinned(package.name.to_owned()));
    }
    if let Launch::Stdio { command, .. } = launch
        && !crate::reference::has_variable(command)
        && !(machine.has_command)(command)
    {
        found.push(Issue::MissingCommand(command.clone()));
    }
    for (place, text) in launch.texts() {
        let name = place.split_once('.').map_or("", |(_, name)| name);
        if !crate::reference::has_variable(text) && !text.contains("${") && (machine.is_secret)(name, text) {
            found.push(Issue::ClearSecret(place));
        }
    }
    found
}

/// The members under which clients keep their servers.
const MEMBERS: [&str; 7] =
    ["mcpServers", "servers", "context_servers", "mcp_servers", "amp.mcpServers", "extensions", "mcp"];

/// The servers in a file of any client, whichever it is: names and entries.
pub fn entries(value: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for member in MEMBERS {
        collect(&value[member], &mut found);
    }
    // Visual Studio Code's settings, and the native form of others.
    collect(&value["mcp"]["servers"], &mut found);
    let projects = value["projects"].as_object();
    for project in projects.into_iter().flat_map(|projects| projects.values()) {
        collect(&project["mcpServers"], &mut found);
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|(name, value)| seen.insert((name.clone(), value.to_string())));
    found
}

fn collect(servers: &Value, found: &mut Vec<(String, Value)>) {
    let is_server = |value: &Value| {
        ["command", "cmd"].iter().chain(&URLS).any(|member| value.get(*member).is_some_and(|value| !value.is_null()))
    };
    let named = servers.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value));
    let listed = servers.as_array().into_iter().flatten();
    let listed = listed.map(|value| (value["name"].as_str().unwrap_or("unnamed").to_owned(), value));
    let all = named.chain(listed).filter(|(_, value)| is_server(value));
    found.extend(all.map(|(name, value)| (name, value.clone())));
}

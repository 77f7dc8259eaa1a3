//! Servers that another file lists: a gateway's, a client's, a list for `proof sync`, an inventory as JSON or Markdown. Reads one
//! file, starts nothing.

mod rows;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use clients::text::{self, Format};
use clients::{Launch, Scope, plan};
use serde_json::Value;

use crate::configured::{self, Found};

/// The largest file that is read.
const LONGEST: u64 = 16 << 20;
/// The most servers of one file.
const MOST: usize = 10_000;

/// Which kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `upstreams` of a gateway.
    Gateway,
    /// The configuration of a client.
    Client,
    /// `servers` by name, as `proof sync` and VS Code have them.
    List,
    /// Rows of an inventory.
    Inventory,
}

impl Kind {
    /// In a sentence.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gateway => "gateway",
            Self::Client => "client",
            Self::List => "list of servers",
            Self::Inventory => "inventory",
        }
    }
}

/// A server of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Its name there.
    pub name: String,
    /// What makes it the same server as another; `None` where the file does not say how it is reached.
    pub identity: Option<String>,
    of: Of,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Of {
    /// A launch, and the folder of its command.
    Launch(Found, Option<String>),
    /// A row of an inventory.
    Row(Vec<(String, Value)>),
}

impl Imported {
    /// An entry of `fleet.yaml` under this name, as lines of YAML. `Err`: why a person must write it.
    pub fn entry(&self, name: &str) -> Result<String, String> {
        match &self.of {
            Of::Launch(found, cwd) => {
                let mut entry = configured::entry(name, found)?;
                if let Some(cwd) = cwd {
                    let _ = writeln!(entry, "    cwd: {}", document::scalar(cwd));
                }
                Ok(entry)
            }
            Of::Row(members) => rows::entry(name, members),
        }
    }
}

/// Reads a file. Relative folders in it are written as `folder`, where `fleet.yaml` is, needs them.
pub fn read(path: &Path, folder: &Path) -> Result<(Kind, Vec<Imported>), String> {
    let mut content = String::new();
    let file = net::open_regular(path).map_err(|error| error.to_string())?;
    let read = file.take(LONGEST + 1).read_to_string(&mut content).map_err(|error| error.to_string())?;
    if read as u64 > LONGEST {
        return Err("it is longer than 16 MiB".to_owned());
    }
    let is_markdown = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
    let (kind, servers) = if is_markdown {
        (Kind::Inventory, rows::of_markdown(&content))
    } else {
        let value = text::read(&content, Format::of_path(path)).map_err(|error| {
            let at = error.at.map(|at| format!("line {}: ", at.line)).unwrap_or_default();
            format!("{at}{}", error.what)
        })?;
        of_value(&value, path, folder)
    };
    if servers.is_empty() {
        return Err("it lists no server".to_owned());
    }
    if servers.len() > MOST {
        return Err(format!("it lists {} servers, and at most {MOST} are read: split it", servers.len()));
    }
    Ok((kind, servers))
}

fn of_value(value: &Value, path: &Path, folder: &Path) -> (Kind, Vec<Imported>) {
    let named = |member: &str, client: &str| {
        let entries = value[member].as_object().into_iter().flatten();
        entries.filter_map(|(name, entry)| launched(name, entry, client, path, folder)).collect::<Vec<_>>()
    };
    if value["upstreams"].is_object() {
        return (Kind::Gateway, named("upstreams", "the gateway"));
    }
    if let Some(list) = value.as_array().or_else(|| value["servers"].as_array()) {
        return (Kind::Inventory, rows::of_values(list));
    }
    if value["servers"].is_object() {
        return (Kind::List, named("servers", &file_name(path)));
    }
    let of_client = |client: &clients::Client| {
        let held = plan::held(client, Scope::User, value).into_iter();
        held.filter_map(|one| launched(&one.name, &one.value, &client.id, path, folder)).collect::<Vec<_>>()
    };
    (Kind::Client, clients::clients().iter().map(of_client).find(|found| !found.is_empty()).unwrap_or_default())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn launched(name: &str, entry: &Value, client: &str, path: &Path, folder: &Path) -> Option<Imported> {
    let mut launch = Launch::of_entry(entry)?;
    if let Launch::Stdio { env, .. } = &mut launch {
        // A gateway's variables may be references, and have no text.
        let names = entry["env"].as_object().into_iter().flat_map(|members| members.keys());
        let passed = entry["inherit_env"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let more: Vec<String> = names.map(String::as_str).chain(passed).map(str::to_owned).collect();
        env.extend(more.into_iter().map(|name| (name, String::new())));
        env.sort();
        env.dedup_by(|one, other| one.0 == other.0);
    }
    let cwd = entry["cwd"].as_str().map(|cwd| relative(path, cwd, folder));
    let identity = Some(launch.identity());
    let found = Found { name: name.to_owned(), client: client.to_owned(), file: path.to_owned(), launch };
    Some(Imported { name: name.to_owned(), identity, of: Of::Launch(found, cwd) })
}

/// A folder that a file names, from the folder of `fleet.yaml`.
fn relative(path: &Path, cwd: &str, folder: &Path) -> String {
    let whole = path.parent().unwrap_or(Path::new("")).join(cwd);
    let Ok(whole) = std::path::absolute(whole) else { return cwd.to_owned() };
    match whole.strip_prefix(folder) {
        Ok(inner) if inner.as_os_str().is_empty() => ".".to_owned(),
        Ok(inner) => inner.display().to_string(),
        Err(_) => whole.display().to_string(),
    }
}

/// `fleet.yaml` with further entries at the end of its list of servers. `None` where the list is of a form that cannot be added to.
pub fn added(before: &str, entries: &str) -> Option<String> {
    let (tree, _) = document::read_within(before, crate::config::BOUNDS).ok()?;
    let document::Content::Map(members) = &tree.content else { return None };
    let at = members.iter().position(|member| member.key == "servers")?;
    let first = tree.place("/servers/0");
    let line = before.lines().nth(first.line.checked_sub(1)?)?;
    let indent = line.find("- ").filter(|at| line[..*at].chars().all(|c| c == ' '))?;
    let end = members.get(at + 1).map_or(before.lines().count(), |next| next.at.line.saturating_sub(1));
    let lines: Vec<&str> = before.lines().collect();
    // Comments and empty lines in front of the next member are the next member's.
    let own = lines[..end].iter().rposition(|line| !line.trim().is_empty() && !line.starts_with('#'))? + 1;
    let moved =
        entries.lines().map(|line| format!("{}{}", " ".repeat(indent), line.strip_prefix("  ").unwrap_or(line)));
    let all = lines[..own].iter().map(|line| (*line).to_owned()).chain(moved);
    let all = all.chain(lines[own..].iter().map(|line| (*line).to_owned()));
    Some(all.map(|line| line + "\n").collect())
}

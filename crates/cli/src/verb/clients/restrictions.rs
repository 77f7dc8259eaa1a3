//! What Claude Code may use on this machine: the files of an administrator, and the lists of allowed and denied servers in all its
//! settings.

use std::path::{Path, PathBuf};

use clients::policy::{Author, Decision, Policy};
use clients::reference::has_variable;
use clients::{Client, FileError, Launch, Platform, Position};
use report::render::text::wrap;
use serde_json::{Value, json};

use super::choices::settings;
use super::list::variable;
use super::machine::Machine;
use super::outcome::Refused;
use super::write::{refused_file, unreadable};
use crate::exit::{Exit, usage};
use crate::verb::{given_file, output};

/// The largest file of settings.
const LARGEST: u64 = 4 << 20;

const RULE: &str = "a rule is {\"serverName\": …}, {\"serverCommand\": […]} or {\"serverUrl\": …}";

/// The managed file, and its servers: their names, and why one is denied.
struct Given {
    path: PathBuf,
    servers: Vec<(String, Option<String>)>,
}

/// What was decided, and the servers of the managed file.
#[derive(Default)]
pub(super) struct Restrictions {
    pub(super) policy: Policy,
    given: Option<Given>,
    /// Settings that cannot be read, and rules in them that are unknown.
    pub(super) problems: Vec<Refused>,
}

impl Restrictions {
    /// Reads the files of an administrator from a folder or from that of the system, and the settings of the user. A managed file
    /// that is half understood decides nothing: it is an error. Nothing is read where Claude Code is not asked about.
    pub(super) fn read(machine: &Machine, clients: &[&Client], folder: Option<&Path>) -> Result<Self, Exit> {
        if !clients.iter().any(|client| client.id == "claude-code") {
            return Ok(Self::default());
        }
        let folder = folder.unwrap_or(Path::new(system_folder()));
        let list = folder.join("managed-mcp.json");
        let servers = read(&list)?;
        let mut found = Self::default();
        found.policy.is_exclusive = servers.is_some();
        for path in managed_settings(folder)? {
            let Some(value) = read(&path)? else { continue };
            if let Some(why) = found.add(&path, Author::Administrator, &value).into_iter().next() {
                return Err(usage(&format!("{}: {}", output::shown(&path), wire::escape::line(&why)), RULE));
            }
        }
        for (_, path) in settings(machine) {
            found.add_settings(&path);
        }
        found.given = servers.map(|value| Given { path: list, servers: found.servers(&value) });
        Ok(found)
    }

    fn add(&mut self, path: &Path, author: Author, value: &Value) -> Vec<String> {
        self.policy.add(&output::shown(path), author, value, &variable)
    }

    /// Adds the lists of settings that are not managed. What cannot be read decides nothing, and is said.
    fn add_settings(&mut self, path: &Path) {
        let value = match given_file::text(path, LARGEST) {
            Ok(text) => strict(&text).map_err(|error| refused_file(path, &error)),
            Err(error) if is_absent(&error) => return,
            Err(error) => Err(unreadable(path, &error)),
        };
        match value {
            Ok(value) => {
                let problems = self.add(path, Author::Anyone, &value);
                self.problems.extend(problems.into_iter().map(|what| Refused {
                    place: output::shown(path),
                    what,
                    remedy: RULE.to_owned(),
                    is_drift: false,
                }));
            }
            Err(problem) => self.problems.push(problem),
        }
    }

    /// The servers of the managed file. Denials hold for them, too; they need no permission unless their variables are the user's.
    fn servers(&self, value: &Value) -> Vec<(String, Option<String>)> {
        let servers = value["mcpServers"].as_object().into_iter().flatten();
        let denied = |name: &str, entry: &Value| {
            let launch = Launch::of_entry(entry)?;
            let filled = launch.filled(variable);
            if launch.texts().iter().any(|(_, text)| has_variable(text)) {
                return match self.policy.decide(name, &filled) {
                    Decision::Allowed => None,
                    Decision::Denied(why) => Some(why),
                };
            }
            self.policy.denial(name, &filled)
        };
        servers.map(|(name, entry)| (name.clone(), denied(name, entry))).collect()
    }

    /// The managed file and its servers, in words.
    pub(super) fn words(&self, out: &mut String) {
        let Some(Given { path, servers }) = &self.given else { return };
        let used = servers.iter().filter(|(_, why)| why.is_none());
        let names: Vec<_> = used.map(|(name, _)| wire::escape::line(name).into_owned()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        wrap(out, 0, &format!("Claude Code takes servers from {} alone: {names}.", output::shown(path)));
        for (name, why) in servers {
            if let Some(why) = why {
                wrap(out, 4, &wire::escape::line(&format!("{name} is not used: denied, because {why}")));
            }
        }
    }

    /// The same as JSON.
    pub(super) fn document(&self) -> Value {
        let Some(Given { path, servers }) = &self.given else { return Value::Null };
        let used: Vec<_> = servers.iter().filter(|(_, why)| why.is_none()).map(|(name, _)| name).collect();
        let denied = servers.iter().filter_map(|(name, why)| Some(json!({ "name": name, "why": why.as_ref()? })));
        json!({ "file": path, "servers": used, "denied": denied.collect::<Vec<_>>() })
    }
}

const fn system_folder() -> &'static str {
    match Platform::here() {
        Platform::Linux => "/etc/claude-code",
        Platform::MacOs => "/Library/Application Support/ClaudeCode",
        Platform::Windows => "C:\\Program Files\\ClaudeCode",
    }
}

/// The managed settings, in the order in which they count: the one file, and then those of the folder `managed-settings.d`.
fn managed_settings(folder: &Path) -> Result<Vec<PathBuf>, Exit> {
    let parts = folder.join("managed-settings.d");
    let mut paths = match std::fs::read_dir(&parts) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>(),
        Err(error) if is_absent(&error) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
    .map_err(|error| broken(&parts, &error.to_string()))?;
    let counts = |path: &PathBuf| {
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        !is_hidden && path.extension().is_some_and(|ending| ending == "json")
    };
    paths.retain(counts);
    paths.sort();
    paths.insert(0, folder.join("managed-settings.json"));
    Ok(paths)
}

fn read(path: &Path) -> Result<Option<Value>, Exit> {
    match given_file::text(path, LARGEST) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| broken(path, &error.to_string())),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(broken(path, &error.to_string())),
    }
}

/// Settings as Claude Code 2.1.197 reads them: a file with comments counts as little as a broken one.
fn strict(text: &str) -> Result<Value, FileError> {
    serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|error| {
        let at = Position { line: error.line(), column: error.column() };
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        FileError::new(at, format!("Claude Code cannot read this: {what}"), "write JSON without comments")
    })
}

fn broken(path: &Path, why: &str) -> Exit {
    usage(&format!("cannot read {}: {why}", output::shown(path)), "check the file and its permissions")
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

//! Which servers of a project's `.mcp.json` the user switched off in Claude Code: `disabledMcpjsonServers` of its settings, and of
//! the project in its own file. Reads what it decides, trusts nothing of it.

use serde_json::Value;

use super::files;
use super::machine::Machine;
use crate::verb::output;

/// The names that are switched off, and where.
pub(super) struct Choices(Vec<(String, String)>);

impl Choices {
    /// Reads the settings. A file that cannot be read decides nothing.
    pub(super) fn read(machine: &Machine) -> Self {
        let (home, project) = (machine.variables.home(), &machine.project);
        let settings = [
            project.join(".claude/settings.local.json"),
            project.join(".claude/settings.json"),
            home.join(".claude/settings.json"),
        ];
        let mut found = Vec::new();
        let mut collect = |value: &Value, place: &str| {
            let names = value["disabledMcpjsonServers"].as_array().into_iter().flatten();
            found.extend(names.filter_map(Value::as_str).map(|name| (name.to_owned(), place.to_owned())));
        };
        let read = |path: &std::path::Path| -> Option<Value> { serde_json::from_str(&files::read(path).ok()??).ok() };
        for path in settings {
            if let Some(value) = read(&path) {
                collect(&value, &output::shown(&path));
            }
        }
        let own = home.join(".claude.json");
        if let Some(value) = read(&own) {
            collect(&value["projects"][machine.local_project()], &output::shown(&own));
        }
        Self(found)
    }

    /// Why a server of this name is not used.
    pub(super) fn against(&self, name: &str) -> Option<String> {
        let (_, place) = self.0.iter().find(|(other, _)| other == name)?;
        Some(format!("disabledMcpjsonServers in {place} has it"))
    }
}

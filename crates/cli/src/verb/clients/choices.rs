//! Which servers of a project's `.mcp.json` the user approved or rejected in Claude Code: `enabledMcpjsonServers`,
//! `enableAllProjectMcpServers` and `disabledMcpjsonServers` of its settings, and of the project in its own file.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::files;
use super::machine::Machine;
use crate::verb::output;

/// What the user decided on one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Approval {
    /// It may run, and where that stands.
    Approved(String),
    /// It may not, and why.
    Rejected(String),
    /// Nothing yet. Why an approval that stands in a file does not count, if there is one.
    Pending(Option<String>),
}

/// Where a choice stands. A repository may bring the committed settings, so these need the user's trust in the folder. As Claude
/// Code 2.1.197 does it: `settings.local.json`, which git ignores, counts without.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Own,
    Committed,
}

/// The choices of one file.
struct Choice {
    source: Source,
    place: String,
    enabled: Vec<String>,
    disabled: Vec<String>,
    all: bool,
}

/// All choices, and whether the user trusts the folder.
pub(super) struct Choices {
    files: Vec<Choice>,
    is_trusted: bool,
}

impl Choices {
    /// Reads the settings. A file that cannot be read decides nothing.
    pub(super) fn read(machine: &Machine) -> Self {
        let settings = settings(machine);
        let mut files: Vec<_> =
            settings.iter().filter_map(|(source, path)| Some(Choice::of(*source, path, &value(path)?))).collect();
        let own = machine.variables.path("$CLAUDE_CONFIG_DIR|:.claude.json");
        let projects = value(&own).map(|mut value| value["projects"].take()).unwrap_or_default();
        let here = machine.local_project();
        files.insert(0, Choice::of(Source::Own, &own, &projects[&here]));
        let is_trusted = projects[&here]["hasTrustDialogAccepted"] == true;
        Self { files, is_trusted }
    }

    /// What was decided on a server of this name. A rejection wins, wherever it stands.
    pub(super) fn on(&self, name: &str) -> Approval {
        if let Some(choice) = self.files.iter().find(|choice| choice.disabled.iter().any(|other| other == name)) {
            return Approval::Rejected(format!("disabledMcpjsonServers in {} has it", choice.place));
        }
        let mut ignored = None;
        for choice in &self.files {
            let member = if choice.enabled.iter().any(|other| other == name) {
                "enabledMcpjsonServers"
            } else if choice.all {
                "enableAllProjectMcpServers"
            } else {
                continue;
            };
            let place = format!("{member} in {}", choice.place);
            let counts = choice.source == Source::Own || self.is_trusted;
            if counts {
                return Approval::Approved(place);
            }
            ignored.get_or_insert(format!("{place} does not count before you trust the folder"));
        }
        Approval::Pending(ignored)
    }
}

impl Choice {
    fn of(source: Source, path: &Path, value: &Value) -> Self {
        let names = |member: &str| {
            let names = value[member].as_array().into_iter().flatten();
            names.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self {
            source,
            place: output::shown(path),
            enabled: names("enabledMcpjsonServers"),
            disabled: names("disabledMcpjsonServers"),
            all: value["enableAllProjectMcpServers"] == true,
        }
    }
}

/// The settings of Claude Code here: those of the user, of the user in this project, and of the project. As Claude Code 2.1.197
/// does it, the project is the working directory, not the repository.
pub(super) fn settings(machine: &Machine) -> [(Source, PathBuf); 3] {
    [
        (Source::Own, machine.variables.path("$CLAUDE_CONFIG_DIR|.claude:settings.json")),
        (Source::Own, machine.here.join(".claude/settings.local.json")),
        (Source::Committed, machine.here.join(".claude/settings.json")),
    ]
}

fn value(path: &Path) -> Option<Value> {
    serde_json::from_str(&files::read(path).ok()??).ok()
}

//! Allowed and denied servers in each of Claude Code's settings: it lists those that `proof config effective` says it uses.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Map, Value, json};

use super::{Real, command, list, ours};

const SERVERS: [&str; 2] = ["kept", "barred"];

/// Settings of the user, of the project, and of the user in the project, below the user's folder.
const SETTINGS: [&str; 3] =
    [".claude/settings.json", "project/.claude/settings.json", "project/.claude/settings.local.json"];

/// What Claude Code does with spellings of a URL; the tests of `clients` hold the same table.
const SPELLINGS: &str = include_str!("../../../foundation/clients/tests/claude-code-urls.json");

/// The two that are compared, and the folder of their user.
struct Both<'b> {
    real: &'b Real,
    proof: &'b Path,
    modules: &'b Path,
    folder: &'b Path,
}

/// Where the two differ.
pub(super) fn wrong(real: &Real, proof: &Path, modules: &Path, folder: &Path) -> anyhow::Result<Vec<String>> {
    let both = Both { real, proof, modules, folder };
    let mut wrong = both.commands()?;
    wrong.extend(both.urls()?);
    Ok(wrong)
}

impl Both<'_> {
    /// Where they differ on names and commands, in each file.
    fn commands(&self) -> anyhow::Result<Vec<String>> {
        for name in SERVERS {
            let words = ["add", name, "--client", self.real.id, "--scope", "user", "--no-verify", "--", "true", name];
            ours(self.proof, self.folder, &words)?;
        }
        let deny = json!({ "deniedMcpServers": [{ "serverName": "barred" }] });
        let allow = json!({ "allowedMcpServers": [{ "serverCommand": ["true", "kept"] }] });
        let mut wrong = self.differences("without lists", &SERVERS, &SERVERS)?;
        for file in SETTINGS {
            for rules in [&deny, &allow] {
                self.write(file, rules)?;
                wrong.extend(self.differences(&format!("{file}: {rules}"), &SERVERS, &["kept"])?);
                fs::remove_file(self.folder.join(file))?;
            }
        }
        for name in SERVERS {
            ours(self.proof, self.folder, &["remove", name])?;
        }
        Ok(wrong)
    }

    /// Where they differ on URLs, which all are addresses of this machine.
    fn urls(&self) -> anyhow::Result<Vec<String>> {
        let rows: Vec<Value> = serde_json::from_str(SPELLINGS).context("the table of URLs")?;
        let mut wrong = Vec::new();
        for group in rows.chunk_by(|a, b| a["list"] == b["list"] && a["serverUrl"] == b["serverUrl"]) {
            let names: Vec<String> = (0..group.len()).map(|index| format!("url-{index}")).collect();
            let entry = |(name, row): (&String, &Value)| (name.clone(), json!({ "type": "http", "url": row["url"] }));
            let servers: Map<String, Value> = names.iter().zip(group).map(entry).collect();
            // `proof add` refuses some of these URLs.
            self.write(".claude.json", &json!({ "mcpServers": servers }))?;
            let (list, pattern) = (group[0]["list"].as_str().context("a list")?, &group[0]["serverUrl"]);
            self.write(SETTINGS[0], &json!({ list: [{ "serverUrl": pattern }] }))?;
            let all: Vec<&str> = names.iter().map(String::as_str).collect();
            let is_used = |(_, row): &(&&str, &Value)| row["used"] == true;
            let used: Vec<&str> = all.iter().zip(group).filter(is_used).map(|(name, _)| *name).collect();
            wrong.extend(self.differences(&format!("{list} {pattern}"), &all, &used)?);
        }
        fs::remove_file(self.folder.join(".claude.json"))?;
        fs::remove_file(self.folder.join(SETTINGS[0]))?;
        Ok(wrong)
    }

    fn write(&self, file: &str, value: &Value) -> anyhow::Result<()> {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().unwrap_or(self.folder))?;
        fs::write(&path, value.to_string()).with_context(|| format!("cannot write {}", path.display()))
    }

    fn differences(&self, what: &str, names: &[&str], expected: &[&str]) -> anyhow::Result<Vec<String>> {
        let theirs = list(self.real, self.modules, self.folder)?;
        let is_listed = |name: &&str| theirs.lines().any(|line| line.starts_with(&format!("{name}:")));
        let listed: Vec<&str> = names.iter().copied().filter(is_listed).collect();
        let ran = command(self.proof, self.folder)
            .args(["config", "effective", "--client", self.real.id, "--json"])
            .output()
            .context("cannot start proof")?;
        let document: Value = serde_json::from_slice(&ran.stdout).context("proof config effective prints no JSON")?;
        let is_used = |name: &&str| {
            let entries = document["entries"].as_array().into_iter().flatten();
            entries.into_iter().any(|entry| entry["name"] == *name && entry["standing"] == "used")
        };
        let used: Vec<&str> = names.iter().copied().filter(is_used).collect();
        let mut wrong = Vec::new();
        if listed != expected {
            wrong.push(format!("{what}: it lists {listed:?}, expected {expected:?}"));
        }
        if used != listed {
            wrong.push(format!("{what}: it lists {listed:?}, proof says {used:?}"));
        }
        Ok(wrong)
    }
}

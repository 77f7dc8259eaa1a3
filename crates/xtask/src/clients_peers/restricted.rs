//! Allowed and denied servers in each of Claude Code's settings: it lists those that `proof config effective` says it uses.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{Real, command, list, ours};

const SERVERS: [&str; 2] = ["kept", "barred"];

/// Settings of the user, of the project, and of the user in the project, below the user's folder.
const SETTINGS: [&str; 3] =
    [".claude/settings.json", "project/.claude/settings.json", "project/.claude/settings.local.json"];

/// Where the two differ.
pub(super) fn wrong(real: &Real, proof: &Path, modules: &Path, folder: &Path) -> anyhow::Result<Vec<String>> {
    for name in SERVERS {
        ours(proof, folder, &["add", name, "--client", real.id, "--scope", "user", "--no-verify", "--", "true", name])?;
    }
    let deny = json!({ "deniedMcpServers": [{ "serverName": "barred" }] });
    let allow = json!({ "allowedMcpServers": [{ "serverCommand": ["true", "kept"] }] });
    let mut wrong = differences("without lists", real, proof, modules, folder, &SERVERS)?;
    for file in SETTINGS {
        for rules in [&deny, &allow] {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(&path, rules.to_string()).with_context(|| format!("cannot write {}", path.display()))?;
            wrong.extend(differences(&format!("{file}: {rules}"), real, proof, modules, folder, &["kept"])?);
            fs::remove_file(&path)?;
        }
    }
    for name in SERVERS {
        ours(proof, folder, &["remove", name])?;
    }
    Ok(wrong)
}

fn differences(
    what: &str,
    real: &Real,
    proof: &Path,
    modules: &Path,
    folder: &Path,
    expected: &[&str],
) -> anyhow::Result<Vec<String>> {
    let theirs = list(real, modules, folder)?;
    let listed: Vec<_> =
        SERVERS.into_iter().filter(|name| theirs.lines().any(|line| line.starts_with(&format!("{name}:")))).collect();
    let ran = command(proof, folder)
        .args(["config", "effective", "--client", real.id, "--json"])
        .output()
        .context("cannot start proof")?;
    let document: Value = serde_json::from_slice(&ran.stdout).context("proof config effective prints no JSON")?;
    let is_used = |name: &str| {
        let entries = document["entries"].as_array().into_iter().flatten();
        entries.into_iter().any(|entry| entry["name"] == name && entry["standing"] == "used")
    };
    let used: Vec<_> = SERVERS.into_iter().filter(|name| is_used(name)).collect();
    let mut wrong = Vec::new();
    if listed != expected {
        wrong.push(format!("{what}: it lists {listed:?}, expected {expected:?}"));
    }
    if used != listed {
        wrong.push(format!("{what}: it lists {listed:?}, proof says {used:?}"));
    }
    Ok(wrong)
}

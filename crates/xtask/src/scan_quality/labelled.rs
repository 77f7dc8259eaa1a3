//! Descriptions of tools with a label, of several sources.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use guard::scan::{Severity, items};
use serde_json::{Value, json};

/// What is known of one source: of poisoned descriptions and of others, how many, and how many with a finding.
type Counts = [[usize; 2]; 2];

const HEAD: &str = "
## Servers written as targets of scanners

Other projects wrote these servers. A description is poisoned if it gives the model orders; the other
tools of these servers do harm, if they do, under a description that does not show it. Each was scanned alone.

At first try (2026-11-27), before anybody had read them, `scan` found 14 of the 26 poisoned ones, and 6 of the 186 others. Three of
the six were false alarms: *system maintenance* counted as a pretext, twice. A pretext alone is no finding any more. The table is
of after that, and after phrases for labels such as `[SYSTEM DIRECTIVE]` and for safeguards that are switched off: it is not blind.

| source | poisoned | found | others | found |
|---|---|---|---|---|
";

/// Writes the section.
pub(super) fn section(page: &mut String, file: &Path) -> anyhow::Result<()> {
    let rows: Vec<Value> = serde_json::from_slice(&fs::read(file)?)
        .with_context(|| format!("{} has no labelled texts", file.display()))?;
    let mut sets: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut wrong = String::new();
    for row in &rows {
        let (set, name) = (row["set"].as_str().context("no `set`")?, &row["name"]);
        let is_poisoned = row["poisoned"].as_bool().context("no `poisoned`")?;
        let tool = json!({"name": name, "description": row["description"], "inputSchema": {"type": "object"}});
        let scan = super::scanned(&items(&json!({"tools": [tool]}), set));
        let is_found = scan.worst() >= Some(Severity::Medium);
        let counts = &mut sets.entry(set).or_default()[usize::from(!is_poisoned)];
        counts[0] += 1;
        counts[1] += usize::from(is_found);
        if is_poisoned != is_found {
            let what = if is_found { "found, not poisoned" } else { "missed" };
            let _ = writeln!(wrong, "| {} of {set} | {what} |", name.as_str().unwrap_or_default());
        }
    }
    page.push_str(HEAD);
    for (set, [poisoned, others]) in sets {
        let _ = writeln!(page, "| {set} | {} | {} | {} | {} |", poisoned[0], poisoned[1], others[0], others[1]);
    }
    let _ = write!(page, "\n| tool | |\n|---|---|\n{wrong}");
    Ok(())
}

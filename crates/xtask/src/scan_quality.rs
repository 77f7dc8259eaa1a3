//! `cargo xtask scan-quality`: what `guard` finds in benign and in hostile corpora, and in probes that are made here. Writes
//! docs/scan-quality.md. The corpora are read from a folder and are no part of the project.

mod probes;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use guard::scan::{Item, RULES, Scan, Scanner, Severity, items};
use serde_json::Value;

use crate::words::{Words, help};
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask scan-quality [--benign FILE]… [--hostile FOLDER]

  --benign FILE      lists of tools that do no harm: JSON of any shape that `proof scan` reads; may be repeated
  --hostile FOLDER   files of MCP-SafetyBench, whose `mcp_server_modifications` replace descriptions

Without options, only the probes are scanned, and nothing is written.";

/// The most benign tools with a finding of medium severity, per mille, and the least of poisoned ones, per cent.
const MOST_BENIGN: usize = 10;
const LEAST_POISONED: usize = 70;

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let (mut benign, mut hostile) = (Vec::new(), None);
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--benign" => benign.push(PathBuf::from(words.value()?)),
            "--hostile" => hostile = Some(PathBuf::from(words.value()?)),
            _ => return Err(words.unknown()),
        }
    }
    let (probes, all_probes) = probes::section();
    let mut page = String::from(HEAD);
    let mut met = all_probes;
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for path in &benign {
        met &= benign_section(&mut page, path, &mut counts)?;
    }
    if let Some(folder) = &hostile {
        met &= hostile_section(&mut page, folder)?;
    }
    rules_section(&mut page, &counts);
    page.push_str(&probes);
    if benign.is_empty() || hostile.is_none() {
        println!("{page}");
    } else {
        fs::write(root().join("docs/scan-quality.md"), &page)?;
        println!("docs/scan-quality.md");
    }
    Ok(met)
}

const HEAD: &str = "# How good `proof scan` is

Made by `cargo xtask scan-quality --benign FILE [--benign FILE]… --hostile FOLDER`. The corpora are public and are not part of this project:

- benign: `tools.json` of LiveMCPBench (icip-cas/LiveMCPBench), and the distinct functions of BFCL v4
  (ShishirPatil/gorilla, the files for Python, Java, JavaScript and the live ones, put together as one JSON array)
- hostile: the tasks of MCP-SafetyBench (xjzzzzzzzz/MCPSafety) that replace a description

Limits of these numbers: the phrases were written after descriptions of both halves had been read, and tuned on LiveMCPBench and on
the misses of one half. Many descriptions of the two halves follow the same templates. So the held-out half shows that nothing
was fitted to single texts, not how other attacks would fare. The BFCL functions were scanned after tuning, and nothing was
changed for them.
";

fn scanned(items: &[(String, Item)]) -> Scan {
    let mut scanner = Scanner::new();
    for (server, item) in items {
        scanner.item(server, item);
    }
    scanner.finish()
}

fn benign_section(
    page: &mut String,
    path: &Path,
    counts: &mut BTreeMap<&'static str, [usize; 3]>,
) -> anyhow::Result<bool> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let value: Value = serde_json::from_slice(&fs::read(path).with_context(|| name.clone())?)?;
    let found = items(&value, &name);
    let servers: BTreeSet<&String> = found.iter().map(|(server, _)| server).collect();
    let scan = scanned(&found);
    let mut flagged = BTreeSet::new();
    for finding in &scan.findings {
        let at = match finding.severity {
            Severity::High => 2,
            Severity::Medium => 1,
            _ => 0,
        };
        counts.entry(finding.rule.id).or_default()[at] += 1;
        if finding.severity >= Severity::Medium && !finding.place.item.is_empty() {
            flagged.insert((&finding.place.server, &finding.place.item));
        }
    }
    let high = scan.findings.iter().filter(|finding| finding.severity == Severity::High).count();
    let _ = writeln!(
        page,
        "\n## Benign: {name}\n\n{} servers, {} tools, {} strings. Findings of severity high: **{high}** (target: 0). Tools with a \
         finding of severity medium or above: **{}** (target: at most 1 %).",
        servers.len(),
        found.len(),
        scan.strings,
        flagged.len()
    );
    Ok(high == 0 && scan.incomplete.is_empty() && flagged.len() * 1000 <= found.len() * MOST_BENIGN)
}

/// Half of the descriptions, by a hash that depends on nothing but the text.
fn is_held_out(text: &str) -> bool {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    digest.as_ref()[0] % 2 == 1
}

fn hostile_section(page: &mut String, folder: &Path) -> anyhow::Result<bool> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let mut halves = [[0; 3]; 2];
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let value: Value = serde_json::from_slice(&fs::read(file)?)?;
        for (server, item) in items(&value, "task") {
            let Some(text) = item.value["description"].as_str() else { continue };
            let half = &mut halves[usize::from(is_held_out(text))];
            let worst = scanned(&[(server, item.clone())]).worst();
            half[0] += 1;
            half[1] += usize::from(worst >= Some(Severity::Medium));
            half[2] += usize::from(worst == Some(Severity::High));
        }
    }
    page.push_str("\n## Hostile: poisoned descriptions of MCP-SafetyBench\n\n");
    page.push_str("| half | descriptions | medium or above | high |\n|---|---|---|---|\n");
    let mut met = true;
    for (name, [all, medium, high]) in ["tuning", "held out"].into_iter().zip(halves) {
        let share = |number: usize| number * 1000 / all.max(1);
        let cell = |number: usize| format!("{number} ({}.{} %)", share(number) / 10, share(number) % 10);
        let _ = writeln!(page, "| {name} | {all} | {} | {} |", cell(medium), cell(high));
        met &= all > 0 && share(medium) >= LEAST_POISONED * 10;
    }
    page.push_str("\nTarget: at least 70 % at severity medium or above. Each description was scanned alone.\n");
    Ok(met)
}

fn rules_section(page: &mut String, counts: &BTreeMap<&str, [usize; 3]>) {
    page.push_str("\n## Findings in all benign corpora, by rule\n\n");
    page.push_str("| rule | low or info | medium | high |\n|---|---|---|---|\n");
    for rule in RULES {
        let [low, medium, high] = counts.get(rule.id).copied().unwrap_or_default();
        let _ = writeln!(page, "| `{}` | {low} | {medium} | {high} |", rule.id);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_probe_is_found_and_no_near_miss() {
        let (section, all) = super::probes::section();
        assert!(all, "{section}");
    }
}

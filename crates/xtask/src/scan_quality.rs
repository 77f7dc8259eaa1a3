//! `cargo xtask scan-quality`: what `guard` finds in benign and in hostile corpora, in real servers, and in probes that are made
//! here. Writes docs/scan-quality.md. The corpora are read from a folder and are no part of the project.

mod labelled;
mod probes;
mod rates;
mod real;
mod yara;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use guard::scan::{Item, Scan, Scanner, Severity, items};
use serde_json::Value;

use crate::peers::{build_for_development, proof};
use crate::words::{Words, help};
use crate::{Verdict, root};
use rates::Rates;
use yara::{Rules, Text};

const USAGE: &str = "usage: cargo xtask scan-quality [--benign FILE]… [--hostile FOLDER] [--labelled FILE] [--real] [--proof PATH] [--python PATH --yara NAME=FOLDER…]

  --benign FILE        lists of tools that do no harm: JSON of any shape that `proof scan` reads; may be repeated
  --hostile FOLDER     files of MCP-SafetyBench, whose `mcp_server_modifications` replace descriptions
  --labelled FILE      descriptions with labels, as peers/scanners/labelled_texts.py prints them
  --real               lists of every installed server (`cargo xtask peers --install-only`, with --more for the second set),
                       and `proof scan --intrusive` on those that may be attacked here and on the weak ones
  --proof PATH         use this binary for --real instead of building `proof` first
  --yara NAME=FOLDER   count what YARA rules find in the same texts; may be repeated
  --python PATH        a Python with yara-python, for --yara [default: python3]

Without options, only the probes are scanned. docs/scan-quality.md is written with --benign, --hostile and --real together.";

/// The most benign tools with a finding of medium severity, per mille, and the least of poisoned ones, per cent.
const MOST_BENIGN: usize = 10;
const LEAST_POISONED: usize = 70;
/// The least that a benign corpus must have.
const SERVERS: usize = 60;
const TOOLS: usize = 800;

#[derive(Default)]
struct Options {
    benign: Vec<PathBuf>,
    hostile: Option<PathBuf>,
    labelled: Option<PathBuf>,
    is_real: bool,
    proof: Option<PathBuf>,
    yara: Vec<Rules>,
    python: Option<String>,
}

impl Options {
    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut options = Self::default();
        let mut words = Words::of(args, USAGE);
        while let Some(option) = words.option() {
            match option {
                "--benign" => options.benign.push(PathBuf::from(words.value()?)),
                "--hostile" => options.hostile = Some(PathBuf::from(words.value()?)),
                "--labelled" => options.labelled = Some(PathBuf::from(words.value()?)),
                "--real" => options.is_real = true,
                "--proof" => options.proof = Some(PathBuf::from(words.value()?)),
                "--python" => options.python = Some(words.value()?.to_owned()),
                "--yara" => {
                    let (name, folder) = words.value()?.split_once('=').context("--yara wants NAME=FOLDER")?;
                    options.yara.push(Rules { name: name.to_owned(), folder: folder.into() });
                }
                _ => return Err(words.unknown()),
            }
        }
        Ok(options)
    }
}

/// What was scanned so far.
#[derive(Default)]
struct Totals {
    rates: Rates,
    servers: usize,
    tools: usize,
    /// By set: its name, all items, and those with a finding of severity medium or above.
    sets: Vec<(&'static str, usize, usize)>,
    texts: Vec<Text>,
}

impl Totals {
    fn count(&mut self, set: &'static str, all: usize, flagged: usize) {
        match self.sets.iter_mut().find(|one| one.0 == set) {
            Some(one) => (one.1, one.2) = (one.1 + all, one.2 + flagged),
            None => self.sets.push((set, all, flagged)),
        }
    }
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let options = Options::parse(args)?;
    let (probes, all_probes) = probes::section();
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let today: String = wire::timestamp::rfc3339(since_epoch).chars().take(10).collect();
    let mut page = HEAD.replace("{today}", &today);
    let (mut met, mut totals) = (all_probes, Totals::default());
    for path in &options.benign {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = fs::read(path).with_context(|| name.clone())?;
        let value: Value = serde_json::from_slice(&bytes)?;
        met &= benign_section(&mut page, &name, &value, &mut totals);
        let _ = writeln!(page, "\nSHA-256 of the file: `{}`.", sha256(&bytes));
    }
    let proof = if options.is_real { Some(binary(&options)?) } else { None };
    if let Some(proof) = &proof {
        let (lists, silent) = real::lists(proof)?;
        met &= benign_section(&mut page, "real servers", &lists, &mut totals);
        if !silent.is_empty() {
            let _ = writeln!(page, "\nInstalled, but listed nothing on this machine: {}.", silent.join(", "));
        }
    }
    let (servers, tools) = (totals.servers, totals.tools);
    let _ = writeln!(page, "\nAll benign corpora together: {servers} servers, {tools} tools.");
    if let Some(folder) = &options.hostile {
        met &= hostile_section(&mut page, folder, &mut totals)?;
    }
    if let Some(file) = &options.labelled {
        labelled::section(&mut page, file)?;
    }
    rates::section(&mut page, &totals.rates, &probes::rates());
    page.push_str(&probes);
    if !options.yara.is_empty() {
        let python = options.python.as_deref().unwrap_or("python3");
        yara::section(&mut page, python, &options.yara, &totals.sets, &totals.texts)?;
    }
    if let Some(proof) = &proof {
        met &= real::intrusive_section(&mut page, proof)?;
    }
    if options.benign.is_empty() || options.hostile.is_none() || proof.is_none() {
        println!("{page}");
    } else {
        met &= servers >= SERVERS && tools >= TOOLS;
        fs::write(root().join("docs/scan-quality.md"), &page)?;
        println!("docs/scan-quality.md");
    }
    Ok(met)
}

fn sha256(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn binary(options: &Options) -> anyhow::Result<PathBuf> {
    match &options.proof {
        Some(path) => proof(Some(path)),
        None => build_for_development(),
    }
}

const HEAD: &str = "# How good `proof scan` is

Made by this command on {today}; the corpora are public and are not part of this project:

    cargo xtask scan-quality --benign livemcp.json --benign bfcl.json --hostile FOLDER --labelled labelled.json --real \\
        --python VENV/bin/python --yara 'Cisco=FOLDER' --yara 'Ramparts=FOLDER'

| corpus | repository | commit | date |
|---|---|---|---|
| `livemcp.json`: `tools/LiveMCPTool/tools.json` of LiveMCPBench | icip-cas/LiveMCPBench | `a928e57d` | 2025-08-18 |
| `bfcl.json`: the distinct functions of BFCL v4 (Python, Java, JavaScript, live), as one JSON array | ShishirPatil/gorilla | `6ea57973` | 2026-03-23 |
| hostile: tasks of MCP-SafetyBench that replace a description | xjzzzzzzzz/MCPSafety | `7872437b` | 2025-12-18 |
| labelled: `peers/scanners/labelled_texts.py` | cisco-ai-defense/mcp-scanner | `893327c2` | 2026-08-06 |
| | AIS2Lab/MCPSecBench | `7eb773d` | 2025-08-09 |
| | harishsg993010/damn-vulnerable-MCP-server | `c7cb1e9` | 2025-04-28 |
| real servers: `peers/versions.txt`, from npm and PyPI | – | – | 2026-11 |
| Cisco's YARA rules: PyPI `cisco-ai-mcp-scanner` 4.8.7 | – | – | 2026-11 |
| Ramparts' YARA rules: `rules/pre` (the crate `ramparts` 0.8.10 holds no rule) | highflame-ai/ramparts | `33dcebdc` | 2026-01-05 |

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

fn benign_section(page: &mut String, name: &str, value: &Value, totals: &mut Totals) -> bool {
    let found = items(value, name);
    let servers: BTreeSet<&String> = found.iter().map(|(server, _)| server).collect();
    let scan = scanned(&found);
    let mut flagged = BTreeSet::new();
    for finding in &scan.findings {
        totals.rates.benign(finding);
        if finding.severity >= Severity::Medium && !finding.place.item.is_empty() {
            flagged.insert((&finding.place.server, &finding.place.item));
        }
    }
    totals.servers += servers.len();
    totals.tools += found.len();
    totals.count("benign", found.len(), flagged.len());
    totals.texts.extend(found.iter().map(|(_, item)| ("benign", item.value.to_string())));
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
    flagged_table(page, &scan);
    high == 0 && scan.incomplete.is_empty() && flagged.len() * 1000 <= found.len() * MOST_BENIGN
}

/// What readers have to judge by themselves: whether a finding is a false alarm.
fn flagged_table(page: &mut String, scan: &Scan) {
    let mut rows = Vec::new();
    for finding in scan.findings.iter().filter(|finding| finding.severity >= Severity::Medium) {
        let place = &finding.place;
        let of =
            if place.item.is_empty() { place.server.clone() } else { format!("{} of {}", place.item, place.server) };
        let (of, message) = (of.replace('|', "\\|"), finding.message.replace('|', "\\|"));
        rows.push(format!("| {} | `{}` | {message} |\n", wire::escape::line(&of), finding.rule.id));
    }
    if !rows.is_empty() {
        rows.sort();
        let _ = write!(page, "\n| tool | rule | finding |\n|---|---|---|\n{}", rows.concat());
    }
}

/// Half of the descriptions, by a hash that depends on nothing but the text.
fn is_held_out(text: &str) -> bool {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    digest.as_ref()[0] % 2 == 1
}

fn hostile_section(page: &mut String, folder: &Path, totals: &mut Totals) -> anyhow::Result<bool> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let mut halves = [[0; 3]; 2];
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let value: Value = serde_json::from_slice(&fs::read(file)?)?;
        for (server, item) in items(&value, "task") {
            let Some(text) = item.value["description"].as_str() else { continue };
            let half = &mut halves[usize::from(is_held_out(text))];
            let scan = scanned(&[(server, item.clone())]);
            let worst = scan.worst();
            totals.rates.hostile(&scan);
            totals.count("poisoned", 1, usize::from(worst >= Some(Severity::Medium)));
            totals.texts.push(("poisoned", item.value.to_string()));
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

#[cfg(test)]
mod tests {
    #[test]
    fn every_probe_is_found_and_no_near_miss() {
        let (section, all) = super::probes::section();
        assert!(all, "{section}");
    }
}

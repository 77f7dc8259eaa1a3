//! Rules of other scanners on the same texts: YARA files, run by `peers/scanners/yara_rates.py` with yara-python.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::root;

/// A folder of rules under a name.
pub(super) struct Rules {
    pub(super) name: String,
    pub(super) folder: PathBuf,
}

/// A text with the set that it belongs to.
pub(super) type Text = (&'static str, String);

/// What other rules flag, a row for each folder of rules.
pub(super) fn section(
    page: &mut String,
    python: &str,
    rules: &[Rules],
    ours: &[(&str, usize, usize)],
    texts: &[Text],
) -> anyhow::Result<()> {
    page.push_str("\n## Rules of other scanners on the same tools\n\nItems with at least one match; of `proof scan`, with a finding of severity medium or above. Name, description and schema were one text.\n\n| rules |");
    let sets: Vec<&str> = ours.iter().map(|(set, ..)| *set).collect();
    for set in &sets {
        let _ = write!(page, " {set} |");
    }
    let _ = write!(page, "\n|---|{}\n| `proof scan` |", "---|".repeat(sets.len()));
    for (_, all, flagged) in ours {
        let _ = write!(page, " {flagged} of {all} |");
    }
    page.push('\n');
    for one in rules {
        let counts = counted(python, one, texts)?;
        let files = counts["rules"].as_u64().unwrap_or_default();
        ensure!(files > 0, "{} has no file of rules", one.folder.display());
        let _ = write!(page, "| {} ({files} files) |", one.name);
        for set in &sets {
            let of = |at: usize| counts["sets"][set][at].as_u64().unwrap_or_default();
            let _ = write!(page, " {} of {} |", of(1), of(0));
        }
        page.push('\n');
    }
    Ok(())
}

fn counted(python: &str, rules: &Rules, texts: &[Text]) -> anyhow::Result<Value> {
    let mut run = Command::new(python);
    run.arg(root().join("peers/scanners/yara_rates.py"))
        .arg(&rules.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = run.spawn().with_context(|| format!("{python} does not start"))?;
    let mut input = child.stdin.take().context("no standard input")?;
    for (set, text) in texts {
        writeln!(input, "{}", json!({ "set": set, "text": text }))?;
    }
    drop(input);
    let ran = child.wait_with_output()?;
    ensure!(ran.status.success(), "the rules of {} do not run: install yara-python for {python}", rules.name);
    Ok(serde_json::from_slice(&ran.stdout)?)
}

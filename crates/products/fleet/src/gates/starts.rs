//! `starts`: the server answers and lists what it has. And what it lists, as the other gates need it.

use serde_json::{Value, json};

use super::{Ended, Material, text};
use crate::digest;
use crate::gate::{Finding, Judged};
use crate::words::counted;

/// What a server lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// The digest of all that it lists.
    pub digest: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The newest revision that it was asked in.
    pub revision: String,
    /// How many tools.
    pub tools: u64,
    /// How many prompts.
    pub prompts: u64,
    /// How many resources.
    pub resources: u64,
    /// How many modules: tools that share the beginning of their names count as one.
    pub modules: u64,
}

impl Surface {
    /// Of a snapshot; `None` if it is no snapshot.
    pub fn of(snapshot: &Value) -> Option<Self> {
        if snapshot["schema"].as_str() != Some("proof.snapshot/1") {
            return None;
        }
        let count = |member: &str| snapshot[member].as_array().map_or(0, |list| list.len() as u64);
        Some(Self {
            digest: digest::of_value(snapshot),
            name: text(&snapshot["server"], "name"),
            version: text(&snapshot["server"], "version"),
            revision: text(snapshot, "revision"),
            tools: count("tools"),
            prompts: count("prompts"),
            resources: count("resources") + count("resourceTemplates"),
            modules: modules(snapshot),
        })
    }
}

/// Tools whose names begin with the same word, where at least two do.
fn modules(snapshot: &Value) -> u64 {
    let names = super::list(snapshot, "tools").filter_map(|tool| tool["name"].as_str());
    let mut words: Vec<&str> = names
        .filter_map(|name| name.split(['_', '-', '.', '/']).next().filter(|word| word.len() < name.len()))
        .collect();
    words.sort_unstable();
    words.chunk_by(|one, other| one == other).filter(|group| group.len() > 1).count() as u64
}

/// A server that does not answer, with what it wrote on stderr.
fn silent(ended: &Ended, material: &Material<'_>) -> Judged {
    let reason = ended.reason().unwrap_or_else(|| "it does not say why".to_owned());
    let lines = quoted(&ended.stderr);
    let message = if lines.is_empty() {
        wire::escape::snippet(&reason, 200)
    } else {
        format!("{}; stderr: {}", wire::escape::snippet(&reason, 90), end_of(&lines.join(" | "), 190))
    };
    let finding = Finding {
        rule: "no-answer".to_owned(),
        level: "fail".to_owned(),
        place: String::new(),
        message,
        fix: format!("try it: proof client tools {}", crate::launch::typed(material.server)),
        fails: true,
    };
    let last = lines.last().copied().unwrap_or(&reason);
    let summary = format!("the server gave no MCP answer: {}", wire::escape::snippet(last, 200));
    Judged { summary, ..Judged::by_findings(vec![finding], "") }
}

/// The lines of the server that `proof` quotes in its error.
fn quoted(stderr: &str) -> Vec<&str> {
    let lines = stderr.lines().skip_while(|line| line.trim() != "its last lines on stderr:").skip(1);
    lines.take_while(|line| line.starts_with("    ")).map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// The end of a text: the reason stands in the last lines.
fn end_of(text: &str, most: usize) -> String {
    let count = text.chars().count();
    let end: String = text.chars().skip(count.saturating_sub(most)).collect();
    if count > most { format!("…{end}") } else { end }
}

pub(super) fn judge(material: &Material<'_>) -> Result<Judged, String> {
    let ended = material.only()?;
    if ended.code == Some(3) {
        return Ok(silent(ended, material));
    }
    let snapshot = ended.report("proof.snapshot/1")?;
    let surface = Surface::of(snapshot).ok_or("the snapshot cannot be read")?;
    let mut findings = Vec::new();
    if let Some(expected) = material.server.tools.filter(|expected| *expected != surface.tools) {
        findings.push(Finding {
            rule: "tools".to_owned(),
            level: "fail".to_owned(),
            place: "tools".to_owned(),
            message: format!("lists {}; the inventory says {expected}", counted(surface.tools, "tool")),
            fix: "correct `tools` of the entry, or the server".to_owned(),
            fails: true,
        });
    }
    let listed = surface.tools + surface.prompts + surface.resources;
    if listed == 0 {
        findings.push(Finding {
            rule: "empty".to_owned(),
            level: "fail".to_owned(),
            place: String::new(),
            message: "lists no tool, prompt or resource".to_owned(),
            fix: "look at its configuration".to_owned(),
            fails: true,
        });
    }
    let green = format!("answers at {} in {} ms: {}", surface.revision, ended.ms, counted(surface.tools, "tool"));
    let mut judged = Judged::by_findings(findings, green);
    judged.facts = json!({
        "start_ms": ended.ms, "tools": surface.tools, "prompts": surface.prompts, "resources": surface.resources,
        "revision": surface.revision,
    });
    Ok(judged)
}

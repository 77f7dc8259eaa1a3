//! Gates as functions of what `proof` reported: JSON in, outcome and findings out. Must not start anything or read a file.
//! Whatever is not understood makes a gate incomplete: a missing report is no pass.

mod checklist;
mod conforms;
mod described;
mod evaluated;
mod fast;
mod listed;
mod locked;
mod scanned;
mod starts;
mod tested;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::config::{Server, Thresholds};
use crate::gate::{GateKind, Judged, Outcome};

pub use self::listed::judge as listed;
pub use self::starts::Surface;

/// How a message of `proof` begins, and the lines into which it was broken.
const ERROR: &str = "error: ";
const HANGING: &str = "       ";

/// How a command ended, and the JSON document that it wrote.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// Its exit code; `None` where it was killed.
    pub code: Option<i32>,
    /// Why it was killed, or could not be started.
    pub stopped: Option<String>,
    /// What it wrote, if it is JSON.
    pub document: Option<Value>,
    /// The end of what it wrote to stderr.
    pub stderr: String,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

/// What a gate is judged by.
#[derive(Debug)]
pub struct Material<'m> {
    /// The entry.
    pub server: &'m Server,
    /// What makes gates green.
    pub thresholds: &'m Thresholds,
    /// What the server lists now.
    pub surface: &'m Surface,
    /// How the commands of the gate ended, in order.
    pub ended: &'m [Ended],
    /// The names of the cases that expect a refusal, where the gate runs tests.
    pub negatives: &'m [String],
}

/// What comes of a gate: its texts are whole, so that secrets are found in them before they are cut.
pub fn judge(kind: GateKind, material: &Material<'_>) -> Judged {
    let judged = match kind {
        GateKind::Listed => Ok(listed::judge(material.server)),
        GateKind::Starts => starts::judge(material),
        GateKind::Described => described::judge(material),
        GateKind::Conforms => conforms::judge(material),
        GateKind::Tested => tested::judge(material),
        GateKind::Scanned => scanned::judge(material),
        GateKind::Locked => locked::judge(material),
        GateKind::Fast => fast::judge(material),
        GateKind::Ready => checklist::judge(material),
        GateKind::Evaluated => evaluated::judge(material),
        GateKind::Signed => evaluated::signed(material),
    };
    judged.unwrap_or_else(|why| Judged::new(Outcome::Incomplete, why))
}

impl Ended {
    /// The document, where the command ended with 0 or 1 and wrote one of this schema. Everything else is no report.
    fn report(&self, schema: &str) -> Result<&Value, String> {
        let document = self.any_report()?;
        match document["schema"].as_str() {
            Some(found) if found == schema => Ok(document),
            Some(found) => Err(format!("the report is a {}, not a {schema}", wire::escape::snippet(found, 40))),
            None => Err(format!("the report is no {schema}")),
        }
    }

    /// The document, where the command ended with 0 or 1 and wrote one.
    fn any_report(&self) -> Result<&Value, String> {
        if let Some(why) = &self.stopped {
            return Err(why.clone());
        }
        match self.code {
            Some(0 | 1) => {}
            Some(3) => return Err(self.with_reason("the server gave no MCP answer")),
            Some(code) => return Err(self.with_reason(&format!("`proof` ended with code {code}"))),
            None => return Err("`proof` was ended by a signal".to_owned()),
        }
        self.document.as_ref().ok_or_else(|| self.with_reason("`proof` wrote no report"))
    }

    /// With the first line that the command wrote for people.
    fn with_reason(&self, what: &str) -> String {
        let line = self.reason();
        line.map_or_else(|| what.to_owned(), |line| format!("{what}: {}", wire::escape::snippet(&line, 200)))
    }

    /// The first line that the command wrote for people, with those into which it was broken.
    fn reason(&self) -> Option<String> {
        let mut lines = self.stderr.lines().skip_while(|line| line.trim().is_empty());
        let first = lines.next()?.trim();
        let rest = lines.take_while(|line| line.starts_with(HANGING)).map(str::trim);
        let first = first.strip_prefix(ERROR).unwrap_or(first);
        Some(std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" "))
    }

    /// Whether the exit code and the report's own verdict agree.
    fn agrees(&self, passed: bool) -> Result<bool, String> {
        match (self.code, passed) {
            (Some(0), true) => Ok(true),
            (Some(1), false) => Ok(false),
            _ => Err("the report and the exit code disagree".to_owned()),
        }
    }
}

impl Material<'_> {
    fn only(&self) -> Result<&Ended, String> {
        self.ended.first().ok_or_else(|| "nothing was run".to_owned())
    }
}

/// A text member; empty where it is missing.
fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_default().to_owned()
}

/// A list member.
fn list<'v>(value: &'v Value, member: &str) -> impl Iterator<Item = &'v Value> {
    value[member].as_array().into_iter().flatten()
}

/// A number that must be there.
fn number(value: &Value, member: &str) -> Result<u64, String> {
    value[member].as_u64().ok_or_else(|| format!("the report has no `{member}`"))
}

/// The share in percent; of nothing it is nothing.
fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| (part as f64 * 1000.0 / whole as f64).floor() / 10.0)
}

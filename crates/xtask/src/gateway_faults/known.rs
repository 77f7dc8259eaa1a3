//! `peers/gateway-faults.json`: which faults do not reach a client of the gateway, and which further rules break there, each
//! with the row of the translation table and the reason. Pure but for reading the file.

use std::fmt::Write as _;

use anyhow::{Context as _, ensure};
use faults::server;
use serde_json::Value;

use super::Played;
use super::play::file;

const FILE: &str = "gateway-faults.json";

/// Faults that have the same reason.
#[derive(Debug)]
struct Entry {
    faults: Vec<String>,
    /// A further rule that breaks, or none: then the fault is repaired. `*`: some do, and which ones changes from play to play.
    rule: Option<String>,
    row: String,
    reason: String,
}

/// The whole file.
#[derive(Debug)]
pub(super) struct Known(Vec<Entry>);

impl Known {
    pub(super) fn load() -> anyhow::Result<Self> {
        let path = file(FILE);
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let value: Value = serde_json::from_str(text)?;
        let mut entries = Vec::new();
        for one in value.as_array().context("no list")? {
            let text = |name: &str| one[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            let names = one["faults"].as_array().context("an entry has no `faults`")?;
            let faults: Vec<_> = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            let unknown = faults.iter().find(|name| server::all().all(|fault| fault.name != **name));
            ensure!(unknown.is_none(), "there is no fault {unknown:?}");
            let (row, reason) = text("row").zip(text("reason")).context("an entry has no `row` or no `reason`")?;
            entries.push(Entry { faults, rule: text("rule"), row, reason });
        }
        let repaired: Vec<_> = entries.iter().filter(|one| one.rule.is_none()).flat_map(|one| &one.faults).collect();
        let twice = repaired.iter().enumerate().find(|(at, name)| repaired[..*at].contains(name));
        ensure!(twice.is_none(), "repaired twice: {twice:?}");
        Ok(Self(entries))
    }

    fn has(&self, fault: &str, rule: Option<&str>) -> bool {
        let fits = |one: &&Entry| one.rule.as_deref() == rule && one.faults.iter().any(|name| name == fault);
        self.0.iter().any(|one| fits(&one))
    }

    /// What of a play is not as the file says.
    pub(super) fn complaints(&self, played: &Played) -> Vec<String> {
        let Played { fault, rule, through: (outcome, message), .. } = played;
        let mut complaints = Vec::new();
        match (played.is_seen(), self.has(fault, None)) {
            (false, false) => complaints.push(format!("{fault}: {rule} is {outcome}: {message}")),
            (true, true) => complaints.push(format!("{fault}: {rule} is found, and {FILE} says that it is repaired")),
            _ => {}
        }
        let new = played.new.iter().filter(|(new, _)| !self.has(fault, Some(new)) && !self.has(fault, Some("*")));
        complaints.extend(new.map(|(new, message)| format!("{fault}: only through the gateway: {new}: {message}")));
        let gone = |one: &&Entry| {
            let listed = one.faults.iter().any(|name| name == fault);
            listed && one.rule.as_ref().is_some_and(|rule| rule != "*" && played.new.iter().all(|(new, _)| new != rule))
        };
        let gone = self.0.iter().filter(gone).filter_map(|one| one.rule.as_deref());
        complaints.extend(gone.map(|rule| format!("{fault}: {FILE} lists {rule}, which does not break")));
        complaints
    }

    /// The tables of the page.
    pub(super) fn rows(&self, played: &[Played]) -> String {
        let mut text = String::new();
        let (more, repaired): (Vec<_>, Vec<_>) = self.0.iter().partition(|one| one.rule.is_some());
        for one in repaired {
            let names = one.faults.iter().filter(|name| played.iter().any(|played| played.fault == **name)).count();
            let _ = writeln!(text, "| {} | {names} | {} |", one.row, one.reason);
        }
        text.push_str("\n### Consequences\n\n| rule | faults | reason |\n|---|---|---|\n");
        for one in more {
            let names: Vec<_> = one.faults.iter().map(|name| format!("`{name}`")).collect();
            let rule = match one.rule.as_deref().unwrap_or_default() {
                "*" => "several".to_owned(),
                rule => format!("`{rule}`"),
            };
            let _ = writeln!(text, "| {rule} | {} | Row {}: {} |", names.join(", "), one.row, one.reason);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, Played};

    fn played(outcome: &str, new: &[&str]) -> Played {
        let new = new.iter().map(|rule| ((*rule).to_owned(), String::new())).collect();
        let through = (outcome.to_owned(), "why".to_owned());
        Played { fault: "tools-ttl-missing", rule: "caching.ttl", through, new }
    }

    fn known() -> Known {
        let fault = faults::server::all().next().expect("a fault").name;
        let text = format!(
            r#"[{{"faults":["{fault}"],"row":"27","reason":"r"}},{{"faults":["{fault}"],"rule":"x.y","row":"27","reason":"r"}}]"#
        );
        Known::parse(&text).expect("entries")
    }

    #[test]
    fn what_is_neither_seen_nor_known_is_complained_of() {
        let none = Known(Vec::new());
        assert!(none.complaints(&played("fail", &[])).is_empty());
        assert_eq!(none.complaints(&played("pass", &[])).len(), 1);
        assert_eq!(none.complaints(&played("fail", &["x.y"])).len(), 1);
    }

    #[test]
    fn what_is_known_and_does_not_come_is_complained_of() {
        let fault = faults::server::all().next().expect("a fault").name;
        let named = |one: Played| Played { fault, ..one };
        assert!(known().complaints(&named(played("pass", &["x.y"]))).is_empty());
        assert_eq!(known().complaints(&named(played("fail", &["x.y"]))).len(), 1);
        assert_eq!(known().complaints(&named(played("pass", &[]))).len(), 1);
    }

    #[test]
    fn names_are_of_faults_and_come_once() {
        assert!(Known::parse(r#"[{"faults":["no-such"],"row":"1","reason":"r"}]"#).is_err());
        let fault = faults::server::all().next().expect("a fault").name;
        let twice = format!(r#"[{{"faults":["{fault}","{fault}"],"row":"1","reason":"r"}}]"#);
        assert!(Known::parse(&twice).is_err());
    }
}

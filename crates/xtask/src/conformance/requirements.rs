//! What the suite wants of a server, or of a client, at one revision, read from the list that comes with it: which scenarios count, and
//! which are run only to be seen. Without the list, a scenario that was never run could not be missed.
//!
//! The list is YAML. We read the two shapes of entry that it consists of, and refuse whatever else we meet among them.

use anyhow::{Context, bail, ensure};

use super::leg::Leg;

/// A scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Required {
    pub(super) name: String,
    /// Whether the suite counts it.
    pub(super) scored: bool,
}

/// Reads the suite's list of one revision; gives the scenarios of a leg in its order, without the skipped ones.
pub(super) fn parse(text: &str, leg: Leg) -> anyhow::Result<Vec<Required>> {
    let mut section = "";
    let mut required = Vec::new();
    // The scenario of `not_scored` whose leg is still to come.
    let mut pending = None;
    for (at, line) in text.lines().enumerate() {
        let here = || format!("line {}: {line}", at + 1);
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        if !line.starts_with(' ') {
            section = line.trim_end().strip_suffix(':').with_context(here)?;
            continue;
        }
        match (section, line.trim()) {
            (named, entry) if named == leg.as_str() => {
                let name = entry.strip_prefix("- ").filter(|name| is_name(name)).with_context(here)?;
                required.push(Required { name: name.to_owned(), scored: true });
            }
            ("not_scored", entry) => match entry.split_once(": ") {
                Some(("- scenario", name)) => pending = Some(name.to_owned()),
                Some(("leg", named)) if named == leg.as_str() => {
                    let name = pending.take().filter(|name| is_name(name)).with_context(here)?;
                    required.push(Required { name, scored: false });
                }
                Some(("leg", "client" | "server")) => pending = None,
                Some(("leg", _)) => bail!("an unknown leg in {}", here()),
                // Why it is not scored, in words that may go on for lines.
                _ => {}
            },
            // What other parties must do.
            _ => {}
        }
    }
    ensure!(pending.is_none(), "the scenario {pending:?} has no leg");
    ensure!(required.iter().any(|one| one.scored), "no scenario for a {} is in it", leg.as_str());
    Ok(required)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_/.".contains(c))
}

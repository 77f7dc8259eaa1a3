//! Tables made from what they are about: the faults in `docs/faults.md`, the scenarios in `docs/check-client.md`. The words
//! around them are written by hand.

use std::fmt::Write as _;
use std::fs;

use anyhow::Context as _;

use crate::{Verdict, root};

const BEGIN: &str = "<!-- made by `cargo xtask docs`; do not edit -->\n";
const END: &str = "<!-- end of what is made -->\n";

/// Writes the tables, or with `check` verifies that they are fresh.
pub(super) fn tables(check: bool) -> Verdict {
    let faults = table("docs/faults.md", &fault_rows(), check)?;
    Ok(table("docs/check-client.md", &scenarios(), check)? && faults)
}

fn table(page: &str, rows: &str, check: bool) -> Verdict {
    let path = root().join(page);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {page}"))?;
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.with_context(|| format!("{page} lacks the marks between which its table stands"))?;
    let fresh = format!("{before}{BEGIN}{rows}{END}{after}");
    if fresh == text {
        return Ok(true);
    }
    if check {
        println!("{page} is not fresh – run `cargo xtask docs`");
        return Ok(false);
    }
    fs::write(&path, fresh)?;
    println!("{page}: {} rows", rows.lines().count() - 2);
    Ok(true)
}

fn fault_rows() -> String {
    let mut out = String::from("| fault | breaks | what it does | where |\n|---|---|---|---|\n");
    for fault in faults::server::all() {
        let _ = writeln!(out, "| `{}` | `{}` | {} | {} |", fault.name, fault.rule, fault.about, fault.place());
    }
    out.push_str("\n## Faults of the client\n\n| fault | breaks | what it does | where |\n|---|---|---|---|\n");
    for fault in faults::client::all() {
        let place = fault.place_and_scenario();
        let _ = writeln!(out, "| `{}` | `{}` | {} | {place} |", fault.name, fault.rule, fault.about);
    }
    out
}

fn scenarios() -> String {
    let mut out = String::from("| scenario | what the client is asked to do | where |\n|---|---|---|\n");
    for scenario in judge::check_client::all() {
        let _ = writeln!(out, "| `{}` | {} | {} |", scenario.name, scenario.asks, scenario.applies);
    }
    out
}

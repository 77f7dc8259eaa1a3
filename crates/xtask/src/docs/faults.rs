//! The table in `docs/faults.md`, made from the faults themselves; the words around it are written by hand.

use std::fmt::Write as _;
use std::fs;

use anyhow::Context as _;

use crate::{Verdict, root};

const BEGIN: &str = "<!-- made by `cargo xtask docs`; do not edit -->\n";
const END: &str = "<!-- end of what is made -->\n";

/// Writes the table anew, or with `check` says whether it is fresh.
pub(super) fn table(check: bool) -> Verdict {
    let path = root().join("docs/faults.md");
    let text = fs::read_to_string(&path).context("reading docs/faults.md")?;
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.context("docs/faults.md lacks the marks between which its table stands")?;
    let (rows, number) = rows();
    let fresh = format!("{before}{BEGIN}{rows}{END}{after}");
    if fresh == text {
        return Ok(true);
    }
    if check {
        println!("docs/faults.md is not fresh – run `cargo xtask docs`");
        return Ok(false);
    }
    fs::write(&path, fresh)?;
    println!("docs/faults.md: {number} faults");
    Ok(true)
}

fn rows() -> (String, usize) {
    let mut out = String::from("| fault | breaks | what it does | where |\n|---|---|---|---|\n");
    let mut number = 0;
    for fault in reference::faults::all() {
        let _ = writeln!(out, "| `{}` | `{}` | {} | {} |", fault.name, fault.rule, fault.about, fault.place());
        number += 1;
    }
    out.push_str("\n## Faults of the client\n\n| fault | breaks | what it does | where |\n|---|---|---|---|\n");
    for fault in reference::client::faults::all() {
        let _ = writeln!(out, "| `{}` | `{}` | {} | {} |", fault.name, fault.rule, fault.about, fault.place());
        number += 1;
    }
    (out, number)
}

//! `docs/gateway-translation.md`, from the table that `wire` holds as data.

use std::fmt::Write as _;
use std::fs;

use wire::translate::table::{Area, Class, LOSSES, Row, Way, rows, rows_of};

use crate::{Verdict, root};

const PAGE: &str = "docs/gateway-translation.md";

/// Writes the page, or with `check` verifies that it is fresh.
pub(super) fn page(check: bool) -> Verdict {
    let path = root().join(PAGE);
    let page = text();
    if fs::read_to_string(&path).is_ok_and(|old| old == page) {
        return Ok(true);
    }
    if check {
        println!("{PAGE} is not fresh – run `cargo xtask docs`");
        return Ok(false);
    }
    fs::write(&path, page)?;
    println!("{PAGE}: {} rows", rows().count());
    Ok(true)
}

fn text() -> String {
    let mut out = String::from(
        "# What the gateway translates\n\nMade by `cargo xtask docs` from the table in `wire::translate::table`; do not edit.\n\n\
         Each row is one part of the protocol. It says what becomes of it where a client and a server of different eras meet. \
         An\n*older* party speaks 2025-11-25 or before. Two older parties of different revisions use the rows that concern \
         members by age\n(33 to 35, 38, 39, 42, 43). Two parties of the same revision get every message byte for byte.\n\n\
         Each built row has tests named after it: `row_24_…` in `crates/foundation/wire` or `crates/products/gateway`.\n\n\
         ## How a loss shows\n\n\
         - In the message: `_meta` of the result or notification, or `data` of the error, has the member\n  \
         `dev.proofhouse/losses`: `[{\"row\": \"34\", \"what\": \"a structured result was removed\"}]`. A message that lost \
         nothing has none.\n\
         - In the log: a line with the member `row`, at level `info` (`-v`).\n\
         - In a counter for each row, `translation_loss_total`.\n\n## Classes\n\n| class | meaning |\n|---|---|\n",
    );
    for class in Class::ALL {
        let _ = writeln!(out, "| {} | {} |", class.as_str(), class.about());
    }
    out.push_str(
        "\n## Overview\n\n| row | part | older client, server of 2026-07-28 | client of 2026-07-28, older server |\n",
    );
    out.push_str("|---|---|---|---|\n");
    for row in rows() {
        let [legacy, modern] = [row.from_legacy, row.from_modern].map(|way| way.class.as_str());
        let _ = writeln!(out, "| [{}](#row-{}) | {} | {legacy} | {modern} |", row.number, row.number, row.subject);
    }
    for area in Area::ALL {
        let _ = writeln!(out, "\n## {}", area.as_str());
        for row in rows_of(area) {
            one(&mut out, row);
        }
    }
    out
}

fn one(out: &mut String, row: &Row) {
    // The anchor does not change with the words.
    let _ = writeln!(out, "\n### Row {}\n\n**{}**\n", row.number, row.subject);
    let mut way = |name: &str, way: Way| {
        let _ = writeln!(out, "- {name}: {}", way.what);
    };
    way("Older client, server of 2026-07-28", row.from_legacy);
    way("Client of 2026-07-28, older server", row.from_modern);
    if let Some(instead) = row.instead {
        let _ = writeln!(out, "- Instead of what is lost: {instead}");
    }
    for loss in LOSSES.iter().filter(|loss| loss.row == row.number) {
        let _ = writeln!(out, "- Named as: \"{}\"", loss.what);
    }
    if let Some(missing) = row.missing {
        let _ = writeln!(out, "- Not built: {missing}");
    }
}

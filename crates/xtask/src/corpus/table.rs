//! Results of the corpus: counts, invalid requests that servers accept, and missed minimums.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::Context as _;
use serde_json::Value;

use super::servers::Server;

/// The minimums: servers, distinct cases, and the percentage of invalid cases that are refused.
const SERVERS: usize = 12;
const CASES: usize = 702;
const REFUSED: usize = 40;

pub(super) const HEAD: &str = "server               cases valid  refused conclusive  accepted  skipped  left      s";

/// The results of one server.
pub(super) struct Row {
    name: &'static str,
    origin: &'static str,
    version: String,
    revision: String,
    played: usize,
    refused: usize,
    conclusive: usize,
    accepted: usize,
    skipped: usize,
    left: usize,
    seconds: f64,
    /// Primitive, constraint and violation of each case that is played.
    distinct: BTreeSet<[String; 3]>,
    /// What is accepted: constraint's keyword, example, how many.
    lax: BTreeMap<String, (String, usize)>,
    /// The cases after which the server was gone.
    broke: Vec<String>,
}

impl Row {
    /// Reads the report of `proof generate`.
    pub(super) fn new(server: &'static Server, report: &Value, seconds: f64) -> anyhow::Result<Self> {
        let count = |name: &str| {
            let count = report["summary"][name].as_u64();
            count.map(|count| count as usize).with_context(|| format!("the report has no `{name}`"))
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut row = Self {
            name: server.name,
            origin: server.origin,
            version: text(&report["server"]["version"]),
            revision: text(&report["revision"]),
            played: count("played")?,
            refused: count("refused")?,
            conclusive: count("conclusive")?,
            accepted: count("accepted")?,
            skipped: count("skipped")?,
            left: count("left")?,
            seconds,
            distinct: BTreeSet::new(),
            lax: BTreeMap::new(),
            broke: Vec::new(),
        };
        for case in report["cases"].as_array().into_iter().flatten() {
            let about = ["primitive", "constraint", "violation"].map(|name| text(&case[name]));
            match case["verdict"].as_str() {
                Some("expected") => _ = row.distinct.insert(about),
                Some("accepted") => {
                    let keyword = about[1].rsplit(' ').next().unwrap_or_default().to_owned();
                    row.lax.entry(keyword).or_insert_with(|| (text(&case["name"]), 0)).1 += 1;
                    row.distinct.insert(about);
                }
                Some("skipped") if text(&case["why"]).starts_with("broke") => row.broke.push(text(&case["name"])),
                _ => {}
            }
        }
        Ok(row)
    }

    const fn valid(&self) -> usize {
        self.played - self.refused - self.accepted
    }

    /// A line on the terminal.
    pub(super) fn line(&self) -> String {
        format!(
            "{:<18} {:>7} {:>5} {:>8} {:>10} {:>9} {:>8} {:>5} {:>6.1}",
            self.name,
            self.played,
            self.valid(),
            self.refused,
            self.conclusive,
            self.accepted,
            self.skipped,
            self.left,
            self.seconds
        )
    }
}

/// Minimums that the corpus misses.
pub(super) fn shortfalls(rows: &[Row]) -> Vec<String> {
    let sum = |of: fn(&Row) -> usize| rows.iter().map(of).sum::<usize>();
    let (played, distinct, refused) = (sum(|row| row.played), sum(|row| row.distinct.len()), sum(|row| row.refused));
    let mut wrong = Vec::new();
    if rows.len() < SERVERS {
        wrong.push(format!("{} servers; expected: {SERVERS}", rows.len()));
    }
    if distinct < CASES {
        wrong.push(format!("{distinct} distinct cases; expected: {CASES}"));
    }
    if distinct < played {
        wrong.push(format!("{} cases are about the same as others", played - distinct));
    }
    if refused * 100 < REFUSED * played {
        wrong.push(format!("{refused} of {played} are invalid and refused; expected: {REFUSED} %"));
    }
    wrong
}

/// The page of the documentation.
pub(super) fn page(rows: &[Row], depth: &str) -> String {
    let mut out = String::from("# Test files made from real servers\n\n");
    let _ = writeln!(
        out,
        "`cargo xtask corpus` writes this page. For each server, `proof generate --depth {depth}` writes a test file in a new folder,\n\
         with the arguments in `peers/arguments/NAME.json`. Every file then passes `proof test` twice.\n"
    );
    out.push_str("| server | package and version | revision | cases | valid | invalid, refused | conclusive | invalid, accepted | skipped | not written | seconds |\n");
    out.push_str("|---|---|---|---|---|---|---|---|---|---|---|\n");
    for row in rows {
        let _ = writeln!(
            out,
            "| {} | {} {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} |",
            row.name,
            row.origin,
            cell(&row.version),
            row.revision,
            row.played,
            row.valid(),
            row.refused,
            row.conclusive,
            row.accepted,
            row.skipped,
            row.left,
            row.seconds
        );
    }
    let sum = |of: fn(&Row) -> usize| rows.iter().map(of).sum::<usize>();
    let (played, refused) = (sum(|row| row.played), sum(|row| row.refused));
    let _ = writeln!(
        out,
        "| **all {}** | | | **{played}** | {} | **{refused}** | {} | {} | {} | {} | {:.0} |",
        rows.len(),
        sum(Row::valid),
        sum(|row| row.conclusive),
        sum(|row| row.accepted),
        sum(|row| row.skipped),
        sum(|row| row.left),
        rows.iter().map(|row| row.seconds).sum::<f64>()
    );
    let _ = writeln!(
        out,
        "\n- {} cases are distinct: no two have the same tool, prompt or resource, the same constraint and the same violation.\n\
         - {} % of the cases are invalid requests that the server refuses.\n\
         - *Conclusive*: the server accepts the valid counterpart of the request, so it refuses because of the violation.\n\
         - The version is the one that the server reports.\n\
         - The seconds are those of `proof generate`. Most of them pass while the server starts three times.\n",
        sum(|row| row.distinct.len()),
        refused * 100 / played.max(1)
    );
    findings(rows, &mut out);
    out
}

/// Invalid requests that servers accept, and cases that ended a server.
fn findings(rows: &[Row], out: &mut String) {
    out.push_str(
        "## Invalid requests that servers accept\n\n\
         Servers must validate the arguments of tools, and should refuse the other invalid requests below. A result whose text\n\
         describes an error, but which lacks `isError`, is a normal result for a client: it counts as accepted.\n\n\
         Reviewed by hand on 2026-11-22:\n\n\
         - shrimp answers invalid arguments with such a text (`Error occurred: Invalid arguments …`), and sqlite an unknown tool.\n\
         - thinking and the servers on the Python SDK accept `true` and `\"7\"` where their schemas require numbers.\n\
         - Servers with the constraint `additionalProperties` forbid undeclared members in their schemas, but ignore them.\n\n\
         | server | constraint | cases | example |\n|---|---|---|---|\n",
    );
    for (row, (keyword, (example, count))) in rows.iter().flat_map(|row| row.lax.iter().map(move |lax| (row, lax))) {
        let _ = writeln!(out, "| {} | `{}` | {count} | {} |", row.name, cell(keyword), cell(example));
    }
    let broke: Vec<(&Row, &String)> =
        rows.iter().flat_map(|row| row.broke.iter().map(move |name| (row, name))).collect();
    if !broke.is_empty() {
        out.push_str("\n## Cases after which the server was gone\n\n| server | case |\n|---|---|\n");
        for (row, name) in broke {
            let _ = writeln!(out, "| {} | {} |", row.name, cell(name));
        }
    }
}

/// A text in a table.
fn cell(text: &str) -> String {
    wire::escape::snippet(text, 120).replace('|', "\\|").replace('`', "'")
}

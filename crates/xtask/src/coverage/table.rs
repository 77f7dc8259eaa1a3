//! What the rows come to: for each document and party, how its sentences are accounted for. As a page of the
//! documentation, and as a table that also tells what a check of the reference server exercises.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use rules::Level;

use super::map::{Bound, Carried, Document, Row, read};

/// How much of what binds servers, and is not unobservable, a rule is to judge on the reference server, in percent.
const AIMS: [(Level, usize); 2] = [(Level::Must, 90), (Level::Should, 75)];

/// How some sentences are accounted for.
struct Account {
    all: usize,
    judged: usize,
    declared: usize,
    unobservable: usize,
    out_of_scope: usize,
    stray: usize,
}

impl Account {
    fn of(rows: &[&Row]) -> Self {
        let count = |is: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| is(row)).count();
        Self {
            all: rows.len(),
            judged: count(&is_judged),
            declared: count(&|row| matches!(row.carried, Carried::Rules(_)) && !is_judged(row)),
            unobservable: count(&|row| row.carried == Carried::Unobservable),
            out_of_scope: count(&|row| row.carried == Carried::OutOfScope),
            stray: count(&|row| row.carried == Carried::NotASentence),
        }
    }
}

/// Every document's sentences, by whom they bind.
fn accounts(root: &Path) -> anyhow::Result<Vec<(Document, Vec<Row>)>> {
    Document::all().map(|document| Ok((document.clone(), read(&document, root)?.0))).collect()
}

fn bound_to(rows: &[Row], bound: Bound) -> Vec<&Row> {
    rows.iter().filter(|row| row.bound == bound).collect()
}

/// The page of the documentation, from the committed rows alone.
pub(super) fn page(root: &Path) -> anyhow::Result<String> {
    let mut out = String::from(PAGE);
    for (document, rows) in accounts(root)? {
        for bound in Bound::ALL {
            let here = bound_to(&rows, bound);
            if here.is_empty() {
                continue;
            }
            let Account { all, judged, declared, unobservable, out_of_scope, stray } = Account::of(&here);
            let (name, bound) = (&document.name, bound.as_str());
            let cells = [all, judged, declared, unobservable, out_of_scope, stray].map(|n| n.to_string()).join(" | ");
            let _ = writeln!(out, "| [{name}](../coverage/{name}.tsv) | {bound} | {cells} |");
        }
    }
    Ok(out)
}

const PAGE: &str = "\
# How the specification is covered

Made by `cargo xtask docs` from the files under `coverage/`; do not edit. Those files map every normative sentence of every
revision to the rules that carry it, or say why none does. *Judged*: a rule with a judge carries it. *Declared*: a rule names
it, which is judged once clients are. *Unobservable*: no message, no exchange over HTTP and nothing that a process does could
ever tell. *Out of scope*: it binds authorization servers, user interfaces or people. *Stray*: a row that is no sentence.
`cargo xtask coverage` adds how many of the judged sentences a check of the reference server exercises.

| document | binds | sentences | judged | declared | unobservable | out of scope | stray |
|---|---|---|---|---|---|---|---|
";

/// The table with what was exercised, by revision and rule; and whether the aims are met.
pub(super) fn with_exercise(root: &Path, exercised: &BTreeSet<(String, String)>) -> anyhow::Result<(String, bool)> {
    let (mut out, mut shares, mut met) = (String::new(), String::new(), true);
    let _ = writeln!(
        out,
        "{:<55} all  judged  exercised  declared  unobs.   out  stray",
        "document, and whom its sentences bind"
    );
    for (document, rows) in accounts(root)? {
        let revision = document.revision.to_string();
        let is_exercised = |row: &Row| {
            is_judged(row) && row.rules().any(|rule| exercised.contains(&(revision.clone(), rule.to_owned())))
        };
        for bound in Bound::ALL {
            let here = bound_to(&rows, bound);
            if here.is_empty() {
                continue;
            }
            let Account { all, judged, declared, unobservable, out_of_scope, stray } = Account::of(&here);
            let shown = here.iter().filter(|row| is_exercised(row)).count();
            let name = format!("{} {}", document.name, bound.as_str());
            let _ = writeln!(
                out,
                "{name:<54}{all:>5}{judged:>8}{shown:>11}{declared:>10}{unobservable:>8}{out_of_scope:>6}{stray:>7}"
            );
        }
        for (level, aim) in AIMS {
            let (shown, all) = share(&rows, level, &is_exercised);
            if all == 0 {
                continue;
            }
            let percent = 100 * shown / all;
            let word = if percent >= aim { "met" } else { "missed" };
            met &= percent >= aim;
            let name = format!("{} {} of servers", document.name, level.as_str());
            let _ = writeln!(
                shares,
                "{name:<54}{shown:>5} of {all:>3} observable exercised: {percent:>3} %, aim {aim} %: {word}"
            );
        }
    }
    Ok((format!("{out}\n{shares}"), met))
}

/// Whether a rule that carries the sentence has a judge.
fn is_judged(row: &Row) -> bool {
    row.rules().filter_map(rules::find).any(rules::Rule::is_judged)
}

/// Of a level's sentences that bind servers and that something could tell, how many `is_exercised`, and all.
fn share(rows: &[Row], level: Level, is_exercised: &dyn Fn(&Row) -> bool) -> (usize, usize) {
    let binds = |row: &&Row| row.level == level && matches!(row.bound, Bound::Server | Bound::Both);
    let could_tell: Vec<_> = rows.iter().filter(binds).filter(|row| matches!(row.carried, Carried::Rules(_))).collect();
    (could_tell.iter().filter(|row| is_exercised(row)).count(), could_tell.len())
}

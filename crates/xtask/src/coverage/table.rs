//! What the rows come to: for each document and party, how its sentences are accounted for. As a page of the
//! documentation, and as a table that also shows what checks of the reference server and client exercise.

use std::fmt::Write as _;
use std::path::Path;

use rules::{Level, Role};

use super::Exercised;
use super::map::{Bound, Carried, Document, Row, read};

/// How much of what binds a party, and is not unobservable, a rule is to judge on our own peer of that kind, in percent.
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
            declared: count(&|row| {
                !row.is_unobservable() && matches!(row.carried, Carried::Rules(_)) && !is_judged(row)
            }),
            unobservable: count(&Row::is_unobservable),
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
it that has no judge yet. *Unobservable*: no message, no exchange over HTTP and nothing that a process does could ever tell;
the row says why, or the rule that it names. *Out of scope*: it binds authorization servers, user interfaces or people. *Stray*: a row that is no sentence.
`cargo xtask coverage` adds how many of the judged sentences a check of the reference server exercises, and how many one of
the reference client.

| document | binds | sentences | judged | declared | unobservable | out of scope | stray |
|---|---|---|---|---|---|---|---|
";

/// The table with what was exercised, by revision and rule; and whether the aims are met.
pub(super) fn with_exercise(root: &Path, exercised: &Exercised) -> anyhow::Result<(String, bool)> {
    let (mut out, mut shares, mut met) = (String::new(), String::new(), true);
    let head = "all  judged  servers'  clients'  declared  unobs.   out  stray";
    let _ = writeln!(out, "{:<55} {head}", "document, and whom its sentences bind");
    for (document, rows) in accounts(root)? {
        let revision = document.revision.to_string();
        let is_exercised = |row: &Row, on: Role| {
            let on = if on == Role::Client { &exercised.clients } else { &exercised.servers };
            is_judged(row) && row.rules().any(|rule| on.contains(&(revision.clone(), rule.to_owned())))
        };
        for bound in Bound::ALL {
            let here = bound_to(&rows, bound);
            if here.is_empty() {
                continue;
            }
            let Account { all, judged, declared, unobservable, out_of_scope, stray } = Account::of(&here);
            let shown = |on| here.iter().filter(|row| is_exercised(row, on)).count();
            let (servers, clients) = (shown(Role::Server), shown(Role::Client));
            let name = format!("{} {}", document.name, bound.as_str());
            let _ = writeln!(
                out,
                "{name:<54}{all:>5}{judged:>8}{servers:>10}{clients:>10}{declared:>10}{unobservable:>8}{out_of_scope:>6}{stray:>7}"
            );
        }
        for (role, word) in [(Role::Server, "servers"), (Role::Client, "clients")] {
            let share = |level| share(&rows, level, role, &|row| is_exercised(row, role));
            let text = aims(&format!("{} of {word}", document.name), share);
            met &= !text.contains("missed");
            shares += &text;
        }
    }
    Ok((format!("{out}\n{shares}"), met))
}

/// A line for each aim: how much of its level is exercised, and whether that is enough.
fn aims(of: &str, share: impl Fn(Level) -> (usize, usize)) -> String {
    let mut out = String::new();
    for (level, aim) in AIMS {
        let (shown, all) = share(level);
        if all == 0 {
            continue;
        }
        let percent = 100 * shown / all;
        let word = if percent >= aim { "met" } else { "missed" };
        let name = format!("{of}, {}", level.as_str());
        let _ =
            writeln!(out, "{name:<54}{shown:>5} of {all:>3} observable exercised: {percent:>3} %, aim {aim} %: {word}");
    }
    out
}

/// Whether a rule that carries the sentence has a judge.
fn is_judged(row: &Row) -> bool {
    row.rules().filter_map(rules::find).any(rules::Rule::is_judged)
}

/// Of a level's sentences that bind `role` and that something could tell, how many `is_exercised`, and all.
fn share(rows: &[Row], level: Level, role: Role, is_exercised: &dyn Fn(&Row) -> bool) -> (usize, usize) {
    let own = if role == Role::Client { Bound::Client } else { Bound::Server };
    let binds = |row: &&Row| row.level == level && (row.bound == own || row.bound == Bound::Both);
    let could_tell: Vec<_> = rows
        .iter()
        .filter(binds)
        .filter(|row| matches!(row.carried, Carried::Rules(_)) && !row.is_unobservable())
        .collect();
    (could_tell.iter().filter(|row| is_exercised(row)).count(), could_tell.len())
}

//! The rule reference under `docs/rules/`: one page per page of the specification, made from the rules. `--check` only
//! compares, for CI. And `docs/coverage.md`, `docs/gateway-translation.md`, `docs/clients.md`, and the tables in `docs/faults.md` and
//! `docs/check-client.md`.

mod clients;
mod tables;
mod translation;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use rules::rule::{Judging, Sentence};
use rules::{Level, Role, Rule};
use wire::Revision;

use super::{Verdict, root};

/// Writes the reference, or with `--check` says what is not fresh.
pub fn run(args: &[String]) -> Verdict {
    let check = match args {
        [] => false,
        [one] if one == "--check" => true,
        _ => anyhow::bail!("usage: cargo xtask docs [--check]"),
    };
    let folder = root().join("docs/rules");
    let pages = pages();
    let fresh = if check { compare(&folder, &pages) } else { write(&folder, &pages) }?;
    let covered = coverage(check)?;
    let translated = translation::page(check)?;
    let listed = clients::page(check)?;
    Ok(tables::tables(check)? && fresh && covered && translated && listed)
}

/// `docs/coverage.md`.
fn coverage(check: bool) -> Verdict {
    let path = root().join("docs/coverage.md");
    let page = crate::coverage::page()?;
    if fs::read_to_string(&path).is_ok_and(|text| text == page) {
        return Ok(true);
    }
    if check {
        println!("docs/coverage.md is not fresh – run `cargo xtask docs`");
        return Ok(false);
    }
    fs::write(&path, page)?;
    println!("docs/coverage.md");
    Ok(true)
}

fn write(folder: &PathBuf, pages: &BTreeMap<String, String>) -> Verdict {
    if folder.is_dir() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    for (name, text) in pages {
        fs::write(folder.join(name), text).with_context(|| format!("writing {name}"))?;
    }
    println!("docs/rules: {} pages", pages.len());
    Ok(true)
}

fn compare(folder: &PathBuf, pages: &BTreeMap<String, String>) -> Verdict {
    let mut stale: Vec<String> = Vec::new();
    for (name, text) in pages {
        if fs::read_to_string(folder.join(name)).ok().as_ref() != Some(text) {
            stale.push(name.clone());
        }
    }
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !pages.contains_key(&name) {
            stale.push(name);
        }
    }
    for name in &stale {
        println!("docs/rules/{name} is not fresh – run `cargo xtask docs`");
    }
    Ok(stale.is_empty())
}

/// Every page of the reference by file name.
fn pages() -> BTreeMap<String, String> {
    let mut by_page: BTreeMap<&str, Vec<&Rule>> = BTreeMap::new();
    for rule in rules::all_rules() {
        if let Some((_, sentence)) = rule.newest() {
            by_page.entry(sentence.anchor.page).or_default().push(rule);
        }
    }
    let mut pages: BTreeMap<_, _> = by_page.iter().map(|(page, rules)| (file_name(page), text(page, rules))).collect();
    pages.insert("README.md".to_owned(), index(&by_page));
    pages
}

fn file_name(page: &str) -> String {
    format!("{}.md", page.replace('/', "-"))
}

fn index(by_page: &BTreeMap<&str, Vec<&Rule>>) -> String {
    let mut out = String::from("# The rules, by page of the specification\n\n");
    out.push_str("Made by `cargo xtask docs` from the rules themselves; do not edit. A rule stands under the page that says it in\n");
    out.push_str("the newest revision that has it.\n\n");
    out.push_str("| page | rules | judged | MUST | SHOULD | MAY | safety |\n|---|---|---|---|---|---|---|\n");
    let mut total = [0; 6];
    for (page, rules) in by_page {
        let level = |level: Level| rules.iter().filter(|r| r.newest().is_some_and(|(_, s)| s.level == level)).count();
        let judged = rules.iter().filter(|rule| rule.is_judged()).count();
        let row =
            [rules.len(), judged, level(Level::Must), level(Level::Should), level(Level::May), level(Level::Safety)];
        total.iter_mut().zip(row).for_each(|(sum, n)| *sum += n);
        let cells: Vec<_> = row.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "| [{page}]({}) | {} |", file_name(page), cells.join(" | "));
    }
    let cells: Vec<_> = total.iter().map(ToString::to_string).collect();
    let _ = writeln!(out, "| **all** | {} |", cells.join(" | "));
    out
}

fn text(page: &str, rules: &[&Rule]) -> String {
    let mut out = format!("# {page}\n\nMade by `cargo xtask docs`; do not edit.\n");
    for rule in rules {
        one(&mut out, rule);
    }
    out
}

fn one(out: &mut String, rule: &Rule) {
    let _ = writeln!(out, "\n## {}\n", rule.id);
    let mut last: Option<&Sentence> = None;
    for revision in Revision::ALL {
        let Some(sentence) = rule.sentence_at(revision) else { continue };
        if last.is_none_or(|l| l.text != sentence.text) {
            let _ = writeln!(out, "**{}** {}\n", sentence.level.as_str(), sentence.text);
        }
        last = Some(sentence);
    }
    let links = Revision::ALL.into_iter().filter_map(|r| Some(format!("[{r}]({})", rule.sentence_at(r)?.url(r))));
    let _ = writeln!(out, "Revisions: {}.", links.collect::<Vec<_>>().join(", "));
    let who = match rule.role {
        Role::Server => "the server",
        Role::Client => "the client",
        Role::Both => "both parties",
    };
    let mut scope = format!("Binds {who}");
    if !rule.transports.is_empty() {
        let names: Vec<_> = rule.transports.iter().map(|t| t.as_str()).collect();
        let _ = write!(scope, " over {}", names.join(", "));
    }
    if let Some(capability) = rule.needs {
        let _ = write!(scope, ", where `{capability}` is declared");
    }
    if let Some(names) = rule.subject_matter() {
        let _ = write!(scope, ", where {names} is declared, or shows undeclared");
    }
    let _ = writeln!(out, "{scope}.\n");
    match rule.judging() {
        Judging::Judge(_) => _ = writeln!(out, "*Judged:* {}\n\n*Fix:* {}", rule.how, rule.fix),
        Judging::Unobservable(why) => _ = writeln!(out, "*Not judged:* {why}."),
        Judging::Declared => out.push_str("*Not judged yet:* it binds clients.\n"),
    }
}

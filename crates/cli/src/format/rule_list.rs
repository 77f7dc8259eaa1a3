//! All rules as a list, for people and as JSON.

use rules::rule::Judging;
use rules::{Role, Rule};
use serde::Serialize;
use wire::{Revision, Transport};

use super::painted;
use report::render::text::{Paint, WIDTH, count, wrap};

/// The name and version of the JSON list's format.
const FORMAT: &str = "proof.rules/1";

/// A line for each rule, under a heading: id, level, whom it binds, revisions, transports, how it is judged.
pub(crate) fn human(found: &[&Rule], at: Option<Revision>, paint: Paint) -> String {
    let head = line("RULE", "LEVEL", "BINDS", "REVISIONS", "OVER", "JUDGED");
    let mut out = format!("{}\n", paint.bold(&head));
    for rule in found {
        let level = level(rule, at);
        let line = line(rule.id, level, role(rule), &revisions(rule), &transports(rule), judging(rule).0);
        out += &painted::lines(&line, |line| if rule.is_judged() { line.to_owned() } else { paint.dim(line) });
    }
    let judged = found.iter().filter(|rule| rule.is_judged()).count();
    let rules = count(found.len(), "rule");
    out.push('\n');
    wrap(
        &mut out,
        0,
        &format!(
            "{rules}, {judged} judged; 24-11 is short for 2024-11-05, and so on; unobs.: not observable in any trace. \
             `proof explain ID` explains one of them."
        ),
    );
    out
}

fn line(id: &str, level: &str, binds: &str, revisions: &str, over: &str, judged: &str) -> String {
    // A long id gets a line of its own.
    let (first, column) = if id.len() > 34 { (format!("{id}\n"), "") } else { (String::new(), id) };
    let line = format!("{column:<34} {level:<6} {binds:<6} {revisions:<11} {over:<11} {judged}");
    debug_assert!(line.chars().count() <= WIDTH, "{line}");
    format!("{first}{}", line.trim_end())
}

/// `stdio,http`; `not ws` for all but one.
fn transports(rule: &Rule) -> String {
    let left_out: Vec<_> =
        Transport::ALL.into_iter().filter(|transport| !rule.transports.contains(transport)).collect();
    match (rule.transports, &left_out[..]) {
        ([], _) => "all".to_owned(),
        (_, [only]) => format!("not {}", only.as_str()),
        (named, _) => named.iter().map(|transport| transport.as_str()).collect::<Vec<_>>().join(","),
    }
}

/// `24-11…26-07`: the first and the last revision with the rule.
fn revisions(rule: &Rule) -> String {
    let mut all = Revision::ALL.into_iter().filter(|revision| rule.sentence_at(*revision).is_some()).map(short);
    match (all.next(), all.next_back()) {
        (Some(first), Some(last)) => format!("{first}…{last}"),
        (Some(only), None) => only.to_owned(),
        _ => String::new(),
    }
}

/// Year and month of a revision.
fn short(revision: Revision) -> &'static str {
    &revision.as_str()[2..7]
}

/// The level at a revision, or at the newest that has the rule.
fn level(rule: &Rule, at: Option<Revision>) -> &'static str {
    let sentence = at.and_then(|revision| rule.sentence_at(revision)).or_else(|| rule.newest().map(|(_, s)| s));
    sentence.map_or("", |sentence| sentence.level.as_str())
}

const fn role(rule: &Rule) -> &'static str {
    match rule.role {
        Role::Server => "server",
        Role::Client => "client",
        Role::Both => "both",
    }
}

/// Whether a rule is judged, in a word; and how, or why not.
const fn judging(rule: &Rule) -> (&'static str, &'static str) {
    match rule.judging() {
        Judging::Judge(_) => ("judged", rule.how),
        Judging::Unobservable(why) => ("unobs.", why),
        Judging::Declared => ("not yet", "the rule binds clients"),
    }
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    proof: &'static str,
    rules: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    id: &'static str,
    binds: &'static str,
    transports: Vec<&'static str>,
    needs: Option<&'static str>,
    judged: &'static str,
    how: &'static str,
    fix: &'static str,
    timed: bool,
    sentences: Vec<Sentence>,
}

#[derive(Serialize)]
struct Sentence {
    revision: &'static str,
    level: &'static str,
    text: &'static str,
    url: String,
}

/// One JSON document, `proof.rules/1`, with a line feed at its end.
pub(crate) fn json(found: &[&Rule], at: Option<Revision>) -> String {
    let rules = found.iter().map(|rule| entry(rule, at)).collect();
    let document = Document { schema: FORMAT, proof: env!("CARGO_PKG_VERSION"), rules };
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn entry(rule: &Rule, at: Option<Revision>) -> Entry {
    let revisions = Revision::ALL.into_iter().filter(|revision| at.is_none_or(|only| only == *revision));
    let sentence = |revision: Revision| {
        let sentence = rule.sentence_at(revision)?;
        let (level, text) = (sentence.level.as_str(), sentence.text);
        Some(Sentence { revision: revision.as_str(), level, text, url: sentence.url(revision) })
    };
    let (judged, how) = match judging(rule) {
        ("unobs.", why) => ("unobservable", why),
        other => other,
    };
    Entry {
        id: rule.id,
        binds: role(rule),
        transports: rule.transports.iter().map(|transport| transport.as_str()).collect(),
        needs: rule.needs,
        judged,
        how,
        fix: rule.fix,
        timed: rule.timed,
        sentences: revisions.filter_map(sentence).collect(),
    }
}

//! All rules: ids, wording, anchors that exist, and two fixtures for every judged rule.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rules::judge::{judge, revision_of};
use rules::{Rule, Verdict, View, all_rules};
use wire::trace::{Header, Trace, file};
use wire::{Party, Revision};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn judged() -> impl Iterator<Item = &'static Rule> {
    all_rules().filter(|rule| rule.is_judged())
}

fn verdict(rule: &Rule, trace: &Trace) -> Verdict {
    let events = trace.events();
    let revision = revision_of(trace).expect("the fixture names its revision");
    judge(rule, &View::new(trace, &events, revision))
}

#[test]
fn ids_are_unique_and_plain() {
    let mut seen = BTreeSet::new();
    for rule in all_rules() {
        assert!(seen.insert(rule.id), "{} stands twice", rule.id);
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
        assert!(rule.id.chars().all(plain) && rule.id.contains('.'), "{} is not area.demand", rule.id);
        assert!(rule.sentences().next().is_some(), "{} says nothing", rule.id);
    }
}

#[test]
fn judged_rules_explain_themselves() {
    for rule in judged() {
        assert!(!rule.how.is_empty(), "{} does not say how it is judged", rule.id);
        assert!(!rule.fix.is_empty(), "{} does not say how to fix it", rule.id);
    }
}

#[test]
fn every_judged_rule_has_a_trace_that_holds_and_one_that_breaks() {
    let mut wrong = Vec::new();
    for rule in judged() {
        for (name, wanted) in [("holds", 2), ("broken", 3)] {
            let path = fixtures().join(rule.id).join(format!("{name}.jsonl"));
            let Ok(text) = fs::read_to_string(&path) else {
                wrong.push(format!("{}: no {name}.jsonl", rule.id));
                continue;
            };
            match file::read(&text) {
                Err(bad) => wrong.push(format!("{}: {name}.jsonl {bad}", rule.id)),
                Ok(trace) => {
                    let verdict = verdict(rule, &trace);
                    if verdict.weight() != wanted {
                        wrong.push(format!("{}: {name}.jsonl gives {verdict:?}", rule.id));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} fixtures are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn further_fixtures_give_the_verdict_of_their_names() {
    let mut wrong = Vec::new();
    for rule in judged() {
        for entry in fs::read_dir(fixtures().join(rule.id)).into_iter().flatten() {
            let path = entry.expect("entry").path();
            let name = path.file_name().and_then(|n| n.to_str()).expect("UTF-8").to_owned();
            let wanted = match name.split(['-', '.']).next() {
                Some("holds") => 2..=2,
                Some("broken") => 3..=3,
                Some("unseen") => 0..=1,
                _ => {
                    wrong.push(format!("{}: {name} is neither holds, broken nor unseen", rule.id));
                    continue;
                }
            };
            match file::read(&fs::read_to_string(&path).expect("a text file")) {
                Err(bad) => wrong.push(format!("{}: {name} {bad}", rule.id)),
                Ok(trace) => {
                    let verdict = verdict(rule, &trace);
                    if !wanted.contains(&verdict.weight()) {
                        wrong.push(format!("{}: {name} gives {verdict:?}", rule.id));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} fixtures are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn fixtures_belong_to_rules() {
    let ids: BTreeSet<_> = judged().map(|rule| rule.id.to_owned()).collect();
    for entry in fs::read_dir(fixtures()).expect("fixtures") {
        let name = entry.expect("entry").file_name().into_string().expect("UTF-8");
        assert!(ids.contains(&name), "fixtures/{name} belongs to no judged rule");
    }
}

#[test]
fn nothing_holds_on_an_empty_trace() {
    for rule in judged() {
        for transport in wire::Transport::ALL {
            for revision in Revision::ALL {
                for subject in [Party::Server, Party::Client] {
                    let header = Header { subject, transport, revision: Some(revision), case: String::new() };
                    let verdict = verdict(rule, &Trace::new(header));
                    assert!(verdict.weight() < 2, "{} over {transport} at {revision}: {verdict:?}", rule.id);
                }
            }
        }
    }
}

/// The slug of a heading, as the specification's site makes it.
fn slug(heading: &str) -> String {
    let kept = heading.to_lowercase().replace([' ', '/'], "-");
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

fn headings(page: &str) -> BTreeSet<String> {
    let lines = page.lines().filter(|line| line.starts_with('#'));
    lines.map(|line| slug(line.trim_start_matches('#').trim())).collect()
}

#[test]
fn every_anchor_exists_in_the_specification() {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/spec");
    if !spec.is_dir() {
        println!("skipped: the specification is not at ../shared/spec");
        return;
    }
    let mut wrong = BTreeSet::new();
    for rule in all_rules() {
        for revision in Revision::ALL {
            let Some(sentence) = rule.sentence_at(revision) else { continue };
            let page = format!("{}.md", sentence.anchor.page);
            let path = match sentence.anchor.extension() {
                Some(_) => spec.join(page),
                None => spec.join(revision.as_str()).join("pages").join(page),
            };
            match fs::read_to_string(&path) {
                Err(_) => _ = wrong.insert(format!("{}: {revision} has no page {}", rule.id, sentence.anchor.page)),
                Ok(page) => {
                    let section = sentence.anchor.section;
                    if !section.is_empty() && !headings(&page).contains(section) {
                        wrong.insert(format!("{}: {revision} {} has no #{section}", rule.id, sentence.anchor.page));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "anchors are wrong:\n{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
}

//! What rules make of a server that declared nothing of what they are about: no gap where nothing was seen, and no excuse
//! where something was.

use std::fs;
use std::path::Path;

use rules::judge::{judge, revision_of};
use rules::{Rule, Verdict, View, all_rules};
use serde_json::{Value, json};
use wire::trace::{Content, Trace, file};
use wire::{Era, Revision, Transport};

/// Rules about what certain servers alone have.
fn about() -> impl Iterator<Item = &'static Rule> {
    all_rules().filter(|rule| rule.is_judged() && !rule.about.is_empty())
}

fn verdict(rule: &Rule, text: &str, revision: Revision) -> Verdict {
    let trace = file::read(text).unwrap_or_else(|bad| panic!("{}: {bad}\n{text}", rule.id));
    let events = trace.events();
    judge(rule, &View::new(&trace, &events, revision))
}

/// The beginning of a trace: a greeting for each of these capabilities.
fn greeted(revision: Revision, declared: &[Value]) -> String {
    let header = json!({
        "trace": "proof.trace/1", "subject": "server", "transport": "stdio", "revision": revision.as_str(), "case": "t"
    });
    let mut lines = vec![header];
    for (at, capabilities) in declared.iter().enumerate() {
        let (method, params) = match revision.era() {
            Era::Legacy => ("initialize", json!({ "protocolVersion": revision.as_str(), "capabilities": {} })),
            Era::Modern => ("server/discover", json!({})),
        };
        let result = json!({ "protocolVersion": revision.as_str(), "capabilities": capabilities });
        let request = json!({ "jsonrpc": "2.0", "id": at, "method": method, "params": params });
        let response = json!({ "jsonrpc": "2.0", "id": at, "result": result });
        lines.push(json!({ "at": at * 1000 + 100, "from": "client", "conn": at + 1, "line": request }));
        lines.push(json!({ "at": at * 1000 + 500, "from": "server", "conn": at + 1, "line": response }));
    }
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n"
}

/// Every revision that has the rule and the capabilities it is about.
fn revisions(rule: &'static Rule) -> impl Iterator<Item = Revision> {
    let exists = |path: &str, at: Revision| wire::method::capability_since(path).is_none_or(|since| at.at_least(since));
    let has = move |at: &Revision| rule.sentence_at(*at).is_some() && rule.about.iter().all(|path| exists(path, *at));
    Revision::ALL.into_iter().filter(has)
}

fn with(path: &str) -> Value {
    path.rsplit('.').fold(json!({}), |inner, step| json!({ step: inner }))
}

#[test]
fn an_undeclared_capability_without_traffic_does_not_apply() {
    assert!(about().count() > 30, "{} rules", about().count());
    for rule in about() {
        assert!(rule.runs_on(Transport::Stdio), "{}: no trace for it here", rule.id);
        assert!(rule.needs.is_none(), "{}: one of the two is enough", rule.id);
        for revision in revisions(rule) {
            let seen = verdict(rule, &greeted(revision, &[json!({})]), revision);
            let Verdict::NotApplicable(why) = &seen else { panic!("{} at {revision}: {seen:?}", rule.id) };
            assert!(why.starts_with("the server does not declare `"), "{}: {why}", rule.id);
            assert!(rule.about.iter().all(|path| why.contains(&format!("`{path}`"))), "{}: {why}", rule.id);
        }
    }
}

#[test]
fn a_declared_capability_without_traffic_is_not_seen() {
    for rule in about() {
        for revision in revisions(rule) {
            for path in rule.about {
                let declares = verdict(rule, &greeted(revision, &[with(path)]), revision);
                assert_eq!(declares.weight(), 1, "{} at {revision} with {path}: {declares:?}", rule.id);
                let later = verdict(rule, &greeted(revision, &[json!({}), with(path)]), revision);
                assert_eq!(later.weight(), 1, "{} at {revision} with {path} the second time: {later:?}", rule.id);
            }
        }
    }
}

#[test]
fn unknown_declarations_without_traffic_are_not_seen() {
    for rule in about() {
        for revision in Revision::ALL.into_iter().filter(|revision| rule.sentence_at(*revision).is_some()) {
            let unknown = verdict(rule, &greeted(revision, &[]), revision);
            assert_eq!(unknown.weight(), 1, "{} at {revision}: {unknown:?}", rule.id);
        }
    }
}

#[test]
fn a_capability_that_a_revision_does_not_know_is_not_missed() {
    let rule = rules::find("completion.at-most-100").expect("the rule");
    let before = verdict(rule, &greeted(Revision::R2024_11_05, &[json!({})]), Revision::R2024_11_05);
    assert_eq!(before.weight(), 1, "{before:?}");
}

/// Rules that read the declaration itself.
const OF_THE_DECLARATION: [&str; 2] = ["versioning.extension-ids", "versioning.extension-fallback"];

#[test]
fn a_breach_counts_without_a_declaration() {
    let mut greeted = 0;
    for rule in about().filter(|rule| !OF_THE_DECLARATION.contains(&rule.id)) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(rule.id).join("broken.jsonl");
        let text = fs::read_to_string(path).expect("a fixture");
        let mut changed = 0;
        let bare = text.lines().map(|line| undeclared(line, &mut changed) + "\n").collect::<String>();
        let trace: Trace = file::read(&bare).expect("a trace");
        let revision = revision_of(&trace).expect("a revision");
        let found = verdict(rule, &bare, revision);
        assert!(found.is_broken(), "{}: {found:?}\n{bare}", rule.id);
        greeted += changed;
        assert!(trace.frames.iter().any(|frame| !matches!(frame.content, Content::Mark(_))), "{}", rule.id);
    }
    assert!(greeted > 10, "only {greeted} greetings were changed");
}

/// A line of a trace in which the server declares nothing.
fn undeclared(line: &str, changed: &mut usize) -> String {
    let mut row: Value = serde_json::from_str(line).expect("JSON");
    let declared = row.pointer_mut("/line/result/capabilities");
    let Some(declared) = declared.filter(|declared| declared.is_object()) else { return line.to_owned() };
    *declared = json!({});
    *changed += 1;
    row.to_string()
}

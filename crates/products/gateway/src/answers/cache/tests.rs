//! What is kept, for whom, and until when, by a clock of the test.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use net::service::{Answer, RpcError};
use serde_json::{Value, json};
use wire::{RequestId, Revision};

use super::{AnswerCache, EntryKey, Found, OVERHEAD, Plan, Scope, SessionOf, Subject, ended_by, rule_for};
use crate::answers::{Hints, Watch};
use crate::catalogue::List;
use crate::settings::{CacheRule, CacheSettings};

fn rule(tools: &[&str], ttl: u64) -> CacheRule {
    let tools = tools.iter().map(|name| (*name).to_owned()).collect();
    let (resources, lists, invalidated_by) =
        (vec!["file:///public/*".to_owned()], Vec::new(), vec!["write*".to_owned()]);
    CacheRule { tools, resources, lists, ttl: Duration::from_secs(ttl), shared: false, invalidated_by }
}

fn key(principal: &'static str) -> EntryKey {
    let scope = Scope::Private(Some(HeaderValue::from_static(principal)), None);
    EntryKey { scope, server: "default".to_owned(), upstream: 1, revision: Revision::NEWEST, request: [1; 32] }
}

fn result(text: &str) -> Answer {
    let body = json!({ "resultType": "complete", "ttlMs": 60_000, "contents": text });
    Answer::result(&RequestId::from(1), &body)
}

const PATIENCE: Duration = Duration::from_hours(1);

struct Scene {
    cache: Arc<AnswerCache>,
    settings: CacheSettings,
    subject: Subject,
    rule: Option<usize>,
    hints: Option<Hints>,
    now: Instant,
}

impl Scene {
    fn new() -> Self {
        let settings = CacheSettings { rules: vec![rule(&["usage"], 30)], ..CacheSettings::default() };
        let subject = Subject::Resource("file:///a".to_owned());
        let hints = Some(Hints { ttl: Duration::from_mins(1), is_public: false });
        Self { cache: Arc::default(), settings, subject, rule: None, hints, now: Instant::now() }
    }

    fn by_rule() -> Self {
        Self { subject: Subject::Tool, rule: Some(0), hints: None, ..Self::new() }
    }

    fn plan(&self, key: EntryKey) -> Plan {
        Plan::new(key, self.subject.clone(), self.rule, (&self.settings, self.cache.generation()))
            .expect("it may be kept")
    }

    fn keep(&self, key: EntryKey, answer: &Answer) {
        let (plan, watch) = (self.plan(key), Watch::default());
        *watch.hints.lock().expect("a lock") = self.hints;
        self.cache.keep(&plan, (answer, &watch), self.cache.mark(self.now), &self.settings, self.now);
    }

    fn hit(&self, key: EntryKey) -> Option<Value> {
        let answer = self.cache.hit(&self.plan(key), &RequestId::from(7), self.now)?;
        Some(serde_json::from_slice(answer.text()).expect("JSON"))
    }
}

#[test]
fn a_result_stays_for_its_time_and_says_what_is_left() {
    let mut scene = Scene::new();
    scene.keep(key("me"), &result("a"));
    scene.now += Duration::from_secs(45);
    let hit = scene.hit(key("me")).expect("it is fresh");
    assert_eq!(
        (&hit["id"], &hit["result"]["ttlMs"], &hit["result"]["contents"]),
        (&json!(7), &json!(15_000), &json!("a"))
    );
    scene.now += Duration::from_secs(15);
    assert!(scene.hit(key("me")).is_none());
    // A server cannot ask for more than the configuration allows.
    scene.hints = Some(Hints { ttl: Duration::from_millis(u64::MAX), is_public: false });
    scene.keep(key("me"), &result("a"));
    scene.now += Duration::from_mins(5) - Duration::from_secs(1);
    assert!(scene.hit(key("me")).is_some());
    scene.now += Duration::from_secs(1);
    assert!(scene.hit(key("me")).is_none());
    // By a rule alone, nothing is said of how long it stays valid.
    let scene = Scene::by_rule();
    scene.keep(key("me"), &result("a"));
    assert_eq!(scene.hit(key("me")).expect("it is fresh")["result"]["ttlMs"], 0);
}

#[test]
fn a_private_result_is_for_one_principal_one_session_and_one_server() {
    let scene = Scene::new();
    scene.keep(key("me"), &result("mine"));
    let session = || SessionOf(Weak::new());
    for other in [
        key("you"),
        EntryKey { scope: Scope::Private(None, None), ..key("me") },
        EntryKey { scope: Scope::Private(Some(HeaderValue::from_static("me")), Some(session())), ..key("me") },
        EntryKey { server: "other".to_owned(), ..key("me") },
        EntryKey { upstream: 2, ..key("me") },
        EntryKey { revision: Revision::R2025_11_25, ..key("me") },
        EntryKey { request: [2; 32], ..key("me") },
    ] {
        assert!(scene.hit(other.clone()).is_none(), "{other:?}");
    }
    assert!(scene.hit(key("me")).is_some());
}

#[test]
fn a_public_result_is_for_all_clients_of_one_server() {
    let mut scene = Scene::new();
    scene.hints = Some(Hints { ttl: Duration::from_mins(1), is_public: true });
    scene.keep(key("me"), &result("ours"));
    assert!(scene.hit(key("you")).is_some());
    assert!(scene.hit(EntryKey { server: "other".to_owned(), ..key("me") }).is_none());
    let mut shared = Scene::by_rule();
    shared.settings.rules[0].shared = true;
    shared.keep(key("me"), &result("ours"));
    assert!(shared.hit(key("you")).is_some());
}

#[test]
fn what_is_no_complete_result_is_not_kept() {
    let scene = Scene::by_rule();
    let id = RequestId::from(1);
    for answer in [
        Answer::error(Some(&id), &RpcError::internal("no")),
        Answer::result(&id, &json!({ "isError": true })),
        Answer::result(&id, &json!({ "resultType": "input_required" })),
        Answer::result(&id, &json!({ "resultType": "task", "taskId": "t" })),
        Answer::result(&id, &json!({ "task": { "taskId": "t" } })),
        Answer::raw(Vec::new(), None),
        Answer::result(&id, &json!({ "content": "x".repeat(scene.settings.bytes / 8) })),
    ] {
        scene.keep(key("me"), &answer);
        assert!(
            scene.hit(key("me")).is_none(),
            "{}",
            String::from_utf8_lossy(&answer.text()[..60.min(answer.text().len())])
        );
    }
    let (plan, watch) = (scene.plan(key("me")), Watch::default());
    watch.note_question();
    scene.cache.keep(&plan, (&result("asked"), &watch), 0, &scene.settings, scene.now);
    assert!(scene.hit(key("me")).is_none(), "it depends on what the client answered");
    let unsaid = Scene { hints: None, ..Scene::new() };
    unsaid.keep(key("me"), &result("a"));
    let zero = Scene { hints: Some(Hints::default()), ..Scene::new() };
    zero.keep(key("me"), &result("a"));
    assert!(unsaid.hit(key("me")).is_none() && zero.hit(key("me")).is_none());
    assert!(Plan::new(key("me"), Subject::Tool, None, (&scene.settings, 0)).is_none(), "tools are kept by rules alone");
}

#[test]
fn a_change_ends_what_it_concerns_and_what_is_under_way() {
    let scene = Scene::new();
    let changed = |method: &str, uri: Option<&str>| scene.cache.end_changed(1, method, uri);
    scene.keep(key("me"), &result("a"));
    changed("notifications/resources/list_changed", None);
    changed("notifications/resources/updated", Some("file:///b"));
    scene.cache.end_changed(2, "notifications/resources/updated", Some("file:///a"));
    assert!(scene.hit(key("me")).is_some());
    changed("notifications/resources/updated", Some("file:///a/below"));
    assert!(scene.hit(key("me")).is_none());
    let lists = Scene { subject: Subject::List(List::Templates), ..Scene::new() };
    lists.keep(key("me"), &result("a"));
    lists.cache.end_changed(1, "notifications/resources/list_changed", None);
    assert!(lists.hit(key("me")).is_none());
    // What was asked for before a change may be from before it.
    let (plan, watch) = (scene.plan(key("me")), Watch::default());
    *watch.hints.lock().expect("a lock") = scene.hints;
    let ended = scene.cache.mark(scene.now);
    changed("notifications/resources/updated", Some("file:///a"));
    scene.cache.keep(&plan, (&result("old"), &watch), ended, &scene.settings, scene.now);
    assert!(scene.hit(key("me")).is_none());
    scene.keep(key("me"), &result("a"));
    scene.cache.end_upstream(1);
    assert!(scene.hit(key("me")).is_none());
}

#[test]
fn a_tool_that_writes_ends_what_its_rules_keep() {
    let scene = Scene::by_rule();
    scene.keep(key("me"), &result("a"));
    scene.keep(key("you"), &result("b"));
    assert_eq!(ended_by(&scene.settings, "a_write_file", "write_file"), [0]);
    assert_eq!(ended_by(&scene.settings, "read", "read"), [0; 0]);
    drop(scene.cache.begin_write(vec![1], 0, PATIENCE));
    assert!(scene.hit(key("me")).is_some());
    drop(scene.cache.begin_write(vec![0], 0, PATIENCE));
    assert!(scene.hit(key("me")).is_none() && scene.hit(key("you")).is_none());
}

#[test]
fn rules_go_by_the_name_and_a_folder_is_not_left_by_dots() {
    let settings = Scene::new().settings;
    let resource = |uri: &str| rule_for(&settings, &Subject::Resource(uri.to_owned()), uri);
    assert_eq!(rule_for(&settings, &Subject::Tool, "usage"), Some(0));
    assert_eq!(rule_for(&settings, &Subject::Tool, "file:///public/a"), None);
    assert_eq!((resource("file:///public/a"), resource("file:///public/../private")), (Some(0), None));
    assert_eq!(rule_for(&settings, &Subject::List(List::Tools), "usage"), None);
}

#[test]
fn the_cache_is_bounded_and_what_was_used_longest_ago_goes_first() {
    let mut scene = Scene::new();
    let size = OVERHEAD + result("x").text().len() + "file:///a".len() + "medefault".len();
    scene.settings.bytes = size * 8 + 7;
    let numbered = |number: u8| EntryKey { request: [number; 32], ..key("me") };
    for number in 0..8 {
        scene.keep(numbered(number), &result("x"));
    }
    assert!(scene.hit(numbered(0)).is_some());
    scene.keep(numbered(8), &result("x"));
    assert!(scene.hit(numbered(1)).is_none() && scene.hit(numbered(0)).is_some() && scene.hit(numbered(8)).is_some());
    assert_eq!((scene.cache.counts().0, scene.cache.counts().1), (8, size * 8));
    scene.cache.sweep(scene.now + Duration::from_mins(2));
    assert_eq!((scene.cache.counts().0, scene.cache.counts().1), (0, 0));
    assert!(scene.cache.state().order.is_empty());
}

#[test]
fn equal_requests_of_one_principal_wait_for_one() {
    let scene = Scene::new();
    let find = |principal| scene.cache.find(&scene.plan(key(principal)), &RequestId::from(1), scene.now);
    let Found::Lead(lead) = find("me") else { panic!("nothing is kept") };
    assert!(matches!(find("me"), Found::Wait(_)));
    assert!(matches!(find("you"), Found::Lead(_)), "another principal does not wait");
    scene.keep(key("me"), &result("a"));
    drop(lead);
    assert!(matches!(find("me"), Found::Hit(_)));
}

#[test]
fn while_a_write_has_no_answer_its_rules_keep_nothing() {
    let mut scene = Scene::by_rule();
    let keep_and_hit = |scene: &Scene| {
        scene.keep(key("me"), &result("a"));
        scene.hit(key("me")).is_some()
    };
    for answered in [true, false] {
        let writing = scene.cache.begin_write(vec![0], scene.cache.generation(), PATIENCE);
        let write = Arc::clone(writing.write());
        write.sent();
        assert!(keep_and_hit(&scene), "its end will end it");
        // The client leaves.
        drop(writing);
        assert!(!keep_and_hit(&scene));
        assert!(matches!(scene.cache.find(&scene.plan(key("me")), &RequestId::from(1), scene.now), Found::Alone));
        let (plan, mark) = (scene.plan(key("me")), scene.cache.mark(scene.now));
        if answered {
            write.answered();
        } else {
            scene.now = Instant::now() + PATIENCE + Duration::from_secs(1);
        }
        scene.cache.keep(&plan, (&result("old"), &Watch::default()), mark, &scene.settings, scene.now);
        assert!(scene.hit(key("me")).is_none(), "it was asked for before the end: {answered}");
        assert!(keep_and_hit(&scene));
    }
}

#[test]
fn a_write_without_answer_outlives_its_settings() {
    let scene = Scene::by_rule();
    let before = scene.cache.generation();
    let [lost, definite] = [(); 2].map(|()| scene.cache.begin_write(vec![7], before, PATIENCE));
    let write = Arc::clone(lost.write());
    write.sent();
    drop(lost);
    scene.cache.clear();
    scene.keep(key("me"), &result("a"));
    assert!(scene.hit(key("me")).is_none(), "what was rule 7 may be this one");
    write.answered();
    scene.keep(key("me"), &result("a"));
    assert!(scene.hit(key("me")).is_some());
    drop(definite);
    assert!(scene.hit(key("me")).is_none());
}

#[test]
fn what_was_planned_by_other_settings_is_not_kept() {
    let scene = Scene::by_rule();
    let plan = scene.plan(key("me"));
    scene.cache.clear();
    let mark = scene.cache.mark(scene.now);
    scene.cache.keep(&plan, (&result("a"), &Watch::default()), mark, &scene.settings, scene.now);
    assert!(scene.hit(key("me")).is_none());
    scene.keep(key("me"), &result("a"));
    assert!(scene.cache.hit(&plan, &RequestId::from(1), scene.now).is_none(), "nor is what is kept for it");
    assert!(scene.hit(key("me")).is_some());
}

#[test]
fn what_an_entry_is_about_counts_too() {
    let scene = Scene { subject: Subject::Resource("x".repeat(1000)), ..Scene::new() };
    scene.keep(key("me"), &result("a"));
    assert!(scene.cache.counts().1 > OVERHEAD + 1000);
}

#[test]
fn a_question_lets_equal_requests_go_on() {
    let scene = Scene::new();
    let find = || scene.cache.find(&scene.plan(key("me")), &RequestId::from(1), scene.now);
    let watch = Watch::default();
    let Found::Lead(lead) = find() else { panic!("nothing is kept") };
    watch.lead(Some(lead));
    assert!(matches!(find(), Found::Wait(_)));
    watch.note_question();
    assert!(matches!(find(), Found::Lead(_)));
}

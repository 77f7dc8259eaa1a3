//! What becomes of a key, by a clock of the test.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use net::service::{Answer, RpcError, code};
use serde_json::json;
use wire::message::{Packet, parse};
use wire::{RequestId, Revision};

use super::{Begun, CallKey, Claimed, KeptCalls, LONGEST_NAME, MOST_RUNNING, OVERHEAD, Round, RunningCall, awaited};
use crate::failure;
use crate::settings::IdempotencySettings;

const ARGUMENTS: [u8; 32] = [1; 32];
const OTHERS: [u8; 32] = [2; 32];

fn key(principal: &'static str, text: &str) -> CallKey {
    let principal = Some(principal).filter(|name| !name.is_empty()).map(HeaderValue::from_static);
    let [server, upstream, tool] = ["default", "a", "write"].map(str::to_owned);
    CallKey { principal, server, upstream, tool, key: text.to_owned() }
}

fn result(text: &str) -> Answer {
    Answer::result(&RequestId::from(1), &json!({ "content": [{ "type": "text", "text": text }] }))
}

fn error(code: i64, data: serde_json::Value) -> Answer {
    Answer::error(Some(&RequestId::from(1)), &RpcError::new(code, "no").with_data(data))
}

struct Store {
    calls: Arc<KeptCalls>,
    settings: IdempotencySettings,
    now: Instant,
}

impl Store {
    fn new(settings: IdempotencySettings) -> Self {
        Self { calls: Arc::default(), settings, now: Instant::now() }
    }

    /// What a gateway that starts again finds in a folder.
    fn open(folder: &Path) -> Self {
        let calls = Arc::new(KeptCalls::in_folder(folder).expect("a store"));
        Self { calls, ..Self::new(IdempotencySettings::default()) }
    }

    fn begin(&self, key: CallKey) -> Begun {
        self.calls.begin(key, (ARGUMENTS, None), &self.settings, self.now)
    }

    /// A call that answers the question with this state.
    fn round(&self, key: CallKey, state: &str) -> Begun {
        let text = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": "write", "inputResponses": {}, "requestState": state } });
        let Ok(Packet::Message(message)) = parse(text.to_string().as_bytes()) else { panic!("no message") };
        self.calls.begin(key, (ARGUMENTS, Round::of(&message)), &self.settings, self.now)
    }

    #[track_caller]
    fn run(&self, key: CallKey) -> RunningCall {
        running(self.begin(key))
    }

    fn end(&self, running: RunningCall, answer: &Answer) {
        drop(running.end(answer, Revision::NEWEST, self.now));
    }
}

#[track_caller]
fn running(begun: Begun) -> RunningCall {
    match begun {
        Begun::Run(running) => running,
        other => panic!("it does not run: {}", name(&other)),
    }
}

fn name(begun: &Begun) -> String {
    match begun {
        Begun::Run(_) => "run".to_owned(),
        Begun::Claiming(_) | Begun::Wait(_) => "wait".to_owned(),
        Begun::Answered(answer) => answer.text.clone(),
        Begun::Refused(failure) => failure.name.to_owned(),
    }
}

#[test]
fn a_result_is_kept_for_its_time_and_no_longer() {
    let mut store = Store::new(IdempotencySettings::default());
    store.end(store.run(key("me", "k")), &result("done"));
    store.now += Duration::from_hours(24) - Duration::from_secs(1);
    assert!(name(&store.begin(key("me", "k"))).contains("done"));
    let conflict = store.calls.begin(key("me", "k"), (OTHERS, None), &store.settings, store.now);
    assert_eq!(name(&conflict), failure::IDEMPOTENCY_CONFLICT.name);
    store.now += Duration::from_secs(2);
    drop(store.run(key("me", "k")));
}

#[test]
fn a_key_belongs_to_one_principal_server_upstream_and_tool() {
    let store = Store::new(IdempotencySettings::default());
    store.end(store.run(key("me", "k")), &result("mine"));
    let other = |change: fn(&mut CallKey)| {
        let mut key = key("me", "k");
        change(&mut key);
        key
    };
    for other in [
        key("you", "k"),
        key("", "k"),
        key("me", "l"),
        other(|key| key.server = "other".to_owned()),
        other(|key| key.upstream = "b".to_owned()),
        other(|key| key.tool = "delete".to_owned()),
    ] {
        store.end(running(store.begin(other)), &result("another"));
    }
    assert!(name(&store.begin(key("me", "k"))).contains("mine"));
}

#[tokio::test]
async fn the_second_call_waits_for_the_first() {
    let store = Store::new(IdempotencySettings::default());
    let first = store.run(key("me", "k"));
    let Begun::Wait(waiting) = store.begin(key("me", "k")) else { panic!("it runs twice") };
    store.end(first, &result("done"));
    assert!(awaited(waiting).await.expect("an answer").text.contains("done"));
    let first = store.run(key("me", "l"));
    let Begun::Wait(waiting) = store.begin(key("me", "l")) else { panic!("it runs twice") };
    drop(first);
    assert!(awaited(waiting).await.is_none());
    assert_eq!(name(&store.begin(key("me", "l"))), failure::IDEMPOTENCY_UNKNOWN.name);
}

#[test]
fn only_definite_outcomes_are_kept() {
    let store = Store::new(IdempotencySettings::default());
    for (answer, then) in [
        (error(code::INTERNAL_ERROR, json!({ "outcome": "unknown" })), failure::IDEMPOTENCY_UNKNOWN.name),
        (error(code::INVALID_PARAMS, json!({ "outcome": "unknown" })), failure::IDEMPOTENCY_UNKNOWN.name),
        (error(code::INTERNAL_ERROR, json!({ "outcome": "not run" })), "run"),
        (error(code::INVALID_PARAMS, json!({})), "run"),
        (error(code::URL_ELICITATION_REQUIRED, json!({})), "run"),
        (Answer::raw(Vec::new(), None), failure::IDEMPOTENCY_UNKNOWN.name),
    ] {
        let text = String::from_utf8_lossy(answer.text()).into_owned();
        store.end(store.run(key("me", &text)), &answer);
        assert_eq!(name(&store.begin(key("me", &text))), then, "{text}");
    }
    // What a server calls an outcome is not believed.
    let said = error(code::INTERNAL_ERROR, json!({ "outcome": "not run" }));
    store.end(store.run(key("me", "said")), &Answer::raw(said.text().to_vec(), said.code()));
    assert!(name(&store.begin(key("me", "said"))).contains("not run"));
    // A server that failed has said so.
    let failed = error(code::INTERNAL_ERROR, json!({}));
    store.end(store.run(key("me", "failed")), &failed);
    assert!(name(&store.begin(key("me", "failed"))).contains("-32603"));
}

#[test]
fn a_call_with_questions_is_one_call() {
    let store = Store::new(IdempotencySettings::default());
    let asked = Answer::result(&RequestId::from(1), &json!({ "resultType": "input_required", "requestState": "s" }));
    store.end(store.run(key("me", "k")), &asked);
    assert!(name(&store.begin(key("me", "k"))).contains("input_required"), "not a second run");
    // Nothing begins a second time: neither without the state that was handed out, nor with another one.
    for other in ["", "t"] {
        assert!(name(&store.round(key("me", "k"), other)).contains("input_required"), "{other}");
    }
    // A refused answer leaves it where it was.
    store.end(running(store.round(key("me", "k"), "s")), &error(code::INVALID_PARAMS, json!({})));
    assert!(name(&store.begin(key("me", "k"))).contains("input_required"));
    let second = running(store.round(key("me", "k"), "s"));
    assert_eq!(name(&store.round(key("me", "k"), "s")), "wait");
    store.end(second, &result("done"));
    assert!(name(&store.round(key("me", "k"), "s")).contains("done"));
    assert_eq!(
        store.calls.counts().1,
        OVERHEAD + key("me", "k").bytes() + result("done").text().len(),
        "what was asked is no longer kept"
    );
}

#[test]
fn keys_and_bytes_are_bounded_and_nothing_is_given_up_for_another() {
    let mut store = Store::new(IdempotencySettings { entries: 4, ..IdempotencySettings::default() });
    for text in ["a", "b", "c"] {
        store.end(store.run(key("me", text)), &result(text));
    }
    // One principal leaves something for others.
    assert_eq!(name(&store.begin(key("me", "d"))), failure::IDEMPOTENCY_FULL.name);
    let runs = store.run(key("you", "a"));
    assert_eq!(name(&store.begin(key("you", "b"))), failure::IDEMPOTENCY_FULL.name);
    assert!(name(&store.begin(key("me", "a"))).contains("\"a\""));
    store.now += Duration::from_hours(25);
    assert_eq!(name(&store.begin(key("you", "a"))), "wait", "what runs is not forgotten");
    drop(store.run(key("you", "b")));
    drop(runs);
    let small = Store::new(IdempotencySettings { bytes: 8192, ..IdempotencySettings::default() });
    small.end(small.run(key("", "a")), &result(&"x".repeat(8192)));
    assert_eq!(name(&small.begin(key("", "a"))), failure::IDEMPOTENCY_TOO_LARGE.name);
    small.end(small.run(key("", "b")), &result("small"));
    assert!(name(&small.begin(key("", "b"))).contains("small"));
    let busy = Store::new(IdempotencySettings::default());
    let running: Vec<_> = (0..MOST_RUNNING).map(|number| busy.run(key("", &number.to_string()))).collect();
    assert_eq!(name(&busy.begin(key("", "k"))), failure::IDEMPOTENCY_BUSY.name);
    drop(running);
    drop(busy.run(key("", "k")));
    small.calls.sweep(small.now + Duration::from_hours(25));
    assert_eq!(small.calls.counts(), (0, 0, 0));
}

#[tokio::test]
async fn a_store_keeps_what_came_of_calls_and_blocks_what_ran() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path());
    let mut ran = store.run(key("me", "ran"));
    assert!(matches!(ran.claim(Duration::ZERO).await, Claimed::Run));
    assert!(ran.end(&result("done"), Revision::R2025_06_18, store.now).outlives_crash().await);
    let runs = store.run(key("me", "runs"));
    store.end(store.run(key("", "not run")), &error(code::INVALID_PARAMS, json!({})));
    let asked = Answer::result(&RequestId::from(1), &json!({ "resultType": "input_required", "requestState": "s" }));
    store.end(store.run(key("me", "asked")), &asked);
    store.end(store.run(key("me", "large")), &result(&"x".repeat(65 << 20)));
    let before = store.calls.counts();
    store.calls.close();
    let again = Store::open(folder.path());
    // What runs is counted like what is kept.
    assert_eq!(again.calls.counts(), before);
    let Begun::Answered(answer) = again.begin(key("me", "ran")) else { panic!("it runs again") };
    assert_eq!((answer.revision, answer.code), (Revision::R2025_06_18, None));
    assert!(answer.text.contains("done"));
    let conflict = again.calls.begin(key("me", "ran"), (OTHERS, None), &again.settings, again.now);
    assert_eq!(name(&conflict), failure::IDEMPOTENCY_CONFLICT.name);
    assert_eq!(name(&again.begin(key("", "ran"))), "run", "another principal's");
    assert_eq!(name(&again.begin(key("me", "runs"))), failure::IDEMPOTENCY_UNKNOWN.name);
    assert_eq!(name(&again.begin(key("", "not run"))), "run");
    assert_eq!(name(&again.begin(key("me", "large"))), failure::IDEMPOTENCY_TOO_LARGE.name);
    assert!(name(&again.begin(key("me", "asked"))).contains("input_required"));
    let round = again.round(key("me", "asked"), "s");
    again.end(running(round), &result("done"));
    drop(runs);
}

#[tokio::test]
async fn a_key_is_forgotten_in_the_store_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(folder.path());
    store.settings.ttl = Duration::from_millis(40);
    for text in ["swept", "left"] {
        store.end(store.run(key("me", text)), &result(text));
    }
    store.calls.close();
    std::thread::sleep(Duration::from_millis(60));
    let again = Store::open(folder.path());
    assert_eq!(again.calls.counts(), (0, 0, 0));
    again.end(again.run(key("me", "swept")), &result("again"));
    again.calls.sweep(again.now + Duration::from_hours(25));
    again.calls.close();
    assert_eq!(Store::open(folder.path()).calls.counts(), (0, 0, 0));
}

#[tokio::test]
async fn a_call_does_not_run_where_it_cannot_be_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path());
    store.calls.close();
    let claimed = store.run(key("me", "k")).claim(Duration::ZERO).await;
    assert!(matches!(claimed, Claimed::Refused(failure, None) if failure.name == "idempotency-not-written"));
}

#[test]
fn made_up_names_are_counted_and_bounded() {
    let store = Store::new(IdempotencySettings { bytes: 64 << 10, ..IdempotencySettings::default() });
    let named = |name: String| CallKey { tool: name, ..key("", "k") };
    assert_eq!(name(&store.begin(named("n".repeat(LONGEST_NAME + 1)))), failure::IDEMPOTENCY_KEY_INVALID.name);
    let kept: Vec<_> = (0..1000)
        .map(|number| store.begin(named(format!("{number:01000}"))))
        .take_while(|begun| matches!(begun, Begun::Run(_)))
        .collect();
    assert!((30..44).contains(&kept.len()), "{} names of 1000 bytes in 64 KiB", kept.len());
    assert!(store.calls.counts().1 <= 64 << 10);
}

#[test]
fn principals_that_have_all_they_may_leave_something_for_the_next() {
    let store = Store::new(IdempotencySettings { entries: 1000, ..IdempotencySettings::default() });
    let mut kept = Vec::new();
    for principal in ["a", "b", "c", "d"] {
        let most = (0..1000).take_while(|number| match store.begin(key(principal, &number.to_string())) {
            Begun::Run(running) => {
                store.end(running, &result("done"));
                true
            }
            _ => false,
        });
        kept.push(most.count());
    }
    assert_eq!(kept, [750, 188, 47, 12]);
}

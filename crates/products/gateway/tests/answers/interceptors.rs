//! Interceptors as clients and servers see them: what they change, what they stop, and what their failures cost.

use std::time::{Duration, Instant};

use gateway::settings::{
    AuditSettings, CacheRule, CacheSettings, ConditionText, IdempotencySettings, InterceptorSettings, Settings,
};
use net::service::{Answer, Call, Reply, RpcError};
use serde_json::{Value, json};
use wire::Revision;

use crate::looker::{Asked, looker, proceed, program, set, slow};
use crate::scene::{Scene, allow, result, text};

const ERAS: [Revision; 2] = [Revision::R2025_11_25, Revision::R2026_07_28];

/// A server that says which arguments it got.
fn repeats(call: Call) -> Reply {
    let arguments = call.message.value()["params"]["arguments"].to_string();
    result(&call, &arguments, json!({}))
}

async fn scene(revision: Revision, interceptors: Vec<InterceptorSettings>) -> Scene {
    Scene::intercepted(revision, |settings| settings.interceptors = interceptors, repeats).await
}

async fn called(scene: &Scene, revision: Revision, arguments: Value) -> Value {
    scene.client("/mcp", revision, "alice").await.call("read", arguments).await
}

fn failure(response: &Value) -> &str {
    response["error"]["data"]["failure"].as_str().unwrap_or_else(|| panic!("no failure in {response}"))
}

#[tokio::test]
async fn they_are_asked_in_order_and_back_and_see_what_was_changed() {
    for client in ERAS {
        for server in ERAS {
            let (first, first_asked) = looker("first", |question| match question["phase"].as_str() {
                Some("before") => set(json!({ "a": 1 })),
                _ => json!({ "verdict": "modify", "result": { "set": { "content": [{ "type": "text", "text": "first" }] } } }),
            })
            .await;
            let (second, second_asked) = looker("second", |question| match question["phase"].as_str() {
                Some("before") => json!({ "verdict": "modify", "arguments": { "set": { "b": 2 }, "remove": ["gone"] } }),
                _ => json!({ "verdict": "modify", "result": { "set": { "content": [{ "type": "text", "text": "second" }] } } }),
            })
            .await;
            let scene = scene(server, vec![first, second]).await;
            let answer = called(&scene, client, json!({ "a": 0, "gone": true, "big": 1 })).await;
            assert_eq!(text(&answer), "first", "{client} {server}: the first one has the last word");
            let sent = &scene.seen.of("tools/call", "read")[0]["params"]["arguments"];
            assert_eq!(*sent, json!({ "b": 2, "a": 1, "big": 1 }), "{client} {server}");
            let question = &first_asked.of("before")[0];
            assert_eq!(question["arguments"], json!({ "a": 0, "gone": true, "big": 1 }));
            assert_eq!(
                (&question["name"], &question["server"], &question["upstream"]),
                (&json!("read"), &json!("default"), &json!("a"))
            );
            assert_eq!(
                (&question["method"], &question["principal"]),
                (&json!("tools/call"), &json!({ "sub": "alice" }))
            );
            assert!(question["request_id"].is_u64(), "{question}");
            assert_eq!(second_asked.of("before")[0]["arguments"], json!({ "a": 1, "gone": true, "big": 1 }));
            assert_eq!(first_asked.of("after")[0]["result"]["content"][0]["text"], "second");
            assert_eq!(first_asked.of("after")[0]["attempt"], 1);
            scene.end().await;
        }
    }
}

#[tokio::test]
async fn a_server_may_be_spared_and_a_call_refused() {
    for revision in ERAS {
        let (outer, outer_asked) = looker("outer", |_| proceed()).await;
        let (answers, _) = looker("answers", |question| match question["arguments"]["q"].as_str() {
            Some("answer") => {
                json!({ "verdict": "answer", "result": { "content": [{ "type": "text", "text": "short" }] } })
            }
            Some("refuse") => json!({ "verdict": "refuse", "message": "no tea on Sundays" }),
            _ => json!({ "verdict": "stop" }),
        })
        .await;
        let (last, last_asked) = looker("last", |_| proceed()).await;
        let scene = scene(revision, vec![outer, answers, last]).await;
        let short = called(&scene, revision, json!({ "q": "answer" })).await;
        assert_eq!(text(&short), "short");
        if revision == Revision::R2026_07_28 {
            assert_eq!(short["result"]["resultType"], "complete");
        }
        assert_eq!(outer_asked.of("after")[0]["result"]["content"][0]["text"], "short");
        let refused = called(&scene, revision, json!({ "q": "refuse" })).await;
        assert_eq!(failure(&refused), "interceptor-refused");
        assert_eq!(refused["error"]["data"]["outcome"], "not run");
        assert!(
            refused["error"]["message"].as_str().is_some_and(|text| text.contains("no tea on Sundays")),
            "{refused}"
        );
        assert_eq!((scene.seen.calls("read"), last_asked.all().len()), (0, 0));
        let stopped = called(&scene, revision, json!({ "q": "stop" })).await;
        assert!(text(&stopped).contains("stop"));
        assert_eq!((scene.seen.calls("read"), last_asked.all().len()), (1, 0), "the last one is not asked");
        assert_eq!(outer_asked.of("after").len(), 2, "and the first one sees the result");
        scene.end().await;
    }
}

#[tokio::test]
async fn changed_arguments_are_decided_on_again() {
    let rule = |text: &str| {
        let condition = ConditionText { text: text.to_owned(), line: 1, column: 1 };
        gateway::settings::AccessRule { condition: Some(condition), ..allow(&["read"]) }
    };
    for revision in ERAS {
        let (changes, asked) = looker("changes", |question| match question["phase"].as_str() {
            Some("before") if question["arguments"]["want"] == "theirs" => set(json!({ "tenant": "other" })),
            _ => proceed(),
        })
        .await;
        let folder = tempfile::tempdir().expect("a folder");
        let access = Some(vec![rule("arguments.tenant == 'own'")]);
        let audit = Some(AuditSettings::new(folder.path().to_owned()));
        let scene = Scene::intercepted(
            revision,
            |settings| *settings = Settings { access, audit, interceptors: vec![changes], ..settings.clone() },
            repeats,
        )
        .await;
        let fine = called(&scene, revision, json!({ "tenant": "own" })).await;
        assert!(text(&fine).contains("own"), "{fine}");
        // The client itself may not, and the interceptor does not hear of it.
        let before = asked.all().len();
        let own = called(&scene, revision, json!({ "tenant": "other" })).await;
        assert_eq!((failure(&own), asked.all().len()), ("item-unknown", before));
        // It may, and the interceptor makes of it what it may not.
        let changed = called(&scene, revision, json!({ "tenant": "own", "want": "theirs" })).await;
        assert_eq!(failure(&changed), "item-unknown", "{changed}");
        assert_eq!(scene.seen.calls("read"), 1, "the server got what the rules forbid");
        scene.end().await;
        let records = records(folder.path());
        let last = records.iter().rfind(|record| record["tool_name"] == "read").expect("a record");
        assert_eq!((&last["access"], &last["status"]), (&json!("denied"), &json!("denied")));
        assert_eq!(
            last["interceptors"][0],
            json!({ "interceptor": "changes", "phase": "before", "verdict": "modify" })
        );
        let first = records.iter().find(|record| record["tool_name"] == "read").expect("a record");
        assert_eq!(first["interceptors"].as_array().map(Vec::len), Some(2), "{first}");
    }
}

fn records(folder: &std::path::Path) -> Vec<Value> {
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    files.sort();
    let texts = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
    let lines = |text: String| text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect::<Vec<Value>>();
    texts.flat_map(lines).map(|line| line.get("record").cloned().unwrap_or(line)).collect()
}

/// Two clients that ask for different things which an interceptor makes equal share a kept answer, and no others do.
#[tokio::test]
async fn the_cache_and_idempotency_compare_changed_arguments() {
    let revision = Revision::R2026_07_28;
    let (changes, _) = looker("changes", |question| match question["phase"].as_str() {
        Some("before") => set(json!({ "q": question["arguments"]["q"].as_str().unwrap_or_default().to_lowercase() })),
        _ => proceed(),
    })
    .await;
    let rule = CacheRule {
        tools: vec!["read".to_owned()],
        resources: Vec::new(),
        lists: Vec::new(),
        ttl: Duration::from_mins(1),
        shared: false,
        invalidated_by: Vec::new(),
    };
    let cache = Some(CacheSettings { rules: vec![rule], ..CacheSettings::default() });
    let idempotency = Some(IdempotencySettings::default());
    let scene = Scene::intercepted(
        revision,
        |settings| {
            settings.interceptors = vec![changes];
            settings.answers.cache = cache;
            settings.answers.idempotency = idempotency;
        },
        repeats,
    )
    .await;
    let client = scene.client("/mcp", revision, "alice").await;
    for (q, calls) in [("Tea", 1), ("TEA", 1), ("Milk", 2)] {
        let answer = client.call("read", json!({ "q": q })).await;
        assert!(text(&answer).contains(&q.to_lowercase()), "{answer}");
        assert_eq!(scene.seen.calls("read"), calls, "{q}");
    }
    let key = [("idempotency-key", "k1")];
    let write = |q: &str| json!({ "name": "write", "arguments": { "q": q } });
    for q in ["One", "ONE"] {
        let answer = client.ask("tools/call", write(q), &key).await;
        assert!(text(&answer).contains("one"), "{answer}");
    }
    assert_eq!(scene.seen.calls("write"), 1, "it ran twice");
    assert_eq!(failure(&client.ask("tools/call", write("two"), &key).await), "idempotency-conflict");
    scene.end().await;
}

#[tokio::test]
async fn headers_that_are_listed_reach_the_server_and_no_others() {
    let revision = Revision::R2026_07_28;
    let answer = |call: Call| {
        let headers = call.context.headers.clone().unwrap_or_default();
        let of = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("none").to_owned();
        result(&call, &format!("{} {}", of("x-team"), of("authorization")), json!({}))
    };
    let says = |question: &Value| {
        let headers = question["arguments"]["headers"].clone();
        if question["phase"] == "before" { json!({ "verdict": "modify", "headers": headers }) } else { proceed() }
    };
    let (mut adds, _) = looker("adds", says).await;
    adds.headers = vec!["x-team".to_owned()];
    let scene = Scene::intercepted(revision, |settings| settings.interceptors = vec![adds], answer).await;
    let team = called(&scene, revision, json!({ "headers": { "X-Team": "blue" } })).await;
    assert_eq!(text(&team), "blue none");
    let refused = called(&scene, revision, json!({ "headers": { "Authorization": "Bearer x" } })).await;
    assert_eq!(failure(&refused), "interceptor-failed");
    assert_eq!(scene.seen.calls("read"), 1);
    scene.end().await;
}

/// Ways not to answer.
async fn broken() -> Vec<(&'static str, InterceptorSettings)> {
    let instantly = |body: &'static str| move |_: &Value| (Duration::ZERO, body.to_owned());
    let (mut late, _) = slow("late", |_| (Duration::from_secs(30), proceed().to_string())).await;
    late.timeout = Duration::from_millis(100);
    let (mut huge, _) =
        slow("huge", |_| (Duration::ZERO, format!("{{\"verdict\":\"{}\"}}", "x".repeat(1 << 20)))).await;
    huge.answer_bytes = 10_000;
    let mut long_line = program("long_line", "head -c 2000000 /dev/zero | tr '\\0' x; echo");
    long_line.answer_bytes = 10_000;
    let mut silent = program("silent", ":");
    silent.timeout = Duration::from_millis(200);
    vec![
        ("late", late),
        ("huge", huge),
        ("garbage", slow("garbage", instantly("<html>")).await.0),
        ("unknown verdict", slow("unknown", instantly(r#"{"verdict":"permit"}"#)).await.0),
        ("long line", long_line),
        ("no answer", silent),
        ("garbage line", program("garbage_line", "echo nonsense")),
        ("it ends", program("ends", "exit 3")),
        ("it does not start", {
            let target = gateway::settings::InterceptorTarget::Command(
                net::process::Command::new("/does/not/exist", [""; 0]),
                Vec::new(),
            );
            InterceptorSettings::new("missing", target)
        }),
    ]
}

#[tokio::test]
async fn whatever_fails_is_open_or_closed_as_configured() {
    let revision = Revision::R2026_07_28;
    for (what, one) in broken().await {
        for (before, fails_open) in [(true, false), (true, true), (false, false), (false, true)] {
            let one = InterceptorSettings { before, after: !before, fails_open, ..one.clone() };
            let scene = scene(revision, vec![one]).await;
            let begun = Instant::now();
            let answer = called(&scene, revision, json!({ "q": "tea" })).await;
            assert!(begun.elapsed() < Duration::from_secs(5), "{what}: {:?}", begun.elapsed());
            let calls = scene.seen.calls("read");
            if fails_open {
                assert_eq!((text(&answer), calls), (r#"{"q":"tea"}"#, 1), "{what}");
            } else {
                let expected = if before { ("interceptor-failed", 0) } else { ("result-unseen", 1) };
                assert_eq!((failure(&answer), calls), expected, "{what}: {answer}");
            }
            scene.end().await;
        }
    }
}

/// After five failures nothing is asked for a while.
#[tokio::test]
async fn one_that_is_dead_costs_no_time() {
    let revision = Revision::R2025_11_25;
    let (mut late, asked) = slow("late", |_| (Duration::from_secs(30), String::new())).await;
    (late.timeout, late.after, late.fails_open) = (Duration::from_millis(50), false, true);
    let scene = scene(revision, vec![late]).await;
    let client = scene.client("/mcp", revision, "alice").await;
    for _ in 0..8 {
        text(&client.call("read", json!({})).await);
    }
    assert_eq!((asked.all().len(), scene.seen.calls("read")), (5, 8));
    scene.end().await;
}

#[tokio::test]
async fn a_program_is_asked_over_lines_and_started_again() {
    for revision in ERAS {
        let case = r#"case $line in
            *crash*) exit 1 ;;
            *'"phase":"before"'*) printf '{"id":%s,"verdict":"modify","arguments":{"set":{"pid":%s}}}\n' "$id" $$ ;;
            *) printf '{"id":%s,"verdict":"continue"}\n' "$id" ;; esac"#;
        let scene = scene(revision, vec![program("lines", case)]).await;
        let client = scene.client("/mcp", revision, "alice").await;
        let first = text(&client.call("read", json!({})).await).to_owned();
        assert_eq!(text(&client.call("read", json!({})).await), first, "it is the same process");
        assert_eq!(failure(&client.call("read", json!({ "crash": true })).await), "interceptor-failed");
        let again = client.call("read", json!({})).await;
        assert_ne!(text(&again), first, "it is another process");
        scene.end().await;
    }
}

/// Several questions to one program are under way at once, and answers come in another order.
#[tokio::test]
async fn a_program_may_answer_in_any_order() {
    let revision = Revision::R2026_07_28;
    let case = r#"if [ -z "$held" ]; then held=$id; else
        printf '{"id":%s,"verdict":"modify","arguments":{"set":{"n":2}}}\n{"id":%s,"verdict":"modify","arguments":{"set":{"n":1}}}\n' "$id" "$held"; fi"#;
    let mut one = program("lines", case);
    (one.after, one.timeout) = (false, Duration::from_secs(10));
    let scene = scene(revision, vec![one]).await;
    let client = scene.client("/mcp", revision, "alice").await;
    let (a, b) = tokio::join!(client.call("read", json!({ "c": 1 })), client.call("read", json!({ "c": 2 })));
    let mut both = [text(&a).to_owned(), text(&b).to_owned()];
    both.sort();
    assert!(both[0].contains("\"n\":1") && both[1].contains("\"n\":2"), "{both:?}");
    scene.end().await;
}

#[tokio::test]
async fn a_call_is_sent_again_only_where_that_is_harmless() {
    let revision = Revision::R2026_07_28;
    let answer = |call: Call| Answer::error(Some(call.id()), &RpcError::new(-32000, "busy")).into();
    let (mut again, asked) =
        looker(
            "again",
            |question| if question["phase"] == "after" { json!({ "verdict": "retry" }) } else { proceed() },
        )
        .await;
    again.retries = 2;
    let scene = Scene::intercepted(revision, |settings| settings.interceptors = vec![again], answer).await;
    let client = scene.client("/mcp", revision, "alice").await;
    for (tool, calls) in [("read", 3), ("write", 1)] {
        let failed = client.call(tool, json!({})).await;
        assert_eq!(failed["error"]["message"], "busy", "{failed}");
        assert_eq!(scene.seen.calls(tool), calls, "{tool}");
    }
    let attempts: Vec<_> = asked.of("after").iter().map(|question| question["attempt"].clone()).collect();
    assert_eq!(attempts, [1, 2, 3, 1]);
    assert_eq!(asked.of("after")[0]["error"]["message"], "busy");
    scene.end().await;
}

#[tokio::test]
async fn secrets_are_concealed_unless_they_pass() {
    let revision = Revision::R2025_11_25;
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let (concealed, without) = looker("concealed", |_| proceed()).await;
    let (mut passed, with) = looker("passed", |_| proceed()).await;
    passed.passes_secrets = true;
    let scene = scene(revision, vec![concealed, passed]).await;
    let answer = called(&scene, revision, json!({ "token": secret, "q": "tea" })).await;
    assert!(text(&answer).contains(secret), "the server gets what the client sent");
    let heard = |asked: &Asked| asked.all().iter().filter(|question| question.to_string().contains(secret)).count();
    assert_eq!((heard(&without), heard(&with), without.all().len()), (0, 2, 2));
    assert_eq!(without.of("before")[0]["arguments"]["q"], "tea");
    scene.end().await;
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_question() {
    let revision = Revision::R2026_07_28;
    let (mut late, asked) = slow("late", |_| (Duration::from_secs(30), proceed().to_string())).await;
    late.timeout = Duration::from_mins(1);
    let scene = scene(revision, vec![late]).await;
    let client = scene.client("/mcp", revision, "alice").await;
    let left = tokio::time::timeout(Duration::from_millis(300), client.call("read", json!({}))).await;
    assert!(left.is_err(), "it was answered");
    drop(client);
    for _ in 0..300 {
        if asked.left() == 1 {
            assert_eq!(scene.seen.calls("read"), 0);
            return scene.end().await;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the question is still open");
}

/// A large result that would pass as it comes is read whole where an interceptor has to see it.
#[tokio::test]
async fn a_large_result_does_not_slip_past() {
    for revision in ERAS {
        let large = "x".repeat(300_000);
        let answer = move |call: Call| result(&call, &large, json!({}));
        let hides = json!({ "verdict": "modify", "result": { "set": { "content": [] } } });
        let (mut hides, asked) = looker("hides", move |_| hides.clone()).await;
        hides.before = false;
        let scene = Scene::intercepted(revision, |settings| settings.interceptors = vec![hides], answer).await;
        let answer = called(&scene, revision, json!({})).await;
        assert_eq!((&answer["result"]["content"], asked.all().len()), (&json!([]), 1), "{revision}");
        scene.end().await;
    }
}

/// An interceptor that reads the last of two members and a client that reads the first would see different results.
#[tokio::test]
async fn a_result_with_a_member_twice_is_not_passed() {
    let revision = Revision::R2026_07_28;
    let answer = |call: Call| {
        let block = |text: &str| format!(r#"[{{"type":"text","text":"{text}"}}]"#);
        let (first, last) = (block("hidden"), block("harmless"));
        let result = format!(r#"{{"resultType":"complete","content":{first},"content":{last}}}"#);
        let text = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, call.id().to_json());
        Answer::raw(text.into_bytes(), None).into()
    };
    let (one, asked) = looker("one", |_| proceed()).await;
    let scene = Scene::intercepted(revision, |settings| settings.interceptors = vec![one], answer).await;
    let refused = called(&scene, revision, json!({})).await;
    assert_eq!((failure(&refused), asked.of("after").len()), ("result-unseen", 0));
    scene.end().await;
}

#[tokio::test]
async fn a_result_that_comes_as_a_task_does_not_slip_past() {
    let (mut one, _) = looker("one", |_| proceed()).await;
    one.before = false;
    let scene = scene(Revision::R2025_11_25, vec![one]).await;
    let client = scene.client("/mcp", Revision::R2025_11_25, "alice").await;
    let params = json!({ "name": "read", "arguments": {}, "task": {} });
    let refused = client.ask("tools/call", params, &[]).await;
    assert_eq!((failure(&refused), scene.seen.calls("read")), ("task-unseen", 0));
    scene.end().await;
}

#[tokio::test]
async fn tools_that_no_interceptor_sees_are_not_held_up() {
    let revision = Revision::R2025_11_25;
    let (mut one, asked) = looker("one", |_| json!({ "verdict": "refuse" })).await;
    one.names = vec!["wri*".to_owned()];
    let scene = scene(revision, vec![one]).await;
    let client = scene.client("/mcp", revision, "alice").await;
    assert_eq!(text(&client.call("read", json!({ "a": 1 })).await), r#"{"a":1}"#);
    assert_eq!(failure(&client.call("write", json!({ "a": 1 })).await), "interceptor-refused");
    assert_eq!(asked.all().len(), 1);
    scene.end().await;
}

//! The audit log: one record for each request, which nobody can change unnoticed.

use std::fs;
use std::path::Path;
use std::time::Duration;

use gateway::audit::{Flaw, Verified, VerifyError, VerifyingKey, generate_key, key_text, verify};
use gateway::settings::{AuditInputs, AuditSettings};
use serde_json::{Value, json};
use wire::Revision;

use super::{Scene, call, post, post_body, rules};

/// The lines of a log, in order.
fn lines(folder: &Path) -> Vec<Value> {
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let text: String = files.iter().map(|file| fs::read_to_string(file).expect("a text")).collect();
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn requests(folder: &Path) -> Vec<Value> {
    lines(folder).into_iter().filter(|line| line["kind"] == "request").collect()
}

fn of_tool<'l>(records: &'l [Value], tool: &str) -> &'l Value {
    records.iter().find(|record| record["tool_name"] == tool).unwrap_or_else(|| panic!("no record of {tool}"))
}

async fn end(scene: Scene) {
    scene.server.shutdown().await;
    scene.gateway.shutdown().await;
}

#[tokio::test]
async fn a_request_has_one_record_with_who_and_what_and_no_secret() {
    for revision in [Revision::R2026_07_28, Revision::R2025_11_25] {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let scene = Scene::with(Some(rules()), Some(AuditSettings::new(log.clone()))).await;
        let token = scene.token(|claims| {
            claims["team"] = json!("data");
            claims["tenant_id"] = json!("acme");
        });
        let client = scene.client(revision, &token).await;
        assert!(call(&client, "echo", json!({ "message": "x".repeat(400) })).await.contains("xxx"));
        let secret = "the key is sk-live-0123456789abcdefghij";
        assert!(call(&client, "echo", json!({ "message": secret })).await.contains(secret));
        assert!(call(&client, "sum", json!({ "a": "one", "b": 2 })).await.contains("isError"));
        assert!(call(&client, "slow", json!({})).await.contains("-32602"));
        client.close().await;
        post(&scene, "/mcp", "").await;
        post(&scene, "/mcp", "authorization: Bearer not.a.token\r\n").await;
        end(scene).await;
        let records = requests(&log);
        let echo = of_tool(&records, "echo");
        for (member, expected) in [
            ("user_id", json!("me")),
            ("tenant_id", json!("acme")),
            ("upstream", json!("a")),
            ("server", json!("default")),
            ("method", json!("tools/call")),
            ("token", json!("valid")),
            ("access", json!("allowed")),
            ("status", json!("ok")),
            ("error_code", Value::Null),
            ("output", json!("1 text")),
        ] {
            assert_eq!(echo[member], expected, "{revision}: {member} of {echo}");
        }
        assert!(echo["latency_ms"].as_f64().is_some_and(|ms| ms > 0.0));
        assert!(echo["output_size_bytes"].as_u64().is_some_and(|size| size > 400));
        assert!(echo["input"]["message"].as_str().is_some_and(|text| text.ends_with("xx…")), "{echo}");
        assert_eq!(of_tool(&records, "sum")["status"], "tool_error");
        let denied = of_tool(&records, "slow");
        assert_eq!((&denied["status"], &denied["access"]), (&json!("denied"), &json!("denied")), "{denied}");
        let numbers: Vec<_> = records.iter().map(|record| record["request_id"].as_u64()).collect();
        let mut once = numbers.clone();
        once.dedup();
        assert_eq!(numbers, once);
        let text = fs::read_to_string(log.join("audit-000001.jsonl")).expect("a text");
        assert!(!text.contains("sk-live") && !text.contains(&token), "{text}");
        let refused: Vec<_> = lines(&log).into_iter().filter(|line| line["kind"] == "refused").collect();
        assert_eq!(refused.len(), 2, "{refused:?}");
        assert_eq!(refused[0]["token"], "none");
        let verified = verify(&log, None).expect("unchanged");
        assert!(verified.is_closed && verified.requests == records.len() as u64, "{verified:?}");
    }
}

/// A request that the gateway refuses names no upstream: none got it.
/// The first stage that refuses is the last one that sees a request.
#[tokio::test]
async fn a_bad_signature_meets_no_rule_and_no_server_and_a_denied_call_no_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let scene = Scene::with(Some(rules()), Some(AuditSettings::new(log.clone()))).await;
    let forged = oauth::jose::Signer::fresh().sign(json!({ "typ": "at+jwt" }), &scene.claims());
    let answer = post(&scene, "/mcp", &format!("authorization: Bearer {forged}\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    let client = scene.client(Revision::R2026_07_28, &scene.token(|_| ())).await;
    assert!(call(&client, "slow", json!({})).await.contains("-32602"));
    client.close().await;
    end(scene).await;
    let (all, recorded) = (lines(&log), requests(&log));
    let refused: Vec<_> = all.iter().filter(|line| line["kind"] == "refused").collect();
    let [refused] = refused[..] else { panic!("{all:#?}") };
    let decided = |record: &Value| ["access", "upstream", "method"].iter().any(|name| !record[*name].is_null());
    assert!(!decided(refused), "{refused}");
    assert!(recorded.iter().all(|record| record["token"] == "valid"), "{recorded:#?}");
    let denied = of_tool(&recorded, "slow");
    assert_eq!((&denied["access"], &denied["upstream"]), (&json!("denied"), &Value::Null), "{denied}");
}

#[tokio::test]
async fn a_request_that_no_upstream_got_names_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let scene = Scene::with(None, Some(AuditSettings::new(log.clone()))).await;
    let headers = format!(
        "authorization: Bearer {}\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: echo\r\n",
        scene.token(|_| {})
    );
    for more in ["", ",\"arguments\":{}"] {
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
        let params = format!(r#"{{"name":"echo","arguments":{{"message":"hello"}},"_meta":{meta}{more}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        post_body(&scene, "/mcp", &headers, &body).await;
    }
    end(scene).await;
    let upstreams: Vec<_> = requests(&log).iter().map(|record| record["upstream"].clone()).collect();
    assert_eq!(upstreams, [json!("a"), Value::Null]);
}

#[tokio::test]
async fn a_log_goes_on_after_a_restart_and_after_a_sudden_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let key = folder.path().join("key");
    let public = generate_key(&key).expect("a key");
    let settings = AuditSettings {
        key: Some(key_text(&key).expect("a text")),
        inputs: AuditInputs::Names,
        required: true,
        sync: true,
        ..AuditSettings::new(log.clone())
    };
    let public = VerifyingKey::read(&key_text(&public).expect("a text")).expect("a key");
    for round in 1..=3 {
        let scene = Scene::with(None, Some(settings.clone())).await;
        let client = scene.client(Revision::NEWEST, &scene.token(|_| {})).await;
        call(&client, "echo", json!({ "message": "hello" })).await;
        client.close().await;
        end(scene).await;
        let verified = verify(&log, Some(&public)).expect("unchanged");
        assert!(verified.is_closed && verified.signatures >= round && verified.unsigned == 0, "{verified:?}");
        // As after a sudden end: half a line.
        let file = log.join("audit-000001.jsonl");
        let mut text = fs::read_to_string(&file).expect("a text");
        text.push_str("{\"number\":99,\"bef");
        fs::write(&file, text).expect("a file");
        let Verified { is_closed, .. } = verify(&log, Some(&public)).expect("only the end is missing");
        assert!(!is_closed);
    }
    let all = lines_but_the_last(&log);
    assert_eq!(
        all.iter().filter(|line| line["kind"] == "started").count(),
        all.iter().filter(|l| l["kind"] == "request").count()
    );
    assert!(all.iter().all(|line| line["time"].is_string()), "{all:?}");
    let resumed: Vec<_> = all.iter().filter(|line| line["kind"] == "resumed").collect();
    assert_eq!(resumed.len(), 2, "{all:?}");
    assert_eq!(resumed[0]["cut_off"], "{\"number\":99,\"bef");
    assert!(all.iter().any(|line| line["input"] == json!({ "message": "string" })), "{all:?}");
    // Another key, and a line that somebody changed.
    let other = folder.path().join("other");
    let other = generate_key(&other).expect("a key");
    let other = VerifyingKey::read(&key_text(&other).expect("a text")).expect("a key");
    assert!(matches!(verify(&log, Some(&other)), Err(VerifyError::Line { flaw: Flaw::Signature, .. })));
    let file = log.join("audit-000001.jsonl");
    let text = fs::read_to_string(&file).expect("a text").replacen("\"echo\"", "\"ecco\"", 1);
    fs::write(&file, text).expect("a file");
    assert!(matches!(verify(&log, None), Err(VerifyError::Line { flaw: Flaw::Changed, .. })));
}

fn lines_but_the_last(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("audit-000001.jsonl")).expect("a text");
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[tokio::test]
async fn files_end_at_their_size_and_the_oldest_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let settings = AuditSettings { file_bytes: 2000, files: Some(3), ..AuditSettings::new(log.clone()) };
    let scene = Scene::with(None, Some(settings)).await;
    let client = scene.client(Revision::NEWEST, &scene.token(|_| {})).await;
    for _ in 0..40 {
        call(&client, "echo", json!({ "message": "hello" })).await;
    }
    client.close().await;
    end(scene).await;
    let verified = verify(&log, None).expect("unchanged");
    assert!(verified.files == 3 && verified.first > 0 && verified.is_closed, "{verified:?}");
    let middle = fs::read_dir(&log).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = middle.filter(|file| file.extension().is_some_and(|e| e == "jsonl")).collect();
    files.sort();
    fs::remove_file(&files[1]).expect("a file");
    assert!(matches!(verify(&log, None), Err(VerifyError::Line { flaw: Flaw::Order, .. })));
}

/// Where records are required, a request that cannot be recorded does not run, and an answer without a record is withheld.
#[tokio::test]
async fn nothing_is_answered_unrecorded_where_records_are_required() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    // Every write begins a file, which a folder that is gone does not take.
    let settings = AuditSettings { file_bytes: 1, required: true, ..AuditSettings::new(log.clone()) };
    let scene = Scene::with(None, Some(settings)).await;
    let client = scene.client(Revision::NEWEST, &scene.token(|_| {})).await;
    assert!(call(&client, "echo", json!({ "message": "hello" })).await.contains("hello"));
    // In the middle of a call: it has run, and its answer has no record.
    let slow = call(&client, "slow", json!({ "steps": 1, "delay_ms": 500 }));
    let lose = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        fs::remove_dir_all(&log).expect("a folder");
    };
    let (withheld, ()) = tokio::join!(slow, lose);
    assert!(withheld.contains("withheld") && withheld.contains(r#""outcome":"unknown""#), "{withheld}");
    let refused = call(&client, "echo", json!({ "message": "hello" })).await;
    assert!(refused.contains(r#""outcome":"not run""#), "{refused}");
    fs::create_dir(&log).expect("a folder");
    assert!(call(&client, "echo", json!({ "message": "hello" })).await.contains("hello"));
    client.close().await;
    end(scene).await;
    assert!(lines(&log).iter().any(|line| line["kind"] == "lost"), "the log tells of what it lacks");
}

#[tokio::test]
async fn two_gateways_do_not_write_one_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = AuditSettings::new(folder.path().to_owned());
    let gateway = |audit: &AuditSettings| {
        let settings = gateway::settings::Settings { audit: Some(audit.clone()), ..Default::default() };
        gateway::Gateway::new(&settings, &net::Children::new())
    };
    let first = gateway(&settings).expect("it can be written");
    let second = gateway(&settings).expect_err("it is taken").to_string();
    assert!(second.contains("another gateway"), "{second}");
    first.shutdown().await;
    assert!(gateway(&settings).is_ok());
}

/// A call of a slow tool whose client leaves in the middle of it: over HTTP by closing the connection.
#[tokio::test]
async fn a_client_that_leaves_in_the_middle_of_a_call_leaves_a_record() {
    for revision in [Revision::R2026_07_28, Revision::R2025_11_25] {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let settings = AuditSettings { required: true, ..AuditSettings::new(log.clone()) };
        let scene = Scene::with(None, Some(settings)).await;
        let client = scene.client(revision, &scene.token(|_| {})).await;
        let slow = json!({ "steps": 4, "delay_ms": 500 });
        let called = tokio::time::timeout(Duration::from_millis(400), call(&client, "slow", slow)).await;
        assert!(called.is_err(), "it takes longer");
        drop(client);
        let is_there = || requests(&log).iter().any(|record| record["tool_name"] == "slow");
        for _ in 0..100 {
            if is_there() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        end(scene).await;
        assert!(lines(&log).iter().any(|line| line["kind"] == "started" && line["tool_name"] == "slow"));
        let records = requests(&log);
        // Before 2026-07-28 a closed connection cancels nothing: the call goes on to its end.
        let expected = if revision == Revision::NEWEST { "cancelled" } else { "ok" };
        assert_eq!(of_tool(&records, "slow")["status"], expected, "{revision}: {records:?}");
    }
}

/// What somebody writes into the log while no gateway runs.
#[tokio::test]
async fn a_forged_history_is_found_or_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let key = folder.path().join("key");
    let public = VerifyingKey::read(&key_text(&generate_key(&key).expect("a key")).expect("a text")).expect("a key");
    let settings = AuditSettings { key: Some(key_text(&key).expect("a text")), ..AuditSettings::new(log.clone()) };
    let write = async || {
        let scene = Scene::with(None, Some(settings.clone())).await;
        let client = scene.client(Revision::NEWEST, &scene.token(|_| {})).await;
        call(&client, "echo", json!({ "message": "hello" })).await;
        client.close().await;
        end(scene).await;
    };
    write().await;
    let file = log.join("audit-000001.jsonl");
    let honest = fs::read_to_string(&file).expect("a text");
    // A text that is too long for a line, before an honest line.
    let (first, rest) = honest.split_once('\n').expect("lines");
    let inserted = format!("{first}\n{{\"kind\":\"request\"}}{}{rest}", " ".repeat((256 << 10) + 2 - 18));
    fs::write(&file, inserted).expect("a file");
    assert!(matches!(verify(&log, Some(&public)), Err(VerifyError::Line { flaw: Flaw::Form, .. })));
    // The beginning of the log is gone.
    fs::write(&file, rest).expect("a file");
    assert!(matches!(verify(&log, Some(&public)), Err(VerifyError::Line { flaw: Flaw::Order, .. })));
    // The end is gone: another gateway goes on, and the log says that nobody closed it.
    let kept: Vec<_> = honest.lines().take(3).collect();
    fs::write(&file, kept.join("\n") + "\n").expect("a file");
    write().await;
    let verified = verify(&log, Some(&public)).expect("what is there is whole");
    assert!(verified.not_closed_before == 1 && verified.never_signed == 3, "{verified:?}");
    // More unsigned lines than any gateway leaves behind: none goes on, and none of them passes.
    fs::remove_file(&file).expect("a file");
    let scene = Scene::with(None, Some(AuditSettings { key: None, ..settings.clone() })).await;
    let client = scene.client(Revision::NEWEST, &scene.token(|_| {})).await;
    for _ in 0..2001 {
        call(&client, "echo", json!({ "message": "forged" })).await;
    }
    client.close().await;
    end(scene).await;
    assert!(verify(&log, None).is_ok());
    assert!(matches!(verify(&log, Some(&public)), Err(VerifyError::Line { flaw: Flaw::Unsigned, .. })));
    let settings = gateway::settings::Settings { audit: Some(settings), ..Default::default() };
    let refused =
        gateway::Gateway::new(&settings, &net::Children::new()).expect_err("it vouches for nothing").to_string();
    assert!(refused.contains("no signature by this key"), "{refused}");
}

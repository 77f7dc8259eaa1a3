//! Child processes: how one that ends is named and started again, and what bounds them.

use std::time::{Duration, Instant};

use gateway::settings::{CommandLimits, Limits, Target};
use net::process::Command;
use serde_json::json;
use wire::Revision;

use crate::scene::{Scene, bounded, call, limits, list, named, names, script};
use crate::scripted::server;

const REVISION: Revision = Revision::R2025_11_25;

/// The process number that a tool of the script answers with.
fn pid(answer: &str) -> u32 {
    let rest = answer.split("pid ").nth(1).unwrap_or_else(|| panic!("no number in {answer}"));
    rest.split(' ').next().unwrap().parse().unwrap()
}

/// Whether a process runs; an ended one that nobody waited for does not.
fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(15), "never: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_crash_is_named_and_the_next_call_starts_another_child() {
    let mut command = Command::new("sh", ["-c", &server("tool", "")]);
    command.env.push(("TOKEN".to_owned(), "sk-abcdefghijklmnop0123456789".to_owned()));
    let target = Target::Command { command, inherit: Vec::new(), limits: CommandLimits::default() };
    let scene = Scene::of(target).await;
    let client = scene.client(REVISION).await;
    let first = pid(&call(&client, "tool", json!({})).await);
    let crash = call(&client, "tool-crash", json!({})).await;
    for part in ["exit code 3", "out of luck with token=", "the outcome is unknown", r#""outcome":"unknown""#] {
        assert!(crash.contains(part), "no {part:?} in {crash}");
    }
    assert!(!crash.contains("sk-abcdef"), "{crash}");
    let second = pid(&call(&client, "tool", json!({})).await);
    assert_ne!(first, second);
    assert!(!runs(first) && runs(second));
    scene.end().await;
    assert!(!runs(second));
}

#[tokio::test]
async fn a_child_that_stops_late_in_a_request_gets_no_other_one() {
    // It never answers the first; it answers the second and stops.
    let case = r#"*'"mute"'*) continue ;;
    *'"halt"'*) say '"result":{"content":[]}'; kill -STOP $$; continue ;;"#;
    let limits = Limits { request: Duration::from_secs(3), ..limits() };
    let scene = Scene::with(vec![named("one", script(&server("tool", case)))], limits).await;
    let client = scene.client(REVISION).await;
    let first = pid(&call(&client, "tool", json!({})).await);
    let halting = async {
        tokio::time::sleep(Duration::from_millis(2200)).await;
        call(&client, "halt", json!({})).await
    };
    let (mute, halted) = tokio::join!(call(&client, "mute", json!({})), halting);
    assert!(mute.contains(r#""outcome":"unknown""#), "{mute}");
    assert!(halted.contains("result"), "{halted}");
    let next = call(&client, "tool", json!({})).await;
    assert!(next.contains("pid ") && pid(&next) != first, "{next}");
    scene.end().await;
}

#[tokio::test]
async fn a_child_that_ends_at_once_again_and_again_is_left_alone_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    let text = format!("echo x >> {}\n{}", starts.display(), server("tool", ""));
    let scene = Scene::of(script(&text)).await;
    let client = scene.client(REVISION).await;
    let mut quick = 0;
    for _ in 0..20 {
        let begun = Instant::now();
        let answer = call(&client, "tool-crash", json!({})).await;
        assert!(answer.contains("exit code 3"), "{answer}");
        // Refused without a start: the error names the last cause and says that nothing was run.
        quick += usize::from(answer.contains(r#""outcome":"not run""#) && begun.elapsed() < Duration::from_millis(200));
    }
    let started = std::fs::read_to_string(&starts).unwrap().lines().count();
    assert!(quick >= 10 && started <= 10, "{quick} refused, {started} started");
    scene.end().await;
}

#[tokio::test]
async fn a_child_that_cannot_start_fails_fast_with_its_cause() {
    let scene = Scene::of(script("echo no such database >&2; exit 7")).await;
    let begun = Instant::now();
    let error = scene.try_client(REVISION).await.err().expect("it does not start").to_string();
    for part in ["exit code 7", "no such database", "was not reached"] {
        assert!(error.contains(part), "no {part:?} in {error}");
    }
    assert!(!error.contains("unknown"), "nothing was sent: {error}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    scene.end().await;
}

#[tokio::test]
async fn starts_are_limited() {
    let limits = CommandLimits { starts_per_minute: Some(2), ..CommandLimits::default() };
    let scene = Scene::of(bounded(&server("tool", ""), limits)).await;
    let client = scene.client(REVISION).await;
    let mut last = String::new();
    for _ in 0..6 {
        last = call(&client, "tool-crash", json!({})).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert!(last.contains("it was started 2 times within a minute") && last.contains("not run"), "{last}");
    scene.end().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn memory_is_limited() {
    // Doubles a text until it must stop.
    let case = r#"*'"hog"'*) text=xxxxxxxxxxxxxxxx; while :; do text=$text$text; [ ${#text} -lt 200000000 ] || sleep 60; done ;;"#;
    let limits = CommandLimits { memory: Some(100 << 20), ..CommandLimits::default() };
    let scene = Scene::of(bounded(&server("tool", case), limits)).await;
    let client = scene.client(REVISION).await;
    let first = pid(&call(&client, "tool", json!({})).await);
    let answer = call(&client, "hog", json!({})).await;
    assert!(answer.contains("it used more than 100 MiB of memory"), "{answer}");
    assert!(!runs(first));
    let second = pid(&call(&client, "tool", json!({})).await);
    assert!(runs(second));
    scene.end().await;
}

#[tokio::test]
async fn an_idle_child_ends_and_starts_again_on_demand() {
    let limits = Limits { idle: Duration::from_millis(100), ..limits() };
    let scene = Scene::with(vec![named("one", script(&server("tool", "")))], limits).await;
    let client = scene.client(REVISION).await;
    let first = pid(&call(&client, "tool", json!({})).await);
    until("the idle child ends", || !runs(first)).await;
    let second = pid(&call(&client, "tool", json!({})).await);
    assert!(first != second && runs(second));
    scene.end().await;
    assert!(!runs(second));
}

#[tokio::test]
async fn a_message_above_the_limit_ends_the_child() {
    let case = r#"*'"long"'*) i=0; while [ $i -lt 3000 ]; do printf 0123456789; i=$((i+1)); done; sleep 60 ;;"#;
    let limits = Limits { message_bytes: 10_000, ..limits() };
    let scene = Scene::with(vec![named("one", script(&server("tool", case)))], limits).await;
    let client = scene.client(REVISION).await;
    let first = pid(&call(&client, "tool", json!({})).await);
    let answer = call(&client, "long", json!({})).await;
    assert!(answer.contains("larger than the limit"), "{answer}");
    until("the child is killed", || !runs(first)).await;
    scene.end().await;
}

#[tokio::test]
async fn a_start_goes_on_where_nobody_waits_any_more() {
    for revision in [REVISION, Revision::R2026_07_28] {
        let slow = named("slow", script(&format!("sleep 4; {}", server("slow", ""))));
        let quick = named("quick", script(&server("quick", "")));
        let scene = Scene::with(vec![slow, quick], limits()).await;
        let client = scene.client(revision).await;
        let topics = client::Topics { tools: true, ..client::Topics::default() };
        let listening = client.listen(&topics).await.expect("it is declared");
        let declared = listening.acknowledged.to_string();
        assert!(declared.contains("tools"), "{declared}");
        let before = list(&client, "tools/list").await;
        assert_eq!(names(&before), ["quick", "quick-crash"], "{before}");
        until("the client hears that the list has changed", || {
            scene.notifications("notifications/tools/list_changed") > 0
        })
        .await;
        let after = list(&client, "tools/list").await;
        assert_eq!(names(&after), ["slow", "slow-crash", "quick", "quick-crash"], "{after}");
        scene.end().await;
    }
}

#[tokio::test]
async fn a_missing_child_is_looked_for_without_a_request() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("there");
    let late = format!("[ -e {} ] || exit 1\n{}", there.display(), server("late", ""));
    let all = vec![named("late", script(&late)), named("quick", script(&server("quick", "")))];
    let scene = Scene::with(all, limits()).await;
    let client = scene.client(REVISION).await;
    let topics = client::Topics { tools: true, ..client::Topics::default() };
    let _listening = client.listen(&topics).await.expect("it is declared");
    let before = list(&client, "tools/list").await;
    assert_eq!(names(&before), ["quick", "quick-crash"], "{before}");
    std::fs::write(&there, "").unwrap();
    until("the client hears that the list has changed", || scene.notifications("notifications/tools/list_changed") > 0)
        .await;
    let after = list(&client, "tools/list").await;
    assert_eq!(names(&after), ["late", "late-crash", "quick", "quick-crash"], "{after}");
    scene.end().await;
}

#[tokio::test]
async fn an_invalid_response_ends_its_request_at_once() {
    // Neither a result nor an error; a result that is an error as well; another version.
    for invalid in [
        r#"{"jsonrpc":"2.0","id":%s}"#,
        r#"{"jsonrpc":"2.0","id":%s,"result":{},"error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"1.0","id":%s,"result":{}}"#,
    ] {
        let case = format!(r#"*'"bad"'*) printf '{invalid}\n' "$id" ;;"#);
        let scene = Scene::of(script(&server("good", &case))).await;
        let client = scene.client(Revision::R2025_11_25).await;
        let begun = Instant::now();
        let answer = call(&client, "bad", json!({})).await;
        assert!(answer.contains("its response is invalid") && answer.contains(r#""outcome":"unknown""#), "{answer}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        // The server goes on.
        let answer = call(&client, "good", json!({})).await;
        assert!(answer.contains("pid "), "{answer}");
        scene.end().await;
    }
}

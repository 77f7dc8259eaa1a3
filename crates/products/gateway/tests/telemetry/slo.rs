//! `slo`: what is counted is what calls did, and the rules for Prometheus name only what the gateway shows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use gateway::settings::{Settings, SloSettings, ToolObjective};
use serde_json::{Value, json};
use wire::Revision;

use crate::exposition::{Exposition, read};
use crate::scene::Scene;

const UP: &str = "up\"1";

fn settings(within: Duration) -> Settings {
    let objective = ToolObjective { within: Some(within), class: None };
    let slo = SloSettings { tools: vec![("echo".to_owned(), objective)], ..SloSettings::default() };
    Settings { slo: Some(slo), ..Settings::default() }
}

async fn page(scene: &Scene) -> Exposition {
    let text = scene.metrics().await;
    read(&text).unwrap_or_else(|why| panic!("{why}\n{text}"))
}

/// Calls a tool until its calls are counted: the first one waits for its server's list.
async fn known(scene: &Scene, tool: &str) {
    for _ in 0..100 {
        scene.call(tool, &json!({}), "").await;
        let status = scene.gateway.slo_status().expect("objectives");
        if status["tools"].as_array().expect("tools").iter().any(|one| one["tool"] == tool) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{tool} is not counted");
}

fn of<'v>(status: &'v Value, tool: &str) -> &'v Value {
    let mut tools = status["tools"].as_array().expect("tools").iter();
    tools.find(|one| one["tool"] == tool).unwrap_or_else(|| panic!("{status:#}"))
}

#[tokio::test]
async fn a_tool_that_is_slower_than_its_objective_alerts_and_a_fast_one_does_not() {
    for revision in [Revision::R2026_07_28, Revision::R2025_06_18] {
        let scene = Scene::new(revision, false, settings(Duration::from_nanos(1))).await;
        known(&scene, "echo").await;
        known(&scene, "fails").await;
        for number in 0..20 {
            scene.call("echo", &json!({}), "").await;
            scene.call("fails", &json!({}), "").await;
            scene.call(&format!("made-up-{number}"), &json!({}), "").await;
        }
        let status = scene.gateway.slo_status().expect("objectives");
        assert_eq!(status["objectives_ms"], json!({ "read": 500.0, "moderate": 2000.0, "write": 5000.0 }));
        assert_eq!((status["alerting"].as_bool(), status["tools"].as_array().map(Vec::len)), (Some(true), Some(2)));
        let (echo, fails) = (of(&status, "echo"), of(&status, "fails"));
        assert_eq!(echo["alerts"], json!(["page", "ticket", "p99"]), "{status:#}");
        assert_eq!((&echo["calls"], echo["calls"].as_u64() >= Some(20)), (&echo["bad"], true), "{status:#}");
        // A tool that answers is no failure, whatever it says.
        assert_eq!((&fails["alerts"], &fails["bad"], &fails["objective_ms"]), (&json!([]), &json!(0), &json!(2000.0)));
        let page = page(&scene).await;
        let alert =
            |tool, alert| page.value("proof_gateway_slo_alert", &[("upstream", UP), ("tool", tool), ("alert", alert)]);
        assert_eq!((alert("echo", "page"), alert("fails", "page")), (Some(1.0), Some(0.0)));
        let burn = [("tool", "echo"), ("window", "1h")];
        assert_eq!(page.value("proof_gateway_slo_burn_rate", &burn), Some(100.0));
        scene.end().await;
    }
}

#[tokio::test]
async fn a_fast_tool_is_within_its_objective_and_without_objectives_nothing_is_counted() {
    let scene = Scene::new(Revision::R2026_07_28, false, settings(Duration::from_mins(1))).await;
    known(&scene, "echo").await;
    for _ in 0..20 {
        scene.call("echo", &json!({}), "").await;
    }
    let status = scene.gateway.slo_status().expect("objectives");
    let echo = of(&status, "echo");
    assert_eq!((&status["alerting"], &echo["bad"], &echo["slow"]), (&json!(false), &json!(0), &json!(0)));
    assert!(echo["p99_ms"].as_f64().is_some_and(|p99| p99 > 0.0), "{status:#}");
    scene.end().await;
    let scene = Scene::new(Revision::R2026_07_28, false, Settings::default()).await;
    scene.call("echo", &json!({}), "").await;
    assert_eq!(scene.gateway.slo_status(), None);
    assert!(!scene.metrics().await.contains("_slo_"));
    scene.end().await;
}

/// A file of the examples.
fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/examples/gateway").join(name)
}

/// The names of metrics in an expression.
fn names(text: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    text.split(|c: char| !is_part(c)).filter(|word| word.starts_with("proof_gateway")).collect()
}

#[tokio::test]
async fn the_rules_for_prometheus_name_what_the_gateway_shows() {
    let rules = std::fs::read_to_string(example("slo-rules.yaml")).expect("the rules");
    let scene = Scene::new(Revision::R2026_07_28, false, settings(Duration::from_nanos(1))).await;
    known(&scene, "echo").await;
    let page = page(&scene).await;
    let shown: BTreeSet<_> = page.samples.iter().map(|sample| sample.name.as_str()).collect();
    let recorded: BTreeSet<_> =
        rules.lines().filter_map(|line| line.trim().strip_prefix("- record: ")).map(str::trim).collect();
    let used = names(&rules);
    assert!(used.len() > 8 && recorded.len() == 5, "{used:?}");
    let unknown: Vec<_> = used.iter().filter(|name| !shown.contains(*name) && !recorded.contains(*name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    // Each burn rate that the gateway shows has the windows of a rule, and the factors are the same.
    for window in ["5m", "30m", "1h", "6h", "3d"] {
        let labels = [("tool", "echo"), ("window", window)];
        assert_eq!(page.value("proof_gateway_slo_burn_rate", &labels), Some(100.0), "{window}");
        assert!(rules.contains(&format!("ratio_rate{window} > ")), "{window}");
    }
    for factor in
        ["rate1h > 14.4 *", "rate5m > 14.4 *", "rate6h > 6 *", "rate30m > 6 *", "rate3d > 1 *", "rate6h > 1 *"]
    {
        assert!(rules.contains(factor), "{factor}");
    }
    scene.end().await;
    // Where Prometheus is installed, it judges the rules, too.
    let promtool = |arguments: &[&str]| Command::new("promtool").args(arguments).current_dir(example("")).output().ok();
    for arguments in [["check", "rules", "slo-rules.yaml"], ["test", "rules", "slo-rules.test.yaml"]] {
        if let Some(output) = promtool(&arguments) {
            assert!(output.status.success(), "{output:?}");
        }
    }
}

/// Ends its process.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Asks a gateway that runs as its own process for its objectives.
fn asked(config: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("gateway.yaml");
    std::fs::write(&file, config).expect("written");
    let program = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proof-gateway"));
        command.env("XDG_RUNTIME_DIR", folder.path());
        command
    };
    let child = program().arg("--config").arg(&file).stderr(Stdio::null()).spawn().expect("it starts");
    let running = Running(child);
    let pid = running.0.id().to_string();
    for _ in 0..200 {
        let output = program().args(["slo", "--json", "--pid", &pid]).output().expect("it runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("a text");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        if !stderr.contains("no gateway") {
            return (output.status.code(), stdout, stderr);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it does not start");
}

#[test]
fn a_running_gateway_says_its_objectives() {
    let base = "listen: 127.0.0.1:0\nupstreams:\n  a: { url: \"http://127.0.0.1:9/mcp\" }\n";
    let (code, stdout, stderr) = asked(&format!("{base}slo:\n"));
    let value: Value = serde_json::from_str(&stdout).unwrap_or_else(|why| panic!("{why}: {stdout}{stderr}"));
    assert_eq!((code, &value["objective"]), (Some(0), &json!(0.99)));
    assert_eq!(value["objectives_ms"], json!({ "read": 500.0, "moderate": 2000.0, "write": 5000.0 }));
    let (code, stdout, stderr) = asked(base);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    assert!(stderr.contains("no objectives") && stderr.contains("slo:"), "{stderr}");
}

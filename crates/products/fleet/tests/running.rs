//! `proof fleet` with real servers: gates are computed by running `proof`, kept, and not computed again.

#[path = "shared/scene.rs"]
mod scene;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use fleet::config::{Dashboard, Fleet};
use fleet::files;
use fleet::gate::{GateKind, Outcome};
use fleet::keeping::{self, Keeping};
use fleet::next::actions;
use fleet::run::outcomes::Known;
use fleet::run::{Context, Ran, Request, run};
use fleet::show::history::changes;
use fleet::show::{next_action, playbook, status};
use fleet::state::{Light, ServerState};
use fleet_store::{NewJob, ResultKey, State};
use scene::{Scene, now, proof};

/// One server with tests and a lock, one with neither, one that breaks a rule.
const FLEET: &str = "\
name: demo
store: results
defaults: { owner: ada@example.com, source: examples, stage: conforms }
servers:
  - name: weather
    command: [proof, serve, --stdio, --catalog, weather.yaml]
    tests: [weather.mcp.yaml]
    lock: mcp.lock
    stage: secured
  - { name: plain, catalog: weather.yaml, tools: 3 }
  - { name: broken, command: [proof, serve, --stdio, --catalog, weather.yaml, --fault, wrong-id] }
stages:
  - { name: listed, gates: [listed] }
  - { name: starts, gates: [starts] }
  - { name: described, gates: [described] }
  - { name: conforms, gates: [conforms] }
  - { name: tested, gates: [tested] }
  - { name: secured, gates: [scanned, locked] }
  - { name: quick, gates: [fast] }
thresholds: { touched: 40, negatives: 20 }
limits: { seconds: 240 }
";

/// Generates a test file and a lock of the first server.
fn generate(folder: &Path) {
    for (verb, output) in [("generate", "weather.mcp.yaml"), ("lock", "mcp.lock")] {
        let made = Command::new(proof())
            .args([verb, "-o", output, "--", "proof", "serve", "--stdio", "--catalog", "weather.yaml"])
            .current_dir(folder)
            .env("PATH", proof().parent().expect("a folder"))
            .output()
            .expect("proof");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
}

fn context(scene: &Scene) -> Context<'_> {
    Context {
        fleet: &scene.fleet,
        keeping: &scene.keeping,
        runner: &scene.runner,
        clock: now,
        say: Arc::new(|_, _, _| {}),
        tell: |_| (),
    }
}

async fn ran<'f>(context: &Context<'f>) -> Ran<'f> {
    let (_stop, stopped) = tokio::sync::watch::channel(false);
    run(context, &Request { actor: "test".to_owned(), ..Request::default() }, stopped).await.expect("a run")
}

fn stages(states: &[ServerState<'_>]) -> Vec<usize> {
    states.iter().map(|state| state.stage).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_red_gate_holds_its_server_and_a_second_run_touches_nothing() {
    let scene = Scene::open(FLEET).await;
    let (folder, fleet, context) = (&scene.folder, &scene.fleet, context(&scene));
    generate(folder.path());

    let first = ran(&context).await;
    let why: Vec<_> = first.states.iter().flat_map(|state| &state.gates).map(summary).collect();
    assert_eq!(stages(&first.states), [7, 4, 3], "{why:#?}");
    assert_eq!((first.looked, first.answered, first.unchanged), (3, 3, 0));
    let broken = &first.states[2];
    assert_eq!(broken.gate(GateKind::Conforms).map(|gate| gate.light), Some(Light::Red));
    let best = actions(fleet, &first.states).into_iter().next().expect("an action");
    assert_eq!((best.gate, best.servers), (GateKind::Conforms, vec!["broken".to_owned()]));

    let shown: Vec<&ServerState<'_>> = first.states.iter().collect();
    let view = Dashboard { name: String::new(), filter: String::new(), columns: Vec::new(), group: None };
    let seconds = keeping::seconds(now());
    insta::assert_snapshot!("status", status::human(fleet, &shown, &view, seconds));
    insta::assert_snapshot!("playbook", playbook::playbook(fleet, broken, seconds));
    let next: String = actions(fleet, &first.states).iter().map(next_action).collect();
    insta::assert_snapshot!("next", next);

    let second = ran(&context).await;
    assert_eq!((second.computed, second.unchanged), (0, first.computed));
    assert_eq!(stages(&second.states), stages(&first.states));

    // What changed is computed again, and nothing else.
    let lock = folder.path().join("mcp.lock");
    let text = std::fs::read_to_string(&lock).expect("the lock");
    std::fs::write(&lock, text + "\n").expect("the lock");
    assert_eq!(ran(&context).await.computed, 1);
    let catalogue = folder.path().join("weather.yaml");
    let text = std::fs::read_to_string(&catalogue).expect("the catalogue");
    std::fs::write(&catalogue, text.replace("Tells the weather of a city", "Says what the weather of a city is"))
        .expect("the catalogue");
    let changed = ran(&context).await;
    assert_eq!(stages(&changed.states), [5, 4, 3], "the lock is not in step any more");
    assert_eq!(changed.before, [7, 4, 3], "the stages of the run before, not those of the changed catalogue");
    assert!(changed.states[0].has_fallen() && !changed.states[0].is_as_wanted());
    assert_eq!(changed.states[0].gate(GateKind::Locked).map(|gate| gate.light), Some(Light::Red));

    std::fs::write(&catalogue, text).expect("the catalogue");
    let back = ran(&context).await;
    assert_eq!((back.computed, back.before[0], back.states[0].stage), (0, 5, 7));
    let changes = changes_between(&context, changed.id, back.id).await;
    assert_eq!(changes, [("weather".to_owned(), GateKind::Locked, Some(Outcome::Fail), Some(Outcome::Pass))]);
}

/// What `diff` shows of two runs.
async fn changes_between(
    context: &Context<'_>,
    old: i64,
    new: i64,
) -> Vec<(String, GateKind, Option<Outcome>, Option<Outcome>)> {
    let store = &context.keeping.store;
    let runs = store.runs(100).await.expect("runs");
    let known = Known::read(store, context.fleet).await.expect("results");
    let mut ends = Vec::new();
    for id in [old, new] {
        let run = runs.iter().find(|run| run.id == id).expect("a run");
        let (end, is_recorded) = known.at_end(store, context.fleet, run).await.expect("outcomes");
        assert!(is_recorded, "run {id}");
        ends.push(end);
    }
    let changes = changes(&ends[0], &ends[1]);
    changes.into_iter().map(|change| (change.of.0, change.of.1, change.before, change.after)).collect()
}

#[test]
fn a_worker_says_where_it_waits() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("fleet.yaml"), "servers:\n  - { name: a, command: [x] }\n").expect("a file");
    let worker = Command::new(env!("CARGO_BIN_EXE_proof-fleet"))
        .args(["worker", "--until-empty"])
        .current_dir(folder.path())
        .output()
        .expect("a worker");
    let text = String::from_utf8_lossy(&worker.stderr);
    assert!(worker.status.success() && text.contains("waiting for jobs at") && text.contains("fleet.db"), "{text}");
}

fn summary(gate: &fleet::state::GateState) -> Option<String> {
    let record = gate.record.as_ref().filter(|record| record.judged.outcome != Outcome::Pass)?;
    Some(format!("{} {}", gate.gate, record.judged.summary))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_or_lacks_its_credential_is_incomplete() {
    let text = "\
store: results
servers:
  - { name: hangs, owner: o, source: s, command: [sh, -c, 'sleep 60 & sleep 60'] }
  - { name: lacks, owner: o, source: s, command: [sh], env: { TOKEN: { env: PROOF_FLEET_TEST_UNSET } } }
limits: { seconds: 2 }
";
    let scene = Scene::open(text).await;
    let context = context(&scene);
    let ran = ran(&context).await;
    assert_eq!((stages(&ran.states), ran.answered), (vec![1, 1], 0));
    let starts =
        |at: usize| ran.states[at].gate(GateKind::Starts).and_then(|gate| gate.record.clone()).expect("a result");
    assert_eq!(starts(0).judged.outcome, Outcome::Incomplete);
    assert!(starts(0).judged.summary.contains("more than 2 s"), "{}", starts(0).judged.summary);
    assert_eq!(starts(1).judged.outcome, Outcome::Incomplete);
    assert!(starts(1).judged.summary.contains("PROOF_FLEET_TEST_UNSET is not set"), "{}", starts(1).judged.summary);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_stopped_gives_its_job_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "store: results\nservers:\n  - { name: hangs, owner: o, source: s, command: [sh, -c, 'sleep 60'] }\n";
    let file = folder.path().join("fleet.yaml");
    std::fs::write(&file, text).expect("a file");
    let fleet = Fleet::load(&file).expect("a fleet");
    let keeping = Keeping::open(&fleet).await.expect("a store");
    let id = keeping.put_servers(&fleet, now()).await.expect("servers")["hangs"];
    let definition = files::definition(&fleet, &fleet.servers[0]);
    let version = keeping.put_version(id, &files::version(&definition, None), None, now()).await.expect("a version");
    let payload = serde_json::json!({
        "server": "hangs", "gate": "conforms", "definition": definition, "tools": 1, "name": "x", "version": "1", "digest": "d"
    });
    let result = ResultKey { version, gate: "conforms".to_owned(), key: "k.0".to_owned() };
    let job =
        NewJob { kind: "gate".to_owned(), result, run: None, payload, priority: 0, run_at: now(), max_attempts: 3 };
    keeping.store.enqueue(&[job], now()).await.expect("queued");
    let mut worker = Command::new(env!("CARGO_BIN_EXE_proof-fleet"))
        .args(["worker", "--file", "fleet.yaml"])
        .current_dir(folder.path())
        .spawn()
        .expect("the program");
    let jobs = async |state| keeping.store.jobs(None, Some(state), 5).await.expect("jobs").len();
    for _ in 0..200 {
        if jobs(State::Leased).await == 1 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(jobs(State::Leased).await, 1);
    let killed = Command::new("kill").args(["-TERM", &worker.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    assert_eq!(worker.wait().expect("it ends").code(), Some(143));
    assert_eq!(jobs(State::Ready).await, 1, "its lease would last 30 s");
}

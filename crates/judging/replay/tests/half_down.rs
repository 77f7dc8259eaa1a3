//! Pass rates stay within their interval though half of the tools do not answer: recorded calls, then the live server, then
//! the simulator. The worlds are drawn from seeds.
//!
//! A task passes if the answer to its call is no error and is about the place of the task. One call in twelve names another
//! place, as a model may do; one in forty fails by itself. Simulated answers do not fail by themselves.

use std::collections::HashSet;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use client::{Advice, Client, Params};
use net::client::{Address, HttpAddress};
use net::server::http::{self, Server};
use net::service::{Call, Reply, Service};
use net::{Children, new_redactor};
use replay::{LiveServer, Miss, Options, Replay};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;
use url::Url;
use wire::Revision;
use wire::redact::Secrets;

const TOOLS: usize = 20;
const PLACES: [&str; 10] = ["Oslo", "Bern", "Rome", "Lima", "Cairo", "Quito", "Paris", "Tokyo", "Accra", "Hanoi"];
/// How long the ladder waits for the live server.
const PATIENCE: Duration = Duration::from_secs(3);

/// A number that depends on the seed, the tool and the place alone.
fn drawn(seed: u64, tool: &str, place: &str) -> u64 {
    let digest: [u8; 32] = Sha256::digest(format!("{seed} {tool} {place}")).into();
    digest.first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
}

fn tool(number: usize) -> String {
    format!("get_fact_{number}")
}

/// All calls of a world: tool and place.
fn calls() -> impl Iterator<Item = (usize, &'static str)> {
    (0..TOOLS).flat_map(|number| PLACES.map(|place| (number, place)))
}

/// The place that the model names in a task about `place`.
fn named(seed: u64, number: usize, place: &'static str) -> &'static str {
    let at = PLACES.iter().position(|known| *known == place).unwrap_or_default();
    let errs = drawn(seed + 2000, &tool(number), place).is_multiple_of(12);
    PLACES[(at + usize::from(errs)) % PLACES.len()]
}

/// A recording of those calls of a world that `takes` chooses.
fn recording(seed: u64, takes: impl Fn(usize, &str) -> bool) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    let header = json!({ "trace": "proof.trace/1", "subject": "server", "transport": "stdio" });
    writeln!(file, "{header}").expect("it can be written");
    let mut id = 0;
    let mut exchange = |method: &str, params: Value, result: Value| {
        id += 1;
        let question = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        writeln!(file, "{}", json!({ "from": "client", "line": question })).expect("it can be written");
        writeln!(file, "{}", json!({ "from": "server", "line": answer })).expect("it can be written");
    };
    let greeting = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": { "name": "facts", "version": "1" } });
    exchange("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {} }), greeting);
    let schema = json!({ "type": "object", "properties": { "place": { "type": "string" } }, "required": ["place"] });
    let listed: Vec<Value> = (0..TOOLS).map(|n| json!({ "name": tool(n), "inputSchema": schema })).collect();
    exchange("tools/list", json!({}), json!({ "tools": listed }));
    for (number, place) in calls().filter(|(number, place)| takes(*number, place)) {
        let name = tool(number);
        let fact = drawn(seed, &name, place);
        let fails = fact.is_multiple_of(40);
        let text = if fails { "overloaded".to_owned() } else { format!("Fact of {place}: {}", fact % 900) };
        let result = json!({ "content": [{ "type": "text", "text": text }], "isError": fails });
        exchange("tools/call", json!({ "name": name, "arguments": { "place": place } }), result);
    }
    file
}

/// The live server: calls of tools that are down are never answered.
struct Upstream {
    world: Replay,
    down: HashSet<String>,
}

impl Service for Upstream {
    fn call(&self, call: Call) -> Reply {
        let name = call.message.params().and_then(|params| params.get("name")?.as_str());
        if name.is_some_and(|name| self.down.contains(name)) {
            return Reply::later(std::future::pending());
        }
        self.world.call(call)
    }

    fn revisions(&self) -> &[Revision] {
        self.world.revisions()
    }
}

async fn served(service: impl Service) -> (Server, Address) {
    let server = http::listen(Arc::new(service), ([127, 0, 0, 1], 0).into(), http::Options::default()).await;
    let server = server.expect("it listens");
    let url = Url::parse(&format!("http://{}/mcp", server.local_addr())).expect("an address");
    (server, Address::Http(HttpAddress::new(url)))
}

/// How many of all tasks pass when a client makes them through the ladder.
async fn passes(seed: u64, down: HashSet<String>, simulate: bool) -> usize {
    let whole = recording(seed, |_, _| true);
    let world = Replay::open(whole.path(), Options::default()).expect("a recording");
    let (_upstream, address) = served(Upstream { world, down }).await;
    // Half of the calls are recorded, another half for each seed.
    let half = recording(seed, |number, place| drawn(seed + 1000, &tool(number), place).is_multiple_of(2));
    let mut options = client::Options::new(address, &Children::new());
    options.limits.request = PATIENCE;
    let live = LiveServer { options, secrets: Secrets::default(), redactor: new_redactor(), words: Advice::to_string };
    let miss = Miss { live: Some(Box::new(live)), simulate, ..Miss::default() };
    let ladder = Replay::open(half.path(), Options { miss, seed, ..Options::default() }).expect("a recording");
    let (_front, address) = served(ladder.clone()).await;
    let client = Client::connect(client::Options::new(address, &Children::new())).await.expect("it greets");
    let one = |number: usize, place: &'static str| {
        let client = client.clone();
        async move {
            let arguments = json!({ "place": named(seed, number, place) });
            let params = Params::new().with("name", tool(number)).with("arguments", arguments);
            let Ok(answer) = client.request("tools/call", &params).await else { return false };
            let result = answer.result().cloned().unwrap_or_default();
            let says =
                result.pointer("/content/0/text").and_then(Value::as_str).is_some_and(|text| text.contains(place));
            says && result.get("isError") != Some(&json!(true))
        }
    };
    // One after another until the ladder has opened its connection; then all at once.
    let (first, others): (Vec<_>, Vec<_>) = calls().partition(|(number, _)| *number == 0);
    let mut answers = Vec::new();
    for (number, place) in first {
        answers.push(one(number, place).await);
    }
    let spawned: Vec<_> = others.into_iter().map(|(number, place)| tokio::spawn(one(number, place))).collect();
    for task in spawned {
        answers.push(task.await.expect("it does not panic"));
    }
    ladder.close().await;
    answers.into_iter().filter(|passed| *passed).count()
}

/// Wilson's interval of 95 %.
fn wilson(passed: usize, total: usize) -> (f64, f64) {
    let (n, z) = (total as f64, 1.959_964);
    let share = passed as f64 / n;
    let centre = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    ((centre - spread) / (1.0 + z * z / n), (centre + spread) / (1.0 + z * z / n))
}

#[tokio::test]
async fn pass_rates_stay_within_their_interval_with_half_of_the_tools_down() {
    let total = TOOLS * PLACES.len();
    for seed in 1..=3 {
        // Half of the tools, but never the first one.
        let down = || (0..TOOLS / 2).map(|at| tool(1 + (seed as usize * 3 + at) % (TOOLS - 1))).collect();
        let up = passes(seed, HashSet::new(), false).await;
        let (ladder, without) = (passes(seed, down(), true).await, passes(seed, down(), false).await);
        let (low, high) = wilson(up, total);
        let share = |passed: usize| passed as f64 / total as f64;
        println!(
            "seed {seed}: all up {:.3} ({low:.3} to {high:.3}), half down {:.3}, half down without the simulator {:.3}",
            share(up),
            share(ladder),
            share(without)
        );
        assert!((low..=high).contains(&share(ladder)), "seed {seed}: {} is outside", share(ladder));
        assert!(share(without) < low, "seed {seed}: without the simulator, {} would do, too", share(without));
    }
}

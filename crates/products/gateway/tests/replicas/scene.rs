//! Replicas of the gateway as processes, and clients of several principals that choose one for each request.

use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use net::server::http::Server;
use oauth::jose::Signer;
use oauth::now;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::clock::Clock;
use crate::ledger::Ledger;
use crate::nginx::Nginx;
use crate::ports;
use crate::redis::{Proxy, Redis, send_signal};

/// The key by which gateways trust each other, in base64.
pub(crate) const REPLICA_KEY: &str = "c2l4dGVlbiBieXRlcyBhbmQgc2l4dGVlbiBtb3JlLi4=";
const ISSUER: &str = "https://auth.example";
const PATIENCE: Duration = Duration::from_secs(20);
/// Keys of probes.
static PROBES: AtomicU64 = AtomicU64::new(0);
/// When every request must be answered: `limits.request_total`, a lease, and some grace.
const DEADLINE: Duration = Duration::from_secs(25);

/// A gateway.
pub(crate) struct Replica {
    process: Mutex<Child>,
    /// For clients, and for those who run it.
    addresses: Mutex<[SocketAddr; 2]>,
    config: PathBuf,
    pub(crate) log: PathBuf,
    /// Its way to the store.
    pub(crate) proxy: Proxy,
    pub(crate) clock: Option<Clock>,
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Replica {
    async fn start(config: PathBuf, proxy: Proxy, clock: Option<Clock>) -> Self {
        let log = config.with_extension("log");
        let (process, addresses) = spawn(&config, &log, clock.as_ref()).await;
        Self { process: Mutex::new(process), addresses: Mutex::new(addresses), config, log, proxy, clock }
    }

    pub(crate) fn signal(&self, signal: &str) {
        send_signal(&self.process.lock().unwrap_or_else(PoisonError::into_inner), signal);
    }

    /// `kill -9`.
    pub(crate) fn kill(&self) {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = process.kill();
        let _ = process.wait();
    }

    /// Starts it again, at other ports where the configuration names none.
    pub(crate) async fn start_again(&self) {
        let (process, addresses) = spawn(&self.config, &self.log, self.clock.as_ref()).await;
        *self.process.lock().unwrap_or_else(PoisonError::into_inner) = process;
        *self.addresses.lock().unwrap_or_else(PoisonError::into_inner) = addresses;
    }

    /// Its process.
    pub(crate) fn process(&self) -> u32 {
        self.process.lock().unwrap_or_else(PoisonError::into_inner).id()
    }

    fn process_folder(&self) -> PathBuf {
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        PathBuf::from("/proc").join(process.id().to_string())
    }

    /// How many descriptors it holds, and how many children it has.
    pub(crate) fn holds(&self) -> (usize, usize) {
        let folder = self.process_folder();
        let descriptors = std::fs::read_dir(folder.join("fd")).map_or(0, Iterator::count);
        let tasks = std::fs::read_dir(folder.join("task")).into_iter().flatten().flatten();
        let children = tasks.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
        (descriptors, children.map(|all| all.split_whitespace().count()).sum())
    }

    /// Asks it to end, and waits until it has. Whether it ended well.
    pub(crate) async fn ends(&self) -> bool {
        self.signal("TERM");
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let ended = self.process.lock().unwrap_or_else(PoisonError::into_inner).try_wait();
            if let Ok(Some(status)) = ended {
                return status.success();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        false
    }

    /// Where its audit log is.
    pub(crate) fn audit(&self) -> PathBuf {
        self.config.with_extension("audit")
    }

    fn addresses(&self) -> [SocketAddr; 2] {
        *self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.addresses()[0]
    }

    /// The port for the other replicas.
    pub(crate) fn for_replicas(&self) -> u16 {
        let said = std::fs::read_to_string(&self.log).unwrap_or_default();
        let line = said.lines().find(|line| line.contains(" is for the other gateways"));
        let address = line.and_then(|line| line.split_whitespace().next()).and_then(|it| it.parse::<SocketAddr>().ok());
        address.unwrap_or_else(|| panic!("it does not say where it listens: {said}")).port()
    }

    /// A page such as `/metrics`.
    pub(crate) async fn page(&self, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.addresses()[1]);
        exchange(self.addresses()[1], &request).await.unwrap_or_default()
    }

    /// Waits until it can use the store.
    pub(crate) async fn uses_store(&self) {
        let begun = Instant::now();
        loop {
            let page = self.page("/metrics").await;
            if page.contains("\nstore_up 1\n") {
                return;
            }
            let log = std::fs::read_to_string(&self.log).unwrap_or_default();
            assert!(begun.elapsed() < PATIENCE, "it does not find the store: {page}\n{log}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[expect(clippy::zombie_processes, reason = "it is waited for where it is killed; a panic ends the test")]
async fn spawn(config: &PathBuf, log: &PathBuf, clock: Option<&Clock>) -> (Child, [SocketAddr; 2]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof-gateway"));
    command.arg("--config").arg(config).stdin(Stdio::null()).stdout(Stdio::null());
    command.env("STORE_PASSWORD", "s3cr3t-of-the-store");
    command.env("REPLICA_KEY", REPLICA_KEY);
    command.env("CONSENT_KEY", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=");
    command.stderr(File::create(log).expect("a log"));
    if let Some(clock) = clock {
        clock.give(&mut command);
    }
    let process = command.spawn().expect("it starts");
    let begun = Instant::now();
    loop {
        let said = std::fs::read_to_string(log).expect("a log");
        let address = |end: &str| {
            let url = said.split_whitespace().find(|word| word.ends_with(end))?;
            url.trim_start_matches("http://").trim_end_matches(end).parse().ok()
        };
        if let (Some(clients), Some(admin)) = (address("/mcp"), address("/metrics")) {
            return (process, [clients, admin]);
        }
        assert!(begun.elapsed() < PATIENCE, "it does not say where it listens: {said}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What came of a request.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Response {
        status: u16,
        retry_after: Option<u64>,
        message: Value,
    },
    /// The connection ended before the response.
    Broken,
}

impl Outcome {
    /// The name of the failure, or an empty text.
    pub(crate) fn failure(&self) -> &str {
        match self {
            Self::Response { message, .. } => message["error"]["data"]["failure"].as_str().unwrap_or_default(),
            Self::Broken => "",
        }
    }

    /// What the result says, or an empty text.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Response { message, .. } => message["result"]["content"][0]["text"].as_str().unwrap_or_default(),
            Self::Broken => "",
        }
    }

    /// The error says that the call did not run.
    pub(crate) fn is_not_run(&self) -> bool {
        matches!(self, Self::Response { message, .. } if message["error"]["data"]["outcome"] == "not run")
    }
}

/// Any replica: the balancer chooses.
pub(crate) const ANY: usize = usize::MAX;

/// Replicas before one server, with one store.
pub(crate) struct Scene {
    pub(crate) redis: Redis,
    pub(crate) ledger: Ledger,
    pub(crate) replicas: Vec<Replica>,
    balancer: Option<Nginx>,
    /// Requests that got a response, and those that got none.
    pub(crate) answered: AtomicU64,
    pub(crate) broken: AtomicU64,
    signer: Signer,
    _server: Server,
    folder: TempDir,
}

impl Scene {
    /// With `store` as the configuration has it; its `URL` is that of the store. `more` is added to the file.
    pub(crate) async fn start(count: usize, redis: Redis, store: &str, more: &str) -> Self {
        Self::with(&vec![0; count], redis, store, more).await
    }

    /// With a balancer before them, an audit log of each, and clocks that can be moved.
    pub(crate) async fn balanced(count: usize) -> Self {
        let ports: Vec<_> = (0..count).map(|_| ports::free()).collect();
        let audit = "audit: { folder: AUDIT, required: true }\n";
        let mut scene = Self::with(&ports, Redis::start().await, "URL", audit).await;
        scene.balancer = Some(Nginx::start(scene.folder.path(), &ports).await);
        scene.recovered().await;
        scene
    }

    /// Replicas that send each other requests, behind a balancer; `more` is added to their files.
    pub(crate) async fn forwarding(count: usize, asker: SocketAddr, more: &str) -> Self {
        let ports: Vec<_> = (0..count).map(|_| ports::free()).collect();
        let replicas = "replicas: { self: 'http://127.0.0.1:REPLICA', keys: [{ from_env: REPLICA_KEY }] }\n";
        let replicas = if more.contains("replicas:") { "" } else { replicas };
        let more = format!("  b:\n    url: http://{asker}/mcp\n{replicas}{more}");
        let mut scene = Self::with(&ports, Redis::start().await, "URL", &more).await;
        scene.balancer = Some(Nginx::start(scene.folder.path(), &ports).await);
        for replica in &scene.replicas {
            replica.uses_store().await;
        }
        scene
    }

    /// Where the balancer is.
    pub(crate) fn balancer(&self) -> SocketAddr {
        self.balancer.as_ref().expect("a balancer").address
    }

    /// Replicas at these ports; each at any free port where it is 0, and with the true clock.
    async fn with(ports: &[u16], redis: Redis, store: &str, more: &str) -> Self {
        let (ledger, server) = Ledger::start().await;
        let (signer, folder) = (Signer::fresh(), tempfile::tempdir().expect("a folder"));
        std::fs::write(folder.path().join("keys.json"), json!({ "keys": [signer.public()] }).to_string())
            .expect("a file");
        let mut replicas = Vec::new();
        for (number, port) in ports.iter().enumerate() {
            let config = folder.path().join(format!("gateway{number}.yaml"));
            let proxy = redis.proxy().await;
            let store = store.replace("URL", &format!("redis://{}", proxy.address));
            let file = format!(
                "listen: 127.0.0.1:{port}\nadmin: 127.0.0.1:0\nstore: {store}\n\
                 idempotency: {{ writes: require }}\nlimits: {{ request: 10s, request_total: 15s }}\n\
                 auth: {{ issuer: {ISSUER}, keys: keys.json, audience: gateway, public_url: http://mcp.example }}\n\
                 upstreams:\n  a:\n    url: http://{}/mcp\n{}",
                server.local_addr(),
                more.replace("AUDIT", &config.with_extension("audit").display().to_string())
                    .replace(":REPLICA", &format!(":{}", ports::free()))
            );
            std::fs::write(&config, file).expect("a file");
            let clock = (*port > 0 && !more.contains("replicas:")).then(|| Clock::new(config.with_extension("clock")));
            replicas.push(Replica::start(config, proxy, clock).await);
        }
        let [answered, broken] = [AtomicU64::new(0), AtomicU64::new(0)];
        Self { redis, ledger, replicas, balancer: None, answered, broken, signer, _server: server, folder }
    }

    /// The same, when the store can be used.
    pub(crate) async fn ready(count: usize) -> Self {
        let scene = Self::start(count, Redis::start().await, "URL", "").await;
        scene.recovered().await;
        scene
    }

    /// Ends every connection to the store with RST.
    pub(crate) fn break_connections(&self) {
        self.replicas.iter().for_each(|replica| replica.proxy.reset());
    }

    /// Waits until calls with keys run at every replica.
    pub(crate) async fn recovered(&self) {
        for replica in &self.replicas {
            replica.uses_store().await;
        }
        for (number, _) in self.replicas.iter().enumerate() {
            let begun = Instant::now();
            let key = format!("ready{}", PROBES.fetch_add(1, Ordering::Relaxed));
            loop {
                let outcome = self.write(number, "probe", &key, json!({})).await;
                if !outcome.text().is_empty() {
                    break;
                }
                assert!(begun.elapsed() < PATIENCE, "{outcome:?}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }

    pub(crate) fn token(&self, subject: &str) -> String {
        let claims = json!({ "iss": ISSUER, "aud": "gateway", "exp": now() + 3600, "sub": subject });
        self.signer.sign(json!({ "typ": "at+jwt" }), &claims)
    }

    /// A call of `write` with a key, by a principal, at one replica.
    pub(crate) async fn write(&self, replica: usize, owner: &str, key: &str, more: Value) -> Outcome {
        let mut arguments = json!({ "text": key, "owner": owner, "idempotency_key": key });
        if let (Some(all), Some(more)) = (arguments.as_object_mut(), more.as_object()) {
            all.extend(more.clone());
        }
        self.call(replica, owner, "write", arguments).await
    }

    /// The same until it is more than "not run".
    pub(crate) async fn insist(&self, replica: usize, owner: &str, key: &str) -> Outcome {
        let begun = Instant::now();
        loop {
            let outcome = self.write(replica, owner, key, json!({})).await;
            if !outcome.is_not_run() || begun.elapsed() > PATIENCE {
                return outcome;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    pub(crate) async fn call(&self, replica: usize, owner: &str, tool: &str, arguments: Value) -> Outcome {
        self.ask((replica, owner), "tools/call", tool, json!({ "name": tool, "arguments": arguments })).await
    }

    /// A call of the tool that only reads, by a client of another name.
    pub(crate) async fn call_as(&self, replica: usize, owner: &str, client: &str) -> Outcome {
        let meta = json!({ wire::meta::CLIENT_INFO: { "name": client, "version": "1" } });
        let params = json!({ "name": "read", "arguments": {}, "_meta": meta });
        self.ask((replica, owner), "tools/call", "read", params).await
    }

    /// A call of the tool that only reads.
    pub(crate) async fn read(&self, replica: usize, owner: &str) -> String {
        self.read_slowly(replica, owner, 0).await
    }

    /// The same; the server takes so many milliseconds.
    pub(crate) async fn read_slowly(&self, replica: usize, owner: &str, ms: u64) -> String {
        let outcome = self.call(replica, owner, "read", json!({ "ms": ms })).await;
        assert!(outcome.text().starts_with("read "), "{outcome:?}");
        outcome.text().to_owned()
    }

    /// Asks one replica for its tools.
    pub(crate) async fn list(&self, replica: usize, owner: &str) {
        let outcome = self.ask((replica, owner), "tools/list", "", json!({})).await;
        assert!(matches!(&outcome, Outcome::Response { status: 200, .. }), "{outcome:?}");
    }

    /// A request of a client of 2026-07-28.
    pub(crate) async fn ask(
        &self,
        (replica, owner): (usize, &str),
        method: &str,
        name: &str,
        mut params: Value,
    ) -> Outcome {
        let mut meta = json!({
            wire::meta::PROTOCOL_VERSION: "2026-07-28",
            wire::meta::CLIENT_INFO: { "name": "a", "version": "1" },
            wire::meta::CLIENT_CAPABILITIES: {},
        });
        if let (Some(all), Some(more)) = (meta.as_object_mut(), params["_meta"].as_object()) {
            all.extend(more.clone());
        }
        params["_meta"] = meta;
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let name = if name.is_empty() { String::new() } else { format!("mcp-name: {name}\r\n") };
        let address = match &self.balancer {
            Some(nginx) if replica == ANY => nginx.address,
            _ => self.replicas[replica].address(),
        };
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\naccept: application/json, text/event-stream\r\n\
             content-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n\
             {name}authorization: Bearer {}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            self.token(owner),
            body.len()
        );
        let response = tokio::time::timeout(DEADLINE, exchange(address, &request)).await;
        let response = response.unwrap_or_else(|_| panic!("I1: no answer in {DEADLINE:?}: {body}"));
        let outcome = response.and_then(|text| read(&text)).unwrap_or(Outcome::Broken);
        let count = if matches!(outcome, Outcome::Broken) { &self.broken } else { &self.answered };
        count.fetch_add(1, Ordering::Relaxed);
        outcome
    }
}

async fn exchange(address: SocketAddr, request: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.ok()?;
    String::from_utf8(response).ok()
}

/// A whole response; nothing where it is cut off.
fn read(text: &str) -> Option<Outcome> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split_whitespace().nth(1)?.parse().ok()?;
    let retry_after = head.lines().find_map(|line| line.strip_prefix("retry-after: ")?.trim().parse().ok());
    let message = serde_json::from_str(&body[body.find('{')?..=body.rfind('}')?]).ok()?;
    Some(Outcome::Response { status, retry_after, message })
}

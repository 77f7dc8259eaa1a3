//! A server whose tools take as long as their names say, a gateway with budgets in front of it, and clients.

use std::net::{Ipv4Addr, SocketAddr};
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use client::{Abilities, Answering, Client, ClientError, Options, Params, Question, Respondent};
use gateway::settings::{BudgetSettings, CommandLimits, Sessions, Settings, Target, UpstreamSettings};
use gateway::{Gateway, Pages};
use net::Children;
use net::client::{Address, HttpAddress};
use net::process::Command;
use net::server::http::{self, Server};
use net::service::{Answer, Call, Context, Opening, Reply, Service};
use serde_json::{Value, json};
use url::Url;
use wire::{Message, Revision};

const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// What the server got: the names of called tools, and the methods of notifications.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn keep(&self, what: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(what.to_owned());
    }

    /// All of it since the last time.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A call that is worked on. Dropped before its end, it was cancelled.
struct Work {
    seen: Seen,
    is_done: bool,
}

impl Drop for Work {
    fn drop(&mut self) {
        if !self.is_done {
            self.seen.keep("cancelled");
        }
    }
}

/// Answers a question about roots, after a while.
struct Slowly(Duration);

impl Respondent for Slowly {
    fn abilities(&self) -> Abilities {
        Abilities { roots: true, ..Abilities::default() }
    }

    fn answer(&self, _: Question) -> Answering {
        let pause = self.0;
        Box::pin(async move {
            tokio::time::sleep(pause).await;
            Ok(json!({ "roots": [] }))
        })
    }
}

/// A server with the tools `t1`, `t2`, …: the number is the time that they take, in milliseconds. `fail1` fails, and the
/// codes of the errors of `odd1` and `huge1` are no integers of 64 bits.
struct Slow {
    revision: Revision,
    seen: Seen,
}

fn time_of(tool: &str) -> Duration {
    Duration::from_millis(tool.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or_default())
}

fn tools() -> Value {
    let tool = |name: &str, annotations: Value| json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": annotations });
    json!([
        tool("read1", json!({ "readOnlyHint": true })),
        tool("search1", json!({ "readOnlyHint": true, "openWorldHint": true })),
        tool("write1", json!({ "readOnlyHint": false })),
        tool("plain1", json!({})),
        tool("fail1", json!({})),
        tool("odd1", json!({})),
        tool("huge1", json!({})),
        tool("hidden_read", json!({ "readOnlyHint": true })),
        tool("hidden_write", json!({ "readOnlyHint": false })),
        tool("read900", json!({ "readOnlyHint": true })),
        tool("read_fail700", json!({ "readOnlyHint": true })),
        tool("t1", json!({})),
        tool("t150", json!({})),
        tool("t200", json!({})),
        tool("t300", json!({})),
        tool("t400", json!({})),
        tool("t500", json!({})),
        tool("t900", json!({})),
        tool("t4000", json!({})),
    ])
}

impl Service for Slow {
    fn call(&self, call: Call) -> Reply {
        let modern = call.context.session.is_none();
        let complete = |mut body: Value| {
            if modern {
                body["resultType"] = json!("complete");
            }
            body
        };
        let (server, capabilities) = (json!({ "name": "slow", "version": "1" }), json!({ "tools": {} }));
        let id = call.id().clone();
        let body = match call.message.method().unwrap_or_default() {
            "initialize" => {
                let params = call.message.params().cloned().unwrap_or_default();
                let (client, theirs) = (params["clientInfo"].clone(), params["capabilities"].clone());
                if let Some(session) = &call.context.session {
                    let _ = session.open(Opening { revision: self.revision, capabilities: theirs, client });
                }
                json!({ "protocolVersion": self.revision.as_str(), "serverInfo": server, "capabilities": capabilities })
            }
            "server/discover" => complete(json!({ "supportedVersions": [self.revision.as_str()], "ttlMs": 0,
                "capabilities": capabilities, "cacheScope": "private", "_meta": { wire::meta::SERVER_INFO: server } })),
            "tools/list" => complete(json!({ "tools": tools(), "ttlMs": 0, "cacheScope": "private" })),
            "tools/call" => {
                let tool = call.message.string_member("name").unwrap_or_default().into_owned();
                self.seen.keep(&tool);
                let mut body = complete(json!({ "content": [{ "type": "text", "text": "done" }] }));
                if tool.contains("fail") {
                    body["isError"] = json!(true);
                }
                let work = Work { seen: self.seen.clone(), is_done: false };
                return Reply::later(async move {
                    tokio::time::sleep(time_of(&tool)).await;
                    // The whole of it, so that it is dropped with the future.
                    let mut work = work;
                    work.is_done = true;
                    let odd = match tool.as_str() {
                        "odd1" => "-32000.0",
                        "huge1" => "-99999999999999999999",
                        _ => return Answer::result(&id, &body),
                    };
                    let error = format!(r#"{{"code":{odd},"message":"no"}}"#);
                    Answer::raw(
                        format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.to_json()).into_bytes(),
                        Some(-32000),
                    )
                });
            }
            _ => json!({ "taskId": "t", "status": "working", "createdAt": "2026-01-01T00:00:00Z", "ttl": 1000,
                "lastUpdatedAt": "2026-01-01T00:00:00Z" }),
        };
        Answer::result(&id, &body).into()
    }

    fn notice(&self, message: &Message, _: &Context) {
        self.seen.keep(message.method().unwrap_or_default());
    }

    fn revisions(&self) -> &[Revision] {
        slice::from_ref(&self.revision)
    }
}

/// Servers that run.
pub(crate) struct Scene {
    settings: Settings,
    pub(crate) gateway: Gateway,
    server: Server,
    pub(crate) seen: Seen,
    _upstream: Option<Server>,
}

fn named(target: Target) -> UpstreamSettings {
    UpstreamSettings {
        name: "slow".to_owned(),
        target,
        revision: None,
        sessions: Sessions::default(),
        credentials: None,
        assertion: None,
    }
}

impl Scene {
    /// A gateway with budgets in front of the slow server.
    pub(crate) async fn new(revision: Revision, budgets: Option<BudgetSettings>) -> Self {
        Self::with(revision, Settings { budgets, ..Settings::default() }).await
    }

    /// The same with other settings, too.
    pub(crate) async fn with(revision: Revision, settings: Settings) -> Self {
        let seen = Seen::default();
        let slow = Arc::new(Slow { revision, seen: seen.clone() });
        let upstream = http::listen(slow, LOCAL, http::Options::default()).await.expect("a free port");
        let url = Url::parse(&format!("http://{}/mcp", upstream.local_addr())).expect("a URL");
        Self { seen, ..Self::of(Target::Http(HttpAddress::new(url)), settings, Some(upstream)).await }
    }

    /// The same in front of a shell script.
    pub(crate) async fn script(text: &str, budgets: BudgetSettings) -> Self {
        let command = Command::new("sh", ["-c", text]);
        let target = Target::Command { command, inherit: Vec::new(), limits: CommandLimits::default() };
        Self::of(target, Settings { budgets: Some(budgets), ..Settings::default() }, None).await
    }

    async fn of(target: Target, settings: Settings, upstream: Option<Server>) -> Self {
        let settings = Settings { upstreams: vec![named(target)], ..settings };
        let gateway = Gateway::new(&settings, &Children::new()).expect("valid settings");
        let options = http::Options { layer: Some(Arc::new(Pages::new(gateway.clone()))), ..http::Options::default() };
        let server = http::listen(Arc::new(gateway.clone()), LOCAL, options).await.expect("a free port");
        Self { settings, gateway, server, seen: Seen::default(), _upstream: upstream }
    }

    /// Other budgets from now on.
    pub(crate) fn change(&self, budgets: BudgetSettings) {
        let settings = Settings { budgets: Some(budgets), ..self.settings.clone() };
        let reloaded = self.gateway.reload(&settings).expect("valid settings");
        assert_eq!((reloaded.kept, reloaded.begun), (1, 0));
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    fn options(&self, revision: Revision) -> Options {
        let url = Url::parse(&format!("http://{}/mcp", self.address())).expect("a URL");
        let address = Address::Http(HttpAddress::new(url));
        Options { revision: Some(revision), ..Options::new(address, &Children::new()) }
    }

    pub(crate) async fn client(&self, revision: Revision) -> Client {
        Client::connect(self.options(revision)).await.expect("it connects")
    }

    /// A client that takes its time to answer a question.
    pub(crate) async fn slow_client(&self, revision: Revision, pause: Duration) -> Client {
        let options = Options { respondent: Arc::new(Slowly(pause)), ..self.options(revision) };
        Client::connect(options).await.expect("it connects")
    }

    /// A number of the status.
    pub(crate) fn count(&self, pointer: &str) -> u64 {
        self.gateway.status().pointer(&format!("/budgets/{pointer}")).and_then(Value::as_u64).expect("a number")
    }

    pub(crate) async fn end(self) {
        self.server.shutdown().await;
        self.gateway.shutdown().await;
    }
}

/// The answer to a call of a tool with these members in `_meta`: the result, or the error.
pub(crate) async fn call(client: &Client, tool: &str, meta: &Value) -> Value {
    let mut params = Params::new().with("name", tool).with("arguments", json!({}));
    for (name, value) in meta.as_object().into_iter().flatten() {
        params = params.with_meta(name, value.clone());
    }
    match client.request("tools/call", &params).await {
        Ok(message) => message.value().clone(),
        Err(ClientError::Rpc { code, message, data, .. }) => {
            json!({ "error": { "code": code, "message": message, "data": data } })
        }
        Err(error) => panic!("{tool}: {error}"),
    }
}

/// Lets the gateway learn how long these tools take.
pub(crate) async fn learn(client: &Client, tools: &[&str]) {
    let calls = tools.iter().flat_map(|tool| std::iter::repeat_n(*tool, 12)).map(|tool| async move {
        let answer = call(client, tool, &json!({})).await;
        assert!(answer["result"].is_object(), "{answer}");
    });
    futures_util::future::join_all(calls).await;
}

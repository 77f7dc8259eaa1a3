//! Clients of several revisions that call the ledgers at the same time, and signals from outside meanwhile.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use client::{Abilities, Answering, Client, Options, Question, Respondent};
use futures_util::future::join_all;
use gateway::Gateway;
use gateway::settings::{Limits, Sessions, Settings, Target, UpstreamSettings};
use net::client::{Address, HttpAddress};
use net::server::http::{self, Server};
use net::{Children, client as net_client};
use serde_json::json;
use url::Url;
use wire::Revision;

use crate::children::{self, ChildLedger, signal};
use crate::http::HttpLedger;
use crate::random::Random;
use crate::verdict::{Call, Tally, Trouble, judge};

const CLIENTS: u64 = 6;
const CALLS: u64 = 10;
/// How many calls in a hundred tell their server to do wrong.
const FAULTY: u64 = 20;

pub(crate) fn limits() -> Limits {
    Limits {
        request: Duration::from_secs(3),
        request_total: Duration::from_secs(4),
        start: Duration::from_secs(8),
        list: Duration::from_secs(2),
        answer: Duration::from_secs(5),
        shutdown: Duration::from_millis(300),
        ..Limits::default()
    }
}

/// When every call must be answered: the time for a start, for the request, for a list on the way, and some grace.
pub(crate) fn deadline() -> Duration {
    let limits = limits();
    limits.start + limits.request_total + limits.list * 2 + Duration::from_secs(4)
}

struct Yes;

impl Respondent for Yes {
    fn abilities(&self) -> Abilities {
        Abilities::ALL
    }

    fn answer(&self, _: Question) -> Answering {
        Box::pin(async { Ok(json!({ "action": "accept", "content": { "name": "Ada" } })) })
    }
}

struct Scene {
    url: Url,
    gateway: Gateway,
    server: Server,
    pipe: ChildLedger,
    /// Nothing ever happens to this one.
    calm: ChildLedger,
    http: HttpLedger,
    modern: HttpLedger,
    _folder: tempfile::TempDir,
}

impl Scene {
    async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let [pipe, calm] = ["pipe", "calm"].map(|name| ChildLedger::new(name, folder.path()));
        let (http, modern) = (HttpLedger::start("http", false).await, HttpLedger::start("modern", true).await);
        let at = |ledger: &HttpLedger| Target::Http(HttpAddress::new(Url::parse(&ledger.url).expect("a URL")));
        let targets = [pipe.target(), calm.target(), at(&http), at(&modern)];
        let upstreams =
            ["pipe", "calm", "http", "modern"].into_iter().zip(targets).map(|(name, target)| UpstreamSettings {
                name: name.to_owned(),
                target,
                revision: None,
                sessions: Sessions::default(),
                credentials: None,
                assertion: None,
            });
        let settings = Settings { upstreams: upstreams.collect(), limits: limits(), ..Settings::default() };
        let gateway = Gateway::new(&settings, &Children::new()).expect("valid addresses");
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = http::listen(Arc::new(gateway.clone()), local, http::Options::default());
        let server = server.await.expect("a free port");
        let url = Url::parse(&format!("http://{}/mcp", server.local_addr())).expect("a URL");
        Self { url, gateway, server, pipe, calm, http, modern, _folder: folder }
    }

    async fn client(&self, revision: Revision, asked: bool) -> Client {
        let limits = net_client::Limits { request: deadline() * 2, ..net_client::Limits::default() };
        let mut options = Options {
            revision: Some(revision),
            limits,
            progress: true,
            ..Options::new(Address::Http(HttpAddress::new(self.url.clone())), &Children::new())
        };
        if asked {
            options.respondent = Arc::new(Yes);
        }
        Client::connect(options).await.unwrap_or_else(|error| panic!("a client of {revision}: {error}"))
    }

    fn keys(&self) -> Vec<String> {
        [self.pipe.keys(), self.calm.keys(), self.http.keys(), self.modern.keys()].concat()
    }

    /// Ends everything; what is left.
    async fn end(self) -> Vec<String> {
        self.gateway.shutdown().await;
        self.server.shutdown().await;
        drop(self.gateway);
        let begun = Instant::now();
        loop {
            let left = [self.pipe.running(), self.calm.running()].concat();
            if left.is_empty() || begun.elapsed() > Duration::from_secs(5) {
                return left;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Plays one seed.
pub(crate) async fn play(seed: u64) -> Tally {
    let scene = Scene::start().await;
    let loads = (0..CLIENTS).map(|number| run(&scene, seed, number));
    let (calls, mut troubles) = tokio::join!(join_all(loads), from_outside(&scene, seed));
    let calls: Vec<Call> = calls.into_iter().flatten().collect();
    troubles.extend(calls.iter().filter_map(Trouble::of));
    let keys = scene.keys();
    let left = scene.end().await;
    judge(seed, &calls, &troubles, &keys, &left)
}

/// One client's calls, one after the other.
async fn run(scene: &Scene, seed: u64, number: u64) -> Vec<Call> {
    let mut random = Random::new(seed * 1000 + number);
    let revision = [Revision::R2025_06_18, Revision::R2026_07_28, Revision::R2025_11_25][(number % 3) as usize];
    let asked = number >= 3;
    let client = scene.client(revision, asked).await;
    let mut calls = Vec::new();
    for turn in 0..CALLS {
        let upstream = random.one(&["pipe", "pipe", "http", "modern", "calm"]);
        let question = asked && upstream == "pipe" && random.chance(50);
        let faults: &[&str] = match upstream {
            "pipe" if question => &children::QUESTION_FAULTS,
            "pipe" => &children::FAULTS,
            "calm" => &["none"],
            _ => &crate::http::FAULTS,
        };
        let fault = if random.chance(FAULTY) { random.one(faults) } else { "none" };
        let key = format!("{seed}-{number}-{turn}");
        let arguments = json!({ "key": key, "fault": fault, "question": if question { "yes" } else { "no" } });
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let begun = Instant::now();
        let answer = client.call_unseen(&format!("{upstream}_write"), arguments).await;
        let text = answer.map_or_else(|error| error.to_string(), |message| message.text().to_owned());
        calls.push(Call { key, upstream, fault, begun, ended: Instant::now(), text });
        tokio::time::sleep(Duration::from_millis(random.below(20))).await;
    }
    calls
}

/// Kills and stops the children of one upstream.
async fn from_outside(scene: &Scene, seed: u64) -> Vec<Trouble> {
    let mut random = Random::new(seed * 7919);
    let mut troubles = Vec::new();
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(50 + random.below(250))).await;
        let running = scene.pipe.running();
        let Some(pid) = running.get(random.below(running.len().max(1) as u64) as usize) else { continue };
        let begun = Instant::now();
        if random.chance(50) {
            signal("KILL", pid);
        } else {
            signal("STOP", pid);
            tokio::time::sleep(Duration::from_millis(100 + random.below(2000))).await;
            signal("CONT", pid);
        }
        troubles.push(Trouble { upstream: "pipe", begun, ended: Instant::now() });
    }
    troubles
}

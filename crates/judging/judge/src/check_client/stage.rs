//! One scenario as it is played: a server of its own, the client beside it, and everything that crosses written down.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use faults::server::{FaultyServer, quirks};
use net::Tap;
use net::client::Command;
use net::process::Output;
use net::server::http::{self, Guard, OtherTransports};
use net::server::recorder::HttpRecorder;
use net::server::stdio::bridge::Bridge;
use net::tap::Written;
use reference::Server;
use reference::authorization::{TokenGuard, Tokens};
use reference::catalogue::Catalogue;
use serde_json::{Value, json};
use wire::trace::{Content, Header, Mark, Signal, Stimulus, Trace};
use wire::{Party, Transport};

use super::options::{Options, ServerWord};
use super::patience;
use super::scenario::Scenario;
use crate::judging::RunId;

/// How long a server waits for the sockets of a client that has ended.
const DESERTED: Duration = Duration::from_millis(500);

/// What came of a scenario.
pub struct Played {
    /// What crossed.
    pub trace: Trace,
    /// How the client ended.
    pub end: End,
    /// How long it took.
    pub elapsed: Duration,
}

/// How a client ended.
#[derive(Clone, Debug)]
pub enum End {
    /// By itself, like this.
    Exited(Output),
    /// It did not, in all the time that it had.
    Hung(Output, Duration),
    /// It was never there.
    NotStarted(String),
}

impl End {
    /// Whether it ended by itself and was content.
    pub fn is_good(&self) -> bool {
        matches!(self, Self::Exited(Output { status: Some(status), .. }) if status.success())
    }

    /// Whether it did not come to its end by itself.
    pub const fn hung(&self) -> bool {
        matches!(self, Self::Hung(..))
    }

    /// The last thing that it said to people.
    pub fn last_words(&self) -> Option<&str> {
        let (Self::Exited(ended) | Self::Hung(ended, _)) = self else { return None };
        [&ended.stderr, &ended.stdout].into_iter().find_map(|text| text.lines().map(str::trim).rfind(|l| !l.is_empty()))
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(Output { status: Some(status), .. }) => match (status.code(), status.signal()) {
                (Some(code), _) => write!(f, "exit code {code}"),
                (None, Some(signal)) => write!(f, "killed by signal {signal}"),
                (None, None) => f.write_str("ended"),
            },
            Self::Exited(_) => f.write_str("ended"),
            Self::Hung(_, after) => write!(f, "did not end within {:.0} s and was killed", after.as_secs_f64()),
            Self::NotStarted(why) => write!(f, "was not started: {why}"),
        }
    }
}

/// Plays a scenario to a client that has so much time.
pub async fn play(options: &Options, place: RunId, scenario: &'static Scenario, timeout: Duration) -> Played {
    let begun = Instant::now();
    let options = Options { timeout, ..options.clone() };
    let header = Header {
        subject: Party::Client,
        transport: place.transport,
        revision: Some(place.revision),
        case: scenario.name.to_owned(),
    };
    let tap = Tap::new(header);
    tap.limit(options.trace_bytes);
    tap.mark(0, Mark::Scenario(scenario.name.to_owned()));
    let end = tokio::select! {
        end = played(&options, place, scenario, &tap) => end,
        never = patience::watch(&tap) => match never {},
    };
    let end = end.unwrap_or_else(|error| End::NotStarted(error.to_string()));
    Played { trace: tap.finish(), end, elapsed: begun.elapsed() }
}

async fn played(options: &Options, place: RunId, scenario: &Scenario, tap: &Tap) -> std::io::Result<End> {
    // Whatever is asked of this origin is written down as asked of somebody else.
    let http = http::Options { recorder: Some(Arc::new(HttpRecorder::elsewhere(tap))), ..http::Options::default() };
    let empty = Arc::new(Catalogue::new("elsewhere", env!("CARGO_PKG_VERSION")));
    let elsewhere = Server::new(reference::Options { catalogue: empty, http, ..reference::Options::default() });
    let elsewhere = elsewhere.http(([127, 0, 0, 1], 0).into()).await?;
    let origin = format!("http://{}", elsewhere.local_addr());
    tap.mark(0, Stimulus::Origin { url: origin.clone() });
    let catalogue = Arc::new((scenario.offers)(&origin));
    match place.transport {
        Transport::Stdio => over_stdio(options, place, scenario, catalogue, tap).await,
        _ => over_http(options, place, scenario, catalogue, tap).await,
    }
}

/// A scenario's server, and who lets requests in there, if anybody is kept out.
fn server(
    place: RunId,
    scenario: &Scenario,
    catalogue: Arc<Catalogue>,
    recorder: Option<Arc<HttpRecorder>>,
) -> (FaultyServer, Option<Arc<TokenGuard>>) {
    let other_transports = OtherTransports {
        sse: place.transport == Transport::HttpSse,
        websocket: place.transport == Transport::WebSocket,
    };
    let http = http::Options { other_transports, recorder, ..http::Options::default() };
    let gate =
        |development| TokenGuard::new(Tokens::Ours(development), &http.path, other_transports, Arc::clone(&catalogue));
    let gate = scenario.demands.map(|set_up| Arc::new(gate(set_up())));
    let guard = gate.clone().map(|gate| gate as Arc<dyn Guard>);
    let http = http::Options { guard, ..http };
    let usual = reference::Options::default();
    let server = Server::new(reference::Options {
        catalogue,
        http,
        revisions: vec![place.revision],
        resources_per_page: scenario.page.unwrap_or(usual.resources_per_page),
        items_per_page: scenario.page.unwrap_or(usual.items_per_page),
        ..usual
    });
    // No server refuses a client for what it says that it accepts: that it says the wrong thing is seen all the same, and
    // what it does next, too.
    let faults = scenario.faults.iter().copied().chain([quirks::ACCEPTS_ANYTHING]).collect();
    (FaultyServer::new(server, faults), gate)
}

async fn over_http(
    options: &Options,
    place: RunId,
    scenario: &Scenario,
    catalogue: Arc<Catalogue>,
    tap: &Tap,
) -> std::io::Result<End> {
    let recorder = Arc::new(HttpRecorder::one(tap));
    let (server, gate) = server(place, scenario, catalogue, Some(recorder.clone()));
    let listening = server.http(([127, 0, 0, 1], 0).into()).await?;
    let at = listening.local_addr();
    let url = match place.transport {
        Transport::HttpSse => format!("http://{at}{}", http::SSE_PATH),
        Transport::WebSocket => format!("ws://{at}{}", http::WEBSOCKET_PATH),
        _ => format!("http://{at}{}", http::Options::default().path),
    };
    let mut context = context(scenario);
    if let Some(id) = context["client_id"].as_str() {
        tap.mark(0, Stimulus::ClientIdGiven { client_id: id.to_owned() });
    }
    if let (Some(gate), Value::Object(told)) = (gate, &mut context)
        && let Value::Object(more) = gate.hands_over(&at.to_string())
    {
        told.extend(more);
    }
    let command = options.command(&ServerWord::Url(url));
    let command = Command { env: environment(options, place, scenario, &context), ..command };
    let end = run(options, command, tap).await;
    // What it sent last may still be on its way through us.
    let deserted = async {
        while !recorder.is_deserted() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let is_deserted = tokio::time::timeout(DESERTED, deserted).await.is_ok();
    if is_deserted && !end.hung() {
        recorder.finish();
    }
    listening.shutdown().await;
    Ok(end)
}

async fn over_stdio(
    options: &Options,
    place: RunId,
    scenario: &Scenario,
    catalogue: Arc<Catalogue>,
    tap: &Tap,
) -> std::io::Result<End> {
    let bridge = Arc::new(Bridge::new()?);
    let mut words = options.bridge.clone();
    words.push(bridge.path().to_string_lossy().into_owned());
    let command = options.command(&ServerWord::Command(words));
    let command = Command { env: environment(options, place, scenario, &context(scenario)), ..command };
    let mut answering = tokio::task::JoinSet::new();
    let (server, _) = server(place, scenario, catalogue, None);
    let accepting = async {
        while let Ok(far) = bridge.accept().await {
            let (server, tap) = (server.clone(), tap.clone());
            answering.spawn(async move {
                far.answer(&tap, |inside, pen, stop| async move {
                    let served = server.lines((inside.stdin, inside.stdout), &pen, stop.asked()).await;
                    u8::from(served.is_err())
                })
                .await;
            });
        }
        std::future::pending::<End>().await
    };
    let end = tokio::select! {
        end = run(options, command, tap) => end,
        never = accepting => never,
    };
    let over = async { while answering.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(DESERTED, over).await;
    Ok(end)
}

/// Runs the client to its end. What we do to it after that is not written down.
async fn run(options: &Options, command: Command, tap: &Tap) -> End {
    tap.mark(0, Mark::CommandStarted);
    let exited = |status: ExitStatus| {
        let exit = Content::Exit { code: status.code(), signal: status.signal() };
        tap.write(tap.frame(Party::Client, 0, 0, exit), Written::NONE);
    };
    // A server that is still running then dies by our hand, not by its client's.
    let before_kill = |status: Option<ExitStatus>| {
        if let Some(status) = status {
            exited(status);
        }
        tap.mark(0, Mark::Signal(Signal::Kill));
        tap.close();
    };
    match options.children.run(&command, options.timeout, before_kill).await {
        Err(error) => End::NotStarted(why(&command, &error)),
        Ok(ended) => match ended.status {
            None => End::Hung(ended, options.timeout),
            Some(status) => {
                exited(status);
                End::Exited(ended)
            }
        },
    }
}

fn why(command: &Command, error: &std::io::Error) -> String {
    match (error.kind(), &command.cwd) {
        (std::io::ErrorKind::NotFound, Some(cwd)) if !cwd.is_dir() => format!("no directory {}", cwd.display()),
        (std::io::ErrorKind::NotFound, _) => format!("`{}` was not found", command.program),
        (std::io::ErrorKind::PermissionDenied, _) => format!("`{}` may not be executed", command.program),
        _ => error.to_string(),
    }
}

/// What a scenario tells its client.
fn context(scenario: &Scenario) -> Value {
    let mut context = scenario.context.map_or_else(|| json!({}), |context| context());
    context["name"] = json!(scenario.name);
    context
}

/// What the client is told by its environment, under our names and under the official suite's.
fn environment(options: &Options, place: RunId, scenario: &Scenario, context: &Value) -> Vec<(String, String)> {
    let revision = place.revision.as_str();
    let mut env = options.env.clone();
    let mut tell = |name: &str, value: &str| env.push((name.to_owned(), value.to_owned()));
    tell("PROOF_SCENARIO", scenario.name);
    tell("PROOF_REVISION", revision);
    tell("MCP_CONFORMANCE_SCENARIO", scenario.name);
    tell("MCP_CONFORMANCE_PROTOCOL_VERSION", revision);
    tell("MCP_CONFORMANCE_CONTEXT", &context.to_string());
    env
}

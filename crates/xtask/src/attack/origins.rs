//! Foreign pages: `Host` and `Origin` on every transport, at the server, the recorder and a replay. A page must be refused
//! before anything is done, written or passed on.

use std::fs;
use std::net::{IpAddr, UdpSocket};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::json;

use super::request::{Request, call, initialize};
use super::socket::{SILENCE, answer, head};
use super::target::Target;
use super::trial::{Attempt, Trial};

const REFUSED: &str = "refused with 403 or 421, or by the parser, and no CORS header";
const MOST: u64 = 64;

/// Values of `Host` that name another machine. `PORT` stands for the server's port.
const HOSTS: &[&str] = &[
    "evil.example",
    "evil.example:PORT",
    "127.0.0.1.evil.example",
    "localhost.evil.example:PORT",
    "127.0.0.1@evil.example",
    "evil.example@127.0.0.1",
    "evil.example#127.0.0.1",
    "127.0.0.1:PORT#evil.example",
    "127.0.0.1:PORT/evil.example",
    "127.0.0.1:PORT evil.example",
    "127.0.0.1, evil.example",
    "evil.example, 127.0.0.1",
    "0.0.0.0:PORT",
    "[::]:PORT",
    "169.254.169.254",
    "192.168.0.1:PORT",
    "[fe80::1]:PORT",
    "[::1].evil.example",
    "[::1]evil.example",
    "localhost:PORT:evil.example",
    "localhost:evil",
    "xlocalhost",
    "localhostx:PORT",
    "",
];

/// Values of `Origin` of foreign pages.
const ORIGINS: &[&str] = &[
    "http://evil.example",
    "https://evil.example",
    "http://evil.example:PORT",
    "null",
    "file://",
    "data:",
    "http://",
    "localhost",
    "127.0.0.1:PORT",
    "http://127.0.0.1.evil.example",
    "http://localhost.evil.example:PORT",
    "http://127.0.0.1:PORT@evil.example",
    "http://evil.example#http://localhost",
    "http://evil.example/http://localhost",
    "http://evil.example?http://localhost",
    "http://evil.example\\@localhost",
    "http://localhost, http://evil.example",
    "http://evil.example http://localhost",
    "chrome-extension://abcdefghijklmnop",
    "http://[::]:PORT",
    "http://0.0.0.0:PORT",
    "http://192.168.0.1:PORT",
    "http://xlocalhost:PORT",
    "http://localhost:PORT:evil",
    "http://127.0.0.1:PORT/",
    "http://\u{ff4c}ocalhost:PORT",
];

/// Other pages on this machine: they may not drive a WebSocket, for which a browser asks no permission first.
const NEIGHBOURS: &[&str] =
    &["http://127.0.0.1:1", "http://localhost:1", "https://127.0.0.1:1", "http://[::1]:1", "http://127.0.0.2:PORT"];

/// A place where requests are taken.
struct Place {
    name: &'static str,
    target: usize,
    request: fn(&Target) -> Request,
}

const PLACES: &[Place] = &[
    Place { name: "POST /mcp", target: 0, request: |at| Request::post("/mcp", &at.host(), &initialize()) },
    Place { name: "GET /mcp", target: 0, request: |at| Request::new("GET", "/mcp", &at.host()) },
    Place { name: "DELETE /mcp", target: 0, request: |at| Request::new("DELETE", "/mcp", &at.host()) },
    Place { name: "OPTIONS /mcp", target: 0, request: |at| Request::new("OPTIONS", "/mcp", &at.host()) },
    Place { name: "GET /sse", target: 0, request: |at| Request::new("GET", "/sse", &at.host()) },
    Place { name: "POST /messages", target: 0, request: |at| Request::post("/messages", &at.host(), &initialize()) },
    Place { name: "WebSocket /ws", target: 0, request: |at| Request::upgrade("/ws", &at.host()) },
    Place { name: "record POST", target: 1, request: |at| Request::post(&at.path, &at.host(), &initialize()) },
    Place { name: "record GET", target: 1, request: |at| Request::new("GET", &at.path, &at.host()) },
    Place { name: "record GET /sse", target: 1, request: |at| Request::new("GET", "/sse", &at.host()) },
    Place { name: "record WebSocket", target: 1, request: |at| Request::upgrade("/ws", &at.host()) },
    Place { name: "replay POST", target: 2, request: |at| Request::post("/mcp", &at.host(), &initialize()) },
    Place { name: "replay WebSocket", target: 2, request: |at| Request::upgrade("/ws", &at.host()) },
    Place { name: "issuer GET /authorize", target: 3, request: |at| Request::new("GET", "/authorize", &at.host()) },
    Place { name: "issuer POST /token", target: 3, request: |at| Request::form("/token", &at.host(), &[("a", "b")]) },
    Place {
        name: "issuer POST /register",
        target: 3,
        request: |at| Request::post("/register", &at.host(), &json!({})),
    },
    Place { name: "issuer metadata", target: 3, request: |at| Request::new("GET", METADATA, &at.host()) },
    Place { name: "guarded POST /mcp", target: 3, request: |at| Request::post("/mcp", &at.host(), &initialize()) },
];

const METADATA: &str = "/.well-known/oauth-authorization-server";

pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let serve = Target::serve(plan)?;
    let file = plan.folder.join("origins.jsonl");
    let output = file.display().to_string();
    let record =
        Target::start(plan, "record", &["record", "-o", &output, "--http", "127.0.0.1:0", "--to", &serve.url()], &[])?;
    let replay = replayed(trial, &serve)?;
    let dev = Target::start(plan, "serve --auth dev", &["serve", "--http", "127.0.0.1:0", "--auth", "dev"], &[])?;
    let targets = [serve, record, replay, dev];
    let attempts: Vec<Attempt<'_>> = PLACES.iter().flat_map(|place| tricks(place, &targets[place.target])).collect();
    trial.play(&attempts, 8);
    drop(attempts);
    trial.one("foreign pages' requests in the recording", "record", "nothing of them was written", || unwritten(&file));
    for target in &targets[..3] {
        trial.sound(target, MOST);
    }
    trial.one("no panic in the log", "serve --auth dev", "none", || targets[3].log_is_sound());
    beyond_loopback(trial)
}

/// A replay of a short recording.
fn replayed(trial: &Trial<'_>, serve: &Target) -> anyhow::Result<Target> {
    let file = trial.plan.folder.join("origins-replayed.jsonl").display().to_string();
    let record = Target::start(
        trial.plan,
        "record",
        &["record", "-o", &file, "--http", "127.0.0.1:0", "--to", &serve.url()],
        &[],
    )?;
    record.honest()?;
    let mut record = record;
    record.signal("INT")?;
    ensure!(record.ends_within(Duration::from_secs(5))?, "the recorder did not end");
    Target::start(trial.plan, "replay", &["replay", &file, "--http", "127.0.0.1:0", "--ws"], &[])
}

fn tricks<'t>(place: &'static Place, target: &'t Target) -> Vec<Attempt<'t>> {
    let mut attempts = Vec::new();
    let port = target.address.port().to_string();
    let mut add = |what: String, change: Box<dyn Fn(Request) -> Request + Send + Sync>| {
        let run = move || refused(target, &change((place.request)(target)));
        attempts.push(Attempt::new(what, place.name, REFUSED, run));
    };
    for host in HOSTS {
        let host = host.replace("PORT", &port);
        add(format!("Host: {host}"), Box::new(move |request| request.with("Host", &host)));
    }
    let neighbours = if place.name.ends_with("/ws") || place.name.ends_with("WebSocket") { NEIGHBOURS } else { &[] };
    for origin in ORIGINS.iter().chain(neighbours) {
        let origin = origin.replace("PORT", &port);
        add(format!("Origin: {origin}"), Box::new(move |request| request.with("Origin", &origin)));
    }
    add("no Host".to_owned(), Box::new(|request| request.without("Host")));
    add("two Hosts, the second foreign".to_owned(), Box::new(|request| request.plus("Host", "evil.example")));
    let own = target.host();
    add(
        "two Hosts, the first foreign".to_owned(),
        Box::new(move |request| request.with("Host", "evil.example").plus("Host", &own)),
    );
    let own = format!("http://{}", target.host());
    add(
        "two Origins, the second foreign".to_owned(),
        Box::new(move |request| request.with("Origin", &own).plus("Origin", "http://evil.example")),
    );
    attempts
}

fn refused(target: &Target, request: &Request) -> anyhow::Result<()> {
    // Closed without an answer is a refusal, too.
    let Some(reply) = head(target.address, &request.bytes())? else { return Ok(()) };
    // A 400 of the endpoint itself would say that the request was read; the parser closes the connection.
    let unread = reply.status == 400 && reply.header("connection").is_some_and(|value| value == "close");
    ensure!(matches!(reply.status, 403 | 421) || unread, "answered with {}", reply.status);
    let allowed = reply.header("access-control-allow-origin");
    ensure!(allowed.is_none(), "the page may read it: {allowed:?}");
    Ok(())
}

fn unwritten(file: &std::path::Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(file).context("the recording")?;
    let line = text.lines().find(|line| line.contains("evil.example"));
    ensure!(line.is_none(), "written: {}", line.unwrap_or_default().chars().take(200).collect::<String>());
    Ok(())
}

/// Listens where other machines can connect: there is a warning, and `localhost` is no name of this server.
fn beyond_loopback(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let Some(own) = own_address() else { return Ok(()) };
    let plan = trial.plan;
    let serve = Target::serve(plan)?;
    let file = plan.folder.join("beyond.jsonl").display().to_string();
    for all in ["0.0.0.0:0".to_owned(), format!("{own}:0")] {
        let record = ["record", "-o", &file, "--http", &all, "--to", &serve.url()].map(str::to_owned);
        let reached = ["serve", "--http", &all, "--ws", "--sse"].map(str::to_owned);
        for (name, args) in [("serve", &reached[..]), ("record", &record[..])] {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let target = Target::start(
                plan,
                if name == "serve" { "serve beyond loopback" } else { "record beyond loopback" },
                &args,
                &[],
            )?;
            let place = format!("{name} --http {all}");
            trial.one("listen without authentication", &place, "a warning on stderr", || {
                std::thread::sleep(SILENCE);
                let log = target.log().to_lowercase();
                ensure!(
                    log.contains("warning") || log.contains("anyone") || log.contains("without auth"),
                    "it says only: {log}"
                );
                Ok(())
            });
            let address = (own, target.address.port()).into();
            for host in ["localhost", "localhost:PORT", "127.0.0.1:PORT", "[::1]:PORT", "evil.example"] {
                let host = host.replace("PORT", &target.address.port().to_string());
                trial.one(&format!("Host: {host} from another address"), &place, "refused with 403", || {
                    let reply = answer(address, &Request::post("/mcp", &host, &call(1, "ping", json!({}))).bytes())?;
                    ensure!(matches!(reply.status, 403 | 421), "answered with {}", reply.status);
                    Ok(())
                });
            }
        }
    }
    Ok(())
}

/// An address of this machine that is not loopback, if it has one. Nothing is sent.
pub(super) fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

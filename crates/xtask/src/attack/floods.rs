//! Slow and huge peers: heads and bodies that do not end, thousands of connections and sessions, batches, streams that nobody reads.
//! Memory stays below a bound that is stated here, and an honest client is answered meanwhile.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};

use super::hostile::http::{Seen, Sent, Web};
use super::program::Pipe;
use super::request::{LEGACY, Request, call, initialize, initialized};
use super::socket::{Connection, PATIENCE, SILENCE};
use super::streams::OldSession;
use super::target::{Target, memory};
use super::tokens::{AUDIENCE, Keys, claims};
use super::trial::Trial;
use super::websocket::Socket;

/// Below what a process may usually open (1024), on both sides.
const CONNECTIONS: usize = 700;
const REFUSED: &str = "refused or cut off, and others are answered meanwhile";

pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    slow(trial)?;
    huge_requests(trial)?;
    sessions(trial)?;
    batches(trial)?;
    kept_streams(trial)?;
    subscriptions(trial)?;
    unread(trial)?;
    through_the_recorder(trial)?;
    over_stdio(trial)
}

/// Honest use must be answered in this time while an attack goes on.
fn prompt(target: &Target) -> anyhow::Result<()> {
    let begun = Instant::now();
    target.honest()?;
    let took = begun.elapsed();
    ensure!(took < Duration::from_secs(3), "an honest client waited {:.1} s", took.as_secs_f32());
    Ok(())
}

fn slow(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let serve = Target::serve(trial.plan)?;
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n", serve.host());
    let kinds: [(&str, String); 6] = [
        ("connections that say nothing", String::new()),
        ("half a request line", "POS".to_owned()),
        ("heads that do not end", head.clone()),
        ("bodies that do not come", format!("{head}Content-Length: 1000\r\n\r\n{{")),
        ("chunks that do not come", format!("{head}Transfer-Encoding: chunked\r\n\r\n5\r\n{{")),
        ("TLS where there is none", "\u{16}\u{3}\u{1}\u{2}".to_owned()),
    ];
    for (what, text) in kinds {
        trial.one(&format!("{CONNECTIONS} {what}"), "serve", REFUSED, || {
            let mut open = (0..CONNECTIONS).map(|_| Connection::open(serve.address)).collect::<Result<Vec<_>, _>>()?;
            for connection in &mut open {
                connection.send(text.as_bytes());
            }
            for _ in 0..3 {
                prompt(&serve)?;
                for connection in open.iter_mut().filter(|_| text.ends_with("\r\n")) {
                    connection.send(b"X: y\r\n");
                }
            }
            Ok(())
        });
    }
    trial.sound(&serve, 96);
    Ok(())
}

fn huge_requests(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let serve = Target::serve(trial.plan)?;
    let post = |path: &str, headers: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n{headers}\r\n",
            serve.host()
        )
    };
    let part = vec![b'['; 64 << 10];
    let chunk = [format!("{:x}\r\n", part.len()).as_bytes(), &part, b"\r\n"].concat();
    let header = format!("X-{}: {}\r\n", "n".repeat(1000), "v".repeat(60_000)).into_bytes();
    for path in ["/mcp", "/messages", "/nowhere"] {
        let kinds: [(&str, Vec<u8>, &[u8], usize); 7] = [
            ("1 GB declared and 64 MB sent", post(path, "Content-Length: 1073741824\r\n").into_bytes(), &part, 1000),
            ("2^63 bytes declared", post(path, "Content-Length: 9223372036854775807\r\n").into_bytes(), &part, 200),
            ("chunks without end", post(path, "Transfer-Encoding: chunked\r\n").into_bytes(), &chunk, 1000),
            (
                "an extension without end",
                post(path, "Transfer-Encoding: chunked\r\n\r\n1;x=").trim_end().as_bytes().to_vec(),
                &part,
                200,
            ),
            (
                "a trailer without end",
                [post(path, "Transfer-Encoding: chunked\r\n").as_bytes(), b"0\r\n"].concat(),
                &header,
                200,
            ),
            ("headers without end", format!("POST {path} HTTP/1.1\r\n").into_bytes(), &header, 200),
            ("a request line without end", format!("POST {path}?").into_bytes(), &part, 200),
        ];
        for (what, first, more, times) in kinds {
            trial.one(what, &format!("serve {path}"), REFUSED, || {
                let mut connection = Connection::open(serve.address)?;
                connection.send(&first);
                let taken = (0..times).take_while(|_| connection.send(more)).count();
                prompt(&serve)?;
                ensure!(taken < times || connection.closes_within(Duration::from_secs(35)), "all was taken");
                Ok(())
            });
        }
    }
    trial.sound(&serve, 96);
    Ok(())
}

/// One client that opens sessions must not lock the others out.
fn sessions(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let keys = Keys::new()?;
    let serve = keys.server(trial, &["--auth-audience", AUDIENCE])?;
    let token = |subject: &str| {
        let mut claims = claims();
        claims["sub"] = subject.into();
        keys.good(&claims)
    };
    let (greedy, other) = (token("greedy"), token("other"));
    let count = 17_000;
    trial.one(&format!("{count} sessions of one subject"), "serve /mcp", "others can still open one", || {
        let mut connection = Connection::open(serve.address)?;
        let request = Request::post("/mcp", &serve.host(), &initialize()).bearing(Some(&greedy)).bytes();
        for _ in 0..count {
            connection.send(&request);
            connection.answer()?;
        }
        serve.open_session_as(Some(&other)).map(drop)
    });
    trial.memory("memory", "serve, 17,000 sessions", serve.peak(), 320);
    let serve = Target::serve(trial.plan)?;
    trial.one(
        &format!("{CONNECTIONS} sessions of HTTP+SSE and WebSocket"),
        "serve",
        "others can still open one",
        || {
            let mut held = Vec::new();
            let mut sockets = Vec::new();
            for _ in 0..CONNECTIONS / 2 {
                held.push(OldSession::open(&serve, None)?);
                sockets.push(Socket::open(&serve)?);
            }
            prompt(&serve)
        },
    );
    trial.sound(&serve, 160);
    Ok(())
}

/// Opens a session at the revision that has batches.
fn session_at(target: &Target, revision: &str) -> anyhow::Result<String> {
    let mut hello = initialize();
    hello["params"]["protocolVersion"] = revision.into();
    let reply = target.answer(&Request::post("/mcp", &target.host(), &hello))?;
    let id = reply.header("mcp-session-id").unwrap_or_default().to_owned();
    target.answer(&Request::post("/mcp", &target.host(), &initialized()).with("Mcp-Session-Id", &id))?;
    Ok(id)
}

/// Parts of a batch: what they are, each by its number, and how many.
type BatchKind<'b> = (&'static str, &'b dyn Fn(usize) -> String, usize);

fn batches(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let ping = |id: usize| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let list = |id: usize| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
    let slow = |id: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"slow","arguments":{{"steps":100,"delay_ms":100}}}}}}"#
        )
    };
    let kinds: [BatchKind<'_>; 4] = [
        ("pings", &ping, 80_000),
        ("lists", &list, 60_000),
        ("slow calls", &slow, 25_000),
        ("numbers", &|id| id.to_string(), 500_000),
    ];
    for (what, part, count) in kinds {
        let serve = Target::serve(trial.plan)?;
        let body = format!("[{}]", (0..count).map(part).collect::<Vec<_>>().join(","));
        ensure!(body.len() < 4 << 20, "{what}: more than a body may have");
        for (place, path) in [("serve /mcp", "/mcp"), ("serve /ws", "/ws")] {
            trial.one(
                &format!("twice a batch of {count} {what}"),
                place,
                "refused or answered, and others are answered meanwhile",
                || {
                    let session = session_at(&serve, "2025-03-26")?;
                    let mut held = Vec::new();
                    let mut sockets = Vec::new();
                    for _ in 0..2 {
                        if path == "/ws" {
                            let mut socket = Socket::open(&serve)?;
                            socket.text(initialize().to_string().replace(LEGACY, "2025-03-26").as_bytes());
                            socket.connection.until("serverInfo", PATIENCE)?;
                            socket.text(body.as_bytes());
                            sockets.push(socket);
                        } else {
                            let mut connection = Connection::open(serve.address)?;
                            connection.send(
                                &Request::raw_post(path, &serve.host(), body.as_bytes())
                                    .with("Mcp-Session-Id", &session)
                                    .bytes(),
                            );
                            held.push(connection);
                        }
                    }
                    for _ in 0..4 {
                        prompt(&serve)?;
                        std::thread::sleep(SILENCE);
                    }
                    Ok(())
                },
            );
        }
        trial.memory("memory", &format!("serve, batches of {what}"), serve.peak(), 256);
    }
    Ok(())
}

/// Ended streams that are kept for a client to resume.
fn kept_streams(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let serve = Target::serve(trial.plan)?;
    let text = "x".repeat(3 << 20);
    let (count, each) = (trial.plan.amount(12, 8), 10);
    trial.one(
        &format!("{count} sessions with {each} ended streams of several MB"),
        "serve /mcp",
        "old ones are forgotten, others are answered",
        || {
            for _ in 0..count {
                let session = serve.open_session()?;
                let level = call(1, "logging/setLevel", json!({ "level": "debug" }));
                serve.answer(&Request::post("/mcp", &serve.host(), &level).with("Mcp-Session-Id", &session))?;
                for id in 2..2 + each {
                    let log = call(
                        id,
                        "tools/call",
                        json!({ "name": "log", "arguments": { "message": text }, "_meta": { "progressToken": id } }),
                    );
                    serve.answer(&Request::post("/mcp", &serve.host(), &log).with("Mcp-Session-Id", &session))?;
                }
            }
            prompt(&serve)
        },
    );
    trial.sound(&serve, 320);
    Ok(())
}

fn subscriptions(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let serve = Target::serve(trial.plan)?;
    trial.one("20,000 subscriptions to addresses of 10 KB", "serve /mcp", "refused beyond a bound", || {
        let session = serve.open_session()?;
        let mut connection = Connection::open(serve.address)?;
        for id in 0..20_000 {
            let uri = format!("x://{id}/{}", "u".repeat(10_000));
            connection.send(
                &Request::post("/mcp", &serve.host(), &call(id, "resources/subscribe", json!({ "uri": uri })))
                    .with("Mcp-Session-Id", &session)
                    .bytes(),
            );
            connection.answer()?;
        }
        prompt(&serve)
    });
    trial.sound(&serve, 96);
    Ok(())
}

/// Peers that ask and do not read.
fn unread(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let serve = Target::serve(trial.plan)?;
    let list = call(1, "tools/list", json!({}));
    trial.one(
        "20 WebSockets that ask 3,000 times and read nothing",
        "serve /ws",
        "cut off, and others are answered",
        || {
            let mut sockets = (0..20).map(|_| Socket::open(&serve)).collect::<Result<Vec<_>, _>>()?;
            for socket in &mut sockets {
                socket.text(initialize().to_string().as_bytes());
                socket.connection.until("serverInfo", PATIENCE)?;
                for id in 0..3000 {
                    if !socket.text(call(id, "tools/list", json!({})).to_string().as_bytes()) {
                        break;
                    }
                }
            }
            prompt(&serve)
        },
    );
    trial.one(
        "10 sessions of HTTP+SSE that ask 1,000 times and read nothing",
        "serve /sse",
        "cut off, and others are answered",
        || {
            for _ in 0..10 {
                let session = OldSession::greeted(&serve, None)?;
                let mut connection = Connection::open(serve.address)?;
                let request = Request::post(&session.endpoint, &serve.host(), &list).bytes();
                for _ in 0..1000 {
                    connection.send(&request);
                    if connection.answer()?.status != 202 {
                        break;
                    }
                }
            }
            prompt(&serve)
        },
    );
    trial.one("3,000 requests on one connection, no answer read", "serve /mcp", "others are answered", || {
        let session = serve.open_session()?;
        let mut connection = Connection::open(serve.address)?;
        let request = Request::post("/mcp", &serve.host(), &list).with("Mcp-Session-Id", &session).bytes();
        for _ in 0..100 {
            connection.send(&request);
        }
        prompt(&serve)
    });
    trial.sound(&serve, 256);
    Ok(())
}

fn through_the_recorder(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let part = vec![b'x'; 1 << 20];
    let kinds: [(&str, Sent); 5] = [
        ("a response without end", Sent::endless("application/json", b"\"", &part, Duration::ZERO)),
        ("a text without end", Sent::endless("text/plain", b"", &part, Duration::ZERO)),
        ("an event without end", Sent::endless("text/event-stream", b"data: ", &part, Duration::ZERO)),
        ("a comment without end", Sent::endless("text/event-stream", b": ", &part, Duration::ZERO)),
        (
            "a head without end",
            Sent {
                first: b"HTTP/1.1 200 OK\r\n".to_vec(),
                endless: [b"X: ", part.as_slice(), b"\r\n"].concat(),
                ..Sent::default()
            },
        ),
    ];
    let megabytes = plan.amount(1000, 300);
    for (number, (what, sent)) in kinds.into_iter().enumerate() {
        let web = Web::start(move |_: &Seen, _| sent.clone())?;
        let output = plan.folder.join(format!("flood-{number}.jsonl")).display().to_string();
        let record = Target::start(
            plan,
            "record",
            &["record", "-o", &output, "--http", "127.0.0.1:0", "--to", &web.url("/mcp")],
            &[],
        )?;
        trial.one(
            &format!("{what}, {megabytes} MB of it"),
            "record",
            "passed on or cut off, in bounded memory",
            || {
                let mut connection = Connection::open(record.address)?;
                connection.send(&Request::post("/mcp", &record.host(), &call(1, "tools/list", Value::Null)).bytes());
                let begun = Instant::now();
                let mut came = 0;
                while came < megabytes && begun.elapsed() < Duration::from_secs(10) && record.peak()? < 1000 {
                    let some = connection.take(1 << 20, Duration::from_millis(200));
                    if some.is_empty() && connection.closes_within(Duration::from_millis(1)) {
                        break;
                    }
                    came += 1;
                }
                Ok(())
            },
        );
        trial.memory("memory", &format!("record, {what}"), record.peak(), 128);
        let size = std::fs::metadata(&output).map_or(0, |file| file.len());
        trial.one("the size of the recording", &format!("record, {what}"), "bounded", || {
            ensure!(size < 128 << 20, "{} MB", size >> 20);
            Ok(())
        });
    }
    Ok(())
}

fn over_stdio(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let part = vec![b'x'; 1 << 20];
    let output = plan.folder.join("flood-stdio.jsonl").display().to_string();
    let proof = plan.proof.display().to_string();
    let wrapped = ["record", "-o", &output, "--", &proof, "serve", "--stdio"];
    for (place, args) in [("serve --stdio", &["serve", "--stdio"][..]), ("record over stdio", &wrapped)] {
        let mut pipe = Pipe::start(plan, args)?;
        trial.one("a line of 200 MB", place, "refused or ended, in bounded memory", || {
            pipe.send(format!("{}\n", initialize()).as_bytes());
            pipe.until("serverInfo", PATIENCE)?;
            for _ in 0..200 {
                if !pipe.send(&part) {
                    return Ok(());
                }
            }
            pipe.send(b"\n");
            pipe.send(format!("{}\n", call("after", "ping", json!({}))).as_bytes());
            pipe.until("after", PATIENCE).map(drop)
        });
        trial.memory("memory", place, memory(pipe.process(), "VmHWM:"), 128);
    }
    Ok(())
}

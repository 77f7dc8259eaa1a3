//! Messages that are too many: batches, and peers that ask and do not read.

use anyhow::ensure;
use serde_json::json;

use super::prompt;
use crate::attack::request::{LEGACY, Request, call, initialize, initialized};
use crate::attack::socket::{Connection, PATIENCE, SILENCE};
use crate::attack::streams::OldSession;
use crate::attack::target::Target;
use crate::attack::trial::{Bound, Trial};
use crate::attack::websocket::Socket;

const BATCHES: &str = "100 messages and 8 MiB of responses per batch (serve.md)";
const UNREAD: &str = "8 MiB per stream that waits for a slow reader, 30 s to read (serve.md)";

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

pub(super) fn batches(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
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
        let serve = Target::serve(plan)?;
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
                        prompt(plan, &serve)?;
                        std::thread::sleep(SILENCE);
                    }
                    Ok(())
                },
            );
        }
        let bound = Bound { most: 256, by: BATCHES };
        trial.flood(&format!("four batches of {count} {what}"), "serve", serve.peak(), bound);
    }
    Ok(())
}

/// Asks over many WebSockets and reads no answer.
pub(super) fn unread_sockets(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let serve = Target::serve(plan)?;
    let count = plan.amount(20, 3);
    trial.one(
        &format!("{count} WebSockets that ask 3,000 times and read nothing"),
        "serve /ws",
        "cut off, and others are answered",
        || {
            // All stay open.
            let _sockets = (0..count).map(|_| asked(&serve)).collect::<Result<Vec<_>, _>>()?;
            prompt(plan, &serve)
        },
    );
    trial.survived("WebSockets that ask and read nothing", &serve, Bound { most: 256, by: UNREAD });
    Ok(())
}

fn asked(serve: &Target) -> anyhow::Result<Socket> {
    let mut socket = Socket::open(serve)?;
    socket.text(initialize().to_string().as_bytes());
    socket.connection.until("serverInfo", PATIENCE)?;
    let mut ids = 0..3000;
    ids.all(|id| socket.text(call(id, "tools/list", json!({})).to_string().as_bytes()));
    Ok(socket)
}

/// Asks in sessions of HTTP+SSE and reads no event.
pub(super) fn unread_streams(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let serve = Target::serve(plan)?;
    let count = plan.amount(10, 4);
    let list = call(1, "tools/list", json!({}));
    trial.one(
        &format!("{count} sessions of HTTP+SSE that ask 1,000 times and read nothing"),
        "serve /sse",
        "cut off, and others are answered",
        || {
            for _ in 0..count {
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
            prompt(plan, &serve)
        },
    );
    trial.survived("streams of HTTP+SSE that nobody reads", &serve, Bound { most: 256, by: UNREAD });
    Ok(())
}

/// Asks on one connection of Streamable HTTP and reads no response.
pub(super) fn unread_responses(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let serve = Target::serve(plan)?;
    let list = call(1, "tools/list", json!({}));
    trial.one("100 requests on one connection, no answer read", "serve /mcp", "others are answered", || {
        let session = serve.open_session()?;
        let mut connection = Connection::open(serve.address)?;
        let request = Request::post("/mcp", &serve.host(), &list).with("Mcp-Session-Id", &session).bytes();
        for _ in 0..100 {
            connection.send(&request);
        }
        prompt(plan, &serve)
    });
    let by = "256 requests per session in flight, 30 s to read (serve.md)";
    trial.survived("responses that nobody reads", &serve, Bound { most: 256, by });
    Ok(())
}

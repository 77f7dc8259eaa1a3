//! What a server keeps for its clients: sessions, streams that ended, subscriptions.

use anyhow::ensure;
use serde_json::json;

use super::{CONNECTIONS, prompt};
use crate::attack::request::{Request, call, initialize};
use crate::attack::socket::Connection;
use crate::attack::streams::OldSession;
use crate::attack::target::Target;
use crate::attack::tokens::{AUDIENCE, Keys, claims};
use crate::attack::trial::{Bound, Trial};
use crate::attack::websocket::Socket;

/// One client that opens sessions must not lock the others out.
pub(super) fn sessions(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let keys = Keys::new()?;
    let serve = keys.server(trial, &["--auth-audience", AUDIENCE])?;
    let token = |subject: &str| {
        let mut claims = claims();
        claims["sub"] = subject.into();
        keys.good(&claims)
    };
    let (greedy, other) = (token("greedy"), token("other"));
    // One subject may have 12,288.
    let count = plan.amount(17_000, 13_000);
    trial.one(&format!("{count} sessions of one subject"), "serve /mcp", "others can still open one", || {
        let mut connection = Connection::open(serve.address)?;
        let request = Request::post("/mcp", &serve.host(), &initialize()).bearing(Some(&greedy)).bytes();
        for _ in 0..count {
            connection.send(&request);
            connection.answer()?;
        }
        serve.open_session_as(Some(&other)).map(drop)
    });
    let by = "16,384 sessions, three quarters for one subject (serve.md)";
    trial.flood(&format!("{count} sessions of one subject"), "serve", serve.peak(), Bound { most: 320, by });
    Ok(())
}

/// Streams that stay open, each a session.
pub(super) fn open_streams(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let serve = Target::serve(plan)?;
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
            prompt(plan, &serve)
        },
    );
    let by = "16,384 sessions over HTTP+SSE and WebSocket (serve.md)";
    trial.survived("700 open streams, HTTP+SSE and WebSocket", &serve, Bound { most: 160, by });
    Ok(())
}

/// Ended streams that are kept for a client to resume: each has 8 MB of progress, at the cost of a short request.
pub(super) fn kept_streams(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let serve = Target::serve(plan)?;
    let token = "x".repeat(80_000);
    // Three sessions are more than all may keep together.
    let (count, each) = (plan.amount(12, 3), 8);
    trial.one(
        &format!("{count} sessions with {each} ended streams of 8 MB"),
        "serve /mcp",
        "old ones are forgotten, others are answered",
        || {
            for _ in 0..count {
                let session = serve.open_session()?;
                for id in 1..=each {
                    let arguments = json!({ "steps": 100, "delay_ms": 0 });
                    let params = json!({ "name": "slow", "arguments": arguments, "_meta": { "progressToken": token } });
                    let slow = call(id, "tools/call", params);
                    let reply =
                        serve.answer(&Request::post("/mcp", &serve.host(), &slow).with("Mcp-Session-Id", &session))?;
                    ensure!(reply.body.len() > 7 << 20, "only {} bytes of events came", reply.body.len());
                }
            }
            prompt(plan, &serve)
        },
    );
    let by = "8 ended streams per session, 128 MiB of kept events (serve.md)";
    trial.survived(
        &format!("{} ended streams of 8 MB, kept for resumption", count * each),
        &serve,
        Bound { most: 320, by },
    );
    Ok(())
}

pub(super) fn subscriptions(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let serve = Target::serve(plan)?;
    // 1 MiB is a hundred of them.
    let count = plan.amount(20_000, 2000);
    trial.one(&format!("{count} subscriptions to addresses of 10 KB"), "serve /mcp", "refused beyond a bound", || {
        let session = serve.open_session()?;
        let mut connection = Connection::open(serve.address)?;
        for id in 0..count {
            let uri = format!("x://{id}/{}", "u".repeat(10_000));
            connection.send(
                &Request::post("/mcp", &serve.host(), &call(id, "resources/subscribe", json!({ "uri": uri })))
                    .with("Mcp-Session-Id", &session)
                    .bytes(),
            );
            connection.answer()?;
        }
        prompt(plan, &serve)
    });
    let by = "1 MiB of subscribed URIs per session (serve.md)";
    trial.survived("subscriptions to long addresses", &serve, Bound { most: 96, by });
    Ok(())
}

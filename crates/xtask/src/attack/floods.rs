//! Slow and huge peers: heads and bodies that do not end, thousands of connections and sessions, batches, streams that nobody reads.
//! Memory stays below a bound that is stated here, with the limit of the program that keeps it there, and an honest client is
//! answered meanwhile.

mod messages;
mod state;
mod through;

use std::time::{Duration, Instant};

use anyhow::ensure;

use super::Plan;
use super::socket::Connection;
use super::target::Target;
use super::trial::{Bound, Part, Trial};

/// Below what a process may usually open (1024), on both sides.
const CONNECTIONS: usize = 700;
const REFUSED: &str = "refused or cut off, and others are answered meanwhile";

/// Each floods processes of its own. Those that take longest come first.
const PARTS: &[Part] = &[
    state::kept_streams,
    messages::unread_sockets,
    state::sessions,
    slow,
    through::bodies,
    messages::batches,
    messages::unread_streams,
    messages::unread_responses,
    through::heads_and_events,
    through::over_stdio,
    huge_requests,
    state::open_streams,
    state::subscriptions,
];

#[expect(clippy::unnecessary_wraps, reason = "as every category's")]
pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    // A whole run measures each flood alone.
    trial.parts(PARTS, trial.plan.amount(1, 4));
    Ok(())
}

/// Honest use must be answered in this time while an attack goes on.
fn prompt(plan: &Plan, target: &Target) -> anyhow::Result<()> {
    // A quick run has other floods at the side of this one.
    let most = plan.amount(3, 6);
    let begun = Instant::now();
    target.honest()?;
    let took = begun.elapsed();
    ensure!(took < Duration::from_secs(most as u64), "an honest client waited {:.1} s", took.as_secs_f32());
    Ok(())
}

fn slow(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let serve = Target::serve(plan)?;
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
                prompt(plan, &serve)?;
                for connection in open.iter_mut().filter(|_| text.ends_with("\r\n")) {
                    connection.send(b"X: y\r\n");
                }
            }
            Ok(())
        });
    }
    let by = "connections, a head's 60 s and a body's 30 s (serve.md)";
    trial.survived("700 connections that are slow, 6 ways", &serve, Bound { most: 96, by });
    Ok(())
}

fn huge_requests(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let serve = Target::serve(plan)?;
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
                prompt(plan, &serve)?;
                ensure!(taken < times || connection.closes_within(Duration::from_secs(35)), "all was taken");
                Ok(())
            });
        }
    }
    let by = "4 MiB per body, 64 KiB and 100 fields per head (serve.md)";
    trial.survived("heads and bodies without end, 21 ways", &serve, Bound { most: 96, by });
    Ok(())
}

//! Floods through the recorder, and lines without end over standard streams.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};

use crate::attack::hostile::http::{Seen, Sent, Web};
use crate::attack::program::Pipe;
use crate::attack::request::{Request, call, initialize};
use crate::attack::socket::{Connection, PATIENCE};
use crate::attack::target::{Target, memory};
use crate::attack::trial::{Bound, Trial};

/// What a server behind the recorder sends without end, and the limit that meets it.
struct Endless {
    what: &'static str,
    sent: Sent,
    by: &'static str,
}

fn part() -> Vec<u8> {
    vec![b'x'; 1 << 20]
}

/// Bodies that the recorder passes on and keeps a part of.
pub(super) fn bodies(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let by = "16 MiB per body, 64 MiB of all unfinished bodies (replay.md)";
    let body =
        |what, kind, first: &[u8]| Endless { what, sent: Sent::endless(kind, first, &part(), Duration::ZERO), by };
    through_the_recorder(trial, body("a response without end", "application/json", b"\""))?;
    through_the_recorder(trial, body("a text without end", "text/plain", b""))
}

/// Events, comments and heads, in which the recorder looks for an end.
pub(super) fn heads_and_events(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let by = "16 MiB per event, 64 MiB of all unfinished bodies (replay.md)";
    let event = |what, first: &[u8]| Endless {
        what,
        sent: Sent::endless("text/event-stream", first, &part(), Duration::ZERO),
        by,
    };
    through_the_recorder(trial, event("an event without end", b"data: "))?;
    through_the_recorder(trial, event("a comment without end", b": "))?;
    let endless = [b"X: ", part().as_slice(), b"\r\n"].concat();
    let sent = Sent { first: b"HTTP/1.1 200 OK\r\n".to_vec(), endless, ..Sent::default() };
    through_the_recorder(trial, Endless { what: "a head without end", sent, by: "the head that hyper reads" })
}

fn through_the_recorder(trial: &mut Trial<'_>, Endless { what, sent, by }: Endless) -> anyhow::Result<()> {
    let plan = trial.plan;
    let web = Web::start(move |_: &Seen, _| sent.clone())?;
    let output = plan.folder.join(format!("flood-{}.jsonl", what.replace(' ', "-"))).display().to_string();
    let to = web.url("/mcp");
    let record = Target::start(plan, "record", &["record", "-o", &output, "--http", "127.0.0.1:0", "--to", &to], &[])?;
    // More than the recorder may hold.
    let megabytes = plan.amount(1000, 200);
    trial.one(&format!("{what}, {megabytes} MB of it"), "record", "passed on or cut off, in bounded memory", || {
        let mut connection = Connection::open(record.address)?;
        connection.send(&Request::post("/mcp", &record.host(), &call(1, "tools/list", Value::Null)).bytes());
        let (begun, mut came) = (Instant::now(), 0);
        while came < megabytes << 20 && record.peak()? < 1000 {
            match connection.skip(1 << 20, Duration::from_secs(1)) {
                0 => break,
                some => came += some,
            }
            ensure!(begun.elapsed() < Duration::from_mins(1), "only {} MB came in a minute", came >> 20);
        }
        Ok(())
    });
    trial.flood(what, "record", record.peak(), Bound { most: 128, by });
    let size = std::fs::metadata(&output).map_or(0, |file| file.len());
    trial.one("the size of the recording", &format!("record, {what}"), "bounded", || {
        ensure!(size < 128 << 20, "{} MB", size >> 20);
        Ok(())
    });
    Ok(())
}

/// One line that does not end, to the server and to the recorder before it.
pub(super) fn over_stdio(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let part = part();
    let output = plan.folder.join("flood-stdio.jsonl").display().to_string();
    let proof = plan.proof.display().to_string();
    let wrapped = ["record", "-o", &output, "--", &proof, "serve", "--stdio"];
    let serve_by = "16 MiB per line (`Limits::line` of the server)";
    let record_by = "16 MiB per line (replay.md)";
    for (place, args, by) in
        [("serve --stdio", &["serve", "--stdio"][..], serve_by), ("record over stdio", &wrapped, record_by)]
    {
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
        trial.flood("a line of 200 MB", place, memory(pipe.process(), "VmHWM:"), Bound { most: 128, by });
    }
    Ok(())
}

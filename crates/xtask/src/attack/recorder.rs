//! Recordings when processes and disks fail, and bytes by which a secret could slip past the reader: compressed bodies, invalid
//! UTF-8, pieces. What was written is a valid recording up to its end, and never holds a secret.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::Plan;
use super::hostile::http::{Seen, Sent, Web};
use super::program::{Pipe, Run};
use super::request::{Request, call, initialize, initialized};
use super::secrets::forms::{found, in_base64};
use super::socket::{PATIENCE, answer, exchange};
use super::target::Target;
use super::trial::Trial;

const SECRET: &str = "ghp_Qz7recorderSecretNumberOne1234567890ab";
const VALID: &str = "every whole line is a frame; only the last may be cut";
const ABSENT: &str = "the secret is not in the recording";

pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    killed(trial)?;
    limited(trial);
    odd_files(trial);
    bodies(trial)?;
    sessions_in_urls(trial)?;
    sent_once(trial)
}

/// A server that reads a request on a connection that was used before and closes it: the request may have been carried out, so it
/// must not be sent a second time.
fn sent_once(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let web = || {
        Web::start(|seen: &Seen, _| {
            let message: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
            if seen.path().0 != "POST" {
                return Sent::response("405 Method Not Allowed", "", b"");
            }
            match (message["method"].as_str(), message["id"].is_null()) {
                (Some("tools/call"), _) => Sent::default(),
                (Some("server/discover"), _) => Sent::json(
                    &json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": -32601, "message": "no" } }),
                ),
                (_, true) => Sent::response("202 Accepted", "", b""),
                _ => Sent::json(
                    &json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                    "serverInfo": { "name": "x", "version": "1" }, "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] } }),
                ),
            }
        })
    };
    let times = |web: &Web| web.seen().iter().filter(|seen| seen.text().contains("\"tools/call\"")).count();
    let behind = web()?;
    let output = file(plan, "once").display().to_string();
    let record = Target::start(
        plan,
        "record",
        &["record", "-o", &output, "--http", "127.0.0.1:0", "--to", &behind.url("/mcp")],
        &[],
    )?;
    trial.one("a server that closes a reused connection", "record", "the POST is sent once", || {
        for message in [initialize(), call(2, "ping", json!({})), call(3, "tools/call", json!({ "name": "t" }))] {
            exchange(record.address, &Request::post("/mcp", &record.host(), &message).bytes())?;
        }
        ensure!(times(&behind) == 1, "it was sent {} times", times(&behind));
        Ok(())
    });
    let direct = web()?;
    trial.one("a server that closes a reused connection", "client call", "the POST is sent once", || {
        Run::new(plan, &["client", "call", "t", "--timeout", "5", &direct.url("/mcp")], 20).go(plan)?;
        ensure!(times(&direct) == 1, "it was sent {} times", times(&direct));
        Ok(())
    });
    Ok(())
}

fn file(plan: &Plan, name: &str) -> PathBuf {
    plan.folder.join(format!("recorder-{name}.jsonl"))
}

/// Killed while it writes, at many moments.
fn killed(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let serve = Target::serve(plan)?;
    for round in 0..plan.amount(20, 5) {
        let output = file(plan, &format!("killed-{round}"));
        let name = output.display().to_string();
        let mut pipe =
            Pipe::start(plan, &["record", "-o", &name, "--", &plan.proof.display().to_string(), "serve", "--stdio"])?;
        for message in [initialize(), initialized()] {
            pipe.send(format!("{message}\n").as_bytes());
        }
        pipe.until("serverInfo", PATIENCE)?;
        for id in 2..200 {
            pipe.send(format!("{}\n", call(id, "tools/list", json!({}))).as_bytes());
        }
        std::thread::sleep(Duration::from_millis(3 * round as u64));
        pipe.signal("KILL")?;
        drop(pipe);
        trial.one(&format!("SIGKILL, moment {round}"), "record over stdio", VALID, || valid(&output));
        trial.one(
            &format!("SIGKILL, moment {round}"),
            "replay of what is left",
            "it can be replayed or is refused in words",
            || {
                let ended = Run::new(plan, &["check", "--trace", &name], 30).go(plan)?;
                ended.sound(256)
            },
        );
        let output = file(plan, &format!("killed-http-{round}"));
        let name = output.display().to_string();
        let record = Target::start(
            plan,
            "record",
            &["record", "-o", &name, "--http", "127.0.0.1:0", "--to", &serve.url()],
            &[],
        )?;
        record.honest()?;
        record.signal("KILL")?;
        trial.one(&format!("SIGKILL, moment {round}"), "record over HTTP", VALID, || valid(&output));
    }
    Ok(())
}

fn valid(output: &Path) -> anyhow::Result<()> {
    let text = fs::read(output).context("no recording")?;
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    ensure!(whole > 0, "nothing was written");
    for (number, line) in text[..whole].split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
        let frame: Result<Value, _> = serde_json::from_slice(line);
        ensure!(frame.is_ok(), "line {} is cut: {}", number + 1, String::from_utf8_lossy(&line[..line.len().min(100)]));
    }
    Ok(())
}

/// A disk that is full, played by a limit on the size of files: the conversation goes on.
fn limited(trial: &mut Trial<'_>) {
    let plan = trial.plan;
    for blocks in ["0", "1", "8"] {
        trial.one(
            &format!("a full disk after {blocks} blocks"),
            "record over stdio",
            "the conversation goes on, or ends with an error",
            || {
                let output = file(plan, &format!("full-{blocks}"));
                let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
                let proof = plan.proof.display().to_string();
                let messages: Vec<String> = [initialize(), initialized()]
                    .into_iter()
                    .chain((2..50).map(|id| call(id, "tools/list", json!({}))))
                    .map(|message| format!("{message}\n"))
                    .collect();
                let input = plan.folder.join(format!("recorder-input-{blocks}"));
                fs::write(&input, messages.concat())?;
                let ran = Command::new("timeout")
                    .args(["20", "sh", "-c", &script, "sh", &proof, "record", "-o"])
                    .arg(&output)
                    .args(["--", &proof, "serve", "--stdio"])
                    .stdin(fs::File::open(&input)?)
                    .output()?;
                let out = String::from_utf8_lossy(&ran.stdout);
                ensure!(ran.status.code() != Some(124), "it hangs");
                ensure!(ran.status.code().is_some_and(|code| code != 4), "it ended with {}", ran.status);
                ensure!(
                    out.lines().count() >= 49 || !ran.status.success(),
                    "answers are missing, and no error: {} lines",
                    out.lines().count()
                );
                if output.exists() && fs::metadata(&output)?.len() > 0 {
                    valid(&output).or_else(|error| if blocks == "0" { Ok(()) } else { Err(error) })?;
                }
                Ok(())
            },
        );
    }
}

/// Files that are none: a pipe blocks whoever opens it, a device or a folder is no place for a recording.
fn odd_files(trial: &mut Trial<'_>) {
    let plan = trial.plan;
    let fifo = plan.folder.join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    let (fifo, folder) = (fifo.display().to_string(), plan.folder.display().to_string());
    if made.is_err() {
        return;
    }
    let link = plan.folder.join("link");
    let _ = std::os::unix::fs::symlink(&fifo, &link);
    let link = link.display().to_string();
    let uses: [(&str, &[&str]); 12] = [
        ("client --oauth-cache", &["client", "ping", "--oauth", "--oauth-cache", "FILE", "http://127.0.0.1:9/mcp"]),
        (
            "check --oauth-cache",
            &["check", "--oauth", "--max-time", "3", "--oauth-cache", "FILE", "http://127.0.0.1:9/mcp"],
        ),
        ("check --hints", &["check", "--max-time", "3", "--hints", "FILE", "--", "true"]),
        ("check --baseline", &["check", "--max-time", "3", "--baseline", "FILE", "--", "true"]),
        ("check --trace", &["check", "--trace", "FILE"]),
        ("diff", &["diff", "FILE", "FILE"]),
        ("badge", &["badge", "FILE"]),
        ("replay", &["replay", "FILE"]),
        ("test", &["test", "FILE"]),
        ("snapshot --check", &["snapshot", "--check", "FILE", "--", "true"]),
        ("serve --catalog", &["serve", "--stdio", "--catalog", "FILE"]),
        ("client --ca-file", &["client", "ping", "--ca-file", "FILE", "http://127.0.0.1:9/mcp"]),
    ];
    for (place, args) in uses {
        for (what, file) in [
            ("a pipe", &fifo),
            ("a link to a pipe", &link),
            ("a folder", &folder),
            ("/dev/zero", &"/dev/zero".to_owned()),
            ("a missing file", &"/nonexistent/x".to_owned()),
        ] {
            let args: Vec<&str> = args.iter().map(|arg| if *arg == "FILE" { file.as_str() } else { *arg }).collect();
            // A pipe is a shell's way to pass a file, so it may be waited for; but a cache is written, too.
            if what.ends_with("a pipe") && !place.ends_with("cache") {
                trial.one(what, place, "SIGTERM ends it", || {
                    let mut pipe = Pipe::start(plan, &args)?;
                    std::thread::sleep(Duration::from_millis(300));
                    if !pipe.ends_within(Duration::from_millis(200)) {
                        pipe.signal("TERM")?;
                    }
                    ensure!(pipe.ends_within(Duration::from_secs(5)), "it does not");
                    Ok(())
                });
                continue;
            }
            trial.one(what, place, "an error or a refusal within 8 s", || {
                let ended = Run::new(plan, &args, 8).go(plan)?;
                ended.sound(256)
            });
        }
    }
    trial.one("a pipe", "record -o", "an error, or another name, within 8 s", || {
        let ended = Run::new(plan, &["record", "-o", &fifo, "--", "true"], 8).go(plan)?;
        ended.sound(256)
    });
}

/// A body in which a secret is hard to see.
struct HardBody {
    what: &'static str,
    coding: &'static str,
    body: Vec<u8>,
}

fn hard_bodies(result: &str, deflated: &[u8]) -> Vec<HardBody> {
    let split = |at: usize, between: &[u8]| {
        let place = result.find(SECRET).unwrap_or_default() + at;
        [&result.as_bytes()[..place], between, &result.as_bytes()[place..]].concat()
    };
    let list = [
        ("gzip where it is accepted", "gzip-asked", deflated.to_vec()),
        ("gzip though it is not accepted", "gzip", deflated.to_vec()),
        ("x-gzip", "x-gzip", deflated.to_vec()),
        ("gzip twice", "gzip, gzip", gzip(deflated)),
        ("an unknown coding", "br", deflated.to_vec()),
        ("invalid UTF-8 after it", "", [result.as_bytes(), b"\xff\xfe"].concat()),
        ("invalid UTF-8 before it", "", [b"\xff\xfe", result.as_bytes()].concat()),
        ("invalid UTF-8 within it", "", split(20, b"\xff")),
        ("invalid UTF-8 near its end", "", split(SECRET.len() - 6, b"\xff")),
        ("half a character within it", "", split(24, b"\xe2\x82")),
    ];
    list.into_iter().map(|(what, coding, body)| HardBody { what, coding, body }).collect()
}

/// Bodies in which a secret is hard to see, of every kind.
fn bodies(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let result = json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [{ "type": "text", "text": format!("the key is {SECRET} ") }] } }).to_string();
    let deflated = gzip(result.as_bytes());
    for (number, hard) in hard_bodies(&result, &deflated).into_iter().enumerate() {
        for kind in ["application/json", "text/event-stream", "text/plain"] {
            if kind == "text/event-stream" && !hard.coding.is_empty() {
                continue;
            }
            let output = file(trial.plan, &format!("body-{number}-{}", kind.replace('/', "-")));
            recorded(trial.plan, &hard, kind, &output)?;
            let compressed = deflated.get(40..100).unwrap_or_default();
            trial.one(hard.what, &format!("{kind} through record"), ABSENT, || {
                let text = String::from_utf8_lossy(&fs::read(&output)?).into_owned();
                ensure!(text.contains("tools/call"), "nothing was recorded");
                ensure!(hard.coding.is_empty() || !in_base64(&text, compressed), "the body is there, compressed");
                // A tail is enough to lose the rest by guessing.
                for part in [SECRET, &SECRET[..20], &SECRET[SECRET.len() - 20..]] {
                    ensure!(found(&text, part).is_none(), "{part} is there {}", found(&text, part).unwrap_or_default());
                }
                Ok(())
            });
        }
    }
    Ok(())
}

/// Records one response with this body.
fn recorded(plan: &Plan, hard: &HardBody, kind: &'static str, output: &Path) -> anyhow::Result<()> {
    let coding = hard.coding;
    let plain = json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [] } }).to_string().into_bytes();
    let events = kind == "text/event-stream";
    let body = if events { [b"data: ", hard.body.as_slice(), b"\n\n"].concat() } else { hard.body.clone() };
    let web = Web::start(move |seen: &Seen, _| {
        let accepted = seen.header("accept-encoding").is_some_and(|value| value.contains("gzip"));
        let head = format!("Content-Type: {kind}\r\n");
        match (coding, accepted) {
            ("gzip-asked", true) => Sent::response("200 OK", &format!("{head}Content-Encoding: gzip\r\n"), &body),
            ("gzip-asked", false) => Sent::response("200 OK", &head, &plain),
            ("", _) => Sent::response("200 OK", &head, &body),
            (coding, _) => Sent::response("200 OK", &format!("{head}Content-Encoding: {coding}\r\n"), &body),
        }
    })?;
    let (name, to) = (output.display().to_string(), web.url("/mcp"));
    let mut record =
        Target::start(plan, "record", &["record", "-o", &name, "--http", "127.0.0.1:0", "--to", &to], &[])?;
    let request = Request::post("/mcp", &record.host(), &call(1, "tools/call", json!({ "name": "t" })));
    exchange(record.address, &request.with("Accept-Encoding", "gzip, br").bytes())?;
    record.signal("INT")?;
    record.ends_within(Duration::from_secs(10)).map(drop)
}

/// A gzip file of one block with fixed codes (RFC 1951, 3.2.6): no byte stands in it as it was.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut bits: Vec<bool> = vec![true, true, false];
    for byte in bytes.iter().map(|byte| u16::from(*byte)) {
        let (code, length) = if byte < 144 { (0x30 + byte, 8) } else { (0x190 + byte - 144, 9) };
        bits.extend((0..length).rev().map(|bit| code >> bit & 1 == 1));
    }
    bits.extend([false; 7]);
    let block =
        bits.chunks(8).map(|bits| bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit) << at));
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    let head = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    [head, block.collect(), (!crc).to_le_bytes().to_vec(), (bytes.len() as u32).to_le_bytes().to_vec()].concat()
}

/// An id of a session is a key to it, also where it stands in an address.
fn sessions_in_urls(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let serve = Target::serve(plan)?;
    let output = file(plan, "sessions");
    let name = output.display().to_string();
    let url = serve.url().replace("/mcp", "/sse");
    let mut record =
        Target::start(plan, "record", &["record", "-o", &name, "--http", "127.0.0.1:0", "--to", &url], &[])?;
    let old = super::streams::OldSession::greeted(&record, None)?;
    let id = old.endpoint.rsplit('=').next().unwrap_or_default().to_owned();
    let session = answer(record.address, &Request::post("/mcp", &record.host(), &initialize()).bytes())?;
    let streamable = session.header("mcp-session-id").unwrap_or_default().to_owned();
    old.post(&record, None, &call(2, "ping", json!({})))?;
    drop(old);
    record.signal("INT")?;
    record.ends_within(Duration::from_secs(10))?;
    for (what, id) in [("the session id of HTTP+SSE, in URLs", id), ("the session id of Streamable HTTP", streamable)] {
        trial.one(what, "record", ABSENT, || {
            let text = fs::read_to_string(&output)?;
            ensure!(id.len() > 8 && text.contains("serverInfo"), "nothing was recorded");
            ensure!(found(&text, &id).is_none(), "it is there");
            Ok(())
        });
    }
    Ok(())
}

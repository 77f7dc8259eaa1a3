//! `cargo xtask bench factory`: what a call costs through `proof serve --openapi`, beside a direct call of the same mock by the
//! same client. Both take turns, call by call: what else the machine does counts for both.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::super::{Verdict, root};
use crate::peers::build_proof;
use crate::served::Served;
use crate::soak::http::Connection;
use crate::words::Words;

/// How many calls count, after those that warm up.
const CALLS: u32 = 5_000;
const WARM_UP: u32 = 500;
/// What the way through the server may add to the median.
const EXPECTED: Duration = Duration::from_micros(150);
/// How long the text of an answer is.
const SIZES: [usize; 2] = [1 << 10, 32 << 10];
/// The kernel's unit of processor time.
const TICKS: f64 = 100.0;

const USAGE: &str = "usage: cargo xtask bench factory [--calls N] [--proof PATH]";

/// Runs the benchmark and prints the table.
pub(super) fn run(args: &[String]) -> Verdict {
    let (calls, proof) = options(args)?;
    println!("medians of {calls} calls each, one connection, 2026-07-28 over HTTP");
    println!("{:<10} {:>12} {:>12} {:>12} {:>16}", "answer", "direct", "through", "added", "CPU of `proof`");
    let mut all_met = true;
    for size in SIZES {
        let (direct, through, cpu) = measured(&proof, size, calls)?;
        let added = through.saturating_sub(direct);
        let met = added <= EXPECTED;
        all_met &= met;
        let verdict = if met { "met" } else { "missed" };
        let ms = |time: Duration| format!("{:.3} ms", time.as_secs_f64() * 1e3);
        let cpu = format!("{:.0} µs", cpu * 1e6);
        println!(
            "{:<10} {:>12} {:>12} {:>12} {cpu:>16}   (expected: at most {}; {verdict})",
            format!("{} KiB", size >> 10),
            ms(direct),
            ms(through),
            ms(added),
            ms(EXPECTED)
        );
    }
    Ok(all_met)
}

fn options(args: &[String]) -> anyhow::Result<(u32, PathBuf)> {
    let (mut calls, mut proof) = (CALLS, None);
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--calls" => calls = words.number()?,
            "--proof" => proof = Some(PathBuf::from(words.value()?)),
            _ => return Err(words.unknown()),
        }
    }
    ensure!(calls > 0, "--calls takes a number above 0");
    Ok((calls, proof.map_or_else(build_proof, Ok)?))
}

/// The median of a direct call, that of a call through the server, and the processor time that one of these costs the server.
fn measured(proof: &Path, size: usize, calls: u32) -> anyhow::Result<(Duration, Duration, f64)> {
    let api = mock(size)?;
    let served = served(proof, api)?;
    let server: SocketAddr = served.url().trim_start_matches("http://").trim_end_matches("/mcp").parse()?;
    let direct = format!("GET /items/7 HTTP/1.1\r\nHost: {api}\r\nAccept: application/json\r\n\r\n").into_bytes();
    let through = call(server);
    let (mut straight, mut around) = (Connection::open(api)?, Connection::open(server)?);
    let mut times = [Vec::new(), Vec::new()];
    let mut before = 0.0;
    for number in 0..WARM_UP + calls {
        if number == WARM_UP {
            before = used(served.id())?;
        }
        for (at, (connection, request)) in [(&mut straight, &direct), (&mut around, &through)].into_iter().enumerate() {
            let begun = Instant::now();
            let reply = connection.exchange(request)?;
            let time = begun.elapsed();
            let whole = reply.status == 200 && reply.body.len() > size;
            ensure!(whole, "status {}: {}", reply.status, String::from_utf8_lossy(&reply.body));
            if number >= WARM_UP {
                times[at].push(time);
            }
        }
    }
    let cpu = (used(served.id())? - before) / f64::from(calls);
    let [direct, through] = times.map(median);
    Ok((direct, through, cpu))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// `proof serve` with a description of the mock.
fn served(proof: &Path, api: SocketAddr) -> anyhow::Result<Served> {
    let folder = root().join("target/bench-factory");
    fs::create_dir_all(&folder)?;
    let file = folder.join("openapi.json");
    fs::write(&file, description().to_string())?;
    let mut command = Command::new(proof);
    command.args(["serve", "--http", "127.0.0.1:0", "--openapi"]).arg(&file);
    command.args(["--base-url", &format!("http://{api}")]);
    Served::start(command)
}

fn description() -> Value {
    let answer =
        json!({ "type": "object", "properties": { "id": { "type": "integer" }, "text": { "type": "string" } } });
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Items", "version": "1" },
        "paths": { "/items/{id}": { "get": {
            "operationId": "get_item",
            "description": "Get an item by its id",
            "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }],
            "responses": { "200": { "description": "It", "content": { "application/json": { "schema": answer } } } },
        } } },
    })
}

/// A call of the tool.
fn call(server: SocketAddr) -> Vec<u8> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "_meta": meta, "name": "get_item", "arguments": { "id": 7 } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {server}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: \
         get_item\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// An API that answers every request with the same item, over connections that stay open.
fn mock(size: usize) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let body = json!({ "id": 7, "text": "x".repeat(size) }).to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    let answer = format!("{head}{body}").into_bytes();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = answer.clone();
            std::thread::spawn(move || answered(stream, &answer));
        }
    });
    Ok(address)
}

/// Requests have no body: each ends with an empty line.
fn answered(mut stream: TcpStream, answer: &[u8]) {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    let _ = stream.set_nodelay(true);
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
        if bytes.ends_with(b"\r\n\r\n") {
            bytes.clear();
            if stream.write_all(answer).is_err() {
                return;
            }
        }
    }
}

/// The processor time that a process has used, in seconds (proc(5), `stat`: fields 14 and 15).
fn used(process: u32) -> anyhow::Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).context("the server's time (Linux only)")?;
    let (_, fields) = stat.rsplit_once(')').context("an unknown form of /proc/PROCESS/stat")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
    Ok(ticks.sum::<Result<f64, _>>()? / TICKS)
}

#[cfg(test)]
mod tests {
    use super::{Connection, Duration, median, mock, used};

    #[test]
    fn the_mock_answers_again_on_the_same_connection() {
        let api = mock(100).expect("it listens");
        let mut connection = Connection::open(api).expect("connected");
        for _ in 0..2 {
            let reply = connection.exchange(b"GET /items/7 HTTP/1.1\r\n\r\n").expect("an answer");
            assert!(reply.status == 200 && reply.body.len() > 100);
        }
        assert!(used(std::process::id()).expect("our own time") >= 0.0);
        assert_eq!(median([3, 1, 2].map(Duration::from_millis).to_vec()), Duration::from_millis(2));
    }
}

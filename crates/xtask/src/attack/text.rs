//! Messages that break readers, on four transports: invalid JSON and UTF-8, depth, duplicates, huge numbers. What is no JSON is
//! refused; what is odd JSON gets at most one answer; the connection or the server lives on.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::json;

use super::program::Pipe;
use super::request::{Request, call, initialize, initialized};
use super::socket::{PATIENCE, exchange};
use super::streams::OldSession;
use super::target::{Target, memory};
use super::trial::{Attempt, Trial};
use super::websocket::Socket;

const REFUSED: &str = "never answered with a result, and the next honest message is answered";
const ONE: &str = "at most one answer, and the next honest message is answered";
const MOST: u64 = 128;
const MARK: &str = "odd-text";

/// Texts that are no messages; `ID` stands for the id that a result would have.
const BROKEN: &[(&str, &[u8])] = &[
    ("nothing", b""),
    ("blanks", b"   "),
    ("a word", b"ping"),
    ("half an object", br#"{"jsonrpc":"2.0","id":"ID","method":"ping""#),
    ("a trailing comma", br#"{"jsonrpc":"2.0","id":"ID","method":"ping",}"#),
    ("a comment", br#"{"jsonrpc":"2.0","id":"ID","method":"ping"/**/}"#),
    ("single quotes", b"{'jsonrpc':'2.0','id':'ID','method':'ping'}"),
    ("bare names", br#"{jsonrpc:"2.0",id:"ID",method:"ping"}"#),
    ("two objects", br#"{"jsonrpc":"2.0","id":"ID","method":"ping"}{"jsonrpc":"2.0","id":"ID","method":"ping"}"#),
    ("an object and a word", br#"{"jsonrpc":"2.0","id":"ID","method":"ping"} x"#),
    ("NaN", br#"{"jsonrpc":"2.0","id":"ID","method":"ping","params":{"a":NaN}}"#),
    ("Infinity", br#"{"jsonrpc":"2.0","id":"ID","method":"ping","params":{"a":Infinity}}"#),
    ("a leading zero", br#"{"jsonrpc":"2.0","id":"ID","method":"ping","params":{"a":01}}"#),
    ("a hexadecimal number", br#"{"jsonrpc":"2.0","id":"ID","method":"ping","params":{"a":0x1}}"#),
    ("a plus", br#"{"jsonrpc":"2.0","id":"ID","method":"ping","params":{"a":+1}}"#),
    ("invalid UTF-8", b"{\"jsonrpc\":\"2.0\",\"id\":\"ID\",\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}"),
    ("an overlong quote", b"{\"jsonrpc\":\"2.0\",\"id\":\"ID\",\"method\":\"ping\",\"params\":{\"a\":\"\xc0\xa2\"}}"),
    (
        "a surrogate in UTF-8",
        b"{\"jsonrpc\":\"2.0\",\"id\":\"ID\",\"method\":\"ping\",\"params\":{\"a\":\"\xed\xa0\x80\"}}",
    ),
    (
        "past the last character",
        b"{\"jsonrpc\":\"2.0\",\"id\":\"ID\",\"method\":\"ping\",\"params\":{\"a\":\"\xf4\x90\x80\x80\"}}",
    ),
    ("half a character", b"{\"jsonrpc\":\"2.0\",\"id\":\"ID\",\"method\":\"ping\",\"params\":{\"a\":\"\xe2\x82\"}}"),
    ("a raw NUL", b"{\"jsonrpc\":\"2.0\",\"id\":\"ID\",\"method\":\"ping\",\"params\":{\"a\":\"\x00\"}}"),
    ("a raw tab in a string", b"{\"jsonrpc\":\"2.0\",\"id\":\"ID\",\"method\":\"ping\",\"params\":{\"a\":\"\t\"}}"),
    ("a bad escape", br#"{"jsonrpc":"2.0","id":"ID","method":"ping","params":{"a":"\x41"}}"#),
    ("half an escape", br#"{"jsonrpc":"2.0","id":"ID","method":"ping","params":{"a":"\u00"}}"#),
    ("UTF-16", b"\xff\xfe{\x00\"\x00j\x00\"\x00:\x001\x00}\x00"),
    ("a number", b"17"),
    ("a string", br#""ID""#),
    ("null", b"null"),
    ("an empty array", b"[]"),
    ("an array of numbers", b"[1,2,3]"),
    ("jsonrpc 1.0", br#"{"jsonrpc":"1.0","id":"ID","method":"ping"}"#),
    ("jsonrpc as a number", br#"{"jsonrpc":2.0,"id":"ID","method":"ping"}"#),
    ("no jsonrpc", br#"{"id":"ID","method":"ping"}"#),
    ("an id that is an object", br#"{"jsonrpc":"2.0","id":{"a":"ID"},"method":"ping"}"#),
    ("an id that is an array", br#"{"jsonrpc":"2.0","id":["ID"],"method":"ping"}"#),
    ("an id that is null", br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#),
    ("a method that is a number", br#"{"jsonrpc":"2.0","id":"ID","method":1}"#),
    ("params that are a string", br#"{"jsonrpc":"2.0","id":"ID","method":"ping","params":"x"}"#),
];

/// Odd, but JSON.
fn odd() -> Vec<(&'static str, Vec<u8>)> {
    let with = |params: String| {
        format!(r#"{{"jsonrpc":"2.0","id":"{MARK}","method":"ping","params":{{"a":{params}}}}}"#).into_bytes()
    };
    let nested = |depth: usize| with("[".repeat(depth) + &"]".repeat(depth));
    let objects = |depth: usize| with(r#"{"a":"#.repeat(depth) + "1" + &"}".repeat(depth));
    vec![
        ("100 arrays in one another", nested(100)),
        ("1,000 arrays in one another", nested(1000)),
        ("100,000 arrays in one another", nested(100_000)),
        ("1,000,000 arrays in one another", nested(1_000_000)),
        ("100,000 objects in one another", objects(100_000)),
        ("1,000,000 arrays, never closed", [with(String::new()), b"[".repeat(1_000_000)].concat()),
        ("a number of 100,000 digits", with("9".repeat(100_000))),
        ("1e999999999", with("1e999999999".to_owned())),
        ("-1e-999999999", with("-1e-999999999".to_owned())),
        ("a lone surrogate", with(r#""\ud800""#.to_owned())),
        ("surrogates turned", with(r#""\udc00\ud800""#.to_owned())),
        ("a string of 3 MB", with(format!("\"{}\"", "a".repeat(3 << 20)))),
        ("a million empty objects", with(format!("[{}{{}}]", "{},".repeat(1_000_000)))),
        (
            "100,000 names",
            with(format!(
                "{{{}\"z\":1}}",
                (0..100_000).map(|n| format!("\"n{n}\":1")).collect::<Vec<_>>().join(",") + ","
            )),
        ),
        ("100,000 equal names", with(format!("{{{}\"z\":1}}", "\"n\":1,".repeat(100_000)))),
        (
            "the method twice",
            format!(r#"{{"jsonrpc":"2.0","id":"{MARK}","method":"ping","method":"tools/list"}}"#).into_bytes(),
        ),
        ("the id twice", format!(r#"{{"jsonrpc":"2.0","id":"{MARK}","id":"{MARK}2","method":"ping"}}"#).into_bytes()),
        (
            "a name twice by escapes",
            format!(r#"{{"jsonrpc":"2.0","id":"{MARK}","method":"ping","\u006dethod":"tools/list"}}"#).into_bytes(),
        ),
        ("__proto__", with(r#"{"__proto__":{"x":1},"constructor":{"prototype":{}}}"#.to_owned())),
        (
            "an id of 1 MB",
            format!(r#"{{"jsonrpc":"2.0","id":"{MARK}{}","method":"ping"}}"#, "x".repeat(1 << 20)).into_bytes(),
        ),
        (
            "a method of 1 MB",
            format!(r#"{{"jsonrpc":"2.0","id":"{MARK}","method":"{}"}}"#, "x".repeat(1 << 20)).into_bytes(),
        ),
        ("a byte order mark", [b"\xef\xbb\xbf".as_slice(), &with("1".to_owned())].concat()),
    ]
}

pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let serve = Target::serve(trial.plan)?;
    let session = serve.open_session()?;
    let mut texts: Vec<(&str, Vec<u8>, bool)> = Vec::new();
    for (what, bytes) in BROKEN {
        let text = bytes.windows(2).position(|window| window == b"ID");
        let bytes = text.map_or(bytes.to_vec(), |_| replace(bytes, b"ID", MARK.as_bytes()));
        texts.push((what, bytes, true));
    }
    texts.extend(odd().into_iter().map(|(what, bytes)| (what, bytes, false)));
    let mut attempts = Vec::new();
    for (what, bytes, refused) in &texts {
        let promise = if *refused { REFUSED } else { ONE };
        let (serve, session, plan) = (&serve, &session, trial.plan);
        let mut add = |place: &'static str, try_it: fn(&Scene<'_>, &[u8]) -> anyhow::Result<usize>| {
            attempts.push(Attempt::new(*what, place, promise, move || {
                let answers = try_it(&Scene { serve, session, plan }, bytes)?;
                let most = usize::from(!refused);
                ensure!(answers <= most, "{answers} results");
                Ok(())
            }));
        };
        add("Streamable HTTP", over_http);
        add("HTTP+SSE", over_sse);
        add("WebSocket", over_websocket);
        add("stdio", over_stdio);
    }
    trial.play(&attempts, 4);
    drop(attempts);
    trial.sound(&serve, MOST);
    Ok(())
}

struct Scene<'s> {
    serve: &'s Target,
    session: &'s str,
    plan: &'s super::Plan,
}

/// How many results an output has for the odd message.
fn results(text: &str) -> usize {
    text.split("\"jsonrpc\"").filter(|part| part.contains(MARK) && part.contains("\"result\"")).count()
}

fn over_http(scene: &Scene<'_>, bytes: &[u8]) -> anyhow::Result<usize> {
    let request = Request::raw_post("/mcp", &scene.serve.host(), bytes).with("Mcp-Session-Id", scene.session);
    let reply = exchange(scene.serve.address, &request.bytes())?;
    scene.serve.honest()?;
    Ok(reply.map_or(0, |reply| results(&reply.text())))
}

fn over_sse(scene: &Scene<'_>, bytes: &[u8]) -> anyhow::Result<usize> {
    let mut session = OldSession::greeted(scene.serve, None)?;
    session.raw(scene.serve, None, bytes)?;
    session.post(scene.serve, None, &call("honest", "ping", json!({})))?;
    let came = session.stream.until("honest", PATIENCE).context("the honest message")?;
    Ok(results(&came))
}

fn over_websocket(scene: &Scene<'_>, bytes: &[u8]) -> anyhow::Result<usize> {
    let mut socket = Socket::open(scene.serve)?;
    socket.text(initialize().to_string().as_bytes());
    socket.connection.until("serverInfo", PATIENCE)?;
    socket.text(bytes);
    // A text frame that is no text ends the connection.
    if std::str::from_utf8(bytes).is_err() {
        return Ok(results(&String::from_utf8_lossy(&socket.rest())));
    }
    socket.text(call("honest", "ping", json!({})).to_string().as_bytes());
    Ok(results(&socket.connection.until("honest", PATIENCE).context("the honest message")?))
}

fn over_stdio(scene: &Scene<'_>, bytes: &[u8]) -> anyhow::Result<usize> {
    let mut pipe = Pipe::start(scene.plan, &["serve", "--stdio"])?;
    for message in [initialize(), initialized()] {
        pipe.send(format!("{message}\n").as_bytes());
    }
    pipe.until("serverInfo", PATIENCE)?;
    pipe.send(&[bytes, b"\n"].concat());
    pipe.send(format!("{}\n", call("honest", "ping", json!({}))).as_bytes());
    let came = pipe.until("honest", Duration::from_secs(15))?.concat();
    let held = memory(pipe.process(), "VmHWM:")?;
    ensure!(held <= MOST, "{held} MiB held, at most {MOST} expected");
    Ok(results(&came))
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let Some(at) = super::socket::find(bytes, from) else { return bytes.to_vec() };
    [&bytes[..at], to, &replace(&bytes[at + from.len()..], from, to)].concat()
}

//! Sessions belong to who opened them. Another principal who knows the id gets nothing out of it and ends nothing, over every
//! transport; ids are not guessed from others; what was asked of one user is not answered by another.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::request::{LEGACY, Request, call, initialized};
use super::socket::{Connection, PATIENCE, SILENCE, answer, find, head};
use super::streams::OldSession;
use super::target::Target;
use super::tokens::{AUDIENCE, ISSUER, Keys, claims};
use super::trial::{Attempt, Trial};

const NOT_THEIRS: &str = "401, 403 or 404, and the session of its owner lives on";
const UNKNOWN: &str = "400 or 404";
const MOST: u64 = 64;

/// Two principals whose tokens are both good.
struct Pair {
    what: &'static str,
    owner: fn(&mut Value),
    thief: fn(&mut Value),
}

const PAIRS: &[Pair] = &[
    Pair { what: "another subject", owner: |_| {}, thief: |claims| claims["sub"] = "eve".into() },
    Pair { what: "a subject in other letters", owner: |_| {}, thief: |claims| claims["sub"] = "ADA".into() },
    Pair { what: "a subject with a blank", owner: |_| {}, thief: |claims| claims["sub"] = "ada ".into() },
    Pair {
        what: "a client of the subject's name",
        owner: |_| {},
        thief: |claims| {
            remove(claims, "sub");
            claims["client_id"] = "ada".into();
        },
    },
    Pair { what: "a token without subject", owner: |_| {}, thief: |claims| remove(claims, "sub") },
    Pair {
        what: "two tokens without subject",
        owner: |claims| {
            remove(claims, "sub");
            claims["jti"] = "one".into();
        },
        thief: |claims| {
            remove(claims, "sub");
            claims["jti"] = "two".into();
        },
    },
    Pair {
        what: "an empty subject",
        owner: |claims| claims["sub"] = "".into(),
        thief: |claims| {
            claims["sub"] = "".into();
            claims["jti"] = "two".into();
        },
    },
];

fn remove(claims: &mut Value, name: &str) {
    if let Some(object) = claims.as_object_mut() {
        object.shift_remove(name);
    }
}

pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let keys = Keys::new()?;
    let serve = keys.server(trial, &["--auth-audience", AUDIENCE])?;
    for pair in PAIRS {
        let (mut owner, mut thief) = (claims(), claims());
        (pair.owner)(&mut owner);
        (pair.thief)(&mut thief);
        stolen(trial, &serve, pair.what, &keys.good(&owner), &keys.good(&thief))?;
    }
    request_state(trial, &serve, &keys)?;
    trial.sound(&serve, MOST);
    let open = Target::serve(trial.plan)?;
    guessed(trial, &open)?;
    resumed(trial, &open)?;
    trial.sound(&open, MOST);
    Ok(())
}

/// What a thief does with the ids of a session of each kind.
#[expect(clippy::too_many_lines, reason = "a table of attempts")]
fn stolen(trial: &mut Trial<'_>, serve: &Target, who: &str, owner: &str, thief: &str) -> anyhow::Result<()> {
    // A server may as well refuse who names no subject.
    let Ok(id) = serve.open_session_as(Some(owner)) else {
        trial.one(who, "POST /mcp", "a token without subject opens nothing, or a session of its own", || Ok(()));
        return Ok(());
    };
    let host = serve.host();
    let with = |request: Request, token: Option<&str>| request.with("Mcp-Session-Id", &id).bearing(token);
    let ping = call("theft", "ping", json!({}));
    let answer_to = json!({ "jsonrpc": "2.0", "id": 1, "result": { "roots": [] } });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    let requests = [
        ("POST a request", Request::post("/mcp", &host, &ping)),
        (
            "POST tools/call",
            Request::post(
                "/mcp",
                &host,
                &call(7, "tools/call", json!({ "name": "echo", "arguments": { "message": "x" } })),
            ),
        ),
        (
            "POST logging/setLevel",
            Request::post("/mcp", &host, &call(8, "logging/setLevel", json!({ "level": "debug" }))),
        ),
        ("POST a notification", Request::post("/mcp", &host, &initialized())),
        ("POST a cancellation", Request::post("/mcp", &host, &cancel)),
        ("POST an answer", Request::post("/mcp", &host, &answer_to)),
        ("GET its stream", Request::new("GET", "/mcp", &host).with("Accept", "text/event-stream")),
        (
            "resume its stream",
            Request::new("GET", "/mcp", &host).with("Accept", "text/event-stream").with("Last-Event-ID", "0-0"),
        ),
        ("DELETE it", Request::new("DELETE", "/mcp", &host)),
    ];
    let mut attempts = Vec::new();
    for (what, request) in &requests {
        for (name, token) in [("", Some(thief)), (", without a token", None)] {
            let request = with(request.clone(), token);
            attempts.push(Attempt::new(
                format!("{what}{name}"),
                format!("session of Streamable HTTP, {who}"),
                NOT_THEIRS,
                move || not_theirs(serve, &request),
            ));
        }
    }
    let old = OldSession::greeted(serve, Some(owner))?;
    for (what, message) in [
        ("POST a request", &ping),
        ("POST a notification", &initialized()),
        ("POST an answer", &answer_to),
        ("POST a cancellation", &cancel),
    ] {
        for (name, token) in [("", Some(thief)), (", without a token", None)] {
            let request = Request::post(&old.endpoint, &host, message).bearing(token);
            attempts.push(Attempt::new(
                format!("{what}{name}"),
                format!("session of HTTP+SSE, {who}"),
                NOT_THEIRS,
                move || not_theirs(serve, &request),
            ));
        }
    }
    trial.play(&attempts, 8);
    drop(attempts);
    trial.one("the session afterwards", who, "its owner uses it", || {
        let reply = serve.answer(&with(Request::post("/mcp", &host, &ping), Some(owner)))?;
        ensure!(reply.status == 200, "the owner got {}", reply.status);
        Ok(())
    });
    trial.one("the stream of HTTP+SSE afterwards", who, "no answer to a thief came on it", || {
        let mut old = old;
        let came = old.stream.rest(SILENCE);
        ensure!(find(&came, b"theft").is_none(), "it did");
        Ok(())
    });
    Ok(())
}

fn not_theirs(serve: &Target, request: &Request) -> anyhow::Result<()> {
    let Some(reply) = head(serve.address, &request.bytes())? else { return Ok(()) };
    ensure!(matches!(reply.status, 401 | 403 | 404), "answered with {}", reply.status);
    Ok(())
}

/// What the modern era keeps for a user at the client comes back from that user only.
fn request_state(trial: &mut Trial<'_>, serve: &Target, keys: &Keys) -> anyhow::Result<()> {
    let token = |subject: &str| {
        let mut claims = claims();
        claims["sub"] = subject.into();
        keys.good(&claims)
    };
    let (ada, eve) = (token("ada"), token("eve"));
    for tool in ["ask", "ask_in_turn", "ask_two", "sample", "list_roots"] {
        let first = serve.answer(&modern(serve, tool, &Value::Null, &Value::Null).bearing(Some(&ada)))?;
        let result = first.json()?["result"].clone();
        let (state, asked) = (result["requestState"].clone(), result["inputRequests"].clone());
        let place = format!("requestState of {tool}");
        trial.one("a question", &place, "the server asks and keeps its state at the client", || {
            ensure!(asked.is_object(), "no question, but {}", first.text());
            Ok(())
        });
        if !state.is_string() {
            continue;
        }
        let answers: serde_json::Map<String, Value> =
            asked.as_object().into_iter().flatten().map(|(id, asked)| (id.clone(), reply_to(asked))).collect();
        let answers = Value::Object(answers);
        let text = state.as_str().unwrap_or_default();
        let mut turned = text.to_owned();
        turned.replace_range(
            turned.len() / 2..=turned.len() / 2,
            if text.as_bytes()[text.len() / 2] == b'A' { "B" } else { "A" },
        );
        for (what, state, who) in [
            ("another subject", text.to_owned(), &eve),
            ("one letter changed", turned, &ada),
            ("the first half", text[..text.len() / 2].to_owned(), &ada),
            ("doubled", format!("{text}{text}"), &ada),
            ("of 1 MB", "A".repeat(1 << 20), &ada),
            ("not Base64", "!!!".to_owned(), &ada),
        ] {
            trial.one(&format!("requestState: {what}"), &place, "an error, no result", || {
                let reply = serve.answer(&modern(serve, tool, &answers, &json!(state)).bearing(Some(who)))?;
                let json = reply.json()?;
                let done = json["result"]["resultType"] == "complete" || json["result"]["content"].is_array();
                ensure!(!done, "answered with {}", reply.text());
                Ok(())
            });
        }
    }
    Ok(())
}

/// Any answer that fits a question.
fn reply_to(asked: &Value) -> Value {
    match asked["method"].as_str() {
        Some("sampling/createMessage") => {
            json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "x" } })
        }
        Some("roots/list") => json!({ "roots": [] }),
        _ => json!({ "action": "accept", "content": { "name": "x", "colour": "red" } }),
    }
}

fn modern(serve: &Target, tool: &str, answers: &Value, state: &Value) -> Request {
    let mut params = json!({ "name": tool, "arguments": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "attack", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} }, "sampling": {}, "roots": {} },
    } });
    if !state.is_null() {
        params["inputResponses"] = answers.clone();
        params["requestState"] = state.clone();
    }
    let request = Request::post("/mcp", &serve.host(), &call(1, "tools/call", params));
    request.with("MCP-Protocol-Version", "2026-07-28").with("Mcp-Method", "tools/call").with("Mcp-Name", tool)
}

/// Ids near a real one, on the other transport, and of a session that has ended.
fn guessed(trial: &mut Trial<'_>, serve: &Target) -> anyhow::Result<()> {
    let id = serve.open_session()?;
    let old = OldSession::greeted(serve, None)?;
    let old_id = old.endpoint.rsplit('=').next().unwrap_or_default().to_owned();
    let ended = serve.open_session()?;
    let deleted = serve.answer(&Request::new("DELETE", "/mcp", &serve.host()).with("Mcp-Session-Id", &ended))?;
    ensure!(matches!(deleted.status, 200 | 204 | 202), "DELETE got {}", deleted.status);
    let guesses = guesses(&id, &old_id, &ended);
    let ping = call(1, "ping", json!({}));
    let host = serve.host();
    let mut attempts = Vec::new();
    for (what, guess) in &guesses {
        let in_header = |request: Request| request.with("Mcp-Session-Id", guess);
        let old_guess = if what == "of HTTP+SSE" { &id } else { guess };
        for (place, request) in [
            ("POST /mcp", in_header(Request::post("/mcp", &host, &ping))),
            ("GET /mcp", in_header(Request::new("GET", "/mcp", &host).with("Accept", "text/event-stream"))),
            ("DELETE /mcp", in_header(Request::new("DELETE", "/mcp", &host))),
            (
                "POST /messages",
                Request::post(&format!("/messages?session={}", super::request::percent(old_guess)), &host, &ping),
            ),
        ] {
            attempts.push(Attempt::new(format!("a session id: {what}"), place, UNKNOWN, move || {
                let Some(reply) = head(serve.address, &request.bytes())? else { return Ok(()) };
                ensure!(matches!(reply.status, 400 | 404), "answered with {}", reply.status);
                Ok(())
            }));
        }
    }
    trial.play(&attempts, 8);
    drop(attempts);
    trial.one("two session ids in two headers", "POST /mcp", UNKNOWN, || {
        let request = Request::post("/mcp", &host, &ping).with("Mcp-Session-Id", &ended).plus("Mcp-Session-Id", &id);
        let reply = serve.answer(&request)?;
        ensure!(matches!(reply.status, 400 | 404), "answered with {}", reply.status);
        Ok(())
    });
    trial.one("500 session ids", "POST /mcp", "all different, 128 bits or more, no common beginning", || {
        let mut ids = (0..500).map(|_| serve.open_session()).collect::<Result<Vec<_>, _>>()?;
        ids.sort_unstable();
        ensure!(ids.windows(2).all(|two| two[0][..8] != two[1][..8] && two[0].len() >= 32), "{:?}", &ids[..2]);
        Ok(())
    });
    Ok(())
}

/// Ids near the real one, each with what it is.
fn guesses(id: &str, old_id: &str, ended: &str) -> Vec<(String, String)> {
    let flip = |at: usize| {
        let mut flipped = id.to_owned().into_bytes();
        flipped[at] = if flipped[at] == b'0' { b'1' } else { b'0' };
        String::from_utf8_lossy(&flipped).into_owned()
    };
    let mut guesses: Vec<(String, String)> =
        (0..id.len()).map(|at| (format!("letter {at} changed"), flip(at))).collect();
    for (what, guess) in [
        ("nothing", String::new()),
        ("the first half", id[..id.len() / 2].to_owned()),
        ("one letter more", format!("{id}0")),
        ("a zero before", format!("0{id}")),
        ("0x before", format!("0x{id}")),
        ("in capitals", if id.to_uppercase() == id { "A".to_owned() } else { id.to_uppercase() }),
        ("zeros", "0".repeat(id.len())),
        ("null", "null".to_owned()),
        ("a star", "*".to_owned()),
        ("../", format!("../{id}")),
        ("twice", format!("{id},{id}")),
        ("of HTTP+SSE", old_id.to_owned()),
        ("that was deleted", ended.to_owned()),
        ("of 30,000 letters", "a".repeat(30_000)),
    ] {
        guesses.push((what.to_owned(), guess));
    }
    guesses
}

/// `Last-Event-ID` of another session's stream, and numbers that arithmetic breaks on.
#[expect(clippy::too_many_lines, reason = "a table of attempts")]
fn resumed(trial: &mut Trial<'_>, serve: &Target) -> anyhow::Result<()> {
    let (owner, other) = (serve.open_session()?, serve.open_session()?);
    let host = serve.host();
    let slow = call(
        "secret-answer",
        "tools/call",
        json!({ "name": "slow", "arguments": { "steps": 3, "delay_ms": 20 }, "_meta": { "progressToken": "secret-progress" } }),
    );
    let mut connection = Connection::open(serve.address)?;
    connection.send(&Request::post("/mcp", &host, &slow).with("Mcp-Session-Id", &owner).bytes());
    let came = connection.until("\"result\"", PATIENCE)?;
    let id = came.lines().find_map(|line| line.strip_prefix("id: ")).context("no event id")?.to_owned();
    let get = |session: &str, id: &str| {
        let request = Request::new("GET", "/mcp", &host).with("Accept", "text/event-stream");
        request.with("MCP-Protocol-Version", LEGACY).with("Mcp-Session-Id", session).with("Last-Event-ID", id).bytes()
    };
    trial.one("an honest Last-Event-ID", "GET /mcp", "the rest of the stream comes", || {
        let mut connection = Connection::open(serve.address)?;
        connection.send(&get(&owner, &id));
        connection.until("secret-", PATIENCE).map(drop)
    });
    let stream = id.split('-').next().unwrap_or("1").to_owned();
    let mut ids = vec![id.clone()];
    for number in [
        "0",
        "1",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "18446744073709551614",
        "18446744073709551615",
        "18446744073709551616",
        "-1",
        "1e9",
        "0x1",
        "",
        " ",
        "99999999999999999999999999",
    ] {
        ids.push(format!("{stream}-{number}"));
        ids.push(format!("{number}-0"));
        ids.push(format!("{number}-{number}"));
        ids.push(number.to_owned());
    }
    let mut attempts = Vec::new();
    for id in &ids {
        for (who, session, own) in [("another session's", &other, false), ("one's own", &owner, true)] {
            let bytes = get(session, id);
            let promise = if own { "an error or a stream, and no panic" } else { "nothing of the other session" };
            attempts.push(Attempt::new(format!("Last-Event-ID {id:?} in {who}"), "GET /mcp", promise, move || {
                let mut connection = Connection::open(serve.address)?;
                connection.send(&bytes);
                let mut came = connection.rest(SILENCE);
                if came.is_empty() {
                    // A busy machine answers later.
                    came = connection.rest(PATIENCE);
                }
                ensure!(own || find(&came, b"secret-").is_none(), "it came");
                ensure!(!came.is_empty(), "no answer at all");
                Ok(())
            }));
        }
    }
    trial.play(&attempts, 8);
    drop(attempts);
    trial.one("the issuer's name in a session id", ISSUER, "no place for it", || {
        let reply = answer(
            serve.address,
            &Request::post("/mcp", &host, &call(1, "ping", json!({}))).with("Mcp-Session-Id", ISSUER).bytes(),
        )?;
        ensure!(matches!(reply.status, 400 | 404), "answered with {}", reply.status);
        Ok(())
    });
    Ok(())
}

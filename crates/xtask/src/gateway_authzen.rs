//! `cargo xtask authzen`: the gateway asks a real policy decision point (Cerbos) by AuthZEN. What clients see and may call must
//! be what Cerbos says when it is asked by its own interface, about each subject and tool.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::gateway_matrix::build;
use crate::jwt::{Forge, now};
use crate::peers::{Home, ProcessGroup, free_port, proof, wait_until_listening};
use crate::served::Served;
use crate::words::{Words, help};
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask authzen [--proof PATH] [--gateway PATH]

  --proof PATH     use this binary instead of building `proof` first
  --gateway PATH   use this binary instead of building `proof-gateway` first";

const ISSUER: &str = "https://issuer.example";
const AUDIENCE: &str = "gateway";
const REVISION: &str = "2026-07-28";
/// Who asks: the subject and the team.
const SUBJECTS: [(&str, &str); 4] = [("ann", "data"), ("bob", "sales"), ("eve", "data"), ("joe", "sales")];

/// Where everything is.
struct Places {
    proof: PathBuf,
    gateway: PathBuf,
    folder: PathBuf,
    forge: Forge,
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let (mut given_proof, mut given_gateway) = (None::<PathBuf>, None::<PathBuf>);
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--proof" => given_proof = Some(words.value()?.into()),
            "--gateway" => given_gateway = Some(words.value()?.into()),
            _ => return Err(words.unknown()),
        }
    }
    let home = Home::new(&root());
    let program = home.install_decision_point()?;
    let gateway = match given_gateway {
        Some(path) => path.canonicalize().with_context(|| format!("--gateway {}", path.display()))?,
        None => build()?,
    };
    let folder = root().join("target/authzen");
    fs::create_dir_all(&folder)?;
    let places = Places { proof: proof(given_proof.as_deref())?, gateway, folder, forge: Forge::new()? };
    let (cerbos, port) = decision_point(&home, &program, &places.folder)?;
    let mut serve = Command::new(&places.proof);
    serve.args(["serve", "--http", "127.0.0.1:0"]);
    let server = Served::start(serve)?;
    let all = tools(server.url(), "")?;
    ensure!(all.len() > 5, "the reference server has {} tools", all.len());
    for discover in [false, true] {
        let decided = compared(&places, (&server, &all), port, discover)?;
        println!("Cerbos, discover: {discover}: {decided} decisions about {} tools agree", all.len());
    }
    let gateway = start(&places, &server, port, false)?;
    drop(cerbos);
    let token = token(&places.forge, SUBJECTS[0]);
    for (method, params) in [("tools/list", json!({})), ("tools/call", json!({ "name": "echo", "arguments": {} }))] {
        let answer = ask(gateway.url(), &token, method, params)?;
        ensure!(answer["error"]["data"]["failure"] == "policy-unavailable", "without Cerbos: {method}: {answer}");
    }
    println!("Cerbos away: policy-unavailable");
    Ok(true)
}

/// What the gateway shows and lets pass, held against what Cerbos says by its own interface; how many decisions agreed.
fn compared(
    places: &Places,
    (server, all): (&Served, &BTreeSet<String>),
    port: u16,
    discover: bool,
) -> anyhow::Result<usize> {
    let gateway = start(places, server, port, discover)?;
    let (mut decided, mut allowed) = (0, 0);
    for subject in SUBJECTS {
        let token = token(&places.forge, subject);
        let shown = tools(gateway.url(), &token)?;
        for tool in all {
            let [lists, calls] = native(port, subject, tool)?;
            ensure!(shown.contains(tool) == lists, "{subject:?} {tool}: Cerbos says {lists}, it is shown: {shown:?}");
            let answer = ask(gateway.url(), &token, "tools/call", json!({ "name": tool, "arguments": {} }))?;
            let is_denied = answer["error"]["data"]["failure"] == "item-unknown";
            ensure!(is_denied != calls, "{subject:?} calls {tool}: Cerbos says {calls}: {answer}");
            decided += 2;
            allowed += usize::from(lists) + usize::from(calls);
        }
    }
    ensure!(allowed > 0 && allowed < decided, "{allowed} of {decided} allowed: this shows nothing");
    Ok(decided)
}

/// Cerbos with the policies of `peers/authzen`, and its port.
fn decision_point(home: &Home, program: &Path, folder: &Path) -> anyhow::Result<(ProcessGroup, u16)> {
    let (port, other) = (free_port()?, free_port()?);
    let config = json!({
        "server": { "httpListenAddr": format!("127.0.0.1:{port}"), "grpcListenAddr": format!("127.0.0.1:{other}") },
        "storage": { "driver": "disk", "disk": { "directory": home.peers.join("authzen") } },
        "telemetry": { "disabled": true },
    });
    let file = folder.join("cerbos.yaml");
    fs::write(&file, config.to_string())?;
    let command = [&*program.to_string_lossy(), "server", &format!("--config={}", file.display())].map(str::to_owned);
    let none: [(&str, &str); 0] = [];
    let mut cerbos = ProcessGroup::start(&command, &none, &File::create(folder.join("cerbos.log"))?)?;
    wait_until_listening(&mut cerbos, port).with_context(|| format!("its output lies in {}", folder.display()))?;
    Ok((cerbos, port))
}

fn start(places: &Places, server: &Served, port: u16, discover: bool) -> anyhow::Result<Served> {
    let keys = places.folder.join("keys.json");
    fs::write(&keys, json!({ "keys": [places.forge.public("one")] }).to_string())?;
    let config = json!({
        "upstreams": { "a": { "url": server.url() } },
        "auth": { "issuer": ISSUER, "keys": keys, "audience": AUDIENCE },
        "authzen": {
            "url": format!("http://127.0.0.1:{port}"), "discover": discover, "claims": { "team": "team" }, "timeout": "10s",
        },
    });
    let file = places.folder.join("gateway.yaml");
    fs::write(&file, config.to_string())?;
    let mut command = Command::new(&places.gateway);
    command.arg("--config").arg(&file).args(["--http", "127.0.0.1:0"]);
    Served::start(command)
}

fn token(forge: &Forge, (subject, team): (&str, &str)) -> String {
    let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": subject, "team": team, "exp": now() + 600 });
    forge.token(&json!({ "alg": "ES256", "typ": "at+jwt", "kid": "one" }), &claims)
}

/// Whether a subject may list and call a tool, by the interface that is Cerbos's own.
fn native(port: u16, (subject, team): (&str, &str), tool: &str) -> anyhow::Result<[bool; 2]> {
    let actions = ["tools/list", "tools/call"];
    let resource = json!({ "kind": "tool", "id": tool, "attr": { "server": "default" } });
    let body = json!({
        "requestId": "one",
        "principal": { "id": subject, "roles": ["user"], "attr": { "team": team } },
        "resources": [{ "actions": actions, "resource": resource }],
    });
    let answer = post(&format!("127.0.0.1:{port}"), "/api/check/resources", "", &body)?;
    let said = &answer["results"][0]["actions"];
    let decision = |action: &str| match said[action].as_str() {
        Some("EFFECT_ALLOW") => Ok(true),
        Some("EFFECT_DENY") => Ok(false),
        _ => Err(anyhow::anyhow!("Cerbos decides nothing about {action}: {answer}")),
    };
    Ok([decision(actions[0])?, decision(actions[1])?])
}

/// The names of the tools that a server lists.
fn tools(url: &str, token: &str) -> anyhow::Result<BTreeSet<String>> {
    let answer = ask(url, token, "tools/list", json!({}))?;
    let list = answer["result"]["tools"].as_array().with_context(|| format!("no list: {answer}"))?;
    Ok(list.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect())
}

/// The response to a request of the newest revision.
fn ask(url: &str, token: &str, method: &str, mut params: Value) -> anyhow::Result<Value> {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": { "name": "xtask", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut headers = format!("MCP-Protocol-Version: {REVISION}\r\nMcp-Method: {method}\r\n");
    if let Some(name) = params["name"].as_str() {
        let _ = write!(headers, "Mcp-Name: {name}\r\n");
    }
    if !token.is_empty() {
        let _ = write!(headers, "Authorization: Bearer {token}\r\n");
    }
    let (host, path) = url.trim_start_matches("http://").split_once('/').context("no path")?;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    post(host, &format!("/{path}"), &headers, &body)
}

/// The JSON of a response.
fn post(host: &str, path: &str, headers: &str, body: &Value) -> anyhow::Result<Value> {
    let body = body.to_string();
    let mut stream = TcpStream::connect(host).with_context(|| format!("cannot connect to {host}"))?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes())?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    // An event or a chunk has the same text.
    let last = response.lines().rev().find_map(|line| Some(&line[line.find('{')?..]));
    serde_json::from_str(last.unwrap_or_default()).with_context(|| format!("no JSON: {response}"))
}

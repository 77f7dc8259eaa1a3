//! Hostile OAuth metadata to our client: documents of other issuers, addresses that it must not visit, answers that do not fit,
//! documents without end. It gives no token, code or password to who must not have it, visits nothing else, and ends in time.

mod cache;
mod resource;
mod visitors;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use serde_json::{Value, json};

use super::Plan;
use super::hostile::http::{Seen, Sent, Web};
use super::hostile::mcp::{ESCAPES, react};
use super::program::Run;
use super::servers::raw;
use super::trial::{Attempt, Trial};

const STOPPED: &str = "an error in words, nothing is visited or given away";
const PASSWORD: &str = "Qz7-client-password-0815";
const MOST: u64 = 160;

/// What a server and its issuer say, ready to be changed.
struct Script {
    challenge: String,
    resource: Value,
    issuer: Value,
    /// In place of the document of the issuer or the answer of an endpoint, by its path.
    instead: Vec<(&'static str, Sent)>,
    token: Value,
    /// What is added to the redirect, in place of `code=…&state=…&iss=…`. `STATE` and `ISSUER` stand for the right ones.
    back: &'static str,
}

impl Script {
    fn honest(address: SocketAddr) -> Self {
        let base = format!("http://{address}");
        Self {
            challenge: format!("Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\""),
            resource: json!({ "resource": format!("{base}/mcp"), "authorization_servers": [base] }),
            issuer: json!({ "issuer": base, "authorization_endpoint": format!("{base}/authorize"), "token_endpoint": format!("{base}/token"),
                "registration_endpoint": format!("{base}/register"), "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
                "grant_types_supported": ["authorization_code", "client_credentials"], "authorization_response_iss_parameter_supported": true,
                "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"] }),
            instead: Vec::new(),
            token: json!({ "access_token": "good-token-of-the-issuer", "token_type": "Bearer", "expires_in": 60 }),
            back: "code=abc&state=STATE&iss=ISSUER",
        }
    }

    fn answer(&self, seen: &Seen, address: SocketAddr) -> Sent {
        let (method, path) = seen.path();
        if let Some((_, sent)) = self.instead.iter().find(|(found, _)| path.starts_with(found)) {
            return sent.clone();
        }
        match (method, path) {
            (_, "/mcp") if seen.header("authorization") == Some("Bearer good-token-of-the-issuer") => {
                let message: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
                match react("honest", &message).messages.first() {
                    Some(body) => Sent::response("200 OK", "Content-Type: application/json\r\n", body),
                    None => Sent::response("202 Accepted", "", b""),
                }
            }
            (_, "/mcp") => {
                Sent::response("401 Unauthorized", &format!("WWW-Authenticate: {}\r\n", self.challenge), b"")
            }
            (_, path) if path.starts_with("/.well-known/oauth-protected-resource") => Sent::json(&self.resource),
            (_, path) if path.starts_with("/.well-known/") => Sent::json(&self.issuer),
            (_, "/register") => Sent::response(
                "201 Created",
                "Content-Type: application/json\r\n",
                json!({ "client_id": "c", "redirect_uris": ["http://127.0.0.1/callback"] }).to_string().as_bytes(),
            ),
            (_, "/authorize") => {
                let back = self
                    .back
                    .replace("STATE", &seen.query("state").unwrap_or_default())
                    .replace("ISSUER", &format!("http://{address}"));
                let to = format!("{}?{back}", seen.query("redirect_uri").unwrap_or_default());
                Sent::response("302 Found", &format!("Location: {to}\r\n"), b"")
            }
            (_, "/token") => Sent::json(&self.token),
            _ => Sent::response("404 Not Found", "", b""),
        }
    }
}

/// Changes the script, given the issuer's own address and that of the canary.
type Change = Box<dyn Fn(&mut Script, &str, &str) + Send + Sync>;

/// A change, and what it is called.
type Named = (String, Change);

pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    ensure!(own_address().is_none_or(|own| !own.is_loopback()), "no address but loopback");
    let plan = trial.plan;
    trial.one("an honest issuer", "client --oauth", "the token arrives", || {
        let web = Web::start(|seen: &Seen, address| Script::honest(address).answer(seen, address))?;
        let ended = Run::new(plan, &["client", "tools", "--oauth", &web.url("/mcp")], 20).go(plan)?;
        ensure!(ended.code == Some(0), "{}", ended.text());
        Ok(())
    });
    let mut attempts = Vec::new();
    for (what, change) in changes() {
        let change: Arc<Change> = Arc::new(change);
        for (place, args) in [
            ("client --oauth", &["client", "tools", "--oauth", "--timeout", "5"][..]),
            ("check --oauth", &["check", "--oauth", "--revision", "2025-11-25", "--timeout", "3", "--max-time", "6"]),
        ] {
            if plan.quick && place == "check --oauth" {
                continue;
            }
            let change = Arc::clone(&change);
            attempts.push(Attempt::new(what.clone(), place, STOPPED, move || stopped(plan, args, &change)));
        }
    }
    attempts.extend(resource::wider(plan));
    attempts.extend(passwords(plan));
    attempts.extend(cache::odd_files(plan));
    attempts.push(Attempt::new(
        "8 visitors of the redirect address that say nothing",
        "client --oauth=browser",
        "the browser is answered meanwhile",
        move || visitors::silent(plan),
    ));
    trial.play(&attempts, 4);
    Ok(())
}

fn stopped(plan: &Plan, args: &[&str], change: &Arc<Change>) -> anyhow::Result<()> {
    let canary = Web::listen("0.0.0.0:0", |_: &Seen, _| Sent::response("200 OK", "", b"{}"))?;
    let (port, change) = (canary.address.port(), Arc::clone(change));
    let web = Web::start(move |seen: &Seen, address| {
        let mut script = Script::honest(address);
        change(&mut script, &format!("http://{address}"), &port.to_string());
        script.answer(seen, address)
    })?;
    let ended = Run::new(plan, &[args, &[&web.url("/mcp")]].concat(), 45).go(plan)?;
    ended.sound(MOST)?;
    raw(&ended.out)?;
    raw(&ended.err)?;
    ensure!(canary.seen().is_empty(), "it visited {:?}", canary.seen().first().map(Seen::text));
    let used =
        web.seen().iter().any(|seen| seen.header("authorization").is_some_and(|value| value.contains("good-token")));
    ensure!(!used, "the token was taken and used");
    Ok(())
}

/// Places that are neither loopback nor have https, and words that are no places.
const PLACES: &[&str] = &[
    "http://0.0.0.0:PORT",
    "https://0.0.0.0:PORT",
    "http://[::]:PORT",
    "http://10.0.0.1",
    "http://169.254.169.254",
    "http://[fe80::1]",
    "file:///etc/passwd",
    "ftp://127.0.0.1:PORT",
    "javascript:alert(1)",
    "data:application/json,{}",
    "//127.0.0.1:PORT",
    "",
    "null",
    "http://127.0.0.1:PORT@evil.invalid",
    "http://evil.invalid",
    "gopher://127.0.0.1:PORT",
];

fn changes() -> Vec<Named> {
    let own = own_address().map(|own| format!("http://{own}:PORT"));
    let places = PLACES.iter().map(|place| (*place).to_owned()).chain(own);
    places.flat_map(|place| at(&place)).chain(issuers()).chain(responses()).chain(tokens()).chain(documents()).collect()
}

/// Everything that a server can put at a place.
fn at(place: &str) -> Vec<Named> {
    let mut out: Vec<Named> = Vec::new();
    let mut add = |what: String, change: fn(&mut Script, String)| {
        let place = place.to_owned();
        let change: Change = Box::new(move |script, _, port| change(script, place.replace("PORT", port)));
        out.push((what, change));
    };
    add(format!("resource_metadata at {place}"), |script, at| {
        script.challenge = format!("Bearer resource_metadata=\"{at}/prm\"");
        script.instead.push(("/.well-known/", Sent::response("404 Not Found", "", b"")));
    });
    add(format!("an issuer at {place}"), |script, at| script.resource["authorization_servers"] = json!([at]));
    add(format!("authorization_endpoint at {place}"), |script, at| {
        script.issuer["authorization_endpoint"] = format!("{at}/x").into();
    });
    add(format!("token_endpoint at {place}"), |script, at| script.issuer["token_endpoint"] = format!("{at}/x").into());
    add(format!("registration_endpoint at {place}"), |script, at| {
        script.issuer["registration_endpoint"] = format!("{at}/x").into();
    });
    add(format!("a redirect of the token endpoint to {place}"), |script, at| {
        script.instead.push(("/token", moved(&at)));
    });
    add(format!("a redirect of the metadata to {place}"), |script, at| {
        script.instead.push(("/.well-known/", moved(&at)));
    });
    out
}

fn moved(to: &str) -> Sent {
    Sent::response("307 Temporary Redirect", &format!("Location: {to}/x\r\n"), b"")
}

/// A name that is not the right one, made from the right one.
type OtherName = (&'static str, fn(&str) -> Value);

/// Documents that are of another issuer, or about another server.
fn issuers() -> Vec<Named> {
    let mut out: Vec<Named> = Vec::new();
    let names: [OtherName; 9] = [
        ("with a slash", |base| format!("{base}/").into()),
        ("with a path", |base| format!("{base}/x").into()),
        ("of another port", |_| "http://127.0.0.1:1".into()),
        ("elsewhere", |_| "https://evil.invalid".into()),
        ("in capitals", |base| base.to_uppercase().into()),
        ("as localhost", |base| base.replace("127.0.0.1", "localhost").into()),
        ("as a list", |base| json!([base])),
        ("as null", |_| Value::Null),
        ("empty", |_| "".into()),
    ];
    for (what, name) in names {
        out.push((
            format!("an issuer that calls itself {what}"),
            Box::new(move |script, base, _| script.issuer["issuer"] = name(base)),
        ));
        if !matches!(what, "with a path" | "with a slash") {
            out.push((
                format!("a resource that is called {what}"),
                Box::new(move |script, base, _| script.resource["resource"] = name(&format!("{base}/mcp"))),
            ));
        }
    }
    for (what, methods) in
        [("plain only", json!(["plain"])), ("none", json!([])), ("a text", json!("S256")), ("s256", json!(["s256"]))]
    {
        out.push((
            format!("PKCE methods: {what}"),
            Box::new(move |script, _, _| script.issuer["code_challenge_methods_supported"] = methods.clone()),
        ));
    }
    let all = ESCAPES.concat();
    out.push((
        "an issuer full of escapes".to_owned(),
        Box::new({
            let all = all.clone();
            move |script, _, _| script.issuer["issuer"] = all.clone().into()
        }),
    ));
    out.push((
        "issuers full of escapes".to_owned(),
        Box::new({
            let all = all.clone();
            move |script, _, _| script.resource["authorization_servers"] = json!([format!("https://{all}/")])
        }),
    ));
    out.push((
        "an error full of escapes".to_owned(),
        Box::new(move |script, _, _| {
            let body = json!({ "error": all, "error_description": all, "error_uri": all }).to_string();
            script.instead.push((
                "/token",
                Sent::response("400 Bad Request", "Content-Type: application/json\r\n", body.as_bytes()),
            ));
        }),
    ));
    out
}

/// Answers of the issuer that do not fit the request.
fn responses() -> Vec<Named> {
    let mut out: Vec<Named> = Vec::new();
    for (what, back) in [
        ("another state", "code=abc&state=x&iss=ISSUER"),
        ("no state", "code=abc&iss=ISSUER"),
        ("an empty state", "code=abc&state=&iss=ISSUER"),
        ("the state twice", "code=abc&state=x&state=STATE&iss=ISSUER"),
        ("another issuer", "code=abc&state=STATE&iss=https://evil.invalid"),
        ("no issuer though it was promised", "code=abc&state=STATE"),
        ("the issuer with a slash", "code=abc&state=STATE&iss=ISSUER/"),
        ("no code", "state=STATE&iss=ISSUER"),
        ("an error and a code", "error=access_denied&code=abc&state=STATE&iss=ISSUER"),
    ] {
        out.push((format!("an answer with {what}"), Box::new(move |script, _, _| script.back = back)));
    }
    out
}

/// Responses of the token endpoint.
fn tokens() -> Vec<Named> {
    let mut out: Vec<Named> = Vec::new();
    for (what, token) in [
        ("no token", json!({ "token_type": "Bearer" })),
        ("an empty token", json!({ "access_token": "", "token_type": "Bearer" })),
        ("a token with a line end", json!({ "access_token": "x\r\nX-Evil: y", "token_type": "Bearer" })),
        ("a token that is a number", json!({ "access_token": 5, "token_type": "Bearer" })),
        ("the type mac", json!({ "access_token": "good-token-of-the-issuer", "token_type": "mac" })),
        ("the type N_A", json!({ "access_token": "good-token-of-the-issuer", "token_type": "N_A" })),
        ("a list", json!([1])),
        ("a token of 500 KB", json!({ "access_token": "t".repeat(500_000), "token_type": "Bearer" })),
    ] {
        out.push((format!("a token response with {what}"), Box::new(move |script, _, _| script.token = token.clone())));
    }
    out
}

/// Documents that are too much, or none, in every place of one.
fn documents() -> Vec<Named> {
    let mut out: Vec<Named> = Vec::new();
    let spaces = vec![b' '; 1 << 20];
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
        "/register",
        "/authorize",
        "/token",
        "/mcp",
    ] {
        let kinds: Vec<(&str, Sent)> = vec![
            ("a document without end", Sent::endless("application/json", b"{", &spaces, Duration::ZERO)),
            ("a document that drips", Sent::endless("application/json", b"{", b" ", Duration::from_millis(200))),
            (
                "a document a million deep",
                Sent::response("200 OK", "Content-Type: application/json\r\n", &b"[".repeat(900_000)),
            ),
            ("HTML", Sent::response("200 OK", "Content-Type: text/html\r\n", b"<html>\x1b[31m</html>")),
            ("bytes that are no text", Sent::response("200 OK", "Content-Type: application/json\r\n", &[0xff; 1000])),
            ("a connection that is closed", Sent::default()),
            ("no HTTP", Sent { first: b"SSH-2.0-x\r\n\x1b[31m\r\n".to_vec(), ..Sent::default() }),
            ("a redirect to itself", Sent::response("302 Found", &format!("Location: {path}\r\n"), b"")),
            (
                "a header without end",
                Sent { first: b"HTTP/1.1 200 OK\r\nX: ".to_vec(), endless: spaces.clone(), ..Sent::default() },
            ),
        ];
        for (what, sent) in kinds {
            // A document of the issuer that cannot be read is looked for at its other place.
            out.push((
                format!("{what} at {path}"),
                Box::new(move |script, _, _| {
                    script.instead.push((path, sent.clone()));
                    if path == "/mcp" {
                        // The issuer is honest there, and `check --oauth` would rightly get its token before it asks.
                        script.resource["authorization_servers"] = json!([]);
                    }
                    if path.ends_with("server") {
                        script.instead.push(("/.well-known/openid-configuration", sent.clone()));
                    }
                }),
            ));
        }
    }
    out
}

/// Whether a client looked for the issuer: else it was put to nothing.
fn asked(web: &Web) -> bool {
    web.seen().iter().any(|seen| seen.path().1.starts_with("/.well-known/"))
}

/// A client's password goes to the issuer that it belongs to, and not to whichever one a server names.
fn passwords(plan: &Plan) -> Vec<Attempt<'_>> {
    let ways: [(&str, &[&str]); 3] = [
        ("client credentials", &["--oauth=client"]),
        ("a code, without a browser", &["--oauth"]),
        ("client credentials of another issuer", &["--oauth=client", "--oauth-issuer", "https://issuer.invalid"]),
    ];
    let mut attempts = Vec::new();
    for (what, way) in ways {
        for verb in ["client", "check", "snapshot"] {
            attempts.push(Attempt::new(
                format!("a server that names its own issuer, {what}"),
                verb,
                "the password does not reach it",
                move || {
                    let web = Web::start(|seen: &Seen, address| Script::honest(address).answer(seen, address))?;
                    let mut args = vec![verb];
                    if verb == "client" {
                        args.push("tools");
                    }
                    args.extend(way);
                    let url = web.url("/mcp");
                    args.extend([
                        "--oauth-client-id",
                        "me",
                        "--oauth-client-secret-env",
                        "ATTACK_PASSWORD",
                        "--timeout",
                        "3",
                        &url,
                    ]);
                    let ended = Run::new(plan, &args, 45).env("ATTACK_PASSWORD", PASSWORD).go(plan)?;
                    ended.sound(MOST)?;
                    let encoded = super::secrets::forms::found;
                    let got = web.seen().iter().any(|seen| encoded(&seen.text(), PASSWORD).is_some());
                    ensure!(!got, "it got it");
                    ensure!(asked(&web), "no token was needed: nothing was tried");
                    ensure!(encoded(&ended.text(), PASSWORD).is_none(), "it is printed");
                    Ok(())
                },
            ));
        }
    }
    attempts
}

fn own_address() -> Option<IpAddr> {
    super::origins::own_address()
}

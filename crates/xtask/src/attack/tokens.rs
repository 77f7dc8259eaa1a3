//! Tokens that must open nothing: unsigned, signed by another, of another issuer, for another server, out of time, or carried
//! where tokens are not looked for.

use std::fs;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::request::{Request, initialize};
use super::socket::head;
use super::target::Target;
use super::trial::{Attempt, Trial};
use crate::jwt::{Forge, encoded, now, symmetric, unsigned};

pub(super) const ISSUER: &str = "https://issuer.example";
pub(super) const AUDIENCE: &str = "https://mcp.example/mcp";
const KID: &str = "one";
const MOST: u64 = 64;
const REFUSED: &str = "401 or 400, nothing is opened";

/// What signs, and what signs without being asked to.
pub(super) struct Keys {
    pub(super) issuer: Forge,
    other: Forge,
}

impl Keys {
    pub(super) fn new() -> anyhow::Result<Self> {
        Ok(Self { issuer: Forge::new()?, other: Forge::new()? })
    }

    /// A server that takes the issuer's tokens.
    pub(super) fn server(&self, trial: &Trial<'_>, more: &[&str]) -> anyhow::Result<Target> {
        let file = trial.plan.folder.join("keys.json");
        fs::write(&file, json!({ "keys": [self.issuer.public(KID)] }).to_string()).context("the keys")?;
        let keys = format!("jwks:{}", file.display());
        let args = ["serve", "--http", "127.0.0.1:0", "--sse", "--ws", "--auth", &keys, "--auth-issuer", ISSUER];
        let mut target = Target::start(trial.plan, "serve --auth jwks", &[&args, more].concat(), &[])?;
        let mut claims = claims();
        if more.is_empty() {
            claims["aud"] = target.url().into();
        }
        target.token = Some(self.good(&claims));
        Ok(target)
    }

    /// A token that is as it must be.
    pub(super) fn good(&self, claims: &Value) -> String {
        self.issuer.token(&header(), claims)
    }
}

fn header() -> Value {
    json!({ "alg": "ES256", "typ": "at+jwt", "kid": KID })
}

/// What an honest token says.
pub(super) fn claims() -> Value {
    json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "exp": now() + 3600, "iat": now(), "scope": "mcp:read" })
}

pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let keys = Keys::new()?;
    let mut serve = keys.server(trial, &["--auth-audience", AUDIENCE])?;
    let bad = [headers(&keys), signatures(&keys), said(&keys)].concat();
    let mut attempts = Vec::new();
    for (what, token) in &bad {
        for (place, request) in doors(&serve) {
            let (serve, request) = (&serve, request.bearing(Some(token)));
            attempts.push(Attempt::new(what.clone(), place, REFUSED, move || refused(serve, &request)));
        }
    }
    let good = keys.good(&claims());
    for (what, request) in carried(&serve, &good) {
        let serve = &serve;
        attempts.push(Attempt::new(what, "serve --auth jwks", REFUSED, move || refused(serve, &request)));
    }
    trial.play(&attempts, 8);
    drop(attempts);
    for (place, request) in doors(&serve) {
        let opened = head(serve.address, &request.bearing(Some(&good)).bytes());
        trial.one("an honest token", place, "accepted", || {
            let status = opened?.context("closed")?.status;
            ensure!(matches!(status, 200 | 101), "answered with {status}");
            Ok(())
        });
    }
    serve.token = Some(good);
    trial.sound(&serve, MOST);
    audiences(trial, &keys)?;
    static_token(trial)
}

/// Where a token is asked for.
fn doors(serve: &Target) -> [(&'static str, Request); 3] {
    let host = serve.host();
    [
        ("POST /mcp", Request::post("/mcp", &host, &initialize())),
        ("GET /sse", Request::new("GET", "/sse", &host)),
        ("WebSocket /ws", Request::upgrade("/ws", &host)),
    ]
}

fn refused(serve: &Target, request: &Request) -> anyhow::Result<()> {
    let Some(reply) = head(serve.address, &request.bytes())? else { return Ok(()) };
    ensure!(matches!(reply.status, 400 | 401), "answered with {}", reply.status);
    Ok(())
}

/// Headers by which a token would choose how it is verified.
#[expect(clippy::too_many_lines, reason = "a table of attempts")]
fn headers(keys: &Keys) -> Vec<(String, String)> {
    let claims = claims();
    let mut out = Vec::new();
    for alg in ["none", "None", "NONE", "nOnE", "", "null"] {
        let text = unsigned(&json!({ "alg": alg, "typ": "at+jwt", "kid": KID }).to_string(), &claims.to_string());
        out.push((format!("alg {alg:?} without a signature"), format!("{text}.")));
        out.push((
            format!("alg {alg:?} with the signature of ES256"),
            format!("{text}.{}", encoded(&keys.issuer.signature(&text))),
        ));
    }
    let jwk = keys.issuer.public(KID);
    let x = jwk["x"].as_str().unwrap_or_default().as_bytes().to_vec();
    let secrets = [
        ("the JWK", jwk.to_string().into_bytes()),
        ("the point", keys.issuer.point()),
        ("x", x),
        ("nothing", b"".to_vec()),
    ];
    for (what, key) in secrets {
        for alg in ["HS256", "ES256", "RS256"] {
            let header = json!({ "alg": alg, "typ": "at+jwt", "kid": KID });
            out.push((format!("an HMAC with {what} as alg {alg}"), symmetric(&header, &claims, &key)));
        }
    }
    for alg in ["RS256", "PS256", "ES384", "ES512", "EdDSA", "HS256", "es256", "ES256K"] {
        let header = json!({ "alg": alg, "typ": "at+jwt", "kid": KID });
        out.push((format!("the issuer's signature called {alg}"), keys.issuer.token(&header, &claims)));
    }
    let theirs = keys.other.public("theirs");
    let url = "http://127.0.0.1:9/keys";
    for (what, more) in [
        ("the key within (jwk)", json!({ "jwk": theirs })),
        ("a URL of keys (jku)", json!({ "jku": url })),
        ("a URL of certificates (x5u)", json!({ "x5u": url })),
        ("certificates within (x5c)", json!({ "x5c": ["MIIB"] })),
        ("kid ../../../dev/null", json!({ "kid": "../../../dev/null" })),
        ("kid with SQL", json!({ "kid": "x' UNION SELECT 'key" })),
        ("kid of nobody", json!({ "kid": "two" })),
        ("kid as a number", json!({ "kid": 1 })),
        ("kid as null", json!({ "kid": null })),
        ("kid of 100 KB", json!({ "kid": "k".repeat(30_000) })),
        ("no kid", json!({ "kid": "" })),
    ] {
        let mut header = header();
        for (name, value) in more.as_object().into_iter().flatten() {
            header[name] = value.clone();
        }
        out.push((format!("another's signature, {what}"), keys.other.token(&header, &claims)));
    }
    for (what, more) in [
        ("crit", json!({ "crit": ["exp"], "exp": 1 })),
        ("crit that is empty", json!({ "crit": [] })),
        ("b64 false", json!({ "b64": false, "crit": ["b64"] })),
        ("zip", json!({ "zip": "DEF", "crit": ["zip"] })),
        ("an identity token's typ", json!({ "typ": "id_token+jwt" })),
        ("a proof's typ", json!({ "typ": "dpop+jwt" })),
        ("a logout's typ", json!({ "typ": "logout+jwt" })),
        ("a security event's typ", json!({ "typ": "secevent+jwt" })),
        ("alg as a list", json!({ "alg": ["ES256"] })),
        ("alg as null", json!({ "alg": null })),
    ] {
        let mut header = header();
        for (name, value) in more.as_object().into_iter().flatten() {
            header[name] = value.clone();
        }
        out.push((format!("a header with {what}"), keys.issuer.token(&header, &claims)));
    }
    out
}

/// Signatures that do not fit, and texts that are no tokens.
fn signatures(keys: &Keys) -> Vec<(String, String)> {
    let good = keys.good(&claims());
    let parts: Vec<&str> = good.split('.').collect();
    let (head, body, signature) = (parts[0], parts[1], parts[2]);
    let mut admin = claims();
    admin["sub"] = "root".into();
    let other = encoded(admin.to_string().as_bytes());
    let list = [
        ("another's signature", keys.other.token(&header(), &claims())),
        ("no signature", format!("{head}.{body}.")),
        ("two parts", format!("{head}.{body}")),
        ("one part", head.to_owned()),
        ("four parts", format!("{good}.x")),
        ("five parts", format!("{good}.x.y")),
        ("the signature of other claims", format!("{head}.{other}.{signature}")),
        ("a signature of zeros", format!("{head}.{body}.{}", encoded(&[0; 64]))),
        ("a signature of 0xff", format!("{head}.{body}.{}", encoded(&[0xff; 64]))),
        ("a signature of one byte", format!("{head}.{body}.{}", encoded(&[1]))),
        ("a signature of 63 bytes", format!("{head}.{body}.{}", encoded(&[1; 63]))),
        ("a signature of 10 KB", format!("{head}.{body}.{}", encoded(&[1; 10_000]))),
        ("the signature twice", format!("{head}.{body}.{signature}{signature}")),
        ("padding", format!("{head}.{body}.{signature}==")),
        ("a dot before", format!(".{good}")),
        ("a blank inside", format!("{head}. {body}.{signature}")),
        ("quotes", format!("\"{good}\"")),
        ("a comma and more", format!("{good},x")),
        ("the token twice", format!("{good} {good}")),
        ("nothing", String::new()),
        ("a word", "token".to_owned()),
        ("three dots", "...".to_owned()),
        ("claims that are no JSON", keys.issuer.token_of(&header().to_string(), "claims")),
        ("claims that are a list", keys.issuer.token_of(&header().to_string(), &format!("[{}]", claims()))),
        ("claims that are null", keys.issuer.token_of(&header().to_string(), "null")),
        ("a header that is no JSON", keys.issuer.token_of("header", &claims().to_string())),
        ("a header that is a list", keys.issuer.token_of("[]", &claims().to_string())),
    ];
    list.into_iter().map(|(what, token)| (what.to_owned(), token)).collect()
}

/// Claims that a server must not take.
#[expect(clippy::too_many_lines, reason = "a table of attempts")]
fn said(keys: &Keys) -> Vec<(String, String)> {
    let now = now();
    let wrong: Vec<(&str, Vec<Value>)> = vec![
        (
            "exp",
            vec![
                json!(now - 3600),
                json!(now - 6),
                json!(0),
                json!(-1),
                json!("9999999999"),
                json!(true),
                json!([now + 60]),
                Value::Null,
            ],
        ),
        ("nbf", vec![json!(now + 3600), json!(now + 30), json!("0"), json!(true), json!([0])]),
        (
            "iss",
            vec![
                json!("https://evil.example"),
                json!("https://issuer.example/"),
                json!("https://ISSUER.example"),
                json!("https://issuer.exampl"),
                json!("https://issuer.example.evil"),
                json!("http://issuer.example"),
                json!([ISSUER]),
                json!(""),
                Value::Null,
            ],
        ),
        (
            "aud",
            vec![
                json!("https://evil.example/mcp"),
                json!("https://mcp.example"),
                json!("https://mcp.example/"),
                json!("https://mcp.example/mcp/"),
                json!("https://mcp.example/mcp/x"),
                json!("https://MCP.example/mcp"),
                json!("https://mcp.example/mcp?x"),
                json!("https://mcp.example/mcp#x"),
                json!("http://mcp.example/mcp"),
                json!("https://mcp.example:443/mcp"),
                json!("https://me@mcp.example/mcp"),
                json!("*"),
                json!(""),
                json!([]),
                json!(["https://evil.example"]),
                json!([[AUDIENCE]]),
                json!({ "aud": AUDIENCE }),
                json!(1),
                Value::Null,
            ],
        ),
        ("cnf", vec![json!({ "jkt": "abc" }), json!({ "x5t#S256": "abc" }), json!({})]),
    ];
    let mut out = Vec::new();
    for (name, values) in wrong {
        for value in values {
            let mut claims = claims();
            claims[name] = value.clone();
            out.push((format!("{name}: {value}"), keys.good(&claims)));
        }
        if name == "nbf" || name == "cnf" {
            continue;
        }
        let mut claims = claims();
        if let Some(object) = claims.as_object_mut() {
            object.shift_remove(name);
        }
        out.push((format!("no {name}"), keys.good(&claims)));
    }
    for (what, text) in [
        ("exp twice, the second past", "\"exp\":1"),
        ("aud twice, the second foreign", "\"aud\":\"https://evil.example\""),
    ] {
        let text = claims().to_string().trim_end_matches('}').to_owned() + "," + text + "}";
        out.push((what.to_owned(), keys.issuer.token_of(&header().to_string(), &text)));
    }
    out
}

/// A good token where tokens are not looked for.
fn carried(serve: &Target, good: &str) -> Vec<(String, Request)> {
    let host = serve.host();
    let post = || Request::post("/mcp", &host, &initialize());
    let list = [
        ("no token", post()),
        ("in the query", Request::post(&format!("/mcp?access_token={good}"), &host, &initialize())),
        ("in the query of /sse", Request::new("GET", &format!("/sse?access_token={good}"), &host)),
        ("in the query of /ws", Request::upgrade(&format!("/ws?access_token={good}"), &host)),
        ("in a cookie", post().with("Cookie", &format!("access_token={good}; token={good}"))),
        ("in X-Authorization", post().with("X-Authorization", &format!("Bearer {good}"))),
        ("in Proxy-Authorization", post().with("Proxy-Authorization", &format!("Bearer {good}"))),
        ("in a subprotocol", Request::upgrade("/ws", &host).with("Sec-WebSocket-Protocol", &format!("bearer, {good}"))),
        ("without a scheme", post().with("Authorization", good)),
        ("as Basic", post().with("Authorization", &format!("Basic {good}"))),
        ("as DPoP", post().with("Authorization", &format!("DPoP {good}"))),
        ("as Token", post().with("Authorization", &format!("Token {good}"))),
        ("after a colon", post().with("Authorization", &format!("Bearer: {good}"))),
        ("after two blanks", post().with("Authorization", &format!("Bearer  {good}"))),
        ("after a tab", post().with("Authorization", &format!("Bearer\t{good}"))),
        (
            "after another header",
            post().with("Authorization", "Bearer x").plus("Authorization", &format!("Bearer {good}")),
        ),
        (
            "before another header",
            post().with("Authorization", &format!("Bearer {good}")).plus("Authorization", "Bearer x"),
        ),
        ("in a list", post().with("Authorization", &format!("Bearer x, Bearer {good}"))),
    ];
    list.into_iter().map(|(what, request)| (format!("a good token {what}"), request)).collect()
}

/// Without a configured audience, the audience is the address that the server is bound to, whatever a client calls it.
fn audiences(trial: &mut Trial<'_>, keys: &Keys) -> anyhow::Result<()> {
    let serve = keys.server(trial, &[])?;
    let port = serve.address.port();
    let others = [port.wrapping_add(1).max(1024), 80, 3000];
    let mut attempts = Vec::new();
    for other in others {
        for name in ["127.0.0.1", "localhost", "[::1]", "127.0.0.2"] {
            let host = format!("{name}:{other}");
            for (at, path) in [("POST /mcp", "mcp"), ("GET /sse", "sse"), ("WebSocket /ws", "ws"), ("POST /mcp", "")] {
                let mut claims = claims();
                claims["aud"] = format!("http://{host}/{path}").into();
                let token = keys.good(&claims);
                let door = doors(&serve).into_iter().find(|(place, _)| *place == at);
                let Some((_, request)) = door else { continue };
                let request = request.with("Host", &host).bearing(Some(&token));
                let serve = &serve;
                let what = format!("a token for http://{host}/{path}, and that Host");
                attempts.push(Attempt::new(what, at, "401, 403 or 421: it is for another server", move || {
                    let Some(reply) = head(serve.address, &request.bytes())? else { return Ok(()) };
                    ensure!(matches!(reply.status, 400 | 401 | 403 | 421), "answered with {}", reply.status);
                    Ok(())
                }));
            }
        }
    }
    trial.play(&attempts, 8);
    drop(attempts);
    trial.sound(&serve, MOST);
    Ok(())
}

/// A token that is compared letter by letter.
fn static_token(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let token = "Correct-Horse-Battery-42";
    let args = ["serve", "--http", "127.0.0.1:0", "--sse", "--ws", "--bearer-env", "ATTACK_TOKEN"];
    let mut serve = Target::start(trial.plan, "serve --bearer-env", &args, &[("ATTACK_TOKEN", token)])?;
    serve.token = Some(token.to_owned());
    let wrong = [
        String::new(),
        token[..token.len() - 1].to_owned(),
        format!("{token}x"),
        token.to_lowercase(),
        token.to_uppercase(),
        format!(" {token}"),
        format!("{token},"),
        format!("{token} {token}"),
        "*".to_owned(),
        "null".to_owned(),
        "x".repeat(30_000),
        super::request::percent(token),
    ];
    let mut attempts = Vec::new();
    for wrong in &wrong {
        for (place, request) in doors(&serve) {
            let (serve, request) = (&serve, request.bearing(Some(wrong)));
            let what = format!("--bearer-env, the token {:?}", wrong.chars().take(30).collect::<String>());
            attempts.push(Attempt::new(what, place, REFUSED, move || refused(serve, &request)));
        }
    }
    trial.play(&attempts, 8);
    drop(attempts);
    trial.sound(&serve, MOST);
    Ok(())
}

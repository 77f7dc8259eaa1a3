//! Requests to the issuer's endpoints, each with one thing that is wrong.

use anyhow::ensure;
use serde_json::{Value, json};

use super::super::request::{Request, percent};
use super::super::trial::Attempt;
use super::{Issuer, NO_CODE, NO_TOKEN, REDIRECT, REMOVED, VERIFIER, no_code, no_token, set};
use crate::jwt::challenge;

/// Redirect addresses that are not the client's, letter by letter.
const REDIRECTS: &[&str] = &[
    "http://evil.example/cb",
    "https://evil.example/cb",
    "https://app.example/cb/",
    "https://app.example/cb/..",
    "https://app.example/CB",
    "https://APP.example/cb",
    "HTTPS://app.example/cb",
    "https://app.example:443/cb",
    "https://app.example./cb",
    "https://app.example/%63b",
    "https://app.example/x/../cb",
    "https://app.example/./cb",
    "https://app.example/cb?x=1",
    "https://app.example/cb#x",
    "https://app.example/cb;x",
    "https://app.example\\@evil.example/cb",
    "https://app.example@evil.example/cb",
    "https://app.example.evil.example/cb",
    "https://evil.example/?https://app.example/cb",
    "http://app.example/cb",
    " https://app.example/cb",
    "https://app.example/cb\t",
    "https://app.example/cb\r\nX: y",
    "HTTP://127.0.0.1:7777/cb",
    "http://127.0.0.1:7777/CB",
    "http://127.0.0.1:7777/%63b",
    "http://127.0.0.1:7777/./cb",
    "http://127.0.0.1:7777/x/../cb",
    "http://127.0.0.1:7777/cb?",
    "http://127.0.0.1:7777/cb?x=1",
    "http://127.0.0.1:7777/cb#",
    "http://127.0.0.1:7777//cb",
    "http://127.0.0.1:7777\\cb",
    "http:127.0.0.1:7777/cb",
    "http:///127.0.0.1:7777/cb",
    "http://127.1:7777/cb",
    "http://2130706433:7777/cb",
    "http://0x7f.0.0.1:7777/cb",
    "http://0177.0.0.1:7777/cb",
    "http://localhost:7777/cb",
    "http://[::1]:7777/cb",
    "http://[::ffff:127.0.0.1]:7777/cb",
    "http://0.0.0.0:7777/cb",
    "http://me@127.0.0.1:7777/cb",
    "http://127.0.0.1:7777@evil.example/cb",
    "http://127.0.0.1.evil.example:7777/cb",
    "https://127.0.0.1:7777/cb",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "//evil.example/cb",
    "/cb",
    "",
    "null",
];

/// Authorization requests that lead nowhere.
pub(super) fn redirects<'a>(issuer: &'a Issuer<'a>, client: &'a str) -> Vec<Attempt<'a>> {
    let mut attempts: Vec<Attempt<'a>> = REDIRECTS
        .iter()
        .map(|redirect| {
            let mut query = issuer.honest(client);
            set(&mut query, "redirect_uri", redirect);
            let request = issuer.authorize(&query);
            Attempt::new(
                format!("redirect_uri {redirect:?}"),
                "GET /authorize",
                "400, no redirect anywhere",
                move || no_code(issuer, &request, true),
            )
        })
        .collect();
    for (what, name, value) in [
        ("no redirect_uri", "redirect_uri", REMOVED),
        ("no client", "client_id", REMOVED),
        ("an unknown client", "client_id", "nobody"),
    ] {
        let mut query = issuer.honest(client);
        set(&mut query, name, value);
        let request = issuer.authorize(&query);
        attempts.push(Attempt::new(what, "GET /authorize", "400, no redirect anywhere", move || {
            no_code(issuer, &request, true)
        }));
    }
    attempts
}

/// Authorization requests that get no code.
pub(super) fn requests<'a>(issuer: &'a Issuer<'a>, client: &'a str) -> Vec<Attempt<'a>> {
    let good = challenge(VERIFIER);
    let changes: Vec<(&str, &'static str, String)> = vec![
        ("no challenge", "code_challenge", REMOVED.to_owned()),
        ("an empty challenge", "code_challenge", String::new()),
        ("a short challenge", "code_challenge", good[..42].to_owned()),
        ("a long challenge", "code_challenge", good.clone() + "A"),
        ("the method plain", "code_challenge_method", "plain".to_owned()),
        ("the method s256", "code_challenge_method", "s256".to_owned()),
        ("the method S512", "code_challenge_method", "S512".to_owned()),
        ("no method", "code_challenge_method", REMOVED.to_owned()),
        ("response_type token", "response_type", "token".to_owned()),
        ("response_type id_token", "response_type", "id_token".to_owned()),
        ("response_type code token", "response_type", "code token".to_owned()),
        ("no response_type", "response_type", REMOVED.to_owned()),
        ("an unknown scope", "scope", "mcp:admin".to_owned()),
        ("another resource", "resource", "https://evil.example/mcp".to_owned()),
        ("a resource on another port", "resource", "http://127.0.0.1:1/mcp".to_owned()),
    ];
    let mut attempts: Vec<Attempt<'a>> = changes
        .into_iter()
        .map(|(what, name, value)| {
            let mut query = issuer.honest(client);
            set(&mut query, name, &value);
            let request = issuer.authorize(&query);
            Attempt::new(what, "GET /authorize", NO_CODE, move || no_code(issuer, &request, false))
        })
        .collect();
    for name in
        ["response_type", "client_id", "redirect_uri", "code_challenge", "code_challenge_method", "state", "scope"]
    {
        let mut query = issuer.honest(client);
        query.push((name, "https://evil.example/".to_owned()));
        let request = issuer.authorize(&query);
        attempts.push(Attempt::new(format!("{name} twice"), "GET /authorize", NO_CODE, move || {
            no_code(issuer, &request, false)
        }));
    }
    for (name, value) in [
        ("Sec-Fetch-Mode", "no-cors"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Mode", "cors"),
        ("Accept", "text/html"),
        ("Accept", "text/html,*/*;q=0.8"),
        ("Accept", "TEXT/HTML"),
    ] {
        let request = issuer.authorize(&issuer.honest(client)).with(name, value);
        attempts.push(Attempt::new(
            format!("a page fetches it, {name}: {value}"),
            "GET /authorize",
            "nobody agreed, so no code",
            move || no_code(issuer, &request, true),
        ));
    }
    attempts
}

/// What is changed in an honest token request.
fn changes() -> Vec<(&'static str, &'static str, String)> {
    let long = "a".repeat(128);
    let mut twisted = VERIFIER.to_owned();
    twisted.make_ascii_lowercase();
    vec![
        ("another verifier", "code_verifier", long.clone()),
        ("no verifier", "code_verifier", REMOVED.to_owned()),
        ("an empty verifier", "code_verifier", String::new()),
        ("the challenge as verifier", "code_verifier", challenge(VERIFIER)),
        ("the verifier in small letters", "code_verifier", twisted),
        ("the verifier cut", "code_verifier", VERIFIER[..42].to_owned()),
        ("the verifier doubled", "code_verifier", VERIFIER.repeat(2)),
        ("another redirect", "redirect_uri", "https://app.example/cb".to_owned()),
        ("a redirect on another port", "redirect_uri", "http://127.0.0.1:7778/cb".to_owned()),
        ("a redirect in other letters", "redirect_uri", "http://127.0.0.1:7777/CB".to_owned()),
        ("no client", "client_id", REMOVED.to_owned()),
        ("an unknown client", "client_id", "nobody".to_owned()),
        ("another client's password", "client_secret", "x".to_owned()),
        ("no code", "code", REMOVED.to_owned()),
        ("an empty code", "code", String::new()),
        ("a guessed code", "code", "A".repeat(43)),
        ("another grant", "grant_type", "password".to_owned()),
        ("a token exchange", "grant_type", "urn:ietf:params:oauth:grant-type:token-exchange".to_owned()),
        ("the implicit grant", "grant_type", "implicit".to_owned()),
        ("the code as a refresh token", "grant_type", "refresh_token".to_owned()),
        ("client credentials of a public client", "grant_type", "client_credentials".to_owned()),
        ("no grant", "grant_type", REMOVED.to_owned()),
        ("a resource elsewhere", "resource", "https://evil.example/mcp".to_owned()),
    ]
}

/// Codes and verifiers that do not belong together.
pub(super) fn exchanges<'a>(issuer: &'a Issuer<'a>, client: &'a str) -> Vec<Attempt<'a>> {
    let mut attempts = Vec::new();
    for path in ["/token", "/tenant/token"] {
        for (what, name, value) in changes() {
            attempts.push(Attempt::new(what, format!("POST {path}"), NO_TOKEN, move || {
                let code = issuer.code(client)?;
                let mut fields = vec![
                    ("grant_type", "authorization_code".to_owned()),
                    ("client_id", client.to_owned()),
                    ("code", code),
                    ("redirect_uri", REDIRECT.to_owned()),
                    ("code_verifier", VERIFIER.to_owned()),
                ];
                set(&mut fields, name, &value);
                let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
                no_token(&issuer.token(path, &fields)?)
            }));
        }
    }
    attempts.push(Attempt::new("a code of the other issuer", "/tenant/token", NO_TOKEN, move || {
        let code = issuer.code(client)?;
        let fields = [
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("code", &code),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        no_token(&issuer.token("/tenant/token", &fields)?)
    }));
    attempts.push(Attempt::new("another client's code", "POST /token", NO_TOKEN, move || {
        let (code, other) = (issuer.code(client)?, issuer.register(&[REDIRECT])?);
        no_token(&issuer.redeem(&other, &code)?)
    }));
    for password in ["", "x", "rob0t-passw0rd", "Rob0t-Passw0rd ", "Rob0t-Passw0r", "Rob0t-Passw0rdX"] {
        attempts.push(Attempt::new(format!("the robot's password {password:?}"), "POST /token", NO_TOKEN, move || {
            no_token(&issuer.robot(password)?)
        }));
    }
    attempts.push(Attempt::new("parameters in the query", "POST /token", NO_TOKEN, move || {
        let code = issuer.code(client)?;
        let path = format!("/token?grant_type=authorization_code&client_id={client}&code={code}&redirect_uri={}&code_verifier={VERIFIER}", percent(REDIRECT));
        no_token(&issuer.token(&path, &[])?)
    }));
    attempts.push(Attempt::new("a parameter twice", "POST /token", NO_TOKEN, move || {
        let code = issuer.code(client)?;
        let fields = [
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("code", &code),
            ("redirect_uri", REDIRECT),
            ("code_verifier", "x"),
            ("code_verifier", VERIFIER),
        ];
        no_token(&issuer.token("/token", &fields)?)
    }));
    attempts
}

/// What a client may not register.
pub(super) fn registrations<'a>(issuer: &'a Issuer<'a>) -> Vec<Attempt<'a>> {
    let bad: Vec<(&str, Value)> = vec![
        ("javascript:", json!(["javascript:alert(1)"])),
        ("data:", json!(["data:text/html,x"])),
        ("vbscript:", json!(["vbscript:x"])),
        ("file:", json!(["file:///etc/passwd"])),
        ("http elsewhere", json!(["http://app.example/cb"])),
        ("a fragment", json!(["https://app.example/#x"])),
        ("a user", json!(["https://me:pw@app.example/"])),
        ("one good, one bad", json!([REDIRECT, "http://app.example/"])),
        ("none", json!([])),
        ("a text", json!(REDIRECT)),
        ("numbers", json!([1, 2])),
        ("lists", json!([[REDIRECT]])),
        ("17 addresses", json!(vec![REDIRECT; 17])),
        ("a relative one", json!(["/cb"])),
        ("0.0.0.0", json!(["http://0.0.0.0:1/cb"])),
        ("a name like loopback", json!(["http://127.0.0.1.evil.example/cb"])),
    ];
    let mut attempts: Vec<Attempt<'a>> = bad
        .into_iter()
        .map(|(what, redirects)| {
            let request = Request::post(
                "/register",
                &issuer.at.host(),
                &json!({ "client_name": "x", "redirect_uris": redirects }),
            );
            Attempt::new(format!("redirect_uris with {what}"), "POST /register", "400", move || {
                let reply = issuer.at.answer(&request)?;
                ensure!(reply.status == 400, "answered with {}: {}", reply.status, reply.text());
                Ok(())
            })
        })
        .collect();
    for body in ["", "[]", "null", "{", "\"x\"", "{\"redirect_uris\":"] {
        let request = Request::raw_post("/register", &issuer.at.host(), body.as_bytes());
        attempts.push(Attempt::new(format!("the body {body:?}"), "POST /register", "400", move || {
            let reply = issuer.at.answer(&request)?;
            ensure!(reply.status == 400, "answered with {}", reply.status);
            Ok(())
        }));
    }
    attempts
}

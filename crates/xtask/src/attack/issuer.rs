//! The development issuer: codes, verifiers and redirects that do not belong together, consent that nobody gave, clients that
//! are not who they say, and addresses that the server must not visit.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::jwt::challenge;
use super::request::{Request, initialize, percent};
use super::socket::{Reply, head};
use super::target::Target;
use super::trial::{Attempt, Trial};

const MOST: u64 = 64;
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const REDIRECT: &str = "http://127.0.0.1:7777/cb";
const NO_CODE: &str = "no code is sent anywhere";
const NO_TOKEN: &str = "400 or 401, no token";

pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let args = ["serve", "--http", "127.0.0.1:0", "--auth", "dev", "--auth-client-env", "ATTACK_CLIENT"];
    let mut serve = Target::start(trial.plan, "serve --auth dev", &args, &[("ATTACK_CLIENT", "robot:Rob0t-Passw0rd")])?;
    let issuer = Issuer { at: &serve };
    let client = issuer.register(&[REDIRECT, "https://app.example/cb"])?;
    let mut attempts = redirects(&issuer, &client);
    attempts.extend(requests(&issuer, &client));
    attempts.extend(exchanges(&issuer, &client));
    attempts.extend(registrations(&issuer));
    trial.play(&attempts, 8);
    drop(attempts);
    spent(trial, &issuer, &client);
    consent(trial, &issuer, &client);
    visits(trial, &issuer)?;
    evicted(trial, &issuer);
    let token = issuer.robot("Rob0t-Passw0rd")?.json()?["access_token"].as_str().map(str::to_owned);
    serve.token = token;
    trial.sound(&serve, MOST);
    Ok(())
}

/// An honest client's way through the issuer.
struct Issuer<'t> {
    at: &'t Target,
}

impl Issuer<'_> {
    fn resource(&self) -> String {
        self.at.url()
    }

    /// Registers a public client; its id.
    fn register(&self, redirects: &[&str]) -> anyhow::Result<String> {
        let client = json!({ "client_name": "attack", "redirect_uris": redirects, "token_endpoint_auth_method": "none",
            "grant_types": ["authorization_code", "refresh_token"] });
        let reply = self.at.answer(&Request::post("/register", &self.at.host(), &client))?;
        ensure!(reply.status == 201, "registration got {}: {}", reply.status, reply.text());
        reply.json()?["client_id"].as_str().map(str::to_owned).context("no client id")
    }

    /// The parameters of an honest authorization request.
    fn honest(&self, client: &str) -> Vec<(&'static str, String)> {
        vec![
            ("response_type", "code".to_owned()),
            ("client_id", client.to_owned()),
            ("redirect_uri", REDIRECT.to_owned()),
            ("code_challenge", challenge(VERIFIER)),
            ("code_challenge_method", "S256".to_owned()),
            ("scope", "mcp:read offline_access".to_owned()),
            ("resource", self.resource()),
            ("state", "xyz".to_owned()),
        ]
    }

    fn authorize(&self, query: &[(&'static str, String)]) -> Request {
        let pairs: Vec<String> = query.iter().map(|(name, value)| format!("{name}={}", percent(value))).collect();
        Request::new("GET", &format!("/authorize?{}", pairs.join("&")), &self.at.host()).with("Accept", "*/*")
    }

    /// A code, as a program gets it.
    fn code(&self, client: &str) -> anyhow::Result<String> {
        let reply = self.at.answer(&self.authorize(&self.honest(client)))?;
        sent_code(&reply).with_context(|| format!("no code, but {} {}", reply.status, reply.text()))
    }

    fn token(&self, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<Reply> {
        self.at.answer(&Request::form(path, &self.at.host(), fields))
    }

    /// Redeems a code as an honest client does.
    fn redeem(&self, client: &str, code: &str) -> anyhow::Result<Reply> {
        let fields = [
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("code", code),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        self.token("/token", &fields)
    }

    fn robot(&self, password: &str) -> anyhow::Result<Reply> {
        self.token(
            "/token",
            &[("grant_type", "client_credentials"), ("client_id", "robot"), ("client_secret", password)],
        )
    }
}

/// The code in a redirect, to wherever it goes.
fn sent_code(reply: &Reply) -> Option<String> {
    let location = reply.header("location")?;
    let at = location.find("code=").filter(|at| !location[..*at].ends_with("error_"))?;
    Some(location[at + 5..].split(['&', '#']).next().unwrap_or_default().to_owned())
}

fn no_code(issuer: &Issuer<'_>, request: &Request, no_redirect: bool) -> anyhow::Result<()> {
    let Some(reply) = head(issuer.at.address, &request.bytes())? else { return Ok(()) };
    ensure!(sent_code(&reply).is_none(), "a code went to {:?}", reply.header("location"));
    let location = reply.header("location");
    ensure!(!no_redirect || location.is_none(), "a redirect to {location:?}");
    Ok(())
}

fn set(query: &mut Vec<(&'static str, String)>, name: &'static str, value: &str) {
    query.retain(|(found, _)| *found != name);
    if value != REMOVED {
        query.push((name, value.to_owned()));
    }
}

const REMOVED: &str = "(removed)";

/// Redirect addresses that are not the client's, letter by letter.
fn redirects<'a>(issuer: &'a Issuer<'a>, client: &'a str) -> Vec<Attempt<'a>> {
    let bad = [
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
    let mut attempts: Vec<Attempt<'a>> = bad
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
fn requests<'a>(issuer: &'a Issuer<'a>, client: &'a str) -> Vec<Attempt<'a>> {
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

/// Codes and verifiers that do not belong together.
fn exchanges<'a>(issuer: &'a Issuer<'a>, client: &'a str) -> Vec<Attempt<'a>> {
    let long = "a".repeat(128);
    let mut twisted = VERIFIER.to_owned();
    twisted.make_ascii_lowercase();
    let changes: Vec<(&str, &'static str, String)> = vec![
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
    ];
    let mut attempts = Vec::new();
    for path in ["/token", "/tenant/token"] {
        for (what, name, value) in changes.clone() {
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
    for (what, path) in [("a code of the other issuer", "/tenant/token")] {
        attempts.push(Attempt::new(what, path, NO_TOKEN, move || {
            let code = issuer.code(client)?;
            let fields = [
                ("grant_type", "authorization_code"),
                ("client_id", client),
                ("code", &code),
                ("redirect_uri", REDIRECT),
                ("code_verifier", VERIFIER),
            ];
            no_token(&issuer.token(path, &fields)?)
        }));
    }
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

fn no_token(reply: &Reply) -> anyhow::Result<()> {
    ensure!(
        matches!(reply.status, 400 | 401) && !reply.text().contains("access_token"),
        "answered with {}: {}",
        reply.status,
        reply.text()
    );
    Ok(())
}

/// What a client may not register.
fn registrations<'a>(issuer: &'a Issuer<'a>) -> Vec<Attempt<'a>> {
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

/// A code or a refresh token that is used again ends what it gave.
fn spent(trial: &mut Trial<'_>, issuer: &Issuer<'_>, client: &str) {
    let first = issuer.code(client).and_then(|code| Ok((issuer.redeem(client, &code)?.json()?, code)));
    trial.one("a code, twice", "POST /token", NO_TOKEN, || {
        let (_, code) = first.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))?;
        no_token(&issuer.redeem(client, code)?)
    });
    let Ok((given, _)) = first else { return };
    let text = |name: &str| given[name].as_str().unwrap_or_default().to_owned();
    trial.one("the refresh token of a replayed code", "POST /token", NO_TOKEN, || {
        let token = text("refresh_token");
        ensure!(!token.is_empty(), "there was none");
        no_token(
            &issuer.token(
                "/token",
                &[("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", &token)],
            )?,
        )
    });
    trial.one("the access token of a replayed code", "POST /mcp", "401", || {
        let request = Request::post("/mcp", &issuer.at.host(), &initialize()).bearing(Some(&text("access_token")));
        let reply = issuer.at.answer(&request)?;
        ensure!(reply.status == 401, "answered with {}", reply.status);
        Ok(())
    });
    trial.one("a refresh token, twice", "POST /token", "the second is refused, and what the first gave ends", || {
        let code = issuer.code(client)?;
        let refresh = |token: &str| {
            issuer.token("/token", &[("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)])
        };
        let old = issuer.redeem(client, &code)?.json()?["refresh_token"].as_str().unwrap_or_default().to_owned();
        let new = refresh(&old)?.json()?["refresh_token"].as_str().context("no refresh")?.to_owned();
        no_token(&refresh(&old)?)?;
        no_token(&refresh(&new)?)
    });
    for (what, fields) in
        [("another client", ("client_id", "nobody")), ("a wider scope", ("scope", "mcp:read mcp:call offline_access"))]
    {
        trial.one(&format!("a refresh token with {what}"), "POST /token", NO_TOKEN, || {
            let code = issuer.code(client)?;
            let token = issuer.redeem(client, &code)?.json()?["refresh_token"].as_str().unwrap_or_default().to_owned();
            let mut form = vec![("grant_type", "refresh_token"), ("refresh_token", token.as_str())];
            form.push(fields);
            if fields.0 != "client_id" {
                form.push(("client_id", client));
            }
            no_token(&issuer.token("/token", &form)?)
        });
    }
}

/// What a person sees, and that only their answer counts.
fn consent(trial: &mut Trial<'_>, issuer: &Issuer<'_>, client: &str) {
    let host = issuer.at.host();
    let page = |client: &str| {
        let request =
            issuer.authorize(&issuer.honest(client)).with("Accept", "text/html").with("Sec-Fetch-Mode", "navigate");
        issuer.at.answer(&request)
    };
    let key = |page: &Reply| {
        page.text().split("name=\"request\" value=\"").nth(1).and_then(|rest| rest.split('"').next().map(str::to_owned))
    };
    trial.one("the page in a frame", "consent", "forbidden by a header", || {
        let page = page(client)?;
        let forbidden = page.header("x-frame-options").is_some()
            || page.header("content-security-policy").is_some_and(|csp| csp.contains("frame-ancestors"));
        ensure!(forbidden, "allowed: {}", page.head);
        Ok(())
    });
    trial.one(
        "a browser sends the form",
        "consent",
        "its page lets it name its origin, or null from the same site is taken",
        || {
            let page = page(client)?;
            let hidden = page.header("referrer-policy").is_some_and(|policy| policy == "no-referrer");
            let origin = if hidden { "null".to_owned() } else { format!("http://{host}") };
            let form = Request::form(
                "/authorize",
                &host,
                &[("request", &key(&page).context("no form")?), ("answer", "allow")],
            );
            let reply = issuer.at.answer(
                &form.with("Origin", &origin).with("Sec-Fetch-Site", "same-origin").with("Sec-Fetch-Mode", "navigate"),
            )?;
            ensure!(sent_code(&reply).is_some(), "Origin {origin} got {}", reply.status);
            Ok(())
        },
    );
    let cases: [(&str, &str, &[(&str, &str)]); 7] = [
        ("another page sends the form", "http://evil.example", &[]),
        ("a sandboxed page sends the form", "null", &[("Sec-Fetch-Site", "cross-site")]),
        ("a sandboxed page without fetch metadata", "null", &[]),
        ("a file sends the form", "file://", &[("Sec-Fetch-Site", "cross-site")]),
        ("an extension sends the form", "chrome-extension://x", &[]),
        ("another scheme sends the form", "https://evil.example", &[]),
        ("another name sends the form", "http://localhost.evil.example", &[]),
    ];
    for (what, origin, headers) in cases {
        trial.one(what, "consent", NO_CODE, || {
            let key = key(&page(client)?).context("no form")?;
            let mut form =
                Request::form("/authorize", &host, &[("request", &key), ("answer", "allow")]).with("Origin", origin);
            for (name, value) in headers {
                form = form.with(name, value);
            }
            no_code(issuer, &form, true)
        });
    }
    for (what, fields) in [
        ("a guessed key", vec![("request", "A"), ("answer", "allow")]),
        ("no key", vec![("answer", "allow")]),
        ("nothing", vec![]),
    ] {
        trial.one(&format!("the form with {what}"), "consent", NO_CODE, || {
            no_code(issuer, &Request::form("/authorize", &host, &fields), true)
        });
    }
    trial.one("the form twice", "consent", "one code", || {
        let key = key(&page(client)?).context("no form")?;
        let form = Request::form("/authorize", &host, &[("request", &key), ("answer", "allow")]);
        issuer.at.answer(&form)?;
        no_code(issuer, &form, true)
    });
    names(trial, issuer, &page);
}

/// Names of clients that would show something else than they are.
fn names(trial: &mut Trial<'_>, issuer: &Issuer<'_>, page: &dyn Fn(&str) -> anyhow::Result<Reply>) {
    let host = issuer.at.host();
    for bad in [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "'onmouseover='x",
        "&lt;b&gt;<b>",
        "\u{202e}gnp.exe",
        "\u{2066}x\u{2069}",
        "\u{200b}zero\u{feff}",
        "\u{61c}x",
        "\u{9b}31m",
        "\u{1b}[31m",
        "</title><script>",
        "a\u{2028}b\u{2029}c",
    ] {
        trial.one(&format!("a client called {}", bad.escape_debug()), "consent", "shown escaped", || {
            let client = json!({ "client_name": bad, "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none" });
            let reply = issuer.at.answer(&Request::post("/register", &host, &client))?;
            let page = page(reply.json()?["client_id"].as_str().context("no client id")?)?.text().into_owned();
            ensure!(page.contains("Allow"), "no page: {page}");
            ensure!(!page.contains(bad), "shown as it is");
            let hidden = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{61c}' | '\u{feff}' | '\u{80}'..='\u{9f}' | '\u{1b}');
            ensure!(!page.contains(hidden), "a character without a shape is in the page");
            Ok(())
        });
    }
}

/// Addresses that a client id must not make the server visit.
fn visits(trial: &mut Trial<'_>, issuer: &Issuer<'_>) -> anyhow::Result<()> {
    let listener = TcpListener::bind("0.0.0.0:0")?;
    let port = listener.local_addr()?.port();
    let visitors = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&visitors);
    std::thread::spawn(move || listener.incoming().for_each(|_| _ = count.fetch_add(1, Ordering::SeqCst)));
    for scheme in ["http", "https"] {
        for name in [
            "127.0.0.1",
            "localhost",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "0.0.0.0",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[::]",
            "127.0.0.2",
            "localhost.",
            "LOCALHOST",
            "me@127.0.0.1",
        ] {
            let url = format!("{scheme}://{name}:{port}/client.json");
            trial.one(&format!("client_id={url}"), "GET /authorize", "the server does not connect to it", || {
                let before = visitors.load(Ordering::SeqCst);
                let mut query = issuer.honest(&url);
                set(&mut query, "client_id", &url);
                no_code(issuer, &issuer.authorize(&query), true)?;
                std::thread::sleep(Duration::from_millis(20));
                ensure!(visitors.load(Ordering::SeqCst) == before, "it connected");
                Ok(())
            });
        }
    }
    Ok(())
}

/// Registrations are free, so they must not push out clients that were configured.
fn evicted(trial: &mut Trial<'_>, issuer: &Issuer<'_>) {
    let count = 1500;
    trial.one(
        &format!("{count} registrations at each issuer"),
        "POST /register",
        "the configured client still gets a token",
        || {
            let client =
                json!({ "client_name": "flood", "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none" });
            for path in ["/register", "/tenant/register"] {
                let mut connection = super::socket::Connection::open(issuer.at.address)?;
                let request = Request::post(path, &issuer.at.host(), &client).bytes();
                for _ in 0..count {
                    connection.send(&request);
                    // A server may as well say that there are enough.
                    connection.answer()?;
                }
            }
            let reply = issuer.robot("Rob0t-Passw0rd")?;
            ensure!(reply.status == 200, "it got {}: {}", reply.status, reply.text());
            Ok(())
        },
    );
    trial.one("3,000 pages that nobody answers", "GET /authorize", "a later consent works", || {
        let client = issuer.register(&[REDIRECT])?;
        let request = issuer.authorize(&issuer.honest(&client)).with("Accept", "text/html").bytes();
        let mut connection = super::socket::Connection::open(issuer.at.address)?;
        for _ in 0..3000 {
            connection.send(&request);
            connection.answer()?;
        }
        issuer.code(&client).map(drop)
    });
}

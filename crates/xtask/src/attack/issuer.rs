//! The development issuer: codes, verifiers and redirects that do not belong together, consent that nobody gave, clients that
//! are not who they say, and addresses that the server must not visit.

mod consent;
mod requests;

use anyhow::{Context as _, ensure};
use serde_json::json;

use super::request::{Request, initialize, percent};
use super::socket::{Reply, head};
use super::target::Target;
use super::trial::Trial;
use crate::jwt::challenge;

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
    let mut attempts = requests::redirects(&issuer, &client);
    attempts.extend(requests::requests(&issuer, &client));
    attempts.extend(requests::exchanges(&issuer, &client));
    attempts.extend(requests::registrations(&issuer));
    trial.play(&attempts, 8);
    drop(attempts);
    spent(trial, &issuer, &client);
    consent::consent(trial, &issuer, &client);
    consent::visits(trial, &issuer)?;
    consent::evicted(trial, &issuer);
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

/// Registers a client of this name; the address at which a person is asked to consent to it.
pub(super) fn consent_page(at: &Target, name: &str) -> anyhow::Result<String> {
    let issuer = Issuer { at };
    let client = json!({ "client_name": name, "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none" });
    let reply = at.answer(&Request::post("/register", &at.host(), &client))?;
    let client = reply.json()?["client_id"].as_str().map(str::to_owned).context("no client id")?;
    Ok(format!("http://{}{}", at.address, issuer.authorize(&issuer.honest(&client)).path))
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

fn no_token(reply: &Reply) -> anyhow::Result<()> {
    ensure!(
        matches!(reply.status, 400 | 401) && !reply.text().contains("access_token"),
        "answered with {}: {}",
        reply.status,
        reply.text()
    );
    Ok(())
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

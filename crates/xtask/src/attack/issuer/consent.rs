//! What a person sees at the issuer, what only a person may do, and what strangers must not bring about.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::json;

use super::super::request::Request;
use super::super::socket::{Connection, Reply};
use super::super::trial::Trial;
use super::{Issuer, NO_CODE, REDIRECT, no_code, sent_code, set};

/// A page that sends the form: what it is, its origin, and what its browser adds.
type ForeignPage = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// What a person sees, and that only their answer counts.
pub(super) fn consent(trial: &mut Trial<'_>, issuer: &Issuer<'_>, client: &str) {
    let host = issuer.at.host();
    let page = |client: &str| {
        let request =
            issuer.authorize(&issuer.honest(client)).with("Accept", "text/html").with("Sec-Fetch-Mode", "navigate");
        issuer.at.answer(&request)
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
                &[("request", &form_key(&page).context("no form")?), ("answer", "allow")],
            );
            let reply = issuer.at.answer(
                &form.with("Origin", &origin).with("Sec-Fetch-Site", "same-origin").with("Sec-Fetch-Mode", "navigate"),
            )?;
            ensure!(sent_code(&reply).is_some(), "Origin {origin} got {}", reply.status);
            Ok(())
        },
    );
    foreign_pages(trial, issuer, &page, client);
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
        let key = form_key(&page(client)?).context("no form")?;
        let form = Request::form("/authorize", &host, &[("request", &key), ("answer", "allow")]);
        issuer.at.answer(&form)?;
        no_code(issuer, &form, true)
    });
    names(trial, issuer, &page);
}

/// What the form of a page sends along.
fn form_key(page: &Reply) -> Option<String> {
    page.text().split("name=\"request\" value=\"").nth(1).and_then(|rest| rest.split('"').next().map(str::to_owned))
}

/// Other pages send the form, which only the issuer's own may do.
fn foreign_pages(
    trial: &mut Trial<'_>,
    issuer: &Issuer<'_>,
    page: &dyn Fn(&str) -> anyhow::Result<Reply>,
    client: &str,
) {
    let host = issuer.at.host();
    let cases: [ForeignPage; 7] = [
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
            let key = form_key(&page(client)?).context("no form")?;
            let mut form =
                Request::form("/authorize", &host, &[("request", &key), ("answer", "allow")]).with("Origin", origin);
            for (name, value) in headers {
                form = form.with(name, value);
            }
            no_code(issuer, &form, true)
        });
    }
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
pub(super) fn visits(trial: &mut Trial<'_>, issuer: &Issuer<'_>) -> anyhow::Result<()> {
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
pub(super) fn evicted(trial: &mut Trial<'_>, issuer: &Issuer<'_>) {
    let count = 1500;
    trial.one(
        &format!("{count} registrations at each issuer"),
        "POST /register",
        "the configured client still gets a token",
        || {
            let client =
                json!({ "client_name": "flood", "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none" });
            for path in ["/register", "/tenant/register"] {
                let mut connection = Connection::open(issuer.at.address)?;
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
        let mut connection = Connection::open(issuer.at.address)?;
        for _ in 0..3000 {
            connection.send(&request);
            connection.answer()?;
        }
        issuer.code(&client).map(drop)
    });
}

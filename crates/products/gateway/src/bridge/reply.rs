//! Responses of the bridge: JSON, redirects and pages for people. Nothing of a page can become markup, no other page can show
//! it in a frame, and nobody keeps a response.

use std::fmt::Write as _;

use net::server::http::{GuardResponse, HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use url::{Host, Url};

use super::Question;
use super::paths::AUTHORIZE;
use crate::access::html;

fn with(status: StatusCode, headers: &[(&'static str, &str)], body: Vec<u8>) -> GuardResponse {
    let mut all = HeaderMap::new();
    for (name, value) in headers.iter().chain(&[("cache-control", "no-store"), ("x-content-type-options", "nosniff")]) {
        if let Ok(value) = HeaderValue::from_str(value) {
            all.insert(HeaderName::from_static(name), value);
        }
    }
    GuardResponse { status, headers: all, body }
}

/// JSON.
pub(super) fn json(status: StatusCode, value: &Value) -> GuardResponse {
    with(status, &[("content-type", "application/json")], value.to_string().into_bytes())
}

/// An OAuth error.
pub(super) fn error(status: StatusCode, error: &str, why: &str) -> GuardResponse {
    json(status, &json!({ "error": error, "error_description": why }))
}

/// Another method is needed.
pub(super) fn not_allowed(allowed: &str) -> GuardResponse {
    with(StatusCode::METHOD_NOT_ALLOWED, &[("allow", allowed)], Vec::new())
}

/// Sends a browser on.
pub(super) fn redirect(to: &str) -> GuardResponse {
    with(StatusCode::SEE_OTHER, &[("location", to), ("referrer-policy", "no-referrer")], Vec::new())
}

/// A page that says what is wrong. It leads nowhere: a request that is not known to be a client's must not.
pub(super) fn problem(status: StatusCode, what: &str) -> GuardResponse {
    page(status, "This request cannot be used", &format!("<p>{}</p>", html(what)))
}

/// Asks the user whether a client may act for them.
pub(super) fn question(question: &Question, sealed: &str) -> GuardResponse {
    let mut text =
        format!("<p>A program that calls itself <b>“{}”</b> asks for access in your name.</p>\n", html(&question.name));
    if let Ok(document) = Url::parse(&question.client) {
        let _ = writeln!(text, "<p>It is described by <b>{}</b>.</p>", html(&host(&document)));
    } else {
        text.push_str("<p>Anyone can choose any name: this one is not verified.</p>\n");
    }
    let _ = writeln!(text, "<ul>\n<li>Server: <b>{}</b></li>", html(&question.resource));
    let scopes = if question.scopes.is_empty() { "none".to_owned() } else { question.scopes.join(" ") };
    let _ = writeln!(text, "<li>Scopes: <b>{}</b></li>", html(&scopes));
    let _ = writeln!(text, "<li>The answer goes to: <b>{}</b></li>\n</ul>", html(&place(&question.redirect)));
    let _ = write!(
        text,
        "<p><b>Allow it only if you started this a moment ago.</b> You sign in next.</p>\n\
         <form method=\"post\" action=\"{AUTHORIZE}\"><input type=\"hidden\" name=\"request\" value=\"{}\">\n\
         <button name=\"answer\" value=\"allow\">Allow</button> <button name=\"answer\" value=\"deny\">Deny</button></form>",
        html(sealed)
    );
    page(StatusCode::OK, "Allow access?", &text)
}

fn page(status: StatusCode, title: &str, text: &str) -> GuardResponse {
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\n<h1>{title}</h1>\n{text}\n"
    );
    let headers = [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"),
        ("x-frame-options", "DENY"),
        // With `no-referrer`, browsers post the form with `Origin: null`, which is refused as a foreign page's.
        ("referrer-policy", "same-origin"),
    ];
    with(status, &headers, body.into_bytes())
}

/// Where a redirect address leads, for people.
fn place(redirect: &str) -> String {
    let Ok(url) = Url::parse(redirect) else { return redirect.to_owned() };
    if oauth::is_loopback(&url) {
        return format!("a program on this computer ({})", host(&url));
    }
    if matches!(url.scheme(), "https" | "http") {
        host(&url)
    } else {
        format!("the program for {}: links", url.scheme())
    }
}

fn host(url: &Url) -> String {
    match (url.host(), url.port()) {
        (Some(Host::Domain(name)), Some(port)) => format!("{name}:{port}"),
        (Some(host), None) => host.to_string(),
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (None, _) => String::new(),
    }
}

//! What a user reads on the pages of consents. Nothing of it can become markup, and no other page can show it in a frame.

use net::server::http::{GuardResponse, HeaderMap, HeaderValue, StatusCode};
use serde_json::Value;

use crate::consents::ConsentUser;

/// One page.
pub(super) enum Page<'p> {
    /// Whose requests a server will get, and a button.
    Question { user: &'p ConsentUser, upstream: &'p str, ticket: &'p str, token: &'p str },
    /// The browser goes on to an authorization server.
    Sent,
    /// It is done.
    Done { upstream: &'p str },
    /// There is no such question.
    Unknown,
    /// The browser is not the one that was sent, or it comes a second time.
    Foreign,
    /// The user who signed in is not the one who was asked.
    OtherUser,
    /// The authorization server did not agree, or does not answer.
    Failed,
}

/// The response with a page.
pub(super) fn page(status: StatusCode, page: &Page<'_>) -> GuardResponse {
    let (title, text) = match page {
        Page::Question { user, upstream, ticket, token } => ("Connect an account?", question(user, upstream, ticket, token)),
        Page::Sent => ("Going on", "<p>Your browser goes on to sign in.</p>".to_owned()),
        Page::Done { upstream } => (
            "Connected",
            format!("<p>The server <b>{}</b> is connected. You can close this page and go on in your program.</p>", html(upstream)),
        ),
        Page::Unknown => (
            "This link does not work",
            "<p>It was used before, or it is too old. Send your request again to get another link.</p>".to_owned(),
        ),
        Page::Foreign => (
            "Nothing was connected",
            "<p>This response was used before, or it belongs to another browser. Open the link of your program again.</p>".to_owned(),
        ),
        Page::OtherUser => (
            "Nothing was connected",
            "<p>You are signed in as another user than the one this link is for. If someone sent you this link, do not open it again.</p>".to_owned(),
        ),
        Page::Failed => (
            "Nothing was connected",
            "<p>The authorization server did not agree, or cannot be reached. Send your request again to try once more.</p>".to_owned(),
        ),
    };
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\n<h1>{title}</h1>\n{text}\n"
    );
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("cache-control", "no-store"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"),
        // With `no-referrer`, browsers post the form with `Origin: null`, which is refused as a foreign page's.
        ("referrer-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    GuardResponse { status, headers, body: body.into_bytes() }
}

fn question(user: &ConsentUser, upstream: &str, ticket: &str, token: &str) -> String {
    format!(
        "<p>This gateway asks to use the server <b>{}</b> in your name. You sign in there next.</p>\n\
         <p>Your account there will serve the requests of <b>{}</b>.</p>\n\
         <p><b>Go on only if that is you, and you asked for this a moment ago.</b> If somebody sent you this link, close the \
         page: they would use your account.</p>\n\
         <form method=\"post\" action=\"/consent\"><input type=\"hidden\" name=\"ticket\" value=\"{}\">\
         <input type=\"hidden\" name=\"token\" value=\"{}\"><button>That is me: go on</button></form>",
        html(upstream),
        html(&name_of(user)),
        html(ticket),
        html(token),
    )
}

/// The user in the name of a subject: the claim's value, and the issuer; and the tenant.
fn name_of(ConsentUser { principal, tenant }: &ConsentUser) -> String {
    let parts = serde_json::from_str::<Value>(principal).ok();
    let text = |at: usize| parts.as_ref()?.get(at)?.as_str().map(str::to_owned);
    let name = match (text(0), text(2)) {
        (Some(issuer), Some(name)) => format!("{name} ({issuer})"),
        _ => principal.to_owned(),
    };
    match tenant {
        Some(tenant) => format!("{name}, tenant {tenant}"),
        None => name,
    }
}

/// A text that cannot become markup, nor hide what stands next to it.
pub(crate) fn html(text: &str) -> String {
    let mut safe = String::new();
    for c in wire::escape::line(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

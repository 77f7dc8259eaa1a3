//! What a person is shown before anything is handed out: who asks, for what, and where the answer goes.

use net::server::http::GuardResponse;
use url::Url;

use super::Grant;
use crate::authorization::reply;

/// The page. `key` stands for the request that it is about.
pub(super) fn page(client: &str, redirect: &str, grant: &Grant, tenant: &str, key: &str) -> GuardResponse {
    let host = Url::parse(redirect).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let here = if matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]") {
        "<p>That is a program on this computer. Any program here could say that it is this one.</p>"
    } else {
        ""
    };
    reply::page(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Allow access?</title>\n\
         <h1>Allow access?</h1>\n\
         <p><b>For development only:</b> nobody is asked for a password here.</p>\n\
         <p>“{}” asks for <b>{}</b> at {}.</p>\n<p>The answer goes to <b>{}</b>.</p>\n{here}\n\
         <form method=\"post\" action=\"{tenant}/authorize\"><input type=\"hidden\" name=\"request\" value=\"{key}\">\n\
         <button name=\"answer\" value=\"allow\">Allow</button> <button name=\"answer\" value=\"deny\">Deny</button></form>\n",
        html(client),
        html(&grant.scopes.join(" ")),
        html(&grant.resource),
        html(&host),
    ))
}

/// A text that cannot become markup, nor turn around or hide what stands beside it.
fn html(text: &str) -> String {
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

//! The frame of a self-contained HTML page without scripts, for reports of tests and of scans. Must not know what is reported.

use report::render::html::policy::{asset, content_security_policy};

/// The style of such pages.
const STYLE: &str = include_str!("page.css");

/// A page: `verb` as a heading, whether it failed, `summary` and `body` as HTML.
pub(super) fn page(verb: &str, fails: bool, summary: &str, body: &str) -> String {
    let (class, verdict) = if fails { ("f", "Failed") } else { ("p", "Passed") };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{verdict} – {verb}</title>\n<style>{}</style>\n</head>\n<body>\n\
         <header><p>{verb}</p><h1 class=\"{class}\">{verdict}</h1>{summary}</header>\n<main>\n\
         {body}</main>\n<footer><p>Made by proof {}. This page loads nothing and sends nothing.</p></footer>\n</body>\n</html>\n",
        content_security_policy(STYLE, ""),
        asset(STYLE),
        env!("CARGO_PKG_VERSION")
    )
}

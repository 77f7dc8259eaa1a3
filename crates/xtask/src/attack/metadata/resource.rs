//! Metadata of a server that is for more than this server.

use anyhow::ensure;
use serde_json::json;

use super::super::Plan;
use super::super::hostile::http::{Seen, Sent, Web};
use super::super::program::Run;
use super::super::trial::Attempt;
use super::{MOST, Script, asked};

/// Metadata at the place of one path that is for more: a token for it would be good for the other paths of that origin, whose
/// own metadata does not say so.
pub(super) fn wider(plan: &Plan) -> Vec<Attempt<'_>> {
    let places: [(&str, Sent); 3] = [
        ("nothing there", Sent::response("404 Not Found", "", b"")),
        ("a text there", Sent::response("200 OK", "Content-Type: text/html\r\n", b"<html></html>")),
        (
            "another resource there",
            Sent::json(
                &json!({ "resource": "https://evil.invalid/", "authorization_servers": ["https://evil.invalid"] }),
            ),
        ),
    ];
    let verbs: [&[&str]; 3] = [&["client", "tools"], &["check", "--revision", "2025-11-25"], &["snapshot"]];
    let mut attempts = Vec::new();
    for (what, own) in places {
        for verb in verbs {
            let own = own.clone();
            attempts.push(Attempt::new(
                format!("metadata of one path that is for the whole origin, {what}"),
                verb[0],
                "no token is used there",
                move || {
                    let own = own.clone();
                    let web = Web::start(move |seen: &Seen, address| {
                        if seen.path().1 == "/.well-known/oauth-protected-resource" {
                            return own.clone();
                        }
                        let mut script = Script::honest(address);
                        script.resource["resource"] = format!("http://{address}").into();
                        script.answer(seen, address)
                    })?;
                    let url = web.url("/mcp");
                    let args = [verb, &["--oauth", "--timeout", "3", &url]].concat();
                    Run::new(plan, &args, 45).go(plan)?.sound(MOST)?;
                    let used = web.seen().iter().any(|seen| seen.header("authorization").is_some());
                    ensure!(!used, "a token was used");
                    ensure!(asked(&web), "no token was needed: nothing was tried");
                    Ok(())
                },
            ));
        }
    }
    attempts
}

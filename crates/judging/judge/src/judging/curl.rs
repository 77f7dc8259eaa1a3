//! A `curl` command for a request that one POST shows again. Must not know what was wrong with the answer.

use report::CommandRedactor;
use wire::trace::{Content, Frame, Headers};

/// The longest body that a command carries, in bytes.
const BODY: usize = 600;

/// Headers that `curl` sets itself, and that say nothing of MCP.
const LEFT_OUT: [&str; 7] =
    ["host", "content-length", "connection", "user-agent", "accept-encoding", "transfer-encoding", "traceparent"];

/// The command, where one request is enough: it names no session, and its body is short text. Where a secret has to be put in,
/// its placeholder stands.
pub fn curl(url: &str, head: &Frame, body: &Frame, redactor: &CommandRedactor) -> Option<String> {
    let Content::Request { method, headers, .. } = &head.content else { return None };
    let Content::Body { bytes, complete: true } = &body.content else { return None };
    let text = std::str::from_utf8(bytes).ok()?;
    let needs_session = wire::trace::header(headers, "mcp-session-id").is_some();
    if method != "POST" || needs_session || text.len() > BODY || !stands_alone(text) {
        return None;
    }
    let url = quoted(&redactor.text(url))?;
    let headers = words(&redactor.headers(headers))?;
    Some(format!("curl -i {url}{headers} -d {}", quoted(&redactor.message(text))?))
}

/// Whether a server understands a message without a handshake before it: the handshake itself, and what names its revision.
fn stands_alone(text: &str) -> bool {
    let Ok(message) = serde_json::from_str::<serde_json::Value>(text) else { return false };
    let names_revision = message.pointer("/params/_meta").and_then(|meta| meta.get(wire::meta::PROTOCOL_VERSION));
    names_revision.is_some() || message.get("method").is_some_and(|method| method == "initialize")
}

fn words(headers: &Headers) -> Option<String> {
    let shown = headers.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.to_ascii_lowercase().as_str()));
    shown.map(|(name, value)| Some(format!(" -H {}", quoted(&format!("{name}: {value}"))?))).collect()
}

/// A word for a shell; none where it has characters that a terminal would not show as they are.
fn quoted(word: &str) -> Option<String> {
    (wire::escape::line(word) == word).then(|| format!("'{}'", word.replace('\'', "'\\''")))
}

#[cfg(test)]
mod tests {
    use report::CommandRedactor;
    use wire::Party;
    use wire::redact::Redactor;
    use wire::trace::{Content, Frame};

    use super::curl;

    fn redactor() -> CommandRedactor {
        CommandRedactor::of(&Redactor::new([0; 32]))
    }

    fn head(headers: &[(&str, &str)]) -> Frame {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let content = Content::Request { method: "POST".to_owned(), target: "/mcp".to_owned(), headers };
        Frame::new(Party::Client, content)
    }

    fn body(text: &str) -> Frame {
        Frame::new(Party::Client, Content::Body { bytes: text.as_bytes().to_vec(), complete: true })
    }

    const GREETING: &str = r#"{"method":"initialize","params":{"x":"it's"}}"#;

    #[test]
    fn a_greeting_is_sent_again_with_its_headers() {
        let head = head(&[("Host", "x"), ("Accept", "application/json"), ("Authorization", "Bearer abc123def456")]);
        let command = curl("http://127.0.0.1:1/mcp", &head, &body(GREETING), &redactor()).expect("a command");
        assert_eq!(
            command,
            "curl -i 'http://127.0.0.1:1/mcp' -H 'Accept: application/json' -H 'Authorization: Bearer YOUR-SECRET-HERE' \
             -d '{\"method\":\"initialize\",\"params\":{\"x\":\"it'\\''s\"}}'"
        );
    }

    #[test]
    fn what_one_request_does_not_show_has_no_command() {
        let curl = |head: &Frame, body: &Frame| curl("http://127.0.0.1:1/mcp", head, body, &redactor());
        assert_eq!(curl(&head(&[("Mcp-Session-Id", "s")]), &body(GREETING)), None, "needs a session");
        assert_eq!(curl(&head(&[]), &body(r#"{"method":"tools/list"}"#)), None, "needs a handshake");
        assert_eq!(curl(&head(&[]), &body(&format!("{GREETING}{}", " ".repeat(1000)))), None, "too long");
        assert_eq!(curl(&head(&[]), &body("{\"method\":\"initialize\",\"a\":\"\u{202e}\"}")), None, "not harmless");
    }
}

//! A `curl` command for a request that one POST shows again. Must not know what was wrong with the answer.

use report::{CommandRedactor, SESSION_ID};
use wire::trace::{Content, Frame, Headers};

/// The longest body that a command carries, in bytes.
const BODY: usize = 600;

/// Headers that `curl` adds where they are not given.
const ADDED: [&str; 2] = ["accept", "content-type"];

/// Headers that `curl` sets itself, and that say nothing of MCP.
const LEFT_OUT: [&str; 6] =
    ["content-length", "connection", "user-agent", "accept-encoding", "transfer-encoding", "traceparent"];

/// The command, where the body is short text. Where a secret or the id of a session has to be put in, its placeholder stands.
pub fn curl(url: &str, head: &Frame, body: &Frame, redactor: &CommandRedactor) -> Option<String> {
    let Content::Request { method, headers, .. } = &head.content else { return None };
    let Content::Body { bytes, complete: true } = &body.content else { return None };
    let text = std::str::from_utf8(bytes).ok()?;
    // `curl` reads what begins with @ from a file.
    if method != "POST" || text.len() > BODY || text.starts_with('@') {
        return None;
    }
    let mut headers = redactor.headers(headers);
    for (_, id) in headers.iter_mut().filter(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id")) {
        SESSION_ID.clone_into(id);
    }
    let headers = words(&headers, authority(url))?;
    let url = quoted(&redactor.text(url))?;
    Some(format!("curl -i {url}{headers} -d {}", quoted(&redactor.message(text))?))
}

/// Host and port of a URL.
fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or(rest);
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// The headers that were sent; what `curl` adds by itself is taken out.
fn words(headers: &Headers, authority: &str) -> Option<String> {
    let is_usual =
        |name: &str, value: &str| LEFT_OUT.contains(&name) || name == "host" && value.eq_ignore_ascii_case(authority);
    let shown = headers.iter().filter(|(name, value)| !is_usual(&name.to_ascii_lowercase(), value));
    let sent = shown.map(|(name, value)| match value.as_str() {
        "" => format!("{name};"),
        value => format!("{name}: {value}"),
    });
    let added = ADDED.iter().filter(|name| wire::trace::header(headers, name).is_none()).map(|name| format!("{name}:"));
    sent.chain(added).map(|header| Some(format!(" -H {}", quoted(&header)?))).collect()
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
        let headers = [
            ("Host", "127.0.0.1:1"),
            ("Accept", "application/json"),
            ("Content-Type", "application/json"),
            ("Authorization", "Bearer abc123def456"),
        ];
        let head = head(&headers);
        let command = curl("http://127.0.0.1:1/mcp", &head, &body(GREETING), &redactor()).expect("a command");
        assert_eq!(
            command,
            "curl -i 'http://127.0.0.1:1/mcp' -H 'Accept: application/json' -H 'Content-Type: application/json' \
             -H 'Authorization: Bearer YOUR-SECRET-HERE' \
             -d '{\"method\":\"initialize\",\"params\":{\"x\":\"it'\\''s\"}}'"
        );
    }

    /// `curl` adds an Accept and a Content-Type, and the Host of the URL.
    #[test]
    fn the_headers_are_those_that_were_sent() {
        let head = head(&[("Host", "evil.example"), ("X-Empty", "")]);
        let command = curl("http://u:p@127.0.0.1:1/mcp", &head, &body("42"), &redactor()).expect("a command");
        assert!(
            command.ends_with(" -H 'Host: evil.example' -H 'X-Empty;' -H 'accept:' -H 'content-type:' -d '42'"),
            "{command}"
        );
    }

    #[test]
    fn what_one_request_does_not_show_has_no_command() {
        let curl = |head: &Frame, body: &Frame| curl("http://127.0.0.1:1/mcp", head, body, &redactor());
        let in_session = curl(&head(&[("Mcp-Session-Id", "s-1")]), &body(GREETING)).expect("a command");
        assert!(
            in_session.contains(" -H 'Mcp-Session-Id: SESSION-ID' ") && !in_session.contains("s-1"),
            "{in_session}"
        );
        assert_eq!(curl(&head(&[]), &body("@/etc/passwd")), None, "names a file");
        assert_eq!(curl(&head(&[]), &body(&format!("{GREETING}{}", " ".repeat(1000)))), None, "too long");
        assert_eq!(curl(&head(&[]), &body("{\"method\":\"initialize\",\"a\":\"\u{202e}\"}")), None, "not harmless");
    }
}

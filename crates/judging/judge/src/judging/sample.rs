//! Traces over HTTP for the tests of this crate.

use std::fmt::Write as _;

use wire::trace::{Trace, file};

/// The greeting of a client, and an answer to it without a session.
pub const GREETING: (&str, Option<&str>) = (
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    Some(
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}"#,
    ),
);

/// A server of 2025-11-25 to which each first part is posted; the second is its answer, and without one the connection is reset.
pub fn posted(case: &str, exchanges: &[(&str, Option<&str>)]) -> Trace {
    file::read(&text(case, exchanges)).expect("a trace")
}

/// The same server when it can no longer be reached.
pub fn posted_until_gone(case: &str, exchanges: &[(&str, Option<&str>)]) -> Trace {
    let failed = format!(r#"{{"at":{0},"from":"client","xch":{0},"closed":"failed"}}"#, exchanges.len() + 1);
    file::read(&(text(case, exchanges) + &failed + "\n")).expect("a trace")
}

fn text(case: &str, exchanges: &[(&str, Option<&str>)]) -> String {
    let mut text = format!(
        "{{\"trace\":\"proof.trace/1\",\"subject\":\"server\",\"transport\":\"http\",\"revision\":\"2025-11-25\",\"case\":\"{case}\"}}\n"
    );
    for (at, (request, answer)) in (1..).zip(exchanges) {
        let mut add = |from: &str, what: &str| {
            let _ = writeln!(text, "{{\"at\":{at},\"from\":\"{from}\",\"xch\":{at},{what}}}");
        };
        add("client", r#""request":{"method":"POST","target":"/mcp","headers":["content-type: application/json"]}"#);
        add("client", &format!("\"body\":{request}"));
        let Some(answer) = answer else {
            add("server", "\"closed\":\"reset\"");
            continue;
        };
        add("server", r#""response":{"status":200,"headers":["content-type: application/json"]}"#);
        add("server", &format!("\"body\":{answer}"));
        add("server", "\"closed\":\"end\"");
    }
    text
}

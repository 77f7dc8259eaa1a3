//! A server that demands other credentials is not authorized, and not away.

use std::io::Write as _;

use net::Children;
use net::client::{Address, HttpAddress};
use net::server::http::{self, Bearer};
use serde_json::json;
use tempfile::NamedTempFile;
use url::Url;

use super::*;

fn recording() -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    let params = json!({ "name": "echo", "arguments": { "message": "hi" } });
    let frames = [
        json!({ "trace": "proof.trace/1", "subject": "server", "transport": "stdio" }),
        json!({ "from": "client", "line": { "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params } }),
        json!({ "from": "server", "line": { "jsonrpc": "2.0", "id": 1, "result": { "content": [] } } }),
    ];
    for frame in frames {
        writeln!(file, "{frame}").expect("it can be written");
    }
    file
}

async fn classes(bearer: Option<&str>) -> Vec<Class> {
    let http = http::Options { bearer: bearer.and_then(Bearer::new), ..http::Options::default() };
    let options = reference::Options { http, ..reference::Options::default() };
    let server = reference::serve_http(([127, 0, 0, 1], 0).into(), options).await.expect("it listens");
    let url = Url::parse(&format!("http://{}/mcp", server.local_addr())).expect("an address");
    let calls = recorded_calls(recording().path(), &[]).expect("calls");
    let options = Options::new(Address::Http(HttpAddress::new(url)), &Children::new());
    verify(calls, options, &CallPolicy::default()).await.into_iter().map(|one| one.class).collect()
}

#[tokio::test]
async fn a_server_that_demands_a_token_did_not_answer() {
    assert_eq!(classes(None).await, [Class::Answered]);
    assert_eq!(classes(Some("opensesame")).await, [Class::NotAuthorized]);
}

//! Credentials for a live server are redacted in the recording, wherever they come back.

use std::sync::Arc;

use client::{Advice, Options};
use net::client::{Address, Authorizer, Authorizing, HttpAddress, Refusal};
use net::server::http::{self, Bearer};
use net::{Children, new_redactor};
use serde_json::json;
use tempfile::NamedTempFile;
use url::Url;
use wire::message::{Packet, parse};
use wire::redact::Secrets;
use wire::trace::Headers;

use super::{Live, LiveServer};
use crate::index::Index;

/// Has no form that redaction would recognise.
const TOKEN: &str = "opensesame";

/// An authorizer with a token that no option names.
#[derive(Debug)]
struct FixedToken;

impl Authorizer for FixedToken {
    fn headers(&self, _: &str, _: &Url) -> Headers {
        vec![("Authorization".to_owned(), format!("Bearer {TOKEN}"))]
    }

    fn refused<'a>(&'a self, _: &'a Refusal) -> Authorizing<'a> {
        Box::pin(async { Err("no other token".to_owned()) })
    }
}

#[tokio::test]
async fn a_token_from_the_authorizer_is_not_recorded() {
    let http = http::Options { bearer: Bearer::new(TOKEN), ..http::Options::default() };
    let options = reference::Options { http, ..reference::Options::default() };
    let server = reference::serve_http(([127, 0, 0, 1], 0).into(), options).await.expect("it listens");
    let url = Url::parse(&format!("http://{}/mcp", server.local_addr())).expect("an address");
    let options = Options {
        authorizer: Some(Arc::new(FixedToken)),
        ..Options::new(Address::Http(HttpAddress::new(url)), &Children::new())
    };
    let file = NamedTempFile::new().expect("a file");
    let header = json!({ "trace": "proof.trace/1", "subject": "server", "transport": "stdio" });
    std::fs::write(file.path(), format!("{header}\n")).expect("it can be written");
    let (index, _, truncated) = Index::read(&file.reopen().expect("it is there"), &[]).expect("a recording");
    let server =
        LiveServer { options, secrets: Secrets::default(), redactor: new_redactor(), words: Advice::to_string };
    let live = Live::new(server, (file.path(), &index, truncated), &[], |_| {}).expect("it can be added to");

    let params = json!({ "name": "echo", "arguments": { "message": format!("say {TOKEN}") } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let Ok(Packet::Message(call)) = parse(call.to_string().as_bytes()) else { panic!("{call}") };
    let result = live.ask(&call).await.expect("an answer");
    live.close().await;
    assert_eq!(result["content"][0]["text"], format!("say {TOKEN}"));
    let added = std::fs::read_to_string(file.path()).expect("it is there");
    assert!(added.contains("tools/call") && !added.contains(TOKEN), "{added}");
}

//! A server that tokens open, its own authorization server, and the client end that finds its way from one to the other.

mod extensions;
mod issuer;
mod principals;
mod resource;
mod way;

use std::sync::Arc;

use net::server::http::{self, OtherTransports};
use oauth::Secret;
use reference::Options;
use reference::authorization::{Binding, Development, Extension, TokenGuard, Tokens};
use serde_json::Value;

use crate::wire_http::{Client, Reply};

/// A client that is known beforehand.
const OURS: (&str, &str) = ("machine", "a s3cret:with=signs&more");

fn guarded(tokens: Tokens, other_transports: OtherTransports) -> Options {
    let usual = Options::default();
    let gate = TokenGuard::new(tokens, "/mcp", other_transports, Arc::clone(&usual.catalogue));
    let http = http::Options { guard: Some(Arc::new(gate)), other_transports, ..http::Options::default() };
    Options { http, ..usual }
}

/// A server with an authorization server for development, whose tokens last so many seconds.
async fn development(lasts: u64) -> Client {
    let client = Some((OURS.0.to_owned(), Secret::new(OURS.1)));
    let tokens = Tokens::Ours(Development { lasts, client, ..Development::default() });
    Client::serving(guarded(tokens, OtherTransports { sse: true, websocket: true })).await
}

/// The same, which also fetches clients' documents from this machine.
async fn local_development() -> Client {
    let tokens = Tokens::Ours(Development { local_documents: true, ..Development::default() });
    Client::serving(guarded(tokens, OtherTransports::default())).await
}

/// A server whose tokens only a client that knows an extension can get, and what such a client is handed.
async fn extended(extension: Extension) -> (Client, Value) {
    let usual = Options::default();
    let tokens = Tokens::Ours(Development { extension: Some(extension), ..Development::default() });
    let gate = Arc::new(TokenGuard::new(tokens, "/mcp", OtherTransports::default(), Arc::clone(&usual.catalogue)));
    let http = http::Options { guard: Some(gate.clone()), ..http::Options::default() };
    let server = Client::serving(Options { http, ..usual }).await;
    let handed = gate.hands_over(&server.host);
    (server, handed)
}

/// A server whose tokens are bound to a key.
async fn bound() -> Client {
    let client = Some((OURS.0.to_owned(), Secret::new(OURS.1)));
    let development = Development { client, binding: Binding::WithNonce, ..Development::default() };
    Client::serving(guarded(Tokens::Ours(development), OtherTransports::default())).await
}

impl Client {
    /// A request to any path, with a body of `kind`.
    async fn plain(&self, method: &str, path: &str, kind: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut all = vec![("Host", self.host.as_str()), ("Content-Type", kind)];
        all.extend(headers);
        self.bare(method, path, &all, body).await.whole().await
    }
}

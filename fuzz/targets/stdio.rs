//! The reference server over stdio: whatever lines come, in whatever chunks, every request is answered once, and nothing
//! but well-formed messages comes back.
#![no_main]

use std::sync::Arc;

use fuzz::answers::Ledger;
use fuzz::{Chunks, bounded, timeless};
use libfuzzer_sys::fuzz_target;
use net::server::stdio::{Limits, serve};
use reference::{Options, Server};
use tokio::io::{AsyncWriteExt as _, duplex};

/// Short, so that lines can be too long.
const LONGEST: usize = 1 << 11;

fuzz_target!(|input: &[u8]| {
    let Some((chunks, _, bytes)) = Chunks::split(input) else { return };
    let said = bounded(4096 * bytes.len() + (8 << 20), || timeless(converse(&chunks, bytes)));
    let mut ledger = Ledger::default();
    for line in bytes.split(|b| *b == b'\n').filter(|line| line.len() <= LONGEST) {
        ledger.sent(line);
    }
    let mut lines: Vec<&[u8]> = said.split(|b| *b == b'\n').collect();
    assert!(lines.pop().is_none_or(<[u8]>::is_empty), "the last line does not end");
    for line in lines {
        ledger.received(line);
    }
    ledger.settle();
});

/// Everything that the server says to `bytes`.
async fn converse(chunks: &Chunks, bytes: &[u8]) -> Vec<u8> {
    let (mut client, server) = duplex(1 << 16);
    let mut said = Vec::new();
    let limits = Limits { line: LONGEST, ..Limits::default() };
    let service = Arc::new(Server::new(Options::default()));
    let write = async move {
        for chunk in chunks.of(bytes) {
            client.write_all(chunk).await.expect("the server reads");
            tokio::task::yield_now().await;
        }
    };
    let (served, ()) = tokio::join!(serve(service, server, &mut said, limits), write);
    served.expect("the server ends well");
    said
}

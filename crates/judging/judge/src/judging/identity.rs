//! Who was judged: the name and version that a party gives itself.

use rules::View;
use serde_json::Value;
use wire::meta::{CLIENT_INFO, SERVER_INFO};
use wire::trace::Trace;
use wire::{Party, Revision};

/// The name and version that the judged party gives itself, where it does.
pub fn identity(trace: &Trace) -> (Option<String>, Option<String>) {
    let events = trace.events();
    let view = View::new(trace, &events, Revision::NEWEST);
    let client = trace.header.subject == Party::Client;
    let info = view.by_subject().find_map(|said| {
        let (told, plain, meta) = if client {
            (said.message.params()?, "clientInfo", CLIENT_INFO)
        } else {
            (said.message.result()?, "serverInfo", SERVER_INFO)
        };
        told.get(plain).or_else(|| told.get("_meta")?.get(meta)).cloned()
    });
    let text = |key: &str| info.as_ref()?.get(key).and_then(Value::as_str).map(str::to_owned);
    (text("name"), text("version"))
}

//! Translation: whatever text it is, a message for another revision is JSON where the original was, keeps what no revision
//! describes, and becomes itself where nothing has to change.
#![no_main]

use fuzz::bounded;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use wire::message::{Packet, parse};
use wire::translate::message::{Envelope, RequestEdits, Translated, notification, request, response};
use wire::translate::question::Question;
use wire::translate::table::with_losses;
use wire::{Era, Revision, json as text_of_json};

const METHODS: [&str; 10] = [
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
    "sampling/createMessage",
    "elicitation/create",
];

fuzz_target!(|input: &[u8]| {
    let Some(([pair, method], bytes)) = input.split_first_chunk() else { return };
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let of = |n: u8| Revision::ALL[usize::from(n) % Revision::ALL.len()];
    let (from, to) = (of(pair % 5), of(pair / 5));
    let method = METHODS[usize::from(*method) % METHODS.len()];
    bounded(4096 * bytes.len() + (256 << 10), || {
        responses(text, method, from, to);
        requests(text, from, to);
        checked(text, &notification(text, Some("7"), to).text);
        if let Ok(params) = serde_json::from_str::<Value>(text) {
            let question = Question::new(method, &params, from, to, "key");
            let _ = (question.noted(), question.answer(&params, from));
        }
    });
});

fn responses(text: &str, method: &str, from: Revision, to: Revision) {
    let server = json!({ "name": "s", "version": "1" });
    let Ok(Packet::Message(message)) = parse(text.as_bytes()) else { return };
    let Translated { text: changed, losses } = response(&message, method, from, to, &7.into(), &server);
    checked(text, &changed);
    checked(&changed, &with_losses(&changed, &losses));
    if from == to {
        assert!(losses.is_empty());
        // The id is the client's by now: nothing else may change.
        let Ok(Packet::Message(again)) = parse(changed.as_bytes()) else { panic!("no message any more: {changed}") };
        assert_eq!(response(&again, method, from, to, &7.into(), &server).text, changed);
    }
}

fn requests(text: &str, from: Revision, to: Revision) {
    let (client, capabilities) = (json!({ "name": "c", "version": "1" }), json!({}));
    let crosses = |one: Era, other: Era| from.era() == one && to.era() == other;
    let envelope = crosses(Era::Legacy, Era::Modern).then(|| Envelope {
        revision: to,
        client: &client,
        capabilities: &capabilities,
        log_level: Some("info"),
    });
    let to_legacy = crosses(Era::Modern, Era::Legacy);
    let edits = RequestEdits { progress_token: Some(9), envelope, to_legacy, ..RequestEdits::default() };
    checked(text, &request(text, &edits));
    assert_eq!(request(text, &RequestEdits::default()), text, "nothing was to change");
}

/// What was JSON still is, and names no member twice that was not there twice.
fn checked(before: &str, after: &str) {
    if text_of_json::outline(before).is_ok() {
        assert!(text_of_json::outline(after).is_ok(), "no JSON any more:\n{before}\n{after}");
        if text_of_json::duplicate_name(before).is_none() {
            assert!(text_of_json::duplicate_name(after).is_none(), "a member twice:\n{before}\n{after}");
        }
    } else {
        assert_eq!(before, after, "what is not JSON was edited");
    }
}

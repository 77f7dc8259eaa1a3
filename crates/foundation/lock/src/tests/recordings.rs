//! Surfaces out of traces.

use serde_json::{Value, json};
use wire::trace::{Content, Frame, Header, Party, Trace};
use wire::{Revision, Transport};

use crate::recorded::{Recorded, Unrecorded, recorded};
use crate::{Class, Kind};

fn trace(lines: &[(Party, Value)]) -> Result<Recorded, Unrecorded> {
    let revision: Revision = "2025-11-25".parse().expect("a revision");
    let mut trace = Trace::new(Header::server(Transport::Stdio, revision, "test"));
    for (from, value) in lines {
        let content = Content::Line { bytes: value.to_string().into_bytes(), terminated: true };
        trace.frames.push(Frame::new(*from, content));
    }
    recorded(&trace)
}

fn asked(id: i64, method: &str, params: Value) -> (Party, Value) {
    (Party::Client, json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

fn answered(id: i64, result: Value) -> (Party, Value) {
    (Party::Server, json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn greeting() -> [(Party, Value); 2] {
    let result =
        json!({ "protocolVersion": "2025-06-18", "serverInfo": { "name": "s", "version": "1" }, "capabilities": {} });
    [asked(0, "initialize", json!({})), answered(0, result)]
}

#[test]
fn pages_become_one_surface() {
    let lines = [
        &greeting()[..],
        &[
            asked(1, "tools/list", json!({})),
            answered(1, json!({ "tools": [{ "name": "b" }], "nextCursor": "x" })),
            asked(2, "tools/list", json!({ "cursor": "x" })),
            answered(2, json!({ "tools": [{ "name": "a" }] })),
        ],
    ]
    .concat();
    let Recorded { surface, unstable } = trace(&lines).expect("a surface");
    assert_eq!((surface.name(), surface.revision.as_deref(), unstable.len()), (Some("s"), Some("2025-06-18"), 0));
    let names: Vec<_> = surface.items(Kind::Tool).iter().map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, [Some("a"), Some("b")]);
    assert!(surface.is_listed(Kind::Tool) && !surface.is_listed(Kind::Prompt));
    // Without its last page, the list is not known.
    assert_eq!(trace(&lines[..4]).expect_err("half a list"), Unrecorded::Incomplete(Kind::Tool));
}

#[test]
fn a_second_listing_that_differs_is_reported() {
    let listing = |id, text: &str| {
        [asked(id, "tools/list", json!({})), answered(id, json!({ "tools": [{ "name": "a", "description": text }] }))]
    };
    let same = [&greeting()[..], &listing(1, "A")[..], &listing(2, "A")[..]].concat();
    assert_eq!(trace(&same).expect("a surface").unstable, []);
    let other = [&greeting()[..], &listing(1, "A")[..], &listing(2, "B")[..]].concat();
    let changes = trace(&other).expect("a surface").unstable;
    assert_eq!(changes.iter().map(|change| change.class).collect::<Vec<_>>(), [Class::Unstable]);
}

#[test]
fn nothing_read_is_not_a_lock() {
    assert_eq!(trace(&[]).expect_err("nothing"), Unrecorded::Nothing);
    assert_eq!(trace(&greeting()).expect_err("nothing"), Unrecorded::Nothing);
    // Requests without answers, and errors, are no lists.
    let lines = [&greeting()[..], &[asked(1, "tools/list", json!({}))]].concat();
    assert_eq!(trace(&lines).expect_err("nothing"), Unrecorded::Nothing);
}

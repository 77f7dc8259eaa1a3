//! What the index makes of a recording: what belongs together, whatever crossed in between, and what is left out.

use std::io::Write as _;

use serde_json::{Value, json};
use tempfile::NamedTempFile;
use wire::message::{Packet, parse};

use super::index::{Entry, Index};
use super::key::Asked;

/// A recording as it is read, and the file in which it stands.
struct Read {
    index: Index,
    file: NamedTempFile,
}

/// Reads frames.
fn read(frames: &[Value]) -> Read {
    let mut file = NamedTempFile::new().expect("a file");
    let header = json!({ "trace": "proof.trace/1", "subject": "server", "transport": "stdio" });
    for line in std::iter::once(&header).chain(frames) {
        writeln!(file, "{line}").expect("it can be written");
    }
    let (index, _, torn) = Index::of(&file.reopen().expect("it is there"), &[]).expect("a recording");
    assert_eq!(torn, None);
    Read { index, file }
}

impl Read {
    fn entries(&self, params: &Value) -> &[Entry] {
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": params });
        let Ok(Packet::Message(message)) = parse(request.to_string().as_bytes()) else { panic!("{request}") };
        self.index.entries(&Asked::of(&message, &[]).key())
    }

    /// What each call of this tool was answered.
    fn answers(&self, tool: &str) -> Vec<Value> {
        let file = self.file.reopen().expect("it is there");
        let answer =
            |entry: &Entry| entry.answer.expect("an answer").load(&file).expect("a message").value()["result"].clone();
        self.entries(&json!({ "name": tool })).iter().map(answer).collect()
    }

    /// What came before the first answer.
    fn before(&self, tool: &str) -> Vec<Value> {
        let file = self.file.reopen().expect("it is there");
        let entries = self.entries(&json!({ "name": tool }));
        entries[0].before.iter().map(|place| place.load(&file).expect("a message").value()["params"].clone()).collect()
    }
}

fn line(from: &str, message: Value) -> Value {
    json!({ "from": from, "line": message })
}

fn call(id: u32, tool: &str) -> Value {
    let meta = json!({ "progressToken": tool });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "_meta": meta } })
}

fn result(id: u32, said: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": said })
}

fn progress(token: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": token, "progress": 1 } })
}

#[test]
fn answers_find_their_requests_whatever_crosses() {
    let read = read(&[
        line("client", call(1, "a")),
        line("client", call(2, "b")),
        line("server", progress("a")),
        line("server", result(2, "of b")),
        line("server", result(9, "of nobody")),
        line("server", result(1, "of a")),
        line("client", call(1, "a")),
        line("server", result(1, "of a again")),
    ]);
    assert_eq!(read.answers("a"), ["of a", "of a again"]);
    assert_eq!(read.answers("b"), ["of b"]);
    assert_eq!(read.before("a")[0]["progressToken"], "a");
    assert!(read.before("b").is_empty());
}

#[test]
fn one_id_twice_is_told_apart_by_the_stream() {
    let body = |exchange: u32, from: &str, message: Value| json!({ "from": from, "xch": exchange, "body": message });
    let read = read(&[
        body(1, "client", call(1, "a")),
        body(2, "client", call(1, "b")),
        body(2, "server", result(1, "of b")),
        body(1, "server", result(1, "of a")),
    ]);
    assert_eq!((read.answers("a"), read.answers("b")), (vec![json!("of a")], vec![json!("of b")]));
}

#[test]
fn batches_are_read_part_by_part() {
    let read = read(&[
        line("client", json!([call(1, "a"), call(2, "b")])),
        line("server", json!([result(2, "of b"), result(1, "of a")])),
    ]);
    assert_eq!((read.answers("a"), read.answers("b")), (vec![json!("of a")], vec![json!("of b")]));
}

#[test]
fn what_was_cancelled_or_cut_off_has_no_answer() {
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    let read = read(&[
        line("client", call(1, "a")),
        line("client", cancel),
        line("client", call(1, "b")),
        line("server", result(1, "of b")),
        line("client", call(3, "c")),
        json!({ "from": "server", "closed": "end" }),
        line("server", result(3, "from beyond")),
    ]);
    assert_eq!(read.answers("b"), ["of b"]);
    assert!(read.entries(&json!({ "name": "a" })).is_empty());
    assert!(read.entries(&json!({ "name": "c" })).is_empty());
}

#[test]
fn rounds_of_one_call_are_one_exchange() {
    let asks = |id: u32, state: &str| {
        let result = json!({ "resultType": "input_required", "requestState": state, "inputRequests": {} });
        json!({ "jsonrpc": "2.0", "id": id, "result": result })
    };
    let back = |id: u32, state: &str| {
        let mut call = call(id, "a");
        call["params"]["requestState"] = json!(state);
        call
    };
    let read = read(&[
        line("client", call(1, "a")),
        line("server", asks(1, "one")),
        line("client", call(2, "a")),
        line("server", asks(2, "two")),
        line("client", back(3, "one")),
        line("server", result(3, "of one")),
        line("client", back(4, "two")),
        line("server", asks(4, "three")),
    ]);
    let entries = read.entries(&json!({ "name": "a" }));
    let shape: Vec<_> = entries.iter().map(|entry| (entry.before.len(), entry.answer.is_some())).collect();
    assert_eq!(shape, [(1, true), (2, false)]);
}

#[test]
fn what_is_never_answered_does_not_add_up() {
    let flood: Vec<Value> = (0..20_000).map(|id| line("client", call(id, "a"))).collect();
    let read = read(&[&flood[..], &[line("client", call(1, "b")), line("server", result(1, "of b"))]].concat());
    assert_eq!(read.answers("b"), ["of b"]);
}

//! The index of a recording: which answers and messages belong to which request, and what is dropped.

use std::io::Write as _;

use serde_json::{Value, json};
use tempfile::NamedTempFile;
use wire::message::{Packet, parse};

use super::index::{Entries, Entry, Index};
use super::request_key::KeyedRequest;

/// An indexed recording and its file.
struct Indexed {
    index: Index,
    file: NamedTempFile,
}

/// Writes the frames to a file and indexes it.
fn read(frames: &[Value]) -> Indexed {
    let mut file = NamedTempFile::new().expect("a file");
    let header = json!({ "trace": "proof.trace/1", "subject": "server", "transport": "stdio" });
    for line in std::iter::once(&header).chain(frames) {
        writeln!(file, "{line}").expect("it can be written");
    }
    let (index, _, truncated) = Index::read(&file.reopen().expect("it is there"), &[]).expect("a recording");
    assert_eq!(truncated, None);
    Indexed { index, file }
}

impl Indexed {
    fn entries(&self, params: &Value) -> Vec<Entry> {
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": params });
        let Ok(Packet::Message(message)) = parse(request.to_string().as_bytes()) else { panic!("{request}") };
        let entries = self.index.entries(&KeyedRequest::of(&message, &[]).key()).expect("a list");
        entries.iter().collect::<Result<_, _>>().expect("entries")
    }

    /// The results of the calls of this tool.
    fn answers(&self, tool: &str) -> Vec<Value> {
        let file = self.file.reopen().expect("it is there");
        let answer =
            |entry: &Entry| entry.answer.expect("an answer").load(&file).expect("a message").value()["result"].clone();
        self.entries(&json!({ "name": tool })).iter().map(answer).collect()
    }

    /// The parameters of the messages before the first answer.
    fn preceding(&self, tool: &str) -> Vec<Value> {
        let file = self.file.reopen().expect("it is there");
        let entries = self.entries(&json!({ "name": tool }));
        let location = |number| self.index.preceding(entries[0], number).expect("it can be read").expect("a location");
        let message = |number| location(number).load(&file).expect("a message").value()["params"].clone();
        (0..entries[0].preceding_len()).map(message).collect()
    }
}

fn line(from: &str, message: Value) -> Value {
    json!({ "from": from, "line": message })
}

fn call(id: u32, tool: &str) -> Value {
    let meta = json!({ "progressToken": tool });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "_meta": meta } })
}

fn result(id: u32, text: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": text })
}

fn progress(token: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": token, "progress": 1 } })
}

#[test]
fn answers_match_requests_in_any_order() {
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
    assert_eq!(read.preceding("a")[0]["progressToken"], "a");
    assert!(read.preceding("b").is_empty());
}

#[test]
fn the_exchange_separates_requests_with_one_id() {
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
fn each_message_of_a_batch_is_indexed() {
    let read = read(&[
        line("client", json!([call(1, "a"), call(2, "b")])),
        line("server", json!([result(2, "of b"), result(1, "of a")])),
    ]);
    assert_eq!((read.answers("a"), read.answers("b")), (vec![json!("of a")], vec![json!("of b")]));
}

#[test]
fn a_cancelled_or_interrupted_request_has_no_answer() {
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
fn rounds_of_one_call_form_one_exchange() {
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
    let shape: Vec<_> = entries.iter().map(|entry| (entry.preceding_len(), entry.answer.is_some())).collect();
    assert_eq!(shape, [(1, true), (2, false)]);
}

#[test]
fn pending_requests_on_many_connections_are_limited() {
    let on =
        |connection: usize, from: &str, message: Value| json!({ "from": from, "conn": connection, "line": message });
    let mut flood: Vec<Value> = (1..70_000).map(|connection| on(connection, "client", call(1, "a"))).collect();
    flood.push(on(1, "server", result(1, "of one long forgotten")));
    flood.push(on(69_999, "server", result(1, "of the last")));
    assert_eq!(read(&flood).answers("a"), ["of the last"]);
}

#[test]
fn abandoned_questions_end_their_exchange() {
    let asks = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "result": { "resultType": "input_required", "requestState": id } });
    let mut frames = Vec::new();
    for id in 0..5000 {
        frames.extend([line("client", call(id, "a")), line("server", asks(id))]);
    }
    let mut late = call(5000, "a");
    late["params"]["requestState"] = json!(0);
    frames.extend([line("client", late), line("server", result(5000, "of the newest question"))]);
    let entries = read(&frames).entries(&json!({ "name": "a" }));
    assert_eq!(entries.len(), 5000);
    assert_eq!(entries.iter().filter(|entry| entry.answer.is_some()).count(), 1);
}

#[test]
fn requests_are_listed_by_method_and_by_name() {
    let mut frames = Vec::new();
    for (id, tool) in [(1, "a"), (2, "b"), (3, "a")] {
        let mut call = call(id, tool);
        call["params"]["arguments"] = json!({ "id": id });
        // A repeated request is listed once.
        for _ in 0..2 {
            frames.extend([line("client", call.clone()), line("server", result(id, ""))]);
        }
    }
    let read = read(&frames);
    let known = |entries: Entries<'_>| entries.iter().map(|entry| entry.expect("an entry").request).collect::<Vec<_>>();
    let named = |name: &str| KeyedRequest {
        method: "tools/call".to_owned(),
        name: Some(name.to_owned()),
        arguments: json!(null),
    };
    let (all, a) = (read.index.method("tools/call"), read.index.family(&named("a").family()));
    let (all, a) = (known(all.expect("a list")), known(a.expect("a list")));
    assert_eq!((all.len(), a.len()), (2, 2));
    assert_eq!(all[0], a[0]);
}

#[test]
fn unanswered_requests_are_limited() {
    let flood: Vec<Value> = (0..20_000).map(|id| line("client", call(id, "a"))).collect();
    let read = read(&[&flood[..], &[line("client", call(1, "b")), line("server", result(1, "of b"))]].concat());
    assert_eq!(read.answers("b"), ["of b"]);
}

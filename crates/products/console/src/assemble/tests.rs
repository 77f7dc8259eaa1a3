//! Rows of exchanges: what is folded into one, what its status is, and what frames of odd servers come to.

use wire::trace::{Closed, Content, Frame, Mark};
use wire::{Party, RequestId, Revision};

use super::Assembler;
use crate::rows::{Direction, Row, RowKind, Status, Table};

/// Frames on their way into rows.
struct Play {
    table: Table,
    assembler: Assembler,
    at: u64,
}

impl Play {
    fn new() -> Self {
        Self { table: Table::new(1000), assembler: Assembler::new(1, 1, 1000), at: 0 }
    }

    fn frame(&mut self, from: Party, exchange: u32, content: Content) -> Option<u64> {
        self.at += 10;
        let frame = Frame { at: self.at, done: self.at, exchange, ..Frame::new(from, content) };
        self.assembler.take(&mut self.table, &frame, false)
    }

    fn line(&mut self, from: Party, text: &str) -> Option<u64> {
        self.frame(from, 0, Content::Line { bytes: text.as_bytes().to_vec(), terminated: true })
    }

    fn row(&self, n: u64) -> &Row {
        self.table.get(n).expect("a row")
    }

    fn head(&mut self, exchange: u32, method: &str) -> Option<u64> {
        let content = Content::Request { method: method.to_owned(), target: "/mcp".to_owned(), headers: Vec::new() };
        self.frame(Client, exchange, content)
    }

    fn status(&mut self, exchange: u32, status: u16) -> Option<u64> {
        self.frame(Server, exchange, Content::Response { status, headers: Vec::new() })
    }

    fn body(&mut self, from: Party, exchange: u32, text: &str) -> Option<u64> {
        self.frame(from, exchange, Content::Body { bytes: text.as_bytes().to_vec(), complete: true })
    }

    fn sse(&mut self, exchange: u32, data: &str) -> Option<u64> {
        self.frame(Server, exchange, Content::Sse(format!("data: {data}\n\n").into_bytes()))
    }
}

const CALL: &str =
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","_meta":{"progressToken":"t"}}}"#;
const RESULT: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#;

use Party::{Client, Server};

#[test]
fn a_request_its_progress_and_its_answer_are_one_row() {
    let mut play = Play::new();
    let n = play.line(Client, CALL);
    assert_eq!(n, Some(1));
    let row = play.row(1);
    assert_eq!((row.kind, row.direction, row.status, row.took), (RowKind::Call, Direction::Out, Status::Pending, None));
    assert_eq!((&*row.method, &*row.name, &*row.id, row.at), ("tools/call", "add", "7", 1010));
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}"#;
    assert_eq!(play.line(Server, progress), Some(1));
    assert_eq!(play.line(Server, RESULT), Some(1));
    let row = play.row(1);
    assert_eq!((row.status, row.took, row.parts.count()), (Status::Ok, Some(20), 3));
    assert_eq!(row.size as usize, CALL.len() + progress.len() + RESULT.len());
    assert_eq!(play.table.len(), 1);
}

#[test]
fn the_answer_decides_the_status() {
    for (answer, status) in [
        (RESULT, Status::Ok),
        (r#"{"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}}"#, Status::Error),
        (r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}"#, Status::Error),
    ] {
        let mut play = Play::new();
        play.line(Client, CALL);
        play.line(Server, answer);
        assert_eq!(play.row(1).status, status, "{answer}");
    }
}

#[test]
fn an_answer_that_nobody_waits_for_is_late() {
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    let mut play = Play::new();
    play.line(Client, CALL);
    assert_eq!(play.line(Client, cancel), Some(1));
    assert_eq!(play.row(1).status, Status::Cancelled);
    play.line(Server, RESULT);
    assert_eq!(play.row(1).status, Status::Late);
    // Another one answers nothing.
    let stray = play.line(Server, RESULT).expect("a row");
    assert_eq!((play.row(stray).kind, play.row(stray).status), (RowKind::Bytes, Status::Error));
}

#[test]
fn what_gets_no_answer_hangs() {
    let mut play = Play::new();
    play.line(Client, CALL);
    play.assembler.hang(&mut play.table, 1010);
    assert_eq!(play.row(1).status, Status::Pending);
    play.assembler.hang(&mut play.table, 1011);
    assert_eq!(play.row(1).status, Status::Hung);
    let mut play = Play::new();
    play.line(Client, CALL);
    let mark = Mark::Unanswered { id: RequestId::from(7), after_ms: 5 };
    assert_eq!(play.frame(Client, 0, Content::Mark(mark)), Some(1));
    assert_eq!(play.row(1).status, Status::Hung);
    let mut play = Play::new();
    play.line(Client, CALL);
    let end = play.frame(Server, 0, Content::Exit { code: Some(3), signal: None }).expect("a row");
    assert_eq!(
        (play.row(1).status, play.row(end).status, &*play.row(end).name),
        (Status::Hung, Status::Error, "exit 3")
    );
}

#[test]
fn an_answer_that_took_long_is_what_it_says() {
    for (answer, status) in
        [(RESULT, Status::Ok), (r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}"#, Status::Error)]
    {
        let mut play = Play::new();
        play.line(Client, CALL);
        play.assembler.hang(&mut play.table, u64::MAX);
        assert_eq!(play.row(1).status, Status::Hung);
        play.line(Server, answer);
        assert_eq!((play.row(1).status, play.row(1).took), (status, Some(10)));
    }
    // Where its client said that it waits no longer, the answer is late.
    let mut play = Play::new();
    play.line(Client, CALL);
    play.frame(Client, 0, Content::Mark(Mark::Unanswered { id: RequestId::from(7), after_ms: 5 }));
    play.line(Server, RESULT);
    assert_eq!(play.row(1).status, Status::Late);
    // A connection that breaks is an error, however long it took.
    let mut play = Play::new();
    play.head(1, "POST");
    play.body(Client, 1, CALL);
    play.assembler.hang(&mut play.table, u64::MAX);
    play.frame(Server, 1, Content::Closed(Closed::Reset));
    assert_eq!(play.row(1).status, Status::Error);
}

#[test]
fn what_takes_its_time_does_not_hang() {
    let listen = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}"#;
    let ask = r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}"#;
    let mut play = Play::new();
    let subscription = play.line(Client, listen).expect("a row");
    let call = play.line(Client, CALL).expect("a row");
    let question = play.line(Server, ask).expect("a row");
    let status = |play: &Play| [subscription, call, question].map(|n| play.row(n).status);
    play.assembler.hang(&mut play.table, u64::MAX);
    assert_eq!(status(&play), [Status::Pending; 3]);
    // From the person's answer on, the server must answer in time.
    play.at = 90_000;
    play.line(Client, r#"{"jsonrpc":"2.0","id":"q","result":{"action":"decline"}}"#);
    play.assembler.hang(&mut play.table, 91_010);
    assert_eq!(status(&play), [Status::Pending, Status::Pending, Status::Ok]);
    play.assembler.hang(&mut play.table, 91_011);
    assert_eq!(status(&play), [Status::Pending, Status::Hung, Status::Ok]);
    play.assembler.end(&mut play.table);
    assert_eq!(status(&play), [Status::Ok, Status::Hung, Status::Ok]);
}

#[test]
fn progress_is_a_sign_of_life() {
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}"#;
    let mut play = Play::new();
    play.line(Client, CALL);
    play.at = 90_000;
    play.line(Server, progress);
    play.assembler.hang(&mut play.table, 91_010);
    assert_eq!(play.row(1).status, Status::Pending);
    play.assembler.hang(&mut play.table, 91_011);
    assert_eq!(play.row(1).status, Status::Hung);
}

#[test]
fn long_ids_and_tokens_are_paired_and_not_kept() {
    let mut play = Play::new();
    let long = "x".repeat(10_000);
    for n in 0..100 {
        let meta = format!(r#"{{"name":"a","_meta":{{"progressToken":"{long}t{n}"}}}}"#);
        play.line(Client, &format!(r#"{{"jsonrpc":"2.0","id":"{long}{n}","method":"tools/call","params":{meta}}}"#));
    }
    assert!(play.assembler.requests.bytes() < 100 * 3 * 256, "{}", play.assembler.requests.bytes());
    let token = format!(r#"{{"progressToken":"{long}t41","progress":1}}"#);
    let progress = format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{token}}}"#);
    assert_eq!(play.line(Server, &progress), Some(42));
    assert_eq!(play.line(Server, &format!(r#"{{"jsonrpc":"2.0","id":"{long}41","result":{{}}}}"#)), Some(42));
    assert_eq!((play.row(42).status, play.row(41).status), (Status::Ok, Status::Pending));
}

#[test]
fn times_beyond_the_last_one_are_the_last_one() {
    let mut play = Play::new();
    let content = Content::Line { bytes: CALL.as_bytes().to_vec(), terminated: true };
    let frame = Frame { at: u64::MAX, done: u64::MAX, ..Frame::new(Client, content) };
    play.assembler.take(&mut play.table, &frame, false);
    let content = Content::Line { bytes: RESULT.as_bytes().to_vec(), terminated: true };
    let frame = Frame { at: u64::MAX - 1, done: u64::MAX, ..Frame::new(Server, content) };
    play.assembler.take(&mut play.table, &frame, false);
    assert_eq!((play.row(1).at, play.row(1).took), (u64::MAX, Some(0)));
}

#[test]
fn ids_of_both_directions_and_of_connections_are_apart() {
    let mut play = Play::new();
    play.line(Client, CALL);
    let asked = play.line(Server, r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#).expect("a row");
    assert_eq!(play.row(asked).direction, Direction::In);
    let answered = play.line(Client, r#"{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}"#);
    assert_eq!((answered, play.row(1).status), (Some(asked), Status::Pending));
    let frame = Frame {
        connection: 2,
        ..Frame::new(Server, Content::Line { bytes: RESULT.as_bytes().to_vec(), terminated: true })
    };
    play.assembler.take(&mut play.table, &frame, false);
    assert_eq!(play.row(1).status, Status::Pending);
}

#[test]
fn the_http_around_a_message_is_in_its_row() {
    let mut play = Play::new();
    assert_eq!(play.head(1, "POST"), None);
    assert_eq!(play.body(Client, 1, CALL), Some(1));
    assert_eq!(play.status(1, 200), Some(1));
    let asked = play.sse(1, r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}"#).expect("a row");
    assert_eq!((asked, play.row(asked).parent), (2, 1));
    assert_eq!(play.sse(1, RESULT), Some(1));
    assert_eq!(play.frame(Server, 1, Content::Closed(Closed::End)), Some(1));
    let row = play.row(1);
    assert_eq!((row.status, row.parts.iter().collect::<Vec<_>>()), (Status::Ok, vec![0, 1, 2, 4, 5]));
    // The answer to the question has an exchange whose head joins the question's row.
    play.head(2, "POST");
    assert_eq!(play.body(Client, 2, r#"{"jsonrpc":"2.0","id":"q","result":{"action":"decline"}}"#), Some(2));
    assert_eq!(play.status(2, 202), Some(2));
    assert_eq!((play.row(2).status, play.row(2).parts.count(), play.table.len()), (Status::Ok, 4, 2));
}

#[test]
fn a_refusal_by_http_is_an_error() {
    let mut play = Play::new();
    play.head(1, "POST");
    play.body(Client, 1, CALL);
    play.status(1, 404);
    assert_eq!((play.row(1).status, play.row(1).took), (Status::Error, Some(10)));
}

#[test]
fn an_exchange_without_a_message_is_a_row_of_its_own() {
    let mut play = Play::new();
    let stream = play.head(1, "GET").expect("a row");
    assert_eq!((play.row(stream).kind, play.row(stream).status), (RowKind::Http, Status::Pending));
    play.status(1, 405);
    assert_eq!((play.row(stream).status, &*play.row(stream).name), (Status::Error, "/mcp"));
    play.head(2, "POST");
    let token = play.body(Client, 2, "grant_type=x").expect("a row");
    play.status(2, 200);
    play.body(Server, 2, r#"{"access_token":"x"}"#);
    play.frame(Server, 2, Content::Closed(Closed::End));
    let row = play.row(token);
    assert_eq!((row.kind, row.status, row.parts.count(), &*row.method), (RowKind::Http, Status::Ok, 5, "POST"));
    // A connection that was refused has no head at all.
    let failed = play.frame(Client, 3, Content::Closed(Closed::Failed)).expect("a row");
    assert_eq!((play.row(failed).kind, play.row(failed).status), (RowKind::End, Status::Error));
    assert_eq!(play.table.len(), 3);
}

#[test]
fn bytes_lines_and_batches_have_rows() {
    let mut play = Play::new();
    let bad = play.line(Server, "Listening on stdio").expect("a row");
    assert_eq!((play.row(bad).kind, play.row(bad).status), (RowKind::Bytes, Status::Error));
    let stderr = play.frame(Server, 0, Content::Stderr(b"warning: \xff".to_vec())).expect("a row");
    assert_eq!((play.row(stderr).kind, &*play.row(stderr).name), (RowKind::Stderr, "warning: \u{fffd}"));
    let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"db","data":1}}"#;
    play.line(Server, &format!("[{note},{note}]"));
    assert_eq!((play.table.len(), &*play.row(4).name, play.row(4).parts.count()), (4, "info db", 1));
}

#[test]
fn the_revision_is_read_from_what_was_agreed_on() {
    let mut play = Play::new();
    play.line(Client, r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#);
    play.line(Server, r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}"#);
    play.line(Client, CALL);
    assert_eq!(
        (play.row(1).revision, play.row(2).revision),
        (Some(Revision::R2025_06_18), Some(Revision::R2025_06_18))
    );
}

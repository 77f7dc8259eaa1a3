//! The store as a whole: what wakes its followers, what hangs, and what is said of frames that are missing.

use std::fs::File;
use std::time::Duration;

use wire::trace::file;
use wire::trace::{Content, Frame, Header, Limit, Mark};
use wire::{Party, Revision, Trace, Transport};

use super::{Bounds, Hub};
use crate::rows::Status;
use wire::redact::Redactor;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

fn hub(bounds: Bounds) -> (Hub, u32) {
    let hub = Hub::new(bounds, Redactor::new([7; 32]));
    let session = hub.begin(1, Header::server(Transport::Stdio, Revision::R2025_11_25, "test"));
    (hub, session)
}

fn line(text: &str) -> Frame {
    Frame::new(Party::Client, Content::Line { bytes: text.as_bytes().to_vec(), terminated: true })
}

fn stderr(text: &str) -> Frame {
    Frame::new(Party::Server, Content::Stderr(text.as_bytes().to_vec()))
}

fn saved(hub: &Hub, session: u32) -> Trace {
    let saved = hub.trace_file(session).expect("a session");
    let pieces = saved.pieces.iter().map(|piece| String::from_utf8(piece.read().expect("it is kept")).expect("text"));
    let lines: Vec<String> = saved.before.into_iter().chain(pieces).chain(saved.after).collect();
    file::read(&lines.join("\n")).expect("a trace")
}

fn is_limit(frame: &Frame) -> bool {
    matches!(frame.content, Content::Mark(Mark::Limit(Limit::Trace)))
}

#[test]
fn a_quiet_store_wakes_no_follower() {
    let (hub, session) = hub(Bounds::default());
    hub.take(session, &stderr("a"));
    let mut changes = hub.follow();
    changes.mark_unchanged();
    hub.hang();
    assert!(!changes.has_changed().expect("the hub is there"));
    hub.take(session, &stderr("b"));
    assert!(changes.has_changed().expect("the hub is there"));
}

#[test]
fn a_request_hangs_when_its_client_would_have_given_it_up() {
    for (timeout, limit) in [(None, 60), (Some(300), 305)] {
        let (hub, session) = hub(Bounds::default());
        if let Some(seconds) = timeout {
            hub.has_timeout(session, Duration::from_secs(seconds));
        }
        hub.take(session, &line(CALL));
        let sent = hub.inner().table.get(1).expect("a row").at;
        let status = |hub: &Hub| hub.inner().table.get(1).expect("a row").status;
        hub.hang_at(sent + limit * 1_000_000);
        assert_eq!(status(&hub), Status::Pending, "{limit}");
        hub.hang_at(sent + limit * 1_000_000 + 1);
        assert_eq!(status(&hub), Status::Hung, "{limit}");
    }
}

#[test]
fn a_trace_ends_where_the_disk_was_full_and_says_so() {
    let (hub, session) = hub(Bounds::default());
    hub.take(session, &line(CALL));
    hub.take(session, &stderr("before"));
    assert_eq!(saved(&hub, session).frames.len(), 2);
    let unwritable = File::open("/dev/null").expect("it is there");
    let file = hub.inner().ring.replace_newest(unwritable.into()).expect("a file");
    hub.take(session, &stderr("lost"));
    assert!(hub.inner().failed.is_some());
    hub.inner().ring.replace_newest(file);
    hub.take(session, &stderr("after"));
    let trace = saved(&hub, session);
    assert_eq!(trace.frames.len(), 3, "{trace:?}");
    assert!(is_limit(&trace.frames[2]));
    let inner = hub.inner();
    assert_eq!((inner.unwritten, inner.failed.is_none(), inner.table.len()), (1, true, 4));
}

#[test]
fn a_trace_without_its_beginning_says_so_first() {
    let (hub, session) = hub(Bounds { ring: 2_000, ..Bounds::default() });
    for n in 0..100 {
        hub.take(session, &stderr(&format!("{n} {}", "x".repeat(100))));
    }
    let trace = saved(&hub, session);
    assert!(is_limit(&trace.frames[0]) && trace.frames.len() > 2 && !trace.frames[1..].iter().any(is_limit));
}

#[test]
fn rows_without_frames_do_not_keep_older_ones() {
    let (hub, session) = hub(Bounds { ring: 2_000, ..Bounds::default() });
    hub.remark(1, session, "the client noticed something");
    for n in 0..100 {
        hub.take(session, &stderr(&format!("{n} {}", "x".repeat(100))));
    }
    let inner = hub.inner();
    assert!(inner.table.first() > 50 && inner.table.len() < 50, "{} {}", inner.table.first(), inner.table.len());
    drop(inner);
    // One that is newer than what is kept stays.
    hub.remark(1, session, "again");
    assert_eq!(hub.inner().table.iter().next_back().map(|(_, row)| row.name.to_string()), Some("again".to_owned()));
}

#[test]
fn a_session_of_many_clients_does_not_end_with_one_nor_hang_nor_get_judged() {
    let hub = Hub::new(Bounds::default(), Redactor::new([7; 32]));
    let header = Header::server(Transport::StreamableHttp, Revision::R2025_11_25, "recorded");
    let session = hub.begin_shared(1, header);
    // The recorder began a day before the page.
    hub.take(session, &Frame { connection: 1, at: 86_400_000_000, ..line(CALL) });
    hub.take(session, &Frame { connection: 2, ..Frame::new(Party::Client, Content::Closed(wire::trace::Closed::End)) });
    hub.hang_at(u64::MAX);
    let inner = hub.inner();
    assert_eq!(inner.session_states()[0].ended, None);
    assert!(inner.session_states()[0].unjudged.is_some());
    let (_, row) = inner.table.iter().next().expect("a row");
    assert_eq!((row.status, row.at), (Status::Pending, 86_400_000_000));
    drop(inner);
    assert!(hub.to_judge().iter().all(|(_, trace, _)| trace.frames.is_empty()));
}

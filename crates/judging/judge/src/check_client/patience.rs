//! What a scenario's server asks and waits for in vain, and how long it listens once it has taken a question back. That is
//! written down where it happens, as the client end of a check does: what should have come is for the rules to say.

use std::convert::Infallible;
use std::time::Duration;

use net::Tap;
use wire::message::Packet;
use wire::trace::{Content, Event, Frame, Mark};
use wire::{Kind, Message, Party, RequestId};

/// How long a client may take for what needs nobody's consent.
pub const PATIENCE: Duration = Duration::from_secs(3);
/// How long a server that took a question back listens for what must not come any more.
const QUIET: Duration = Duration::from_secs(1);
/// What such a window is called.
const TAKEN_BACK: &str = "taken-back";
/// How often what was written down since is looked at.
const BEAT: Duration = Duration::from_millis(100);

/// A question of the server's that is not answered yet.
struct Open {
    connection: u32,
    id: RequestId,
    /// Microseconds since the trace began.
    asked: u64,
}

/// A connection on which the server has taken something back and said nothing since.
struct Window {
    connection: u32,
    /// Microseconds since the trace began.
    opened: u64,
}

/// Marks every question that a client leaves open for too long, and every time that a server listens for after it took one
/// back, as long as it is polled.
pub async fn watch(tap: &Tap) -> Infallible {
    let (mut seen, mut open, mut windows) = (0, Vec::new(), Vec::new());
    loop {
        tokio::time::sleep(BEAT).await;
        let frames = tap.since(seen);
        seen += frames.len();
        for frame in &frames {
            follow(frame, &mut open);
            listen(frame, tap, &mut windows);
        }
        let now = tap.now();
        let quiet = |window: &Window| Duration::from_micros(now.saturating_sub(window.opened));
        for window in windows.extract_if(.., |window| quiet(window) >= QUIET) {
            tap.mark(window.connection, Mark::WindowClosed(TAKEN_BACK.to_owned()));
        }
        let waited = |one: &Open| Duration::from_micros(now.saturating_sub(one.asked));
        for one in open.extract_if(.., |one| waited(one) >= PATIENCE) {
            let after_ms = u64::try_from(waited(&one).as_millis()).unwrap_or(u64::MAX);
            tap.mark(one.connection, Mark::Unanswered { id: one.id, after_ms });
        }
    }
}

/// Opens a window where the server takes a question back; whatever else it says, and any end, spoils it.
fn listen(frame: &Frame, tap: &Tap, windows: &mut Vec<Window>) {
    let over = matches!(frame.content, Content::Exit { .. })
        || (matches!(frame.content, Content::Closed(_)) && frame.exchange == 0);
    let event = Event::of(frame);
    let says = frame.from == Party::Server && event.packet().is_some();
    if over || says {
        windows.retain(|window| frame.connection != 0 && window.connection != frame.connection);
    }
    let said = if let Some(Packet::Message(message)) = event.packet() { message.method() } else { None };
    if says && said == Some("notifications/cancelled") {
        windows.push(Window { connection: frame.connection, opened: tap.now() });
        tap.mark(frame.connection, Mark::WindowOpened(TAKEN_BACK.to_owned()));
    }
}

/// Takes note of what one frame asks, answers or ends.
fn follow(frame: &Frame, open: &mut Vec<Open>) {
    let over = matches!(frame.content, Content::Exit { .. })
        || (matches!(frame.content, Content::Closed(_)) && frame.exchange == 0);
    if over {
        let process = frame.connection == 0;
        open.retain(|one| !process && one.connection != frame.connection);
        return;
    }
    let event = Event::of(frame);
    let messages: Vec<&Message> = match event.packet() {
        Some(Packet::Message(message)) => vec![message],
        Some(Packet::Batch(parts)) => parts.iter().filter_map(|part| part.as_ref().ok()).collect(),
        None => return,
    };
    for message in messages {
        let Some(id) = message.id() else { continue };
        match (frame.from, message.kind()) {
            (Party::Server, Kind::Request) if needs_nobody(message) => {
                open.push(Open { connection: frame.connection, id: id.clone(), asked: frame.done });
            }
            (Party::Client, Kind::Result | Kind::Error) => {
                open.retain(|one| one.connection != frame.connection || one.id != *id);
            }
            _ => {}
        }
    }
}

/// Whether no person, and no model, has to be asked first.
fn needs_nobody(request: &Message) -> bool {
    !["elicitation/create", "sampling/createMessage"].into_iter().any(|method| request.method() == Some(method))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wire::trace::Content;

    use super::*;

    fn said(from: Party, connection: u32, message: serde_json::Value) -> Frame {
        let line = Content::Line { bytes: message.to_string().into_bytes(), terminated: true };
        Frame { connection, ..Frame::new(from, line) }
    }

    #[test]
    fn what_is_open_is_what_was_neither_answered_nor_ended() {
        let mut open = Vec::new();
        for (connection, id) in [(1, json!(1)), (1, json!("a")), (2, json!(1))] {
            follow(
                &said(Party::Server, connection, json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })),
                &mut open,
            );
        }
        let form = json!({ "jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": {} });
        follow(&said(Party::Server, 1, form), &mut open);
        assert_eq!(open.len(), 3, "a form is for a person");
        follow(&said(Party::Client, 1, json!({ "jsonrpc": "2.0", "id": 1, "result": {} })), &mut open);
        // A request of the client's under the same id answers nothing.
        follow(&said(Party::Client, 1, json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list" })), &mut open);
        let left = |open: &[Open]| open.iter().map(|one| (one.connection, one.id.to_json())).collect::<Vec<_>>();
        assert_eq!(left(&open), [(1, "\"a\"".to_owned()), (2, "1".to_owned())]);
        follow(
            &Frame { connection: 2, ..Frame::new(Party::Client, Content::Closed(wire::trace::Closed::End)) },
            &mut open,
        );
        assert_eq!(left(&open), [(1, "\"a\"".to_owned())]);
        follow(&Frame::new(Party::Client, Content::Exit { code: Some(0), signal: None }), &mut open);
        assert_eq!(left(&open), []);
    }
}

//! What crosses the transport, altered: messages on their way in, bytes and heads on their way out. Knows no fault by name.

use net::server::http::{MESSAGES_PATH, SSE_PATH, WEBSOCKET_PATH};
use net::server::manners::{Alteration, Bytes, HeaderMap, Manners, Outgoing, Parts, Uri};
use serde_json::Value;
use wire::http::PROTOCOL_VERSION;
use wire::message::{Packet, parse};
use wire::{Message, Revision, Transport};

use super::sessions::Ledger;
use super::{Fault, Heard, Kind, stdio};

/// The faults of a server's transport.
#[derive(Debug)]
pub(crate) struct Crossing {
    faults: Vec<&'static Fault>,
    ledger: Ledger,
}

impl Crossing {
    /// Those of `faults` that show on one of the transports.
    pub(crate) fn new(faults: &[&'static Fault], on: &[Transport]) -> Self {
        let shows = |fault: &&Fault| on.iter().any(|transport| fault.runs_on(*transport));
        Self { faults: faults.iter().copied().filter(shows).collect(), ledger: Ledger::default() }
    }

    fn kinds(&self) -> impl Iterator<Item = &'static Kind> {
        self.faults.iter().flat_map(|fault| fault.kinds())
    }

    fn stdio(&self) -> impl Iterator<Item = stdio::Habit> {
        self.kinds().filter_map(|kind| if let Kind::Stdio(habit) = kind { Some(*habit) } else { None })
    }

    /// Whether the process is to end badly though nothing went wrong.
    pub(crate) fn fails_at_end(&self) -> bool {
        self.stdio().any(|habit| matches!(habit, stdio::Habit::Fails))
    }

    /// Those that show over one of the transports.
    fn over(&self, transport: Transport) -> Vec<&'static Fault> {
        self.faults.iter().copied().filter(|fault| fault.runs_on(transport)).collect()
    }

    /// A message that came in, as the faults let it through; `None` where none of them touches it.
    fn heard(&self, over: Transport, text: &[u8], mut headers: Option<&mut HeaderMap>) -> Option<Vec<u8>> {
        let kinds = self.faults.iter().filter(|fault| fault.runs_on(over)).flat_map(|fault| fault.kinds());
        let mut edits = kinds.filter_map(|kind| if let Kind::Hears(edit) = kind { Some(edit) } else { None });
        let first = edits.next()?;
        let mut message: Value = serde_json::from_slice(text).ok().filter(Value::is_object)?;
        for edit in std::iter::once(first).chain(edits) {
            edit(&mut Heard { message: &mut message, headers: headers.as_deref_mut() });
        }
        Some(message.to_string().into_bytes())
    }
}

/// The faults that show at the revision which a request's head names; all where it names none.
fn showing(faults: &[&'static Fault], asked: &Parts) -> Vec<&'static Fault> {
    let named = asked.headers.get(PROTOCOL_VERSION).and_then(|version| version.to_str().ok());
    let revision: Option<Revision> = named.and_then(|version| version.parse().ok());
    let transport = match asked.uri.path() {
        SSE_PATH | MESSAGES_PATH => Transport::HttpSse,
        WEBSOCKET_PATH => Transport::WebSocket,
        _ => Transport::StreamableHttp,
    };
    let shows =
        |fault: &&Fault| fault.runs_on(transport) && revision.is_none_or(|revision| fault.shows(revision, transport));
    faults.iter().copied().filter(shows).collect()
}

/// One text on its way out.
fn say(faults: &[&'static Fault], text: Vec<u8>) -> Vec<u8> {
    faults.iter().flat_map(|fault| fault.kinds()).fold(text, |text, kind| match kind {
        Kind::Says(edit) => match serde_json::from_slice::<Value>(&text) {
            Ok(mut value) => {
                edit(&mut value);
                value.to_string().into_bytes()
            }
            Err(_) => text,
        },
        Kind::Writes(edit) => edit(&text),
        _ => text,
    })
}

/// What is said after a text that goes out.
fn further(faults: &[&'static Fault], text: &[u8]) -> Vec<Vec<u8>> {
    let follow = |kind: &Kind| if let Kind::Follows(follow) = kind { Some(*follow) } else { None };
    let follows: Vec<_> = faults.iter().flat_map(|fault| fault.kinds()).filter_map(follow).collect();
    if follows.is_empty() {
        return Vec::new();
    }
    let Ok(message) = serde_json::from_slice(text) else { return Vec::new() };
    follows.iter().filter_map(|follow| Some(follow(&message)?.to_string().into_bytes())).collect()
}

/// One event of a stream, and what follows it: only the data is a text.
fn say_event(faults: &[&'static Fault], event: &[u8]) -> Vec<u8> {
    let mut after = Vec::new();
    let lines = event.split_inclusive(|b| *b == b'\n').flat_map(|line| {
        match line.strip_prefix(b"data: ").and_then(|data| data.strip_suffix(b"\n")).filter(|data| !data.is_empty()) {
            Some(data) => {
                after.extend(further(faults, data));
                [b"data: ", say(faults, data.to_vec()).as_slice(), b"\n"].concat()
            }
            None => line.to_vec(),
        }
    });
    let mut said: Vec<u8> = lines.collect();
    for text in after {
        said.extend([b"data: ", text.as_slice(), b"\n\n"].concat());
    }
    said
}

impl Manners for Crossing {
    fn admits(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        self.kinds().any(|kind| if let Kind::Http(http) = kind { (http.admits)(uri, headers) } else { false })
    }

    fn head(&self, head: &mut Parts) {
        for fault in showing(&self.faults, head) {
            for kind in fault.kinds() {
                match kind {
                    Kind::Http(http) => (http.head)(head),
                    Kind::Sessions(habit) => self.ledger.come(*habit, head),
                    _ => {}
                }
            }
        }
    }

    fn message(&self, message: Message, headers: &mut HeaderMap) -> Message {
        let heard = self.heard(Transport::StreamableHttp, message.text().as_bytes(), Some(headers));
        match heard.map(|text| parse(&text)) {
            Some(Ok(Packet::Message(heard))) => heard,
            _ => message,
        }
    }

    fn response(&self, asked: &Parts, response: &mut Outgoing<'_>) {
        let faults = showing(&self.faults, asked);
        for kind in faults.iter().flat_map(|fault| fault.kinds()) {
            match kind {
                Kind::Http(http) => (http.response)(asked, response),
                Kind::Sessions(habit) => {
                    self.ledger.go(*habit, response.headers);
                    response.pause = response.pause.max(habit.pause(*response.status));
                }
                _ => {}
            }
        }
        if !matches!(response.body, Alteration::None) {
            return;
        }
        if let Some(text) = &response.text {
            response.body = Alteration::Replaced(say(&faults, text.to_vec()).into());
            return;
        }
        let asked = asked.clone();
        response.body = Alteration::Edited(Box::new(move |event| {
            let said: Bytes = say_event(&faults, &event).into();
            faults.iter().flat_map(|fault| fault.kinds()).fold(said, |event, kind| match kind {
                Kind::Http(http) => http.event.map_or(event.clone(), |edit| edit(&asked, event)),
                _ => event,
            })
        }));
    }

    fn text_in(&self, over: Transport, text: Vec<u8>) -> Vec<u8> {
        self.heard(over, &text, None).unwrap_or(text)
    }

    fn frames_out(&self, text: Vec<u8>) -> Vec<Vec<u8>> {
        let faults = self.over(Transport::WebSocket);
        let after = further(&faults, &text);
        [vec![say(&faults, text)], after].concat()
    }

    fn first_words(&self) -> Vec<u8> {
        self.stdio()
            .flat_map(|habit| if let stdio::Habit::Greets(words) = habit { words } else { b"" }.to_vec())
            .collect()
    }

    fn piece_in(&self, piece: &[u8]) -> Vec<u8> {
        self.stdio().fold(piece.to_vec(), |piece, habit| match habit {
            stdio::Habit::Takes(edit) => edit(&piece),
            _ => piece,
        })
    }

    fn line_in(&self, line: Vec<u8>) -> Vec<u8> {
        let line = self.stdio().fold(line, |line, habit| match habit {
            stdio::Habit::Reads(edit) => edit(line),
            _ => line,
        });
        match self.heard(Transport::Stdio, &line, None) {
            Some(mut heard) => {
                heard.push(b'\n');
                heard
            }
            None => line,
        }
    }

    fn breaks_off_at(&self, line: &[u8]) -> bool {
        self.stdio().any(|habit| if let stdio::Habit::BreaksOff(at) = habit { at(line) } else { false })
    }

    fn line_out(&self, line: Vec<u8>) -> Vec<u8> {
        let text = line.strip_suffix(b"\n").unwrap_or(&line).to_vec();
        let after = further(&self.faults, &text);
        let texts = [vec![say(&self.faults, text)], after].concat();
        let said = texts.into_iter().flat_map(|text| [text, b"\n".to_vec()].concat()).collect();
        self.stdio().fold(said, |line, habit| match habit {
            stdio::Habit::Prints(edit) => edit(line),
            _ => line,
        })
    }

    fn ends_with_input(&self) -> bool {
        !self.stdio().any(|habit| matches!(habit, stdio::Habit::Lingers))
    }
}

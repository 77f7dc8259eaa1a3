//! Which message counts as the response to a waiting request if the peer breaks the envelope: a check of such a peer must go
//! on. The trace keeps what was really sent. Must not know what is judged.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use wire::error_code::INTERNAL_ERROR;
use wire::message::{Packet, parse};
use wire::{Kind, Message, RequestId};

/// A response that no request has by its id, or that breaks the envelope.
#[derive(Debug)]
pub(crate) struct LooseResponse {
    id: LooseId,
    body: (&'static str, Value),
}

#[derive(Debug, PartialEq, Eq)]
enum LooseId {
    Readable(RequestId),
    /// Missing, null, or of a type that no id has.
    Unusable,
}

impl LooseResponse {
    /// The responses in a body, an event or a line, whatever is wrong with them.
    pub(crate) fn read(bytes: &[u8]) -> Vec<Self> {
        match serde_json::from_slice(bytes) {
            Ok(Value::Array(parts)) => parts.iter().filter_map(Self::of).collect(),
            Ok(value) => Self::of(&value).into_iter().collect(),
            Err(_) => Vec::new(),
        }
    }

    fn of(value: &Value) -> Option<Self> {
        let members = value.as_object().filter(|members| !members.contains_key("method"))?;
        let body = match (members.get("error"), members.get("result")) {
            (Some(error), None | Some(Value::Null)) => ("error", error_object(error)),
            (_, Some(result)) => ("result", result.clone()),
            (None, None) => return None,
        };
        let id = members.get("id").and_then(RequestId::from_value);
        Some(Self { id: id.map_or(LooseId::Unusable, LooseId::Readable), body })
    }

    /// Its id, if it has one that can be read.
    pub(crate) const fn id(&self) -> Option<&RequestId> {
        match &self.id {
            LooseId::Readable(id) => Some(id),
            LooseId::Unusable => None,
        }
    }

    /// Whether it is the response to `id` by the letter of its id.
    pub(crate) fn is_exactly(&self, id: &RequestId) -> bool {
        matches!(&self.id, LooseId::Readable(own) if own == id)
    }

    /// As the response that the request `id` should have had.
    pub(crate) fn answering(&self, id: &RequestId) -> Option<Message> {
        let (member, body) = &self.body;
        let text = format!(r#"{{"jsonrpc":"2.0","id":{},"{member}":{body}}}"#, id.to_json());
        match parse(text.as_bytes()) {
            Ok(Packet::Message(message)) => Some(message),
            _ => None,
        }
    }
}

/// What a reader can use of an error.
fn error_object(error: &Value) -> Value {
    let given = error.as_object().cloned().unwrap_or_default();
    let code = given.get("code").and_then(|code| code.as_i64().or_else(|| code.as_str()?.trim().parse().ok()));
    let message = given.get("message").or(Some(error)).and_then(Value::as_str).unwrap_or_default();
    let mut usable: Map<String, Value> = given.clone();
    usable.insert("code".to_owned(), json!(code.unwrap_or(INTERNAL_ERROR)));
    usable.insert("message".to_owned(), json!(message));
    Value::Object(usable)
}

/// How a response was found.
#[derive(Debug)]
pub(crate) enum Found {
    /// It is taken for the response.
    Response(Message),
    /// A response with an id that no request has came instead.
    Stray,
}

/// What one connection has sent, and the responses that fit nothing sent.
#[derive(Debug, Default)]
pub(crate) struct Leniency {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    sent: HashSet<RequestId>,
    open: HashSet<RequestId>,
    /// How often each request was answered under its own id.
    answered: HashMap<RequestId, u32>,
    /// Something was sent to which a response without an id may belong.
    ambiguous: bool,
    loose: Vec<LooseResponse>,
    /// How many messages came that are not even JSON.
    spoilt: usize,
    /// Whether the very first request was answered under an id that nothing had: such a peer numbers its answers itself.
    numbers_itself: bool,
    /// How many requests in a row got nothing but a stray.
    strays: u32,
}

impl Leniency {
    /// Takes note of what is sent.
    pub(crate) fn sent(&self, bytes: &[u8]) {
        let packet = parse(bytes);
        let mut state = self.state();
        match packet {
            Ok(Packet::Message(message)) => state.note(&message),
            Ok(Packet::Batch(parts)) => parts.iter().for_each(|part| match part {
                Ok(message) => state.note(message),
                Err(_) => state.ambiguous = true,
            }),
            Err(malformed) => {
                state.ambiguous = true;
                state.sent.extend(malformed.id);
            }
        }
    }

    /// Takes note of what came in and of what of it no request has by its id. `readable` are the messages in it.
    pub(crate) fn received<'m>(&self, bytes: &[u8], readable: impl Iterator<Item = &'m Message>, all: bool) {
        let mut state = self.state();
        let mut fits = all;
        for message in readable.filter(|message| message.kind().is_response()) {
            match message.id() {
                Some(id) if state.sent.contains(id) => {
                    state.open.remove(id);
                    *state.answered.entry(id.clone()).or_default() += 1;
                    state.strays = 0;
                }
                _ => fits = false,
            }
        }
        if fits {
            return;
        }
        let loose = LooseResponse::read(bytes).into_iter().filter(|loose| match &loose.id {
            LooseId::Readable(id) => !all || !state.sent.contains(id),
            LooseId::Unusable => true,
        });
        let loose: Vec<_> = loose.collect();
        // Something that begins like a message is likely to be the response, spoilt.
        state.spoilt += usize::from(loose.is_empty() && !all && bytes.trim_ascii_start().starts_with(b"{"));
        state.loose.extend(loose);
        drop(state);
        self.changed.notify_waiters();
    }

    /// What is taken for the response to `id`, once it is there.
    pub(crate) async fn response(&self, id: &RequestId) -> Found {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(found) = self.state().take(id) {
                return found;
            }
            changed.await;
        }
    }

    /// Whether the only response with this id answers another request, as its id says, and so not the one that asks.
    pub(crate) fn answers_another(&self, id: &RequestId, asking: &RequestId) -> bool {
        id != asking && self.state().answered.get(id) == Some(&1)
    }

    /// Whether a stray came for one request after the other, and no response between them.
    pub(crate) fn only_strays_come(&self) -> bool {
        self.state().strays > 1
    }

    /// The request `id` is not waited for any more.
    pub(crate) fn given_up(&self, id: &RequestId) {
        self.state().open.remove(id);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn note(&mut self, message: &Message) {
        match (message.kind(), message.id()) {
            (Kind::Request, Some(id)) => {
                self.sent.insert(id.clone());
                self.open.insert(id.clone());
            }
            // Some servers answer a notification with an error, which then has no id.
            (Kind::Notification, _) if message.method() != Some("notifications/initialized") => self.ambiguous = true,
            _ => {}
        }
    }

    fn take(&mut self, id: &RequestId) -> Option<Found> {
        let alone = self.open.len() == 1 && self.open.contains(id);
        let fits = |loose: &LooseResponse| match &loose.id {
            LooseId::Readable(own) => own == id || (is_alike(own, id) && !self.sent.contains(own)),
            LooseId::Unusable => alone && !(self.ambiguous && loose.body.0 == "error"),
        };
        if let Some(at) = self.loose.iter().position(fits) {
            let message = self.loose.remove(at).answering(id)?;
            self.open.remove(id);
            return Some(Found::Response(message));
        }
        // Where nothing else was asked, an answer under whatever id is the answer to that.
        let first = self.sent.len() == 1;
        let own_number = |loose: &LooseResponse| match &loose.id {
            LooseId::Readable(own) => alone && !self.sent.contains(own) && (first || self.numbers_itself),
            LooseId::Unusable => false,
        };
        if let Some(at) = self.loose.iter().position(own_number) {
            self.numbers_itself = true;
            let message = self.loose.remove(at).answering(id)?;
            self.open.remove(id);
            return Some(Found::Response(message));
        }
        if alone && self.spoilt > 0 {
            self.spoilt -= 1;
            self.strays += 1;
            return Some(Found::Stray);
        }
        let stray = |loose: &LooseResponse| match &loose.id {
            LooseId::Readable(own) => alone && !self.sent.contains(own),
            // A result without an id is nobody's.
            LooseId::Unusable => loose.body.0 == "result",
        };
        let at = self.loose.iter().position(stray)?;
        self.loose.remove(at);
        self.strays += 1;
        Some(Found::Stray)
    }
}

/// Whether two ids of different types have the same text: 5 and "5".
fn is_alike(one: &RequestId, other: &RequestId) -> bool {
    let text = |id: &RequestId| match id {
        RequestId::String(text) | RequestId::Number(text) => text.clone(),
    };
    text(one) == text(other)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;
    use wire::message::{Packet, parse};
    use wire::{Message, RequestId};

    use super::{Found, Leniency, LooseResponse};

    const SOON: Duration = Duration::from_millis(20);

    fn receive(leniency: &Leniency, text: &str) {
        let message: Option<Message> = match parse(text.as_bytes()) {
            Ok(Packet::Message(message)) => Some(message),
            _ => None,
        };
        leniency.received(text.as_bytes(), message.iter(), message.is_some());
    }

    /// What becomes of request 5, which alone is open, where `text` comes.
    async fn found(sent: &[&str], text: &str) -> Option<Found> {
        let leniency = Leniency::default();
        for text in sent {
            leniency.sent(text.as_bytes());
        }
        leniency.sent(br#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#);
        receive(&leniency, text);
        timeout(SOON, leniency.response(&RequestId::from(5))).await.ok()
    }

    #[tokio::test]
    async fn a_response_that_breaks_the_envelope_is_found() {
        for text in [
            r#"{"id":5,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"5","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":[5],"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":5,"error":{"code":"-32601","message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32601}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":5,"error":"no"}"#,
        ] {
            let Some(Found::Response(message)) = found(&[], text).await else { panic!("{text}") };
            assert_eq!(message.id(), Some(&RequestId::from(5)), "{text}");
        }
        let error = LooseResponse::read(br#"{"error":{"code":"-32601"}}"#);
        let message = error[0].answering(&RequestId::from(1)).expect("a message");
        assert_eq!(message.error_code(), Some(-32601));
    }

    #[tokio::test]
    async fn a_response_that_may_be_anothers_is_not_taken() {
        let id_less = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#;
        assert!(found(&["{"], id_less).await.is_none(), "it may answer the garbage");
        let notified = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
        assert!(found(&[notified], id_less).await.is_none(), "it may answer the notification");
        let second = r#"{"jsonrpc":"2.0","id":6,"method":"ping"}"#;
        let either = found(&[second], r#"{"jsonrpc":"2.0","result":{}}"#).await;
        assert!(matches!(either, Some(Found::Stray)), "two are open");
        let text = r#"{"jsonrpc":"2.0","id":"5","method":"ping"}"#;
        assert!(found(&[text], r#"{"jsonrpc":"2.0","id":"5","result":{}}"#).await.is_none(), "the other was sent, too");
        assert!(found(&[], r#"{"jsonrpc":"2.0","id":5,"result":{}}"#).await.is_none(), "nothing is wrong with it");
        assert!(found(&[], r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#).await.is_none(), "a request");
    }

    #[test]
    fn the_only_response_under_an_id_answers_that_request() {
        let leniency = Leniency::default();
        for id in ["5", r#""5""#] {
            leniency.sent(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).as_bytes());
        }
        let [number, text] = [RequestId::from(5), RequestId::from("5")];
        receive(&leniency, r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
        assert!(leniency.answers_another(&number, &text) && !leniency.answers_another(&number, &number));
        receive(&leniency, r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
        assert!(!leniency.answers_another(&number, &text), "the second one is nobody's");
    }

    #[tokio::test]
    async fn strays_in_a_row_are_counted() {
        let leniency = Leniency::default();
        for (id, answer, only_strays) in [
            (1, "{ this is no JSON", false),
            (2, "{ this is no JSON", true),
            (3, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#, false),
            (4, "{ this is no JSON", false),
        ] {
            leniency.sent(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).as_bytes());
            receive(&leniency, answer);
            _ = timeout(SOON, leniency.response(&RequestId::from(id))).await;
            leniency.given_up(&RequestId::from(id));
            assert_eq!(leniency.only_strays_come(), only_strays, "{id}");
        }
    }

    #[tokio::test]
    async fn a_peer_that_numbers_its_responses_itself_is_understood() {
        let leniency = Leniency::default();
        for (asked, answered) in [(5, 99), (6, 100)] {
            leniency.sent(format!(r#"{{"jsonrpc":"2.0","id":{asked},"method":"ping"}}"#).as_bytes());
            receive(&leniency, &format!(r#"{{"jsonrpc":"2.0","id":{answered},"result":{{}}}}"#));
            let found = timeout(SOON, leniency.response(&RequestId::from(asked))).await.ok();
            assert!(matches!(found, Some(Found::Response(_))), "{asked}: {found:?}");
        }
    }

    #[tokio::test]
    async fn a_response_with_an_id_that_was_never_sent_is_a_stray() {
        let before = r#"{"jsonrpc":"2.0","id":4,"method":"ping"}"#;
        let answered = Leniency::default();
        answered.sent(before.as_bytes());
        receive(&answered, r#"{"jsonrpc":"2.0","id":4,"result":{}}"#);
        answered.sent(br#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#);
        receive(&answered, r#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
        let later = timeout(SOON, answered.response(&RequestId::from(5))).await.ok();
        assert!(matches!(later, Some(Found::Stray)), "{later:?}");
        let spoilt = found(&[], r#"{"jsonrpc":"2.0","id":""a","result":{}}"#).await;
        assert!(matches!(spoilt, Some(Found::Stray)), "{spoilt:?}");
        assert!(found(&[], "INFO: started").await.is_none());
    }
}

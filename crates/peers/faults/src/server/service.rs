//! A service around the faultless one: alters answers and what is sent beside them. Knows no fault by name.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use net::service::{Answer, Call, Context, Gone, Link, MessageSink, Reply, Service};
use serde_json::Value;
use wire::{Message, Revision};

use super::{Active, Kind, ServiceRequest};

/// A server with faults.
pub(super) struct Faulty<S> {
    server: S,
    active: Active,
    asked: AtomicUsize,
    calls: AtomicUsize,
}

impl<S> Faulty<S> {
    pub(super) const fn new(server: S, active: Active) -> Self {
        Self { server, active, asked: AtomicUsize::new(0), calls: AtomicUsize::new(0) }
    }
}

impl<S: Service> Service for Faulty<S> {
    fn call(&self, mut call: Call) -> Reply {
        let (revision, transport) = (call.context.revision, call.context.transport);
        let faults: Vec<_> =
            self.active.faults.iter().copied().filter(|fault| fault.applies.covers(revision, transport)).collect();
        if faults.is_empty() {
            return self.server.call(call);
        }
        let before = self.asked.fetch_add(1, Ordering::Relaxed);
        let is_call = call.message.method() == Some("tools/call");
        let calls = self.calls.fetch_add(usize::from(is_call), Ordering::Relaxed);
        let asked = Arc::new(ServiceRequest::new(&call, before, calls, Arc::clone(&self.active.state)));
        let kinds: Vec<_> = faults.iter().flat_map(|fault| fault.kinds()).collect();
        for kind in kinds.iter().copied().filter(|kind| kind.is_about_the_rest()) {
            let asked = Arc::clone(&asked);
            call.link = call.link.rerouted(|sink| Arc::new(Detour { sink, asked, kind }));
        }
        let link = call.link.clone();
        let reply = altered(self.server.call(call), &asked, &kinds);
        kinds.iter().filter_map(|kind| kind.handles()).fold(reply, |reply, handle| handle(&asked, &link, reply))
    }

    fn notice(&self, message: &Message, context: &Context) {
        self.server.notice(message, context);
    }

    fn revisions(&self) -> &[Revision] {
        self.server.revisions()
    }
}

type Handle = fn(&ServiceRequest, &Link, Reply) -> Reply;

impl Kind {
    const fn handles(&self) -> Option<Handle> {
        if let Self::Handles(handle) = self { Some(*handle) } else { None }
    }

    const fn is_about_answers(&self) -> bool {
        matches!(self, Self::Results(..) | Self::Errors(..) | Self::Lists(..) | Self::Answers(_))
    }

    const fn is_about_the_rest(&self) -> bool {
        matches!(self, Self::SideMessage(..) | Self::SideMessages(_))
    }

    fn answer(&self, asked: &ServiceRequest, answer: &mut Value) {
        match self {
            Self::Results(method, edit) if asked.is(method) && answer.get("result").is_some() => edit(answer),
            Self::Errors(method, edit) if asked.is(method) && answer.get("error").is_some() => edit(answer),
            Self::Lists(method, member, edit) if asked.is(method) => more(answer, member, *edit),
            Self::Answers(edit) => edit(asked, answer),
            _ => {}
        }
    }

    fn tell(&self, asked: &ServiceRequest, mut message: Value) -> Vec<Value> {
        match self {
            Self::SideMessage(method, edit) if message["method"] == *method => edit(&mut message),
            Self::SideMessages(edit) => return edit(asked, message),
            _ => {}
        }
        vec![message]
    }
}

/// Adds a copy of a list's first item, altered.
fn more(answer: &mut Value, member: &str, edit: fn(&mut Value)) {
    let list = answer.get_mut("result").and_then(|result| result.get_mut(member)).and_then(Value::as_array_mut);
    let Some(list) = list else { return };
    let Some(mut item) = list.first().cloned() else { return };
    edit(&mut item);
    list.push(item);
}

fn altered(reply: Reply, asked: &Arc<ServiceRequest>, kinds: &[&'static Kind]) -> Reply {
    let kinds: Vec<_> = kinds.iter().copied().filter(|kind| kind.is_about_answers()).collect();
    if kinds.is_empty() {
        return reply;
    }
    match reply {
        Reply::Now(answer) => edit(answer, asked, &kinds).into(),
        Reply::Later(pending) => {
            let asked = Arc::clone(asked);
            Reply::later(async move { edit(pending.await, &asked, &kinds) })
        }
    }
}

/// The code by which HTTP chooses a status stays: a wrong code is one fault, a wrong status another.
fn edit(answer: Answer, asked: &ServiceRequest, kinds: &[&'static Kind]) -> Answer {
    let Ok(mut value) = serde_json::from_slice(answer.text()) else { return answer };
    for kind in kinds {
        kind.answer(asked, &mut value);
    }
    Answer::raw(value.to_string().into_bytes(), answer.code())
}

/// An outlet that alters what goes through it.
struct Detour {
    sink: Arc<dyn MessageSink>,
    asked: Arc<ServiceRequest>,
    kind: &'static Kind,
}

impl MessageSink for Detour {
    fn send(&self, text: String) -> Result<(), Gone> {
        let Ok(value) = serde_json::from_str(&text) else { return self.sink.send(text) };
        self.kind.tell(&self.asked, value).into_iter().try_for_each(|value| self.sink.send(value.to_string()))
    }

    fn close(&self) {
        self.sink.close();
    }
}

//! The different defects that a trace shows under one rule, each with what was sent before it. Must not judge, and must not
//! show anything: frames are named by their events.

use report::DefectKey;
use rules::verdict::OTHERS;
use rules::view::MessageAt;
use rules::{Breach, Rule, View};
use wire::trace::{Closed, Content, Frame};

use super::alone::Alone;

/// How many defects of one rule are kept of a trace.
const DEFECTS: usize = 12;

/// One way in which a trace breaks a rule, and how often.
#[derive(Clone, Debug)]
pub struct Defect {
    /// The event that shows it first.
    pub event: usize,
    /// JSON pointer into its message.
    pub pointer: String,
    /// What is wrong.
    pub why: String,
    /// How many events or places show the same.
    pub times: usize,
    /// What was sent before.
    pub before: Before,
}

/// What was sent before an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// The method in question: of the event's own message, or of the request that it answers.
    pub method: Option<String>,
    /// The event of the request that it answers, or of the last message that the other party sent.
    pub request: Option<usize>,
    /// Whether the event answers that request.
    pub is_answer: bool,
    /// The event of the head of the HTTP request that carried it.
    pub head: Option<usize>,
    /// Whether the server ended, as far as this trace shows, with that request open.
    pub is_open: bool,
    /// Where that HTTP request shows the defect by itself: what has to be sent before it.
    pub alone: Option<Alone>,
}

impl Defect {
    /// What makes it the same defect as another.
    pub fn key(&self) -> DefectKey {
        DefectKey::new(self.before.method.as_deref(), &self.pointer, &self.why)
    }
}

/// The different defects of a broken rule in a trace.
#[derive(Clone, Debug, Default)]
pub struct Defects {
    /// The one that the verdict names comes first.
    pub all: Vec<Defect>,
    /// Whether there may be more.
    pub is_cut: bool,
}

impl Defects {
    /// Those of a verdict. Where timing decides, only that one: only it is played a second time.
    pub fn of(rule: &Rule, breach: &Breach, view: &View<'_>) -> Self {
        let is_cut = breach.others.len() >= OTHERS || rule.timed && !breach.others.is_empty();
        let mut defects = Self { all: Vec::new(), is_cut };
        for Breach { event, pointer, why, .. } in breach.all().take(if rule.timed { 1 } else { usize::MAX }) {
            let before = before(view, *event);
            defects.add(Defect { event: *event, pointer: pointer.clone(), why: why.clone(), times: 1, before });
        }
        defects
    }

    fn add(&mut self, defect: Defect) {
        let key = defect.key();
        match self.all.iter().position(|other| other.key() == key) {
            Some(at) => self.all[at].times += 1,
            None if self.all.len() < DEFECTS => self.all.push(defect),
            None => self.is_cut = true,
        }
    }

    /// Forgets all but the first.
    pub fn keep_first(&mut self) {
        self.is_cut |= self.all.len() > 1;
        self.all.truncate(1);
    }
}

/// What was sent before an event: the request that its message answers; over HTTP what the client sent in the same exchange;
/// else the last message of the other party on the connection.
fn before(view: &View<'_>, event: usize) -> Before {
    let frame = view.frame(event);
    if frame.from == view.subject().peer() && is_unreached(&frame.content) {
        return before_end(view, event);
    }
    let exchange = view.exchange(frame.exchange).filter(|_| frame.exchange > 0);
    let head = exchange.and_then(|exchange| exchange.request).map(|(head, ..)| head).filter(|&head| head < event);
    if let Some(message) = view.messages().find(|message| message.event == event) {
        let posted = exchange.and_then(|exchange| exchange.request_body).map(|(body, _)| body);
        return before_message(view, message, (head, posted));
    }
    let sent = exchange.and_then(|exchange| exchange.client_messages.first().copied());
    let method = sent.and_then(|sent| sent.message.method()).map(str::to_owned);
    let is_mark = matches!(frame.content, Content::Mark(_));
    if frame.from == view.subject().peer() && !is_mark {
        return Before { method, ..Before::default() };
    }
    let of_exchange = sent.map(|sent| sent.event).filter(|&sent| sent < event).or(head);
    let caused = frame.cause.filter(|_| is_mark);
    let request = of_exchange.or(caused).or_else(|| last_sent(view, event));
    Before { method, request, is_answer: of_exchange.is_some(), head, ..Before::default() }
}

/// Whether no connection came about.
pub fn is_unreached(content: &Content) -> bool {
    matches!(content, Content::Closed(Closed::Failed))
}

/// The last thing that a server was sent which can no longer be reached.
fn before_end(view: &View<'_>, event: usize) -> Before {
    let Some(request) = last_sent(view, event) else { return Before::default() };
    let message = view.messages().find(|sent| sent.event == request);
    let method = message.and_then(|sent| sent.message.method()).map(str::to_owned);
    let exchange = view.exchange(view.frame(request).exchange);
    let is_open = exchange.is_some_and(|exchange| exchange.response.is_none());
    Before { method, request: Some(request), is_open, ..Before::default() }
}

/// `head` and `posted` are of the HTTP request in whose exchange it came.
fn before_message(view: &View<'_>, message: MessageAt<'_>, (head, posted): (Option<usize>, Option<usize>)) -> Before {
    if let Some(question) = view.question(message) {
        let method = question.message.method().map(str::to_owned);
        return Before { method, request: Some(question.event), is_answer: true, head, ..Before::default() };
    }
    let method = message.message.method().map(str::to_owned);
    // An error without an id is all the same the response to what was posted.
    if message.from == view.subject()
        && message.message.kind().is_response()
        && posted.is_some_and(|at| at < message.event)
    {
        return Before { method, request: posted, is_answer: true, head, ..Before::default() };
    }
    // What the other party sent is the request itself.
    let request = if message.from == view.subject() { last_sent(view, message.event) } else { None };
    Before { method, request, is_answer: false, head, ..Before::default() }
}

/// The last thing that the other party sent on the event's connection before it: a message, or other bytes.
fn last_sent(view: &View<'_>, event: usize) -> Option<usize> {
    let (connection, peer) = (view.frame(event).connection, view.subject().peer());
    let is_sent = |content: &Content| {
        matches!(content, Content::Line { .. } | Content::Body { .. } | Content::WebSocket { .. } | Content::Raw(_))
    };
    let messages = view.by(peer).filter(|sent| sent.connection == connection && sent.event < event);
    let message = messages.map(|sent| sent.event).next_back();
    let is_peers = |frame: &Frame| frame.connection == connection && frame.from == peer && is_sent(&frame.content);
    let bytes = view.frames().rfind(|&(at, frame)| at < event && is_peers(frame));
    message.max(bytes.map(|(at, _)| at))
}

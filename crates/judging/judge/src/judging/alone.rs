//! Whether one HTTP exchange shows a defect by itself: it is judged again with nothing but the greeting before it. Must not make
//! traffic.

use std::collections::BTreeSet;

use report::DefectKey;
use rules::view::{Exchange, MessageAt};
use rules::{Rule, Verdict, View, judge};
use wire::Party;
use wire::trace::{Content, Frame, Trace};

use super::Defect;

/// What opens a connection: rules read from it what was agreed on.
const GREETINGS: [&str; 3] = ["initialize", "server/discover", "notifications/initialized"];

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// The most that is judged again, in bytes.
const LARGE: usize = 256 << 10;

/// What has to be sent before an HTTP request that shows a defect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alone {
    /// What opens the session that it names; nothing where it names none.
    pub session: Vec<Post>,
}

/// The events of a message that was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Post {
    /// The head of its request.
    pub head: usize,
    /// The message.
    pub body: usize,
}

/// What has to be sent before the request of a defect, where nothing but the greeting is: the rule is broken in the same way if
/// the greeting and the exchange of the defect are all that crossed.
pub fn shown_alone(rule: &Rule, defect: &Defect, view: &View<'_>, trace: &Trace) -> Option<Alone> {
    let exchange = view.frame(defect.event).exchange;
    let head = defect.before.head.filter(|_| defect.before.is_answer && !rule.timed && exchange > 0)?;
    let session = session(view, head)?;
    let (part, places) = part(trace, &kept((view, trace), head, defect.event));
    if part.weight() > LARGE {
        return None;
    }
    let events = part.events();
    let Verdict::Broken(breach) = judge(rule, &View::new(&part, &events, view.revision())) else { return None };
    let reason = |why: &str| DefectKey::new(None, "", why);
    let is_same = |event: usize, pointer: &str, why: &str| {
        places.get(event) == Some(&defect.event) && pointer == defect.pointer && reason(why) == reason(&defect.why)
    };
    breach.all().any(|breach| is_same(breach.event, &breach.pointer, &breach.why)).then_some(Alone { session })
}

/// What opens the session that a request names; `None` where that was not seen.
fn session(view: &View<'_>, head: usize) -> Option<Vec<Post>> {
    let frame = view.frame(head);
    let Content::Request { headers, .. } = &frame.content else { return None };
    let Some(id) = wire::trace::header(headers, SESSION) else { return Some(Vec::new()) };
    let is_earlier = |sent: &MessageAt<'_>| sent.connection == frame.connection && sent.event < head;
    let opens = |exchange: u32| view.exchange(exchange).is_some_and(|x| x.response_header(SESSION) == Some(id));
    let sent = || view.by(Party::Client).filter(is_earlier);
    let greeting = sent().find(|sent| sent.is("initialize") && opens(sent.exchange))?;
    let greeted = sent().find(|sent| sent.is("notifications/initialized"));
    let post = |sent: MessageAt<'_>| {
        let (head, ..) = view.exchange(sent.exchange)?.request?;
        Some(Post { head, body: sent.event })
    };
    std::iter::once(greeting).chain(greeted).map(post).collect()
}

/// The events of an exchange, of what greeted the server before it, and of what the client noted right before its head.
fn kept((view, trace): (&View<'_>, &Trace), head: usize, event: usize) -> BTreeSet<usize> {
    let connection = view.frame(event).connection;
    let mut exchanges = BTreeSet::from([view.frame(event).exchange]);
    for method in GREETINGS {
        let mut greetings = view.by(Party::Client).filter(|sent| sent.connection == connection && sent.event < head);
        exchanges.extend(greetings.find(|sent| sent.is(method)).map(|sent| sent.exchange));
    }
    if !is_list(view, head) {
        let lists = view.by(Party::Client).filter(|sent| sent.connection == connection && sent.event < head);
        exchanges.extend(lists.filter(|sent| is_list(view, sent.event)).map(|sent| sent.exchange));
    }
    exchanges.extend(controls(view, view.frame(event).exchange));
    exchanges.remove(&0);
    let is_mark = |at: &usize| matches!(trace.frames[*at].content, Content::Mark(_));
    let marks = (0..head).rev().take_while(is_mark);
    let is_kept = |frame: &Frame| exchanges.contains(&frame.exchange) || is_opening(frame, connection);
    let kept = trace.frames.iter().enumerate().filter(|(_, frame)| is_kept(frame)).map(|(at, _)| at);
    kept.chain(marks).collect()
}

/// Whether the message at an event, or the one that a head carries, asks for a list: what a rule knows of a server, and no state.
fn is_list(view: &View<'_>, event: usize) -> bool {
    let exchange = view.exchange(view.frame(event).exchange);
    exchange.and_then(method).is_some_and(|method| method.ends_with("/list"))
}

fn method<'v>(exchange: &Exchange<'v>) -> Option<&'v str> {
    exchange.client_messages.first()?.message.method()
}

/// The same requests without a foreign `Origin`: that they are accepted shows that the origin is what matters.
fn controls(view: &View<'_>, exchange: u32) -> Vec<u32> {
    let Some(own) = view.exchange(exchange).filter(|own| own.request_header("origin").is_some()) else {
        return Vec::new();
    };
    let is_control = |other: &&Exchange<'_>| method(other) == method(own) && other.request_header("origin").is_none();
    view.exchanges().iter().filter(is_control).map(|other| other.number).collect()
}

fn is_opening(frame: &Frame, connection: u32) -> bool {
    frame.connection == connection && frame.exchange == 0 && matches!(frame.content, Content::Opened)
}

/// A trace of these events alone, and where each of them stood.
fn part(trace: &Trace, kept: &BTreeSet<usize>) -> (Trace, Vec<usize>) {
    let places: Vec<usize> = kept.iter().copied().filter(|at| *at < trace.frames.len()).collect();
    let place = |cause: usize| places.binary_search(&cause).ok();
    let frame = |at: &usize| {
        let frame = trace.frames[*at].clone();
        Frame { cause: frame.cause.and_then(place), ..frame }
    };
    let frames = places.iter().map(frame).collect();
    (Trace { header: trace.header.clone(), frames }, places)
}

#[cfg(test)]
mod tests {
    use wire::Revision;

    use crate::judging::sample::{GREETING, posted};
    use crate::judging::{Judged, Selection};

    /// Whether each defect of a rule is shown by one exchange.
    fn alone(rule: &str, exchanges: &[(&str, Option<&str>)]) -> Vec<bool> {
        let trace = posted("t", &[&[GREETING], exchanges].concat());
        let judged = Judged::new("t", Vec::new(), &trace, Revision::R2025_11_25, &Selection::default());
        let defects = judged.defects.get(rule).unwrap_or_else(|| panic!("{rule} is not broken"));
        defects.all.iter().map(|defect| defect.before.alone.is_some()).collect()
    }

    #[test]
    fn a_request_shows_a_defect_where_nothing_before_it_matters() {
        let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
        let error = Some(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no"}}"#);
        assert_eq!(alone("ping.served", &[(ping, error)]), [true]);
        let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(alone("http.accepted-202", &[(note, Some("\"ok\""))]), [true], "an answer to no request");
    }

    #[test]
    fn a_defect_that_two_answers_show_together_is_shown_by_neither() {
        let list = |id: u8, params: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"{params}}}"#);
        let page = |id: u8, next: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{"name":"a","inputSchema":{{"type":"object"}}}}]{next}}}}}"#
            )
        };
        let (first, second) = (list(2, ""), list(3, r#","params":{"cursor":"c"}"#));
        let (one, other) = (page(2, r#","nextCursor":"c""#), page(3, ""));
        let exchanges = [(first.as_str(), Some(one.as_str())), (second.as_str(), Some(other.as_str()))];
        assert_eq!(alone("tools.names-unique", &exchanges), [false]);
        let twice = page(2, "").replace("}]", r#"},{"name":"a","inputSchema":{"type":"object"}}]"#);
        assert_eq!(alone("tools.names-unique", &[(&first, Some(&twice))]), [true]);
    }
}

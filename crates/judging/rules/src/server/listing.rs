//! The lists a server offers (tools, prompts, resources, templates), put together from their pages, and what the
//! specification says of all of them alike. It must not know what is in an item.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wire::error_code::METHOD_NOT_FOUND;
use wire::meta;
use wire::trace::{Content, header};
use wire::{Era, Kind, Party, Transport, method};

use super::side_effects::{Requests, side_effects};
use crate::verdict::{Breach, Kept, Located, Verdict};
use crate::view::{Call, MessageAt, View};

/// One kind of list.
pub(crate) struct List {
    /// The method that lists it.
    pub method: &'static str,
    /// The member of the result that holds it.
    pub member: &'static str,
    /// The member that identifies an item.
    pub key: &'static str,
    /// The capability of the servers that have it.
    pub capability: &'static str,
    /// The notification that it changed.
    pub changed: &'static str,
    /// The subscription filter for that notification.
    pub filter: &'static str,
}

/// What a server may offer, by capability: one that declares none of these has no list, and serves nothing for which it
/// could ask the client for input.
pub(crate) const OFFERS: &[&str] = &["tools", "prompts", "resources"];

/// `tools/list`
pub(crate) const TOOLS: List = List {
    method: "tools/list",
    member: "tools",
    key: "name",
    capability: "tools",
    changed: "notifications/tools/list_changed",
    filter: "toolsListChanged",
};

/// `prompts/list`
pub(crate) const PROMPTS: List = List {
    method: "prompts/list",
    member: "prompts",
    key: "name",
    capability: "prompts",
    changed: "notifications/prompts/list_changed",
    filter: "promptsListChanged",
};

/// `resources/list`
pub(crate) const RESOURCES: List = List {
    method: "resources/list",
    member: "resources",
    key: "uri",
    capability: "resources",
    changed: "notifications/resources/list_changed",
    filter: "resourcesListChanged",
};

/// `resources/templates/list`
pub(crate) const TEMPLATES: List =
    List { method: "resources/templates/list", member: "resourceTemplates", key: "uriTemplate", ..RESOURCES };

/// Every kind of list that is paginated.
pub(crate) const ALL: [&List; 4] = [&TOOLS, &PROMPTS, &RESOURCES, &TEMPLATES];

/// One answered page of a list.
#[derive(Clone, Copy)]
pub(crate) struct Page<'v> {
    /// The request.
    pub request: MessageAt<'v>,
    /// The response.
    pub response: MessageAt<'v>,
    /// What is on it.
    pub items: &'v [Value],
    /// The result as a whole.
    pub result: &'v Value,
}

impl<'v> Page<'v> {
    /// The cursor that was asked with.
    pub(crate) fn cursor(&self) -> Option<&'v Value> {
        self.request.message.params().and_then(|p| p.get("cursor")).filter(|c| !c.is_null())
    }

    /// The cursor of the page after it.
    pub(crate) fn next(&self) -> Option<&'v str> {
        self.result.get("nextCursor")?.as_str()
    }

    /// The items' keys in order; `None` where one has none.
    pub(crate) fn keys(&self, list: &List) -> Option<Vec<&'v str>> {
        self.items.iter().map(|item| item.get(list.key).and_then(Value::as_str)).collect()
    }
}

impl Located for Page<'_> {
    fn event(&self) -> usize {
        self.response.event
    }
}

/// An item of a list where it stands.
#[derive(Clone)]
pub(crate) struct Item<'v> {
    /// The response it is in.
    pub sent: MessageAt<'v>,
    /// Where in it.
    pub pointer: String,
    /// The item.
    pub value: &'v Value,
}

impl Located for Item<'_> {
    fn event(&self) -> usize {
        self.sent.event
    }
}

impl<'v> Item<'v> {
    /// A breach at `below` within the item.
    pub(crate) fn breach(&self, below: &str, why: impl Into<String>) -> Breach {
        self.sent.breach(format!("{}{below}", self.pointer), why)
    }

    /// A member of the item that is a string.
    pub(crate) fn text(&self, member: &str) -> Option<&'v str> {
        self.value.get(member)?.as_str()
    }
}

/// All pages of a list that were answered with a result.
pub(crate) fn pages<'v>(view: &View<'v>, list: &List) -> Vec<Page<'v>> {
    let page = |call: Call<'v>| {
        let (response, result) = (call.response.filter(|sent| view.is_current(*sent))?, call.result()?);
        let items = result.get(list.member)?.as_array()?;
        Some(Page { request: call.request, response, items, result })
    };
    // What either party may list goes by who is judged.
    let either = |method: &method::Method| method.direction == method::Direction::Both;
    let lister = if method::find(list.method, view.revision()).is_some_and(either) {
        view.subject().peer()
    } else {
        Party::Client
    };
    view.calls_by(lister).filter(|call| call.request.is(list.method)).filter_map(page).collect()
}

/// All items of a list, on whatever page.
pub(crate) fn items<'v>(view: &View<'v>, list: &List) -> Vec<Item<'v>> {
    let of = |page: Page<'v>| {
        page.items.iter().enumerate().map(move |(index, value)| Item {
            sent: page.response,
            pointer: format!("/result/{}/{index}", list.member),
            value,
        })
    };
    pages(view, list).into_iter().flat_map(of).collect()
}

/// The pages of a list from the first to the last, as one client walked them.
pub(crate) type Walk<'v> = Vec<Page<'v>>;

/// Every walk that came to its end.
pub(crate) fn walks<'v>(view: &View<'v>, list: &List) -> Vec<Walk<'v>> {
    let pages = pages(view, list);
    let mut by_cursor: BTreeMap<(u32, &str), Vec<Page<'v>>> = BTreeMap::new();
    for page in &pages {
        let Some(cursor) = page.cursor().and_then(Value::as_str) else { continue };
        by_cursor.entry((page.request.connection, cursor)).or_default().push(*page);
    }
    let from = |first: &Page<'v>| {
        let mut walk = vec![*first];
        while let Some(cursor) = walk.last()?.next() {
            let here = walk.last()?;
            let under = by_cursor.get(&(here.request.connection, cursor))?;
            let next = under.partition_point(|page| page.request.event <= here.response.event);
            walk.push(*under.get(next)?);
        }
        Some(walk)
    };
    pages.iter().filter(|page| page.cursor().is_none()).filter_map(from).collect()
}

/// Whether a URI template could make `uri`, as far as its literal beginning tells.
pub(crate) fn could_make(template: &str, uri: &str) -> bool {
    uri.starts_with(template.split('{').next().unwrap_or_default())
}

/// Judges that a server which offers such a list declared the capability.
pub(crate) fn declared(view: &View<'_>, list: &List) -> Verdict {
    let served: Vec<_> = pages(view, list).into_iter().filter(|page| !page.items.is_empty()).collect();
    capability(view, list.capability, served.iter().map(|page| page.response))
}

/// Judges that a server whose messages show a feature declared its capability.
pub(crate) fn capability<'v>(view: &View<'v>, path: &str, shown: impl IntoIterator<Item = MessageAt<'v>>) -> Verdict {
    if view.server_capabilities().is_none() {
        return Verdict::NotSeen("what the server declares is not known here".to_owned());
    }
    Verdict::every(shown, format!("the server showed nothing that needs `{path}`"), |sent| {
        match view.capability(path) {
            Some(_) => Ok(()),
            None => Err(sent.breach("", format!("the server does this but does not declare `{path}`"))),
        }
    })
}

/// Judges that a well-formed request for the list is answered with one.
pub(crate) fn answered(view: &View<'_>, list: &List) -> Verdict {
    let plain = |call: &Call<'_>| view.judges_content(call) && cursor_of(call).is_none();
    let judged = view.calls(list.method).filter(plain).filter_map(|call| {
        let response = call.response?;
        let listed = call.result().is_some_and(|result| result.get(list.member).is_some_and(Value::is_array));
        match call.error_code() {
            Some(METHOD_NOT_FOUND) => Some(Err(response.breach("/error/code", "the method is refused as unknown"))),
            Some(_) => None,
            None if listed => Some(Ok(())),
            None => Some(Err(response.breach("/result", format!("the result has no array `{}`", list.member)))),
        }
        .map(|kept| (response.event, kept))
    });
    Verdict::of(judged, format!("{} was not asked for plainly and answered", list.method))
}

fn cursor_of<'v>(call: &Call<'v>) -> Option<&'v Value> {
    call.request.message.params()?.get("cursor")
}

/// A list read to its end at one time.
pub(crate) struct Snapshot<'v> {
    /// The connection that asked.
    pub connection: u32,
    /// The event of the first request.
    pub from: usize,
    /// The event of the last response.
    pub to: usize,
    /// The keys of its items.
    pub keys: BTreeSet<&'v str>,
}

/// Every reading of a list to its end whose items all have a key, in the order in which they began.
pub(crate) fn snapshots<'v>(view: &View<'v>, list: &List) -> Vec<Snapshot<'v>> {
    let snapshot = |walk: Walk<'v>| {
        let (first, last) = (walk.first()?, walk.last()?);
        let keys: Option<Vec<_>> = walk.iter().map(|page| page.keys(list)).collect();
        Some(Snapshot {
            connection: first.request.connection,
            from: first.request.event,
            to: last.response.event,
            keys: keys?.concat().into_iter().collect(),
        })
    };
    walks(view, list).into_iter().filter_map(snapshot).collect()
}

/// Judges that the list is the same on every connection, whatever was called there. It may change with time: only two
/// connections that differ to and fro (one, the other, the one again, the other again) are beyond that excuse, and a call that
/// makes the same difference on both.
pub(crate) fn same_everywhere(view: &View<'_>, list: &List) -> Verdict {
    if credentials(view).len() > 1 {
        return Verdict::NotSeen("requests were authorized differently, so lists may differ".to_owned());
    }
    if !may_change(view, list)
        && let Some(effect) = side_effects(view, list, &Requests::of(view)).first()
    {
        return Verdict::Broken(effect.breach(list, "it must not depend on what was asked before"));
    }
    let seen = snapshots(view, list);
    let mut same = Vec::new();
    for (index, one) in seen.iter().enumerate() {
        for other in seen[index + 1..].iter().filter(|o| o.connection != one.connection) {
            if one.keys == other.keys {
                same.push(other.to);
            } else if let Some(event) = to_and_fro(&seen, one, other) {
                let why = format!("{} answers differ by connection, to and fro", list.method);
                return Verdict::Broken(Breach::at(event, format!("/result/{}", list.member), why));
            }
        }
    }
    Verdict::witnessed(same, "no two connections asked for the list, or it changed meanwhile")
}

fn to_and_fro(seen: &[Snapshot<'_>], one: &Snapshot<'_>, other: &Snapshot<'_>) -> Option<usize> {
    let again = |after: &Snapshot<'_>, like: &Snapshot<'_>| {
        seen.iter().position(|s| s.from > after.to && s.connection == like.connection && s.keys == like.keys)
    };
    let first = &seen[again(other, one)?];
    again(first, other).map(|index| seen[index].to)
}

/// The different credentials that requests were sent with.
fn credentials<'v>(view: &View<'v>) -> BTreeSet<Option<&'v str>> {
    let heads = view.frames().filter_map(|(_, frame)| match &frame.content {
        Content::Request { headers, .. } => Some(header(headers, "authorization")),
        _ => None,
    });
    heads.collect()
}

/// Whether a server says that such a list may change.
pub(crate) fn may_change(view: &View<'_>, list: &List) -> bool {
    view.capability(&format!("{}.listChanged", list.capability)).is_some()
}

/// Judges that the same items come in the same order.
pub(crate) fn ordered(view: &View<'_>, list: &List) -> Verdict {
    let pages = pages(view, list);
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        let Some(keys) = page.keys(list).filter(|keys| keys.len() > 1) else { continue };
        for earlier in pages[..index].iter().filter(|p| p.cursor() == page.cursor()) {
            let Some(before) = earlier.keys(list) else { continue };
            let (mut one, mut other) = (before.clone(), keys.clone());
            one.sort_unstable();
            other.sort_unstable();
            if one == other {
                let why = "the same items came in another order before";
                let breach = || page.response.breach(format!("/result/{}", list.member), why);
                judged.push((page.response.event, if before == keys { Ok(()) } else { Err(breach()) }));
            }
        }
    }
    Verdict::of(judged, "no page with the same items was read twice")
}

/// Judges that a change of the list was announced to a client that listened.
pub(crate) fn change_announced(view: &View<'_>, list: &List) -> Verdict {
    let seen = snapshots(view, list);
    let mut judged = Vec::new();
    for (index, after) in seen.iter().enumerate() {
        let before = seen[..index].iter().rfind(|s| s.connection == after.connection && s.to < after.from);
        // What a server has before it is greeted is no list that it offered anybody.
        let greeted = view.handshake(after.connection).and_then(|call| call.response).map(|answer| answer.event);
        let Some(before) =
            before.filter(|before| before.keys != after.keys && greeted.is_none_or(|greeted| greeted < before.from))
        else {
            continue;
        };
        let here = |sent: &MessageAt<'_>| sent.connection == after.connection;
        let announced: Vec<_> = view.notifications(list.changed).filter(here).map(|sent| sent.event).collect();
        if let Some(&event) = announced.iter().find(|&&event| event > before.from) {
            judged.push((event, Ok(())));
            continue;
        }
        let window = view.window_after(after.to, after.connection).map(|w| w.closed);
        let Some(end) =
            window.filter(|&end| announced.is_empty() && listened(view, list, after.connection, before.from, end))
        else {
            continue;
        };
        let why = format!("the list changed, and until event {end} no {} followed", list.changed);
        judged.push((after.to, Err(Breach::at(after.to, format!("/result/{}", list.member), why))));
    }
    Verdict::of(judged, "no list was seen to change while someone listened")
}

/// Whether a notification sent on `connection` between two events would have reached us.
fn listened(view: &View<'_>, list: &List, connection: u32, from: usize, to: usize) -> bool {
    let closed = |exchange: u32| {
        view.closings()
            .any(|(event, frame, _)| frame.exchange == exchange && frame.connection == connection && event < to)
    };
    if view.era() == Era::Modern {
        return listens(view, list.filter).iter().any(|&(acknowledged, request)| {
            acknowledged < from
                && request.connection == connection
                && (request.exchange == 0 || !closed(request.exchange))
                && view.answer(request).is_none_or(|answer| answer.event > to)
                && !cancelled(view, request, to)
        });
    }
    let stream = || {
        view.exchanges().iter().any(|x| {
            let open = x.response.is_some_and(|(event, ..)| event < from) && !closed(x.number);
            x.method() == Some("GET") && x.connection == connection && x.is_stream() && open
        })
    };
    view.transport() != Transport::StreamableHttp || stream()
}

/// Subscriptions whose acknowledgement grants `filter`: its event and the request.
fn listens<'v>(view: &View<'v>, filter: &str) -> Vec<(usize, MessageAt<'v>)> {
    let grants = view.notifications("notifications/subscriptions/acknowledged").filter_map(|sent| {
        let params = sent.message.params()?;
        let granted = params.get("notifications")?.get(filter)? == &Value::Bool(true);
        let id = params.get("_meta")?.get(meta::SUBSCRIPTION_ID)?;
        let request = view.calls("subscriptions/listen").find(|call| {
            call.request.connection == sent.connection && call.request.message.value().get("id") == Some(id)
        });
        granted.then_some((sent.event, request?.request))
    });
    grants.collect()
}

/// Whether either side cancelled a request before an event.
fn cancelled(view: &View<'_>, request: MessageAt<'_>, before: usize) -> bool {
    view.messages().any(|sent| {
        sent.message.kind() == Kind::Notification
            && sent.is("notifications/cancelled")
            && sent.event < before
            && sent.connection == request.connection
            && sent.message.params().and_then(|p| p.get("requestId")) == request.message.value().get("id")
    })
}

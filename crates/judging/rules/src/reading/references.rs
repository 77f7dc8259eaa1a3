//! How a client uses a result: whether a later request uses a value that only this result had.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::Party;

use crate::view::{MessageAt, View};

/// Something that a result offers for use: the method and the parameter by which it is used, and the value.
type Offer<'v> = (&'static str, &'static str, &'v str);

/// Members of lists, and the requests that use what an item of them names.
const ITEMS: [(&str, &str, &str, &str); 3] = [
    ("tools", "name", "tools/call", "name"),
    ("prompts", "name", "prompts/get", "name"),
    ("resources", "uri", "resources/read", "uri"),
];

/// The lists that have cursors.
const LISTS: [&str; 4] = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/// Whether a name can be known from this trace alone: many clients are configured to call `echo`, and none to call a name
/// with six digits that the server made up.
fn is_distinctive(name: &str) -> bool {
    name.bytes().filter(u8::is_ascii_digit).count() >= 6
}

/// What a result offers for use: cursors, and names that are known from nowhere else.
pub(crate) fn offers<'v>(request: MessageAt<'v>, result: &'v Value) -> Vec<Offer<'v>> {
    let mut found = Vec::new();
    for (member, key, method, param) in ITEMS {
        let items = result.get(member).and_then(Value::as_array).into_iter().flatten();
        let named = items.filter_map(|item| Some((method, param, item.get(key)?.as_str()?)));
        found.extend(named.filter(|(.., name)| is_distinctive(name)));
    }
    let list = LISTS.into_iter().find(|method| request.is(method));
    let cursor = result.get("nextCursor").and_then(Value::as_str);
    found.extend(list.zip(cursor).map(|(method, cursor)| (method, "cursor", cursor)));
    found
}

/// What all results of a trace offer, and what all requests use.
pub(crate) struct Uses<'v> {
    /// By offer: the events of the results that make it.
    offered: BTreeMap<Offer<'v>, Vec<usize>>,
    /// By offer: the requests that use it.
    used: BTreeMap<Offer<'v>, Vec<MessageAt<'v>>>,
    /// Requests that bring a state back, by the state.
    states: BTreeMap<&'v str, Vec<MessageAt<'v>>>,
}

impl<'v> Uses<'v> {
    pub(crate) fn of(view: &View<'v>) -> Self {
        let mut uses = Self { offered: BTreeMap::new(), used: BTreeMap::new(), states: BTreeMap::new() };
        for call in view.calls_by(Party::Client) {
            if let (Some(response), Some(result)) = (call.response, call.result()) {
                for offer in offers(call.request, result) {
                    uses.offered.entry(offer).or_default().push(response.event);
                }
            }
            let Some(params) = call.request.message.params() else { continue };
            let text = |name: &str| params.get(name).and_then(Value::as_str);
            let ways = ITEMS
                .iter()
                .map(|&(_, _, method, param)| (method, param))
                .chain(LISTS.map(|method| (method, "cursor")));
            for (method, param) in ways.filter(|(method, _)| call.request.is(method)) {
                if let Some(value) = text(param) {
                    uses.used.entry((method, param, value)).or_default().push(call.request);
                }
            }
            if let Some(state) = text("requestState") {
                uses.states.entry(state).or_default().push(call.request);
            }
        }
        uses
    }

    /// The first use of something that this result alone had offered by then: the event, and what was used.
    pub(crate) fn first(
        &self,
        request: MessageAt<'v>,
        sent: MessageAt<'v>,
        result: &'v Value,
    ) -> Option<(usize, String)> {
        let only = |offer: &Offer<'v>, used: usize| {
            self.offered[offer].iter().all(|&event| event == sent.event || event > used)
        };
        let by_offer = offers(request, result).into_iter().filter_map(|offer| {
            let next = self.used.get(&offer)?.iter().find(|used| used.event > sent.event)?;
            // A name that was used before the result came was known from elsewhere.
            let known = self.used[&offer].iter().any(|used| used.event < sent.event);
            (!known && only(&offer, next.event)).then(|| (next.event, format!("`{}`", offer.2.escape_debug())))
        });
        let state = result.get("requestState").and_then(Value::as_str);
        let by_state = state.and_then(|state| {
            let next = self.states.get(state)?.iter().find(|used| used.event > sent.event)?;
            Some((next.event, "the `requestState`".to_owned()))
        });
        by_offer.chain(by_state).min()
    }
}

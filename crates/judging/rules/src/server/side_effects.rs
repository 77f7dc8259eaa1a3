//! Lists that change over a call: read twice before it and twice after it with nothing else in between, on two connections.
//! It must not know which rule that breaks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::listing::{List, Snapshot, snapshots};
use crate::verdict::Breach;
use crate::view::{Call, View};

/// A call after which a list differed from what it had been twice before, and stayed so.
pub(crate) struct SideEffect<'v> {
    /// The name of the tool.
    pub tool: &'v str,
    arguments: Option<&'v Value>,
    connection: u32,
    /// The answer that showed it.
    event: usize,
    gained: BTreeSet<&'v str>,
    lost: BTreeSet<&'v str>,
}

impl SideEffect<'_> {
    /// Whether the list only has less than before.
    pub(crate) fn is_loss(&self) -> bool {
        self.gained.is_empty()
    }

    /// The same call made the same difference on another connection: neither time nor another client explains both.
    fn is_like(&self, other: &Self) -> bool {
        self.connection != other.connection
            && (self.tool, self.arguments) == (other.tool, other.arguments)
            && (&self.gained, &self.lost) == (&other.gained, &other.lost)
    }

    /// A breach at the answer that showed it.
    pub(crate) fn breach(&self, list: &List, why: &str) -> Breach {
        let difference = match (self.gained.first(), self.lost.first()) {
            (Some(more), None) => format!("`{}` more", more.escape_debug()),
            (_, Some(less)) => format!("`{}` less", less.escape_debug()),
            (None, None) => String::new(),
        };
        let (method, tool) = (list.method, self.tool.escape_debug());
        let said = format!("after a call of `{tool}`, {method} has {difference} on each of two connections: {why}");
        Breach::at(self.event, format!("/result/{}", list.member), said)
    }
}

/// The requests of the client, by connection, in their order.
pub(crate) struct Requests<'v>(BTreeMap<u32, Vec<Call<'v>>>);

impl<'v> Requests<'v> {
    /// Those of a trace.
    pub(crate) fn of(view: &View<'v>) -> Self {
        let mut all: BTreeMap<u32, Vec<Call<'v>>> = BTreeMap::new();
        for call in view.all_calls() {
            all.entry(call.request.connection).or_default().push(call);
        }
        Self(all)
    }

    /// What was asked between two events that was no list.
    fn between(&self, connection: u32, from: usize, to: usize) -> impl Iterator<Item = &Call<'v>> {
        let all = self.0.get(&connection).map(Vec::as_slice).unwrap_or_default();
        let all = &all[all.partition_point(|call| call.request.event <= from)..];
        let lists = |call: &&Call<'_>| call.request.message.method().is_some_and(|method| method.ends_with("/list"));
        all.iter().take_while(move |call| call.request.event < to).filter(move |call| !lists(call))
    }
}

/// The calls that made the same difference to a list on two connections.
pub(crate) fn side_effects<'v>(view: &View<'v>, list: &List, requests: &Requests<'v>) -> Vec<SideEffect<'v>> {
    let mut seen: BTreeMap<u32, Vec<Snapshot<'v>>> = BTreeMap::new();
    for snapshot in snapshots(view, list) {
        seen.entry(snapshot.connection).or_default().push(snapshot);
    }
    let all: Vec<_> = seen.values().flat_map(|seen| seen.windows(4).filter_map(|four| over(requests, four))).collect();
    let is_proven = |(at, one): &(usize, &SideEffect<'v>)| all[*at + 1..].iter().any(|other| one.is_like(other));
    let proven: BTreeSet<usize> = all.iter().enumerate().filter(is_proven).map(|(at, _)| at).collect();
    all.into_iter().enumerate().filter(|(at, _)| proven.contains(at)).map(|(_, effect)| effect).collect()
}

/// The difference that one call made, which came between the second and the third of four readings of a list.
fn over<'v>(requests: &Requests<'v>, four: &[Snapshot<'v>]) -> Option<SideEffect<'v>> {
    let [first, before, after, last] = four else { return None };
    let in_turn = four.windows(2).all(|two| two[0].to < two[1].from);
    if !in_turn || first.keys != before.keys || after.keys != last.keys || before.keys == after.keys {
        return None;
    }
    // Whether each reading of the list comes right after the one before, but for the call.
    let (connection, span) = (before.connection, (before.to, after.from));
    let call = only(requests.between(connection, first.from, last.to))?;
    let answered = call.response.is_some_and(|response| response.event < span.1) && call.request.event > span.0;
    let succeeded = call.result().is_some_and(|result| result.get("isError") != Some(&Value::Bool(true)));
    if !answered || !succeeded || !call.request.is("tools/call") {
        return None;
    }
    let params = call.request.message.params()?;
    Some(SideEffect {
        tool: params.get("name")?.as_str()?,
        arguments: params.get("arguments"),
        connection,
        event: after.to,
        gained: after.keys.difference(&before.keys).copied().collect(),
        lost: before.keys.difference(&after.keys).copied().collect(),
    })
}

fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

/// The readings of a list that were like the one before on their connection, with a successful call of a tool in between that
/// is `wanted`: the event of each.
pub(crate) fn unchanged<'v>(
    view: &View<'v>,
    list: &List,
    requests: &Requests<'v>,
    wanted: impl Fn(&str) -> bool,
) -> Vec<usize> {
    let mut last: BTreeMap<u32, Snapshot<'v>> = BTreeMap::new();
    let mut events = Vec::new();
    for snapshot in snapshots(view, list) {
        let (connection, to) = (snapshot.connection, snapshot.to);
        if let Some(before) = last.get(&connection).filter(|before| before.keys == snapshot.keys) {
            let is_wanted = |call: &Call<'_>| {
                let name = call.request.message.params().and_then(|params| params.get("name")?.as_str());
                call.request.is("tools/call") && call.result().is_some() && name.is_some_and(&wanted)
            };
            if requests.between(connection, before.to, snapshot.from).any(is_wanted) {
                events.push(to);
            }
        }
        last.insert(connection, snapshot);
    }
    events
}

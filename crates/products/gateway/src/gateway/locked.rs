//! What a lock allows of the servers behind the gateway: in lists, in the introduction, and before each request for an item.
//! Must not know what a lock is made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use net::service::{Call, RpcError};
use serde_json::{Value, json};
use wire::Message;

use super::{Inner, lock};
use crate::access::Action;
use crate::audit::Trail;
use crate::catalogue::{Blocked, List, Merged, fits};
use crate::failure;
use crate::locks::{Cause, Judged, Withheld, now};
use crate::upstream::{Client, Profile, Trouble, Upstream};

/// The member of `_meta` that says what is withheld.
pub(super) const WITHHELD: &str = "dev.proofhouse/withheld";
/// The stage of the audit log.
const STAGE: &str = "lock";

/// What a list says of what is withheld.
pub(super) struct Note {
    parts: Vec<Value>,
    /// Whether all clients see the same.
    is_for_all: bool,
}

impl Note {
    /// Whether all clients see the same.
    pub(super) const fn is_for_all(&self) -> bool {
        self.is_for_all
    }

    /// Says it in a result.
    pub(super) fn note(&self, body: &mut Value) {
        if self.parts.is_empty() {
            return;
        }
        match body.get_mut("_meta").and_then(Value::as_object_mut) {
            Some(meta) => {
                meta.insert(WITHHELD.to_owned(), json!(self.parts));
            }
            None => body["_meta"] = json!({ WITHHELD: self.parts }),
        }
    }
}

/// What is withheld, without names that only a server gave.
fn withheld<'b>(blocked: impl Iterator<Item = (&'b str, &'b Cause)>) -> Withheld {
    let mut all = Withheld::default();
    for (name, cause) in blocked {
        match cause {
            Cause::Changed(_) | Cause::Unsigned | Cause::Gone => all.names.push(name.to_owned()),
            cause => {
                all.others += 1;
                if cause.is_of_server() || matches!(cause, Cause::Unreadable(_)) {
                    all.reason = Some(cause.word());
                }
            }
        }
    }
    all.names.sort_unstable();
    all
}

impl Inner {
    /// Whether what an upstream says is held against a lock.
    pub(super) fn judges(&self, upstream: &Upstream) -> bool {
        self.locks.as_ref().is_some_and(|locks| locks.judges(&upstream.name))
    }

    /// The verdict on a list; `None` where nothing is held against it.
    pub(super) fn judged(
        &self,
        (upstream, list): (&Upstream, List),
        pages: &[Message],
        items: &mut Vec<Value>,
        client: &Client,
    ) -> Option<Judged> {
        let locks = self.locks.as_ref().filter(|locks| locks.judges(&upstream.name))?;
        let key = (list, self.owner(client), client.shape.context.clone());
        let before = lock(&self.lists).get(&key).map(|cached| Arc::clone(&cached.merged));
        let before = before.as_ref().and_then(|merged| merged.judged.get(&upstream.index)?.verdicts.as_ref());
        let texts: Vec<&str> = pages.iter().map(|page| page.body_text().unwrap_or_default()).collect();
        let judged = locks.judge((&upstream.name, list), &texts, items, (before, now()));
        let mut seen = withheld(judged.blocked.iter().map(|(name, cause)| (name.as_str(), cause)));
        if let Some(whole) = locks.whole(&upstream.name, now()) {
            seen.reason = Some(whole.word());
        }
        self.stats.withheld.note(&upstream.name, list.member(), seen);
        Some(judged)
    }

    /// What of a list is withheld that the client may know of.
    pub(super) async fn withheld_of(
        &self,
        list: List,
        merged: &Merged,
        whose: (&Client, &Trail),
    ) -> Result<Note, RpcError> {
        let mut shown: Vec<(&String, &Blocked)> = merged.withheld.iter().collect();
        let is_for_all = self.access.is_none() || shown.is_empty();
        if !is_for_all {
            let action = match list {
                List::Tools => Action::ToolsList,
                List::Prompts => Action::PromptsList,
                List::Resources => Action::ResourcesList,
                List::Templates => Action::TemplatesList,
            };
            let named: Vec<_> = shown.iter().map(|(name, _)| (name.as_str(), None)).collect();
            let may = self.may_each(action, &named, whose).await?;
            shown = shown.into_iter().zip(may).filter(|(_, may)| *may).map(|(one, _)| one).collect();
        }
        let mut by_upstream = BTreeMap::<usize, Vec<(&str, &Cause)>>::new();
        for (name, blocked) in shown {
            by_upstream.entry(blocked.upstream).or_default().push((name, &blocked.cause));
        }
        let part = |(index, blocked): (usize, Vec<(&str, &Cause)>)| {
            let upstream = self.upstream(index)?;
            Some(withheld(blocked.into_iter()).to_value(&upstream.name, list.member()))
        };
        Ok(Note { parts: by_upstream.into_iter().filter_map(part).collect(), is_for_all })
    }

    /// The error for something that is withheld.
    pub(super) fn refused(
        &self,
        (upstream, list, cause): (&Upstream, List, &Cause),
        names: (&str, &str),
        trail: &Trail,
    ) -> RpcError {
        trail.stage(STAGE, "withheld");
        self.stats.withheld.refused(&upstream.name);
        cause.error(list, &upstream.name, names)
    }

    /// The error for a name that is withheld, in a list that has it so.
    pub(super) fn refused_by_list(&self, blocked: &Blocked, (list, shown): (List, &str), trail: &Trail) -> RpcError {
        match self.upstream(blocked.upstream) {
            Some(upstream) => self.refused((upstream, list, &blocked.cause), (shown, &blocked.name), trail),
            None => failure::ITEM_UNKNOWN.error(format!("Unknown: {}", wire::escape::line(shown))),
        }
    }

    /// Whether an item may still be asked for that a list has: its server may not be withheld as a whole, and where each call
    /// is looked at, the item has to be what was locked at this moment.
    pub(super) async fn approved(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        (list, shown, there): (List, &str, &str),
        (client, trail): (&Client, &Trail),
    ) -> Result<(), RpcError> {
        let Some(locks) = self.locks.as_ref().filter(|locks| locks.judges(&upstream.name)) else { return Ok(()) };
        let cause = match locks.whole(&upstream.name, now()) {
            Some(whole) => Some(whole),
            None if !locks.look_at_each_call() => None,
            None if list == List::Resources => self.cause_of_resource(upstream, there, client).await?,
            None => self.cause_now(upstream, (list, there), client).await?,
        };
        match cause {
            None => Ok(()),
            Some(cause) => {
                // What clients were shown is no longer so.
                self.make_stale(|other| other == list);
                Err(self.refused((upstream, list, &cause), (shown, there), trail))
            }
        }
    }

    /// Why an item is withheld, by the list as it is now.
    async fn cause_now(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        (list, there): (List, &str),
        client: &Client,
    ) -> Result<Option<Cause>, RpcError> {
        let (names, judged) = self.looked_at(upstream, list, client).await?;
        let cause = judged.blocked.get(there).or(judged.doubt.as_ref()).cloned();
        Ok(cause.or_else(|| (!names.iter().any(|name| name == there)).then_some(Cause::Gone)))
    }

    /// The same of a URI: by the resource that the server lists, or else by the longest template that fits.
    async fn cause_of_resource(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        uri: &str,
        client: &Client,
    ) -> Result<Option<Cause>, RpcError> {
        let (names, judged) = self.looked_at(upstream, List::Resources, client).await?;
        if let Some(cause) = judged.blocked.get(uri).or(judged.doubt.as_ref()) {
            return Ok(Some(cause.clone()));
        }
        if names.iter().any(|name| name == uri) {
            return Ok(None);
        }
        let (names, judged) = self.looked_at(upstream, List::Templates, client).await?;
        let all = names.iter().map(String::as_str).chain(judged.blocked.keys().map(String::as_str));
        let longest = all.filter(|template| fits(template, uri)).max_by_key(|template| template.len());
        Ok(match longest {
            None => Some(Cause::Gone),
            Some(template) => judged.blocked.get(template).or(judged.doubt.as_ref()).cloned(),
        })
    }

    /// The names of a list as it is now, and the verdict.
    async fn looked_at(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        list: List,
        client: &Client,
    ) -> Result<(Vec<String>, Judged), RpcError> {
        let listed = self.items(upstream, list, client);
        let listed = self.part(upstream, list.method(), self.limits.list * 4, listed).await;
        let listed = listed.map_err(|missing| missing.error())?;
        let name = |item: &Value| item.get(list.key()).and_then(Value::as_str).map(str::to_owned);
        Ok((listed.items.iter().filter_map(name).collect(), listed.judged.unwrap_or_default()))
    }

    /// Looks once more before a request is sent once more: its server may be another one by now.
    pub(crate) async fn look_again(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        (method, there): (&str, &str),
        (client, trail): (&Client, &Trail),
    ) -> Result<(), Trouble> {
        let list = match method {
            "tools/call" => List::Tools,
            "prompts/get" => List::Prompts,
            "resources/read" => List::Resources,
            _ => return Ok(()),
        };
        if !self.judges(upstream) {
            return Ok(());
        }
        let looked = match list {
            List::Resources => self.cause_of_resource(upstream, there, client).await,
            list => self.cause_now(upstream, (list, there), client).await,
        };
        match looked {
            Ok(None) => Ok(()),
            Ok(Some(cause)) => Err(Trouble::Refused(self.refused((upstream, list, &cause), (there, there), trail))),
            Err(_) => {
                Err(Trouble::NotSent("what it says cannot be held against the lock: its list is missing".to_owned()))
            }
        }
    }

    /// The instructions of an upstream, where they may be passed on; and what is said of them where not.
    pub(super) fn instructions<'p>(&self, upstream: &str, profile: &'p Profile) -> (Option<&'p str>, Option<Value>) {
        let said = profile.instructions.as_deref();
        let Some(locks) = self.locks.as_ref().filter(|locks| locks.judges(upstream)) else { return (said, None) };
        let refused = locks.refuses_instructions(upstream, said, now());
        let reason = refused.as_ref().map(Cause::word);
        let withheld = Withheld { reason, ..Withheld::default() };
        let shown = reason.map(|_| withheld.to_value(upstream, "instructions"));
        self.stats.withheld.note(upstream, "instructions", withheld);
        (said.filter(|_| shown.is_none()), shown)
    }
}

/// The error of a request that goes on with an earlier one, which its server may have run in part.
pub(super) fn of_round(mut error: RpcError, call: &Call) -> RpcError {
    let goes_on = ["inputResponses", "requestState"].iter().any(|name| call.message.body_member(name).is_some());
    let rows = [failure::LOCK_CHANGED.name, failure::MANIFEST_REFUSED.name];
    if let Some(data) = error.data.as_mut().filter(|data| goes_on && rows.iter().any(|row| data["failure"] == *row)) {
        data["outcome"] = json!("unknown");
    }
    error
}

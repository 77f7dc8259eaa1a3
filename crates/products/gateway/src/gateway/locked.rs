//! What a lock allows of the servers behind the gateway: in lists, in the introduction, and before each request for an item.
//! Must not know what a lock is made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use net::server::http::HeaderValue;
use net::service::{Call, RpcError};
use serde_json::{Value, json};
use wire::Message;

use super::{Inner, lock};
use crate::access::Action;
use crate::audit::Trail;
use crate::catalogue::{Blocked, List, Merged, fits, literal};
use crate::failure;
use crate::locks::{Cause, Judged, Locks, Withheld, now, withheld_spelling};
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

/// Whose look at which list: at which upstream, whose, what it says of itself, and its own session there.
pub(super) type LookKey = (usize, List, Option<HeaderValue>, String, Option<usize>);
/// What a look finds.
pub(super) type Looked = Result<Arc<Look>, RpcError>;

/// A list as it is at one time.
pub(super) struct Look {
    names: Vec<String>,
    judged: Judged,
}

/// Why no template serves a URI at an upstream whose approved ones have at most `length` characters of literal text: the item of
/// which list is withheld.
pub(super) fn withheld_by(
    uri: &str,
    (resources, templates): (Option<&Judged>, Option<&Judged>),
    length: usize,
) -> Option<(List, String, Cause)> {
    if let Some(doubt) = resources.and_then(|judged| judged.doubt.clone()) {
        // Whether the server lists the resource itself, nobody can say.
        return Some((List::Resources, uri.to_owned(), doubt));
    }
    if withheld_spelling(uri, resources, templates) {
        let cause = resources.and_then(|judged| judged.blocked.get(uri)).cloned().unwrap_or(Cause::Spelling);
        return Some((List::Resources, uri.to_owned(), cause));
    }
    let (template, cause) = templates?.template_before(uri, length)?;
    Some((List::Templates, template.clone(), cause.clone()))
}

/// What is withheld, without names that only a server gave.
fn withheld<'b>(blocked: impl Iterator<Item = (&'b str, &'b Cause)>) -> Withheld {
    let mut all = Withheld::default();
    for (name, cause) in blocked {
        match cause {
            Cause::Changed(_) | Cause::Unsigned | Cause::Gone => all.names.push(name.to_owned()),
            cause => {
                all.others += 1;
                if cause.is_of_server() || matches!(cause, Cause::Unreadable) {
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

    /// Whether nothing of an upstream may reach a client.
    pub(crate) fn withholds(&self, upstream: &Upstream) -> bool {
        self.locks.as_ref().is_some_and(|locks| locks.whole(&upstream.name, now()).is_some())
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

    /// The error for something that is withheld. An item that the lock does not have is named only as the client named it.
    pub(super) fn refused(
        &self,
        (upstream, list, cause): (&Upstream, List, &Cause),
        (shown, there): (&str, &str),
        trail: &Trail,
    ) -> RpcError {
        trail.stage(STAGE, "withheld");
        self.stats.withheld.refused(&upstream.name);
        let has = |locks: &Arc<Locks>| shown == there || locks.has(&upstream.name, list, there);
        let there = Some(there).filter(|_| self.locks.as_ref().is_some_and(has));
        cause.error(list, &upstream.name, (shown, there))
    }

    /// The error for a name that is withheld, in a list that has it so.
    pub(super) fn refused_by_list(&self, blocked: &Blocked, (list, shown): (List, &str), trail: &Trail) -> RpcError {
        match self.upstream(blocked.upstream) {
            Some(upstream) => self.refused((upstream, list, &blocked.cause), (shown, &blocked.name), trail),
            None => failure::ITEM_UNKNOWN.error(format!("Unknown: {}", wire::escape::line(shown))),
        }
    }

    /// The error for a URI, because of the item of this list and name. A template is named where the lock has it.
    pub(super) fn refused_uri(
        &self,
        upstream: &Upstream,
        (list, there, cause): (List, &str, &Cause),
        uri: &str,
        trail: &Trail,
    ) -> RpcError {
        let has = |locks: &Arc<Locks>| locks.has(&upstream.name, list, there);
        match list {
            List::Templates if self.locks.as_ref().is_some_and(has) => {
                self.refused((upstream, list, cause), (there, there), trail)
            }
            _ => self.refused((upstream, List::Resources, cause), (uri, there), trail),
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
        let found = match locks.whole(&upstream.name, now()) {
            Some(whole) => Some((list, there.to_owned(), whole)),
            None if !locks.look_at_each_call() => None,
            None => self.cause_now(upstream, (list, there), client).await?,
        };
        match found {
            None => Ok(()),
            Some((of, name, cause)) => {
                // What clients were shown is no longer so.
                self.make_stale(|other| other == list || other == of);
                Err(match list {
                    List::Resources => self.refused_uri(upstream, (of, &name, &cause), there, trail),
                    list => self.refused((upstream, list, &cause), (shown, there), trail),
                })
            }
        }
    }

    /// Why an item is withheld, by the list as it is now: which item of which list says so.
    async fn cause_now(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        (list, there): (List, &str),
        client: &Client,
    ) -> Result<Option<(List, String, Cause)>, RpcError> {
        let looked = self.looked_at(upstream, list, client).await?;
        let judged = &looked.judged;
        if let Some(cause) = judged.blocked.get(there).or(judged.doubt.as_ref()) {
            return Ok(Some((list, there.to_owned(), cause.clone())));
        }
        if looked.names.iter().any(|name| name == there) {
            return Ok(None);
        }
        if list != List::Resources {
            return Ok(Some((list, there.to_owned(), Cause::Gone)));
        }
        // A URI that the server does not list is one of a template.
        let templates = self.looked_at(upstream, List::Templates, client).await?;
        let approved = templates.names.iter().filter(|name| !templates.judged.blocked.contains_key(*name));
        let best = approved.filter(|name| fits(name, there)).map(|name| literal(name).len()).max();
        let blocked = withheld_by(there, (Some(judged), Some(&templates.judged)), best.unwrap_or_default());
        Ok(match (blocked, best) {
            (None, None) => Some((list, there.to_owned(), Cause::Gone)),
            (blocked, _) => blocked,
        })
    }

    /// The names of a list as it is now, and the verdict. Calls of one client's view that come together share a look.
    async fn looked_at(self: &Arc<Self>, upstream: &Arc<Upstream>, list: List, client: &Client) -> Looked {
        let context = client.shape.context.as_ref().map_or(Value::Null, |context| context.key());
        let says = json!([client.revision.as_str(), client.info(), client.capabilities(), context]).to_string();
        let session = upstream.own_session(client).map(|session| Arc::as_ptr(session) as usize);
        let key = (upstream.index, list, upstream.owner(client), says, session);
        let look = async {
            let listed = self.items(upstream, list, client);
            let listed = self.part(upstream, list.method(), self.limits.list * 4, listed).await;
            let listed = listed.map_err(|missing| missing.error())?;
            let name = |item: &Value| item.get(list.key()).and_then(Value::as_str).map(str::to_owned);
            let names = listed.items.iter().filter_map(name).collect();
            Ok(Arc::new(Look { names, judged: listed.judged.unwrap_or_default() }))
        };
        Box::pin(self.looks.share(key, look)).await
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
        match self.cause_now(upstream, (list, there), client).await {
            Ok(None) => Ok(()),
            Ok(Some((of, name, cause))) => Err(Trouble::Refused(match list {
                List::Resources => self.refused_uri(upstream, (of, &name, &cause), there, trail),
                list => self.refused((upstream, list, &cause), (there, there), trail),
            })),
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

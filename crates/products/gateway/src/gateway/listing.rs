//! Lists: what all upstreams have, merged, and kept for as long as it may be used again. Must not know what is called.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use net::service::{Answer, Call, code};
use serde_json::{Value, json};
use wire::Message;
use wire::translate::result_and_losses;

use super::known_lists::Cached;
use super::{FRESH, Inner, LONGEST, PAGES, WATCHED, identity, lock, missing, noted, rejected};
use crate::answers::Hints;
use crate::audit::Trail;
use crate::catalogue::{List, Merged, Rendered, merge};
use crate::failure;
use crate::locks::{self, Judged};
use crate::upstream::{Client, Conversation, Trouble, Upstream};

/// One list of one upstream.
pub(super) struct Listed {
    /// The items. What is withheld is among them where the lock knows it: it keeps its name.
    pub(super) items: Vec<Value>,
    /// How long they may be used again.
    fresh: Duration,
    /// The verdict on them, where the upstream is held against a lock.
    pub(super) judged: Option<Judged>,
}

/// All pages of one list.
#[derive(Default)]
struct Pages {
    items: Vec<Value>,
    /// Their texts, where something is held against them.
    texts: Vec<Message>,
    hints: Vec<Option<Hints>>,
}

impl Inner {
    /// Answers a list with what all upstreams have.
    pub(super) async fn list(self: &Arc<Self>, call: &Call, (client, trail): (&Client, &Trail), list: List) -> Answer {
        if call.message.body_member("cursor").is_some() {
            return Answer::error(Some(call.id()), &failure::PARAMS_INVALID.error("Invalid params: no such cursor"));
        }
        let merged = self.merged(list, client).await;
        if let Some(first) = merged.missing.first().filter(|_| merged.missing.len() == self.upstreams.len()) {
            return Answer::error(Some(call.id()), &first.error());
        }
        let revision = call.context.revision;
        let withheld = match self.withheld_of(list, &merged, (client, trail)).await {
            Ok(withheld) => withheld,
            Err(error) => return Answer::error(Some(call.id()), &error),
        };
        let render = |items: &[Value]| {
            let body = json!({ list.member(): items });
            let (mut body, losses) = result_and_losses(list.method(), &body, revision, &identity());
            missing::note(&mut body, &merged.missing);
            withheld.note(&mut body);
            Rendered { text: body.to_string(), losses }
        };
        let allowed = match self.allowed(list, &merged, (client, trail)).await {
            Ok(allowed) => allowed,
            Err(error) => return Answer::error(Some(call.id()), &error),
        };
        let own;
        let Rendered { text, losses } = match self.searched(list, &merged, allowed) {
            None if withheld.is_for_all() => merged.rendered(revision, || render(&merged.items)),
            None => {
                own = render(&merged.items);
                &own
            }
            Some(items) => {
                own = render(&items);
                &own
            }
        };
        for loss in losses {
            self.losses.count(*loss, "", list.method());
        }
        let text = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{text}}}"#, call.id().to_json());
        noted(Answer::raw(text.into_bytes(), None), losses)
    }

    /// One list of all upstreams.
    pub(super) async fn merged(self: &Arc<Self>, list: List, client: &Client) -> Arc<Merged> {
        let key = (list, self.owner(client), client.shape.context.clone());
        let mark = {
            let lists = lock(&self.lists);
            if let Some(cached) = lists.get(&key).filter(|cached| cached.until > Instant::now()) {
                return Arc::clone(&cached.merged);
            }
            lists.mark(list)
        };
        let fetched = join_all(self.upstreams.iter().map(|upstream| async move {
            let items = self.items(upstream, list, client);
            // Without other servers, nobody waits but for this one.
            let listed = self.part(upstream, list.method(), self.limits.list * 4, items).await?;
            Ok((upstream.index, upstream.name.as_str(), listed))
        }));
        let (mut lists, mut judged, mut missing, mut fresh) = (Vec::new(), Vec::new(), Vec::new(), Duration::MAX);
        for fetched in fetched.await {
            match fetched {
                Ok((index, name, listed)) => {
                    fresh = fresh.min(listed.fresh);
                    let until = Some(Instant::now() + listed.fresh.min(LONGEST));
                    judged.extend(listed.judged.map(|judged| ((index, name), Judged { until, ..judged })));
                    lists.push((index, name, listed.items));
                }
                Err(one) => missing.push(one),
            }
        }
        let complete = missing.is_empty();
        let mut merged = merge(list, &self.view, &lists);
        for (upstream, judged) in judged {
            merged.withhold((list, &self.view), upstream, judged);
        }
        merged.missing = missing;
        let mut ends = None;
        if let Some(before) = lock(&self.lists).get(&key).filter(|_| !complete) {
            // A call to who is missing shall learn why, and no name shall change for it.
            let away = |index: usize| {
                self.upstream(index).is_some_and(|one| merged.missing.iter().any(|missing| missing.is(&one.name)))
            };
            let away: Vec<_> = self.upstreams.iter().map(|one| one.index).filter(|index| away(*index)).collect();
            merged.keep_routes(&before.merged, |index| away.contains(&index), before.outdated().map(|at| at + FRESH));
            ends = away.iter().filter_map(|index| merged.judged.get(index)?.until).min();
        }
        let merged = Arc::new(merged);
        let now = Instant::now();
        let until = now + if complete { fresh.min(LONGEST) } else { FRESH };
        let until = ends.filter(|end| *end > now).map_or(until, |end| until.min(end));
        lock(&self.lists).insert(key, Cached::new(&merged, until), mark);
        merged
    }

    /// One list of one upstream.
    pub(super) async fn items(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        list: List,
        client: &Client,
    ) -> Result<Listed, Trouble> {
        let lease = upstream.lease(client, false).await?;
        let conversation = lease.conversation();
        let follows = self.follow_changes(upstream, conversation, client);
        let profile = &conversation.profile;
        if !profile.declares(&[list.capability()]) {
            let judged = self.judges(upstream).then(Judged::default);
            let fresh = if upstream.is_per_user() { FRESH } else { WATCHED };
            return Ok(Listed { items: Vec::new(), fresh, judged });
        }
        // A notification to one user says nothing about the lists of another.
        let watched = follows && !upstream.is_per_user() && profile.declares(&[list.capability(), "listChanged"]);
        let Pages { mut items, texts, hints } = self.pages(conversation, list, client).await?;
        // What is judged is the text, before anything is renamed or left out.
        let judged = self.judged((upstream, list), &texts, &mut items, client);
        if list == List::Tools && rejected::are_looked_for(conversation) {
            items.retain(|tool| !rejected::is_rejected(&upstream.name, tool));
        }
        let fresh = self.fresh_for(list, watched, &hints);
        // A manifest may expire earlier.
        let holds = self.locks.as_ref().and_then(|locks| locks.holds_for(locks::now()));
        Ok(Listed { items, fresh: holds.map_or(fresh, |holds| fresh.min(holds)), judged })
    }

    /// All pages of a list, as they come.
    async fn pages(&self, conversation: &Conversation, list: List, client: &Client) -> Result<Pages, Trouble> {
        let (mut pages, mut bytes) = (Pages::default(), 0);
        let mut cursor = None::<Value>;
        for _ in 0..PAGES {
            let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let message = self.request(conversation, client, list.method(), params).await?;
            let Some(result) = message.result() else {
                // A server without such lists may say so. Any other error is no empty list.
                let code = message.error_code().unwrap_or(code::INTERNAL_ERROR);
                if code == code::METHOD_NOT_FOUND {
                    break;
                }
                return Err(Trouble::Refused(
                    failure::LIST_REFUSED.error(format!("it refuses {} with {code}", list.method())),
                ));
            };
            pages.hints.push(Hints::of(&message));
            pages.items.extend(result.get(list.member()).and_then(Value::as_array).cloned().unwrap_or_default());
            cursor = result.get("nextCursor").filter(|next| next.is_string()).cloned();
            if self.locks.is_some() {
                bytes += message.text().len();
                if bytes > self.limits.message_bytes {
                    let what = format!("the pages of its {} are larger than one message may be", list.method());
                    return Err(Trouble::Refused(failure::LIST_REFUSED.error(what)));
                }
                pages.texts.push(message);
            }
            if cursor.is_none() {
                break;
            }
        }
        Ok(pages)
    }
}

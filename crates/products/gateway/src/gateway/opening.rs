//! What clients learn of the servers behind the gateway when they begin: `initialize` and `server/discover`.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use net::service::{Call, Opening, RpcError};
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use wire::meta::TASKS_EXTENSION;
use wire::translate::table::{Loss, notice};
use wire::translate::task::legacy_capability;
use wire::translate::{hidden_capability, implementation, result, server_capabilities};
use wire::{Era, Revision, Transport};

use super::locked::WITHHELD;
use super::missing::note;
use super::{Inner, Missing, identity};
use crate::catalogue::List;
use crate::failure;
use crate::locks::now;
use crate::upstream::{Client, Profile};

impl Inner {
    /// The profiles of all upstreams that can be reached, with their names; and who is missing.
    async fn profiles(
        self: &Arc<Self>,
        client: &Client,
    ) -> Result<(Vec<(String, Arc<Profile>)>, Vec<Missing>), RpcError> {
        let opened = join_all(self.upstreams.iter().map(|upstream| async move {
            let lease = self.part(upstream, "introduction", self.limits.start, upstream.lease(client, false));
            let lease = lease.await?;
            self.follow_changes(upstream, lease.conversation(), client);
            Ok((upstream.name.clone(), Arc::clone(&lease.conversation().profile)))
        }));
        let (mut profiles, mut missing) = (Vec::new(), Vec::<Missing>::new());
        for one in opened.await {
            match one {
                Ok(profile) => profiles.push(profile),
                Err(one) => missing.push(one),
            }
        }
        if profiles.is_empty() && missing.iter().any(Missing::is_late) {
            // Without any, a client could not begin: the first one is waited for as long as it may take to start.
            profiles.extend(self.first_profile(client).await);
            missing.retain(|one| profiles.iter().all(|(name, _)| !one.is_of(name)));
        }
        for (name, profile) in &mut profiles {
            if self.locks.as_ref().is_some_and(|locks| locks.whole(name, now()).is_some()) {
                *profile = Arc::new(profile.without_texts(identity()));
            }
        }
        match missing.first() {
            // One server that is down spoils nothing, unless there is no other. A user who has to consent can begin.
            Some(first) if profiles.is_empty() && !first.needs_consent() => Err(first.error()),
            _ => Ok((profiles, missing)),
        }
    }

    async fn first_profile(self: &Arc<Self>, client: &Client) -> Option<(String, Arc<Profile>)> {
        let leases =
            self.upstreams.iter().map(|upstream| async move { (upstream, upstream.lease(client, false).await) });
        let mut leases: FuturesUnordered<_> = leases.collect();
        let first = async {
            loop {
                match leases.next().await? {
                    (upstream, Ok(lease)) => {
                        return Some((upstream.name.clone(), Arc::clone(&lease.conversation().profile)));
                    }
                    (_, Err(_)) => {}
                }
            }
        };
        timeout(self.limits.start, first).await.ok()?
    }

    pub(super) async fn initialize(self: &Arc<Self>, call: &Call, client: Client) -> Result<Value, RpcError> {
        let params = call.message.params();
        let asked = params.and_then(|params| params.get("protocolVersion")?.as_str());
        let asked = asked.ok_or_else(|| failure::PARAMS_INVALID.error("Invalid params: `protocolVersion`"))?;
        let legacy = asked.parse::<Revision>().ok().filter(|revision| revision.era() == Era::Legacy);
        let revision = match call.context.transport {
            Transport::HttpSse => Revision::R2024_11_05,
            _ => legacy.unwrap_or(Revision::NEWEST_LEGACY),
        };
        let session =
            call.context.session.clone().ok_or_else(|| failure::SESSION_NEEDED.error("A session is needed"))?;
        let client = Client { revision, ..client };
        let (profiles, missing) = self.profiles(&client).await?;
        let opening = Opening { revision, capabilities: client.capabilities().clone(), client: client.info().clone() };
        if !session.open(opening) {
            return Err(failure::ALREADY_INITIALIZED.error("Invalid request: this session is initialized"));
        }
        self.changes.join(&session);
        let mut body = self.introduction(&profiles, call, revision, !missing.is_empty());
        body.insert("protocolVersion".to_owned(), json!(revision.as_str()));
        body.insert("serverInfo".to_owned(), server_of(&profiles, revision, self.upstreams.len()));
        let mut body = Value::Object(body);
        note(&mut body, &missing);
        Ok(body)
    }

    pub(super) async fn discover(self: &Arc<Self>, call: &Call, client: Client) -> Result<Value, RpcError> {
        let revision = call.context.revision;
        let (profiles, missing) = self.profiles(&client).await?;
        let count = self.upstreams.len();
        let mut body = self.introduction(&profiles, call, revision, !missing.is_empty());
        let versions: Vec<_> = Revision::NEWEST_FIRST.iter().map(|revision| revision.as_str()).collect();
        body.insert("supportedVersions".to_owned(), json!(versions));
        let server = server_of(&profiles, revision, count);
        let mut body = result("server/discover", &Value::Object(body), revision, &server);
        note(&mut body, &missing);
        Ok(body)
    }
}

impl Inner {
    /// What all servers declare together, with what of it the client is not shown, and how to use them.
    fn introduction(
        &self,
        profiles: &[(String, Arc<Profile>)],
        call: &Call,
        revision: Revision,
        is_partial: bool,
    ) -> Map<String, Value> {
        let said: Vec<_> = profiles.iter().map(|(name, profile)| self.instructions(name, profile)).collect();
        let (texts, withheld): (Vec<_>, Vec<_>) = said.into_iter().unzip();
        let mut body = introduction((profiles, &texts), revision, self.upstreams.len(), is_partial);
        let makes_tasks = profiles.iter().any(|(_, profile)| profile.makes_tasks());
        let as_tasks = revision == Revision::R2025_11_25 && makes_tasks && self.upstream_alone().is_some();
        if let Some(capabilities) = body.get_mut("capabilities").filter(|_| as_tasks) {
            capabilities["tasks"] = legacy_capability();
        }
        let older_tasks = revision.era() == Era::Modern && Self::shows_older_tasks(profiles);
        if let Some(capabilities) = body.get_mut("capabilities").filter(|_| older_tasks) {
            capabilities["extensions"][TASKS_EXTENSION] = json!({});
        }
        if let Some(capabilities) = body.get_mut("capabilities") {
            self.declare_tasks(capabilities, profiles, revision);
        }
        let given = body.get("capabilities").cloned().unwrap_or_default();
        self.changes.promise(&given);
        let hidden = |(name, profile): &(String, Arc<Profile>)| {
            let mut declared = profile.capabilities.clone();
            let extensions = declared.get_mut("extensions").and_then(Value::as_object_mut).filter(|_| as_tasks);
            // Shown by another name.
            let alone = extensions.is_some_and(|all| all.remove(TASKS_EXTENSION).is_some() && all.is_empty());
            if let Some(declared) = declared.as_object_mut() {
                if alone {
                    declared.remove("extensions");
                }
                if older_tasks && profile.makes_older_tasks() {
                    declared.remove("tasks");
                }
            }
            let loss = hidden_capability(&declared, &given)?;
            self.losses.count(loss, name, call.message.method().unwrap_or_default());
            Some(loss)
        };
        let lost: Vec<Loss> = profiles.iter().filter_map(hidden).take(1).collect();
        if let Some(notice) = notice(&lost) {
            body.insert("_meta".to_owned(), notice);
        }
        let withheld: Vec<_> = withheld.into_iter().flatten().collect();
        if !withheld.is_empty() {
            body.entry("_meta").or_insert_with(|| json!({}))[WITHHELD] = json!(withheld);
        }
        if let Some(instructions) = self.view.instructions() {
            body.insert("instructions".to_owned(), Value::from(instructions));
        }
        body
    }
}

impl Inner {
    /// Whether clients of 2026-07-28 learn that calls may become tasks because older servers make some. Where a server of
    /// their own era makes some, too, nothing would say whose a task is.
    fn shows_older_tasks(profiles: &[(String, Arc<Profile>)]) -> bool {
        profiles.iter().any(|(_, profile)| profile.makes_older_tasks())
            && !profiles.iter().any(|(_, profile)| profile.makes_tasks())
    }
}

/// The name and version that clients see: a single server's own.
fn server_of(profiles: &[(String, Arc<Profile>)], revision: Revision, count: usize) -> Value {
    match profiles {
        [(_, profile)] if count == 1 => implementation(&profile.server, revision),
        _ => identity(),
    }
}

/// What a server of a name declares.
type Named = (String, Arc<Profile>);

/// What those of `count` servers declare together that are there, and how to use them, by the instructions that may be passed on.
fn introduction(
    (profiles, said): (&[Named], &[Option<&str>]),
    revision: Revision,
    count: usize,
    incomplete: bool,
) -> Map<String, Value> {
    let mut capabilities = Map::new();
    for (_, profile) in profiles {
        let era = profile.revision.era();
        let declared = server_capabilities(&profile.capabilities, era, revision);
        for (name, value) in declared.as_object().into_iter().flatten() {
            // What one server means by these is not known to the others.
            let private = matches!(name.as_str(), "experimental" | "extensions" | "tasks") && count > 1;
            if !private {
                merge_capability(capabilities.entry(name.clone()).or_insert_with(|| json!({})), value);
            }
        }
    }
    for list in List::ALL.iter().filter(|_| count > 1 || profiles.is_empty()) {
        // Lists change where a server that was missing is there again. What it has is not known before.
        let name = list.capability();
        if incomplete || capabilities.contains_key(name) {
            merge_capability(capabilities.entry(name).or_insert_with(|| json!({})), &json!({ "listChanged": true }));
        }
    }
    let mut body = Map::new();
    body.insert("capabilities".to_owned(), Value::Object(capabilities));
    let texts = profiles.iter().zip(said).filter_map(|((name, _), said)| Some((name, (*said)?)));
    let instructions = if let ([said], 1) = (said, count) {
        said.map(str::to_owned)
    } else {
        let parts: Vec<_> = texts.map(|(name, text)| format!("## {name}\n\n{text}")).collect();
        Some(parts.join("\n\n")).filter(|text| !text.is_empty())
    };
    body.extend(instructions.map(|text| ("instructions".to_owned(), Value::from(text))));
    body
}

fn merge_capability(into: &mut Value, value: &Value) {
    match (into.as_object_mut(), value.as_object()) {
        (Some(into), Some(members)) => {
            for (name, value) in members {
                let known = into.entry(name.clone()).or_insert_with(|| value.clone());
                if value == &Value::Bool(true) {
                    *known = Value::Bool(true);
                }
            }
        }
        _ => *into = value.clone(),
    }
}

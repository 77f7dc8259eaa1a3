//! Where a name or a URI leads, for a client that may use it. What it may not use reads as what does not exist.

use std::sync::Arc;

use net::server::http::HeaderValue;
use net::service::{Call, RpcError, code};
use serde_json::{Value, json};
use wire::Era;

use super::{Inner, missing};
use crate::access::{Kind, Target};
use crate::audit::Trail;
use crate::catalogue::{List, Merged, Route, fits};
use crate::context::principal;
use crate::failure;
use crate::relay::Edits;
use crate::upstream::{Client, Upstream};
use crate::view::{with_pinned, with_reference};

impl Inner {
    /// Whose view of the servers a client has: its principal's, and its user's at each server that shows users what is theirs.
    pub(super) fn owner(&self, client: &Client) -> Option<HeaderValue> {
        let per_user = self.upstreams.iter().filter(|upstream| upstream.is_per_user());
        let users: Vec<_> =
            per_user.map(|one| one.owner(client).and_then(|user| user.to_str().ok().map(str::to_owned))).collect();
        if users.is_empty() { client.subject.clone() } else { principal(client.subject.as_ref(), &users) }
    }

    /// The upstream that has a tool or a prompt. `arguments`: those of the call, where it is one.
    pub(super) async fn find(
        self: &Arc<Self>,
        list: List,
        name: Option<String>,
        arguments: Option<&Value>,
        (client, trail): (&Client, &Trail),
    ) -> Result<(Arc<Upstream>, Route), RpcError> {
        let kind = if list == List::Tools { "tool" } else { "prompt" };
        let name = name.ok_or_else(|| failure::PARAMS_INVALID.error("Invalid params: `name` is not a string"))?;
        let merged = self.merged(list, client).await;
        let route = merged.routes.get(&name).and_then(|route| Some((self.upstream(route.upstream)?, route)));
        // What a client may not use reads as what does not exist.
        let route = route.filter(|_| {
            let may = self.allows(list, &name, (&merged, arguments), client);
            self.decided(trail, may);
            may
        });
        let (upstream, route) = route.ok_or_else(|| missing::unknown(kind, &name, &merged.missing))?;
        Ok((Arc::clone(upstream), route.clone()))
    }

    /// Notes what the rules say, where there are rules.
    fn decided(&self, trail: &Trail, may: bool) {
        if self.access.is_some() {
            trail.decided(may);
        }
    }

    /// Whether the client may use an item. `arguments`: those of a call, where it is one.
    pub(super) fn allows(
        &self,
        list: List,
        name: &str,
        (merged, arguments): (&Merged, Option<&Value>),
        client: &Client,
    ) -> bool {
        let Some(access) = &self.access else { return true };
        let kind = match list {
            List::Tools => Kind::Tool,
            List::Prompts => Kind::Prompt,
            List::Resources | List::Templates => Kind::Resource,
        };
        let is_it = |item: &&Value| item.get(list.key()).and_then(Value::as_str) == Some(name);
        let item = (access.use_annotations() && kind == Kind::Tool).then(|| merged.items.iter().find(is_it)).flatten();
        access.allow(&Target {
            kind,
            name,
            annotations: item.and_then(|item| item.get("annotations")),
            arguments,
            grant: client.grant.as_deref(),
            client: client.info(),
            server: self.view.name(),
        })
    }

    /// The upstream that lists a resource, or else the first one whose template fits.
    pub(super) async fn find_resource(
        self: &Arc<Self>,
        uri: Option<String>,
        (client, trail): (&Client, &Trail),
    ) -> Result<(Arc<Upstream>, Route), RpcError> {
        let uri = uri.ok_or_else(|| failure::PARAMS_INVALID.error("Invalid params: `uri` is not a string"))?;
        // A URI that a template names may be one that is not shown.
        let by = |index: usize| {
            let upstream = self.upstream(index).filter(|one| self.view.shows(List::Resources, &one.name, &uri))?;
            Some((Arc::clone(upstream), Route { upstream: index, name: uri.clone(), pinned: None }))
        };
        let code = if client.revision.era() == Era::Legacy { code::RESOURCE_NOT_FOUND } else { code::INVALID_PARAMS };
        let not_found = || {
            let what = format!("Resource not found: {}", wire::escape::line(&uri));
            RpcError { code, ..failure::RESOURCE_UNKNOWN.error_with(what, json!({ "uri": uri })) }
        };
        let listed = self.merged(List::Resources, client).await;
        let may = self.allows(List::Resources, &uri, (&listed, None), client);
        self.decided(trail, may);
        if !may {
            return Err(not_found());
        }
        if let Some(found) = listed.routes.get(&uri).and_then(|route| by(route.upstream)) {
            return Ok(found);
        }
        let templates = self.merged(List::Templates, client).await;
        let mut fitting: Vec<_> = templates.routes.iter().filter(|(template, _)| fits(template, &uri)).collect();
        // The longest template that fits says most of what it means.
        fitting.sort_by_key(|(template, route)| (std::cmp::Reverse(template.len()), route.upstream));
        if let Some(found) = fitting.first().and_then(|(_, route)| by(route.upstream)) {
            return Ok(found);
        }
        Err(not_found())
    }

    /// The items that the client may use; `None` where it may use all of them.
    pub(super) fn allowed(&self, list: List, merged: &Merged, client: &Client) -> Option<Vec<Value>> {
        self.access.as_ref()?;
        let may = |item: &&Value| {
            let name = item.get(list.key()).and_then(Value::as_str);
            name.is_some_and(|name| self.allows(list, name, (merged, None), client))
        };
        let items: Vec<_> = merged.items.iter().filter(may).cloned().collect();
        (items.len() < merged.items.len()).then_some(items)
    }
}

/// How a request for an item differs at its upstream.
pub(super) fn edits(call: &Call, method: &str, route: &Route) -> Result<Edits, RpcError> {
    let mut edits = Edits::default();
    let text = call.message.text();
    if let Some(pinned) = &route.pinned {
        let sent = with_pinned(text, pinned).map_err(|name| {
            let name = wire::escape::line(&name).into_owned();
            failure::ARGUMENT_PINNED.error(format!("Invalid params: the argument `{name}` is set by this server"))
        })?;
        edits.text = Some(sent);
    }
    let shown = call.message.string_member("name");
    if shown.is_some_and(|shown| shown != route.name) || edits.text.is_some() {
        edits.name = Some(("name", route.name.clone()));
    }
    if method == "completion/complete" {
        let reference = call.message.params().and_then(|params| params.get("ref")?.get("name")?.as_str());
        if reference.is_some_and(|reference| reference != route.name) {
            edits.name = None;
            edits.text = Some(with_reference(text, &route.name));
        }
    }
    Ok(edits)
}

/// What is known of a prompt's arguments while one of them is completed: the others that the client has filled in, and what
/// there is of this one. Conditions on arguments decide by it, as they would for the prompt itself.
pub(super) fn known_arguments(call: &Call) -> Value {
    let params = call.message.params();
    let filled = params.and_then(|params| params.get("context")?.get("arguments")?.as_object());
    let mut known = filled.cloned().unwrap_or_default();
    let completed = params.and_then(|params| params.get("argument"));
    let member = |name: &str| completed.and_then(|argument| argument.get(name));
    if let (Some(name), Some(value)) = (member("name").and_then(Value::as_str), member("value")) {
        known.insert(name.to_owned(), value.clone());
    }
    Value::Object(known)
}

//! Where a name or a URI leads, for a client that may use it. What it may not use reads as what does not exist.

use std::cmp::Reverse;
use std::sync::Arc;

use net::server::http::HeaderValue;
use net::service::{Call, RpcError, code};
use serde_json::{Value, json};
use wire::Era;

use super::locked::withheld_by;
use super::{Inner, missing};
use crate::access::{Action, Target};
use crate::audit::Trail;
use crate::catalogue::{Blocked, List, Merged, Route, fits, literal};
use crate::context::principal;
use crate::failure;
use crate::locks::may_fit;
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
        action: Action,
        name: Option<String>,
        arguments: Option<&Value>,
        (client, trail): (&Client, &Trail),
    ) -> Result<(Arc<Upstream>, Route), RpcError> {
        let (list, kind) = if action.is_of_tool() { (List::Tools, "tool") } else { (List::Prompts, "prompt") };
        let name = name.ok_or_else(|| failure::PARAMS_INVALID.error("Invalid params: `name` is not a string"))?;
        let merged = self.merged(list, client).await;
        let route = merged.routes.get(&name).and_then(|route| Some((self.upstream(route.upstream)?, route)));
        // What a client may not use reads as what does not exist. A name that is not there is decided about as well: otherwise
        // the time that it takes, or a policy decision point that fails, would tell.
        let may = self.may(action, &name, (&merged, arguments), (client, trail)).await?;
        let withheld = merged.withheld.get(&name);
        if route.is_some() || withheld.is_some() {
            self.decided(trail, may);
        }
        if let Some(blocked) = withheld.filter(|_| may) {
            return Err(self.refused_by_list(blocked, (list, &name), trail));
        }
        let route = route.filter(|_| may);
        let (upstream, route) = route.ok_or_else(|| missing::unknown(kind, &name, &merged.missing))?;
        self.approved(upstream, (list, &name, &route.name), (client, trail)).await?;
        Ok((Arc::clone(upstream), route.clone()))
    }

    /// Notes what the rules say, where there are rules.
    fn decided(&self, trail: &Trail, may: bool) {
        if self.access.is_some() {
            trail.decided(may);
        }
    }

    /// Whether the client may use an item. `arguments`: those of a call, where it is one.
    pub(super) async fn may(
        &self,
        action: Action,
        name: &str,
        (merged, arguments): (&Merged, Option<&Value>),
        (client, trail): (&Client, &Trail),
    ) -> Result<bool, RpcError> {
        let Some(access) = &self.access else { return Ok(true) };
        let looks = access.uses_annotations() && action.is_of_tool();
        let item = looks.then(|| merged.item(name)).flatten();
        let target = self.target(action, (name, item), arguments, client);
        let decided = access.allow(action, &[target]).await;
        decided.map(|may| may == [true]).map_err(|_| undecided(trail))
    }

    /// The same for several items, in their order: each with its name, and a tool with what its server says of it.
    pub(super) async fn may_each(
        &self,
        action: Action,
        items: &[(&str, Option<&Value>)],
        (client, trail): (&Client, &Trail),
    ) -> Result<Vec<bool>, RpcError> {
        let Some(access) = &self.access else { return Ok(vec![true; items.len()]) };
        let targets: Vec<_> = items.iter().map(|item| self.target(action, *item, None, client)).collect();
        access.allow(action, &targets).await.map_err(|_| undecided(trail))
    }

    fn target<'t>(
        &'t self,
        action: Action,
        (name, item): (&'t str, Option<&'t Value>),
        arguments: Option<&'t Value>,
        client: &'t Client,
    ) -> Target<'t> {
        Target {
            kind: action.kind(),
            name,
            annotations: item.and_then(|item| item.get("annotations")),
            arguments,
            grant: client.grant.as_deref(),
            client: client.info(),
            server: self.view.name(),
        }
    }

    /// The upstream of a resource that the client may use.
    pub(super) async fn find_resource(
        self: &Arc<Self>,
        action: Action,
        uri: Option<String>,
        (client, trail): (&Client, &Trail),
    ) -> Result<(Arc<Upstream>, Route), RpcError> {
        let uri = uri.ok_or_else(|| failure::PARAMS_INVALID.error("Invalid params: `uri` is not a string"))?;
        let may = self.may_each(action, &[(&uri, None)], (client, trail)).await? == [true];
        self.decided(trail, may);
        // What is completed is a template first of all.
        let names_template = may && action == Action::CompleteResource;
        let (mut list, mut found) = (List::Templates, None);
        if names_template {
            found = self.locate_template(&uri, (client, trail)).await?;
        }
        if may && found.is_none() {
            (list, found) = (List::Resources, self.locate_resource(&uri, (client, trail)).await?);
        }
        if let Some((upstream, route)) = &found {
            self.approved(upstream, (list, &uri, &route.name), (client, trail)).await?;
        }
        found.ok_or_else(|| {
            let is_legacy = client.revision.era() == Era::Legacy;
            let code = if is_legacy { code::RESOURCE_NOT_FOUND } else { code::INVALID_PARAMS };
            let what = format!("Resource not found: {}", wire::escape::line(&uri));
            RpcError { code, ..failure::RESOURCE_UNKNOWN.error_with(what, json!({ "uri": uri })) }
        })
    }

    /// The upstream that lists a resource, or else the first one whose template fits. What the lock has and is withheld is not
    /// looked for elsewhere.
    pub(super) async fn locate_resource(
        self: &Arc<Self>,
        uri: &str,
        (client, trail): (&Client, &Trail),
    ) -> Result<Option<(Arc<Upstream>, Route)>, RpcError> {
        // A URI that a template names may be one that is not shown.
        let by = |index: usize| {
            let upstream = self.upstream(index).filter(|one| self.view.shows(List::Resources, &one.name, uri))?;
            Some((Arc::clone(upstream), Route { upstream: index, name: uri.to_owned(), pinned: None }))
        };
        let listed = self.merged(List::Resources, client).await;
        let held = listed.withheld.get(uri);
        let refuse = |blocked: &Blocked, list: List, name: &str| match self.upstream(blocked.upstream) {
            Some(upstream) => self.refused_uri(upstream, (list, name, &blocked.cause), uri, trail),
            None => failure::RESOURCE_UNKNOWN.error("Resource not found"),
        };
        if let Some(blocked) = held.filter(|blocked| blocked.is_known) {
            return Err(refuse(blocked, List::Resources, uri));
        }
        if let Some(found) = listed.routes.get(uri).and_then(|route| by(route.upstream)) {
            return Ok(Some(found));
        }
        let templates = self.merged(List::Templates, client).await;
        match served(uri, &listed, &templates) {
            Served::At(index) => Ok(by(index)),
            Served::Withheld(list, blocked) => Err(refuse(&blocked, list, &blocked.name)),
            Served::Nowhere => held.map_or(Ok(None), |blocked| Err(refuse(blocked, List::Resources, uri))),
        }
    }

    /// The upstream that lists a template of this text.
    async fn locate_template(
        self: &Arc<Self>,
        template: &str,
        (client, trail): (&Client, &Trail),
    ) -> Result<Option<(Arc<Upstream>, Route)>, RpcError> {
        let templates = self.merged(List::Templates, client).await;
        if let Some(blocked) = templates.withheld.get(template) {
            return Err(self.refused_by_list(blocked, (List::Templates, template), trail));
        }
        let found = templates.routes.get(template);
        Ok(found.and_then(|route| Some((Arc::clone(self.upstream(route.upstream)?), route.clone()))))
    }

    /// The items that the client may use; `None` where it may use all of them.
    pub(super) async fn allowed(
        &self,
        list: List,
        merged: &Merged,
        whose: (&Client, &Trail),
    ) -> Result<Option<Vec<Value>>, RpcError> {
        if self.access.is_none() {
            return Ok(None);
        }
        let action = match list {
            List::Tools => Action::ToolsList,
            List::Prompts => Action::PromptsList,
            List::Resources => Action::ResourcesList,
            List::Templates => Action::TemplatesList,
        };
        let named = |item| Some((Value::as_str(Value::get(item, list.key())?)?, Some(item)));
        let named: Vec<_> = merged.items.iter().filter_map(named).collect();
        let may = self.may_each(action, &named, whose).await?;
        let items: Vec<_> =
            named.iter().zip(may).filter(|(_, may)| *may).filter_map(|((_, item), _)| item.cloned()).collect();
        Ok((items.len() < merged.items.len()).then_some(items))
    }
}

/// Where a URI leads that no list has.
enum Served {
    /// To this upstream, by an approved template.
    At(usize),
    /// To something that is withheld.
    Withheld(List, Blocked),
    Nowhere,
}

/// Where a URI leads by the templates: the one with most literal text counts, of those the first upstream's. A server that also
/// has something that is withheld for the URI is passed over.
fn served(uri: &str, listed: &Merged, templates: &Merged) -> Served {
    let rank = |template: &str, upstream: usize| (Reverse(literal(template).len()), upstream);
    let approved = templates.routes.iter().filter(|(template, _)| fits(template, uri));
    let mut approved: Vec<_> = approved.map(|(template, route)| rank(template, route.upstream)).collect();
    approved.sort_unstable();
    let withheld = templates.withheld.iter().filter(|(template, _)| may_fit(template, uri));
    let withheld = withheld.min_by_key(|(template, blocked)| (!blocked.is_known, rank(template, blocked.upstream)));
    let known = withheld.filter(|(_, blocked)| blocked.is_known);
    let refused = |(_, blocked): (&String, &Blocked)| Served::Withheld(List::Templates, blocked.clone());
    let mut passed_over = None;
    for (length, upstream) in approved {
        if let Some(known) = known.filter(|(template, blocked)| rank(template, blocked.upstream) <= (length, upstream))
        {
            return refused(known);
        }
        let judged = (listed.judged.get(&upstream), templates.judged.get(&upstream));
        let Some((list, name, cause)) = withheld_by(uri, judged, length.0) else { return Served::At(upstream) };
        passed_over.get_or_insert(Served::Withheld(list, Blocked { upstream, name, cause, is_known: true }));
    }
    withheld.map(refused).or(passed_over).unwrap_or(Served::Nowhere)
}

/// Without a decision, nothing is allowed. This is no denial: the same request may be allowed later.
fn undecided(trail: &Trail) -> RpcError {
    trail.undecided();
    failure::POLICY_UNAVAILABLE.error("Access to this cannot be decided now: the policy decision point does not answer")
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

/// What a completion is for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// The prompt of this name.
    Prompt(String),
    /// The resource or template of this URI.
    Resource(String),
}

/// What a completion is for, by the type of its `ref`. One with the member of the other type is refused: a server might go by that.
pub(super) fn reference(call: &Call) -> Result<Reference, RpcError> {
    let reference = call.message.params().and_then(|params| params.get("ref"));
    referred(reference).ok_or_else(|| {
        let what = "Invalid params: `ref` is neither a `ref/prompt` with a `name` nor a `ref/resource` with a `uri`";
        failure::PARAMS_INVALID.error(what)
    })
}

fn referred(reference: Option<&Value>) -> Option<Reference> {
    let member = |name: &str| reference?.get(name);
    let text = |name: &str, other: &str| member(name)?.as_str().filter(|_| member(other).is_none()).map(str::to_owned);
    match member("type")?.as_str()? {
        "ref/prompt" => text("name", "uri").map(Reference::Prompt),
        "ref/resource" => text("uri", "name").map(Reference::Resource),
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Reference, referred};

    #[test]
    fn a_reference_is_what_its_type_says_and_nothing_else_beside() {
        let prompt = json!({ "type": "ref/prompt", "name": "p", "title": "P" });
        assert_eq!(referred(Some(&prompt)), Some(Reference::Prompt("p".to_owned())));
        let resource = json!({ "type": "ref/resource", "uri": "a://{b}" });
        assert_eq!(referred(Some(&resource)), Some(Reference::Resource("a://{b}".to_owned())));
        for odd in [
            json!({ "type": "ref/resource", "uri": "secret://{id}", "name": "allowed" }),
            json!({ "type": "ref/prompt", "uri": "secret://{id}", "name": "allowed" }),
            json!({ "type": "ref/resource", "name": "allowed" }),
            json!({ "type": "ref/tool", "name": "allowed" }),
            json!({ "name": "allowed" }),
            json!("allowed"),
        ] {
            assert_eq!(referred(Some(&odd)), None, "{odd}");
        }
        assert_eq!(referred(None), None);
    }
}

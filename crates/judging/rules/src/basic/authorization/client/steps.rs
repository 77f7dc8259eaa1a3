//! What crossed on the way to a token: challenges, documents, registrations, requests for authorization and for tokens. They
//! are recognized by their form, not by their address: a client may use a wrong one. It judges nothing.

use serde_json::Value;
use wire::Party;
use wire::trace::{Content, Frame, Mark};

use super::form::Form;
use super::issuer::Issuer;
use crate::basic::authorization::metadata::{is_missing, object};
use crate::basic::authorization::{Address, bearer_challenges, challenged};
use crate::verdict::{Breach, Located};
use crate::view::{Exchange, View};

/// A request on the way, with what it asks and what came of it.
pub(super) struct Step<'a, 'v, Q> {
    pub(super) x: &'a Exchange<'v>,
    /// What it asks: parameters, or an object.
    pub(super) asks: Q,
    /// The JSON object that a success brought.
    pub(super) given: Option<Value>,
}

impl<Q> Step<'_, '_, Q> {
    /// The event of the request.
    pub(super) fn at(&self) -> usize {
        requested_at(self.x)
    }

    /// The event of the answer.
    pub(super) fn answered_at(&self) -> Option<usize> {
        answered_at(self.x)
    }

    /// A text in the object that it brought.
    pub(super) fn given_text(&self, name: &str) -> Option<&str> {
        self.given.as_ref()?.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// A breach at the request.
    pub(super) fn breach(&self, pointer: &str, why: impl Into<String>) -> Breach {
        Breach::at(self.at(), pointer, why)
    }
}

impl<Q> Located for Step<'_, '_, Q> {
    fn event(&self) -> usize {
        self.at()
    }
}

/// A fetch of a document.
pub(super) type Document<'a, 'v> = Step<'a, 'v, ()>;
/// A dynamic registration.
pub(super) type Registration<'a, 'v> = Step<'a, 'v, Value>;
/// A request for authorization, or for a token.
pub(super) type Request<'a, 'v> = Step<'a, 'v, Form>;

impl Document<'_, '_> {
    /// Whether the answer says that there is no such document.
    pub(super) fn is_missing(&self) -> bool {
        is_missing(self.x)
    }

    /// The texts of a list in the document.
    pub(super) fn list(&self, name: &str) -> Option<Vec<&str>> {
        Some(self.given.as_ref()?.get(name)?.as_array()?.iter().filter_map(Value::as_str).collect())
    }
}

impl Request<'_, '_> {
    /// A parameter that is there and not empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.asks.text(name)
    }

    /// What an authorization request was answered with: the parameters of the address that the user is sent back to.
    pub(super) fn sent_back(&self) -> Option<Form> {
        let location = self.x.response_header("location")?;
        let back = Form::of_target(location);
        (back.has("code") || back.has("error")).then_some(back)
    }

    /// Whether it is a token request for a grant of this type.
    pub(super) fn is_grant(&self, kind: &str) -> bool {
        self.text("grant_type") == Some(kind)
    }
}

/// All of it, each kind in order.
pub(super) struct Steps<'a, 'v> {
    pub(super) view: &'a View<'v>,
    /// Requests at the MCP endpoint.
    pub(super) endpoint: Vec<&'a Exchange<'v>>,
    /// Fetches of what the resource says about itself.
    pub(super) resources: Vec<Document<'a, 'v>>,
    /// Fetches of what authorization servers say about themselves.
    pub(super) issuers: Vec<Document<'a, 'v>>,
    pub(super) registrations: Vec<Registration<'a, 'v>>,
    pub(super) authorizations: Vec<Request<'a, 'v>>,
    pub(super) grants: Vec<Request<'a, 'v>>,
}

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const ISSUER: [&str; 2] = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];

impl<'a, 'v> Steps<'a, 'v> {
    pub(super) fn of(view: &'a View<'v>) -> Self {
        let mut steps = Self {
            view,
            endpoint: view.endpoint_exchanges(),
            resources: Vec::new(),
            issuers: Vec::new(),
            registrations: Vec::new(),
            authorizations: Vec::new(),
            grants: Vec::new(),
        };
        let named: Vec<String> = steps.refusals().filter_map(|x| challenged(x, "resource_metadata")).collect();
        let named = distinct(named);
        for x in view.exchanges() {
            let by_client = x.request.is_some_and(|(event, ..)| view.frame(event).from == Party::Client);
            match x.method() {
                Some("GET") if by_client => steps.fetched(x, &named),
                Some("POST") if by_client && x.client_messages.is_empty() => steps.posted(x),
                _ => {}
            }
        }
        steps
    }

    fn fetched(&mut self, x: &'a Exchange<'v>, named: &[String]) {
        let path = x.path().unwrap_or_default();
        if path.starts_with(RESOURCE) || named.iter().any(|url| leads_to(url, x)) {
            self.resources.push(Step { x, asks: (), given: object(x) });
        } else if ISSUER.iter().any(|place| path.contains(place)) {
            self.issuers.push(Step { x, asks: (), given: object(x) });
        } else if let Some((_, _, target, _)) = x.request
            && target.contains("response_type=")
        {
            // A request that refers to one pushed beforehand shows nothing of what it asks.
            let asks = Form::of_target(target);
            if !asks.has("request_uri") && !asks.has("request") {
                self.authorizations.push(Step { x, asks, given: None });
            }
        }
    }

    fn posted(&mut self, x: &'a Exchange<'v>) {
        let Some((_, bytes)) = x.request_body else { return };
        let Ok(text) = core::str::from_utf8(bytes) else { return };
        let given = || success_body(x);
        match serde_json::from_str::<Value>(text) {
            Ok(asks) if asks.is_object() && asks.get("jsonrpc").is_none() => {
                if asks.get("redirect_uris").is_some() || asks.get("client_name").is_some() {
                    self.registrations.push(Step { x, asks, given: given() });
                }
            }
            Ok(_) => {}
            Err(_) => {
                let asks = Form::read(text);
                if asks.text("grant_type").is_some() {
                    self.grants.push(Step { x, asks, given: given() });
                } else if asks.text("response_type").is_some() && asks.text("client_id").is_some() {
                    self.authorizations.push(Step { x, asks, given: None });
                }
            }
        }
    }

    /// Requests at the endpoint that were answered 401.
    pub(super) fn refusals(&self) -> impl Iterator<Item = &'a Exchange<'v>> + '_ {
        self.endpoint.iter().copied().filter(|x| x.status() == Some(401))
    }

    /// Requests at the endpoint that a token has too little scope for, as the answer says.
    pub(super) fn too_little(&self) -> impl Iterator<Item = &'a Exchange<'v>> + '_ {
        let is_insufficient = |x: &&Exchange<'_>| challenged(x, "error").as_deref() == Some("insufficient_scope");
        self.endpoint.iter().copied().filter(move |x| x.status() == Some(403) && is_insufficient(x))
    }

    /// The scopes that a refusal names.
    pub(super) fn scopes(x: &Exchange<'_>) -> Option<Vec<String>> {
        let challenges = bearer_challenges(x);
        let mut all: Vec<String> = challenges.iter().find_map(|c| c.scopes())?.into_iter().map(str::to_owned).collect();
        all.sort_unstable();
        all.dedup();
        Some(all)
    }

    /// What the resource's own metadata, fetched before `event`, names as authorization servers; the newest last.
    pub(super) fn listed(&self, event: usize) -> Vec<(usize, Vec<&str>)> {
        let before =
            self.resources.iter().filter(|d| d.answered_at().is_some_and(|is_insufficient| is_insufficient < event));
        before.filter_map(|d| Some((d.answered_at()?, d.list("authorization_servers")?))).collect()
    }

    /// The documents fetched before a request that name the place it went to as `endpoint`.
    pub(super) fn documents_of<'s, Q>(&'s self, step: &Step<'_, '_, Q>, endpoint: &str) -> Vec<&'s Document<'a, 'v>> {
        let before =
            self.issuers.iter().filter(|d| d.answered_at().is_some_and(|is_insufficient| is_insufficient < step.at()));
        before.filter(|d| d.given_text(endpoint).is_some_and(|url| path_leads_to(url, step.x))).collect()
    }

    /// Who owns the place a request went to; `None` where that is not known, or is more than one.
    pub(super) fn owner<'s, Q>(&'s self, step: &Step<'_, '_, Q>, endpoint: &str) -> Option<&'s str> {
        let documents = self.documents_of(step, endpoint);
        let mut owners = documents.into_iter().filter_map(|d| d.given_text("issuer"));
        let first = owners.next()?;
        owners.all(|other| other == first).then_some(first)
    }

    /// The first request after `event` by which the client looks for an authorization server or makes itself known to one:
    /// who stored what was found another time needs neither.
    pub(super) fn seeks(&self, event: usize) -> Option<usize> {
        let documents = self.issuers.iter().map(Step::at);
        documents.chain(self.registrations.iter().map(Step::at)).filter(|at| *at > event).min()
    }

    /// The first request for authorization or a token after `event`.
    pub(super) fn wants(&self, event: usize) -> Option<usize> {
        let requests = self.authorizations.iter().chain(&self.grants);
        requests.map(Step::at).filter(|at| *at > event).min()
    }

    /// Every issuer that the resource's metadata lists, as its locations.
    pub(super) fn listed_issuers(&self) -> Vec<Issuer<'_>> {
        let mut all: Vec<&str> = self.listed(usize::MAX).into_iter().flat_map(|(_, names)| names).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().filter_map(Issuer::of).collect()
    }

    /// The event by which whatever the client was to do after `event` would have been done: it ended, was given up, or was
    /// listened to long enough.
    pub(super) fn over(&self, event: usize) -> Option<usize> {
        let asks = |(_, frame): &(usize, &Frame)| matches!(frame.content, Content::Request { .. });
        let last = self.view.frames().rfind(asks).map_or(0, |(at, _)| at);
        self.view.frames().skip(event.saturating_add(1)).find_map(|(at, frame)| match &frame.content {
            Content::Mark(Mark::WindowClosed(_)) => Some(at),
            Content::Mark(Mark::Signal(_)) => (frame.connection == 0).then_some(at),
            Content::Closed(_) => (frame.exchange == 0 && at > last).then_some(at),
            Content::Exit { .. } => (frame.from == Party::Client).then_some(at),
            _ => None,
        })
    }

    /// The event by which the client left on its own after `event`: anything not done by then it did not intend.
    pub(super) fn left(&self, event: usize) -> Option<usize> {
        let left = self.view.departure().map(|(at, _)| at).filter(|at| self.view.crash() != Some(*at));
        left.filter(|at| *at > event)
    }

    /// How the client's own process ended after `event`: whether a signal ended it.
    pub(super) fn crashed(&self, event: usize) -> Option<usize> {
        self.view.crash().filter(|at| *at > event)
    }
}

/// The JSON object that a success brought.
fn success_body(x: &Exchange<'_>) -> Option<Value> {
    let (_, bytes) = x.response_body.filter(|_| x.succeeded())?;
    serde_json::from_slice(bytes).ok().filter(Value::is_object)
}

/// The event of a request.
pub(super) fn requested_at(x: &Exchange<'_>) -> usize {
    x.request.map_or(0, |(event, ..)| event)
}

/// The event of an answer.
pub(super) fn answered_at(x: &Exchange<'_>) -> Option<usize> {
    x.response.map(|(event, ..)| event)
}

/// Whether a request went to this URL, query and all.
pub(super) fn leads_to(url: &str, x: &Exchange<'_>) -> bool {
    let root = |target: &str| if target.is_empty() { "/".to_owned() } else { target.to_owned() };
    let here = |address: Address<'_>| x.request.is_some_and(|(_, _, target, _)| root(target) == root(address.target));
    is_at(url, x) && Address::of(url).is_some_and(here)
}

/// Whether a request went to this URL, whatever its query.
pub(super) fn path_leads_to(url: &str, x: &Exchange<'_>) -> bool {
    let path = |target: &str| target.split('?').next().unwrap_or_default().trim_end_matches('/').to_owned();
    is_at(url, x)
        && Address::of(url).is_some_and(|address| x.path().is_some_and(|own| path(own) == path(address.target)))
}

/// Whether a request went to this URL's host.
pub(super) fn is_at(url: &str, x: &Exchange<'_>) -> bool {
    Address::of(url).zip(x.request_header("host")).is_some_and(|(address, host)| address.is_at(host))
}

/// Each once, in order.
pub(super) fn distinct(mut all: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|one| seen.insert(one.clone()));
    all
}

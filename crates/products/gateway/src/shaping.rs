//! What a principal's requests say of it, and what it gets of answers: the stages `context` and `sanitize` of one client.
//! Must not know how requests travel.

use std::borrow::Cow;
use std::sync::Arc;

use net::server::http::{HeaderName, HeaderValue};
use net::service::{Answer, RpcError};
use serde_json::{Value, json};
use wire::RequestId;

use crate::audit::Trail;
use crate::context::{Injected, claim_text, principal};
use crate::failure;
use crate::guards::Guards;
use crate::inputs::Inputs;
use crate::interceptors::Intercepted;
use crate::outputs::Outputs;
use crate::sanitize::{Kind, Removed, Sanitizer};
use crate::settings::{ContextKind, ContextSettings, SearchSettings, Settings};
use crate::upstream::Client;

/// Methods whose results say what there is, not what it holds.
const DESCRIPTIONS: [&str; 6] =
    ["initialize", "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/// How requests and answers are shaped.
pub(crate) struct Shaping {
    context: Option<ContextSettings>,
    sanitizer: Option<Arc<Sanitizer>>,
    search: Option<SearchSettings>,
    inputs: Option<Inputs>,
    outputs: Option<Outputs>,
    guards: Option<Arc<Guards>>,
}

impl Shaping {
    pub(crate) fn new(settings: &Settings, guards: Option<Arc<Guards>>) -> Self {
        let sanitizer = settings.sanitize.as_ref().map(|settings| Arc::new(Sanitizer::new(settings)));
        let outputs = settings.outputs.as_ref().map(Outputs::new);
        let inputs = settings.inputs.as_ref().map(Inputs::new);
        let (context, search) = (settings.context.clone(), settings.search.clone());
        Self { context, sanitizer, search, inputs, outputs, guards }
    }

    /// Whether it decides by the names that lists have.
    pub(crate) const fn needs_names(&self) -> bool {
        self.guards.is_some() || self.search.is_some()
    }

    /// What stands between calls and their servers.
    pub(crate) const fn guards(&self) -> Option<&Arc<Guards>> {
        self.guards.as_ref()
    }

    /// When clients search for tools.
    pub(crate) const fn search(&self) -> Option<&SearchSettings> {
        self.search.as_ref()
    }

    /// What of arguments reaches servers.
    pub(crate) const fn inputs(&self) -> Option<&Inputs> {
        self.inputs.as_ref()
    }

    /// How results of tools are checked.
    pub(crate) const fn outputs(&self) -> Option<&Outputs> {
        self.outputs.as_ref()
    }

    /// Gives a client its shape; the error where its token lacks what servers must be told.
    pub(crate) fn shape(&self, client: &mut Client, trail: &Trail) -> Result<(), RpcError> {
        let claims = client.grant.as_ref().map(|grant| &grant.claims);
        let claim = |name: &str| claims.and_then(|claims| claims.get(name)).and_then(claim_text);
        let tenant_claim = self.sanitizer.as_ref().and_then(|sanitizer| sanitizer.tenant_claim());
        let tenant = tenant_claim.and_then(claim);
        let user_tenant = self.user_tenant_claim().and_then(claim).map(Arc::from);
        let mut parts = Vec::new();
        if tenant_claim.is_some() {
            parts.push(tenant.clone());
        }
        let mut context = None;
        if let Some(settings) = &self.context {
            let injected = Injected::of(settings, client.grant.as_deref());
            trail.told(if injected.is_ok() { "added" } else { "refused" });
            context = Some(Arc::new(injected?));
            // Scopes may change with a new token: the client stays who it is.
            let named = settings.values.iter().filter(|value| value.kind != ContextKind::Scopes);
            parts.extend(named.map(|value| claim(&value.claim)));
        }
        if !parts.is_empty() {
            client.subject = principal(client.subject.as_ref(), &parts);
        }
        client.shape = ClientShape {
            context,
            sanitizer: self.sanitizer.clone(),
            tenant: tenant.map(Arc::from),
            user_tenant,
            ..ClientShape::default()
        };
        Ok(())
    }

    /// The claim by which one user of several tenants is several users.
    fn user_tenant_claim(&self) -> Option<&str> {
        let by_records = self.sanitizer.as_ref().and_then(|sanitizer| sanitizer.tenant_claim());
        by_records.or_else(|| self.context.as_ref()?.tenant_claim())
    }
}

/// What holds for one client.
#[derive(Clone, Default)]
pub(crate) struct ClientShape {
    /// What servers learn of it.
    pub(crate) context: Option<Arc<Injected>>,
    sanitizer: Option<Arc<Sanitizer>>,
    tenant: Option<Arc<str>>,
    /// The tenant of its user, where one subject in two tenants is two users.
    pub(crate) user_tenant: Option<Arc<str>>,
    /// What interceptors changed of its request.
    pub(crate) intercepted: Option<Arc<Intercepted>>,
    /// The name or the arguments of its call are no longer what its headers repeat.
    pub(crate) is_edited: bool,
    /// `inputs` has looked at its arguments, as they came.
    pub(crate) was_minimised: bool,
}

impl ClientShape {
    /// Headers that interceptors add to its request.
    pub(crate) fn added_headers(&self) -> &[(HeaderName, HeaderValue)] {
        self.intercepted.as_ref().map_or(&[], |intercepted| &intercepted.headers)
    }

    /// Whether the arguments of its request are no longer what it sent.
    pub(crate) fn is_rewritten(&self) -> bool {
        self.is_edited || self.intercepted.as_ref().is_some_and(|intercepted| intercepted.rewritten)
    }

    /// Whether `inputs` has looked at the arguments as they are now.
    pub(crate) fn is_minimised(&self) -> bool {
        self.was_minimised && !self.intercepted.as_ref().is_some_and(|intercepted| intercepted.rewritten)
    }

    /// Whether answers may pass as they come.
    pub(crate) fn passes(&self) -> bool {
        self.sanitizer.is_none() && !self.intercepted.as_ref().is_some_and(|intercepted| intercepted.reads_answer)
    }

    /// An answer as the client gets it.
    pub(crate) fn answer(&self, id: &RequestId, method: &str, answer: Answer, trail: &Trail) -> Answer {
        let Some(sanitizer) = &self.sanitizer else { return answer };
        let kind = if DESCRIPTIONS.contains(&method) { Kind::Description } else { Kind::Result };
        let removed = Removed::default();
        let sanitized = match std::str::from_utf8(answer.text()) {
            Ok(text) => sanitizer.message(text, kind, self.tenant.as_deref(), &removed),
            Err(_) => return Answer::error(Some(id), &failure::RESULT_UNREADABLE.error("The result is no text")),
        };
        match sanitized {
            Ok(text) => {
                trail.sanitized(removed.summary());
                match text {
                    Cow::Borrowed(_) => answer,
                    Cow::Owned(text) => answer.with_text(text.into_bytes()),
                }
            }
            Err(withheld) => {
                trail.sanitized("withheld".to_owned());
                Answer::error(Some(id), &withheld.error())
            }
        }
    }

    /// A notification as the client gets it; `None` where it gets none.
    pub(crate) fn notification<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        let Some(sanitizer) = &self.sanitizer else { return Some(Cow::Borrowed(text)) };
        sanitizer.message(text, Kind::Message, None, &Removed::default()).ok()
    }

    /// What a task came to, as the client gets it; `None` where it gets nothing.
    pub(crate) fn task(&self, params: Value) -> Option<Value> {
        let Some(sanitizer) = &self.sanitizer else { return Some(params) };
        let text = json!({ "params": params }).to_string();
        match sanitizer.message(&text, Kind::Result, self.tenant.as_deref(), &Removed::default()).ok()? {
            Cow::Borrowed(_) => Some(params),
            Cow::Owned(text) => serde_json::from_str::<Value>(&text).ok().map(|mut all| all["params"].take()),
        }
    }

    /// The parameters of a question as the client gets them; `None` where they stay.
    pub(crate) fn question(&self, params: &Value) -> Option<Value> {
        let sanitizer = self.sanitizer.as_ref()?;
        let text = json!({ "params": params }).to_string();
        match sanitizer.message(&text, Kind::Message, None, &Removed::default()) {
            Ok(Cow::Borrowed(_)) => None,
            Ok(Cow::Owned(text)) => serde_json::from_str::<Value>(&text).ok().map(|mut all| all["params"].take()),
            // A question without parameters is asked of nobody.
            Err(_) => Some(json!({})),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::ClientShape;
    use crate::sanitize::Sanitizer;
    use crate::settings::{Personal, SanitizeSettings, TenantRecords};

    fn shape() -> ClientShape {
        let tenants = Some(TenantRecords { fields: vec!["tenant_id".to_owned()], claim: "tenant_id".to_owned() });
        let (personal, result_bytes) = (Personal::ALL.to_vec(), 200);
        let settings = SanitizeSettings { personal, tenants, result_bytes, ..SanitizeSettings::default() };
        ClientShape {
            context: None,
            sanitizer: Some(Arc::new(Sanitizer::new(&settings))),
            tenant: Some("a".into()),
            ..ClientShape::default()
        }
    }

    #[test]
    fn what_cannot_be_looked_through_reaches_nobody() {
        let (shape, long) = (shape(), "x".repeat(300));
        assert!(!shape.passes());
        assert_eq!(shape.notification(&json!({ "method": "x", "params": { "data": long } }).to_string()), None);
        assert_eq!(shape.notification("no JSON"), None);
        assert_eq!(shape.question(&json!({ "message": long })), Some(json!({})));
        assert_eq!(shape.task(json!({ "taskId": "1", "statusMessage": long })), None);
    }

    #[test]
    fn tasks_notifications_and_questions_are_looked_through() {
        let shape = shape();
        let task = json!({ "taskId": "1", "result": { "content": [], "rows": [{ "tenant_id": "b" }], "by": "ann@example.org" } });
        let expected = json!({ "taskId": "1", "result": { "content": [], "rows": [], "by": "[email]" } });
        assert_eq!(shape.task(task), Some(expected));
        let text = json!({ "method": "x", "params": { "data": { "by": "ann@example.org" } } }).to_string();
        assert!(shape.notification(&text).is_some_and(|text| text.contains("[email]")));
        assert_eq!(shape.question(&json!({ "message": "ann@example.org?" })), Some(json!({ "message": "[email]?" })));
        assert_eq!(shape.question(&json!({ "message": "who?" })), None);
    }
}

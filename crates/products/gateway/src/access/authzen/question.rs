//! What a policy decision point is asked: a request in the words of the Authorization API 1.0, section 5. Must not know how
//! it is sent.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::access::policy::Action;
use crate::access::rules::{Kind, Target};
use crate::settings::AuthzenMapping;
use crate::view::{in_lower_case, matches};

/// The longest name or URI that is asked about, in bytes.
const LONGEST_NAME: usize = 8 << 10;

/// A question about one or several items, which differ in the resource alone.
#[derive(Debug)]
pub(crate) struct Question {
    pub(super) subject: Value,
    pub(super) action: Value,
    pub(super) context: Option<Value>,
    /// `None` for an item that is not asked about: it is denied.
    pub(super) resources: Vec<Option<Value>>,
}

/// What identifies a question about one item.
pub(super) type Key = [u8; 32];

impl Question {
    /// What is asked about these targets, which are of one client and one request. `None` where the token does not name its
    /// subject.
    pub(crate) fn new(mapping: &AuthzenMapping, action: Action, targets: &[Target<'_>]) -> Option<Self> {
        let first = targets.first()?;
        Some(Self {
            subject: subject(mapping, first)?,
            action: json!({ "name": action.method() }),
            context: context(mapping, first),
            resources: targets.iter().map(|target| resource(action, target)).collect(),
        })
    }

    /// The members that all items share.
    fn shared(&self) -> Map<String, Value> {
        let mut shared = Map::new();
        shared.insert("subject".to_owned(), self.subject.clone());
        shared.insert("action".to_owned(), self.action.clone());
        if let Some(context) = &self.context {
            shared.insert("context".to_owned(), context.clone());
        }
        shared
    }

    /// The body of a request about one item.
    pub(crate) fn about_one(&self, resource: &Value) -> Value {
        let mut body = self.shared();
        body.insert("resource".to_owned(), resource.clone());
        Value::Object(body)
    }

    /// The body of a request about several items.
    pub(super) fn about(&self, resources: &[&Value]) -> Value {
        let mut body = self.shared();
        let each: Vec<_> = resources.iter().map(|resource| json!({ "resource": resource })).collect();
        body.insert("evaluations".to_owned(), Value::Array(each));
        // Another semantic would leave items without a decision.
        body.insert("options".to_owned(), json!({ "evaluations_semantic": "execute_all" }));
        Value::Object(body)
    }

    /// The key of each item: nothing that the decision point learns is left out of it.
    pub(super) fn keys(&self) -> Vec<Option<Key>> {
        let shared = Sha256::new_with_prefix(Value::Object(self.shared()).to_string());
        let key = |resource: &Value| {
            // A text of JSON ends where its first bracket closes: two different pairs are two different texts.
            shared.clone().chain_update(resource.to_string()).finalize().into()
        };
        self.resources.iter().map(|resource| resource.as_ref().map(key)).collect()
    }

    /// The first item, as `policy explain` shows it.
    pub(crate) fn first(&self) -> Option<Value> {
        self.resources.first()?.as_ref().map(|resource| self.about_one(resource))
    }
}

/// Who asks: whom the token names, or else the certificate. A client with neither is nobody in particular.
fn subject(mapping: &AuthzenMapping, target: &Target<'_>) -> Option<Value> {
    let Some(grant) = target.grant else {
        return Some(json!({ "type": "anonymous", "id": "anonymous" }));
    };
    if let Some(shown) = grant.certificate.as_ref().filter(|_| !grant.has_token()) {
        let id = shown.uris.first().or(shown.dns.first()).unwrap_or(&shown.sha256);
        let properties = json!({ "uris": shown.uris, "dns": shown.dns, "sha256": shown.sha256 });
        return Some(json!({ "type": "certificate", "id": id, "properties": properties }));
    }
    let id = grant.claims.get(&mapping.subject)?.as_str().filter(|id| !id.is_empty())?;
    let mut properties = Map::new();
    properties.insert("scopes".to_owned(), json!(grant.scopes));
    for (name, claim) in &mapping.claims {
        if let Some(value) = grant.claims.get(claim) {
            properties.insert(name.clone(), value.clone());
        }
    }
    Some(json!({ "type": mapping.subject_type, "id": id, "properties": properties }))
}

fn resource(action: Action, target: &Target<'_>) -> Option<Value> {
    if target.name.is_empty() || target.name.len() > LONGEST_NAME {
        return None;
    }
    let (kind, name) = match target.kind {
        Kind::Tool => ("tool", target.name.into()),
        Kind::Prompt => ("prompt", target.name.into()),
        // In capitals, scheme and host are the same ones.
        Kind::Resource if action == Action::TemplatesList => ("resource_template", in_lower_case(target.name)),
        Kind::Resource => ("resource", in_lower_case(target.name)),
    };
    let mut properties = json!({ "server": target.server });
    if let Some(annotations) = target.annotations {
        properties["annotations"] = annotations.clone();
    }
    Some(json!({ "type": kind, "id": name, "properties": properties }))
}

/// The chosen arguments; nothing where none are chosen or the request has none.
fn context(mapping: &AuthzenMapping, target: &Target<'_>) -> Option<Value> {
    let arguments = target.arguments.filter(|_| !mapping.arguments.is_empty())?;
    let is_chosen = |name: &str| mapping.arguments.iter().any(|pattern| matches(pattern, name));
    let all = arguments.as_object().into_iter().flatten().filter(|(name, _)| is_chosen(name));
    let chosen: Map<_, _> = all.map(|(name, value)| (name.clone(), value.clone())).collect();
    Some(json!({ "arguments": chosen }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use net::server::tls::Certificate;
    use serde_json::json;

    use super::subject;
    use crate::access::rules::{Kind, Target};
    use crate::settings::AuthzenMapping;

    #[test]
    fn the_subject_is_who_the_token_names_or_else_the_certificate() {
        let certificate = Arc::new(Certificate {
            sha256: "x".to_owned(),
            uris: vec!["spiffe://example.org/a".to_owned(), "spiffe://example.org/b".to_owned()],
            dns: vec!["a.example".to_owned()],
            not_before: 0,
            not_after: 0,
        });
        let shown = net::server::http::Grant { certificate: Some(certificate), ..Default::default() };
        let info = json!({});
        let of = |grant| {
            let target = Target {
                kind: Kind::Tool,
                name: "t",
                annotations: None,
                arguments: None,
                grant,
                client: &info,
                server: "default",
            };
            subject(&AuthzenMapping::default(), &target)
        };
        let asked = of(Some(&shown)).expect("a subject");
        assert_eq!((&asked["type"], &asked["id"]), (&json!("certificate"), &json!("spiffe://example.org/a")));
        assert_eq!(asked["properties"]["dns"], json!(["a.example"]));
        assert_eq!(of(None).expect("a subject")["type"], "anonymous");
    }
}

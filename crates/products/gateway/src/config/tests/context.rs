//! `context`: what is read, and what is refused.

use super::{FULL, mentions, settings, upstream};
use crate::settings::{ContextKind, ContextValue};

const AUTH: &str = "auth: { issuer: \"https://auth.example\", keys: \"https://auth.example/jwks\" }\n";

fn file(context: &str) -> String {
    format!("{}{AUTH}context: {context}\n", upstream("url: \"https://a.example/mcp\", headers: { X-Own: \"1\" }"))
}

#[test]
fn the_context_is_read() {
    let context = settings(FULL).context.expect("a context");
    assert_eq!(context.upstreams, Some(vec!["docs".to_owned()]));
    let [tenant, user, scopes] = context.values.as_slice() else { panic!("{context:?}") };
    assert_eq!((tenant.kind, tenant.claim.as_str(), tenant.meta), (ContextKind::Tenant, "org", false));
    assert_eq!((tenant.header.as_deref(), tenant.required), (Some("x-tenant-id"), true));
    assert_eq!((user.claim.as_str(), user.meta, user.required), ("sub", true, false));
    assert_eq!((scopes.header.as_deref(), scopes.required), (Some("x-scopes"), false));
    let brief = settings(&file("{ tenant_id: }")).context.expect("a context");
    assert_eq!(brief.values, [ContextValue::new(ContextKind::Tenant)]);
}

#[test]
fn the_context_is_checked() {
    mentions(&file("{}"), &["`context` names no value"]);
    mentions(&file("{ upstreams: [x], user_id: }"), &["there is no upstream `x`"]);
    mentions(&file("{ tenant: }"), &["the key `tenant` is unknown here", "tenant_id"]);
    mentions(&file("{ scopes: { claim: x } }"), &["the key `claim` is unknown here"]);
    mentions(&file("{ user_id: { meta: false } }"), &["`user_id` goes nowhere"]);
    mentions(&file("{ user_id: { header: X_User } }"), &["is no name for a header here", "X-Tenant-Id"]);
    for taken in ["Authorization", "Mcp-User", "Host", "Cookie", "X-Forwarded-User", "Content-Type", "traceparent"] {
        mentions(&file(&format!("{{ user_id: {{ header: {taken} }} }}")), &["has another meaning"]);
    }
    mentions(&file("{ user_id: { header: x-own } }"), &["sets the header `x-own` itself"]);
    let twice = "{ user_id: { header: X-A }, tenant_id: { header: x-a } }";
    mentions(&file(twice), &["two values of `context` have the header `x-a`"]);
    mentions(&file("{ user_id: { required: often } }"), &["`required` is a text, not true or false"]);
    mentions(&file("{ user_id: }").replace(AUTH, ""), &["`context` needs tokens, and the file has no `auth`"]);
}

//! What is added to requests, and what is dropped from them.

use net::server::http::Grant;
use serde_json::{Value, json};

use super::{Injected, principal};
use crate::settings::{ContextKind, ContextSettings, ContextValue};

fn settings() -> ContextSettings {
    let values = ContextKind::ALL.into_iter().map(|kind| {
        let header = Some(format!("x-{}", kind.as_str().replace('_', "-")));
        ContextValue { header, ..ContextValue::new(kind) }
    });
    ContextSettings { upstreams: None, values: values.collect() }
}

fn grant(claims: Value) -> Grant {
    Grant { subject: "s".to_owned(), scopes: vec!["b".to_owned(), "a".to_owned()], claims, ..Grant::default() }
}

fn injected() -> Injected {
    Injected::of(&settings(), Some(&grant(json!({ "tenant_id": "acme", "sub": "ann" })))).expect("a context")
}

#[test]
fn a_request_gets_the_context_wherever_meta_stands() {
    let meta = r#""dev.proofhouse/tenant_id":"acme","dev.proofhouse/user_id":"ann","dev.proofhouse/scopes":["a","b"]"#;
    for (text, expected) in [
        (r#"{"id":1.0,"method":"x"}"#, format!(r#"{{"params":{{"_meta":{{{meta}}}}},"id":1.0,"method":"x"}}"#)),
        (r#"{"params":{ "n":1.50}}"#, format!(r#"{{"params":{{"_meta":{{{meta}}}, "n":1.50}}}}"#).replace(", ", ", ")),
        (r#"{"params":{"_meta":{"a":1}}}"#, format!(r#"{{"params":{{"_meta":{{{meta},"a":1}}}}}}"#)),
        (r#"{"params":{"_meta":null}}"#, format!(r#"{{"params":{{"_meta":{{{meta}}}}}}}"#)),
    ] {
        let changed = injected().request(text).into_owned();
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(read(&changed), read(&expected), "{text}");
        assert!(changed.contains(meta), "{changed}");
    }
    assert!(injected().request(r#"{"params":{ "n":1.50}}"#).contains("1.50"));
}

#[test]
fn lookalikes_are_dropped_in_every_spelling_and_place() {
    for name in [
        "dev.proofhouse/tenant_id",
        "DEV.Proofhouse/TENANT_ID",
        "dev.proofhouse/tenantId",
        "dev.proofhouse/tenant-id",
        r"dev.proofhouse\/tenant\u005fid",
        r"\u0064ev.proofhouse/tenant_id",
        "dev.proofhouse/tenant\u{200b}_id",
        "\u{ff44}ev.proofhouse/tenant_id",
        "dev.proofhou\u{17f}e/tenant_id",
        "dev.proofhouse/tenant_\u{131}d",
    ] {
        for text in [
            format!(r#"{{"params":{{"_meta":{{"a":1,"{name}":"evil","b":2}}}}}}"#),
            format!(r#"{{"params":{{"_me\u0074a":{{"{name}":"evil"}}}}}}"#),
            format!(r#"{{"result":{{"_meta":{{"{name}":{{"_meta":{{"{name}":"evil"}}}}}}}}}}"#),
            format!(r#"{{"params":{{"inputResponses":{{"k":{{"_meta":{{"{name}":"evil"}}}}}}}}}}"#),
        ] {
            let clean = injected().cleaned(&text).into_owned();
            assert!(!clean.contains("evil"), "{text} -> {clean}");
            serde_json::from_str::<Value>(&clean).unwrap_or_else(|why| panic!("{clean}: {why}"));
        }
    }
    // All else stays as it came.
    for text in
        [r#"{"params":{"_meta":{"x/tenant_id":1.0}, "arguments":{"dev.proofhouse/tenant_id":"mine"}}}"#, "no JSON"]
    {
        assert_eq!(injected().cleaned(text), text);
    }
}

#[test]
fn a_token_without_a_required_claim_is_refused() {
    for claims in [
        json!({ "sub": "ann" }),
        json!({ "tenant_id": "", "sub": "ann" }),
        json!({ "tenant_id": ["acme", "other"], "sub": "ann" }),
        json!({ "tenant_id": " acme", "sub": "ann" }),
        json!({ "tenant_id": "a\nb", "sub": "ann" }),
        json!({ "tenant_id": "ümlaut", "sub": "ann" }),
        json!({ "tenant_id": 1.5, "sub": "ann" }),
        json!({ "tenant_id": 1e20, "sub": "ann" }),
        json!({ "tenant_id": { "a": 1 }, "sub": "ann" }),
        json!({ "tenant_id": "acme", "sub": true }),
    ] {
        assert!(Injected::of(&settings(), Some(&grant(claims.clone()))).is_err(), "{claims}");
    }
    assert!(Injected::of(&settings(), None).is_err());
    // Not for the sake of a header alone.
    let values = vec![ContextValue { header: None, ..ContextValue::new(ContextKind::Tenant) }];
    let meta = ContextSettings { upstreams: None, values };
    for tenant in ["a\nb", "a\u{7f}", "a\u{85}b", " a", "a\u{a0}", ""] {
        assert!(Injected::of(&meta, Some(&grant(json!({ "tenant_id": tenant })))).is_err(), "{tenant:?}");
    }
    assert!(Injected::of(&meta, Some(&grant(json!({ "tenant_id": "ümlaut" })))).is_ok());
}

#[test]
fn another_tenant_is_another_principal() {
    let of = |tenant: &str, user: &str| principal(None, &[Some(tenant.to_owned()), Some(user.to_owned())]);
    assert_eq!(of("a", "b"), of("a", "b"));
    assert_ne!(of("a", "b"), of("ab", ""));
    assert_ne!(of("a\u{1}b", "c"), of("a", "b\u{1}c"));
    assert_ne!(principal(None, &[None]), principal(None, &[Some(String::new())]));
}

//! Which rule decides, and that what cannot be decided counts against the client.

use std::sync::Arc;

use net::server::http::Grant;
use net::server::tls::Certificate;
use serde_json::{Value, json};

use super::{AccessRules, Kind, Target, check};
use crate::settings::{AccessRule, ConditionText, Effect};

fn rule(effect: Effect) -> AccessRule {
    AccessRule { effect, tools: None, prompts: None, resources: None, scopes: Vec::new(), condition: None }
}

fn tools(effect: Effect, names: &[&str]) -> AccessRule {
    AccessRule { tools: Some(names.iter().map(|name| (*name).to_owned()).collect()), ..rule(effect) }
}

fn when(effect: Effect, text: &str) -> AccessRule {
    let condition = ConditionText { text: text.to_owned(), line: 3, column: 5 };
    AccessRule { condition: Some(condition), ..rule(effect) }
}

fn grant(claims: Value, scopes: &[&str]) -> Grant {
    Grant {
        subject: String::new(),
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        claims,
        ..Grant::default()
    }
}

struct Wanted {
    grant: Option<Grant>,
    annotations: Option<Value>,
    arguments: Option<Value>,
}

const NOTHING: Wanted = Wanted { grant: None, annotations: None, arguments: None };

fn allowed(rules: &[AccessRule], kind: Kind, name: &str, wanted: &Wanted) -> bool {
    let client = json!({ "name": "c", "version": "1" });
    AccessRules::new(rules).expect("good conditions").allow(&Target {
        kind,
        name,
        annotations: wanted.annotations.as_ref(),
        arguments: wanted.arguments.as_ref(),
        grant: wanted.grant.as_ref(),
        client: &client,
        server: "default",
    })
}

#[test]
fn the_first_rule_that_fits_decides_and_none_is_a_refusal() {
    let rules = [tools(Effect::Deny, &["*delete*"]), tools(Effect::Allow, &["files_*", "search"])];
    let may = |kind, name| allowed(&rules, kind, name, &NOTHING);
    assert!(may(Kind::Tool, "files_read") && may(Kind::Tool, "search"));
    assert!(!may(Kind::Tool, "files_delete") && !may(Kind::Tool, "Search") && !may(Kind::Tool, "searches"));
    // A rule for tools says nothing of a prompt of the same name.
    assert!(!may(Kind::Prompt, "search") && !may(Kind::Resource, "search"));
    assert!(!allowed(&[], Kind::Tool, "search", &NOTHING));
    assert!(allowed(&[rule(Effect::Allow)], Kind::Resource, "file:///a", &NOTHING));
}

#[test]
fn a_certificate_counts_only_where_the_client_showed_it() {
    let shown = |uris: &[&str]| {
        let uris = uris.iter().map(|uri| (*uri).to_owned()).collect();
        let (sha256, dns) = ("x".to_owned(), vec!["a.example".to_owned()]);
        let certificate = Certificate { sha256, uris, dns, not_before: 0, not_after: u64::MAX };
        Wanted { grant: Some(Grant { certificate: Some(Arc::new(certificate)), ..Grant::default() }), ..NOTHING }
    };
    let (agent, other) = (shown(&["spiffe://a/agent"]), shown(&["spiffe://a/agents"]));
    let token =
        Wanted { grant: Some(grant(json!({ "certificate": { "uris": ["spiffe://a/agent"] } }), &[])), ..NOTHING };
    for (effect, text, expected) in [
        (Effect::Allow, "'spiffe://a/agent' in certificate.uris", [true, false, false, false]),
        (Effect::Allow, "certificate.sha256 == 'x' && certificate.dns == ['a.example']", [true, true, false, false]),
        (Effect::Allow, "has(certificate.uris)", [true, true, false, false]),
        (Effect::Allow, "!has(claims.certificate)", [true, true, false, true]),
        // What cannot be decided counts against the client.
        (Effect::Deny, "certificate.sha256 == 'y'", [true, true, false, false]),
    ] {
        let rules = [when(effect, text), rule(if effect == Effect::Deny { Effect::Allow } else { Effect::Deny })];
        let clients = [&agent, &other, &token, &NOTHING];
        assert_eq!(clients.map(|client| allowed(&rules, Kind::Tool, "echo", client)), expected, "{text}");
    }
}

#[test]
fn resources_with_dot_segments_are_no_way_out_of_a_folder() {
    let patterns = Some(vec!["file:///data/*".to_owned()]);
    let rules = [AccessRule { resources: patterns, ..rule(Effect::Allow) }];
    assert!(allowed(&rules, Kind::Resource, "file:///data/a..b", &NOTHING));
    for uri in ["file:///data/../etc/passwd", "file:///data/%2e%2E/etc", "file:///data/a/..", "file:///etc"] {
        assert!(!allowed(&rules, Kind::Resource, uri, &NOTHING), "{uri}");
    }
}

#[test]
fn capitals_are_no_way_round_a_prohibition() {
    let patterns = Some(vec!["db://Prod/*".to_owned()]);
    let by_pattern = [AccessRule { resources: patterns, ..rule(Effect::Deny) }, rule(Effect::Allow)];
    let by_condition = [when(Effect::Deny, "name.startsWith('db://prod/')"), rule(Effect::Allow)];
    for rules in [by_pattern, by_condition] {
        for (uri, may) in [("db://prod/a", false), ("DB://PROD/a", false), ("db://test/a", true)] {
            assert_eq!(allowed(&rules, Kind::Resource, uri, &NOTHING), may, "{uri}");
        }
        assert!(allowed(&rules, Kind::Tool, "DB://PROD/a", &NOTHING), "a name is no URI");
    }
}

#[test]
fn scopes_are_of_the_token() {
    let rules = [AccessRule { scopes: vec!["a".to_owned(), "b".to_owned()], ..rule(Effect::Allow) }];
    for (scopes, may) in [(&["a", "b", "c"][..], true), (&["a"], false), (&["ab"], false), (&[], false)] {
        let wanted = Wanted { grant: Some(grant(json!({}), scopes)), ..NOTHING };
        assert_eq!(allowed(&rules, Kind::Tool, "t", &wanted), may, "{scopes:?}");
    }
    assert!(!allowed(&rules, Kind::Tool, "t", &NOTHING));
}

#[test]
fn conditions_see_claims_annotations_and_arguments() {
    for (text, may) in [
        ("claims.team == 'data'", true),
        ("claims.team == 'sales'", false),
        ("'admin' in claims.groups", true),
        ("'mcp' in scopes && kind == 'tool' && name.startsWith('read_')", true),
        ("annotations.readOnlyHint", true),
        ("has(annotations.destructiveHint)", false),
        ("arguments.path.startsWith('/data/') && arguments.depth <= 3", true),
        ("arguments.depth > 3", false),
        ("client.name == 'c' && server == 'default'", true),
        ("claims.exp > 4000000000", true),
        ("claims.share >= 0.5", true),
    ] {
        let claims = json!({ "team": "data", "groups": ["dev", "admin"], "exp": 4_102_444_800_u64, "share": 0.75 });
        let wanted = Wanted {
            grant: Some(grant(claims, &["mcp"])),
            annotations: Some(json!({ "readOnlyHint": true })),
            arguments: Some(json!({ "path": "/data/x", "depth": 2 })),
        };
        assert_eq!(allowed(&[when(Effect::Allow, text)], Kind::Tool, "read_file", &wanted), may, "{text}");
    }
}

#[test]
fn a_condition_that_fails_speaks_against_the_request() {
    for text in ["claims.team == 'data'", "name", "arguments.n / 0 == 1", "claims"] {
        let wanted = Wanted { arguments: Some(json!({ "n": 1 })), ..NOTHING };
        assert!(!allowed(&[when(Effect::Allow, text)], Kind::Tool, "t", &wanted), "{text}");
        let rules = [when(Effect::Deny, text), rule(Effect::Allow)];
        assert!(!allowed(&rules, Kind::Tool, "t", &wanted), "{text}");
    }
}

#[test]
fn a_list_shows_what_a_call_might_be_allowed() {
    let rules = [when(Effect::Deny, "arguments.path == '/etc'"), rule(Effect::Allow)];
    assert!(allowed(&rules, Kind::Tool, "read", &NOTHING));
    let rules = [when(Effect::Allow, "arguments.path == '/data'")];
    assert!(allowed(&rules, Kind::Tool, "read", &NOTHING));
    let call = |path: &str| Wanted { arguments: Some(json!({ "path": path })), ..NOTHING };
    assert!(allowed(&rules, Kind::Tool, "read", &call("/data")) && !allowed(&rules, Kind::Tool, "read", &call("/etc")));
}

#[test]
fn wrong_conditions_are_named_with_their_place() {
    for (text, what) in [("claims.team = 1", ""), ("user == 'x'", "there is no `user`"), ("((", ""), ("'", "")] {
        let error = check(&[rule(Effect::Deny), when(Effect::Allow, text)]).expect_err(text);
        assert_eq!((error.rule, error.at), (2, (3, 5)), "{text}");
        assert!(error.to_string().contains(what), "{error}");
    }
}

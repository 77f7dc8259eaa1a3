//! The method table against the official schemas of every revision, where they are at hand.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests; a skip must be said")]

use std::collections::BTreeSet;

use serde_json::Value;
use wire::method::{Direction, End, Form, METHODS, Method};
use wire::revision::{R2026_07_28, Revision};
use wire::trace::Party;

fn schema(revision: Revision) -> Option<Value> {
    let path = format!("{}/../../../../shared/spec/{revision}/schema.json", env!("CARGO_MANIFEST_DIR"));
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("SKIPPED for {revision}: no {path}");
        return None;
    };
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    let key = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
    Some(schema[key].take())
}

/// The names of the definitions that a union (or an alias) refers to.
fn union(definitions: &Value, name: &str) -> Vec<String> {
    let Some(union) = definitions.get(name) else { return Vec::new() };
    match union["anyOf"].as_array() {
        Some(members) => members.iter().filter_map(reference).collect(),
        None => vec![name.to_owned()],
    }
}

fn reference(schema: &Value) -> Option<String> {
    Some(schema.get("$ref")?.as_str()?.rsplit('/').next()?.to_owned())
}

fn method_of(definitions: &Value, name: &str) -> String {
    definitions[name]["properties"]["method"]["const"].as_str().unwrap().to_owned()
}

type Sent = BTreeSet<(String, &'static str)>;

fn sent_by_schema(definitions: &Value) -> Sent {
    let unions = [
        ("ClientRequest", "client request"),
        ("ServerRequest", "server request"),
        ("ClientNotification", "client notification"),
        ("ServerNotification", "server notification"),
        ("InputRequest", "server input"),
    ];
    let names = |(name, how)| union(definitions, name).into_iter().map(move |member| (member, how));
    unions.into_iter().flat_map(names).map(|(member, how)| (method_of(definitions, &member), how)).collect()
}

fn sent_by_table(revision: Revision) -> Sent {
    let mut sent = Sent::new();
    for method in METHODS.iter().filter(|m| m.is_at(revision)) {
        for (party, how) in [
            (Party::Client, ["client request", "client notification", "client input"]),
            (Party::Server, ["server request", "server notification", "server input"]),
        ] {
            if method.direction.allows(party) {
                sent.insert((method.name.to_owned(), how[method.form as usize]));
            }
        }
    }
    sent
}

#[test]
fn every_method_of_every_revision_is_in_the_table_and_no_other() {
    for revision in Revision::ALL {
        let Some(definitions) = schema(revision) else { continue };
        assert_eq!(sent_by_table(revision), sent_by_schema(&definitions), "{revision}");
    }
}

#[test]
fn rows_name_the_schemas_own_definitions() {
    for revision in Revision::ALL {
        let Some(definitions) = schema(revision) else { continue };
        for method in METHODS.iter().filter(|m| m.is_at(revision)) {
            let what = format!("{} at {revision}", method.name);
            assert_eq!(method_of(&definitions, method.definition), method.name, "{what}");
            let params = &definitions[method.definition]["properties"]["params"];
            if let Some(name) = reference(params) {
                assert_eq!(method.params, Some(name.as_str()), "{what}");
            } else if revision.as_str() >= "2025-11-25" {
                assert_eq!(method.params, None, "{what}");
            }
            for result in method.result.into_iter().chain(method.instead_at(revision)) {
                assert!(definitions.get(result).is_some(), "{what}: no {result}");
            }
            paginated(&definitions, method, &what);
            results(&definitions, method, revision, &what);
        }
    }
}

fn paginated(definitions: &Value, method: &Method, what: &str) {
    let result = method.result.map_or(&Value::Null, |name| &definitions[name]);
    assert_eq!(method.paginated, result["properties"].get("nextCursor").is_some(), "{what}");
}

/// 2026-07-28 is the first schema that ties results to requests.
fn results(definitions: &Value, method: &Method, revision: Revision, what: &str) {
    if revision != R2026_07_28 || method.form != Form::Request {
        return;
    }
    let response = &definitions[format!("{}Response", method.result.unwrap())]["properties"]["result"];
    let mut official: Vec<String> = match response["anyOf"].as_array() {
        Some(members) => members.iter().filter_map(reference).collect(),
        None => reference(response).into_iter().collect(),
    };
    let mut ours: Vec<String> =
        method.result.into_iter().chain(method.instead_at(revision)).map(str::to_owned).collect();
    official.sort();
    ours.sort();
    assert_eq!(ours, official, "{what}");
}

#[test]
fn capabilities_are_the_schemas_own_members() {
    for revision in Revision::ALL {
        let Some(definitions) = schema(revision) else { continue };
        for method in METHODS.iter().filter(|m| m.is_at(revision)) {
            let Some((of, path)) = method.capability_at(revision) else { continue };
            for by in declarers(method.direction, of) {
                let pointer = format!("/{by}/properties/{}", path.replace('.', "/properties/"));
                assert!(definitions.pointer(&pointer).is_some(), "{} at {revision}: no {pointer}", method.name);
            }
        }
    }
}

fn declarers(direction: Direction, of: End) -> &'static [&'static str] {
    match (direction, of) {
        (Direction::ToServer, End::Receiver) | (Direction::ToClient, End::Sender) => &["ServerCapabilities"],
        (Direction::ToClient, End::Receiver) | (Direction::ToServer, End::Sender) => &["ClientCapabilities"],
        (Direction::Both, _) => &["ServerCapabilities", "ClientCapabilities"],
    }
}

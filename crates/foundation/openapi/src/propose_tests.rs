//! Proposals: how many, of which tags, and that their overlay chooses them.

use serde_json::{Value, json};

use super::{overlay, propose};
use crate::choice::{Choice, overlay::apply};
use crate::{Limits, read, read_chosen};

fn description() -> Value {
    let mut paths = serde_json::Map::new();
    for index in 0..30 {
        let tag = json!([format!("tag{}", index % 3)]);
        let with = |summary: &str| json!({"tags": tag, "summary": summary});
        paths.insert(format!("/things{index}"), json!({"get": with("List"), "post": with("Create")}));
        paths.insert(format!("/things{index}/{{id}}"), json!({"get": with("Read"), "delete": with("Delete")}));
    }
    paths.insert("/admin/it's".to_owned(), json!({"get": {"summary": "Admin"}}));
    paths.insert("/old".to_owned(), json!({"get": {"summary": "Old", "deprecated": true}}));
    json!({"openapi": "3.0.3", "info": {"title": "Things"}, "paths": paths})
}

#[test]
fn a_proposal_has_at_most_forty_tools_of_all_tags_each_with_a_reason() {
    let api = read(&description(), &Limits::default()).unwrap();
    let proposed = propose(&api, 40);
    assert_eq!(proposed.len(), 40);
    for tag in ["tag0", "tag1", "tag2"] {
        let count = proposed.iter().filter(|one| api.operations[one.operation].tags == [tag]).count();
        assert!((12..=15).contains(&count), "{tag}: {count}");
    }
    assert!(proposed.iter().all(|one| !one.why.is_empty()));
    assert!(proposed.iter().all(|one| !api.operations[one.operation].deprecated));
    assert!(!proposed.iter().any(|one| api.operations[one.operation].path.contains("admin")));
    assert_eq!(propose(&api, 1_000).len(), 40);
}

#[test]
fn the_overlay_of_a_proposal_chooses_what_it_proposes() {
    let mut value = description();
    let api = read(&value, &Limits::default()).unwrap();
    let proposed = propose(&api, 7);
    let applied = apply(&mut value, &overlay(&api, &proposed)).unwrap();
    assert_eq!((applied.updated, applied.idle.len()), (8, 0));
    let chosen = read_chosen(&value, &Limits::default(), &Choice::default()).unwrap();
    let expected: Vec<_> = proposed.iter().map(|one| api.operations[one.operation].at.as_str()).collect();
    assert_eq!(chosen.operations.iter().map(|one| one.at.as_str()).collect::<Vec<_>>(), expected);
}

#[test]
fn another_order_proposes_the_same() {
    let api = read(&description(), &Limits::default()).unwrap();
    let mut reversed = api.clone();
    reversed.operations.reverse();
    let places = |api: &crate::Api| {
        let mut places: Vec<_> = propose(api, 20).iter().map(|one| api.operations[one.operation].at.clone()).collect();
        places.sort();
        places
    };
    assert_eq!(places(&api), places(&reversed));
}

#[test]
fn names_with_quotes_are_escaped_in_targets() {
    assert_eq!(super::target("/paths/~1it's~1{a\\b}/get"), "$['paths']['/it\\'s/{a\\\\b}']['get']");
}

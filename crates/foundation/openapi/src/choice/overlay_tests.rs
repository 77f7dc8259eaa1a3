//! What overlays change, and which are refused.

use serde_json::{Value, json};

use super::{Applied, apply};

fn applied(mut description: Value, actions: Value) -> (Value, Applied) {
    let overlay = json!({"overlay": "1.0.0", "info": {"title": "t", "version": "1"}, "actions": actions});
    let applied = apply(&mut description, &overlay).unwrap();
    (description, applied)
}

#[test]
fn objects_are_merged_lists_joined_and_values_replaced() {
    let (changed, applied) = applied(
        json!({"info": {"title": "a", "x": {"keep": 1}}, "tags": [{"name": "one"}]}),
        json!([
            {"target": "$.info", "update": {"title": "b", "x": {"new": 2}}},
            {"target": "$.tags", "update": [{"name": "two"}]},
            {"target": "$.tags", "update": {"name": "three"}},
        ]),
    );
    assert_eq!(
        changed,
        json!({"info": {"title": "b", "x": {"keep": 1, "new": 2}}, "tags": [{"name": "one"}, {"name": "two"}, {"name": "three"}]})
    );
    assert_eq!((applied.updated, applied.removed), (3, 0));
}

#[test]
fn places_are_removed_wherever_they_are_in_a_list() {
    let (changed, applied) = applied(
        json!({"list": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], "paths": {"/a": {"get": {"x": true}, "put": {}}, "/b": {"get": {}}}}),
        json!([
            {"target": "$.list[?@ > 8 || @ == 2]", "remove": true, "update": {"ignored": 1}},
            {"target": "$.paths.*[?@.x == true]", "remove": true},
            {"target": "$.paths['/nowhere']", "remove": true},
        ]),
    );
    assert_eq!(changed, json!({"list": [0, 1, 3, 4, 5, 6, 7, 8], "paths": {"/a": {"put": {}}, "/b": {"get": {}}}}));
    assert_eq!(applied.removed, 5);
    assert_eq!(applied.idle, ["/actions/2"]);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (overlay, at) in [
        (json!({}), ""),
        (json!({"overlay": "2.0.0", "actions": []}), "/overlay"),
        (json!({"overlay": "1.0.0"}), "/actions"),
        (json!({"overlay": "1.0.0", "actions": [{"update": {}}]}), "/actions/0"),
        (json!({"overlay": "1.0.0", "actions": [{"target": "$["}]}), "/actions/0/target"),
        (json!({"overlay": "1.0.0", "actions": [{"target": "$.info"}]}), "/actions/0"),
        (json!({"overlay": "1.0.0", "actions": [{"target": "$.info.title", "update": "b"}]}), "/actions/0"),
        (json!({"overlay": "1.0.0", "actions": [{"target": "$", "remove": true}]}), "/actions/0"),
    ] {
        let mut description = json!({"info": {"title": "a"}});
        let error = apply(&mut description, &overlay).unwrap_err();
        assert_eq!(error.at, at, "{error}");
    }
}

#[test]
fn an_overlay_cannot_grow_without_end() {
    let mut description = json!({"list": vec![json!({}); 3_000]});
    let action = json!({"target": "$.list[*]", "update": {"text": "x".repeat(10_000)}});
    let error = apply(&mut description, &json!({"overlay": "1.0.0", "actions": vec![action; 3]})).unwrap_err();
    assert_eq!(error.at, "/actions/2", "{error}");
}

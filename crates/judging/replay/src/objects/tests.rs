//! One session of made-up calls: what is created is found, changed, listed and deleted.

use super::*;

fn text(value: &Value) -> Value {
    json!({ "content": [{ "type": "text", "text": value.to_string() }], "structuredContent": value })
}

/// The answers of one session to calls that were made up in the likeness of recorded ones.
struct Session(Objects);

impl Session {
    fn call(&mut self, tool: &str, arguments: &Value, made_up: &Value) -> Value {
        let arguments = arguments.as_object().expect("arguments");
        self.0.settle(tool, arguments, Some(made_up), true).unwrap_or_else(|| made_up.clone())
    }
}

fn body(result: &Value) -> &Value {
    &result["structuredContent"]
}

#[test]
fn what_is_created_is_found_changed_listed_and_deleted() {
    for (create, get, list, update, delete) in [
        ("create_note", "get_note", "list_notes", "update_note", "delete_note"),
        ("createNote", "getNote", "listNotes", "editNote", "removeNote"),
        ("notes.create", "notes.get", "notes.list", "notes.update", "notes.delete"),
    ] {
        let mut session = Session(Objects::default());
        let recorded = json!({ "id": "n-0017", "title": "Milk", "done": false });
        let likeness = |title: &str| text(&json!({ "id": "n-0017", "title": title, "done": false }));
        let one = session.call(create, &json!({ "title": "Bread" }), &likeness("Bread"));
        let two = session.call(create, &json!({ "title": "Salt" }), &likeness("Salt"));
        let (one, two) = (&body(&one)["id"], &body(&two)["id"]);
        assert_eq!((one, two), (&json!("n-1018"), &json!("n-1019")), "{create}: ids have the recorded form");

        let found = session.call(get, &json!({ "id": one }), &text(&recorded));
        assert_eq!(body(&found), &json!({ "id": "n-1018", "title": "Bread", "done": false }));
        assert_eq!(found["content"][0]["text"], body(&found).to_string(), "both forms agree");
        assert_eq!(session.call(get, &json!({ "id": "n-0017" }), &text(&recorded)), text(&recorded), "others stay");

        let changed = session.call(update, &json!({ "id": two, "title": "Pepper" }), &likeness("Pepper"));
        assert_eq!(body(&changed), &json!({ "id": "n-1019", "title": "Pepper", "done": false }));

        let titles = |session: &mut Session| {
            let listed = session.call(list, &json!({}), &text(&json!({ "notes": [recorded], "more": false })));
            let notes = body(&listed)["notes"].as_array().expect("a list").clone();
            notes.iter().map(|note| note["title"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(titles(&mut session), ["Milk", "Bread", "Pepper"]);

        let plain = json!({ "content": [{ "type": "text", "text": "Deleted" }] });
        session.call(delete, &json!({ "id": one }), &plain);
        session.call(delete, &json!({ "id": "n-0017" }), &plain);
        assert_eq!(titles(&mut session), ["Pepper"], "recorded ones can be deleted, too");
        for tool in [get, update, delete] {
            let gone = session.call(tool, &json!({ "id": one }), &text(&recorded));
            assert_eq!(gone["isError"], true, "{tool}: {gone}");
        }
        assert_eq!(session.call(get, &json!({ "id": "n-0017" }), &text(&recorded))["isError"], true);
    }
}

#[test]
fn ids_have_names_and_forms_of_their_own() {
    let mut session = Session(Objects::default());
    let uuid = json!({ "order": { "orderId": "123e4567-e89b-42d3-a456-426614174000", "total": 5 } });
    let made = session.call("create_order", &json!({ "total": 7 }), &text(&uuid));
    let id = &body(&made)["order"]["orderId"];
    assert_eq!(id, "123e4567-e89b-42d3-a456-000000000001");
    let found = session.call("get_order", &json!({ "order_id": id }), &text(&uuid));
    assert_eq!(body(&found)["order"], json!({ "orderId": id, "total": 7 }));
    let made = session.call("add_user", &json!({}), &text(&json!({ "id": 9 })));
    assert_eq!(body(&made)["id"], 1011);
    assert_eq!(
        session.call("get_user", &json!({ "id": "1011" }), &text(&json!({ "id": 9 })))["structuredContent"]["id"],
        1011
    );
}

#[test]
fn where_nothing_was_made_up_nothing_changes() {
    let mut objects = Objects::default();
    let arguments = json!({ "id": 1 });
    let arguments = arguments.as_object().expect("arguments");
    let recorded = text(&json!({ "id": 1, "notes": [] }));
    for tool in ["create_note", "get_note", "list_notes", "update_note", "delete_note", "weather", "get"] {
        assert_eq!(objects.settle(tool, arguments, Some(&recorded), false), None, "{tool}");
    }
    // What has no id that a later call could name is not remembered.
    assert_eq!(objects.settle("create_note", arguments, Some(&json!({ "content": [] })), true), None);
    assert!(objects.known.is_empty());
}

#[test]
fn a_session_keeps_so_many_objects_and_no_more() {
    let mut session = Session(Objects::default());
    for number in 0..MOST + 5 {
        session.call("create_note", &json!({ "title": number }), &text(&json!({ "id": "n1", "title": number })));
    }
    assert_eq!(session.0.known.len(), MOST);
    let large = "x".repeat(LARGEST);
    session.call("create_note", &json!({ "title": large }), &text(&json!({ "id": "n1", "title": large })));
    assert_eq!(session.0.known.len(), MOST);
    assert!(session.0.known.iter().all(|known| known.members.as_ref().is_some_and(|members| size(members) < LARGEST)));
}

#[test]
fn ids_and_all_objects_together_are_bounded() {
    let mut session = Session(Objects::default());
    let plain = json!({ "content": [{ "type": "text", "text": "Deleted" }] });
    session.call("delete_note", &json!({ "id": "x".repeat(LARGEST + 1) }), &plain);
    assert_eq!(session.0.known.len(), 0, "the id alone is too long");
    let kept = |session: &Session| session.0.known.iter().map(|known| known.bytes).sum::<usize>();
    let long = "y".repeat(LARGEST - 1000);
    for number in 0..400 {
        session.call("delete_note", &json!({ "id": format!("{number}{long}") }), &plain);
    }
    assert!(kept(&session) <= ALL && session.0.known.len() > 10, "{}", kept(&session));
    // Updates make objects longer after they were remembered.
    let mut session = Session(Objects::default());
    for number in 0..400 {
        let made_up = text(&json!({ "id": number, "title": "" }));
        session.call("create_note", &json!({ "id": number, "title": "" }), &made_up);
        session.call("update_note", &json!({ "id": number, "title": long }), &made_up);
    }
    assert!(kept(&session) <= ALL && session.0.known.len() > 10, "{}", kept(&session));
}

#[test]
fn a_list_does_not_grow_by_a_long_item_for_each_object() {
    let mut session = Session(Objects::default());
    for number in 0..100 {
        let made_up = text(&json!({ "id": number, "title": "t" }));
        session.call("create_note", &json!({ "id": number, "title": "t" }), &made_up);
    }
    let long = json!({ "notes": [{ "id": 500, "title": "m", "body": "z".repeat(1 << 20) }] });
    let listed = session.call("list_notes", &json!({}), &json!({ "content": [], "structuredContent": long }));
    let bytes = listed.to_string().len();
    assert!((1 << 20..LISTED + (2 << 20)).contains(&bytes), "{bytes}");
}

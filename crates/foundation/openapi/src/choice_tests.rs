//! Which operations a choice takes, and which slips it reports.

use serde_json::json;

use super::{Choice, Head};
use crate::model::Method;
use crate::{Limits, ReadError, read_chosen};

fn head(method: Method, path: &str, tags: &[&str]) -> Head {
    Head {
        at: String::new(),
        method,
        path: path.to_owned(),
        id: Some(format!("id{}", path.len())),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        deprecated: false,
        opinion: None,
    }
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|one| (*one).to_owned()).collect()
}

#[test]
fn an_operation_must_be_in_every_list_that_is_not_empty() {
    let choice = Choice { tags: texts(&["pets"]), methods: vec![Method::Get], ..Choice::default() };
    assert!(choice.picks(&head(Method::Get, "/pets", &["pets"])).is_ok());
    assert!(choice.picks(&head(Method::Post, "/pets", &["pets"])).is_err());
    assert!(choice.picks(&head(Method::Get, "/pets", &["toys"])).is_err());
    let choice = Choice { paths: texts(&["/pets/**"]), without_paths: texts(&["**/secret"]), ..Choice::default() };
    assert!(choice.picks(&head(Method::Get, "/pets/a", &[])).is_ok());
    assert!(choice.picks(&head(Method::Get, "/pets/secret", &[])).is_err());
}

/// ivo-toby's mcp-openapi-server: a tag that is left out is left out, whatever else chooses the operation.
#[test]
fn what_is_left_out_stays_out() {
    let choice = Choice { operations: texts(&["GET /pets"]), without_tags: texts(&["internal"]), ..Choice::default() };
    assert!(choice.picks(&head(Method::Get, "/pets", &["pets"])).is_ok());
    assert!(choice.picks(&head(Method::Get, "/pets", &["pets", "internal"])).is_err());
}

#[test]
fn deprecated_operations_are_off_unless_they_are_named() {
    let old = Head { deprecated: true, ..head(Method::Get, "/old", &[]) };
    assert!(Choice::default().picks(&old).is_err());
    assert!(Choice::everything().picks(&old).is_ok());
    assert!(Choice { operations: texts(&["GET /old"]), ..Choice::default() }.picks(&old).is_ok());
    let list = Choice { operations: texts(&["get /new"]), ..Choice::default() };
    assert!(list.picks(&head(Method::Get, "/new", &[])).is_ok());
    assert!(list.picks(&head(Method::Post, "/new", &[])).is_err());
}

/// openapi-mcp-generator: the operation decides, else its path, else the whole.
#[test]
fn what_the_description_refuses_is_no_tool() {
    let description = json!({
        "openapi": "3.0.3", "x-mcp": false,
        "paths": {
            "/a": {"get": {"x-mcp": true}, "post": {}},
            "/b": {"x-mcp": true, "get": {}, "post": {"x-mcp": false}, "put": {"x-speakeasy-mcp": {"disabled": true}}},
        },
    });
    let api = read_chosen(&description, &Limits::default(), &Choice::default()).unwrap();
    let taken: Vec<_> = api.operations.iter().map(|one| one.at.as_str()).collect();
    assert_eq!(taken, ["/paths/~1a/get", "/paths/~1b/get"]);
    assert_eq!(api.left.len(), 3);
    let named = Choice { operations: texts(&["POST /b"]), ..Choice::default() };
    assert!(read_chosen(&description, &Limits::default(), &named).unwrap().operations.is_empty());
}

#[test]
fn a_slip_in_a_choice_is_an_error() {
    let description =
        json!({"openapi": "3.0.3", "paths": {"/pets": {"get": {"tags": ["pets"], "operationId": "listPets"}}}});
    let choice = Choice {
        tags: texts(&["pet"]),
        paths: texts(&["/pats"]),
        operations: texts(&["listPet"]),
        ..Choice::default()
    };
    let Err(ReadError::Unmatched(list)) = read_chosen(&description, &Limits::default(), &choice) else { panic!() };
    let lines: Vec<String> = list.iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[0], "no operation has the tag `pet` – the choice of operations – try `pets`");
    assert!(lines[2].ends_with("try `listPets`"), "{}", lines[2]);
}

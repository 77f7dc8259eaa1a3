//! What each part of a description becomes, and what a broken one disables.

use serde_json::{Value, json};

use super::{ReadError, answer_schema, read};
use crate::Limits;
use crate::model::{Api, Arguments, Kind, Method, Place, Requirement, Scheme, Style};

fn api(description: &Value) -> Api {
    read(description, &Limits::default()).unwrap()
}

fn paths(paths: Value) -> Api {
    api(&json!({"openapi": "3.0.3", "info": {"title": "Pets", "version": "7"}, "paths": paths}))
}

fn only(api: &Api) -> &crate::Operation {
    assert_eq!(api.operations.len(), 1, "{:?}", api.skipped);
    &api.operations[0]
}

#[test]
fn a_bad_operation_disables_itself_and_nothing_else() {
    let api = paths(json!({
        "/good": {"get": {}},
        "/bad": {
            "get": [],
            "put": {"parameters": {}},
            "post": {"parameters": [{"$ref": "#/components/parameters/Nowhere"}]},
            "delete": {"parameters": [{"in": "query", "required": true}]},
            "patch": {"requestBody": {"$ref": "other.yaml#/Body"}},
        },
        "/external": {"$ref": "other.yaml#/paths/x"},
        "no-slash": {"get": {}},
        "/text": "text",
        "x-note": {"get": {}},
    }));
    assert_eq!(only(&api).at, "/paths/~1good/get");
    let skipped: Vec<_> = api.skipped.iter().map(|one| (one.at.as_str(), one.why.as_str())).collect();
    let expected = [
        ("/paths/~1bad/get", "the operation is no object"),
        ("/paths/~1external", "the reference `other.yaml#/paths/x` leads out of the description: it is not fetched"),
        ("/paths/no-slash", "the path does not begin with `/`"),
        ("/paths/~1text", "the path item is no object"),
        ("/paths/~1bad/put", "`parameters` is no list (at /paths/~1bad/put/parameters)"),
        (
            "/paths/~1bad/post",
            "the reference `#/components/parameters/Nowhere` leads nowhere (at /paths/~1bad/post/parameters/0)",
        ),
        (
            "/paths/~1bad/delete",
            "a required parameter has no usable `name` or `in` (at /paths/~1bad/delete/parameters/0)",
        ),
        (
            "/paths/~1bad/patch",
            "the reference `other.yaml#/Body` leads out of the description: it is not fetched (at /paths/~1bad/patch/requestBody)",
        ),
    ];
    assert_eq!(skipped, expected);
}

#[test]
fn what_is_no_description_is_refused() {
    for (value, found) in [
        (json!([]), "it is no object"),
        (json!({}), "it has neither `openapi` nor `swagger`"),
        (json!({"swagger": "1.2"}), "`swagger` is `1.2`"),
        (json!({"openapi": "4.0.0"}), "`openapi` is `4.0.0`"),
    ] {
        assert_eq!(read(&value, &Limits::default()).unwrap_err(), ReadError::Version { found: found.to_owned() });
    }
    // YAML without quotes makes a number of the version.
    assert!(read(&json!({"openapi": 3.0, "paths": {}}), &Limits::default()).is_ok());
    assert!(read(&json!({"swagger": 2.0, "paths": {}}), &Limits::default()).is_ok());
}

#[test]
fn depth_and_number_of_values_are_bounded() {
    let mut deep = json!({});
    for _ in 0..200 {
        deep = json!({ "properties": {"a": deep} });
    }
    let description = json!({"openapi": "3.0.3", "components": {"schemas": {"Deep": deep}}});
    assert!(matches!(read(&description, &Limits::default()), Err(ReadError::TooLarge { .. })));
    let limits = Limits { values: 10, ..Limits::default() };
    let description = json!({"openapi": "3.0.3", "tags": vec![json!({}); 20]});
    assert!(matches!(read(&description, &limits), Err(ReadError::TooLarge { .. })));
    let limits = Limits { operations: 1, ..Limits::default() };
    let description = json!({"openapi": "3.0.3", "paths": {"/a": {"get": {}, "put": {}, "post": {}}}});
    let api = read(&description, &limits).unwrap();
    assert_eq!((api.operations.len(), api.left.len()), (1, 2));
}

#[test]
fn parameters_of_the_path_are_replaced_by_those_of_the_operation() {
    let api = paths(json!({"/pets/{id}": {
        "parameters": [
            {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
            {"name": "limit", "in": "query", "schema": {"type": "string"}},
        ],
        "get": {"parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}]},
    }}));
    let parameters = &only(&api).parameters;
    assert_eq!(parameters.len(), 2);
    assert_eq!(parameters[1].schema, json!({"type": "integer"}));
}

/// 4,018 header parameters in the corpus; the specification says that they are ignored.
#[test]
fn headers_that_others_decide_on_are_ignored() {
    let header = |name: &str| json!({"name": name, "in": "header", "required": true, "schema": {"type": "string"}});
    let api = paths(json!({"/pets": {"get": {"parameters": [
        header("Authorization"), header("accept"), header("Content-Type"), header("X-Trace"),
    ]}}}));
    assert_eq!(only(&api).parameters.len(), 1);
}

/// openapi-mcp-generator joins arrays with commas always, agentgateway repeats them always.
#[test]
fn styles_have_the_defaults_of_their_place() {
    let parameter = |name: &str, place: &str| json!({"name": name, "in": place, "schema": {"type": "array"}});
    let mut off = parameter("c", "query");
    off["explode"] = json!(false);
    let mut wrong = parameter("d", "query");
    wrong["style"] = json!("matrix");
    let mut deep = parameter("e", "query");
    deep["style"] = json!("deepObject");
    let api = paths(json!({"/p/{a}": {"get": {"parameters": [
        parameter("a", "path"), parameter("b", "query"), off, wrong, deep, parameter("f", "header"), parameter("g", "cookie"),
    ]}}}));
    let styles: Vec<_> = only(&api).parameters.iter().map(|one| (one.style, one.explode)).collect();
    let expected = [
        (Style::Simple, false),
        (Style::Form, true),
        (Style::Form, false),
        (Style::Form, true),
        (Style::DeepObject, false),
        (Style::Simple, false),
        (Style::Form, true),
    ];
    assert_eq!(styles, expected);
    assert_eq!(api.notes.len(), 1, "{:?}", api.notes);
}

#[test]
fn a_parameter_of_the_path_that_is_forgotten_is_added() {
    let api = paths(json!({"/a/{b}/c/{d}": {"get": {"parameters": [
        {"name": "b", "in": "path", "schema": {"type": "integer"}},
        {"name": "z", "in": "path", "schema": {"type": "integer"}},
    ]}}}));
    let parameters: Vec<_> = only(&api).parameters.iter().map(|one| (one.name.as_str(), one.required)).collect();
    assert_eq!(parameters, [("b", true), ("d", true)]);
}

/// agentgateway fails the document for a parameter with `content`.
#[test]
fn a_parameter_may_be_written_as_a_media_type() {
    let api = paths(json!({"/a": {"get": {"parameters": [
        {"name": "filter", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}},
    ]}}}));
    let parameter = &only(&api).parameters[0];
    assert_eq!(parameter.media.as_deref(), Some("application/json"));
    assert_eq!(parameter.schema, json!({"type": "object"}));
}

/// FastMCP takes the first media type that is listed, rmcp-openapi multipart before JSON; agentgateway drops forms and multipart
/// in silence.
#[test]
fn json_is_chosen_then_a_form_then_multipart() {
    let body = |types: &[&str]| {
        let content: serde_json::Map<String, Value> = types
            .iter()
            .map(|media| {
                ((*media).to_owned(), json!({"schema": {"type": "object", "properties": {"a": {"type": "string"}}}}))
            })
            .collect();
        let api = paths(json!({"/a": {"post": {"requestBody": {"content": content}}}}));
        let body = only(&api).body.clone().unwrap();
        (body.media, body.kind, matches!(body.arguments, Arguments::Members(_)))
    };
    let (json_type, form) = ("application/json".to_owned(), "application/x-www-form-urlencoded".to_owned());
    assert_eq!(
        body(&["application/xml", "multipart/form-data", "application/json"]),
        (json_type.clone(), Kind::Json, true)
    );
    assert_eq!(body(&["multipart/form-data", "application/x-www-form-urlencoded"]), (form, Kind::Form, true));
    assert_eq!(body(&["text/csv", "multipart/form-data"]).1, Kind::Multipart);
    assert_eq!(body(&["application/vnd.api+json; v=1"]).1, Kind::Json);
    assert_eq!(body(&["*/*"]), (json_type, Kind::Json, true));
    assert_eq!(body(&["application/xml"]).1, Kind::Text);
    assert_eq!(body(&["application/octet-stream"]), ("application/octet-stream".to_owned(), Kind::Bytes, false));
}

fn argument_names(api: &Api) -> Vec<String> {
    let operation = only(api);
    let mut names: Vec<String> = operation.parameters.iter().map(|one| one.argument.clone()).collect();
    match operation.body.as_ref().map(|body| &body.arguments) {
        Some(Arguments::Whole(argument)) => names.push(argument.clone()),
        Some(Arguments::Members(members)) => names.extend(members.iter().map(|one| one.argument.clone())),
        None => {}
    }
    names
}

/// In 3,980 of 35,344 bodies of the corpus a member has the name of a parameter.
#[test]
fn arguments_that_share_a_name_get_their_place() {
    let api = paths(json!({"/p/{id}": {"post": {
        "parameters": [
            {"name": "id", "in": "path", "schema": {"type": "string"}},
            {"name": "id", "in": "query", "schema": {"type": "string"}},
            {"name": "filter[name]", "in": "query", "schema": {"type": "string"}},
            {"name": "page", "in": "query", "schema": {"type": "string"}},
        ],
        "requestBody": {"content": {"application/json": {"schema": {
            "type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "id_path": {}},
        }}}},
    }}}));
    let names = argument_names(&api);
    assert_eq!(names[1..6], ["id_query", "filter_name", "page", "id_body", "name"]);
    // The suffix itself may be taken.
    assert_eq!(names[6], "id_path");
    assert!(names[0].starts_with("id_") && !names[1..].contains(&names[0]), "{names:?}");
}

#[test]
fn a_body_that_is_no_plain_object_is_one_argument() {
    let whole = |schema: Value| {
        let api = api(&json!({
            "openapi": "3.0.3",
            "components": {"schemas": {"A": {"type": "object", "properties": {"a": {"type": "string"}}}}},
            "paths": {"/a": {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}},
        }));
        argument_names(&api)
    };
    assert_eq!(whole(json!({"type": "array", "items": {"$ref": "#/components/schemas/A"}})), ["body"]);
    assert_eq!(whole(json!({"oneOf": [{"$ref": "#/components/schemas/A"}, {"type": "string"}]})), ["body"]);
    assert_eq!(whole(json!({"type": "object", "additionalProperties": {"type": "string"}})), ["body"]);
    assert_eq!(whole(json!({"type": "object", "properties": {"a": {}}, "additionalProperties": true})), ["body"]);
    assert_eq!(whole(json!({"$ref": "#/components/schemas/A"})), ["a"]);
    let all = json!({"allOf": [{"$ref": "#/components/schemas/A"}, {"properties": {"b": {}}, "required": ["b", "a"]}]});
    assert_eq!(whole(all), ["a", "b"]);
    assert_eq!(whole(json!({"properties": {"a": {"readOnly": true}, "b": {}}})), ["b"]);
}

#[test]
fn the_lowest_success_is_the_answer() {
    let answer = |responses: Value| {
        let api = paths(json!({"/a": {"get": {"responses": responses}}}));
        only(&api).answer.clone()
    };
    let of = |kind: &str| json!({"content": {"application/json": {"schema": {"type": kind}}}});
    let found = answer(json!({"404": of("null"), "201": of("array"), "200": of("object"), "default": of("null")}));
    assert_eq!(found.unwrap().schema, Some(json!({"type": "object"})));
    assert_eq!(answer(json!({"2XX": of("array")})).unwrap().schema, Some(json!({"type": "array"})));
    assert_eq!(answer(json!({"204": {"description": "done"}})).unwrap().media, None);
    assert_eq!(answer(json!({"default": of("object")})).unwrap().schema, Some(json!({"type": "object"})));
    assert!(answer(json!({"404": of("object"), "default": of("object")})).is_none());
    let text = answer(json!({"200": {"content": {"text/csv": {"schema": {"type": "string"}}}}})).unwrap();
    assert_eq!((text.media.as_deref(), text.schema), (Some("text/csv"), None));
}

/// Stripe's list of tools has 188 MB with whole output schemas; the whole is made when it is asked for.
#[test]
fn a_large_answer_schema_is_apart() {
    let properties: serde_json::Map<String, Value> =
        (0..2_000).map(|index| (format!("member{index}"), json!({"$ref": "#/components/schemas/Leaf"}))).collect();
    let description = json!({
        "openapi": "3.0.3",
        "components": {"schemas": {
            "Big": {"type": "object", "properties": properties},
            "Leaf": {"type": "object", "properties": {"secret": {"type": "string", "writeOnly": true}, "id": {"type": "string"}}},
        }},
        "paths": {"/a": {"get": {"responses": {"200": {"content": {"application/json": {
            "schema": {"$ref": "#/components/schemas/Big"},
        }}}}}}},
    });
    let api = api(&description);
    assert_eq!(only(&api).answer.as_ref().unwrap().schema, None);
    let whole = answer_schema(&description, only(&api), &Limits::default()).unwrap();
    assert_eq!(whole["properties"].as_object().unwrap().len(), 2_000);
    assert_eq!(whole["$defs"]["Leaf"]["properties"], json!({"id": {"type": "string"}}));
    let small = Limits { whole_bytes: 1_000, ..Limits::default() };
    assert_eq!(answer_schema(&description, only(&api), &small), None);
}

#[test]
fn servers_have_their_variables_filled() {
    let description = json!({
        "openapi": "3.0.3",
        "servers": [
            {"url": "https://{region}.example.com:{port}/{base", "variables": {"region": {"default": "eu"}, "port": {"enum": [8443]}}},
            {"url": "/relative"}, {"url": 7}, {},
        ],
        "paths": {"/a": {"servers": [{"url": "https://path.example.com"}], "get": {}, "put": {"servers": [{"url": "https://own.example.com"}]}}},
    });
    let api = api(&description);
    assert_eq!(api.servers, ["https://eu.example.com:8443/{base", "/relative"]);
    assert_eq!(api.operations[0].servers, ["https://path.example.com"]);
    assert_eq!(api.operations[1].servers, ["https://own.example.com"]);
}

#[test]
fn security_is_a_choice_of_sets() {
    let description = json!({
        "openapi": "3.0.3",
        "components": {"securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "basic": {"type": "http", "scheme": "Basic"},
            "oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://t.example.com", "scopes": {}}}},
        }},
        "security": [{"key": []}],
        "paths": {"/a": {"get": {}, "put": {"security": []}, "post": {"security": [{"basic": [], "oauth": ["write"]}, {}]}}},
    });
    let api = api(&description);
    assert_eq!(api.schemes["key"], Scheme::Key { place: Place::Header, name: "X-Key".to_owned() });
    assert_eq!(api.schemes["basic"], Scheme::Basic);
    let oauth =
        Scheme::OAuth { client_credentials: Some("https://t.example.com".to_owned()), authorization_code: None };
    assert_eq!(api.schemes["oauth"], oauth);
    let needs = |index: usize| &api.operations[index].security;
    assert_eq!(needs(0).len(), 1);
    assert!(needs(1).is_empty());
    let write = Requirement { scheme: "oauth".to_owned(), scopes: vec!["write".to_owned()] };
    assert_eq!(needs(2)[0][1], write);
    assert!(needs(2)[1].is_empty());
}

#[test]
fn swagger_2_is_read_too() {
    let description = json!({
        "swagger": "2.0", "host": "api.example.com", "basePath": "/v1", "schemes": ["http", "https"],
        "consumes": ["application/xml", "application/json"],
        "definitions": {"Pet": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "tag": {"type": "string", "x-nullable": true}}}},
        "securityDefinitions": {"o": {"type": "oauth2", "flow": "accessCode", "authorizationUrl": "https://a.example.com", "tokenUrl": "https://t.example.com"}},
        "paths": {
            "/pets": {
                "post": {"parameters": [{"in": "body", "name": "pet", "required": true, "schema": {"$ref": "#/definitions/Pet"}}],
                    "responses": {"200": {"description": "ok", "schema": {"$ref": "#/definitions/Pet"}}}},
                "get": {"parameters": [
                    {"name": "ids", "in": "query", "type": "array", "items": {"type": "integer"}, "collectionFormat": "pipes", "description": "which"},
                    {"name": "all", "in": "query", "type": "array", "items": {"type": "integer"}, "collectionFormat": "multi"},
                    {"name": "some", "in": "query", "type": "array", "items": {"type": "integer"}},
                ]},
            },
            "/files": {"post": {"parameters": [
                {"name": "file", "in": "formData", "type": "file", "required": true, "description": "what to keep"},
                {"name": "note", "in": "formData", "type": "string"},
            ]}},
        },
    });
    let api = api(&description);
    assert_eq!(api.servers, ["https://api.example.com/v1", "http://api.example.com/v1"]);
    let body = api.operations[0].body.as_ref().unwrap();
    assert_eq!((body.media.as_str(), body.required), ("application/json", true));
    assert_eq!(body.schema["properties"]["tag"], json!({"type": ["string", "null"]}));
    assert_eq!(api.operations[0].answer.as_ref().unwrap().schema.as_ref().unwrap()["type"], "object");
    let styles: Vec<_> = api.operations[1].parameters.iter().map(|one| (one.style, one.explode)).collect();
    assert_eq!(styles, [(Style::PipeDelimited, false), (Style::Form, true), (Style::Form, false)]);
    assert_eq!(api.operations[1].parameters[0].schema, json!({"type": "array", "items": {"type": "integer"}}));
    let form = api.operations[2].body.as_ref().unwrap();
    assert_eq!((form.kind, form.required, api.operations[2].method), (Kind::Multipart, true, Method::Post));
    assert_eq!(form.schema["properties"]["file"]["contentEncoding"], "base64");
    assert_eq!(form.schema["required"], json!(["file"]));
}

#[test]
fn a_circle_of_references_ends() {
    let description = json!({
        "openapi": "3.0.3",
        "components": {
            "parameters": {"A": {"$ref": "#/components/parameters/B"}, "B": {"$ref": "#/components/parameters/A"}},
            "responses": {"R": {"$ref": "#/components/responses/R"}},
        },
        "paths": {
            "/a": {"get": {"parameters": [{"$ref": "#/components/parameters/A"}]}},
            "/b": {"get": {"responses": {"200": {"$ref": "#/components/responses/R"}}}},
            "/c": {"$ref": "#/paths/~1c"},
            "/d": {"$ref": "#/paths/~1b"},
        },
    });
    let api = api(&description);
    assert_eq!(api.operations.len(), 2);
    assert!(api.operations[0].answer.is_none());
    assert!(api.skipped.iter().all(|one| one.why.contains("circle")), "{:?}", api.skipped);
}

#[test]
fn the_key_of_a_scheme_is_no_argument() {
    let api = api(&json!({
        "openapi": "3.0.3",
        "paths": {"/boards": {"get": {
            "security": [{"key": [], "token": []}],
            "parameters": [
                {"name": "key", "in": "query", "required": true},
                {"name": "X-TOKEN", "in": "header"},
                {"name": "key", "in": "header"},
                {"name": "fields", "in": "query"},
            ],
        }, "post": {"security": [], "parameters": [{"name": "key", "in": "query"}]}}},
        "components": {"securitySchemes": {
            "key": {"type": "apiKey", "in": "query", "name": "key"},
            "token": {"type": "apiKey", "in": "header", "name": "X-Token"},
        }},
    }));
    let names = |at: usize| -> Vec<(Place, &str)> {
        api.operations[at].parameters.iter().map(|one| (one.place, one.name.as_str())).collect()
    };
    assert_eq!(names(0), [(Place::Header, "key"), (Place::Query, "fields")]);
    assert_eq!(names(1), [(Place::Query, "key")], "no scheme carries it here");
}

/// Trello lists its key and its token as alternatives, and requires both as parameters.
#[test]
fn required_parameters_that_are_keys_belong_to_every_way_of_authorization() {
    let query = |name: &str, required: bool| json!({"in": "query", "name": name, "required": required});
    let api = api(&json!({
        "openapi": "3.0.3",
        "components": {"securitySchemes": {
            "key": {"type": "apiKey", "in": "query", "name": "key"},
            "token": {"type": "apiKey", "in": "query", "name": "token"},
        }},
        "paths": {
            "/both": {"get": {"security": [{"key": []}, {"token": []}], "parameters": [query("key", true), query("token", true)]}},
            "/one": {"get": {"security": [{"key": []}, {"token": []}], "parameters": [query("key", false), query("token", false)]}},
            "/free": {"get": {"parameters": [query("key", true)]}},
        },
    }));
    let ways = |index: usize| -> Vec<Vec<&str>> {
        let ways = api.operations[index].security.iter();
        ways.map(|way| way.iter().map(|needed| needed.scheme.as_str()).collect()).collect()
    };
    let paths: Vec<_> = api.operations.iter().map(|operation| operation.path.as_str()).collect();
    assert_eq!(paths, ["/both", "/one", "/free"]);
    assert_eq!(ways(0), [["key", "token"], ["token", "key"]]);
    assert_eq!(ways(1), [["key"], ["token"]]);
    assert_eq!(ways(2), [[""; 0]; 0]);
    assert_eq!(api.operations[2].parameters.len(), 1, "without a requirement it is an argument");
    assert!(api.operations[..2].iter().all(|operation| operation.parameters.is_empty()));
}

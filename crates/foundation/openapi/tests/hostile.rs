//! Whatever a description says: reading it ends, panics never, and gives tools with unique legal names and usable schemas.

use std::collections::BTreeSet;

use openapi::choice::overlay;
use openapi::{Choice, Limits, ToolLimits, lint, propose, read, read_chosen, tools};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Keys that mean something somewhere in a description.
const KEYS: [&str; 48] = [
    "openapi",
    "swagger",
    "paths",
    "/a",
    "/a/{b}",
    "get",
    "post",
    "parameters",
    "requestBody",
    "responses",
    "200",
    "content",
    "application/json",
    "multipart/form-data",
    "schema",
    "$ref",
    "type",
    "properties",
    "required",
    "items",
    "allOf",
    "oneOf",
    "anyOf",
    "discriminator",
    "propertyName",
    "mapping",
    "components",
    "schemas",
    "A",
    "B",
    "definitions",
    "name",
    "in",
    "nullable",
    "enum",
    "minimum",
    "exclusiveMinimum",
    "pattern",
    "additionalProperties",
    "servers",
    "url",
    "security",
    "operationId",
    "tags",
    "x-mcp",
    "encoding",
    "style",
    "default",
];

const TEXTS: [&str; 22] = [
    "3.0.3",
    "3.1.0",
    "2.0",
    "#/components/schemas/A",
    "#/components/schemas/B",
    "#/definitions/A",
    "#/paths/~1a/get",
    "#",
    "#/",
    "x.yaml#/A",
    "string",
    "object",
    "array",
    "file",
    "path",
    "query",
    "body",
    "formData",
    "(",
    "b",
    "%zz%",
    "é\u{202e}<b>",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..1_000_000).prop_map(Value::from),
        prop::sample::select(&TEXTS[..]).prop_map(Value::from),
    ];
    leaf.prop_recursive(8, 120, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&KEYS[..]), inner), 0..8).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect::<Map<_, _>>()
                .into()),
        ]
    })
}

/// A description whose frame is right and whose content is anything.
fn description() -> impl Strategy<Value = Value> {
    let version =
        prop::sample::select(vec![json!({"openapi": "3.0.3"}), json!({"openapi": "3.1.0"}), json!({"swagger": "2.0"})]);
    (version, prop::collection::vec(value(), 8)).prop_map(|(mut root, parts)| {
        let [a, b, schema, parameter, answer, item, more, own] = parts.try_into().expect("eight parts");
        root["components"] = json!({"schemas": {"A": a, "B": b}});
        root["definitions"] = root["components"]["schemas"].clone();
        root["paths"] = json!({
            "/a": item,
            "/a/{b}": {
                "get": {"parameters": [parameter, more], "responses": {"200": {"content": {"application/json": {"schema": answer}}}}},
                "post": {"requestBody": {"content": {"application/json": {"schema": schema}}}},
                "put": own,
                "patch": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}},
                "delete": {"parameters": [{"name": "q", "in": "query", "schema": {"$ref": "#/components/schemas/B"}}]},
            },
        });
        root
    })
}

fn everything(value: &Value) {
    let limits = Limits::default();
    let Ok(api) = read(value, &limits) else { return };
    let list = tools::tools(&api, &ToolLimits::default());
    let names: BTreeSet<_> = list.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names.len(), list.len());
    for tool in &list {
        assert!(
            (1..=64).contains(&tool.name.len())
                && tool.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        );
        if let Err(why) = schema::Validator::new(&tool.input) {
            panic!("{why}: {}", tool.input);
        }
        if let Some(output) = &tool.output
            && let Err(why) = schema::Validator::new(output)
        {
            panic!("{why}: {output}");
        }
        let arguments = tool.input["properties"].as_object().expect("properties");
        let legal = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        assert!(
            arguments.keys().all(|name| (1..=64).contains(&name.len()) && name.chars().all(legal)),
            "{arguments:?}"
        );
    }
    lint::lines(&lint::lint(&api, &list));
    let proposed = propose::propose(&api, 40);
    let mut changed = value.clone();
    overlay::apply(&mut changed, &propose::overlay(&api, &proposed)).expect("our own overlay");
    read_chosen(&changed, &limits, &Choice::default()).expect("still a description");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_description_is_read(description in description()) {
        everything(&description);
    }

    #[test]
    fn any_value_is_read_or_refused(value in value()) {
        everything(&value);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\PC\n]{0,200}") {
        if let Ok((value, _)) = openapi::parse(&text) {
            everything(&value);
        }
    }

    #[test]
    fn any_overlay_is_applied_or_refused(mut description in description(), overlay in value()) {
        let overlay = json!({"overlay": "1.0.0", "actions": [
            overlay.clone(), {"target": "$..*", "update": overlay}, {"target": "$..a", "remove": true},
        ]});
        if overlay::apply(&mut description, &overlay).is_ok() {
            everything(&description);
        }
    }
}

//! Tools in the form of each API: strict schemas are strict, and arguments find their way back.

use proptest::prelude::*;
use schema::sample::{self, Style};
use schema::{Rng, Validator};
use serde_json::{Map, Value, json};

use super::{Api, ExportedTool, NoteKind, export};
use crate::Catalogue;

fn exported(schema: Value, api: Api, is_strict: bool) -> ExportedTool {
    let catalogue =
        Catalogue::read(&json!([{ "name": "t", "description": "Does it.", "inputSchema": schema }])).unwrap();
    export(&catalogue, api, is_strict).tools.remove(0)
}

fn strict(schema: Value) -> ExportedTool {
    exported(schema, Api::OpenAi, true)
}

/// An object with one member, required or not.
fn member(schema: Value, is_required: bool) -> Value {
    let required = if is_required { json!(["a"]) } else { json!([]) };
    json!({ "type": "object", "properties": { "a": schema }, "required": required })
}

/// What the documentation of structured outputs allows, read apart from what makes schemas strict.
fn assert_strict(schema: &Value, at: &str) {
    const WORDS: [&str; 19] = [
        "type",
        "title",
        "description",
        "enum",
        "const",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "anyOf",
        "$ref",
        "$defs",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    ];
    let members = schema.as_object().unwrap_or_else(|| panic!("{at}: {schema}"));
    for word in members.keys() {
        assert!(WORDS.contains(&word.as_str()) || matches!(word.as_str(), "minItems" | "maxItems"), "{at}: `{word}`");
    }
    if members.contains_key("$ref") {
        assert!(members.len() == 1 && members["$ref"].as_str().unwrap().starts_with("#/$defs/"), "{at}: {schema}");
        return;
    }
    let has = |kind: &str| {
        members.get("type").is_some_and(|t| t == kind || t.as_array().is_some_and(|all| all.contains(&json!(kind))))
    };
    assert!(members.contains_key("type") || members.contains_key("anyOf"), "{at}: no type: {schema}");
    assert_eq!(has("object"), members.contains_key("properties"), "{at}: {schema}");
    if has("object") {
        let names: Vec<&String> = members["properties"].as_object().unwrap().keys().collect();
        assert_eq!((&members["required"], &members["additionalProperties"]), (&json!(names), &json!(false)), "{at}");
    }
    assert_eq!(has("array"), members.contains_key("items"), "{at}: {schema}");
    let below = |word: &str| members.get(word).and_then(Value::as_object).into_iter().flatten();
    for (name, one) in below("properties").chain(below("$defs")) {
        assert_strict(one, &format!("{at}/{name}"));
    }
    for one in members.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        assert_strict(one, &format!("{at}/anyOf"));
    }
    if let Some(items) = members.get("items") {
        assert_strict(items, &format!("{at}/items"));
    }
}

/// Random arguments that fit the strict schema must fit the original once their nulls are taken out.
fn assert_way_back(tool: &ExportedTool, original: &Value, seeds: u64) -> usize {
    let parameters = &tool.definition["parameters"];
    assert_strict(parameters, "");
    let (ours, theirs) = (Validator::with_formats(parameters).unwrap(), Validator::new(original).unwrap());
    let mut tried = 0;
    for seed in 0..seeds {
        let Some(given) = sample::object(parameters, Style::Typical, &Rng::new(seed, "way back")) else { continue };
        if !ours.is_valid(&Value::Object(given.clone())) {
            continue;
        }
        tried += 1;
        let arguments = Value::Object(tool.arguments(given.clone()));
        let misfits = theirs.mismatches(&arguments, 3);
        assert!(misfits.is_empty(), "{original}\nstrict: {parameters}\ngiven: {given:?}\n{arguments}: {misfits:?}");
    }
    tried
}

fn not_strict(schema: Value) -> (String, String) {
    let tool = strict(schema.clone());
    assert!(!tool.is_strict && tool.definition["strict"] == json!(false), "{schema}: {:?}", tool.definition);
    let note = tool.notes.iter().find(|note| note.kind == NoteKind::NotStrict).unwrap_or_else(|| panic!("{schema}"));
    (note.pointer.clone(), note.why.clone())
}

#[test]
fn optional_members_may_be_null_and_objects_are_closed() {
    for (optional, expected) in [
        (json!({ "type": "string" }), json!({ "type": ["string", "null"] })),
        (json!({ "type": ["integer", "null"] }), json!({ "type": ["integer", "null"] })),
        (json!({ "enum": ["x", "y"] }), json!({ "type": ["string", "null"], "enum": ["x", "y", null] })),
        (json!({ "const": 1 }), json!({ "anyOf": [{ "type": "integer", "const": 1 }, { "type": "null" }] })),
        (
            json!({ "type": "array", "items": { "type": "string" }, "description": "Names." }),
            json!({ "description": "Names.", "anyOf": [{ "type": "array", "items": { "type": "string" } }, { "type": "null" }] }),
        ),
        (
            json!({ "anyOf": [{ "type": "string" }, { "type": "null" }], "default": null }),
            json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }),
        ),
        (
            json!({ "type": "integer", "default": 5 }),
            json!({ "type": ["integer", "null"], "description": "(default: 5)" }),
        ),
    ] {
        let tool = strict(member(optional.clone(), false));
        let parameters = &tool.definition["parameters"];
        assert!(tool.is_strict && tool.notes.is_empty(), "{optional}: {:?}", tool.notes);
        assert_eq!(parameters["properties"]["a"], expected, "{optional}");
        assert_eq!((&parameters["required"], &parameters["additionalProperties"]), (&json!(["a"]), &json!(false)));
        assert_strict(parameters, "");
    }
}

#[test]
fn what_cannot_be_strict_is_reported_with_its_place() {
    let inner = |schema: Value| member(schema, true);
    for (schema, place, why) in [
        (inner(json!({})), "/properties/a", "any type"),
        (inner(json!(true)), "/properties/a", "any value"),
        (inner(json!({ "type": "object" })), "/properties/a", "any name"),
        (inner(json!({ "type": "object", "additionalProperties": { "type": "string" } })), "/properties/a", "any name"),
        (inner(json!({ "type": "array" })), "/properties/a", "items of any type"),
        (
            inner(json!({ "type": "array", "items": member(json!({}), true) })),
            "/properties/a/items/properties/a",
            "any type",
        ),
        (inner(json!({ "type": "array", "prefixItems": [{ "type": "string" }] })), "/properties/a", "each place"),
        (inner(json!({ "allOf": [{ "type": "string" }, { "minLength": 1 }] })), "/properties/a", "several schemas"),
        (inner(json!({ "type": "object", "patternProperties": { "^x": {} } })), "/properties/a", "pattern"),
        (inner(json!({ "type": "object", "enum": [{}] })), "/properties/a", "certain objects"),
        (json!({ "type": "object", "required": ["b"], "properties": {} }), "", "`b` is required and not described"),
        (json!({ "type": "object", "additionalProperties": true }), "", "any name"),
        (json!({ "anyOf": [{ "type": "object", "properties": {} }] }), "", "root"),
        (json!({ "type": "string" }), "", "root"),
        (json!({}), "", "root"),
    ] {
        let (pointer, said) = not_strict(schema.clone());
        assert!(pointer == place && said.contains(why), "{schema}: {pointer}: {said}");
    }
    let deep = (0..12).fold(json!({ "type": "string" }), |inner, _| member(inner, true));
    assert!(not_strict(deep).1.contains("levels"));
    let wide: Map<String, Value> = (0..5001).map(|n| (format!("m{n}"), json!({ "type": "string" }))).collect();
    assert!(not_strict(json!({ "type": "object", "properties": wide })).1.contains("members"));
    let values: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
    assert!(not_strict(inner(json!({ "enum": values }))).1.contains("enumerations"));
}

#[test]
fn what_is_not_checked_is_noted_and_said_to_the_model() {
    let tool = strict(member(json!({ "type": "string", "minLength": 2, "description": "A name." }), true));
    assert_eq!(
        tool.definition["parameters"]["properties"]["a"],
        json!({ "type": "string", "description": "A name. (minLength: 2)" })
    );
    assert_eq!((tool.is_strict, tool.notes.len(), tool.notes[0].kind), (true, 1, NoteKind::Unchecked));
    for harmless in [json!({ "type": "string", "minLength": 0 }), json!({ "type": "integer", "minLength": 3 })] {
        assert!(strict(member(harmless.clone(), true)).notes.is_empty(), "{harmless}");
    }
    let properties = json!({ "a": { "type": "string" }, "b": { "type": "string" } });
    let either =
        json!({ "type": "object", "properties": properties, "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] });
    for (schema, pointer) in [(either.clone(), ""), (member(either.clone(), true), "/properties/a")] {
        let tool = strict(schema);
        let note = &tool.notes[0];
        assert!(
            tool.is_strict && tool.notes.len() == 1 && note.pointer == pointer && note.why.contains("anyOf"),
            "{tool:?}"
        );
    }
    let mut more = either;
    more["anyOf"][0]["properties"] = json!({ "c": { "type": "string" } });
    assert!(not_strict(more.clone()).1.contains("root") && not_strict(member(more, true)).1.contains("next to"));
    let tool = strict(member(json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }] }), true));
    assert!(tool.is_strict && tool.notes[0].why.contains("oneOf"), "an integer fits both");
    let tool = strict(member(json!({ "oneOf": [{ "type": "integer" }, { "type": "string" }] }), true));
    assert!(tool.is_strict && tool.notes.is_empty(), "{:?}", tool.notes);
    let open = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "additionalProperties": true });
    assert_eq!(strict(open).notes[0].kind, NoteKind::Narrowed);
}

#[test]
fn references_are_kept_and_recursion_stays() {
    let node = json!({ "type": "object", "properties": {
        "value": { "type": "string" }, "next": { "$ref": "#/definitions/Node", "description": "The next." } }, "required": ["value"] });
    let schema = json!({ "type": "object", "properties": { "list": { "$ref": "#/definitions/Node" }, "again": { "$ref": "#" } },
        "required": ["list"], "definitions": { "Node": node } });
    let tool = strict(schema.clone());
    assert!(tool.is_strict, "{:?}", tool.notes);
    let parameters = &tool.definition["parameters"];
    assert_eq!(parameters["properties"]["list"], json!({ "$ref": "#/$defs/Node" }));
    assert_eq!(parameters["properties"]["again"]["anyOf"][0], json!({ "$ref": "#/$defs/arguments" }));
    assert!(assert_way_back(&tool, &schema, 50) > 10);
    let given = json!({ "list": { "value": "a", "next": { "value": "b", "next": null } }, "again": null });
    let back = tool.arguments(given.as_object().unwrap().clone());
    assert_eq!(Value::Object(back), json!({ "list": { "value": "a", "next": { "value": "b" } } }));
}

#[test]
fn nulls_that_mean_something_stay() {
    let schema = json!({ "type": "object", "required": ["must", "list", "either"], "properties": {
        "must": { "type": ["string", "null"] },
        "may": { "type": ["string", "null"] },
        "list": { "type": "array", "items": { "type": ["integer", "null"] } },
        "either": { "anyOf": [member(json!({ "type": "string" }), false), member(json!({ "type": ["integer", "null"] }), true)] } } });
    let tool = strict(schema.clone());
    let back = |given: Value| Value::Object(tool.arguments(given.as_object().unwrap().clone()));
    assert_eq!(
        back(json!({ "must": null, "may": null, "list": [1, null], "either": { "a": 3 } })),
        json!({ "must": null, "list": [1, null], "either": { "a": 3 } })
    );
    assert!(assert_way_back(&tool, &schema, 200) > 100);
    // Where nothing was made strict, nothing is taken out.
    let plain = exported(schema, Api::Anthropic, false);
    let given = json!({ "may": null });
    assert_eq!(Value::Object(plain.arguments(given.as_object().unwrap().clone())), given);
}

#[test]
fn each_api_has_its_form() {
    let schema = json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": { "a": { "type": ["string", "null"], "enum": ["x", null] }, "b": { "$ref": "#/definitions/B" } },
        "definitions": { "B": { "type": "integer", "exclusiveMinimum": 0 } } });
    let openai = exported(schema.clone(), Api::OpenAi, false).definition;
    assert_eq!((&openai["type"], &openai["name"], &openai["strict"]), (&json!("function"), &json!("t"), &json!(false)));
    assert_eq!(
        (openai["parameters"].get("$schema"), &openai["parameters"]["properties"]),
        (None, &schema["properties"])
    );
    let chat = exported(schema.clone(), Api::OpenAiChat, true).definition;
    assert_eq!((&chat["type"], &chat["function"]["strict"]), (&json!("function"), &json!(true)));
    let anthropic = exported(schema.clone(), Api::Anthropic, false).definition;
    assert_eq!((anthropic.get("strict"), &anthropic["input_schema"]["type"]), (None, &json!("object")));
    let catalogue = Catalogue::read(
        &json!([{ "name": "t", "inputSchema": schema }, { "name": "u", "inputSchema": { "type": "object" } }]),
    );
    let gemini = export(&catalogue.unwrap(), Api::Gemini, false);
    assert_eq!(
        gemini.to_value(),
        json!([{ "functionDeclarations": [
            { "name": "t", "parameters": { "type": "OBJECT", "properties": {
                "a": { "type": "STRING", "enum": ["x"], "nullable": true }, "b": { "type": "INTEGER" } } } },
            { "name": "u" },
        ] }])
    );
    assert_eq!(gemini.tools[0].notes.iter().map(|note| note.pointer.as_str()).collect::<Vec<_>>(), ["/properties/b"]);
}

#[test]
fn roots_that_apis_refuse_are_merged() {
    let branch = |name: &str| json!({ "properties": { name: { "type": "string" } }, "required": [name] });
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"],
        "oneOf": [branch("b"), branch("c")], "allOf": [branch("d")] });
    let tool = exported(schema, Api::Anthropic, false);
    let parameters = &tool.definition["input_schema"];
    let names: Vec<&String> = parameters["properties"].as_object().unwrap().keys().collect();
    assert_eq!((json!(names), &parameters["required"]), (json!(["a", "d", "b", "c"]), &json!(["a", "d"])));
    assert!(parameters.get("oneOf").is_none() && parameters.get("allOf").is_none() && tool.notes.len() == 2);
}

#[test]
fn hostile_schemas_end() {
    let wide = |n: usize| {
        (0..n)
            .map(|at| {
                (
                    format!("d{at}"),
                    json!({ "type": "object", "properties": {
        "a": { "$ref": format!("#/$defs/d{}", at + 1) }, "b": { "$ref": format!("#/$defs/d{}", at + 1) } } }),
                )
            })
            .collect::<Map<_, _>>()
    };
    let mut defs = wide(40);
    defs.insert("d40".to_owned(), json!({ "type": "string" }));
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": defs });
    for api in [Api::OpenAi, Api::Anthropic, Api::Gemini] {
        for is_strict in [false, true] {
            let tool = exported(schema.clone(), api, is_strict);
            assert!(tool.definition.to_string().len() < 4 << 20);
        }
    }
    for schema in [
        json!(7),
        json!([]),
        json!({ "type": 7, "properties": 7, "required": 7 }),
        json!({ "$ref": "#" }),
        json!({ "$ref": "#/%zz" }),
    ] {
        for api in [Api::OpenAi, Api::Anthropic, Api::Gemini] {
            exported(schema.clone(), api, true);
        }
    }
}

/// Schemas that can be made strict, and now and then ones that cannot.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({ "type": "string" })),
        Just(json!({ "type": "boolean", "default": false })),
        Just(json!({ "type": "integer", "minimum": 1, "maximum": 9 })),
        Just(json!({ "type": ["string", "null"] })),
        Just(json!({ "enum": ["x", "y"] })),
        Just(json!({ "enum": ["x", null, 3] })),
        Just(json!({ "const": "k" })),
        Just(json!({ "type": "string", "format": "date" })),
        Just(json!({ "$ref": "#/$defs/Shared" })),
        Just(json!({ "$ref": "#/$defs/Tree", "description": "A tree." })),
        Just(json!({ "type": "string", "maxLength": 4 })),
        Just(json!({})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let names = prop::sample::subsequence(vec!["a", "b", "c"], 1..=3);
        let object = (names, prop::collection::vec((inner.clone(), any::<bool>()), 3), any::<bool>()).prop_map(
            |(names, all, closed)| {
                let parts: Vec<_> = names.iter().zip(all).collect();
                let properties: Map<String, Value> =
                    parts.iter().map(|(name, (one, _))| ((**name).to_owned(), one.clone())).collect();
                let required: Vec<&&str> =
                    parts.iter().filter(|(_, (_, required))| *required).map(|(name, _)| *name).collect();
                let mut schema = json!({ "type": "object", "properties": properties, "required": required });
                if closed {
                    schema["additionalProperties"] = json!(false);
                }
                schema
            },
        );
        prop_oneof![
            4 => object,
            2 => inner.clone().prop_map(|one| json!({ "type": "array", "items": one })),
            2 => prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({ "anyOf": all })),
            1 => prop::collection::vec(inner.clone(), 2..3).prop_map(|all| json!({ "oneOf": all })),
            1 => inner.prop_map(|one| json!({ "allOf": [one] })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn strict_arguments_without_their_nulls_fit_the_original(
        parts in prop::collection::vec((any_schema(), any::<bool>()), 1..4)
    ) {
        let properties: Map<String, Value> = parts.iter().enumerate().map(|(at, (one, _))| (format!("p{at}"), one.clone())).collect();
        let required: Vec<String> = parts.iter().enumerate().filter(|(_, (_, required))| *required).map(|(at, _)| format!("p{at}")).collect();
        let tree = json!({ "type": "object", "properties": { "left": { "$ref": "#/$defs/Tree" }, "name": { "type": "string" } } });
        let schema = json!({ "type": "object", "properties": properties, "required": required,
            "$defs": { "Shared": { "type": "object", "properties": { "s": { "type": "integer" } } }, "Tree": tree } });
        let tool = strict(schema.clone());
        if tool.is_strict {
            assert_strict(&tool.definition["parameters"], "");
            if tool.notes.iter().all(|note| note.kind != NoteKind::Unchecked) {
                assert_way_back(&tool, &schema, 12);
            }
        } else {
            prop_assert!(tool.notes.iter().any(|note| note.kind == NoteKind::NotStrict));
        }
    }
}

//! Arbitrary files are converted or refused.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::import;
use super::super::read::parse;
use crate::Advice;

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(vec![
            "server",
            "tests",
            "command",
            "args",
            "env",
            "url",
            "transport",
            "tools",
            "resources",
            "prompts",
            "expect",
            "shouldThrow",
            "snapshot",
            "exclude",
            "assert",
            "tool",
            "contains",
            "json_path",
            "equals",
            "is_error",
            "not_error",
            "setup",
            "capture",
            "assert_resources",
            "list",
            "read",
            "timeout",
            "skip",
            "headers",
            "filter",
            "matches_regex",
            "trajectory",
            "client_capabilities",
            "roots",
            "elicitation",
            "sampling",
            "docker",
        ])
        .prop_map(str::to_owned),
        "[ -~]{1,6}",
        any::<String>(),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<u32>().prop_map(Value::from),
        word().prop_map(Value::from),
        "[a-c.=!<>&|'\"(){}\\[\\]0-9 ]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((word(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A file with something to import in it.
fn file() -> impl Strategy<Value = Value> {
    let tests = proptest::collection::vec((word(), value()), 0..4);
    let tests = tests.prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()));
    let texts = "(a|content|isError|length|count|\\.|\\[0\\]| === | > |&&|\\|\\||'x'|5|undefined|!|contains:){0,8}";
    let tool = || (texts, value(), value(), any::<bool>());
    prop_oneof![
        value(),
        (tests, tool()).prop_map(|(tests, (expect, args, snapshot, throws))| {
            let config = json!({ "expect": expect, "args": args, "snapshot": snapshot, "shouldThrow": throws });
            json!({ "server": { "command": "x" }, "tests": { "tools": { "a:b": config }, "resources": tests, "filter": "a*" } })
        }),
        (value(), value(), tool()).prop_map(|(expect, capture, (text, args, other, skip))| {
            let setup = json!([{ "tool": text, "args": other, "capture": { "id": capture } }]);
            let assert = json!({ "tool": "{{id}}", "args": args, "expect": expect });
            json!({ "server": { "command": "x" }, "assert": assert, "setup": setup, "skip": skip })
        }),
        (value(), value()).prop_map(|(text, path)| {
            let expect = json!({ "contains": [text], "not_contains": text, "matches_regex": [text], "equals": text,
                "in_order": [text, text], "json_path": { "$.a": path }, "min_results": path, "not_empty": true });
            json!({ "server": { "command": "x" }, "assert_resources": { "list": {}, "expect": expect } })
        }),
    ]
}

proptest! {
    /// Importing any file gives a suite that can be read, or an error that says what is wrong.
    #[test]
    fn every_file_is_converted_or_refused(value in file()) {
        if let Ok(Some(source)) = parse(&value.to_string(), Path::new("x")) {
            for one in import(&[source], Some("dir"), Advice::to_string).unwrap_or_default() {
                let text = one.text(Some(Path::new("..")));
                let read = crate::test::parse(&text, Path::new("t.mcp.yaml"));
                prop_assert!(read.is_ok(), "{}\n{text}", read.err().map(|errors| errors.to_string()).unwrap_or_default());
            }
        }
    }
}

//! The memory that the worst descriptions take: a process of its own, because what was taken once is counted.

#![cfg(target_os = "linux")]

use openapi::{Limits, ToolLimits, read, tools};
use serde_json::{Value, json};

/// The most memory that this process ever had, in MiB.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a figure");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<usize>().ok()).expect("a number") >> 10
}

/// `schemas` schemas, each of which names all the others, and as many operations that need them: 731 KB with 120 and 301.
fn crossing(schemas: usize, operations: usize) -> Value {
    let name = |number: usize| format!("S{}", number % schemas);
    let reference = |number: usize| json!({ "$ref": format!("#/components/schemas/{}", name(number)) });
    let members: Value =
        (0..schemas).map(|one| (format!("s{one}"), reference(one))).collect::<serde_json::Map<_, _>>().into();
    let all = (0..schemas).map(|one| (name(one), json!({ "type": "object", "properties": members })));
    let paths = (0..operations).map(|one| {
        let content = |of: usize| json!({ "application/json": { "schema": reference(of) } });
        let post = json!({ "requestBody": { "content": content(one) }, "responses": { "200": { "content": content(one * 7) } } });
        (format!("/p{one}"), json!({ "post": post }))
    });
    json!({
        "openapi": "3.1.0",
        "components": { "schemas": all.collect::<serde_json::Map<_, _>>() },
        "paths": paths.collect::<serde_json::Map<_, _>>(),
    })
}

#[test]
fn brackets_and_cross_references_take_bounded_memory() {
    for text in ["[".repeat(8 << 20), format!("openapi: {}", "[".repeat(8 << 20)), "{\"a\":".repeat(2 << 20)] {
        assert!(openapi::parse(&text).is_err());
    }
    assert!(peak() < 100, "8 MiB of brackets took {} MiB", peak());
    // A tenth of the usual bounds, so that the test is short: without them this takes more than 200 MiB.
    let limits = Limits { memory: 10 << 20, total_bytes: 2 << 20, ..Limits::default() };
    let api = read(&crossing(120, 120), &limits).expect("a description");
    let made = tools::tools(&api, &ToolLimits::default());
    assert_eq!(made.len() + api.left.len() + api.skipped.len(), 120, "every operation is there or explained");
    assert!(!api.left.is_empty(), "the bound is reached");
    assert!(peak() < 180, "cross references took {} MiB", peak());
}

//! Imported files, and that `proof test` reads every result.

mod arbitrary;
mod mcp_assert;
mod mcp_jest;

use std::path::Path;

use serde_json::json;

use super::read::parse;
use super::{Imported, Source, import};
use crate::Advice;

fn source(name: &str, text: &str) -> Source {
    parse(text, Path::new(name)).unwrap_or_else(|errors| panic!("{errors:?}")).expect("a known format")
}

/// The one file that comes of it, which `proof test` reads.
#[track_caller]
fn imported(sources: &[Source], fixture: Option<&str>) -> (String, Imported) {
    let mut all = import(sources, fixture, Advice::to_string).unwrap_or_else(|errors| panic!("{}", errors[0]));
    assert_eq!(all.len(), 1, "files");
    let one = all.remove(0);
    let text = one.text(None);
    if let Err(errors) = crate::test::parse(&text, Path::new("t.mcp.yaml")) {
        panic!("{errors}\n{text}");
    }
    (text, one)
}

#[track_caller]
fn assert_text(found: &str, expected: &str) {
    let expected = expected.trim_start_matches('\n');
    if found != expected {
        let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
        panic!("{differs:#?}\n{found}");
    }
}

#[test]
fn errors_in_files_have_their_place() {
    let outcome = |text: &str| match parse(text, Path::new("x")) {
        Ok(found) => format!("{}", found.is_some()),
        Err(errors) => format!("{:?} {}", errors[0].at.map(|at| (at.line, at.column)), errors[0].what),
    };
    assert_eq!(outcome("{\n  \"server\": {},\n  \"tests\": {\"a\" 1}\n}"), "Some((3, 17)) invalid JSON: expected `:`");
    assert!(outcome("a: [1").starts_with("Some((2, 1)) this is no YAML"), "{}", outcome("a: [1"));
    assert_eq!(outcome("{\"a\": 1,\n \"a\": 2}"), "Some((2, 2)) the key `a` stands twice");
    assert_eq!(outcome(" \n"), "None the file is empty");
    assert_eq!(outcome("[1]"), "false");
    assert_eq!(outcome("{\"server\": {}, \"tests\": []}"), "false");
    assert_eq!(outcome("{\"server\": {}, \"tests\": {}, \"x\": \"\\ud83d\\ude00\"}"), "true");
    let deep = format!("{{\"server\": {{}}, \"tests\": {}1{}}}", "{\"a\":".repeat(60), "}".repeat(60));
    assert_eq!(outcome(&deep), "None values nest deeper than 48");
}

#[test]
fn addresses_and_headers() {
    let text = "name: one\nserver: { transport: HTTP, url: 'http://h/mcp', headers: { Authorization: 'Bearer ${T}', X: y } }\n\
                assert: { tool: t, expect: { not_error: true } }\n";
    let (text, _) = imported(&[source("a.yaml", text)], None);
    assert!(text.contains("server:\n  url: \"http://h/mcp\"\n  bearerEnv: T\n  headers: { X: \"y\" }\n"), "{text}");
    let other = json!({ "server": { "url": "ftp://h", "transport": "sse" }, "tests": {} }).to_string();
    let errors = import(&[source("a.json", &other)], None, Advice::to_string).expect_err("no address");
    assert!(errors[0].to_string().contains("invalid URL – a.json:1:"), "{}", errors[0]);
}

#[test]
fn a_trace_needs_another_file_with_a_server() {
    let trace = || source("t.yaml", "name: t\ntrajectory: [{ type: order, tools: [a, b] }]\n");
    let errors = import(&[trace()], None, Advice::to_string).expect_err("no server");
    assert!(errors[0].to_string().contains("no server"), "{}", errors[0]);
    let other = source("a.yaml", "server: { command: srv }\nassert: { tool: t }\n");
    let (text, one) = imported(&[trace(), other], None);
    assert!(text.contains("skip: \"not imported: trajectory\""), "{text}");
    assert_eq!((one.tally().cases, one.tally().empty, one.sources().len()), (2, 1, 2));
}

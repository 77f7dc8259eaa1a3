//! Errors in test files, with their line.

use std::path::Path;

use serde_json::json;

use super::{of_call, read};

const SERVER: &str = "server: { command: [my-server] }\n";

#[track_caller]
fn refused(rest: &str, line: usize, what: &str, remedy: &str) {
    let text = format!("{SERVER}{rest}");
    let mut errors = read(&text, Path::new("x.mcp.yaml")).expect_err(rest);
    errors.sort_by_key(|error| error.at);
    let error = &errors[0];
    assert!(error.what.contains(what) && error.remedy.contains(remedy), "{rest}: {errors:?}");
    assert_eq!(error.at.map(|at| at.line), Some(line), "{rest}: {errors:?}");
    assert_eq!(errors.len(), 1, "{rest}: {errors:?}");
}

#[test]
fn a_file_is_read() {
    let text = format!(
        "{SERVER}vars: {{ city: Oslo }}\ncases:\n  - call: a\n    arguments: {{ x: '{{{{ vars.city }}}}' }}\n    capture: {{ id: $.id }}\n  \
         - call: a\n  - name: uses\n    read: x://{{{{ vars.id }}}}\n"
    );
    let suite = read(&text, Path::new("dir/x.mcp.yaml")).unwrap();
    let names: Vec<&str> = suite.cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["call a", "call a (2)", "uses"]);
    assert!(suite.cases[2].uses.contains("id") && suite.cases[1].uses.is_empty());
}

#[test]
fn a_transport_must_fit_the_url_and_the_revisions() {
    let errors = |server: &str, revisions: &str| {
        let text = format!("server: {server}\nmatrix: {{ revisions: [{revisions}] }}\ncases: [{{ call: a }}]\n");
        let read = read(&text, Path::new("x.mcp.yaml"));
        read.err().map(|errors| errors.into_iter().map(|error| error.what).collect::<Vec<_>>())
    };
    for sound in ["sse }", "http }", "sse, command: [my-server] }"] {
        assert_eq!(errors(&format!("{{ url: 'http://x/y', transport: {sound}"), "2024-11-05, 2025-11-25"), None);
    }
    assert_eq!(errors("{ url: 'wss://x/y', transport: ws }", "2025-11-25"), None);
    for (server, revisions, what) in [
        ("{ url: 'http://x/y', transport: ws }", "2025-11-25", "not reached over"),
        ("{ url: 'ws://x/y', transport: sse }", "2024-11-05", "not reached over"),
        ("{ command: [x], transport: sse }", "2024-11-05", "needs a `url`"),
        ("{ url: 'http://x/y', transport: stdio }", "2024-11-05", "stdio"),
        ("{ url: 'http://x/y', transport: sse }", "2025-06-18, 2025-11-25", "only 2024-11-05"),
    ] {
        let errors = errors(server, revisions).expect(server);
        assert!(errors.len() == 1 && errors[0].contains(what), "{server}: {errors:?}");
    }
}

#[test]
fn variables_use_those_above() {
    let text = format!(
        "{SERVER}vars: {{ host: a, port: 80, at: '{{{{ vars.host }}}}:{{{{ vars.port }}}}', all: {{ to: ['{{{{ vars.at }}}}'] }} }}\n\
         cases: [{{ call: a }}]\n"
    );
    let suite = read(&text, Path::new("x")).unwrap();
    assert_eq!(suite.vars["at"], "a:80");
    assert_eq!(suite.vars["all"]["to"][0], "a:80");
    let vars = |vars: &str| format!("vars: {{ {vars} }}\ncases: [{{ call: a, capture: {{ id: $.x }} }}]\n");
    refused(&vars("a: '{{ vars.b }}', b: 1"), 2, "`b` is defined below", "above");
    refused(&vars("a: '{{ vars.a }}'"), 2, "uses itself", "another");
    refused(&vars("a: '{{ vars.id }}'"), 2, "captured by a case", "fixed");
    refused(&vars("a: '{{ vars.none }}'"), 2, "unknown variable `none`", "`a`");
    let doubled = |(name, from)| format!("{name}: '{{{{ vars.{from} }}}}{{{{ vars.{from} }}}}'");
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r"];
    let grown = names.into_iter().skip(1).zip(names).map(doubled).collect::<Vec<_>>().join(", ");
    refused(&vars(&format!("a: {}, {grown}", "x".repeat(60))), 2, "too long", "shorter");
}

#[test]
fn errors_have_their_line() {
    refused("cases: [{ call: a, args: {} }]\n", 2, "`args` is unknown", "`arguments`");
    refused("cases: [{ call: a, expect: { result: 1 } }]\n", 2, "`result` is unknown", "`$…`");
    refused("cases: [{ raed: b }]\n", 2, "`raed` is unknown", "`read`");
    refused("tests: [{ call: a }]\n", 2, "`tests` is unknown", "`cases`");
    refused(
        "cases: [{ call: { tool: echo, arguments: {} } }]\n",
        2,
        "`call` is a mapping",
        "`call: echo`, and its `arguments`",
    );
    refused("cases:\n  - name: x\n", 3, "has no request", "`call`");
    refused("cases:\n  - call: a\n    read: b\n", 3, "several requests", "one of");
    refused("cases:\n  - call: a\n    expect:\n      $.a[: 1\n", 5, "not a JSONPath", "$.content");
    refused("cases:\n  - call: a\n    expect:\n      $.a: { contians: 1 }\n", 5, "unknown matcher", "`contains`");
    refused("cases:\n  - read: a\n    expect: { outcome: tool-error }\n", 4, "only a `call`", "`error`");
    refused("cases:\n  - call: a\n    expect: { code: 1, $.a: 1 }\n", 4, "no result", "`code`");
    refused(
        "cases:\n  - call: a\n    expect: { code: 1, outcome: ok }\n",
        4,
        "only a JSON-RPC error",
        "outcome: error",
    );
    refused("cases:\n  - call: '{{ vars.x }}'\n", 3, "unknown variable `x`", "`vars`");
    refused(
        "cases:\n  - call: a\n    arguments: { x: '{{ vars.id }}' }\n    capture: { id: $.x }\n",
        4,
        "this same case",
        "earlier",
    );
    refused("cases:\n  - call: '{{ vars.id }}'\n  - call: b\n    capture: { id: $.x }\n", 3, "a later case", "earlier");
    refused("vars: { id: 1 }\ncases:\n  - call: b\n    capture: { id: $.x }\n", 5, "already set", "another name");
    refused("cases:\n  - { name: a, call: x }\n  - { name: a, call: y }\n", 4, "duplicate case name", "line 3");
    refused("cases:\n  - { call: x, timeout: 0s }\n", 3, "invalid time", "1ms");
    refused("cases:\n  - { read: x, arguments: {} }\n", 3, "has no `arguments`", "params");
    refused("cases:\n  - { raw: notifications/x }\n", 3, "cannot be sent", "request");
    refused("cases:\n  - { call: x, independent: true, capture: { a: $.b } }\n", 3, "not independent", "remove");
    refused("cases:\n  - { call: x, answers: { form: maybe } }\n", 3, "invalid `form`", "decline");
    refused("matrix: { servers: [{}] }\ncases: []\n", 2, "neither a `command` nor a `url`", "one of them");
}

/// Mistakes of one case do not hide its others, and cause no further errors.
#[test]
fn all_mistakes_are_found_at_once() {
    let text = "\
server: { comand: [my-server] }
cases:
  - call: a
    args: {}
    tags: yes
    expect: { $.a: { contians: 1 }, code: x }
    capture: { id: 5 }
  - raed: 'x://{{ vars.id }}{{ vars.none }}'
  - arguments: { x: 1 }
  - { call: b, timeout: 0s, expect: { $.x: { matches: '[' } } }
";
    let mut errors = read(text, Path::new("x.mcp.yaml")).expect_err("eleven mistakes");
    errors.sort_by_key(|error| error.at);
    let found: Vec<(usize, &str)> =
        errors.iter().map(|error| (error.at.unwrap_or_default().line, error.what.as_str())).collect();
    let expected = [
        (1, "`comand` is unknown"),
        (4, "`args` is unknown"),
        (5, "`tags`"),
        (6, "unknown matcher `contians`"),
        (6, "`code`"),
        (7, "`id`"),
        (8, "`raed` is unknown"),
        (8, "unknown variable `none`"),
        (9, "has no request"),
        (10, "invalid time"),
        (10, "not a regular expression"),
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for ((line, what), (at, part)) in found.iter().zip(expected) {
        assert!(*line == at && what.contains(part), "line {at}, {part}: {found:#?}");
    }
}

/// An `outcome` that an error proposes fits the rest of the expectation.
#[test]
fn the_outcome_that_is_proposed_is_accepted_by_the_next_pass() {
    for (case, remedy, then) in [
        ("call: a, expect: { outcome: tool_error, code: -32602 }", "`error`: only a JSON-RPC error", "error"),
        ("call: a, expect: { outcome: tool_error }", "`tool-error`", "tool-error"),
        ("read: a, expect: { outcome: tool_error }", "one of `ok`, `error`, `refused`", "refused"),
        ("read: a, expect: { outcome: eror, $.a: 1 }", "`ok`", "ok"),
        ("call: a, expect: { outcome: fine, $.a: 1 }", "one of `ok`, `tool-error`", "ok"),
        ("call: a, expect: { outcome: eror }", "`error`", "error"),
    ] {
        refused(&format!("cases: [{{ {case} }}]\n"), 2, "`outcome` may not be", remedy);
        let written = ["tool_error", "eror", "fine"].into_iter().find(|word| case.contains(word)).unwrap();
        let text = format!("{SERVER}cases: [{{ {} }}]\n", case.replace(written, then));
        assert!(read(&text, Path::new("x.mcp.yaml")).is_ok(), "{text}");
    }
}

/// What an error proposes is no mistake itself.
#[test]
fn a_key_that_is_there_already_is_not_proposed() {
    let text = format!("{SERVER}cases: [{{ call: a, arguments: {{}}, args: {{}} }}]\n");
    let errors = read(&text, Path::new("x.mcp.yaml")).expect_err("an unknown key");
    assert!(errors.len() == 1 && !errors[0].remedy.contains("`arguments`"), "{errors:?}");
}

#[test]
fn huge_and_deep_files_are_refused() {
    let deep = format!("{SERVER}cases: [{{ call: a, expect: {{ $.a: {}1{} }} }}]", "{not: ".repeat(40), "}".repeat(40));
    assert!(read(&deep, Path::new("x")).is_err());
    let many = format!("{SERVER}cases:\n{}", "  - call: a\n".repeat(20_001));
    assert!(read(&many, Path::new("x")).is_err());
}

/// The file of a user who knows another tool: one pass is enough.
#[test]
fn what_misspelt_keys_hold_is_checked_in_the_same_pass() {
    let text = "\
server: { command: [my-server] }
tests:
  - nmae: greets
    cal: echo
    args: { message: '{{ vars.none }}' }
    expects: { outcom: okay, $.a: { contians: x } }
  - call: { tool: echo, arguments: { message: hi } }
  - call: a
    raed: b
";
    let mut errors = read(text, Path::new("x.mcp.yaml")).expect_err("mistakes");
    errors.sort_by_key(|error| error.at);
    let found: Vec<(usize, &str, &str)> = errors
        .iter()
        .map(|error| (error.at.unwrap_or_default().line, error.what.as_str(), error.remedy.as_str()))
        .collect();
    let expected = [
        (2, "`tests` is unknown", "`cases`"),
        (3, "`nmae` is unknown", "`name`"),
        (4, "`cal` is unknown", "`call`"),
        (5, "`args` is unknown", "`arguments`"),
        (5, "unknown variable `none`", "`vars`"),
        (6, "`expects` is unknown", "`expect`"),
        (6, "`outcom` is unknown", "`outcome`"),
        (6, "`outcome` may not be `okay`", "`ok`"),
        (6, "unknown matcher `contians`", "`contains`"),
        (7, "`call` is a mapping", "`call: echo`"),
        (8, "several requests", "one of"),
        (9, "`raed` is unknown", "`read`"),
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for ((line, what, remedy), (at, part, advice)) in found.iter().zip(expected) {
        assert!(*line == at && what.contains(part) && remedy.contains(advice), "line {at}, {part}: {found:#?}");
    }
}

#[test]
fn errors_of_a_single_call_name_its_part() {
    let object = |value: serde_json::Value| value.as_object().cloned().unwrap_or_default();
    let expect = object(json!({ "$.a": 1, "$.content[": "x" }));
    let server = json!({ "command": ["x"] });
    let errors = of_call(Path::new("--call"), server, "echo", object(json!({ "message": "hi" })), expect);
    let text = errors.expect_err("no path").to_string();
    assert!(text.contains("at character ") && text.contains(" – expectation 2\n"), "{text}");
    let errors =
        of_call(Path::new("--call"), json!({ "url": "http://" }), "echo", object(json!({})), object(json!({})));
    let text = errors.expect_err("no host").to_string();
    assert!(text.starts_with("error: invalid URL – the server\n"), "{text}");
}

#[test]
fn an_error_of_yaml_does_not_hide_the_mistakes_before_it() {
    let text = "\
server: { comand: [my-server] }
cases:
  - call: a
    args: {}
    expect:
      outcome: fine
  - call: b
    tags:
      - x
      - [y
  - call: c
";
    let mut errors = read(text, Path::new("x.mcp.yaml")).expect_err("mistakes");
    errors.sort_by_key(|error| error.at);
    let found: Vec<_> = errors.iter().map(|error| (error.at.map_or(0, |at| at.line), error.what.as_str())).collect();
    let expected = ["`comand` is unknown", "`args` is unknown", "`outcome` may not be `fine`", "this is no YAML"];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    assert!(found.iter().zip(expected).all(|((_, what), part)| what.contains(part)), "{found:#?}");
}

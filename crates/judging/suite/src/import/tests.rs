//! What comes of files of either format, and that whatever comes of them can be read.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

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

/// What stands under `cases`, made of what mcp-jest has under `tests`.
#[track_caller]
fn jest(tests: &Value) -> String {
    let text = json!({ "server": { "command": "srv" }, "tests": tests }).to_string();
    let (text, _) = imported(&[source("a.json", &text)], None);
    text.split_once("cases:\n").expect("cases").1.to_owned()
}

/// What is expected of a call, made of an expectation of mcp-jest.
#[track_caller]
fn expects(expectation: &str) -> String {
    let cases = jest(&json!({ "tools": { "add": { "expect": expectation } } }));
    let (_, case) = cases.split_once("  - name: tool add\n").expect("the case");
    case.replace("    call: add\n", "").lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_condition_of_mcp_jest_has_its_matcher() {
    for (said, means) in [
        ("exists", "expect: { outcome: ok }"),
        ("content[0].text === '8'", "expect:\n$.content[0].text: \"8\""),
        ("content[0].text === \"a && b === c\"", "expect:\n$.content[0].text: \"a && b === c\""),
        ("structuredContent.n === 8", "expect:\n$.structuredContent.n: 8"),
        ("structuredContent.n === -8.5", "expect:\n$.structuredContent.n: -8.5"),
        ("structuredContent.n == 8", "expect:\n$.structuredContent.n: { anyOf: [8, \"8\"] }"),
        ("structuredContent.n == '8'", "expect:\n$.structuredContent.n: { anyOf: [\"8\", 8] }"),
        ("structuredContent.n !== 8", "expect:\n$.structuredContent.n: { count: [0, 1], not: { equals: 8 } }"),
        ("structuredContent.n != null", "expect:\n$.structuredContent.n: { not: { equals: null } }"),
        ("structuredContent.n == null", "expect:\n$.structuredContent.n: { count: [0, 1], equals: null }"),
        ("structuredContent.n === null", "expect:\n$.structuredContent.n: null"),
        ("structuredContent.n === undefined", "expect:\n$.structuredContent.n: { exists: false }"),
        ("structuredContent.n !== undefined", "expect:\n$.structuredContent.n: { exists: true }"),
        ("structuredContent.n >= 8", "expect:\n$.structuredContent.n: { range: { min: 8 } }"),
        ("structuredContent.n <= 8", "expect:\n$.structuredContent.n: { range: { max: 8 } }"),
        ("structuredContent.n > 8", "expect:\n$.structuredContent.n: { range: { min: 8 }, not: { equals: 8 } }"),
        ("structuredContent.n < 8", "expect:\n$.structuredContent.n: { range: { max: 8 }, not: { equals: 8 } }"),
        ("content.length > 0", "expect:\n$.content: { length: { min: 1 } }"),
        ("content.length < 3", "expect:\n$.content: { length: { max: 2 } }"),
        ("content.length === 1", "expect:\n$.content: { length: 1 }"),
        ("content.length !== 1", "expect:\n$.content: { count: [0, 1], not: { length: 1 } }"),
        ("length >= 2", "expect:\n$.content: { length: { min: 2 } }"),
        ("count == 2", "expect:\n$.content: { length: 2 }"),
        ("content.length", "expect:\n$.content: { length: { min: 1 } }"),
        ("content", "expect:\n$.content: { not: { anyOf: [null, false, 0, \"\"] } }"),
        ("!structuredContent.x", "expect:\n$.structuredContent.x: { count: [0, 1], anyOf: [null, false, 0, \"\"] }"),
        ("contains:a.b", "expect:\n'$.content[?search(@.text, ''a\\\\.b'')]': { exists: true }"),
        ("content[0].text.includes('{{x')", "expect:\n$.content[0].text: { contains: '{{ \"{{\" }}x' }"),
        ("content[0].text.startsWith('a.')", "expect:\n$.content[0].text: { matches: '\\Aa\\.' }"),
        ("content[0].text.endsWith('z')", "expect:\n$.content[0].text: { matches: 'z\\z' }"),
        ("isError === true", "expect: { outcome: tool-error }"),
        ("isError !== true", "expect: { outcome: ok }"),
        ("!isError", "expect: { outcome: ok }"),
        ("isError === true && content.length === 1", "expect:\noutcome: tool-error\n$.content: { length: 1 }"),
        (
            "content && content.length > 0",
            "expect:\n$.content: { not: { anyOf: [null, false, 0, \"\"] }, length: { min: 1 } }",
        ),
        (
            "content[0].text.includes('a') && content[0].text.includes('b')",
            "expect:\n$.content[0].text: { not: { anyOf: [{ not: { contains: a } }, { not: { contains: b } }] } }",
        ),
        ("structuredContent.a-b.0 === x", "expect:\n\"$.structuredContent['a-b'][0]\": x"),
    ] {
        assert_eq!(expects(said), means, "{said}");
    }
}

#[test]
fn unsupported_conditions_never_become_a_passing_case() {
    for (said, why) in [
        ("a === 1 || b === 2", "`||` has no counterpart"),
        ("typeof content === 'object'", "invalid expression"),
        ("content[0].text > 'a'", "only numbers are compared by size"),
        ("content.length < 0", "impossible size"),
        ("content.length === content.size", "a size is a whole number"),
        ("contains:", "every text contains the empty text"),
        ("5", "invalid expression"),
        ("", "empty condition"),
        ("isError === 5", "`isError` is true or false"),
    ] {
        let case = expects(said);
        assert!(case.contains(why) && case.contains("# not imported: expect: "), "{said}\n{case}");
        assert!(case.ends_with("skip: \"not imported: expect\""), "{said}\n{case}");
    }
    // A part that can be checked is.
    let case = expects("content.length === 1 && a || b");
    assert!(case.contains("$.content: { length: 1 }") && case.contains("# not imported: expect: a || b"), "{case}");
    assert!(!case.contains("skip"), "{case}");
    let case = expects("structuredContent.x === undefined && structuredContent.x === 5");
    assert!(case.contains("contradicts another condition"), "{case}");
}

#[test]
fn mcp_jest_tests_become_cases() {
    assert_text(
        &jest(&json!({
            "tools": {
                "add": { "args": { "a": 1, "b": "{{x}}" } },
                "add:bad": { "args": { "a": "x" }, "shouldThrow": true, "expect": "content.length > 0" },
                "now": { "snapshot": { "name": "n", "exclude": ["content[0].text"], "properties": ["content"] } },
                "slow": { "retries": 3 },
                "off_it": {},
            },
            "resources": {
                "notes/*": { "expect": "count >= 1 && count < 9" },
                "x://a?b=c": {},
                "gone://x": { "shouldExist": false },
                "y/*": { "expect": "contents[0].text === 'a'" },
            },
            "prompts": ["hello"],
            "skip": "off*",
        })),
        r#"
  - name: tools are listed
    list: tools
    expect:
      "$.tools[?@.name == 'add']": { exists: true }
      "$.tools[?@.name == 'now']": { exists: true }
      "$.tools[?@.name == 'slow']": { exists: true }
  - name: tool add
    call: add
    arguments: { a: 1, b: '{{ "{{" }}x}}' }
    expect: { outcome: ok }
  - name: "tool add:bad"
    # not imported: expect: content.length > 0: an error has no result
    call: add
    arguments: { a: x }
    expect: { outcome: refused }
  - name: tool now
    # not imported: snapshot properties: ["content"]: the whole result is compared
    call: now
    volatile: ["$.content[0].text"]
    expect: { snapshot: true }
  - name: tool slow
    # not imported: retries: 3
    call: slow
    expect: { outcome: ok }
  - name: tool off_it
    call: off_it
    expect: { outcome: ok }
    skip: "`skip` was `off*`"
  - name: resources are listed
    list: resources
    expect:
      "$.resources[?match(@.uri, 'notes/.*')]": { exists: true }
      "$.resources[?@.uri == 'x://a?b=c']": { exists: true }
      "$.resources[?@.uri == 'gone://x']": { exists: false }
      "$.resources[?match(@.uri, 'y/.*')]": { exists: true }
  - name: "resource notes/*"
    list: resources
    expect:
      "$.resources[?match(@.uri, 'notes/.*')]": { count: { min: 1, max: 8 } }
  - name: "resource x://a?b=c"
    read: "x://a?b=c"
    expect: { outcome: ok }
  - name: "resource y/*"
    # not imported: expect: contents[0].text === 'a': a case cannot choose the first matching resource
    list: resources
    expect: { outcome: ok }
    skip: "not imported: expect"
  - name: prompts are listed
    list: prompts
    expect:
      "$.prompts[?@.name == 'hello']": { exists: true }
  - name: prompt hello
    get: hello
    expect: { outcome: ok }
"#,
    );
}

#[track_caller]
fn assert_text(found: &str, expected: &str) {
    let expected = expected.trim_start_matches('\n');
    if found != expected {
        let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
        panic!("{differs:#?}\n{found}");
    }
}

/// What is expected of a case, made of an assertion of mcp-assert.
#[track_caller]
fn asserts(block: &str) -> String {
    let text = format!("name: one\nserver: {{ command: srv }}\n{block}\n");
    let (text, _) = imported(&[source("a.yaml", &text)], None);
    let (_, case) = text.split_once("  - name: one\n").expect("the case");
    case.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_old_transport_is_kept() {
    let text = "name: one\nserver: { transport: SSE, url: 'http://h/sse' }\nassert: { tool: t, expect: { not_error: true } }\n";
    let (text, _) = imported(&[source("a.yaml", text)], None);
    let server = text.split_once("cases:").expect("cases").0;
    assert!(server.contains("url: \"http://h/sse\"\n") && server.contains("transport: sse\n"), "{text}");
}

#[test]
fn each_expectation_of_mcp_assert_has_its_matcher() {
    let note = "# note: mcp-assert reads the text as JSON; here it is looked for in structuredContent";
    let search = |regex: &str| format!("\"$.content[?search(@.text, '{regex}')]\"");
    for (said, means) in [
        ("not_error: true", "expect: { outcome: ok }".to_owned()),
        ("is_error: true", "expect: { outcome: tool-error }".to_owned()),
        ("not_error: true, contains: [a, b]", format!("expect:\n{}: {{ exists: true }}\n{}: {{ exists: true }}", search("a"), search("b"))),
        ("not_error: true, not_contains: [a]", format!("expect:\n{}: {{ exists: false }}", search("a"))),
        ("not_error: true, contains_any: [a, b]", format!("expect:\n{}: {{ exists: true }}", search("a|b"))),
        ("not_error: true, in_order: [a, b]", format!("expect:\n{}: {{ exists: true }}", search("(?s)a.*b"))),
        ("not_error: true, matches_regex: [a+]", format!("expect:\n{}: {{ exists: true }}", search("a+"))),
        ("not_error: true, min_progress: 3", "expect:\noutcome: ok\nprogress: 3".to_owned()),
        ("not_error: true, json_path: { \"$.a[0].b\": 5 }", format!("{note}\nexpect:\n\"$.structuredContent.a[0].b\": 5").replace('"', "")),
        ("not_error: true, json_path: { $.a: '5' }", format!("{note}\nexpect:\n$.structuredContent.a: {{ anyOf: [\"5\", 5] }}")),
        ("not_error: true, net_delta: 0", format!("{note}\nexpect:\n$.structuredContent.net_delta: 0")),
        ("not_error: true, equals: ' 8 '", "expect:\n\"$.content[?@.text].text\": { count: 1, matches: '\\A\\s*8\\s*\\z' }".to_owned()),
        (
            "is_error: true, not_empty: true",
            "expect:\noutcome: tool-error\n'$.content[?search(@.text, ''\\\\S'') && !match(@.text, ''\\\\s*(null|\\\\[\\\\]|\\\\{\\\\})\\\\s*'')]': { exists: true }".to_owned(),
        ),
    ] {
        assert_eq!(asserts(&format!("assert: {{ tool: t, expect: {{ {said} }} }}")), format!("call: t\n{means}").replacen(&format!("call: t\n{note}\n"), &format!("{note}\ncall: t\n"), 1), "{said}");
    }
    let case = asserts("assert: { tool: t, expect: { contains: a } }");
    assert!(case.contains("# note: mcp-assert did not check for errors here"), "{case}");
}

#[test]
fn expectations_without_a_counterpart_are_marked() {
    for (said, kind) in [
        ("file_contains: { a: b }", "file_contains"),
        ("min_results: 2", "min_results"),
        ("contains: ['']", "contains"),
        ("matches_regex: ['(?=x)']", "matches_regex"),
        ("json_path: { '$[0]': 1 }", "json_path"),
        ("min_progress: 0", "min_progress"),
        ("whatever: 1", "whatever"),
    ] {
        let case = asserts(&format!("assert: {{ tool: t, expect: {{ {said} }} }}"));
        assert!(case.contains(&format!("# not imported: {kind}: ")), "{said}\n{case}");
        assert!(case.ends_with(&format!("skip: \"not imported: {kind}\"")), "{said}\n{case}");
        let case = asserts(&format!("assert: {{ tool: t, expect: {{ not_error: true, {said} }} }}"));
        assert!(case.contains(&format!("# not imported: {kind}: ")) && !case.contains("skip:"), "{said}\n{case}");
    }
}

#[test]
fn each_assertion_of_mcp_assert_is_converted() {
    for (said, means) in [
        (
            "assert_resources: { list: {}, expect: { not_empty: true } }",
            "list: resources\nexpect:\n$.resources: { length: { min: 1 } }",
        ),
        (
            "assert_resources: { list: {}, expect: { contains: [x] } }",
            "# note: mcp-assert looks into the list as JSON; here it is looked for in the values of its items\nlist: resources\nexpect:\n\"$.resources..[?search(@, 'x')]\": { exists: true }",
        ),
        (
            "assert_resources: { read: 'a://b', expect: { contains: [x] } }",
            "read: \"a://b\"\nexpect:\n\"$.contents[?search(@.text, 'x')]\": { exists: true }",
        ),
        (
            "assert_prompts: { list: { cursor: c }, expect: { json_path: { $.nextCursor: d } } }",
            "raw: prompts/list\nparams: { cursor: c }\nexpect:\n$.nextCursor: d",
        ),
        (
            "assert_prompts: { get: { name: p, arguments: { a: 1 } } }",
            "get: p\narguments: { a: \"1\" }\nexpect: { outcome: ok }",
        ),
        (
            "assert_completion: { ref: { type: ref/prompt, name: p }, argument: { name: a, value: v }, expect: { contains: [x] } }",
            "# note: mcp-assert looks into the list as JSON; here it is looked for in the values of its items\ncomplete: { prompt: p, argument: a, value: v }\nexpect:\n\"$.completion.values[?search(@, 'x')]\": { exists: true }",
        ),
        (
            "assert_sampling: { tool: t, mock_text: hi, mock_model: m, expect: { not_error: true } }",
            "# not imported: mock_model: \"m\"\ncall: t\nanswers: { say: hi }\nexpect: { outcome: ok }",
        ),
        (
            "assert_notifications: { tool: t, expect: { methods: [notifications/x] } }",
            "call: t\nexpect: { notifications: [notifications/x] }",
        ),
        (
            "assert_logging: { set_level: info, tool: t, expect: { min_messages: 2 } }",
            "# not imported: min_messages: 2: only the presence of one message is checked\ncall: t\nrevisions: [\"2024-11-05\", \"2025-03-26\", \"2025-06-18\", \"2025-11-25\"]\nexpect:\noutcome: ok\nnotifications: [notifications/message]",
        ),
    ] {
        assert_eq!(asserts(said), means, "{said}");
    }
}

#[test]
fn setup_steps_come_first_and_their_captures_are_filled_in() {
    let text = "
name: one
server:
  command: ./srv
  args: [-d, '{{fixture}}']
  env: { A: b, T: '${T}', U: 'x${T}' }
  client_capabilities: { roots: [/r], sampling: { text: hi, model: m }, elicitation: { content: { a: 1 } } }
setup:
  - { tool: open, args: { at: '{{fixture}}/a' }, capture: { the-id: $.id } }
assert: { tool: look, args: { id: '{{the-id}}', raw: '{{other}}' }, expect: { not_error: true } }
timeout: 1m30s
skip_unless_env: T
";
    let both = [source("a.yaml", text), source("b.yaml", text)];
    let (one, _) = imported(&both[..1], Some("dir"));
    assert_text(
        &one,
        r#"
# Imported from mcp-assert: a.yaml
# not imported: server env: U, `x${T}`: variables are not filled in
# note: T comes from the environment, like every variable that is not set here
server:
  command: ["./srv", "-d", dir]
  env: { A: b }
setup:
  - name: "one: setup 1, open"
    # not imported: sampling model: "m"
    # note: mcp-assert reads the text as JSON; here it is looked for in structuredContent
    call: open
    arguments: { at: dir/a }
    capture: { the_id: "$.structuredContent.id" }
    answers: { roots: ["file:///r"], say: hi, form: { a: 1 } }
    expect: { outcome: ok }
cases:
  - name: one
    # not imported: sampling model: "m"
    # not imported: skip_unless_env: T: the case runs anyway
    call: look
    arguments: { id: "{{ vars.the_id }}", raw: '{{ "{{" }}other}}' }
    answers: { roots: ["file:///r"], say: hi, form: { a: 1 } }
    timeout: "90s"
    expect: { outcome: ok }
"#,
    );
    let (two, _) = imported(&both, Some("dir"));
    for part in ["name: \"one (2)\"", "the_id_2: ", "{{ vars.the_id_2 }}", "{{ vars.the_id }}"] {
        assert!(two.contains(part), "{part}\n{two}");
    }
    assert!(!two.contains("\nsetup:"), "{two}");
    let errors = import(&both, None, Advice::to_string).expect_err("a fixture is needed");
    assert!(errors[0].to_string().contains("a.yaml:5:14"), "{}", errors[0]);
}

#[test]
fn a_skipped_case_needs_no_setup() {
    let text = |more: &str| {
        format!(
            "name: one\nserver: {{ command: srv{more} }}\nsetup:\n  - {{ tool: open, capture: {{ id: $.id }} }}\n\
             assert: {{ tool: t, args: {{ id: '{{{{id}}}}' }}, expect: {{ not_error: true }} }}\n"
        )
    };
    let (skipped, _) = imported(&[source("a.yaml", &(text("") + "skip: true\n"))], None);
    assert!(skipped.contains("skip: \"`skip` was true\"") && !skipped.contains("open"), "{skipped}");
    let (skipped, one) = imported(&[source("a.yaml", &text(", docker: img"))], None);
    assert!(skipped.contains("skip: \"not imported: a container of img\""), "{skipped}");
    assert_eq!(one.tally().not_imported.get("docker"), Some(&1));
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
    /// Whatever stands in a file, what comes of it can be read, or it is told what is wrong.
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

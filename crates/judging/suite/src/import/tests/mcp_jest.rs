//! Files of mcp-jest.

use serde_json::{Value, json};

use super::{assert_text, imported, source};

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

//! Files of mcp-assert.

use super::{assert_text, imported, source};
use crate::Advice;
use crate::import::import;

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

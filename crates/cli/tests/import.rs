//! `proof test import`: what is made of tests for others passes where they mean to pass, fails where they mean to fail, and is
//! told where it is neither.

#[path = "shared/ran.rs"]
mod ran;

use std::path::Path;
use std::process::{Command, Output};

use ran::{PROOF, ends_with, proof};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

fn tested(folder: &Path, arguments: &[&str]) -> Output {
    proof(folder, &[&["test"], arguments].concat())
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

/// mcp-jest's tests of the reference server.
fn jest(tests: &Value) -> String {
    json!({ "server": { "command": PROOF, "args": ["serve", "--stdio"] }, "tests": tests }).to_string()
}

/// mcp-assert's test of the reference server.
fn assertion(name: &str, rest: &str) -> String {
    format!("name: {name}\nserver:\n  command: {PROOF:?}\n  args: [serve, --stdio]\n{rest}")
}

/// Imports what is there, and tries it. By name, whether each case passed.
#[track_caller]
fn tried(folder: &TempDir) -> (Option<i32>, Map<String, Value>) {
    ends_with(0, &tested(folder.path(), &["import", "-o", "t.mcp.yaml", "."]));
    let ran = tested(folder.path(), &["--format", "json", "t.mcp.yaml"]);
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let cases = report["files"][0]["places"][0]["cases"].as_array().unwrap_or_else(|| panic!("{report:#}"));
    let verdict = |case: &Value| (case["name"].as_str().unwrap_or_default().to_owned(), case["verdict"].clone());
    (ran.status.code(), cases.iter().map(verdict).collect())
}

/// Conditions on the sum of 1 and 2, each with one that is not so.
const CONDITIONS: [(&str, &str); 22] = [
    ("content[0].text === '{\"sum\":3}'", "content[0].text === '{\"sum\":4}'"),
    ("structuredContent.sum === 3", "structuredContent.sum === '3'"),
    ("structuredContent.sum == '3'", "structuredContent.sum == '4'"),
    ("structuredContent.sum !== 4", "structuredContent.sum !== 3"),
    ("structuredContent.none !== 4", "structuredContent.sum != '3'"),
    ("structuredContent.none === undefined", "structuredContent.sum === undefined"),
    ("structuredContent.none == null", "structuredContent.sum == null"),
    ("structuredContent.sum != null", "structuredContent.none != null"),
    ("structuredContent.sum > 2", "structuredContent.sum > 3"),
    ("structuredContent.sum < 4", "structuredContent.sum < 3"),
    ("structuredContent.sum >= 3", "structuredContent.sum >= 4"),
    ("structuredContent.sum <= 3", "structuredContent.sum <= 2"),
    ("content.length > 0", "content.length > 1"),
    ("content.length !== 2", "content.length !== 1"),
    ("length === 1", "length === 2"),
    ("content", "structuredContent.none"),
    ("!structuredContent.none", "!structuredContent.sum"),
    ("contains:sum", "contains:sun"),
    ("content[0].text.includes('sum')", "content[0].text.includes('sun')"),
    ("content[0].text.startsWith('{') && content[0].text.endsWith('}')", "content[0].text.startsWith('}')"),
    ("isError !== true", "isError === true"),
    (
        "content[0].text.includes('sum') && content[0].text.includes('3')",
        "content[0].text.includes('sum') && content[0].text.includes('4')",
    ),
];

#[test]
fn conditions_of_mcp_jest_pass_and_fail_as_expected() {
    let tools: Map<String, Value> = CONDITIONS
        .iter()
        .enumerate()
        .flat_map(|(at, (so, not_so))| [(format!("sum:so {at}"), *so), (format!("sum:not {at}"), *not_so)])
        .map(|(name, expect)| (name, json!({ "args": { "a": 1, "b": 2 }, "expect": expect })))
        .collect();
    let (code, verdicts) = tried(&folder(&[("jest.json", &jest(&json!({ "tools": tools })))]));
    assert_eq!((code, verdicts.len()), (Some(1), 2 * CONDITIONS.len() + 1));
    for (at, (so, not_so)) in CONDITIONS.iter().enumerate() {
        assert_eq!(verdicts[&format!("tool sum:so {at}")], json!("passed"), "{so}");
        assert_eq!(verdicts[&format!("tool sum:not {at}")], json!("failed"), "{not_so}");
    }
}

/// What is expected of the sum of 1 and 2, each with what is not so.
const EXPECTATIONS: [(&str, &str); 14] = [
    ("not_error: true", "is_error: true"),
    ("contains: [sum, '3']", "contains: [sum, '4']"),
    ("contains_any: ['4', '3']", "contains_any: ['4', '5']"),
    ("not_contains: ['4']", "not_contains: ['4', '3']"),
    ("equals: ' {\"sum\":3} '", "equals: '{\"sum\":4}'"),
    ("matches_regex: ['\\d']", "matches_regex: ['\\d\\d']"),
    ("in_order: [sum, '3']", "in_order: ['3', sum]"),
    ("json_path: { $.sum: 3 }", "json_path: { $.sum: 4 }"),
    ("json_path: { $.sum: '3' }", "json_path: { $.sun: '3' }"),
    ("not_empty: true", "not_empty: true, contains: [none]"),
    ("not_error: true, min_progress: 0", "min_progress: 1"),
    ("contains: ['{\"']", "equals: ''"),
    ("contains: ['sum\":3']", "contains: ['a.*b']"),
    ("not_error: true, not_contains: ['s.m']", "not_contains: ['sum']"),
];

#[test]
fn expectations_of_mcp_assert_pass_and_fail_as_expected() {
    let files: Vec<(String, String)> = EXPECTATIONS
        .iter()
        .enumerate()
        .flat_map(|(at, (so, not_so))| [(format!("so {at}"), so), (format!("not {at}"), not_so)])
        .map(|(name, expect)| {
            let call = format!("assert: {{ tool: sum, args: {{ a: 1, b: 2 }}, expect: {{ {expect} }} }}\n");
            (format!("{name}.yaml"), assertion(&name, &call))
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let (code, verdicts) = tried(&folder(&files));
    assert_eq!((code, verdicts.len()), (Some(1), 2 * EXPECTATIONS.len()));
    for (at, (so, not_so)) in EXPECTATIONS.iter().enumerate() {
        assert_eq!(verdicts[&format!("so {at}")], json!("passed"), "{so}");
        assert_eq!(verdicts[&format!("not {at}")], json!("failed"), "{not_so}");
    }
}

/// In mcp-jest a call that must throw passes whatever comes of it.
#[test]
fn resources_and_prompts_of_mcp_jest_are_converted() {
    let tests = json!({
        "tools": {
            "fail:refused": { "shouldThrow": true },
            "sum:refused": { "args": { "a": 1, "b": 2 }, "shouldThrow": true },
            "fail": {},
            "no_such_tool": { "shouldThrow": true },
        },
        "resources": {
            "proof://docs/*": { "expect": "count >= 2" },
            "proof://d*": { "expect": "count > 2" },
            "proof://docs/welcome": { "expect": "contents[0].text" },
            "proof://docs/gone": { "shouldExist": false },
        },
        "prompts": { "code_review": { "args": { "code": "x = 1" }, "expect": "contains:x = 1" } },
    });
    let (code, verdicts) = tried(&folder(&[("jest.json", &jest(&tests))]));
    let wanted = json!({
        "tools are listed": "failed",
        "tool fail:refused": "passed",
        "tool sum:refused": "failed",
        "tool fail": "failed",
        "tool no_such_tool": "passed",
        "resources are listed": "passed",
        "resource proof://docs/*": "passed",
        "resource proof://d*": "failed",
        "resource proof://docs/welcome": "passed",
        "prompts are listed": "passed",
        "prompt code_review": "passed",
    });
    assert_eq!((code, Value::Object(verdicts)), (Some(1), wanted));
}

#[test]
fn other_assertions_of_mcp_assert_run() {
    let so = [
        ("lists", "assert_resources: { list: {}, expect: { min_results: 2, contains: ['docs/welcome'] } }"),
        ("reads", "assert_resources: { read: 'proof://docs/welcome', expect: { not_empty: true } }"),
        ("prompts", "assert_prompts: { list: {}, expect: { json_path: { '$.prompts[0].name': code_review } } }"),
        ("gets", "assert_prompts: { get: { name: code_review, arguments: { code: x1 } }, expect: { contains: [x1] } }"),
        ("samples", "assert_sampling: { tool: sample, mock_text: Ada, expect: { not_error: true, contains: [Ada] } }"),
        ("progress", "assert: { tool: slow, args: { steps: 3 }, capture_progress: true, expect: { min_progress: 3 } }"),
        ("logs", "assert_logging: { set_level: debug, tool: log, expect: { min_messages: 1 } }"),
        (
            "steps",
            "setup:\n  - { tool: sum, args: { a: 1, b: 2 }, capture: { three: $.sum } }\n\
             assert: { tool: sum, args: { a: '{{three}}', b: 4 }, expect: { json_path: { $.sum: 7 } } }",
        ),
    ];
    let not_so = [
        ("not lists", "assert_resources: { list: {}, expect: { contains: ['docs/nowhere'] } }"),
        ("not reads", "assert_resources: { read: 'proof://docs/welcome', expect: { equals: no } }"),
        (
            "not gets",
            "assert_prompts: { get: { name: code_review, arguments: { code: x1 } }, expect: { contains: [x2] } }",
        ),
        ("not samples", "assert_sampling: { tool: sample, mock_text: Ada, expect: { contains: [Bob] } }"),
        ("not progress", "assert: { tool: slow, args: { steps: 2 }, expect: { min_progress: 4 } }"),
        (
            "not logs",
            "assert_logging: { set_level: debug, tool: sum, args: { a: 1, b: 2 }, expect: { min_messages: 1 } }",
        ),
    ];
    let write = |cases: &[(&str, &str)]| {
        let files: Vec<(String, String)> =
            cases.iter().map(|(name, rest)| (format!("{name}.yml"), assertion(name, rest))).collect();
        folder(&files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect::<Vec<_>>())
    };
    let (_, verdicts) = tried(&write(&so));
    for (name, _) in so.iter().filter(|(name, _)| *name != "logs") {
        assert_eq!(verdicts[*name], json!("passed"), "{name}");
    }
    // In the modern era a client sets no level once and for all.
    assert_eq!(verdicts["logs"], json!("skipped"));
    let folder = write(&not_so);
    let (code, verdicts) = tried(&folder);
    assert_eq!(code, Some(1));
    for (name, _) in not_so.iter().filter(|(name, _)| *name != "not logs") {
        assert_eq!(verdicts[*name], json!("failed"), "{name}");
    }
}

#[test]
fn log_levels_are_set_in_revisions_that_allow_it() {
    let so = "assert_logging: { set_level: debug, tool: log, expect: { min_messages: 1 } }";
    let not_so = "assert_logging: { set_level: debug, tool: sum, args: { a: 1, b: 2 }, expect: { min_messages: 1 } }";
    for (rest, code) in [(so, 0), (not_so, 1)] {
        let folder = folder(&[("a.yaml", &assertion("logs", rest))]);
        let made = tested(folder.path(), &["import", "a.yaml"]);
        let legacy = String::from_utf8_lossy(&made.stdout).into_owned() + "matrix: { revisions: [2025-11-25] }\n";
        std::fs::write(folder.path().join("t.mcp.yaml"), legacy).expect("a file");
        ends_with(code, &tested(folder.path(), &["t.mcp.yaml"]));
    }
}

#[test]
fn an_imported_snapshot_must_be_written_first() {
    let tests = json!({ "tools": { "sum": { "args": { "a": 1, "b": 2 }, "snapshot": { "exclude": ["_meta"] } } } });
    let folder = folder(&[("jest.json", &jest(&tests))]);
    let said = ends_with(0, &tested(folder.path(), &["import", "jest.json", "-o", "t.mcp.yaml"]));
    assert!(said.contains("1 case compares a snapshot: write it with `proof test --update`"), "{said}");
    ends_with(1, &tested(folder.path(), &["t.mcp.yaml"]));
    ends_with(0, &tested(folder.path(), &["t.mcp.yaml", "--update"]));
    ends_with(0, &tested(folder.path(), &["t.mcp.yaml"]));
}

/// The command is started from where it was, wherever the file lies.
#[test]
fn a_file_elsewhere_starts_the_server_from_here() {
    let run = "server: { command: ./srv }\nassert: { tool: sum, args: { a: 1, b: 2 }, expect: { contains: ['3'] } }\n";
    let folder = folder(&[("a.yaml", run), ("srv", &format!("#!/bin/sh\nexec {PROOF} serve --stdio\n"))]);
    std::fs::create_dir(folder.path().join("tests")).expect("a folder");
    let made = Command::new("chmod").args(["+x", "srv"]).current_dir(folder.path()).status();
    assert!(made.is_ok_and(|made| made.success()));
    ends_with(0, &tested(folder.path(), &["import", "a.yaml", "-o", "tests/t.mcp.yaml"]));
    ends_with(0, &tested(folder.path(), &["tests/t.mcp.yaml"]));
}

#[test]
fn edited_files_are_not_overwritten() {
    let folder = folder(&[("jest.json", &jest(&json!({ "prompts": ["code_review"] }))), ("mine.yaml", "mine\n")]);
    let import = |arguments: &[&str]| tested(folder.path(), &[&["import", "jest.json"], arguments].concat());
    let said = ends_with(2, &import(&["-o", "mine.yaml"]));
    assert!(said.contains("mine.yaml was edited, or not written by proof"), "{said}");
    ends_with(0, &import(&["-o", "t.mcp.yaml"]));
    ends_with(0, &import(&["-o", "t.mcp.yaml"]));
    ends_with(0, &import(&["-o", "mine.yaml", "--force"]));
    assert!(import(&[]).stdout.starts_with(b"# proof test import "));
}

#[test]
fn each_server_gets_a_file() {
    let other = "name: other\nserver: { command: other }\nassert: { tool: t }\n";
    let one = assertion("one", "assert: { tool: sum }\n");
    let folder = folder(&[("a.yaml", &one), ("b.yaml", other), ("package.json", "{\"name\": \"x\"}")]);
    let said = ends_with(2, &tested(folder.path(), &["import", "."]));
    for part in ["tests of 2 servers", "./a.yaml", "./b.yaml", "-o DIR", "note: skipped 1 file of neither format in ."]
    {
        assert!(
            said.replace("  a.yaml", "  ./a.yaml").replace("  b.yaml", "  ./b.yaml").contains(part),
            "{part}\n{said}"
        );
    }
    std::fs::create_dir(folder.path().join("out")).expect("a folder");
    ends_with(0, &tested(folder.path(), &["import", "a.yaml", "b.yaml", "-o", "out"]));
    assert!(folder.path().join("out/a.mcp.yaml").is_file() && folder.path().join("out/b.mcp.yaml").is_file());
}

#[test]
fn invalid_files_are_reported() {
    let huge = " ".repeat((8 << 20) + 1);
    let fixture = "server: { command: srv }\nassert: { tool: t, args: { a: '{{fixture}}/a' } }\n";
    let files = [
        ("bad.json", "{\n  \"server\": {},\n  \"tests\": {\"a\" 1}\n}"),
        ("bad.yaml", "name: [1\nserver: x\n"),
        ("other.yaml", "a: 1\n"),
        ("empty.json", ""),
        ("huge.json", &huge),
        ("server.json", "{\"server\": {}, \"tests\": {}}"),
        ("fixture.yaml", fixture),
        ("tools.json", "{\"server\": {\"command\": \"x\"}, \"tests\": {\"tools\": 5}}"),
    ];
    let folder = folder(&files);
    for (arguments, told) in [
        (&["bad.json"][..], "error: invalid JSON: expected `:` – bad.json:3:17\n  try: "),
        (&["bad.yaml"], "error: this is no YAML: "),
        (&["other.yaml"], "error: other.yaml is neither an mcp-jest nor an mcp-assert file\n  try: JSON with"),
        (&["empty.json"], "error: the file is empty – empty.json\n  try: "),
        (&["huge.json"], "error: the file is larger than 8 MiB – huge.json\n  try: "),
        (&["gone.json"], "error: cannot read the file: "),
        (&["server.json"], "error: the server has no `command` – server.json:1:"),
        (&["fixture.yaml"], "from the command line of mcp-assert – fixture.yaml:2:28\n  try: --fixture DIR"),
        (&["tools.json"], "error: `tools` is neither a list of names nor a mapping – tools.json:1:"),
        (&["server.json", "-o", "gone/t.yaml"], "error: "),
        (&[], "required arguments were not provided"),
    ] {
        let said = ends_with(2, &tested(folder.path(), &[&["import"], arguments].concat()));
        assert!(said.contains(told), "{arguments:?}\n{said}");
    }
    ends_with(0, &tested(folder.path(), &["import", "fixture.yaml", "--fixture", "data"]));
}

/// `import` is a verb only where it comes first and alone.
#[test]
fn a_folder_called_import_can_still_be_tested() {
    let folder = folder(&[]);
    std::fs::create_dir(folder.path().join("import")).expect("a folder");
    for arguments in [&["./import"][..], &["-v", "import"]] {
        let said = ends_with(2, &tested(folder.path(), arguments));
        assert!(said.contains("no *.mcp.yaml in "), "{said}");
    }
    let said = ends_with(0, &tested(folder.path(), &["--schema"]));
    assert!(said.contains("\"$schema\""), "{said}");
}

//! `proof test`: cases against the reference server, what is said of those that fail, and of files that cannot be read.

#[path = "shared/ran.rs"]
mod ran;
#[path = "shared/serving.rs"]
mod serving;
#[path = "shared/signal.rs"]
mod signal;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ran::{PROOF, ends_with, proof};
use serde_json::Value;
use serving::Serving;
use tempfile::TempDir;

fn tested(folder: &Path, arguments: &[&str]) -> Output {
    proof(folder, &[&["test"], arguments].concat())
}

/// A folder with one file, `t.mcp.yaml`: cases for the reference server.
fn suite(head: &str, cases: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!("server: {{ command: [{PROOF:?}, serve, --stdio] }}\n{head}\ncases:\n{cases}\n");
    std::fs::write(folder.path().join("t.mcp.yaml"), text).expect("a file");
    folder
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The example of the documentation, with our own binary in the place of the one on the path.
#[test]
fn the_example_passes_in_both_eras() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
    let folder = tempfile::tempdir().expect("a folder");
    let read = |name: &str| std::fs::read_to_string(example.join(name)).expect("the example");
    let tests = read("reference.mcp.yaml").replace("[proof, serve", &format!("[{PROOF:?}, serve"));
    std::fs::write(folder.path().join("reference.mcp.yaml"), tests).expect("a file");
    std::fs::write(folder.path().join("reference.mcp.snap.json"), read("reference.mcp.snap.json")).expect("a file");
    let said = ends_with(0, &tested(folder.path(), &["-v"]));
    assert!(said.contains("27 passed in"), "{said}");
}

/// Times differ from run to run.
fn settled(said: &str) -> String {
    let line = |line: &str| match (line.rfind("  "), line.rsplit_once(" in ")) {
        (Some(at), _) if line.ends_with(" ms") => format!("{}  N ms\n", line[..at].trim_end()),
        (_, Some((said, _))) if line.ends_with(" s") => format!("{said} in N s\n"),
        _ => format!("{line}\n"),
    };
    said.lines().map(line).collect()
}

#[test]
fn failures_are_shown_with_their_line() {
    let folder = suite(
        "matrix: { revisions: [2025-11-25] }",
        r"
  - name: a value
    call: sum
    arguments: { a: 1, b: 2 }
    expect:
      $.structuredContent.sum: 4
      $.content[*].type: { not: { equals: text } }
      $.nothing: { type: string }
  - name: a structure
    call: sum
    arguments: { a: 1, b: 2 }
    expect:
      $.structuredContent: { equals: { sum: 4, of: [1, 2] } }
  - name: an outcome
    call: fail
  - name: an error
    call: no_such_tool
    expect: { code: -32601, message: { contains: sorry } }
  - name: too few
    call: slow
    arguments: { steps: 1 }
    expect: { progress: 50, notifications: [notifications/message], latency: 1ms }
  - name: no longer wrong
    call: echo
    arguments: { message: x }
    xfail: it is out of order
  - name: not tried
    call: echo
    skip: later",
    );
    let ran = tested(folder.path(), &["--verbose"]);
    assert_eq!(ran.status.code(), Some(1));
    insta::assert_snapshot!(settled(&text(&ran.stdout)));
}

#[test]
fn every_format_has_the_same_results() {
    let folder = suite(
        "",
        "  - { name: good, call: echo, arguments: { message: x } }\n  - { name: '<bad>', call: nope }\n  \
         - { name: known, call: nope, xfail: why }\n  - { name: not, call: nope, skip: why }",
    );
    let ran = tested(folder.path(), &["--format", "json"]);
    assert_eq!(ran.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&ran.stdout).expect("one JSON document");
    let sums = |name: &str| report["summary"][name].as_u64();
    assert_eq!([sums("passed"), sums("failed"), sums("xfailed"), sums("skipped")], [Some(1); 4]);
    let cases = report["files"][0]["places"][0]["cases"].as_array().expect("cases");
    let verdicts: Vec<_> = cases.iter().map(|case| case["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["passed", "failed", "xfailed", "skipped"]);
    assert_eq!(cases[1]["failures"][0]["line"], 5);

    // One run is reported in several formats.
    let ran = tested(folder.path(), &["--also", "junit=tests.xml", "--also", "json=tests.json"]);
    assert!(ran.status.code() == Some(1) && text(&ran.stdout).contains("1 failed"), "{}", text(&ran.stdout));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect(name);
    let written: Value = serde_json::from_str(&read("tests.json")).expect("one JSON document");
    assert_eq!(written["summary"]["failed"], 1);
    assert_eq!(tested(folder.path(), &["--also", "junit=nowhere/tests.xml"]).status.code(), Some(2));
    let document = read("tests.xml");
    let document = roxmltree::Document::parse(&document).expect("XML");
    let count = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
    assert_eq!([count("testcase"), count("failure"), count("skipped")], [4, 1, 2]);

    let sarif: Value = serde_json::from_slice(&tested(folder.path(), &["--format", "sarif"]).stdout).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!((results.len(), &place["region"]["startLine"]), (1, &5.into()), "{sarif}");
    assert_eq!(place["artifactLocation"]["uri"], "t.mcp.yaml");

    let markdown = text(&tested(folder.path(), &["--format", "markdown"]).stdout);
    let sums = "**Not as expected.** 1 passed, 1 failed, 1 failed as expected, 1 skipped\n";
    assert!(markdown.starts_with(sums) && markdown.contains("- **FAIL** ` <bad> `"), "{markdown}");

    let html = text(&tested(folder.path(), &["--format", "html"]).stdout);
    assert!(html.contains("&lt;bad&gt;") && !html.contains("<bad>"), "{html}");
    let counted = ["<b>FAIL</b>", "<tr class=\"p\">", "<tr class=\"x\">", "<tr class=\"s\">"];
    assert_eq!(counted.map(|mark| html.matches(mark).count()), [1; 4], "{html}");

    let tap = text(&tested(folder.path(), &["--format", "tap"]).stdout);
    assert!(tap.starts_with("TAP version 14\n1..4\nok 1 "), "{tap}");
    assert!(tap.contains("\nnot ok 2 ") && tap.contains(" # TODO why\n") && tap.contains(" # SKIP why\n"), "{tap}");
}

#[test]
fn selected_cases_include_the_cases_that_they_need() {
    let folder = suite(
        "",
        "  - { name: first, list: tools, capture: { tool: '$.tools[0].name' } }\n  - { name: other, call: nope }\n  \
         - { name: second, tags: [fast], call: '{{ vars.tool }}', arguments: { message: x } }",
    );
    for arguments in [["--filter", "second"], ["--tag", "fast"], ["--shard", "3/3"]] {
        let said = ends_with(0, &tested(folder.path(), &arguments));
        assert!(said.contains("2 passed"), "{said}");
    }
    let said = ends_with(1, &tested(folder.path(), &["--filter", "nothing of that name"]));
    assert!(said.contains("no case was run"), "{said}");
    let said = ends_with(1, &tested(folder.path(), &["--fail-fast"]));
    assert!(said.contains("1 passed, 1 failed in"), "{said}");
}

#[test]
fn snapshots_are_written_compared_and_removed() {
    let folder = suite("", "  - { name: s, call: echo, arguments: { message: one }, expect: { snapshot: true } }");
    assert!(ends_with(1, &tested(folder.path(), &[])).contains("--update"));
    ends_with(0, &tested(folder.path(), &["--update"]));
    ends_with(0, &tested(folder.path(), &[]));
    let path = folder.path().join("t.mcp.yaml");
    let tests = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, tests.replace("message: one", "message: two")).unwrap();
    let said = ends_with(1, &tested(folder.path(), &[]));
    assert!(said.contains("at $.content[0].text") && said.contains("the value in the snapshot"), "{said}");
    std::fs::write(&path, tests.replace("name: s", "name: other")).unwrap();
    ends_with(0, &tested(folder.path(), &["--update"]));
    let kept = std::fs::read_to_string(folder.path().join("t.mcp.snap.json")).unwrap();
    assert!(kept.contains("\"other\"") && !kept.contains("\"s\""), "{kept}");
    std::fs::write(folder.path().join("t.mcp.snap.json"), "{").unwrap();
    assert!(ends_with(1, &tested(folder.path(), &[])).contains("damaged"));
}

/// `--update --filter` leaves the snapshots of other cases alone.
#[test]
fn snapshots_have_names_and_parts() {
    let folder = suite(
        "",
        "  - { name: a, call: echo, arguments: { message: one }, expect: { snapshot: first } }\n  \
         - { name: b, call: echo, arguments: { message: two }, expect: { snapshot: { of: ['$.content[0].type'] } } }",
    );
    ends_with(0, &tested(folder.path(), &["--update"]));
    let kept = || std::fs::read_to_string(folder.path().join("t.mcp.snap.json")).unwrap();
    let before = kept();
    assert!(
        before.contains("\"first\"") && before.contains("\"$.content[0].type\"") && !before.contains("two"),
        "{before}"
    );
    let path = folder.path().join("t.mcp.yaml");
    let tests = std::fs::read_to_string(&path).unwrap();
    // Only a part counts: another text is no difference.
    let tests = tests.replace("message: two", "message: three");
    std::fs::write(&path, &tests).unwrap();
    ends_with(0, &tested(folder.path(), &[]));
    std::fs::write(&path, tests.replace("message: one", "message: four")).unwrap();
    assert!(ends_with(1, &tested(folder.path(), &[])).contains("the value in the snapshot"));
    ends_with(0, &tested(folder.path(), &["--update", "--filter", "b"]));
    assert_eq!(kept(), before);
    let nowhere = tests.replace("$.content[0].type", "$.nothing");
    std::fs::write(&path, nowhere).unwrap();
    let said = ends_with(1, &tested(folder.path(), &["--update", "--filter", "b"]));
    assert!(said.contains("a value for the snapshot"), "{said}");
    std::fs::write(&path, tests.replace("snapshot: first", "snapshot: b")).unwrap();
    assert!(ends_with(2, &tested(folder.path(), &[])).contains("two cases have the snapshot `b`"));
}

#[test]
fn cases_are_left_out_by_name() {
    let folder = suite("", "  - { name: good, call: echo, arguments: { message: a } }\n  - { name: bad, call: none }");
    ends_with(1, &tested(folder.path(), &[]));
    let said = ends_with(0, &tested(folder.path(), &["--skip", "bad"]));
    assert!(said.contains("1 passed in"), "{said}");
    assert!(ends_with(1, &tested(folder.path(), &["--skip", "bad", "--skip", "good"])).contains("no case was run"));
}

#[test]
fn one_call_needs_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let server = ["--", PROOF, "serve", "--stdio"];
    let called = |words: &[&str]| tested(folder.path(), &[words, &server].concat());
    let said = ends_with(0, &called(&["--call", "echo", "message={{ hi }}", "--expect", "$.content[0].text={{ hi }}"]));
    assert!(said.contains("1 passed in"), "{said}");
    ends_with(0, &called(&["--call", "sum", "a=2", "b:=3", "--expect", "$.structuredContent.sum=5"]));
    let said = ends_with(1, &called(&["--call", "sum", "a=2", "b=3", "--expect", "$.structuredContent.sum=6"]));
    assert!(said.contains("$.structuredContent.sum") && said.contains('6') && said.contains('5'), "{said}");
    let said = ends_with(2, &called(&["--call", "sum", "a"]));
    assert!(said.contains("`a` is not NAME=VALUE"), "{said}");
    let said = ends_with(2, &tested(folder.path(), &["--call", "sum", "a=1"]));
    assert!(said.contains("--call: no server given"), "{said}");
    let serving = Serving::start(Command::new(PROOF).args(["serve", "--http", "0"]));
    ends_with(0, &tested(folder.path(), &["--call", "echo", "message=hi", &serving.url]));
    let address = serving.url.trim_start_matches("http://").trim_end_matches("/mcp");
    ends_with(0, &tested(folder.path(), &["--call", "echo", "message=hi", address]));
}

/// A server may answer whatever is called, so that a slip would pass.
#[test]
fn one_call_of_a_tool_that_is_not_listed_fails() {
    let script = r#"
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}';;
    *tools/list*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}';;
    *tools/call*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"done"}]}}';;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}';;
  esac
done"#;
    let folder = tempfile::tempdir().unwrap();
    let called = |tool: &str| tested(folder.path(), &["--call", tool, "--", "sh", "-c", script]);
    ends_with(0, &called("echo"));
    let said = ends_with(1, &called("ech"));
    assert!(said.contains("a tool of the server: `echo`") && said.contains("`ech`, which it does not list"), "{said}");
}

#[test]
fn answers_that_differ_between_runs_fail() {
    // The version that is spoken is in the answer of neither era's `echo`; the tools that are offered differ.
    let folder = suite(
        "matrix: { revisions: [2024-11-05, 2026-07-28] }",
        "  - list: tools\n  - { call: echo, arguments: { message: x } }",
    );
    let said = ends_with(1, &tested(folder.path(), &[]));
    assert!(said.contains(", as at 2024-11-05 over stdio") && said.contains("3 passed, 1 failed"), "{said}");
}

#[test]
fn invalid_files_and_servers_have_their_exit_codes() {
    let folder = suite("", "  - { name: x, cal: echo }");
    let said = ends_with(2, &tested(folder.path(), &[]));
    assert!(said.contains("t.mcp.yaml:4:16") && said.contains("try: `call`"), "{said}");
    assert!(ends_with(2, &tested(folder.path(), &["no-such.mcp.yaml"])).contains("cannot read"));
    let empty = tempfile::tempdir().unwrap();
    assert!(ends_with(2, &tested(empty.path(), &[])).contains("no *.mcp.yaml"));
    let file = |text: &str| std::fs::write(empty.path().join("t.mcp.yaml"), text).unwrap();
    file("server: { command: [./no-such-server] }\ncases: [{ list: tools }]\n");
    assert!(ends_with(3, &tested(empty.path(), &[])).contains("not tried"));
    file("server: { url: 'http://127.0.0.1:9/mcp' }\ncases: [{ list: tools }]\n");
    assert!(ends_with(3, &tested(empty.path(), &[])).contains("not tried"));
    let long: PathBuf = empty.path().join("t.mcp.yaml");
    std::fs::File::create(long).unwrap().set_len(1 << 30).unwrap();
    assert!(ends_with(2, &tested(empty.path(), &[])).contains("larger than 8 MiB"));
}

/// A setup that fails hinders the rest; a token in a variable is sent and never shown.
#[test]
fn setup_runs_first_and_secrets_are_redacted() {
    let folder = suite("setup: [{ name: prepare, call: no_such_tool }]", "  - { list: tools }");
    let said = ends_with(1, &tested(folder.path(), &[]));
    assert!(said.contains("the setup `prepare` failed") && said.contains("0 passed, 1 failed"), "{said}");
    let echo =
        "  - { call: echo, arguments: { message: tr0ub4dor-and-3-more }, expect: { '$.content[0].text': other } }";
    let folder = suite("", echo);
    let path = folder.path().join("t.mcp.yaml");
    let tests = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, tests.replace("--stdio] }", "--stdio], env: { API_TOKEN: tr0ub4dor-and-3-more } }")).unwrap();
    let said = ends_with(1, &tested(folder.path(), &[]));
    assert!(!said.contains("tr0ub4dor"), "{said}");
}

/// A server that repeats two variables of its environment and a password that nobody handed in.
const LEAKY: &str = r#"
import json, os, sys
token = "ghp_0123456789" + os.environ.get("DRAWN", "abcdefghij")
result = {"content": [{"type": "text", "text": "token " + token}, {"type": "text", "text": os.environ.get("VENDOR", "none")}],
    "structuredContent": {"login": {"password": "correct-horse" + os.environ.get("DRAWN", "")}}}
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    results = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "leaky", "version": "1"}},
        "tools/list": {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]},
        "tools/call": result,
    }
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": results.get(request["method"], {})}), flush=True)
"#;

/// A folder with one file, `t.mcp.yaml`: cases for the server above, which has `keys`.
fn leaky(keys: &str, cases: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let server = format!("server: {{ command: [python3, -c, {}]{keys} }}", Value::from(LEAKY));
    let text = format!("{server}\nmatrix: {{ revisions: [2025-11-25] }}\ncases:\n{cases}\n");
    std::fs::write(folder.path().join("t.mcp.yaml"), text).expect("a file");
    folder
}

#[test]
fn no_snapshot_and_no_failure_quotes_a_secret() {
    let snapshot = "  - { name: s, call: say, expect: { snapshot: true } }";
    let folder = leaky("", snapshot);
    ends_with(0, &tested(folder.path(), &["--update"]));
    let path = folder.path().join("t.mcp.snap.json");
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(!kept.contains("correct-horse") && !kept.contains("ghp_"), "{kept}");
    assert!(kept.contains("\"password\": \"redacted\"") && kept.contains("token redacted"), "{kept}");
    ends_with(0, &tested(folder.path(), &[]));
    // Snapshots of earlier versions held what the server said.
    std::fs::write(&path, kept.replace("\"redacted\"", "\"correct-horse\"")).unwrap();
    ends_with(0, &tested(folder.path(), &[]));
    std::fs::write(&path, kept.replace("none", "other")).unwrap();
    assert!(ends_with(1, &tested(folder.path(), &[])).contains("the value in the snapshot"));
    let folder = leaky(
        "",
        "  - { call: say, expect: { '$.structuredContent.login.password': { equals: x } } }\n  \
         - { call: say, expect: { '$.structuredContent.login': { equals: { a: 1 } } } }\n  \
         - { call: say, expect: { '$.content[0].text': { matches: '^x$' } } }\n  \
         - { call: say, expect: { outcome: tool-error } }",
    );
    for format in ["human", "json", "junit", "tap", "sarif", "markdown", "html"] {
        let said = ends_with(1, &tested(folder.path(), &["--format", format]));
        assert!(!said.contains("correct-horse") && !said.contains("0123456789abc"), "{format}: {said}");
    }
    let said = ends_with(1, &tested(folder.path(), &[]));
    assert!(said.contains("token ghp_") && said.contains("at $.structuredContent.login.password"), "{said}");
}

#[test]
fn a_file_names_what_its_server_inherits() {
    let case = |expected: &str| format!("  - {{ call: say, expect: {{ '$.content[1].text': {expected} }} }}");
    let tested = |folder: &TempDir, more: &[&str]| {
        let mut command = Command::new(PROOF);
        command.arg("test").args(more).current_dir(folder.path()).env("VENDOR", "of-this-test").env("VENDOR_KEY", "a");
        command.output().expect("the binary runs")
    };
    for (keys, more, expected) in [
        ("", &[][..], "none"),
        (", inheritEnv: [OTHER]", &[], "none"),
        (", inheritEnv: [OTHER, VENDOR]", &[], "of-this-test"),
        (", inheritEnv: [all]", &[], "of-this-test"),
        (", inheritEnv: [OTHER]", &["--inherit-env", "VENDOR"], "of-this-test"),
    ] {
        ends_with(0, &tested(&leaky(keys, &case(expected)), more));
    }
    let said = ends_with(2, &tested(&leaky(", inheritEnv: VENDOR", &case("none")), &[]));
    assert!(said.contains("inheritEnv"), "{said}");
    // What it inherits by name is a secret if it looks like one.
    let folder = leaky(", inheritEnv: [VENDOR]", &case("other"));
    let mut command = Command::new(PROOF);
    command.arg("test").current_dir(folder.path()).env("VENDOR", "tr0ub4dor-and-3-more");
    let said = ends_with(1, &command.output().expect("the binary runs"));
    assert!(!said.contains("tr0ub4dor"), "{said}");
}

#[test]
fn coverage_lists_unused_parts() {
    let folder = suite(
        "",
        "  - { call: sum, arguments: { a: 1, b: 2 } }\n  - { call: get_weather, arguments: { location: Oslo } }\n  \
         - { read: 'proof://greeting/Ada' }\n  - { call: log, skip: why }",
    );
    let said = ends_with(0, &tested(folder.path(), &["--coverage"]));
    assert!(said.contains("coverage of proof-reference "), "{said}");
    let report: Value =
        serde_json::from_slice(&tested(folder.path(), &["--coverage", "--format", "json"]).stdout).expect("JSON");
    let coverage = &report["coverage"][0];
    assert_eq!((&coverage["tools"]["touched"], &coverage["arguments"]["touched"]), (&2.into(), &3.into()));
    let untouched = |kind: &str, name: &str| {
        coverage[kind]["untouched"].as_array().is_some_and(|all| all.iter().any(|one| one == name))
    };
    assert!(untouched("tools", "log"), "what is skipped is not touched");
    assert!(untouched("arguments", "get_weather.units") && !untouched("arguments", "sum.a"));
    assert!(untouched("templates", "proof://city/{country}/{city}"));
    assert!(!untouched("templates", "proof://greeting/{name}"));
    let said = ends_with(2, &tested(folder.path(), &["--coverage", "--format", "tap"]));
    assert!(said.contains("try:"), "{said}");
}

#[test]
fn the_http_status_can_be_expected() {
    let serving = Serving::start(Command::new(PROOF).args(["serve", "--http", "127.0.0.1:0"]));
    let url = &serving.url;
    let folder = tempfile::tempdir().expect("a folder");
    let cases = "cases:\n  - { name: gone, raw: no/such, expect: { status: 404 } }\n  \
                 - { name: there, call: echo, arguments: { message: x }, expect: { status: 200 } }\n  \
                 - { name: wrong, raw: no/such, expect: { status: 200 } }\n";
    let servers = format!("server: {{ url: {url:?} }}\nmatrix: {{ revisions: [2026-07-28] }}\n");
    std::fs::write(folder.path().join("t.mcp.yaml"), servers + cases).expect("a file");
    let said = ends_with(1, &tested(folder.path(), &[]));
    assert!(said.contains("the HTTP status 200") && said.contains("found     404"), "{said}");
    assert!(said.contains("2 passed, 1 failed"), "{said}");
    drop(serving);

    let folder = suite("", "  - { raw: no/such, expect: { status: 404 } }");
    let said = ends_with(1, &tested(folder.path(), &["-v"]));
    assert!(said.contains("no HTTP status over stdio") && said.contains("no case was run"), "{said}");
}

#[test]
fn watched_files_run_again_after_a_change() {
    let folder = suite("", "  - { call: echo, arguments: { message: x } }");
    let mut watching = Command::new(PROOF);
    watching.args(["test", "--watch"]).current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut watching = watching.spawn().expect("it starts");
    let mut lines = BufReader::new(watching.stdout.take().expect("a pipe")).lines();
    let mut until = |sums: &str| {
        let found = lines.by_ref().map_while(Result::ok).find(|line| line.contains(" in ") && line.ends_with(" s"));
        assert!(found.as_ref().is_some_and(|line| line.starts_with(sums)), "{found:?}");
    };
    until("1 passed");
    let file = folder.path().join("t.mcp.yaml");
    let text = std::fs::read_to_string(&file).expect("the file");
    std::fs::write(&file, text + "  - { call: no_such_tool }\n").expect("the file");
    until("1 passed, 1 failed");
    signal::send("INT", &watching);
    assert_eq!(watching.wait().expect("it ends").code(), Some(130));
}

#[test]
fn a_server_is_started_and_reached_at_its_address() {
    let folder = tempfile::tempdir().expect("a folder");
    let played = |command: &str, url: &str, code: i32| {
        let cases = "cases: [{ call: echo, arguments: { message: x } }]\n";
        let server = format!("server:\n  command: {command}\n  url: {url}\n");
        std::fs::write(folder.path().join("t.mcp.yaml"), server + cases).expect("a file");
        ends_with(code, &tested(folder.path(), &["-v"]))
    };
    let served = format!("[{PROOF:?}, serve, --http, \"127.0.0.1:{{port}}\"]");
    let said = played(&served, "\"http://127.0.0.1:{port}/mcp\"", 0);
    assert!(said.contains("over http") && said.contains("1 passed"), "{said}");
    let left = Command::new("pgrep").args(["-f", &format!("^{PROOF} serve --http 127.0.0.1:[1-9]")]).output();
    assert_eq!(text(&left.expect("pgrep").stdout), "", "what was started is gone");

    let said = played(&format!("[{PROOF:?}, no-such-verb]"), "\"http://127.0.0.1:{port}/mcp\"", 3);
    assert!(said.contains("ended before it listened") && said.contains("no-such-verb"), "{said}");

    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", taken.local_addr().expect("an address"));
    let said = played(&served, &url, 3);
    assert!(said.contains("something listens at") && said.contains("{port}"), "{said}");
}

#[test]
fn servers_of_others_are_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let file = format!(
        "server: {{ url: \"http://127.0.0.1:{port}/mcp\" }}\ncases: [{{ call: echo, arguments: {{ message: x }} }}]\n"
    );
    std::fs::write(folder.path().join("t.mcp.yaml"), file).expect("a file");
    let said = ends_with(3, &tested(folder.path(), &["--wait", "0.3"]));
    assert!(said.contains("nothing answered within 0.3 s") && said.contains("a longer --wait"), "{said}");
    let address = format!("127.0.0.1:{port}");
    let late = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(500));
        Serving::start(Command::new(PROOF).args(["serve", "--http", &address]))
    });
    ends_with(0, &tested(folder.path(), &["--wait", "20"]));
    drop(late.join().expect("it starts"));
    // Nothing is waited for that proof starts itself.
    let own = ["--call", "echo", "message=hi", "--wait", "1", "--", PROOF, "serve", "--stdio"];
    let said = ends_with(2, &tested(folder.path(), &own));
    assert!(said.contains("--wait needs a server with a URL"), "{said}");
}

//! `proof eval`: the example as a CI gate, what a report shows, files that are wrong, and secrets in answers.

#[path = "shared/ran.rs"]
mod ran;

use std::path::{Path, PathBuf};

use ran::{PROOF, ends_with, proof};
use serde_json::{Value, json};

fn example() -> PathBuf {
    examples().join("gate")
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/eval")
}

fn score(arguments: &[&str]) -> std::process::Output {
    proof(&example(), &[&["eval", "score", "cases.yaml"], arguments].concat())
}

/// A report has these lines, or lines that begin so, in 80 columns.
#[track_caller]
fn shows(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|other| other.starts_with(line)), "{line}:\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn the_example_is_a_gate() {
    let new = ends_with(0, &score(&["--calls", "answers.jsonl"]));
    shows(&new, &["4 of 4 answers correct: 100.0 % (95 % interval 51.0 % to 100.0 %)", "passed"]);
    let old = ends_with(1, &score(&["--calls", "old-answers.jsonl", "--min-score", "75"]));
    shows(
        &old,
        &[
            "FAIL  forecast of one city  hallucinated argument",
            "      get_forecast /day: expected no such argument, got 3",
            "      missing argument: get_forecast /days: expected a number from 2 to 4, got",
            "      cases.yaml:4, score 0.33",
            "FAIL  look first, then book  missing call",
            "2 of 4 answers correct: 50.0 %",
            "    1 ×  get_forecast → nothing",
            "failed: 75 % of the cases must be answered correctly",
        ],
    );
    ends_with(0, &score(&["--calls", "old-answers.jsonl", "--min-score", "50"]));
    let against = score(&["--calls", "answers.jsonl", "--against", "old-answers.jsonl", "-v"]);
    shows(
        &ends_with(0, &against),
        &[
            "pass  nothing to do  correct",
            "Against the other run: 4 answers in both, 2 gained, 0 lost; McNemar's test:",
            "  gained  forecast of one city",
        ],
    );
}

/// The commands of the page, as a reader copies them.
#[test]
fn every_example_is_one_command() {
    let page = std::fs::read_to_string(examples().join("README.md")).expect("a page");
    let commands: Vec<(&str, Vec<&str>)> = page
        .lines()
        .filter_map(|line| line.strip_prefix("    cd ")?.split_once("&& proof "))
        .map(|(folder, arguments)| (folder.trim(), arguments.split_whitespace().collect()))
        .collect();
    let folders: Vec<&str> = commands.iter().map(|(folder, _)| *folder).collect();
    assert_eq!(folders, ["gate", "descriptions", "catalogue"]);
    let lines: [&[&str]; 3] = [
        &["4 of 4 answers correct", "passed"],
        &["11 of 12 answers correct", "Against the other run: 12 answers in both, 8 gained, 1 lost", "0.039", "passed"],
        &["  warning  confusable", "14 tools: 0 errors, 8 warnings, 0 notes", "passed"],
    ];
    for ((folder, arguments), lines) in commands.iter().zip(lines) {
        shows(&ends_with(0, &proof(&examples().join(folder), arguments)), lines);
    }
    // Each of them can fail.
    let descriptions = examples().join("descriptions");
    let before = ["eval", "score", "cases.yaml", "--calls", "before.jsonl", "--min-score", "90"];
    assert!(ends_with(1, &proof(&descriptions, &before)).contains("4 of 12 answers correct"));
    let lint = ["eval", "lint", "--tools", "tools.json", "--fail-on", "warning"];
    ends_with(1, &proof(&examples().join("catalogue"), &lint));
}

#[test]
fn the_report_is_one_json_document() {
    let ran = score(&["--calls", "old-answers.jsonl", "--against", "answers.jsonl", "--format", "json"]);
    ends_with(1, &ran);
    let report: Value = serde_json::from_slice(&ran.stdout).expect("one JSON document");
    assert_eq!((report["schema"].as_str(), report["passed"].as_bool()), (Some("proof.eval/1"), Some(false)));
    assert_eq!(
        (report["summary"]["correct"].as_u64(), report["against"]["lost"].as_array().map(Vec::len)),
        (Some(2), Some(2))
    );
    let finding = &report["answers"][0]["findings"][0];
    assert_eq!(
        (finding["outcome"].as_str(), finding["pointer"].as_str()),
        (Some("hallucinated argument"), Some("/day"))
    );
}

#[test]
fn nothing_scored_never_passes() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write("cases.yaml", "cases:\n  - { name: a, call: f }\n  - { name: b, call: f }\n");
    write("none.jsonl", "");
    write("other.jsonl", "{\"case\":\"c\",\"calls\":[]}\n");
    write("one.jsonl", "{\"case\":\"a\",\"calls\":[{\"name\":\"f\"}]}\n");
    let ran = |more: &[&str]| proof(folder.path(), &[&["eval", "score", "cases.yaml", "--calls"], more].concat());
    for file in ["none.jsonl", "other.jsonl"] {
        let text = ends_with(1, &ran(&[file, "--min-score", "0"]));
        assert!(text.contains("failed: nothing was scored"), "{text}");
    }
    assert!(ends_with(1, &ran(&["one.jsonl"])).contains("b  no answer to score"));
    ends_with(0, &ran(&["one.jsonl", "--min-score", "50"]));
    ends_with(1, &ran(&["one.jsonl", "--min-score", "51"]));
    ends_with(0, &ran(&["one.jsonl", "--filter", "a"]));
    ends_with(1, &ran(&["one.jsonl", "--filter", "x"]));
}

#[test]
fn wrong_files_are_usage_errors_with_places() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write("cases.yaml", "cases:\n  - { name: a, call: f }\n  - { name: b, call: f }\n");
    write("bad.yaml", "cases:\n  - { name: a, cal: f }\n");
    write("tools.yaml", "tools: missing.json\ncases:\n  - { name: a, call: f }\n");
    write("bad.jsonl", "{\"case\":\"a\",\"calls\":[]}\n{\"case\"\n");
    write("unnamed.jsonl", "{\"calls\":[]}\n");
    let ran = |arguments: &[&str]| ends_with(2, &proof(folder.path(), &[&["eval", "score"], arguments].concat()));
    for (arguments, text) in [
        (&["cases.yaml"][..], "error: no answers to score"),
        (&["bad.yaml", "--calls", "bad.jsonl"], "the key `cal` is unknown here – bad.yaml:2:16"),
        (&["tools.yaml", "--calls", "bad.jsonl"], "cannot read missing.json"),
        (&["cases.yaml", "--calls", "bad.jsonl"], "– bad.jsonl:2\n  try: one JSON object a line"),
        (&["cases.yaml", "--calls", "unnamed.jsonl"], "1 answer without the name of a case\n  try: --case NAME"),
        (&["cases.yaml", "--calls", "none.jsonl"], "cannot read none.jsonl"),
        (&["--compat", "bfcl", "cases.yaml"], "--compat bfcl needs its files"),
    ] {
        let told = ran(arguments);
        assert!(told.contains(text), "{arguments:?}: {told}");
    }
    ends_with(1, &proof(folder.path(), &["eval", "score", "cases.yaml", "--calls", "unnamed.jsonl", "--case", "a"]));
}

#[test]
fn secrets_of_answers_stay_out_of_reports() {
    const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write("cases.yaml", "cases:\n  - { name: a, call: f, arguments: { password: x, url: y } }\n");
    let arguments = format!("{{\"password\":\"open sesame\",\"url\":\"https://h/?t={TOKEN}\"}}");
    write("answers.jsonl", &format!("{{\"case\":\"a\",\"calls\":[{{\"name\":\"f\",\"arguments\":{arguments}}}]}}\n"));
    for format in ["human", "json"] {
        let arguments = ["eval", "score", "cases.yaml", "--calls", "answers.jsonl", "--format", format];
        let text = ends_with(1, &proof(folder.path(), &arguments));
        assert!(!text.contains(TOKEN) && !text.contains("sesame") && text.contains("/password"), "{text}");
    }
}

#[test]
fn bfcl_files_are_scored() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    let function =
        r#"{"name":"f","parameters":{"type":"dict","properties":{"x":{"type":"integer"}},"required":["x"]}}"#;
    write(
        "q.json",
        &format!(
            "{{\"id\":\"simple_python_0\",\"function\":[{function}]}}\n{{\"id\":\"simple_python_1\",\"function\":[{function}]}}\n"
        ),
    );
    write(
        "a.json",
        "{\"id\":\"simple_python_0\",\"ground_truth\":[{\"f\":{\"x\":[1]}}]}\n{\"id\":\"simple_python_1\",\"ground_truth\":[{\"f\":{\"x\":[2]}}]}\n",
    );
    write(
        "r.json",
        "{\"id\":\"simple_python_0\",\"result\":[{\"f\":\"{\\\"x\\\": 1}\"}]}\n{\"id\":\"simple_python_1\",\"result\":[{\"f\":\"{\\\"x\\\": 1}\"}]}\n",
    );
    let ran = |more: &[&str]| {
        proof(folder.path(), &[&["eval", "score", "--compat", "bfcl", "q.json", "a.json", "r.json"], more].concat())
    };
    shows(
        &ends_with(1, &ran(&[])),
        &["simple_python                      1       2   50.00 %", "       1  value_error:others", "failed"],
    );
    let report: Value = serde_json::from_slice(&ran(&["--format", "json"]).stdout).expect("one JSON document");
    assert_eq!(report["entries"][1]["error_type"], "value_error:others");
    assert_eq!(report["categories"]["simple_python"]["accuracy"], 0.5);
    ends_with(0, &ran(&["--min-score", "50"]));
}

/// A file with tools that show what each verb finds.
fn catalogue(folder: &Path) {
    let text = serde_json::json!({ "tools": [
        { "name": "get.user", "description": "Shows the profile of one user.", "inputSchema": { "type": "object",
            "properties": { "id": { "type": "integer", "minimum": 1 }, "note": { "type": "string", "maxLength": 9 } },
            "required": ["id"] } },
        { "name": "merge", "description": "Merges values into one map.", "inputSchema": { "type": "object",
            "properties": { "values": { "type": "object" } }, "required": ["values"] } },
        { "name": "user_get", "description": "Prints an account.", "inputSchema": { "type": "object" } },
    ] });
    std::fs::write(folder.join("tools.json"), text.to_string()).expect("a file");
}

#[test]
fn tools_are_exported_and_what_was_lost_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    catalogue(folder.path());
    let export =
        |more: &[&str]| proof(folder.path(), &[&["eval", "export-tools", "--tools", "tools.json"], more].concat());
    let ran = export(&["--format", "openai", "--strict", "--report", "report.json"]);
    let tools: Value = serde_json::from_slice(&ran.stdout).expect("one JSON document");
    shows(
        &ends_with(1, &export(&["--format", "openai", "--strict", "--output", "out.json"])),
        &[
            "get.user  strict",
            "  exported as get_user",
            "  unchecked: /properties/note: `maxLength` is not checked",
            "merge  not strict",
            "  /properties/values: it has members of any name",
            "  narrowed: its schema: it names no arguments: exported without any",
            "3 tools exported, 2 of them strict",
        ],
    );
    let note = &tools[0]["parameters"]["properties"]["note"];
    assert_eq!((&tools[0]["strict"], &tools[1]["strict"]), (&Value::Bool(true), &Value::Bool(false)));
    assert_eq!(*note, serde_json::json!({ "type": ["string", "null"], "description": "(maxLength: 9)" }));
    let read = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(folder.path().join(name)).expect("a file")).expect("JSON")
    };
    assert_eq!((read("out.json"), &read("report.json")["tools"][0]["name"]), (tools, &Value::from("get_user")));
    let gemini = ends_with(0, &export(&["--format", "gemini"]));
    assert!(gemini.contains("functionDeclarations") && gemini.contains("narrowed: /properties/values"), "{gemini}");
    let wrong = ends_with(2, &export(&["--format", "anthropic", "--strict"]));
    assert!(wrong.contains("--format openai or --format openai-chat"), "{wrong}");
    let none = ends_with(2, &proof(folder.path(), &["eval", "export-tools", "--format", "openai"]));
    assert!(none.contains("error: no tools given"), "{none}");
}

#[test]
fn tools_of_a_live_server_are_exported_and_linted() {
    let folder = tempfile::tempdir().expect("a folder");
    let ran =
        proof(folder.path(), &["eval", "export-tools", "--format", "openai-chat", "--", PROOF, "serve", "--stdio"]);
    ends_with(0, &ran);
    let tools: Value = serde_json::from_slice(&ran.stdout).expect("one JSON document");
    assert!(
        tools.as_array().is_some_and(|all| all.len() > 3 && all.iter().all(|one| one["function"]["name"].is_string()))
    );
    let lint = ends_with(0, &proof(folder.path(), &["eval", "lint", "--", PROOF, "serve", "--stdio"]));
    assert!(lint.contains("Estimated tokens of the whole list: openai "), "{lint}");
}

#[test]
fn catalogues_and_cases_are_linted() {
    let folder = tempfile::tempdir().expect("a folder");
    catalogue(folder.path());
    let lint = |more: &[&str]| proof(folder.path(), &[&["eval", "lint"], more].concat());
    shows(
        &ends_with(0, &lint(&["--tools", "tools.json"])),
        &[
            "get.user",
            "  warning  name",
            "    APIs do not take this name; exported as get_user",
            "user_get",
            "    easily taken for `get.user`: their names have the same words",
            "Estimated tokens of the whole list: openai ",
            "3 tools: 0 errors, 3 warnings, 1 note (-v lists them)",
            "passed",
        ],
    );
    ends_with(1, &lint(&["--tools", "tools.json", "--fail-on", "warning"]));
    let cases = "tools: tools.json\ncases:\n  - { name: a, call: merge }\n";
    std::fs::write(folder.path().join("cases.yaml"), cases).expect("a file");
    shows(
        &ends_with(1, &lint(&["--cases", "cases.yaml"])),
        &["a  cases.yaml:3", "  error  unsatisfiable", "    /values: `merge` requires this argument", "failed"],
    );
    let ran = lint(&["--cases", "cases.yaml", "--format", "json"]);
    let report: Value = serde_json::from_slice(&ran.stdout).expect("one JSON document");
    assert_eq!((report["schema"].as_str(), report["passed"].as_bool()), (Some("proof.eval-lint/1"), Some(false)));
    assert_eq!((&report["findings"][0]["check"], &report["findings"][0]["line"]), (&"unsatisfiable".into(), &3.into()));
    let clean = ends_with(0, &proof(&example(), &["eval", "lint", "--cases", "cases.yaml"]));
    shows(&clean, &["3 tools and 4 cases: 0 errors, 3 warnings, "]);
}

#[test]
fn a_tool_search_is_measured() {
    let retrieve = |more: &[&str]| proof(&example(), &[&["eval", "retrieve", "cases.yaml"], more].concat());
    shows(
        &ends_with(0, &retrieve(&[])),
        &["left out: nothing to do: expects no tool", "first   found", "3 questions, 3 tools", "passed"],
    );
    let ran = retrieve(&["--format", "json"]);
    let report: Value = serde_json::from_slice(&ran.stdout).expect("one JSON document");
    assert_eq!((report["schema"].as_str(), report["questions"].as_u64()), (Some("proof.eval-retrieve/1"), Some(3)));
    let none = ends_with(1, &retrieve(&["--filter", "nothing to do"]));
    assert!(none.contains("failed: nothing was measured"), "{none}");
    ends_with(2, &proof(&example(), &["eval", "retrieve"]));
    let modes = ends_with(0, &retrieve(&["--mode", "zero-shot,bm25,oracle", "--at", "1"]));
    shows(&modes, &["zero-shot    0.0 %       0.0 %          0       100.0 points", "oracle     100.0 %     100.0 %"]);
    let ran = retrieve(&["--mode", "bm25", "--mode", "oracle", "--at", "1", "--format", "json"]);
    let report: Value = serde_json::from_slice(&ran.stdout).expect("one JSON document");
    let below = report["modes"][0]["belowOracle"].as_f64().expect("a difference");
    assert!((below - (1.0 - report["recall"].as_f64().expect("a share"))).abs() < 1e-9 && below > 0.0, "{report}");
    assert_eq!((&report["modes"][1]["recall"], &report["modes"][1]["belowOracle"]), (&json!(1.0), &Value::Null));
    let vacuous = retrieve(&["--mode", "oracle", "--min-recall", "90"]);
    assert!(ends_with(2, &vacuous).contains("--mode leaves out"));
}

#[test]
fn keys_of_bfcl_are_linted() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    let function =
        r#"{"name":"f","parameters":{"type":"dict","properties":{"x":{"type":"integer"}},"required":["x"]}}"#;
    let question = |n: usize| format!("{{\"id\":\"simple_python_{n}\",\"function\":[{function}]}}\n");
    let answer = |n: usize, key: &str| {
        format!("{{\"id\":\"simple_python_{n}\",\"ground_truth\":[{{\"f\":{{\"x\":{key}}}}}]}}\n")
    };
    write("q.json", &(question(0) + &question(1)));
    write("a.json", &(answer(0, "[1]") + &answer(1, "[]")));
    write("good.json", &(answer(0, "[1]") + &answer(1, "[2]")));
    let lint = |answers: &str| proof(folder.path(), &["eval", "lint", "--bfcl", "q.json", answers]);
    shows(
        &ends_with(1, &lint("a.json")),
        &[
            "simple_python_1",
            "  error  unsatisfiable",
            "    bfcl-eval accepts no answer: ",
            "2 questions: 1 error, ",
            "failed",
        ],
    );
    shows(&ends_with(0, &lint("good.json")), &["2 questions: 0 errors, ", "passed"]);
}

#[test]
fn responses_of_apibench_are_scored() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, lines: &[Value]| {
        let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
        std::fs::write(folder.path().join(name), lines.join("\n")).expect("a file");
    };
    let api = |call: &str, domain: &str| json!({ "api_call": call, "domain": domain });
    write("apis.jsonl", &[api("pipeline('ocr', model='a/b')", "vision"), api("Model.load('c/d')", "text")]);
    write(
        "questions.json",
        &[json!({ "api_data": { "domain": "vision" } }), json!({ "api_data": { "domain": "text" } })],
    );
    let response =
        |question: u64, call: &str| json!({ "question_id": question, "text": format!("<<<api_call>>>: {call}") });
    write(
        "r_0_shot.jsonl",
        &[response(1, "pipeline('ocr', model='x/y')"), response(2, "pipeline('ocr', model='a/b')")],
    );
    write("best.jsonl", &[response(1, "pipeline('ocr', model='a/b')"), response(2, "Model.load('c/d')")]);
    write("few.jsonl", &[response(1, "pipeline('ocr', model='a/b')")]);
    write("none.jsonl", &[]);
    let ran = |files: &[&str]| {
        let arguments = [&["eval", "score", "--compat", "gorilla", "apis.jsonl", "questions.json"], files].concat();
        proof(folder.path(), &arguments)
    };
    shows(
        &ends_with(1, &ran(&["r_0_shot.jsonl", "oracle=best.jsonl"])),
        &[
            "zero-shot          2    0.00 %   50.00 %       50.00 %     100.00 points",
            "oracle             2  100.00 %    0.00 %        0.00 %",
            "Hugging Face: 2 APIs",
            "failed: 100 % of the questions must be answered correctly",
        ],
    );
    ends_with(0, &ran(&["oracle=best.jsonl"]));
    // A question without a response is no right answer, and no responses never pass.
    assert!(ends_with(1, &ran(&["few.jsonl"])).contains("1 question without a response"));
    assert!(ends_with(1, &ran(&["none.jsonl", "--min-score", "0"])).contains("failed: a file has no responses"));
    let report: Value =
        serde_json::from_slice(&ran(&["few.jsonl", "--format", "json"]).stdout).expect("one JSON document");
    let mode = &report["modes"][0];
    assert_eq!((report["schema"].as_str(), mode["missing"].as_u64()), (Some("proof.eval-gorilla/1"), Some(1)));
    assert_eq!(mode["outcomes"], json!([{ "question": 1, "outcome": "correct" }]));
    for (files, text) in [
        (&[][..], "--compat gorilla needs its files"),
        (&["oracle=best.jsonl", "r_oracle.jsonl"], "cannot read r_oracle.jsonl"),
        (&["oracle=best.jsonl", "oracle=few.jsonl"], "two files of responses with the oracle"),
        (&["apis.jsonl"], "no `question_id` – apis.jsonl:1"),
    ] {
        let told = ends_with(2, &ran(files));
        assert!(told.contains(text), "{files:?}: {told}");
    }
}

#[test]
fn the_page_shows_hostile_answers_as_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write(
        "cases.yaml",
        "cases:\n  - { name: \"<b>a</b>\", call: f, arguments: { q: \"<i>1\", password: x } }\n  - { name: b, call: g }\n",
    );
    let answer = |case: &str, tool: &str, q: &str| {
        json!({ "case": case, "calls": [{ "name": tool, "arguments": { "q": q, "password": "open sesame" } }] })
            .to_string()
            + "\n"
    };
    let hostile = "</pre><script>alert(1)</script>\u{202e}";
    write("new.jsonl", &(answer("<b>a</b>", "f", hostile) + &answer("b", "g<script>\" onload=x", "")));
    write("old.jsonl", &(answer("<b>a</b>", "f", "other") + "{\"case\":\"b\",\"calls\":[{\"name\":\"g\"}]}\n"));
    let arguments =
        ["eval", "score", "cases.yaml", "--calls", "new.jsonl", "--against", "old.jsonl", "--format", "html"];
    let page = ends_with(1, &proof(folder.path(), &arguments));
    for line in [
        "<code>f /q</code> <small>wrong argument</small>",
        "<span class=\"f\">given     &quot;",
        "<th scope=\"row\">g</th>",
        "<small>this run</small> wrong tool",
        "<small>other run</small> correct",
        "<tr class=\"f\"><td>lost</td><td>b</td></tr>",
        "1 × <code>g</code> → <code>g&lt;script&gt;",
        "&lt;b&gt;a&lt;/b&gt;",
    ] {
        assert!(page.contains(&line.replace("&quot;", "\"")), "{line}:\n{page}");
    }
    for markup in ["<script", "<b>a", "<i>1", "\u{202e}", "sesame"] {
        assert!(!page.contains(markup), "{markup}:\n{page}");
    }
    assert_eq!(page.matches("</pre>").count(), page.matches("<pre>").count());
    let compat = ["eval", "score", "--compat", "bfcl", "a", "b", "c", "--format", "html"];
    assert!(ends_with(2, &proof(folder.path(), &compat)).contains("--compat has no HTML report"));
}

#[test]
fn cases_are_made_from_what_was_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |words: &[&str]| proof(folder.path(), &[&["eval"], words].concat());
    let call = |id: u32, name: &str, arguments: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [] } });
        format!("{}\n{}\n", json!({ "from": "client", "line": message }), json!({ "from": "server", "line": answer }))
    };
    let header = json!({ "trace": "proof.trace/1", "subject": "server", "transport": "stdio" });
    let place = json!({ "at": { "lat": 1.5 }, "note": "it's \"odd\": # [x]", "none": null, "list": [1, "true"] });
    let trace = format!("{header}\n{}{}", call(1, "find", json!({})), call(2, "book", place));
    std::fs::write(folder.path().join("session.trace.jsonl"), trace).expect("a file");
    ends_with(0, &run(&["cases", "session.trace.jsonl", "-o", "cases.yaml"]));
    let score = ["score", "cases.yaml", "--calls", "session.trace.jsonl", "--case", "session"];
    shows(&ends_with(0, &run(&score)), &["1 of 1 answer correct", "passed"]);
    let cases = std::fs::read_to_string(folder.path().join("cases.yaml")).expect("cases");
    std::fs::write(folder.path().join("cases.yaml"), cases.replace("lat: 1.5", "lat: 1.6")).expect("a file");
    assert!(ends_with(1, &run(&score)).contains("book /at: expected"), "{cases}");
    let again = ends_with(2, &run(&["cases", "session.trace.jsonl", "-o", "cases.yaml"]));
    assert!(again.contains("cases.yaml exists already"), "what was edited stays: {again}");

    let broken = json!({ "case": "b", "error": "overloaded" });
    let lines = [
        json!({ "case": "a", "calls": [{ "name": "f", "arguments": { "password": "hunter2-of-the-user" } }] }),
        json!({ "case": "a", "calls": [] }),
        broken.clone(),
        json!({ "case": "c", "calls": [], "text": "no" }),
    ];
    let text = lines.map(|line| format!("{line}\n")).concat();
    std::fs::write(folder.path().join("answers.jsonl"), text).expect("a file");
    let made = run(&["cases", "answers.jsonl"]);
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(said.contains("left out: 1 further answer to a case, and 1 answer without usable calls"), "{said}");
    let shown = ends_with(0, &made);
    assert!(shown.contains("- name: c\n    abstain: true") && !shown.contains("hunter2"), "{shown}");
    std::fs::write(folder.path().join("none.jsonl"), format!("{broken}\n")).expect("a file");
    assert!(ends_with(1, &run(&["cases", "none.jsonl"])).contains("no answer to make a case of"));
}

#[test]
fn tests_of_other_tools_become_cases() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("conf");
    std::fs::create_dir(&inner).expect("a folder");
    let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).expect("a file");
    let run = |words: &[&str]| proof(folder.path(), &[&["eval"], words].concat());
    write("secret.yaml", "- { type: 'trajectory:tool-used', value: leaked }\n");
    std::os::unix::fs::symlink("../secret.yaml", inner.join("link.yaml")).expect("a link");
    write("conf/promptfooconfig.yaml", PROMPTFOO);
    write("tools.json", r#"[{ "name": "search", "inputSchema": { "properties": { "city": { "type": "string" } } } }]"#);
    let made = run(&["import", "conf/promptfooconfig.yaml", "--tools", "tools.json", "-o", "cases.yaml"]);
    ends_with(0, &made);
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    for line in [
        "left out: conf/promptfooconfig.yaml:2: `providers`: `proof eval run` names the",
        "left out: conf/promptfooconfig.yaml:8: `javascript`: code is never run",
        "left out: conf/promptfooconfig.yaml:9: `link.yaml`: outside of the folder",
        "left out: conf/promptfooconfig.yaml:10: the test `talk`: nothing of it",
        "note: 1 case, 5 remarks",
    ] {
        assert!(said.lines().any(|other| other.starts_with(line)), "{line}:\n{said}");
    }
    let cases = std::fs::read_to_string(folder.path().join("cases.yaml")).expect("cases");
    assert!(cases.contains("prompt: Hotels in Oslo") && !cases.contains("leaked"), "{cases}");
    ends_with(0, &run(&["lint", "--cases", "cases.yaml", "--fail-on", "error"]));
    let answer =
        |city: &str| format!(r#"{{"case":"find","calls":[{{"name":"search","arguments":{{"city":"{city}"}}}}]}}"#);
    write("right.jsonl", &answer("Oslo"));
    write("wrong.jsonl", &answer("Rome"));
    ends_with(0, &run(&["score", "cases.yaml", "--calls", "right.jsonl"]));
    ends_with(1, &run(&["score", "cases.yaml", "--calls", "wrong.jsonl"]));
    let again = ends_with(2, &run(&["import", "conf/promptfooconfig.yaml", "-o", "cases.yaml"]));
    assert!(again.contains("cases.yaml exists already"), "{again}");
    write("conf/none.yaml", "tests:\n  - assert: [{ type: contains, value: x }]\n");
    assert!(ends_with(1, &run(&["import", "conf/none.yaml"])).contains("no test to make a case of"));
    assert!(ends_with(2, &run(&["import", "tools.json"])).contains("neither a configuration of promptfoo"));

    std::fs::create_dir_all(folder.path().join("conf/tasks/pod")).expect("a folder");
    write("conf/eval.yaml", MCPCHECKER);
    write("conf/tasks/pod/task.yaml", "kind: Task\nmetadata: { name: pod }\nsteps: { prompt: { file: ask.md } }\n");
    write("conf/tasks/pod/ask.md", "Create a pod\n");
    let shown = ends_with(0, &run(&["import", "conf/eval.yaml"]));
    assert!(shown.contains("prompt: Create a pod\n    match: superset\n    calls:\n      - call: create"), "{shown}");
}

const PROMPTFOO: &str = "\
prompts: ['Hotels in {{city}}']
providers: [openai:gpt-5]
tests:
  - description: find
    vars: { city: Oslo }
    assert:
      - { type: 'trajectory:tool-args-match', value: { name: search, args: { city: '{{city}}' } } }
      - { type: javascript, value: output.length > 3 }
      - file://link.yaml
  - description: talk
    assert: [{ type: llm-rubric, value: friendly }]
";

const MCPCHECKER: &str = "\
kind: Eval
config:
  taskSets:
    - glob: tasks/**/*.yaml
      assertions:
        toolsUsed: [{ server: k8s, tool: create }]
";

#[test]
fn a_search_by_the_users_vectors_is_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors.jsonl");
    let file = path.to_string_lossy();
    let retrieve =
        |more: &[&str]| proof(&example(), &[&["eval", "retrieve", "cases.yaml", "--embeddings", &file], more].concat());
    let tool = |name: &str, vector: [f64; 2]| format!("{}\n", json!({ "tool": name, "vector": vector }));
    let case = |name: &str, vector: [f64; 2]| format!("{}\n", json!({ "case": name, "vector": vector }));
    let tools = tool("get_forecast", [1.0, 0.0]) + &tool("book_trip", [0.0, 1.0]);
    let asked = case("forecast of one city", [0.9, 0.1]);
    std::fs::write(&path, tools.clone() + &asked).expect("a file");
    let shown = ends_with(0, &retrieve(&["--min-recall", "100", "--at", "1"]));
    shows(
        &shown,
        &["left out: look first, then book: the case has no vector", "1 question, 3 tools, searched by vectors"],
    );
    shows(&shown, &["note: 1 tool without a vector: "]);
    // The same case on the other side.
    std::fs::write(&path, tools + &asked.replace("0.9", "-0.9")).expect("a file");
    assert!(ends_with(1, &retrieve(&["--min-recall", "100", "--at", "1"])).contains("get_forecast at place 2"));
    std::fs::write(&path, "{\"tool\": \"f\", \"vector\": []}\n").expect("a file");
    let wrong = ends_with(2, &retrieve(&[]));
    assert!(wrong.contains("vectors.jsonl:1") && wrong.contains("try: "), "{wrong}");
    ends_with(2, &retrieve(&["--mode", "bm25"]));
}

//! What each assertion comes to: the case file itself, and what is named as left out.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Folder, Kind, import};
use crate::call::{Parse, Sample, ToolCall};
use crate::case;
use crate::score::{Outcome, score};

/// Files by their paths.
#[derive(Default)]
struct Files(BTreeMap<&'static str, &'static str>);

impl Folder for Files {
    fn text(&self, path: &str) -> Result<String, String> {
        self.0.get(path).map(|text| (*text).to_owned()).ok_or_else(|| "no such file".to_owned())
    }

    fn list(&self, below: &str, depth: usize) -> Result<Vec<String>, String> {
        let steps = |path: &str| path.split('/').filter(|step| !step.is_empty()).count();
        let paths = self.0.keys().filter(|path| path.starts_with(below) && steps(path) <= steps(below) + depth);
        Ok(paths.map(|path| (*path).to_owned()).collect())
    }
}

/// The case file and the remarks of a configuration, with these files in its folder.
fn with_files(text: &str, files: &[(&'static str, &'static str)]) -> (String, Vec<String>) {
    let import = import(text, "conf/main.yaml", &Files(files.iter().copied().collect())).expect("an import");
    let remark = |remark: &super::Remark| {
        let kind = if remark.kind == Kind::Stricter { "stricter: " } else { "" };
        format!("{kind}{}:{}: {}", remark.place.file.trim_start_matches("conf/"), remark.place.line, remark.what)
    };
    let remarks = import.remarks.iter().map(remark).collect();
    let written = import.write(None);
    if !import.is_empty() {
        let read = case::parse(&written, "cases.yaml").unwrap_or_else(|errors| panic!("{errors}\n{written}"));
        assert_eq!(read.cases.len(), import.len());
    }
    (written, remarks)
}

/// The same for a test of promptfoo with these assertions, from line 4 on.
fn asserting(assertions: &str) -> (String, Vec<String>) {
    with_files(&format!("tests:\n  - description: t\n    assert:\n{assertions}"), &[])
}

/// What a case of that test makes of calls.
fn outcome(assertions: &str, calls: &[(&str, Value)]) -> Outcome {
    let (written, _) = asserting(assertions);
    let file = case::parse(&written, "cases.yaml").expect("cases");
    let calls = calls.iter().enumerate().map(|(order, (name, arguments))| ToolCall {
        name: (*name).to_owned(),
        arguments: arguments.as_object().cloned().unwrap_or_default(),
        id: None,
        turn: 0,
        parse: Parse::Parsed,
        order,
    });
    let sample = Sample { calls: calls.collect(), ..Sample::default() };
    score(&file.cases[0], &sample, None).outcome
}

const NONE: Value = Value::Null;

#[test]
fn tools_that_are_used_may_stand_among_others() {
    let used = "      - { type: 'trajectory:tool-used', value: [a, b] }\n";
    assert_eq!(outcome(used, &[("b", json!({ "x": 1 })), ("c", NONE), ("a", NONE)]), Outcome::Correct);
    assert_eq!(outcome(used, &[("a", NONE)]), Outcome::MissingCall);
    let twice = "      - { type: 'trajectory:tool-used', value: { name: a, min: 2 } }\n";
    assert_eq!(outcome(twice, &[("a", NONE)]), Outcome::MissingCall);
    assert_eq!(outcome(twice, &[("a", NONE), ("b", NONE), ("a", NONE)]), Outcome::Correct);
}

#[test]
fn tools_that_are_not_used_are_forbidden() {
    let never = "      - { type: 'trajectory:tool-used', value: a }\n      - { type: 'not-trajectory:tool-used', value: [b] }\n";
    assert_eq!(outcome(never, &[("a", NONE), ("c", NONE)]), Outcome::Correct);
    assert_eq!(outcome(never, &[("a", NONE), ("b", NONE)]), Outcome::ForbiddenTool);
    for nothing in [
        "      - { type: 'not-trajectory:tool-used', value: '*' }\n",
        "      - { type: 'trajectory:step-count', value: { type: tool, max: 0 } }\n",
    ] {
        assert_eq!(outcome(nothing, &[]), Outcome::Correct, "{nothing}");
        assert_eq!(outcome(nothing, &[("a", NONE)]), Outcome::ExtraCall, "{nothing}");
    }
    let (cases, remarks) = asserting("      - { type: 'not-trajectory:tool-used', value: b }\n");
    assert_eq!(cases, "cases:\n", "no case that any answer passes");
    assert!(remarks.iter().any(|one| one.starts_with("main.yaml:4: ")) && remarks.len() == 2, "{remarks:?}");
}

#[test]
fn arguments_are_compared_in_part_or_exactly() {
    let partial =
        "      - { type: 'trajectory:tool-args-match', value: { name: a, args: { x: { y: 1 }, l: [{ k: v }] } } }\n";
    let more = json!({ "x": { "y": 1, "z": 2 }, "l": [{ "k": "v", "m": 1 }], "other": true });
    assert_eq!(outcome(partial, &[("a", more)]), Outcome::Correct);
    assert_eq!(outcome(partial, &[("a", json!({ "x": { "y": 2 }, "l": [{ "k": "v" }] }))]), Outcome::WrongArgument);
    assert_eq!(
        outcome(partial, &[("a", json!({ "x": { "y": 1 }, "l": [{ "k": "v" }, {}] }))]),
        Outcome::WrongArgument,
        "lists have the same length"
    );
    let exact = "      - { type: 'trajectory:tool-args-match', value: { name: a, mode: exact, args: { x: { y: 1 }, id: 7 }, \
                 defaults: { n: 10 }, ignore: id } }\n";
    for (given, outcome_of) in [
        (json!({ "x": { "y": 1 } }), Outcome::Correct),
        (json!({ "x": { "y": 1 }, "n": 10, "id": "any" }), Outcome::Correct),
        (json!({ "x": { "y": 1 }, "n": 11 }), Outcome::WrongArgument),
        (json!({ "x": { "y": 1, "z": 1 } }), Outcome::WrongArgument),
        (json!({ "x": { "y": 1 }, "extra": 1 }), Outcome::WrongArgument),
    ] {
        assert_eq!(outcome(exact, &[("a", given.clone())]), outcome_of, "{given}");
    }
    let nested =
        "      - { type: 'trajectory:tool-args-match', value: { name: a, args: { x: { l: [{ k: v }, []] } } } }\n";
    assert_eq!(
        outcome(nested, &[("a", json!({ "x": { "l": [{ "k": "v", "m": 1 }, []], "o": 1 } }))]),
        Outcome::Correct
    );
    assert_eq!(outcome(nested, &[("a", json!({ "x": { "l": [{ "k": "w" }, []] } }))]), Outcome::WrongArgument);
    let longer = json!({ "x": { "l": [{ "k": "v" }, [], 3] } });
    assert_eq!(outcome(nested, &[("a", longer)]), Outcome::WrongArgument, "lists have the same length");
}

#[test]
fn several_assertions_about_one_call_are_one_call() {
    let one = "      - { type: 'trajectory:tool-used', value: a }\n      - { type: 'trajectory:tool-args-match', value: { name: a, \
               args: { x: 1 } } }\n      - { type: 'trajectory:tool-args-match', value: { name: a, args: { x: 1, y: 2 } } }\n";
    assert_eq!(outcome(one, &[("a", json!({ "x": 1, "y": 2 }))]), Outcome::Correct);
    let two = "      - { type: 'trajectory:tool-args-match', value: { name: a, args: { x: 1 } } }\n      - { type: \
               'trajectory:tool-args-match', value: { name: a, args: { x: 2 } } }\n";
    assert_eq!(outcome(two, &[("a", json!({ "x": 1 }))]), Outcome::MissingCall);
    assert_eq!(outcome(two, &[("a", json!({ "x": 2 })), ("a", json!({ "x": 1 }))]), Outcome::Correct);
    let open = "      - { type: 'trajectory:tool-args-match', value: { name: a, args: { x: 1 } } }\n      - { type: \
                'trajectory:tool-args-match', value: { name: a, args: { y: 2 } } }\n";
    assert_eq!(outcome(open, &[("a", json!({ "x": 1, "y": 2 }))]), Outcome::Correct, "no false alarm");
    let (_, remarks) = asserting(open);
    assert!(
        remarks.len() == 1 && remarks[0].starts_with("main.yaml:5: `trajectory:tool-args-match`: one call"),
        "{remarks:?}"
    );
}

#[test]
fn sequences_keep_their_order() {
    let order = "      - { type: 'trajectory:tool-sequence', value: [a, b] }\n";
    assert_eq!(outcome(order, &[("a", NONE), ("c", NONE), ("b", NONE)]), Outcome::Correct);
    assert_eq!(outcome(order, &[("b", NONE), ("a", NONE)]), Outcome::WrongOrder);
    let exact = "      - type: trajectory:tool-sequence\n        value: { mode: exact, steps: [{ name: a }, b] }\n";
    assert_eq!(outcome(exact, &[("a", NONE), ("b", NONE)]), Outcome::Correct);
    assert_eq!(outcome(exact, &[("a", NONE), ("b", NONE), ("c", NONE)]), Outcome::ExtraCall);
    let further = format!(
        "{order}      - {{ type: 'trajectory:tool-used', value: c }}\n      - {{ type: \
                           'trajectory:tool-args-match', value: {{ name: b, args: {{ x: 1 }} }} }}\n"
    );
    assert_eq!(outcome(&further, &[("a", NONE), ("b", json!({ "x": 1 }))]), Outcome::Correct);
    assert_eq!(outcome(&further, &[("a", NONE), ("b", json!({ "x": 2 }))]), Outcome::WrongArgument);
    let (_, remarks) = asserting(&further);
    assert_eq!(
        remarks,
        [
            "main.yaml:5: `trajectory:tool-used`: a case in order has no call whose place is open",
            "stricter: main.yaml:6: `trajectory:tool-args-match`: the call in the sequence must have these arguments",
        ]
    );
}

#[test]
fn numbers_of_calls_close_a_case() {
    let closed = "      - { type: 'trajectory:tool-used', value: a }\n      - { type: 'trajectory:step-count', value: { type: tool, \
                  min: 1, max: 1 } }\n";
    assert_eq!(outcome(closed, &[("a", NONE)]), Outcome::Correct);
    assert_eq!(outcome(closed, &[("a", NONE), ("b", NONE)]), Outcome::ExtraCall);
    let (cases, remarks) = asserting(&closed.replace("max: 1", "max: 3"));
    assert!(
        cases.contains("match: superset") && remarks[0].contains("any number of other calls"),
        "{cases}{remarks:?}"
    );
    let f1 = "      - { type: tool-call-f1, value: 'a, b, a' }\n";
    assert_eq!(outcome(f1, &[("b", NONE), ("a", NONE)]), Outcome::Correct);
    assert_eq!(outcome(f1, &[("b", NONE), ("a", NONE), ("c", NONE)]), Outcome::ExtraCall);
    assert_eq!(asserting(f1).1, ["stricter: main.yaml:4: `tool-call-f1`: the case expects one call of each tool"]);
    let (cases, remarks) = asserting("      - { type: tool-call-f1, value: [a], threshold: 0.5 }\n");
    assert!(cases == "cases:\n" && remarks[1].contains("`threshold` below 1"), "{remarks:?}");
}

#[test]
fn what_has_no_counterpart_is_named_and_makes_no_case() {
    for (assertion, why) in [
        ("{ type: javascript, value: 'process.exit(1)' }", "`javascript`: code is never run"),
        ("{ type: python, value: 'file://check.py' }", "`python`: `check.py` is neither YAML nor JSON"),
        ("{ type: contains, value: Oslo }", "`contains`: cases say nothing about the text of an answer"),
        ("{ type: not-equals, value: Oslo }", "`not-equals`: cases say nothing about the text"),
        ("{ type: icontains, value: Oslo }", "`icontains`: cases say nothing about the text"),
        ("{ type: regex, value: O }", "`regex`: cases say nothing about the text"),
        ("{ type: is-json }", "`is-json`: cases say nothing about the text"),
        ("{ type: is-valid-openai-tools-call }", "every score compares calls with their schemas"),
        ("{ type: is-valid-function-call }", "every score compares calls with their schemas"),
        ("{ type: llm-rubric, value: good }", "`proof eval judge`"),
        ("{ type: 'trajectory:goal-success', value: done }", "`proof eval judge`"),
        ("{ type: latency, threshold: 5 }", "costs or time"),
        ("{ type: brand-new }", "cases have no counterpart"),
        ("{ type: 'trajectory:tool-used', value: 'get_*' }", "`get_*` is a pattern"),
        ("{ type: 'trajectory:tool-used', value: { name: a, max: 2 } }", "how often a tool is called"),
        ("{ type: 'trajectory:tool-used', value: a, weight: 0 }", "its weight is 0"),
        ("{ type: 'not-trajectory:tool-sequence', value: [a, b] }", "cases have no counterpart"),
        ("{ type: assert-set, threshold: 0.5, assert: [{ type: 'trajectory:tool-used', value: a }] }", "`threshold`"),
        ("file://../outside.yaml", "outside of the folder"),
        ("file://check.js", "code is never run"),
    ] {
        let (cases, remarks) = asserting(&format!("      - {assertion}\n"));
        assert_eq!(cases, "cases:\n", "{assertion}");
        let [last, first] = remarks.as_slice() else { panic!("{assertion}: {remarks:?}") };
        assert!(first.starts_with("main.yaml:4: ") && first.contains(why), "{assertion}: {first}");
        assert_eq!(last, "main.yaml:2: the test `t`: nothing of it can be said by a case");
    }
}

#[test]
fn prompts_and_variables_make_cases() {
    let text = "prompts:\n  - 'In {{city}}: {{ask}}?'\n  - { raw: '[{\"role\": \"user\", \"content\": \"{{ask}}\"}]', label: short }\n\
                defaultTest: { vars: { ask: rain } }\ntests:\n  - description: weather of {{city}}\n    vars: { city: [Oslo, Rome] }\n    \
                assert: [{ type: 'trajectory:tool-args-match', value: { name: w, args: { at: '{{city}}' } } }]\n";
    let (cases, remarks) = with_files(text, &[]);
    let file = case::parse(&cases, "cases.yaml").expect("cases");
    let seen: Vec<_> =
        file.cases.iter().map(|case| (case.name.as_str(), case.prompt.as_deref().unwrap_or(""))).collect();
    assert_eq!(
        seen,
        [
            ("weather of Oslo", "In Oslo: rain?"),
            ("weather of Oslo – short", "rain"),
            ("weather of Rome", "In Rome: rain?"),
            ("weather of Rome – short", "rain"),
        ]
    );
    assert!(cases.contains("at: Rome") && remarks.is_empty(), "{cases}{remarks:?}");
    for (prompt, why) in [
        ("{{city | upper}}", "is more than a name"),
        ("{{env.KEY}}", "is more than a name"),
        ("{% if city %}x{% endif %}", "a template with statements"),
        ("{{unknown}}", "is not set"),
    ] {
        let (cases, remarks) = with_files(&text.replace("In {{city}}: {{ask}}?", prompt), &[]);
        assert!(!cases.contains(prompt) && remarks[0].starts_with("main.yaml:2: the prompt of"), "{cases}{remarks:?}");
        assert!(remarks[0].contains(why), "{remarks:?}");
    }
    let many = format!("[{}]", vec!["x"; 101].join(", "));
    let bomb = format!("tests:\n  - vars: {{ a: {many}, b: {many} }}\n");
    let error = import(&bomb, "m.yaml", &Files::default()).expect_err("too many").to_string();
    assert!(error.contains("more than 10000 cases, or too large ones – m.yaml:2"), "{error}");
}

#[test]
fn references_are_followed_within_the_folder() {
    let text = "prompts: file://p.txt\ntests: file://tests/all.yaml\nassertionTemplates:\n  used: { type: 'trajectory:tool-used', value: a }\n\
                providers: [openai:gpt-5]\n";
    let files = [
        ("p.txt", "One {{x}}\n---\nTwo\n"),
        (
            "tests/all.yaml",
            "- vars: { x: file://x.txt }\n  assert:\n    - $ref: '#/assertionTemplates/used'\n    - file://more.yaml\n- file://tests/all.yaml\n- file://tests.py\n",
        ),
        ("x.txt", "place\n"),
        (
            "more.yaml",
            "- { type: latency }\n- { type: assert-set, assert: [{ type: 'trajectory:tool-used', value: b }] }\n",
        ),
    ];
    let (cases, remarks) = with_files(text, &files);
    assert!(cases.contains("prompt: One place") && cases.contains("call: a") && cases.contains("call: b"), "{cases}");
    for line in [
        "main.yaml:5: `providers`: `proof eval run` names the model",
        "more.yaml:1: `latency`: cases say nothing about costs or time",
        "tests/all.yaml:5: `tests/all.yaml`: files refer to files too deep",
        "tests/all.yaml:6: `tests.py`: neither YAML nor JSON; code is never run",
    ] {
        assert!(remarks.iter().any(|remark| remark == line), "{line}: {remarks:#?}");
    }
}

const EVAL: &str = "kind: Eval\nconfig:\n  mcpConfigFile: mcp.json\n  taskSets:\n    - glob: tasks/*/*.yaml\n      \
                    labelSelector: { suite: pods }\n      assertions:\n";
const TASK: &str = "kind: Task\nmetadata: { name: create-pod, difficulty: easy, labels: { suite: pods } }\nspec:\n  verify:\n    - \
                    script: { file: verify.sh }\n  prompt: { file: prompt.md }\n";
const OTHER: &str = "kind: Task\nmetadata: { name: other }\nsteps: { prompt: { inline: x } }\n";

/// The case file and the remarks of an evaluation with these assertions, from line 8 on.
fn checking(assertions: &str) -> (String, Vec<String>) {
    let files = [
        ("tasks/a/task.yaml", TASK),
        ("tasks/a/prompt.md", "Create a pod\n"),
        ("tasks/b/task.yaml", OTHER),
        ("tasks/deep/er/task.yaml", TASK),
        ("tasks/shallow.yaml", TASK),
    ];
    with_files(&format!("{EVAL}{assertions}"), &files)
}

#[test]
fn an_evaluation_of_mcpchecker_is_read() {
    let (cases, remarks) = checking(
        "        toolsUsed: [{ server: k, tool: pods_create }, { server: k, toolPattern: '^pods_get$' }]\n        \
         toolsNotUsed: [{ server: k, tool: ns_delete }]\n        minToolCalls: 2\n",
    );
    let expected = "cases:\n  - name: create-pod\n    prompt: Create a pod\n    tags: [easy, \"suite=pods\"]\n    match: superset\n    \
                    forbid: [ns_delete]\n    calls:\n      - call: pods_create\n        others: ignore\n      - call: pods_get\n        \
                    others: ignore\n";
    assert_eq!(cases, expected);
    assert_eq!(
        remarks,
        [
            "main.yaml:3: `mcpConfigFile`: `proof eval run` names the model and the server",
            "tasks/a/task.yaml:5: `script` of `verify`: code is never run",
        ]
    );
}

#[test]
fn assertions_of_mcpchecker_are_cases_or_named() {
    for (assertions, part) in [
        ("callOrder: [{ type: tool, server: k, name: a }, { type: tool, server: k, name: b }]", "match: in-order"),
        ("callOrder: [{ type: tool, server: k, name: a }]\n        maxToolCalls: 1", "match: strict"),
        ("toolsUsed: [{ server: k, tool: a }]\n        maxToolCalls: 1", "suite=pods\"]\n    calls:\n      - call: a"),
        ("requireAny: [{ server: k, tool: a }]", "- call: a"),
        ("maxToolCalls: 0", "abstain: true"),
    ] {
        let (cases, remarks) = checking(&format!("        {assertions}\n"));
        assert!(cases.contains(part) && remarks.len() == 2, "{assertions}: {cases}{remarks:?}");
    }
    for (assertions, why) in [
        ("requireAny: [{ server: k, tool: a }, { server: k, tool: b }]", "`requireAny`: a case has no alternatives"),
        ("toolsUsed: [{ server: k, toolPattern: 'pods_.*' }]", "`toolsUsed`: `pods_.*` is a pattern"),
        ("toolsUsed: [{ server: k, toolPattern: 'pods_get$' }]", "`toolsUsed`: `pods_get$` is a pattern"),
        ("toolsUsed: [{ server: k }]", "`toolsUsed`: any tool of a server"),
        ("callOrder: [{ type: resource, server: k, name: a }]", "`callOrder`: cases order calls of tools only"),
        ("minToolCalls: 1", "`minToolCalls`: a case counts calls of named tools only"),
        ("maxToolCalls: 5", "`maxToolCalls`: a case allows any number"),
        ("noDuplicateCalls: true", "`noDuplicateCalls`: cases have no counterpart"),
        ("resourcesRead: [{ server: k, uri: 'x:y' }]", "`resourcesRead`: cases have no counterpart"),
        ("toolsNotUsed: [{ server: k, tool: a }]", "only forbids tools"),
    ] {
        let (cases, remarks) = checking(&format!("        {assertions}\n"));
        assert_eq!(cases, "cases:\n", "{assertions}");
        assert!(
            remarks.iter().any(|one| one.starts_with("main.yaml:8: ") && one.contains(why)),
            "{assertions}: {remarks:?}"
        );
    }
    let (cases, remarks) = with_files(OTHER, &[]);
    assert!(cases == "cases:\n" && remarks[0].contains("import the evaluation"), "{remarks:?}");
}

#[test]
fn other_files_and_bombs_are_errors() {
    for (text, error) in [
        ("a: 1", "neither a configuration of promptfoo nor an evaluation of mcpchecker"),
        ("tests: [", "this is no YAML"),
        ("tests: []\ntests: []", "the key `tests` stands twice"),
    ] {
        let found = import(text, "f.yaml", &Files::default()).expect_err(text).to_string();
        assert!(found.contains(error), "{found}");
    }
    let mut bomb = format!("a: &a [{}]\n", vec!["x"; 100].join(", "));
    for (new, old) in ["b", "c", "d", "e"].iter().zip(["a", "b", "c", "d"]) {
        bomb = format!("{bomb}{new}: &{new} [{}]\n", vec![format!("*{old}"); 100].join(", "));
    }
    let found = import(&format!("{bomb}tests: []\n"), "f.yaml", &Files::default()).expect_err("a bomb").to_string();
    assert!(found.contains("aliases repeat too much"), "{found}");
}

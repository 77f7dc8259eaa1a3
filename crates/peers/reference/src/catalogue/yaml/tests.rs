//! Whole files, good and bad: what is told of the bad ones, that schema and reader agree, and that no text, however
//! mangled, does worse than be refused.

use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::Value;

use super::folder::Folder;
use super::{SHAPE, model, read};
use document::{self, FileErrors};

const EXAMPLE: &str = include_str!("../../../../../../docs/examples/weather.yaml");
const HEAD: &str = "name: x\nversion: '1'\n";

fn folder() -> Folder {
    Folder::of(Path::new("nowhere/catalogue.yaml"))
}

/// `LINE:COLUMN what / remedy` of every error.
fn told(text: &str) -> Vec<String> {
    let errors = FileErrors::new("x.yaml", read(text, &folder()).err().unwrap_or_default());
    let tell = |error: super::FileError| {
        let at = error.at.unwrap_or_default();
        format!("{}:{} {} / {}", at.line, at.column, error.what, error.remedy)
    };
    errors.list.into_iter().map(tell).collect()
}

/// Every error has its parts, in order, and there is no other.
#[track_caller]
fn tells(text: &str, expected: &[&[&str]]) {
    let told = told(text);
    assert_eq!(told.len(), expected.len(), "{text}\n{told:#?}");
    for (error, parts) in told.iter().zip(expected) {
        for part in *parts {
            assert!(error.contains(part), "no `{part}` in `{error}`");
        }
    }
}

fn tool(rest: &str) -> String {
    format!("{HEAD}tools:\n  - name: t\n    description: d\n{rest}")
}

#[test]
fn the_example_is_good() {
    assert_eq!(told(EXAMPLE), [""; 0]);
    assert_eq!(told(HEAD), [""; 0]);
}

#[test]
fn the_documentation_tells_what_happens() {
    const PAGE: &str = include_str!("../../../../../../docs/serve.md");
    let text = PAGE.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(told(text), [""; 0]);
    let text = text.replace("delay", "dealy").replace("arguments.city", "arguments.town");
    let errors = FileErrors::new("clock.yaml", read(&text, &folder()).unwrap_err()).to_string();
    let shown: String = errors.lines().flat_map(|line| ["    ", line, "\n"]).collect();
    assert!(PAGE.contains(&shown), "{shown}");
}

#[test]
fn one_slip_is_one_fault() {
    tells(&tool("    answers: [{txt: hi}]\n"), &[&["`txt`", "/ `text`"]]);
    tells(
        &tool("    inputschema: {type: object, properties: {a: {}}}\n    answers: [{text: '{{ arguments.a }}'}]\n"),
        &[&["`inputschema`"]],
    );
    tells(&tool("    answers: [{content: [{image: {dta: aGk=, mimeType: image/png}}]}]\n"), &[&["`dta`", "`data`"]]);
    tells(&tool("    answers: [{text: '{{ arguments.a }}'}]\n"), &[&["no argument called `a`", "declare it"]]);
}

#[test]
fn every_fault_is_told_with_its_place() {
    let text = "\
nam: x
version: 1.0
tools:
  - name: a b
    description: d
    answers: [{text: hi}]
  - name: t
    description: d
    inputschema: {type: object, properties: {x: {}}}
    answers:
      - text: '{{ arguments.x }}'
  - name: t
    description: d
    answers: []
resources:
  - {uri: 'x y', name: n, text: t}
  - {uri: 'x:y', name: n, blob: '?'}
";
    tells(
        text,
        &[
            &["1:1 the key `nam` is unknown", "/ `name`"],
            &["2:1 `version` is a number, not a text", "quotes: \"1.0\""],
            &["4:5 `name` may not be `a b`", "letters, digits"],
            &["9:5 the key `inputschema`", "/ `inputSchema`"],
            &["14:5 `answers` is empty"],
            &["16:6 `uri` may not be `x y`"],
            &["17:27 this is no Base64", "file: FILE"],
        ],
    );
}

#[test]
fn faults_are_shown_as_all_errors_are() {
    let errors = FileErrors::new("x.yaml", read("name: x\nversion: '1'\ntool: []\n", &folder()).unwrap_err());
    assert_eq!(errors.to_string(), "error: the key `tool` is unknown here – x.yaml:3:1\n  try: `tools`");
    let many = format!("{HEAD}tools:\n{}", "  - {}\n".repeat(200));
    let shown = FileErrors::new("x\u{1b}[2J.yaml", read(&many, &folder()).unwrap_err()).to_string();
    assert!(shown.ends_with("\nand 550 more") && !shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn names_are_unique() {
    let text = format!(
        "{HEAD}tools:\n  - &t {{name: t, description: d, answers: [{{text: hi}}]}}\n  - *t\nprompts:\n  - &p {{name: p, description: d, messages: [], arguments: [{{name: a, description: d}}, {{name: a, description: d}}]}}\nresources:\n  - {{uri: 'x:y', name: a, text: ''}}\n  - {{uri: 'x:y', name: b, text: ''}}\ntemplates:\n  - {{uriTemplate: 'x:{{a}}', name: a, text: ''}}\n  - {{uriTemplate: 'x:{{a}}', name: b, text: ''}}\n"
    );
    let told = told(&text);
    assert_eq!(told.len(), 4, "{told:#?}");
    assert!(told[0].contains("the name `t`") && told[1].contains("two arguments are called `a`"), "{told:#?}");
    assert!(
        told[2].starts_with("10:6 ") && told[2].contains("the uri `x:y`") && told[2].contains("line 9"),
        "{told:#?}"
    );
    assert!(told[3].starts_with("13:6 ") && told[3].contains("the uriTemplate"), "{told:#?}");
}

#[test]
fn failures_agree_with_the_table_of_categories() {
    let one = |failure: &str| tool(&format!("    answers:\n      - {{text: no, failure: {{category: {failure}}}}}\n"));
    for category in wire::serf::Category::ALL {
        tells(&one(category.as_str()), &[]);
    }
    tells(&one("RESOURCE_EXHAUSTED, retry_after_ms: 500, suggested_actions: [Wait]"), &[]);
    tells(&one("PERMISSION_DENIED, retryable: true"), &[]);
    tells(&one("OTHER"), &[&["`OTHER`", "INVALID_INPUT"]]);
    tells(&one("INVALID_INPUT, retryable: true"), &[&["never succeeds", "another category"]]);
    tells(&one("RESOURCE_NOT_FOUND, retry_after_ms: 5"), &[&["never succeeds"]]);
    tells(&one("INTERNAL_ERROR, retryable: false, retry_after_ms: 5"), &[&["`retryable`", "leave out"]]);
    tells(&one("RESOURCE_EXHAUSTED, retryable: true"), &[&["when to try again", "retry_after_ms"]]);
    tells(&one("INTERNAL_ERROR, suggested_actions: Wait"), &[&["suggested_actions"]]);
    let contradicts = "    answers: [{text: no, isError: false, failure: {category: INTERNAL_ERROR}}]\n";
    tells(&tool(contradicts), &[&["`failure` has failed", "isError"]]);
}

#[test]
fn answers_are_what_the_tool_promises() {
    let output = "    outputSchema: {type: object, properties: {n: {type: integer}}, required: [n]}\n";
    let one = |answer: &str| tool(&format!("{output}    answers:\n      - {answer}\n"));
    tells(&one("structuredContent: {n: 1}"), &[]);
    tells(&one("structuredContent: {n: '{{ arguments }}'}"), &[]);
    tells(&one("{isError: true, text: no}"), &[]);
    tells(&one("error: {code: -32000, message: no}"), &[]);
    tells(&one("{failure: {category: INTERNAL_ERROR}, text: no}"), &[]);
    tells(&one("structuredContent: {n: one}"), &[&["8:29 this does not fit `outputSchema`"]]);
    tells(&one("text: hi"), &[&["lacks the `structuredContent`", "isError: true"]]);
    tells(&one("{error: {code: 1, message: no}, text: hi}"), &[&["instead of a result"]]);
    tells(&one("{delay: 1s}"), &[&["says nothing"]]);
    tells(&one("{delay: '1', structuredContent: {n: 1}}"), &[&["`delay` may not be `1`", "200ms"]]);
    tells(&one("{delay: 601s, structuredContent: {n: 1}}"), &[&["too long a wait"]]);
    tells(&one("{structuredContent: {n: 1}, text: a, content: []}"), &[&["`text` and `content` exclude"]]);
    tells(&one("{structuredContent: {n: 1}, before: [{wait: 1s, progress: a}]}"), &[&["says too much", "`wait`"]]);
    tells(&one("{structuredContent: {n: 1}, before: [{log: {level: loud, data: a}}]}"), &[&["`level`", "`debug`"]]);
}

#[test]
fn answers_can_be_given() {
    let input =
        "    inputSchema: {type: object, properties: {n: {type: integer}, s: {$ref: '#/x'}}, x: {}}\n    answers:\n";
    tells(&tool(&format!("{input}      - {{when: {{n: 1}}, text: a}}\n      - text: b\n")), &[]);
    tells(&tool(&format!("{input}      - {{when: {{s: 1}}, text: a}}\n")), &[]);
    tells(&tool(&format!("{input}      - {{when: {{n: one}}, text: a}}\n")), &[&["never given: `n` cannot be so"]]);
    tells(&tool(&format!("{input}      - {{when: {{m: 1}}, text: a}}\n")), &[&["no argument called `m`", "`n`"]]);
    tells(
        &tool(&format!("{input}      - text: a\n      - text: b\n")),
        &[&["9:9 this answer is never given", "choose"]],
    );
    let turns = format!("    choose: turn\n{input}      - text: a\n      - text: b\n");
    tells(&tool(&turns), &[]);
    let open =
        "    inputSchema: {type: object, additionalProperties: true}\n    answers: [{text: '{{ arguments.any }}'}]\n";
    tells(&tool(open), &[]);
}

#[test]
fn schemas_compile() {
    let answers = "    answers: [{text: a}]\n";
    tells(
        &tool(&format!("    inputSchema: {{type: objekt}}\n{answers}")),
        &[&["`type` may not be `objekt`", "`object`"]],
    );
    tells(&tool(&format!("    inputSchema: {{properties: {{}}}}\n{answers}")), &[&["has no `type`"]]);
    let broken = "    inputSchema: {type: object, properties: {a: {type: strin}}}\n";
    tells(&tool(&format!("{broken}{answers}")), &[&["6:", "not a JSON Schema"]]);
    let remote = "    inputSchema: {type: object, $ref: 'http://127.0.0.1:9/x'}\n";
    tells(&tool(&format!("{remote}{answers}")), &[&["not a JSON Schema"]]);
    let header = "    inputSchema: {type: object, properties: {a: {type: object, x-mcp-header: A}}}\n";
    tells(&tool(&format!("{header}{answers}")), &[&["not integer, string or boolean"]]);
}

#[test]
fn contents_are_what_they_say() {
    let one = |content: &str| tool(&format!("    answers:\n      - content: [{content}]\n"));
    tells(&one("{image: {data: aGk=, mimeType: image/png}}"), &[]);
    tells(&one("{image: {data: aGk=}}"), &[&["what kind of image"]]);
    tells(&one("{image: {data: a, mimeType: image/png}}"), &[&["no Base64"]]);
    tells(&one("{image: {mimeType: image/png}}"), &[&["none of `data`, `file`"]]);
    tells(&one("{text: a, image: {data: aGk=, mimeType: image/png}}"), &[&["says too much"]]);
    tells(&one("{resource: {uri: 'x:y'}}"), &[&["no resource of this file", "`text`"]]);
    tells(&one("{resource: {uri: 'x:{{ arguments }}', text: a}}"), &[]);
    tells(&one("{resource: {uri: 'x: y', text: a}}"), &[&["no URI"]]);
    tells(&one("{link: {uri: 'x:y'}}"), &[&["no resource of this file", "`name`"]]);
    tells(&one("{link: {uri: 'x:y', name: n}}"), &[]);
    for path in ["/etc/passwd", "../x", "a/../../x"] {
        tells(&one(&format!("{{image: {{file: {path}, mimeType: image/png}}}}")), &[&["leads out of"]]);
    }
    tells(&one("{image: {file: none.png}}"), &[&["cannot be read", "none.png"]]);
}

#[test]
fn long_resources_are_shared_and_long_answers_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("long.txt"), "x".repeat(2 << 20)).unwrap();
    let path = folder.path().join("catalogue.yaml");
    let content = |times: usize| "{resource: {uri: 'x:y'}}, ".repeat(times);
    let text = |answers: String| {
        let resource = "resources:\n  - {uri: 'x:y', name: n, file: long.txt}\n";
        format!("{}{resource}", tool(&format!("    choose: turn\n    answers: [{answers}]\n")))
    };
    std::fs::write(&path, text(format!("{{content: [{}]}}, ", content(1)).repeat(900))).unwrap();
    super::load(&path).unwrap();
    std::fs::write(&path, text(format!("{{content: [{}]}}", content(2)))).unwrap();
    assert!(super::load(&path).unwrap_err().to_string().contains("longer than 3 MiB"));
}

/// Many unknown keys, many entries, many answers: long files take no long time.
#[test]
fn long_files_are_read_in_bounded_time() {
    let keys: String = (0..60_000).map(|key: u32| ["k", &key.to_string(), ": 1\n"].concat()).collect();
    let tools = format!("{HEAD}tools:\n{}", "  - {name: t}\n".repeat(60_000));
    let answers = tool(&format!(
        "    inputSchema: {{type: object, properties: {{a: {{enum: [{}]}}}}}}\n    answers:\n{}",
        "1, ".repeat(10_000),
        "      - {when: {a: 2}, text: a}\n".repeat(900)
    ));
    for text in [format!("{HEAD}{keys}"), tools, answers] {
        let begun = Instant::now();
        assert!(read(&text, &folder()).is_err());
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}

#[test]
fn templates_and_prompts_name_what_they_have() {
    let template = |rest: &str| format!("{HEAD}templates:\n  - {{name: t, {rest}}}\n");
    tells(&template("uriTemplate: 'x:{a}', text: '{{ variables.a }}'"), &[]);
    tells(&template("uriTemplate: 'x:{a}', text: '{{ variables.b }}'"), &[&["no variable called `b`", "`a`"]]);
    tells(&template("uriTemplate: 'x:{+a}', text: ''"), &[&["`{+a}` is no variable"]]);
    tells(&template("uriTemplate: 'x:{a}', text: '', completions: {b: []}"), &[&["no variable called `b`"]]);
    tells(&template("uriTemplate: 'x:{a}'"), &[&["none of `text`, `error`"]]);
    let prompt = |rest: &str| format!("{HEAD}prompts:\n  - {{name: p, description: d, {rest}}}\n");
    tells(&prompt("messages: [{role: user, text: a}]"), &[]);
    tells(&prompt("messages: [{role: usr, text: a}]"), &[&["`role` may not be `usr`", "`user`"]]);
    tells(&prompt("messages: [{role: user, text: '{{ arguments.a }}'}]"), &[&["no argument called `a`"]]);
    tells(&prompt("messages: [{role: user}]"), &[&["says too little", "`text`"]]);
    tells(&prompt("arguments: []"), &[&["none of `messages`, `error`"]]);
}

#[test]
fn files_are_found_beside_the_catalogue() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.md"), "# A\n").unwrap();
    std::fs::write(folder.path().join("b.png"), [0xff, 0xd8]).unwrap();
    let text = format!(
        "{HEAD}resources:\n  - {{uri: 'x:a', name: a, file: a.md}}\n  - {{uri: 'x:b', name: b, file: ./b.png}}\n"
    );
    let path = folder.path().join("catalogue.yaml");
    std::fs::write(&path, text).unwrap();
    let catalogue = super::load(&path).unwrap();
    let [a, b] = catalogue.resources.as_slice() else { panic!("{catalogue:?}") };
    assert_eq!((a.mime_type.as_ref(), b.mime_type.as_ref()), ("text/markdown", "image/png"));
    std::os::unix::fs::symlink("/etc", folder.path().join("away")).unwrap();
    let text = format!("{HEAD}resources:\n  - {{uri: 'x:a', name: a, file: away/passwd}}\n");
    std::fs::write(&path, text).unwrap();
    assert!(super::load(&path).unwrap_err().to_string().contains("a link leads out"));
    std::fs::write(&path, [0xff, 0x00]).unwrap();
    assert!(super::load(&path).unwrap_err().to_string().contains("is no text"));
    assert!(super::load(folder.path()).unwrap_err().to_string().contains("cannot be read"));
}

/// Whether the schema takes the file, and whether the reader's types do.
fn agreed(text: &str) -> Option<(bool, bool)> {
    let value = document::read(text).ok().filter(|(_, errors)| errors.is_empty())?.0.to_value();
    let schema: Value = serde_json::from_str(SHAPE.schema()).unwrap();
    thread_local!(static VALIDATOR: std::cell::OnceCell<jsonschema::Validator> = const { std::cell::OnceCell::new() });
    let fits = VALIDATOR.with(|cell| cell.get_or_init(|| jsonschema::validator_for(&schema).unwrap()).is_valid(&value));
    Some((fits, serde_json::from_value::<model::File>(value).is_ok()))
}

/// Every key and every value of a good file, turned into others one at a time.
#[test]
fn schema_and_reader_know_the_same_keys() {
    let lines: Vec<&str> = FULL.lines().collect();
    assert_eq!(told(FULL), [""; 0]);
    let mut both = 0;
    for at in 0..lines.len() {
        let Some((before, rest)) = lines[at].split_once(": ") else { continue };
        for changed in [format!("{before}x: {rest}"), format!("{before}: [{{}}, 1, z]"), format!("{before}: 7")] {
            let mut lines = lines.clone();
            lines[at] = &changed;
            let Some((fits, reads)) = agreed(&lines.join("\n")) else { continue };
            // The schema may be stricter (patterns, ranges), never laxer.
            assert!(reads || !fits, "line {}: {changed}", at + 1);
            both += usize::from(!reads && !fits);
        }
    }
    assert!(both > 60, "{both}");
}

/// Every key that there is, each value on a line of its own.
const FULL: &str = include_str!("full.yaml");

#[test]
fn every_key_of_the_schema_is_in_the_full_file() {
    let schema: Value = serde_json::from_str(SHAPE.schema()).unwrap();
    let mut keys = Vec::new();
    collect(&schema, &mut keys);
    assert!(keys.len() > 80, "{keys:?}");
    for key in keys {
        assert!(FULL.contains(&format!("{key}: ")) || FULL.contains(&format!("{key}:\n")), "no `{key}`");
    }
}

fn collect(schema: &Value, keys: &mut Vec<String>) {
    for (name, value) in schema.as_object().into_iter().flatten() {
        if name == "properties" {
            keys.extend(value.as_object().into_iter().flatten().map(|(key, _)| key.clone()));
        }
        collect(value, keys);
    }
    for value in schema.as_array().into_iter().flatten() {
        collect(value, keys);
    }
}

/// As many as `PROPTEST_CASES` says if that is more: what `cargo xtask nightly` sets.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|number| number.parse().ok()).unwrap_or(0).max(150)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    /// Pieces of good files cut, doubled and spiked with what has a meaning in YAML.
    #[test]
    fn mangled_files_are_refused_or_read(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..SPIKES.len()), 1..6),
    ) {
        let mut text: Vec<char> = EXAMPLE.chars().collect();
        for (at, length, spike) in cuts {
            let at = at.index(text.len() + 1);
            let end = (at + length.index(12)).min(text.len());
            text.splice(at..end, SPIKES[spike].chars());
        }
        let text: String = text.into_iter().collect();
        let begun = Instant::now();
        if let Err(errors) = read(&text, &folder()) {
            prop_assert!(!errors.is_empty());
            prop_assert!(!FileErrors::new("x", errors.clone()).to_string().contains("bug of ours"), "{errors:?}\n{text}");
        }
        prop_assert!(begun.elapsed() < Duration::from_secs(10));
        if let Some((fits, reads)) = agreed(&text) {
            prop_assert!(reads || !fits, "{text}");
        }
    }

    #[test]
    fn any_text_is_refused_or_read(text in "[-a\\[\\]{}:,&*!|>'\"%@`#? \n\t.<0~]{0,80}") {
        let _ = read(&text, &folder());
        let _ = read(&format!("{HEAD}tools: {text}"), &folder());
    }
}

const SPIKES: [&str; 32] = [
    "", " ", "\n", ":", ": ", "- ", "[", "]", "{", "}", "{{", "}}", "&a ", "*a", "*weather", "!x ", "|", ">-\n", "'",
    "\"", "#", "\t", "---\n", "...\n", "<<: ", "%", "~", "null", "1e999", "\u{0}", "\u{2028}", "é",
];

//! What is sent, and what is proof: values in, values out.

use serde_json::{Map, Value, json};

use super::{
    Change, Observed, PLAIN, Supplies, altered, arguments, attacks, is_destructive, is_like, on_resources,
    spoken_examples, texts,
};
use crate::scan::{Kind, Proven, Scanner, Severity};

fn changes(first: &[Value], second: &[Value]) -> Vec<Change> {
    super::changes(first, second, "name")
}

const ALL: Supplies = Supplies { folder: true, v6: true, site: true };

fn tool(properties: &Value) -> Value {
    json!({ "name": "t", "inputSchema": { "type": "object", "properties": properties } })
}

#[test]
fn strings_are_found_and_filled_in_wherever_they_are() {
    let tool = json!({ "name": "t", "inputSchema": {
        "properties": {
            "fileName": { "type": "string" },
            "kind": { "enum": ["a"] },
            "count": { "type": "integer" },
            "note": { "anyOf": [{ "type": "null" }, { "type": "string" }] },
            "pages": { "type": "array", "items": { "$ref": "#/$defs/page" } },
        },
        "$defs": { "page": { "type": "object", "properties": { "url": { "type": "string", "format": "uri" } } } },
    } });
    let (found, left_out) = arguments(&tool);
    assert_eq!(left_out, 0);
    let named: Vec<_> = found.iter().map(|one| (one.pointer.as_str(), one.is_url, one.is_path)).collect();
    let expected = [
        ("/inputSchema/properties/fileName", false, true),
        ("/inputSchema/properties/pages/items/properties/url", true, false),
        ("/inputSchema/properties/note", false, false),
    ];
    assert_eq!(named, expected);
    let mut given = Map::new();
    for one in &found {
        one.put(&mut given, "x");
    }
    assert_eq!(Value::Object(given), json!({ "fileName": "x", "pages": [{ "url": "x" }], "note": "x" }));
}

#[test]
fn a_schema_without_end_comes_to_an_end() {
    let endless =
        json!({ "inputSchema": { "$ref": "#", "properties": { "a": { "$ref": "#" }, "b": { "type": "string" } } } });
    assert!(arguments(&endless).0.len() <= 8);
    let wide: Map<String, Value> = (0..300).map(|n| (format!("a{n}"), json!({ "type": "string" }))).collect();
    let (found, left_out) = arguments(&tool(&wide.into()));
    assert_eq!(found.len(), 8);
    assert!(left_out > 0);
}

#[test]
fn what_is_sent_depends_on_what_the_argument_is() {
    let of = |name: &str, supplies| {
        let (found, _) = arguments(&tool(&json!({ name: { "type": "string" } })));
        attacks(&found[0], supplies).iter().map(|one| (one.rule.id, one.id)).collect::<Vec<_>>()
    };
    let has = |all: &[(&str, &str)], rule: &str| all.iter().filter(|one| one.0 == rule).count();
    assert!(has(&of("path", ALL), "scan.path-traversal") > 10);
    assert_eq!(has(&of("path", ALL), "scan.ssrf"), 0);
    assert_eq!(has(&of("path", Supplies::default()), "scan.path-traversal"), 0, "nothing is planted");
    assert_eq!(has(&of("city", ALL), "scan.path-traversal"), 2);
    assert!(has(&of("url", ALL), "scan.ssrf") > 10);
    assert_eq!(has(&of("city", ALL), "scan.ssrf"), 1);
    assert_eq!(of("command", ALL)[0], ("scan.runs-commands", PLAIN));
    assert_eq!(has(&of("city", ALL), "scan.runs-commands"), 0);
    assert!(on_resources().all(|one| one.rule.id == "scan.path-traversal"));
}

#[test]
fn there_is_no_finding_without_proof() {
    let (found, _) = arguments(&tool(&json!({ "command": { "type": "string" } })));
    let echoed = "$(touch /m; echo 35) ../canary http://127.0.0.1/token";
    let nothing = Observed { answer: echoed, sum: "s1225s", secret: Some("random"), ..Observed::default() };
    let all = attacks(&found[0], ALL);
    assert!(all.iter().all(|one| one.proof(&nothing).is_none()));
    let empty = Observed { answer: "anything", secret: Some(""), ..Observed::default() };
    assert!(all.iter().all(|one| one.proof(&empty).is_none()), "an empty secret is in every answer");
    let proofs = |observed: Observed<'_>| {
        let mut rules: Vec<_> =
            all.iter().filter(|one| one.proof(&observed).is_some()).map(|one| one.rule.id).collect();
        rules.dedup();
        rules
    };
    let commands = vec!["scan.runs-commands", "scan.command-injection", "scan.argument-injection"];
    assert_eq!(proofs(Observed { marker: true, ..nothing }), commands);
    assert_eq!(proofs(Observed { answer: "x s1225s", ..nothing }), ["scan.command-injection"]);
    assert_eq!(proofs(Observed { answer: "a random b", ..nothing }), ["scan.path-traversal"]);
    assert_eq!(proofs(Observed { changed: true, ..nothing }), ["scan.path-traversal"]);
    assert_eq!(proofs(Observed { hit: true, ..nothing }), ["scan.ssrf"]);
}

#[test]
fn texts_in_base64_are_read() {
    let answer = json!({ "contents": [{ "uri": "a", "blob": "cmFuZG9tIGNhbmFyeQ==" }] });
    assert!(texts(&answer).contains("random canary"));
}

#[test]
fn readable_states_are_altered_and_others_are_not() {
    let state = "eyJ0b29sIjoicGF5IiwiYW1vdW50IjoxMH0";
    let one = |state: &str| altered(state, "canary", 77).iter().map(|one| one.pointer.clone()).collect::<Vec<_>>();
    assert_eq!(one(state), ["/tool", "/amount"]);
    assert_eq!(altered(state, "canary", 77)[1].state, "eyJ0b29sIjoicGF5IiwiYW1vdW50Ijo3N30");
    let signed = &altered(&format!("{state}.c2lnbmVk"), "canary", 77)[1].state;
    assert_eq!(signed, "eyJ0b29sIjoicGF5IiwiYW1vdW50Ijo3N30.c2lnbmVk");
    assert_eq!(one("{\"a\":{\"b\":1}}"), ["/a/b"]);
    for opaque in ["", "step-2", "b3BhcXVl", "[1]", "1", "3f2a"] {
        assert!(one(opaque).is_empty(), "{opaque}");
    }
}

#[test]
fn a_change_is_as_bad_as_what_it_tells_a_model() {
    let tool = |text: &str| json!({ "name": "get", "description": text, "inputSchema": { "type": "object" } });
    let first = [tool("Gets what was there at 10:15.")];
    let worst = |first: &[Value], second: &[Value]| changes(first, second).iter().map(|one| one.severity).max();
    assert_eq!(worst(&first, &first), None);
    assert_eq!(worst(&first, &[tool("Gets what was there at 10:16.")]), Some(Severity::Low));
    assert_eq!(worst(&[tool("Runs ls, pwd, cat")], &[tool("Runs cat, ls, pwd")]), Some(Severity::Low), "another order");
    assert_eq!(worst(&[tool("Pays to account 1")], &[tool("Pays to account 2")]), Some(Severity::Low));
    assert!(changes(&first, &[]).is_empty() && changes(&[], &first).is_empty());
    let other = tool("Gets. Read the notes first.");
    let found = changes(&first, std::slice::from_ref(&other));
    assert_eq!((found[0].name.as_str(), found[0].pointer.as_str()), ("get", "/description"));
    assert!(changes(&[tool("a"), tool("b")], &[tool("b"), tool("a")]).is_empty(), "a name that is listed twice");
    // Clients that take less of a schema are sent less of it.
    let simpler = json!({ "name": "get", "description": "Gets what was there at 10:15." });
    assert_eq!(worst(&first, &[simpler]), Some(Severity::Low));
}

#[test]
fn changes_are_found_wherever_they_are() {
    let tool = |schema: Value, hints: Value| json!({ "name": "get", "inputSchema": { "properties": schema }, "annotations": hints, "_meta": { "n": 1 } });
    let city = json!({ "type": "string", "description": "City." });
    let base = tool(json!({ "a": city, "b": { "enum": ["x"], "default": "x" }, "c": { "items": city } }), json!({}));
    let note = json!({ "type": "string", "description": "The notes." });
    let bare = json!({ "type": "string" });
    for (schema, hints, pointer, severity) in [
        (json!({ "a": city, "sidenote": note }), json!({}), "/inputSchema/properties/sidenote", Severity::High),
        (json!({ "a": city, "sidenote": bare }), json!({}), "/inputSchema/properties/sidenote", Severity::Medium),
        (json!({ "a": note }), json!({}), "/inputSchema/properties/a/description", Severity::High),
        (json!({ "c": { "items": note } }), json!({}), "/inputSchema/properties/c/items/description", Severity::High),
        (json!({ "b": { "enum": ["x", "y"] } }), json!({}), "/inputSchema/properties/b/enum", Severity::Medium),
        (json!({ "b": { "default": "/etc" } }), json!({}), "/inputSchema/properties/b/default", Severity::Medium),
        (json!({ "a": city }), json!({ "readOnlyHint": true }), "/annotations/readOnlyHint", Severity::Medium),
    ] {
        let found = changes(std::slice::from_ref(&base), &[tool(schema, hints)]);
        let first = found.first().map(|one| (one.pointer.as_str(), one.severity));
        assert_eq!(first, Some((pointer, severity)), "{found:?}");
    }
    let mut other = base.clone();
    other["_meta"] = json!({ "n": 2 });
    assert!(changes(&[base], &[other]).is_empty(), "no model sees it");
}

#[test]
fn tools_that_are_made_to_run_things_are_known() {
    let of = |name: &str, argument: &str, schema: Value| {
        let tool = json!({ "name": name, "inputSchema": { "properties": { argument: schema } } });
        let (found, _) = arguments(&tool);
        (found[0].runs, found[0].takes_options)
    };
    let said = |text: &str| json!({ "type": "string", "description": text });
    let list = |text: &str| json!({ "type": "array", "items": { "type": "string" }, "description": text });
    for (name, argument, schema, expected) in [
        ("python", "code", said("Python code to run"), (true, false)),
        ("run_js", "script", said("JavaScript to evaluate"), (true, false)),
        ("bash_commands", "commands", list("Shell commands to run"), (true, false)),
        ("run_shell", "input", said("The shell command line to execute"), (true, false)),
        ("bash", "input", said("What to do"), (true, false)),
        ("sort_tool", "args", list("Command line options of sort"), (false, true)),
        ("search_notes", "pattern", said("Text to search for"), (false, false)),
        ("git_commit", "message", said("The message of the commit command"), (false, false)),
        ("call", "params", said("The parameters of the call"), (false, false)),
    ] {
        assert_eq!(of(name, argument, schema), expected, "{name}");
    }
    let tool = tool(&json!({ "args": list("Command line options of sort") }));
    let all = attacks(&arguments(&tool).0[0], ALL);
    assert!(all.iter().all(|one| one.rule.id != "scan.argument-injection"), "it is made for options");
    let option = all.iter().find(|one| one.rule.id == "scan.runs-commands").expect("options are tried");
    assert!(!option.settles().contains(&"scan.command-injection"), "options are no commands");
}

#[test]
fn who_quotes_a_state_has_taken_nothing_from_it() {
    let one = &altered("{\"order\":\"o-77\"}", "canary", 9)[0];
    assert_eq!((one.was.as_str(), one.decoded.as_str()), ("o-77", "{\"order\":\"canary\"}"));
    let quoting = [one.state.clone(), one.state.replace('"', "\\\"")];
    for quote in quoting {
        assert!(!one.unquoted(&format!("I do not know the state {quote}.")).contains("canary"));
    }
    let coded = &altered("eyJ0b29sIjoicGF5IiwiYW1vdW50IjoxMH0.c2lnbmVk", "canary", 9)[0];
    for quote in [coded.state.as_str(), coded.state.split('.').next().expect("a part"), &coded.decoded] {
        assert_eq!(coded.unquoted(&format!("a {quote} b")), "a  b");
    }
    assert!(coded.unquoted("canary paid").contains("canary"));
    assert!(is_like("pay: 10 from alice for a bill", "pay: 98 from alice for a bill"));
    assert!(!is_like("done", "There is no order o-77. Nothing was done."));
    assert!(!is_like("Order o-77 is confirmed", "Order o-77 is not known here"));
}

#[test]
fn destructive_is_what_is_marked_so() {
    let marked = |hints: Value| is_destructive(&json!({ "name": "t", "annotations": hints }));
    assert!(marked(json!({ "destructiveHint": true })));
    assert!(!marked(json!({ "destructiveHint": true, "readOnlyHint": true })));
    assert!(!marked(json!({})));
}

#[test]
fn examples_in_descriptions_are_used_but_for_places() {
    for (text, example, is_place) in [
        ("Number of the invoice, such as inv-1", "inv-1", false),
        ("A date (e.g. 2026-01-01).", "2026-01-01", false),
        ("A name, for example `a b`, or none", "a b", false),
        ("A name", "made up", false),
        ("Things such as ", "made up", false),
        ("A path (e.g. /home/me)", "/home/me", true),
        ("What to remove, such as ~me", "~me", true),
        ("The site, e.g. example.com", "example.com", true),
    ] {
        for takes_places in [false, true] {
            let tool = tool(&json!({ "a": { "type": "string", "description": text } }));
            let mut arguments = Map::from_iter([("a".to_owned(), json!("made up"))]);
            spoken_examples(&tool, &mut arguments, takes_places);
            let expected = if is_place && !takes_places { "made up" } else { example };
            assert_eq!(arguments["a"], expected, "{text}");
        }
    }
}

#[test]
fn a_proven_finding_keeps_its_fingerprint() {
    let found = |text: &str| {
        let rule = crate::scan::find("scan.ssrf").expect("a rule");
        let mut scanner = Scanner::new();
        scanner.note_tried(rule, 3);
        let (kind, item, pointer) = (Kind::Tool, "t".to_owned(), "/inputSchema/properties/url".to_owned());
        let (text, message) = (text.to_owned(), "reached".to_owned());
        scanner.proven("s", &Proven { rule, severity: rule.severity, kind, item, pointer, text, message });
        scanner.finish()
    };
    let scan = found("http://127.1:{port}/{token}");
    assert_eq!(scan.tried["scan.ssrf"], 3);
    assert_eq!(scan.findings[0].fingerprint(), found("http://127.1:{port}/{token}").findings[0].fingerprint());
    assert_ne!(scan.findings[0].fingerprint(), found("http://0:{port}/{token}").findings[0].fingerprint());
}

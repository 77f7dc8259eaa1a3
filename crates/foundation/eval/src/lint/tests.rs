//! What is found in catalogues and cases, and what is not.

use serde_json::{Value, json};

use super::{Check, Lint, Severity, estimate, lint};
use crate::{Catalogue, case};

fn looked(tools: &Value) -> Lint {
    lint(&Catalogue::read(tools).unwrap(), None)
}

fn found(lint: &Lint) -> Vec<(Check, &str, &str)> {
    lint.findings.iter().map(|one| (one.check, one.subject.as_str(), one.pointer.as_str())).collect()
}

fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object", "properties": {} } })
}

fn good() -> Value {
    let city = json!({ "type": "string", "description": "A city, such as Oslo." });
    json!([
        { "name": "get_forecast", "description": "Forecasts the weather of a city for some days.",
          "inputSchema": { "type": "object", "required": ["city"], "properties": { "city": city, "days": { "type": "integer", "default": 1 } } } },
        { "name": "send_mail", "description": "Sends a mail to one recipient.",
          "inputSchema": { "type": "object", "properties": { "recipient": { "type": "string" } } } },
        { "name": "list_files", "description": "Lists the files of a folder, newest first." },
    ])
}

#[test]
fn a_good_catalogue_has_no_findings() {
    let lint = looked(&good());
    assert!(lint.findings.is_empty() && lint.is_compared, "{:?}", lint.findings);
}

#[test]
fn tools_that_say_too_little_are_found() {
    let schema = json!({ "type": "object", "required": ["q"], "properties": {
        "q": { "type": "string" }, "opts": { "type": "object", "properties": { "x": { "type": "integer" } } },
        "list": { "type": "array", "items": { "properties": { "y": {} } } }, "sort": { "enum": ["a"] }, "dry": { "type": "boolean" } } });
    let tools = json!([
        { "name": "find_books", "description": "Finds books of the library.", "inputSchema": schema },
        tool("mail", ""), tool("get_user", "Gets the user."), tool("a.b", "Adds two numbers."),
        tool(&"long_".repeat(9), "Waters the plants of a garden."),
        { "name": "broken", "description": "Repairs what a hammer broke.", "inputSchema": { "type": "object", "properties": 7 } },
    ]);
    let lint = looked(&tools);
    assert_eq!(
        found(&lint),
        [
            (Check::Argument, "find_books", "/q"),
            (Check::Argument, "find_books", "/opts"),
            (Check::Argument, "find_books", "/opts/x"),
            (Check::Argument, "find_books", "/list"),
            (Check::Argument, "find_books", "/list/*/y"),
            (Check::Argument, "find_books", "/dry"),
            (Check::Description, "mail", ""),
            (Check::Description, "get_user", ""),
            (Check::Name, "a.b", ""),
            (Check::Name, &"long_".repeat(9), ""),
            (Check::Schema, "broken", ""),
        ]
    );
    let severities: Vec<_> = lint.findings.iter().map(|one| one.severity).collect();
    assert_eq!(severities[..2], [Severity::Warning, Severity::Note], "only the required one");
}

#[test]
fn tools_that_are_taken_for_each_other_are_found() {
    let text = "Searches the archive for documents that contain all given words.";
    for (one, other, reason) in [
        (tool("search", text), tool("lookup", &text.replace("archive", "store")), "descriptions are nearly the same"),
        (tool("get_user", "Shows a profile."), tool("user-get", "Prints an account."), "names have the same words"),
        (tool("get_user", text), tool("userGet", text), "and their descriptions"),
    ] {
        let lint = looked(&json!([one, other]));
        assert_eq!(found(&lint).len(), 1, "{:?}", lint.findings);
        assert!(
            lint.findings[0].check == Check::Confusable && lint.findings[0].message.contains(reason),
            "{:?}",
            lint.findings
        );
    }
    let others = json!([tool("read_file", "Reads a file as text."), tool("write_file", "Writes a text to a file.")]);
    assert!(looked(&others).findings.is_empty(), "{:?}", looked(&others).findings);
}

#[test]
fn tools_that_a_search_does_not_find_are_named() {
    // Every word of the last tool is said more by the others.
    let mut tools: Vec<Value> = (0..8)
        .map(|n| tool(&format!("invoice_report_{n}x"), &format!("Invoice report invoice report, form {n}y.")))
        .collect();
    let filler =
        "which is kept together with all letters, receipts, ledgers, folders, stamps and keys of every office in town";
    tools.push(tool("invoice", &format!("Report {filler}")));
    let lint = looked(&json!(tools));
    let unfindable: Vec<_> = lint.findings.iter().filter(|one| one.check == Check::Unfindable).collect();
    assert!(unfindable.is_empty(), "its own sentence finds it: {unfindable:?}");
    tools[8] = tool("invoice", "Report.");
    for one in &mut tools[..8] {
        one["title"] = json!("Invoice report");
        one["name"] = json!(format!("invoice_report_{}", one["name"].as_str().unwrap()));
    }
    let lint = looked(&json!(tools));
    let unfindable: Vec<_> =
        lint.findings.iter().filter(|one| one.check == Check::Unfindable).map(|one| one.subject.as_str()).collect();
    assert_eq!(unfindable, ["invoice"], "{:?}", lint.findings);
}

/// Lints one case against the good catalogue: checks, severities and places.
fn of_case(text: &str) -> Vec<(Check, Severity, String)> {
    let file = case::parse(&format!("cases:\n  - {{ name: a, {text} }}\n"), "c.yaml")
        .unwrap_or_else(|errors| panic!("{errors}"));
    let lint = lint(&Catalogue::read(&good()).unwrap(), Some(&file));
    assert!(lint.findings.iter().all(|one| one.line == Some(2)));
    lint.findings.into_iter().map(|one| (one.check, one.severity, one.pointer)).collect()
}

#[test]
fn keys_that_no_answer_can_meet_are_errors() {
    use Check::{Doubtful, Unsatisfiable};
    use Severity::{Error, Warning};
    for (text, check, severity, pointer) in [
        ("call: forecast", Unsatisfiable, Error, ""),
        ("call: get_forecast", Unsatisfiable, Error, "/city"),
        ("call: get_forecast, arguments: { city: Oslo, day: 1 }", Unsatisfiable, Error, "/day"),
        ("call: get_forecast, arguments: { city: 7 }", Unsatisfiable, Error, "/city"),
        ("call: get_forecast, arguments: { city: { anyOf: [7, 8] } }", Unsatisfiable, Error, "/city"),
        ("call: get_forecast, arguments: { city: { anyOf: [7, Oslo] } }", Doubtful, Warning, "/city"),
        ("call: get_forecast, arguments: { city: { absent: true } }", Unsatisfiable, Error, "/city"),
        ("call: get_forecast, arguments: { city: Oslo, days: { optional: x } }", Doubtful, Warning, "/days"),
        ("call: get_forecast, arguments: { city: Oslo, day: { optional: 1 } }", Doubtful, Warning, "/day"),
        ("calls: [{ call: list_files }, { call: forecast, optional: true }]", Doubtful, Warning, ""),
        ("abstain: true, forbid: [delete]", Doubtful, Warning, ""),
    ] {
        assert_eq!(of_case(text), [(check, severity, pointer.to_owned())], "{text}");
    }
    for fine in [
        "call: get_forecast, arguments: { city: Oslo, days: 2 }",
        "call: get_forecast, others: ignore",
        "call: get_forecast, arguments: { city: { matches: '^O' }, day: { absent: true } }",
        "call: get_forecast, arguments: { city: { text: OSLO } }",
        "abstain: true",
    ] {
        assert_eq!(of_case(fine), [], "{fine}");
    }
}

#[test]
fn expectations_that_accept_the_same_call_are_ambiguous() {
    let two = |one: &str, other: &str, order: &str| {
        let call = |arguments: &str| format!("{{ call: get_forecast, arguments: {{ city: {arguments} }} }}");
        of_case(&format!("match: {order}, calls: [{}, {}]", call(one), call(other)))
    };
    let ambiguous = [(Check::Ambiguous, Severity::Warning, String::new())];
    assert_eq!(two("Oslo", "Oslo", "unordered"), ambiguous);
    assert_eq!(two("Oslo", "{ anyOf: [Oslo, Rome] }", "unordered"), ambiguous);
    assert_eq!(two("Oslo", "Rome", "unordered"), []);
    assert_eq!(two("Oslo", "Oslo", "strict"), []);
}

#[test]
fn costs_grow_with_the_catalogue() {
    let lint = looked(&good());
    assert_eq!(lint.costs.iter().map(|cost| cost.family).collect::<Vec<_>>(), ["openai", "anthropic", "gemini"]);
    for cost in &lint.costs {
        assert_eq!((cost.tools.len(), cost.tools[0].0.as_str()), (3, "get_forecast"));
        assert_eq!(cost.tokens, cost.tools.iter().map(|(_, tokens)| tokens).sum::<usize>());
    }
    for (text, tokens) in [
        ("", 0),
        ("forecast", 1),
        ("getForecast", 2),
        ("{\"a\":", 3),
        ("12345", 2),
        ("天気 の", 3),
        ("antidisestablish", 2),
    ] {
        assert_eq!(estimate(text), tokens, "{text}");
    }
}

#[test]
fn large_catalogues_are_not_compared() {
    let tools: Vec<Value> =
        (0..2001).map(|n| tool(&format!("tool{n}x"), "Does one thing with some words that stay the same.")).collect();
    let lint = looked(&json!(tools));
    assert!(!lint.is_compared && lint.findings.iter().all(|one| one.check != Check::Confusable));
}

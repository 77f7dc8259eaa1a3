//! A made-up report in place of servers.

use serde_json::{Value, json};

use super::servers::SERVERS;
use super::table::{Row, page, shortfalls};

fn case(number: usize, verdict: &str) -> Value {
    json!({ "name": format!("t: case {number}"), "primitive": "tool t", "constraint": "a type", "violation": format!("number {number}"), "verdict": verdict })
}

fn report(cases: &[Value], refused: usize) -> Value {
    let accepted = cases.iter().filter(|case| case["verdict"] == "accepted").count();
    json!({ "server": { "version": "1|2" }, "revision": "2025-11-25", "cases": cases,
        "summary": { "played": cases.len(), "refused": refused, "conclusive": 1, "accepted": accepted, "skipped": 0, "left": 0 } })
}

fn rows(cases: &[Value], refused: usize) -> Vec<Row> {
    SERVERS.iter().take(12).map(|server| Row::new(server, &report(cases, refused), 1.0).unwrap()).collect()
}

#[test]
fn what_falls_short_is_told() {
    let many: Vec<Value> = (0..60).map(|number| case(number, "expected")).collect();
    assert_eq!(shortfalls(&rows(&many, 30)), [""; 0]);
    assert!(shortfalls(&rows(&many, 20))[0].contains("expected: 40 %"));
    assert!(shortfalls(&rows(&many[..50], 30))[0].contains("expected: 702"));
    assert!(shortfalls(&rows(&many, 30)[..11])[0].contains("expected: 12"));
    let twice = [many.clone(), many].concat();
    assert!(shortfalls(&rows(&twice, 60))[0].contains("720 cases are about the same"));
}

#[test]
fn the_page_names_what_is_accepted() {
    let cases = [case(1, "expected"), case(2, "accepted"), case(3, "accepted")];
    let page = page(&rows(&cases, 1), "full");
    assert!(page.contains("| everything | `type` | 2 | t: case 2 |") && page.contains("1\\|2"), "{page}");
}

#[test]
fn every_place_is_filled() {
    let home = crate::peers::Home::new(std::path::Path::new("/somewhere"));
    for server in SERVERS {
        let command = home.filled(server.command).join(" ").replace("{folder}", "");
        assert!(!command.contains(['{', '}']), "{command}");
    }
}

#[test]
fn the_arguments_belong_to_servers_and_can_be_read() {
    let folder = crate::root().join("peers/arguments");
    for entry in std::fs::read_dir(folder).expect("there are arguments") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        assert!(SERVERS.iter().any(|server| server.name == name), "{name}");
        let text = std::fs::read_to_string(&path).expect("a file");
        suite::generate::Known::parse(&text).expect("arguments");
    }
}

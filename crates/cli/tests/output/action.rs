//! The GitHub action at the root of the repository: its scripts, and that its documentation names all it has.

use std::fs;

use saphyr_parser::{Event, Parser};

fn file(name: &str) -> String {
    let path = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Every scalar of the action, with the one before it: a key's value, or a key.
fn scalars() -> Vec<(String, String)> {
    let text = file("action.yml");
    let events = Parser::new_from_str(&text).map(|event| event.expect("YAML").0);
    let texts: Vec<String> = events
        .filter_map(|event| if let Event::Scalar(text, ..) = event { Some(text.into_owned()) } else { None })
        .collect();
    texts.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

#[test]
fn no_script_contains_an_expression() {
    let scripts: Vec<_> = scalars().into_iter().filter(|(key, _)| key == "run").map(|(_, script)| script).collect();
    assert!(scripts.len() >= 4, "{scripts:?}");
    for script in scripts {
        assert!(!script.contains("${{"), "{script}");
        assert!(!script.contains("eval "), "{script}");
    }
}

#[test]
fn every_input_is_documented_and_used() {
    let (text, docs) = (file("action.yml"), file("docs/ci.md"));
    let inputs = text.split("\ninputs:\n").nth(1).and_then(|rest| rest.split("\noutputs:\n").next()).expect("inputs");
    let names = inputs.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let names: Vec<_> = names.filter(|name| !name.starts_with(' ')).collect();
    assert!(names.len() >= 9, "{names:?}");
    for name in names {
        assert!(docs.contains(&format!("| `{name}` |")), "docs/ci.md does not name {name}");
        assert!(text.contains(&format!("inputs.{name} ")), "{name} is not used");
    }
}

//! `outputs`: what is read, and what is refused.

use super::{FULL, mentions, settings, upstream};
use crate::settings::{OutputSettings, SchemaMode};

fn file(outputs: &str) -> String {
    format!("{}outputs:{outputs}\n", upstream("command: [x]"))
}

#[test]
fn what_becomes_of_results_is_read() {
    let tools = vec![("legacy_*".to_owned(), SchemaMode::Mark)];
    assert_eq!(settings(FULL).outputs, Some(OutputSettings { schema: SchemaMode::Enforce, tools }));
    assert_eq!(settings(&upstream("command: [x]")).outputs, None);
    let some = settings(&file(" { schema: off, tools: { b: enforce, a: mark } }")).outputs.expect("outputs");
    let names: Vec<_> = some.tools.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((some.schema, names), (SchemaMode::Off, vec!["b", "a"]));
}

#[test]
fn what_becomes_of_results_is_checked() {
    mentions(&file(""), &["`outputs` has no value"]);
    mentions(&file(" {}"), &["`outputs` has no `schema`", "enforce, mark or off"]);
    mentions(&file(" { schema: warn }"), &["`warn` does not say what becomes of a result"]);
    mentions(&file(" { schema: mark, tools: [a] }"), &["`tools` is a list, not a mapping"]);
    mentions(&file(" { schema: mark, tools: { a: false } }"), &["`a` is true or false"]);
}

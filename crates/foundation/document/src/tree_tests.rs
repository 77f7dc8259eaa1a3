//! Trees: what YAML becomes, where everything is said to stand, and that hostile texts come to an end.

use serde_json::json;

use super::super::file_error::{FileError, Position};
use super::{Bounds, read};

fn refused(text: &str) -> FileError {
    read(text).expect_err(text)
}

#[test]
fn everything_has_its_value_and_its_place() {
    let text = "a: &x [1, {b: two}]\n'c d':\n  - *x\n  - |\n    text\n";
    let (tree, errors) = read(text).unwrap();
    assert_eq!(errors, []);
    assert_eq!(tree.to_value(), json!({ "a": [1, { "b": "two" }], "c d": [[1, { "b": "two" }], "text\n"] }));
    let at = |line, column| Position { line, column };
    for (pointer, place) in [
        ("", at(1, 1)),
        ("/a", at(1, 1)),
        ("/a/1/b", at(1, 12)),
        ("/c d", at(2, 1)),
        // A block stands where its text begins.
        ("/c d/1", at(5, 5)),
        ("/c d/1/nothing/here", at(5, 5)),
        ("/nowhere", at(1, 1)),
        // What is aliased stands where it is written.
        ("/c d/0/1/b", at(1, 12)),
    ] {
        assert_eq!(tree.place(pointer), place, "{pointer}");
    }
}

#[test]
fn keys_stand_once() {
    let (tree, errors) = read("a: 1\nb: {c: 1, c: 2}\na: 2\n").unwrap();
    assert_eq!(tree.to_value(), json!({ "a": 1, "b": { "c": 1 } }));
    let places: Vec<_> = errors.iter().map(|error| (error.at.unwrap().line, error.at.unwrap().column)).collect();
    assert_eq!(places, [(2, 11), (3, 1)]);
    assert!(errors[1].remedy.contains("line 1"), "{errors:?}");
}

#[test]
fn what_json_has_not_is_refused_with_its_place() {
    for (text, part, line, column) in [
        ("a: [\n", "no YAML", 2, 1),
        ("a: 1\n b: 2\n", "no YAML", 2, 3),
        ("a: *x\n", "no YAML", 1, 4),
        ("a: .nan\n", "JSON has not", 1, 4),
        ("a: !thing 1\n", "tag", 1, 4),
        ("a: &x [*x]\n", "alias", 1, 8),
        ("x: &x 1\n*x : 2\n", "alias stands for a key", 2, 1),
        ("[1]: 2\n", "key is a list", 1, 1),
        ("a:\n  <<: {}\n", "merge", 2, 3),
        ("a: 1\n---\nb: 2\n", "second document", 2, 1),
    ] {
        let error = refused(text);
        assert!(error.what.contains(part), "{text:?}: {error:?}");
        assert_eq!(error.at, Some(Position { line, column }), "{text:?}: {error:?}");
    }
    assert!(refused("").what.contains("empty"));
    assert!(refused("# nothing\n").what.contains("empty"));
}

#[test]
fn tags_of_the_core_schema_are_heeded() {
    let (tree, _) = read("a: !!str 1\nb: ! 2\nc: !!int 3\nd: !!map {}\n").unwrap();
    assert_eq!(tree.to_value(), json!({ "a": "1", "b": "2", "c": 3, "d": {} }));
}

#[test]
fn a_billion_laughs_are_cut_short() {
    let level = |level: usize| match level {
        0 => "a0: &a0 [ha, ha, ha, ha]\n".to_owned(),
        level => format!("a{level}: &a{level} [{}]\n", format!("*a{}, ", level - 1).repeat(6)),
    };
    let text: String = (0..30).map(level).collect();
    assert!(refused(&text).what.contains("aliases repeat too much"));

    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a, ".repeat(10_000));
    assert!(refused(&long).what.contains("aliases repeat too much"));
}

#[test]
fn depth_is_bounded_with_aliases_too() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(&nested(Bounds::default().depth)).is_ok());
    assert!(read(&nested(Bounds::default().depth + 1)).is_err());
    assert!(read(&"[".repeat(500_000)).is_err());
    assert!(read(&"- ".repeat(500_000)).is_err());
    assert!(read(&"{a: ".repeat(200_000)).is_err());
    let half = nested(Bounds::default().depth / 2);
    assert!(read(&format!("a: &a {half}\nb: {}\n", half.replace("[]", "[*a]"))).is_err());
}

#[test]
fn long_keys_are_refused() {
    assert!(refused(&format!("{}: 1\n", "k".repeat(300))).what.contains("key is longer"));
}

//! Texts with holes: what fills them, and what is no hole.

use serde_json::{Value, json};

use super::{Filled, Pattern, TooLong};

#[track_caller]
fn filled(text: &str, values: &Value) -> String {
    Pattern::parse(text, "arguments").unwrap().fill(values).unwrap()
}

#[test]
fn holes_are_filled() {
    let values = json!({ "city": "Oslo", "days": 3, "no": null, "deep": { "a b": [{ "c": true }] }, "q": "\"" });
    for (text, expected) in [
        ("", ""),
        ("no hole { } }}", "no hole { } }}"),
        ("{{arguments.city}}!", "Oslo!"),
        ("{{ arguments.city | upper }} {{ arguments.city|lower }}", "OSLO oslo"),
        ("{{ arguments.days }}", "3"),
        ("{{ arguments.deep.\"a b\".0.c }}", "true"),
        ("{{ arguments.deep }}", r#"{"a b":[{"c":true}]}"#),
        ("{{ arguments.deep.nowhere.at.all }}", ""),
        ("{{ arguments.no }}", ""),
        ("{{ arguments.no | default(\"x\") }}", "x"),
        ("{{ arguments.none | default('it\\'s') | upper }}", "IT'S"),
        ("{{ arguments.none | default(1.5) }}", "1.5"),
        ("{{ arguments.city | default(\"x\") }}", "Oslo"),
        ("{{ arguments.q | json }}", r#""\"""#),
        ("{{ \"{{\" }} and {{ '}}' }}", "{{ and }}"),
        ("{{ arguments.deep.\"a b\".9 }}{{ arguments.city.0 }}", ""),
    ] {
        assert_eq!(filled(text, &values), expected, "{text}");
    }
}

#[test]
fn what_fills_a_uri_is_encoded() {
    let pattern = Pattern::parse("x://y/{{ arguments.city }}?q", "arguments").unwrap();
    assert_eq!(pattern.fill_uri(&json!({ "city": "São/Paulo 1" })).unwrap(), "x://y/S%C3%A3o%2FPaulo%201?q");
}

#[test]
fn a_hole_alone_keeps_its_type() {
    let value = json!({ "n": "{{ arguments.n }}", "text": "{{ arguments.n }}.", "list": ["{{ arguments.none }}", 1] });
    let filled = Filled::parse(&value, "arguments", &mut |_, wrong| panic!("{wrong:?}"));
    assert_eq!(filled.fixed(), None);
    assert_eq!(filled.fill(&json!({ "n": 7 })).unwrap(), json!({ "n": 7, "text": "7.", "list": [null, 1] }));
    let whole = Filled::parse(&json!("{{ arguments }}"), "arguments", &mut |_, wrong| panic!("{wrong:?}"));
    assert_eq!(whole.fixed(), None);
    assert_eq!(whole.fill(&json!({ "n": 7 })).unwrap(), json!({ "n": 7 }));
    let fixed = Filled::parse(&json!(["{{ 'a' }}"]), "arguments", &mut |_, wrong| panic!("{wrong:?}"));
    assert_eq!(fixed.fixed(), Some(json!(["a"])));
}

#[test]
fn what_cannot_be_read_is_told() {
    for (text, what, remedy) in [
        ("{{ arguments.city", "nothing more", "}}"),
        ("{{ arguments.city }", "`}`", "}}"),
        ("{{ city }}", "`city`", "arguments.NAME"),
        ("{{ }}", "`}}`", "arguments.NAME"),
        ("{{ arguments. }}", "`}}`", "a name after the dot"),
        ("{{ arguments.city | uper }}", "no filter `uper`", "`upper`"),
        ("{{ arguments.city | default }}", "`}}`", "default("),
        ("{{ arguments.city | default(x) }}", "`x) }}`", "quotes"),
        ("{{ arguments.city | default(\"x }}", "does not end", "quotes"),
        ("{{ arguments.city + 1 }}", "`+ 1 }}`", "filter"),
    ] {
        let wrong = Pattern::parse(text, "arguments").unwrap_err();
        assert!(wrong.what.contains(what) && wrong.remedy.contains(remedy), "{text}: {wrong:?}");
    }
    let many = format!("{{{{ arguments{} }}}}", ".a".repeat(100));
    assert!(Pattern::parse(&many, "arguments").is_err());
    assert!(Pattern::parse("{{ variables }}", "variables").is_err());
}

#[test]
fn what_comes_out_is_bounded() {
    let values = json!({ "a": "x".repeat(100_000) });
    let pattern = Pattern::parse(&"{{ arguments.a }}".repeat(100), "arguments").unwrap();
    assert_eq!(pattern.fill(&values), Err(TooLong));
    let list = vec![json!("{{ arguments.a }}"); 100];
    let list = Filled::parse(&Value::Array(list), "arguments", &mut |_, wrong| panic!("{wrong:?}"));
    assert_eq!(list.fill(&values), Err(TooLong));
}

//! Case files: what they may say, and what is wrong with one.

use super::{Order, parse};

fn errors(text: &str) -> String {
    parse(text, "c.yaml").unwrap_err().to_string()
}

#[test]
fn a_file_of_cases_is_read() {
    let file = parse(
        "tools: t.json\nmatch: strict\ncases:\n  - name: one\n    call: f\n    arguments: { a: 1, b: { range: [1, 3] } }\n  \
         - name: several\n    match: in-order\n    forbid: [h]\n    calls:\n      - { call: f, optional: true }\n      \
         - { call: g, others: ignore }\n  - { name: none, abstain: true, skip: later }\n",
        "c.yaml",
    )
    .unwrap();
    assert_eq!((file.tools.as_deref(), file.cases.len()), (Some("t.json"), 3));
    let [one, several, none] = file.cases.as_slice() else { panic!() };
    assert_eq!((one.order, one.at.line, one.expect[0].arguments.len()), (Order::Strict, 4, 2));
    assert_eq!(
        (several.order, several.expect[0].is_optional, several.expect[1].ignores_others),
        (Order::InOrder, true, true)
    );
    assert_eq!((none.expect.len(), none.skip.as_deref()), (0, Some("later")));
}

#[test]
fn errors_have_places_and_remedies() {
    for (text, error) in [
        ("cases: []", "`cases` is empty – c.yaml:1:1"),
        (
            "cases:\n  - { name: a }",
            "this case expects nothing – c.yaml:2:5\n  try: `call`, `calls`, or `abstain: true`",
        ),
        ("cases:\n  - { name: a, call: f, abstain: true }", "this case expects several things – c.yaml:2:5"),
        ("cases:\n  - { name: a, call: f }\n  - { name: a, call: f }", "duplicate case name `a` – c.yaml:3:5"),
        ("cases:\n  - { name: a, cal: f }", "the key `cal` is unknown here – c.yaml:2:16\n  try: `call`"),
        ("cases:\n  - { name: a, call: f, arguments: { x: { rang: 1 } } }", "unknown matcher `rang` – c.yaml:2:43"),
        ("cases:\n  - { name: a, call: f, forbid: [f] }", "`f` is expected and forbidden"),
        ("cases:\n  - { name: a, calls: [{ call: f, optional: true }] }", "every call is optional"),
        ("cases:\n  - { name: a, call: f, match: sorted }", "`match` may not be `sorted`"),
    ] {
        assert!(errors(text).contains(error), "{text}: {}", errors(text));
    }
}

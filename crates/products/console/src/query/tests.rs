//! The filter language: what parses, where an error is, and that no text of a stranger makes it fail.

use proptest::prelude::*;
use wire::{Level, Revision};

use super::term::Bodies;
use super::{Query, complete};
use crate::rows::{Direction, Row, RowKind, Status};

struct Nothing;

impl Bodies for Nothing {
    fn contain(&self, row: &Row, bytes: &[u8]) -> bool {
        &*row.method == "tools/call" && bytes == b"a b"
    }
}

fn row() -> Row {
    let mut row = Row::new(1, 2, RowKind::Call, Direction::Out, 3_000_000);
    row.method = "tools/call".into();
    row.name = "Add numbers".into();
    row.id = "\"x7\"".into();
    row.status = Status::Error;
    row.took = Some(250_000);
    row.size = 2048;
    row.revision = Some(Revision::R2025_11_25);
    row.level = Some(Level::Must);
    row.rules = vec!["tools.names-unique".into()];
    row.parts.push(1);
    row.parts.push(2);
    row
}

fn matches(filter: &str) -> bool {
    let query = Query::parse(filter).unwrap_or_else(|error| panic!("{filter}: {error}"));
    query.matches(12, &row(), &Nothing)
}

#[test]
fn every_term_passes_what_it_names_and_nothing_else() {
    for (yes, no) in [
        ("method:tools/call", "method:tools/cal"),
        ("method:TOOLS/*", "method:prompts/*"),
        ("method:*/c*l", "method:*/c*x"),
        ("method:prompts/get,tools/call", "method:prompts/get"),
        ("tool:\"add numbers\"", "tool:add"),
        ("name:add*", "name:*add"),
        ("id:x7", "id:x"),
        ("status:error", "status:ok,late"),
        ("dir:out", "dir:in"),
        ("kind:call", "kind:note"),
        ("level:must", "level:should"),
        ("finding:*", "finding:prompts.*"),
        ("finding:tools.*", "finding:tools"),
        ("rev:2025-11-25", "rev:2025*06*"),
        ("took>200ms", "took>0.25s"),
        ("took>=0.25s", "took<250ms"),
        ("took<=250000us", "took=1m"),
        ("size>1k", "size>=1M"),
        ("size=2k", "size<2048"),
        ("at>2s", "at>3s"),
        ("parts:2", "parts>2"),
        ("target:1", "target:2"),
        ("session:1..2", "session:3.."),
        ("row:10..20", "row:..11"),
        ("parent:0", "parent:1"),
        ("NUMBERS", "numbrs"),
        ("\"add n\"", "\"add  n\""),
        ("body:\"a b\"", "body:b"),
        ("status:error took>200ms", "status:error took>1s"),
        ("status:ok | took>200ms", "status:ok | took>1s"),
        ("-status:ok", "-status:error"),
        ("--status:error", "!status:error"),
        ("(status:ok | kind:call) dir:out", "-(status:ok | kind:call)"),
        ("", "-()"),
    ] {
        assert!(matches(yes), "{yes}");
        assert!(!matches(no), "{no}");
    }
}

#[test]
fn a_row_without_an_answer_has_no_time_to_compare() {
    let mut row = row();
    row.took = None;
    for filter in ["took>0", "took<99s"] {
        assert!(!Query::parse(filter).expect("a filter").matches(1, &row, &Nothing), "{filter}");
    }
}

#[test]
fn an_error_says_where_it_is() {
    for (filter, at) in [
        ("status:wrong", 7),
        ("dir:out status:ok,bad", 18),
        ("meth:x", 0),
        ("took>", 5),
        ("took>5parsecs", 5),
        ("took", usize::MAX),
        ("name:", 5),
        ("(status:ok", 10),
        ("status:ok)", 9),
        ("a \"b", 2),
        ("row:x", 4),
        ("method>3", 6),
        (&"(".repeat(40), 33),
        (&"a".repeat(5000), 0),
    ] {
        match Query::parse(filter) {
            Ok(_) => assert_eq!(at, usize::MAX, "{filter}"),
            Err(error) => assert_eq!((error.at, error.remedy.is_empty()), (at, false), "{filter}: {error}"),
        }
    }
}

#[test]
fn a_filter_has_a_limit_of_terms_and_values() {
    let terms = |count: usize, term: &str| vec![term; count].join(" ");
    let values = |count: usize| format!("name:{}", vec!["a"; count].join(","));
    for (fits, too_long, what) in [
        (terms(64, "a"), terms(65, "a"), "64 terms"),
        (values(64), values(65), "64 terms"),
        (format!("(kind:call,note | {})", terms(62, "-a")), format!("(kind:call,note | {})", terms(63, "-a")), "64"),
        (terms(4, "body:x"), terms(5, "body:x"), "4 terms `body:`"),
    ] {
        assert!(Query::parse(&fits).is_ok(), "{fits}");
        let error = Query::parse(&too_long).expect_err("it is too long");
        assert!(error.what.contains(what) && !error.remedy.is_empty(), "{error}");
    }
    assert_eq!(Query::parse("a -(b | kind:call,note) body:x").map(|query| query.cost()), Ok(5));
}

fn completed(text: &str, at: usize) -> Vec<String> {
    let values = |column: &str| match column {
        "method" => vec!["tools/call".to_owned(), "tools/list".to_owned(), "ping".to_owned()],
        "tool" => vec!["add numbers".to_owned(), "a\"b".to_owned()],
        _ => vec!["x*".to_owned()],
    };
    let completion = complete(text, at, values);
    let replaced =
        |item: &super::Suggestion| format!("{}{}{}", &text[..completion.from], item.text, &text[completion.to..]);
    completion.items.iter().map(replaced).collect()
}

#[test]
fn names_and_values_are_completed_in_place() {
    assert_eq!(completed("sta", 3), ["status:"]);
    assert_eq!(completed("dir:in -(me", 11), ["dir:in -(method:", "dir:in -(name:"]);
    assert_eq!(completed("method:tools/ x", 13), ["method:tools/call x", "method:tools/list x"]);
    assert_eq!(completed("status:ok,la", 12), ["status:ok,late"]);
    assert_eq!(completed("tool:", 5), ["tool:\"add numbers\"", "tool:\"a\\\"b\""]);
    assert_eq!(completed("rev:", 4), ["rev:\"x*\""]);
    assert_eq!(completed("", 0).len(), 19);
    assert_eq!(completed("ä:", 1), completed("", 0).iter().map(|name| format!("{name}ä:")).collect::<Vec<_>>());
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,60}", at in 0_usize..80) {
        if let Ok(query) = Query::parse(&text) {
            query.matches(1, &row(), &Nothing);
        }
        complete(&text, at, |_| vec!["a b".to_owned()]);
    }

    #[test]
    fn what_looks_like_a_filter_does_not_panic_either(
        text in "((-|!|\\(|\\)| |\\||,|\\*|\"|\\\\|:|>|<=|name|took|row|status|ok|1|\\.\\.|k|ms){0,30})"
    ) {
        if let Err(error) = Query::parse(&text) {
            prop_assert!(error.at <= text.len() && text.is_char_boundary(error.at));
        }
    }

    #[test]
    fn a_negation_is_the_opposite(text in "(name:[a-z*]{1,5}|status:ok|took>[0-9]{1,3}ms|kind:call)( [a-z]{1,4})?") {
        let query = Query::parse(&text).expect("a filter");
        let negated = Query::parse(&format!("-({text})")).expect("a filter");
        prop_assert_ne!(query.matches(1, &row(), &Nothing), negated.matches(1, &row(), &Nothing));
    }

    #[test]
    fn a_completion_makes_a_filter_that_reads(text in "[a-z ]{0,8}") {
        for filter in completed(&text, text.len()).into_iter().filter(|filter| !filter.ends_with([':', '>'])) {
            prop_assert!(Query::parse(&filter).is_ok(), "{}", filter);
        }
    }
}

//! Each escaper against the reader of its format, on what a peer might send.

use proptest::prelude::*;
use saphyr_parser::{Event, Parser};

use super::{code, fenced, plain, tap, xml, yaml};
use crate::render::junit;

const HOSTILE: [&str; 13] = [
    "",
    "plain",
    "]]></failure><testcase name=\"x\"/>",
    "</script><img src=x onerror='alert(1)'> &amp; &#0;",
    "\u{0}\u{1b}[31m\u{7f}\u{85}\r\n\t",
    "\u{202e}gnp.exe\u{2066}\u{feff}\u{e0001}",
    "\u{fffe}\u{ffff}\u{10ffff}\u{1fffe}",
    "` `` ``` ```text",
    "a\n```\n<b>\n````\n  `````",
    "# TODO \\# SKIP \\",
    "---\n...\n- a: {b: [c]}\nkey: *alias",
    "[a](javascript:x) @team #1 <!-- | --> ![i](x)",
    "日本語 ö \\u0041 \"quoted\"",
];

/// What an XML reader makes of an attribute and of a text.
fn read_xml(attribute: &str, text: &str) -> (String, String) {
    let document = format!("<a b=\"{attribute}\">{text}</a>");
    let document = roxmltree::Document::parse(&document).unwrap_or_else(|error| panic!("{error}: {document}"));
    let root = document.root_element();
    (root.attribute("b").unwrap_or_default().to_owned(), root.text().unwrap_or_default().to_owned())
}

/// What an XML reader makes of a JUnit case: its name, its failure's message, and the text below.
fn read_junit(text: &str) -> (String, String, String) {
    let status = junit::broken(quick_junit::NonSuccessKind::Failure, text, text, text);
    let mut suite = quick_junit::TestSuite::new(junit::line(text));
    suite.add_test_case(junit::case(text, text, std::time::Duration::ZERO, status));
    let mut report = quick_junit::Report::new("a report");
    report.add_test_suite(suite);
    let document = junit::document(&report);
    let document = roxmltree::Document::parse(&document).unwrap_or_else(|error| panic!("{error}: {document}"));
    let node = |name: &str| document.descendants().find(|node| node.has_tag_name(name)).expect("an element");
    let attribute = |element, name| node(element).attribute(name).unwrap_or_default().to_owned();
    let below = node("failure").text().unwrap_or_default().to_owned();
    (attribute("testcase", "name"), attribute("failure", "message"), below)
}

/// What a YAML reader makes of a value.
fn read_yaml(value: &str) -> Vec<String> {
    let document = format!("---\na: {value}\nb: end\n...\n");
    let events = Parser::new_from_str(&document).map(|event| event.unwrap_or_else(|e| panic!("{e}: {document}")).0);
    let scalars =
        events.filter_map(|event| if let Event::Scalar(text, ..) = event { Some(text.into_owned()) } else { None });
    scalars.collect()
}

fn check(text: &str) {
    let wanted = plain(text).into_owned();
    assert_eq!(wanted.lines().count(), usize::from(!wanted.is_empty()), "one line");
    assert!(!wanted.contains(char::is_control), "{wanted:?}");
    assert_eq!(read_xml(&xml(text), &xml(text)), (wanted.clone(), wanted.clone()));
    let lines: Vec<_> = text.lines().map(|line| plain(line).into_owned()).collect();
    assert_eq!(read_junit(text), (wanted.clone(), wanted.clone(), lines.join("\n")));
    assert_eq!(read_yaml(&yaml(text)), ["a", &wanted, "b", "end"]);
    assert_eq!(read_tap(&tap(text)), wanted);
    assert_eq!(read_code(&code(text)), wanted);
    assert_eq!(read_fenced(&fenced(text, 2)), lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>());
}

/// A description as TAP 14 has it: a backslash before `#` and before itself; a bare `#` is a directive.
fn read_tap(text: &str) -> String {
    let (mut out, mut chars) = (String::new(), text.chars());
    while let Some(c) = chars.next() {
        assert_ne!(c, '#', "a directive in {text:?}");
        out.push(if c == '\\' { chars.next().expect("an escaped character") } else { c });
    }
    out
}

/// A code span as CommonMark has it: ends at the first run of just as many backticks, less a blank at each end.
fn read_code(text: &str) -> String {
    let fence = text.chars().take_while(|c| *c == '`').count();
    let runs = text.split(|c| c != '`').filter(|run| run.len() == fence).count();
    assert!(text.is_empty() || runs == 2, "{text:?}");
    let inside = text.get(fence..text.len() - fence).unwrap_or_default();
    if inside.trim_matches(' ').is_empty() && inside.len() > 2 {
        // Nothing but blanks: all of them stay, which shows no more than blanks.
        return inside[1..inside.len() - 1].to_owned();
    }
    inside.strip_prefix(' ').and_then(|rest| rest.strip_suffix(' ')).unwrap_or_default().to_owned()
}

/// A fenced block as CommonMark has it: ends at the first line of at least as many backticks.
fn read_fenced(text: &str) -> Vec<&str> {
    let mut lines = text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
    let opening = lines.next().unwrap_or_default();
    let fence = opening.strip_suffix("text").expect("an opening fence");
    let inside: Vec<_> = lines.by_ref().take_while(|line| !line.trim().starts_with(fence)).collect();
    assert_eq!(lines.next(), None, "closed too early: {text}");
    inside
}

#[test]
fn what_was_sent_is_read_back() {
    for text in HOSTILE {
        check(text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_was_sent_is_read_back(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn markup_is_read_back(text in "[`#\\\\<>&\"'|\\]\\[(){}\n :-]{0,40}") {
        check(&text);
    }
}

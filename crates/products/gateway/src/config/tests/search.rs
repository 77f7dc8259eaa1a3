//! `search`: what is read, and what is refused.

use super::{FULL, mentions, settings, upstream};
use crate::settings::SearchSettings;

fn file(search: &str) -> String {
    format!("{}search:{search}\n", upstream("command: [x]"))
}

#[test]
fn when_tools_are_searched_is_read() {
    let keep = vec!["read_*".to_owned()];
    assert_eq!(settings(FULL).search, Some(SearchSettings { above: 40, results: 8, keep }));
    assert_eq!(settings(&upstream("command: [x]")).search, None);
    let some = settings(&file(" { above: 1 }")).search;
    assert_eq!(some, Some(SearchSettings { above: 1, results: 5, keep: Vec::new() }));
}

#[test]
fn when_tools_are_searched_is_checked() {
    mentions(&file(""), &["`search` has no value"]);
    mentions(&file(" {}"), &["`search` has no `above`", "above: 40"]);
    mentions(&file(" { above: 0 }"), &["`above` is not a whole number from 1 to 10000"]);
    mentions(&file(" { above: 5, results: 51 }"), &["`results` is not a whole number from 1 to 50"]);
    mentions(&file(" { above: 5, keep: [] }"), &["`keep` is empty"]);
}

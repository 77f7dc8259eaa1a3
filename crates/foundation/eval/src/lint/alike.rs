//! Tools that are taken for each other, and tools that a search does not find.

use std::collections::HashMap;

use rank::Index;
use serde_json::{Value, json};

use super::{Check, Finding, Severity};
use crate::Catalogue;
use crate::catalogue::Tool;

/// How many tools are compared with each other.
const MOST_TOOLS: usize = 2000;
/// The fewest words of descriptions that are compared.
const FEWEST_WORDS: usize = 6;
/// The share of words that make a copy, in tenths.
const COPIED: usize = 8;
/// A tool that is not among so many first is not found.
const FOUND: usize = 5;
/// How many sentences of a description are searched for, and how long each may be in characters.
const MOST_SENTENCES: usize = 5;
const LONGEST_SENTENCE: usize = 400;

/// The tools as an index takes them.
pub(crate) fn index(catalogue: &Catalogue) -> Index {
    let tools: Vec<Value> = catalogue.tools().iter().map(as_listed).collect();
    Index::new(&tools)
}

fn as_listed(tool: &Tool) -> Value {
    json!({ "name": tool.name, "title": tool.title, "description": tool.description, "inputSchema": tool.schema })
}

/// Compares the tools; `false` where there are too many.
pub(super) fn check(catalogue: &Catalogue, findings: &mut Vec<Finding>) -> bool {
    let tools = catalogue.tools();
    if tools.len() > MOST_TOOLS {
        return false;
    }
    let index = index(catalogue);
    copies(tools, findings);
    for number in 0..tools.len() {
        searched(tools, number, &index, findings);
    }
    true
}

/// Tools whose names have the same words, or whose descriptions are copies.
fn copies(tools: &[Tool], findings: &mut Vec<Finding>) {
    let sorted = |text: &str| {
        let mut words = rank::words(text);
        words.sort_unstable();
        words.dedup();
        words
    };
    let words: Vec<(Vec<String>, Vec<String>)> =
        tools.iter().map(|tool| (sorted(&tool.name), sorted(&tool.description))).collect();
    for (later, (name, description)) in words.iter().enumerate() {
        for (earlier, (other_name, other_description)) in words[..later].iter().enumerate() {
            let has_same_name = !name.is_empty() && name == other_name;
            let message = match (has_same_name, is_copy(description, other_description)) {
                (true, true) => "their names have the same words, and their descriptions are nearly the same",
                (true, false) => "their names have the same words",
                (false, true) => "their descriptions are nearly the same",
                (false, false) => continue,
            };
            let other = crate::shown_name(&tools[earlier].name);
            let message = format!("easily taken for `{other}`: {message}");
            findings.push(confusable(&tools[later], message));
        }
    }
}

fn confusable(tool: &Tool, message: String) -> Finding {
    let remedy = "say in both descriptions when to use which, or merge the tools";
    let (check, severity, subject) = (Check::Confusable, Severity::Warning, tool.name.clone());
    Finding { check, severity, subject, line: None, pointer: String::new(), message, remedy }
}

fn is_copy(one: &[String], other: &[String]) -> bool {
    let common = one.iter().filter(|word| other.binary_search(word).is_ok()).count();
    one.len().min(other.len()) >= FEWEST_WORDS && common * 10 >= one.len().max(other.len()) * COPIED
}

/// Searches for what a tool says of itself: its name, its title, its first sentences.
fn searched(tools: &[Tool], number: usize, index: &Index, findings: &mut Vec<Finding>) {
    let tool = &tools[number];
    let sentences: Vec<&str> = sentences(&tool.description).take(MOST_SENTENCES).collect();
    let texts = [tool.name.as_str(), &tool.title].into_iter().chain(sentences.iter().copied());
    let texts: Vec<&str> = texts.filter(|text| !rank::words(text).is_empty()).collect();
    if texts.is_empty() {
        return;
    }
    let mut ahead: HashMap<usize, usize> = HashMap::new();
    let mut best = usize::MAX;
    for text in &texts {
        let scores = index.scores(text);
        let own = scores.iter().find(|(other, _)| *other == number).map_or(0.0, |(_, score)| *score);
        // Tools that fit as well are no better.
        let before: Vec<usize> = scores.iter().filter(|(_, score)| *score > own).map(|(other, _)| *other).collect();
        best = best.min(before.len());
        for other in before {
            *ahead.entry(other).or_default() += 1;
        }
    }
    if best >= FOUND {
        let message = format!("a search for its own name and sentences finds at least {best} other tools first");
        let remedy = "the words in which users ask for it, in the description";
        let (check, severity, subject) = (Check::Unfindable, Severity::Warning, tool.name.clone());
        findings.push(Finding { check, severity, subject, line: None, pointer: String::new(), message, remedy });
        return;
    }
    let mut ahead: Vec<(usize, usize)> =
        ahead.into_iter().filter(|(_, lost)| *lost >= 2 && lost * 2 > texts.len()).collect();
    ahead.sort_unstable_by_key(|(other, lost)| (std::cmp::Reverse(*lost), *other));
    if let Some((other, lost)) = ahead.first() {
        let name = crate::shown_name(&tools[*other].name);
        let message = format!("{lost} of {} searches for its own words find `{name}` first", texts.len());
        findings.push(confusable(tool, message));
    }
}

/// The sentences of a text, shortened.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split_inclusive(['\n', '.', '!', '?', ';']);
    parts.map(str::trim).filter(|part| !part.is_empty()).map(|part| {
        let end = part.char_indices().nth(LONGEST_SENTENCE).map_or(part.len(), |(at, _)| at);
        &part[..end]
    })
}

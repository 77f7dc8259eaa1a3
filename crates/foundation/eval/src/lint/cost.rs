//! What a catalogue costs in tokens, estimated from the text that each family of clients sends: there are no vocabularies here.

use serde_json::json;

use crate::Catalogue;
use crate::catalogue::Tool;
use crate::export::{Api, export};

/// How many letters, digits and signs in a row are about one token.
const LETTERS: usize = 12;
const DIGITS: usize = 3;
const SIGNS: usize = 4;

/// The families of clients.
pub const FAMILIES: [(&str, Api); 3] =
    [("openai", Api::OpenAi), ("anthropic", Api::Anthropic), ("gemini", Api::Gemini)];

/// What the catalogue costs one family of clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The family.
    pub family: &'static str,
    /// The estimated tokens of the whole list.
    pub tokens: usize,
    /// The estimated tokens of each tool, most first.
    pub tools: Vec<(String, usize)>,
}

/// What the tools cost each family.
pub(super) fn costs(catalogue: &Catalogue) -> Vec<Cost> {
    let cost = |(family, api): &(&'static str, Api)| {
        let exported = export(catalogue, *api, false);
        let mut tools: Vec<(String, usize)> =
            exported.tools.iter().map(|tool| (tool.original.clone(), estimate(&tool.definition.to_string()))).collect();
        let tokens = tools.iter().map(|(_, tokens)| tokens).sum();
        tools.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
        Cost { family, tokens, tools }
    };
    FAMILIES.iter().map(cost).collect()
}

/// About how many tokens one tool has in a list.
pub(crate) fn cost_of(tool: &Tool) -> usize {
    let listed = json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
    estimate(&listed.to_string())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Wide,
    Digit,
    Sign,
    Space,
}

/// About how many tokens a text has: one for every twelve letters of a word, three digits or four signs in a row; letters
/// outside Latin scripts count one each.
pub fn estimate(text: &str) -> usize {
    let (mut tokens, mut class, mut length, mut before) = (0, Class::Space, 0_usize, ' ');
    let ended = |class: Class, length: usize| match class {
        Class::Letter => length.div_ceil(LETTERS),
        Class::Digit => length.div_ceil(DIGITS),
        Class::Sign => length.div_ceil(SIGNS),
        Class::Wide => length,
        Class::Space => 0,
    };
    for c in text.chars() {
        let next = class_of(c);
        let is_new_word = next == Class::Letter && before.is_lowercase() && c.is_uppercase();
        if next != class || is_new_word {
            tokens += ended(class, length);
            (class, length) = (next, 0);
        }
        length += 1;
        before = c;
    }
    tokens + ended(class, length)
}

fn class_of(c: char) -> Class {
    match c {
        c if c.is_whitespace() => Class::Space,
        c if c.is_ascii_digit() => Class::Digit,
        c if c.is_alphabetic() && u32::from(c) < 0x250 => Class::Letter,
        c if c.is_alphanumeric() => Class::Wide,
        _ => Class::Sign,
    }
}

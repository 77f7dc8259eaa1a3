//! What a model did with the tools that it was offered: one [`Sample`] for each answer to a case.

use serde_json::{Map, Value};
use wire::json::duplicate_name;

/// How many remarks a sample keeps: a broken stream may give one for every event.
const MOST_NOTES: usize = 50;

/// One call of a tool, wherever it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The identifier that the answer to the call would carry.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// Its arguments; empty where they could not be read.
    pub arguments: Map<String, Value>,
    /// The step of the conversation, from 0: calls of one step were made before any of them was answered.
    pub turn: usize,
    /// Which call of the sample it is, from 0.
    pub order: usize,
    /// Whether the arguments could be read.
    pub parse: Parse,
}

/// Whether the arguments of a call could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parse {
    /// They are a JSON object.
    Parsed,
    /// There were none.
    Empty,
    /// They are no JSON object: why.
    Malformed(String),
    /// They end in the middle.
    Truncated,
}

impl Parse {
    /// Whether a client could have made the call.
    pub const fn is_usable(&self) -> bool {
        matches!(self, Self::Parsed | Self::Empty)
    }
}

/// What a model answered to one case, once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// The case, where the source names it.
    pub case: Option<String>,
    /// Its calls, in order.
    pub calls: Vec<ToolCall>,
    /// What it wrote for people; at most [`Self::MOST_TEXT`] bytes are kept.
    pub text: String,
    /// Whether it refused to answer.
    pub is_refusal: bool,
    /// Why there is no complete answer: an error of the endpoint, or a stream that broke off.
    pub broken: Option<String>,
    /// Whether more would have followed: it broke off, or reached the limit of tokens. That it calls nothing shows nothing then.
    pub is_partial: bool,
    /// What was odd about the source and did not keep it from being read.
    pub notes: Vec<String>,
}

impl Sample {
    /// How much text of an answer is kept, in bytes.
    pub const MOST_TEXT: usize = 256 << 10;

    /// Keeps a remark, unless there are very many.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if self.notes.len() < MOST_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Appends what was written for people, up to the limit.
    pub(crate) fn write(&mut self, text: &str) {
        let room = Self::MOST_TEXT.saturating_sub(self.text.len());
        let end = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        self.text.push_str(&text[..end]);
    }
}

/// Reads the text of arguments.
pub(crate) fn arguments(text: &str) -> (Map<String, Value>, Parse) {
    let text = text.trim_ascii();
    if text.is_empty() || text == "null" {
        return (Map::new(), Parse::Empty);
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => match duplicate_name(text) {
            None => (members, Parse::Parsed),
            Some(_) => malformed("a name stands twice in the same object"),
        },
        Ok(Value::String(_)) => malformed("a text, not an object: encoded twice?"),
        Ok(_) => malformed("JSON, but not an object"),
        Err(error) if error.is_eof() => (Map::new(), Parse::Truncated),
        // Some servers send `{}` first, as a placeholder, and then the arguments.
        Err(_) if text.starts_with("{}") => match serde_json::from_str(&text[2..]) {
            Ok(Value::Object(members)) => (members, Parse::Parsed),
            _ => malformed("not JSON"),
        },
        Err(_) if !text.starts_with('{') && text.contains('{') => malformed("text before the JSON"),
        Err(error) => malformed(&format!("not JSON: column {}", error.column())),
    }
}

/// Reads arguments that are a value already, or a text that holds one.
pub(crate) fn arguments_of(value: Option<&Value>) -> (Map<String, Value>, Parse) {
    match value {
        None | Some(Value::Null) => (Map::new(), Parse::Empty),
        Some(Value::Object(members)) => (members.clone(), Parse::Parsed),
        Some(Value::String(text)) => arguments(text),
        Some(_) => malformed("JSON, but not an object"),
    }
}

fn malformed(why: &str) -> (Map<String, Value>, Parse) {
    (Map::new(), Parse::Malformed(why.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_told_apart() {
        let parse = |text| arguments(text).1;
        assert_eq!(parse(r#" {"a": 1} "#), Parse::Parsed);
        assert_eq!((parse(""), parse(" \n"), parse("null")), (Parse::Empty, Parse::Empty, Parse::Empty));
        assert_eq!((parse(r#"{"a": "#), parse(r#"{"a": "b"#)), (Parse::Truncated, Parse::Truncated));
        for text in
            ["[1]", "7", r#""{\"a\":1}""#, r#"Sure: {"a": 1}"#, "{'a': 1}", r#"{"a": 1, "a": 2}"#, r#"{"a": 1}}"#]
        {
            assert!(matches!(parse(text), Parse::Malformed(_)), "{text}: {:?}", parse(text));
        }
        let (members, parse) = arguments(r#"{}{"a": 1}"#);
        assert_eq!((members["a"].as_i64(), parse), (Some(1), Parse::Parsed));
        assert_eq!(arguments("{}"), (Map::new(), Parse::Parsed));
    }

    #[test]
    fn deep_arguments_are_malformed_and_harmless() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(9000), "]".repeat(9000));
        assert!(matches!(arguments(&deep).1, Parse::Malformed(_)));
    }

    #[test]
    fn text_is_cut_at_a_character() {
        let mut sample = Sample::default();
        sample.write(&"x".repeat(Sample::MOST_TEXT - 1));
        sample.write("ü");
        assert_eq!(sample.text.len(), Sample::MOST_TEXT - 1);
    }
}

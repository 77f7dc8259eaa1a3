//! Edits of a JSON text that leave every other byte as it came: spelling of numbers, order, white space, unknown members.
//! Must not know what a member means.

use std::ops::Range;

use crate::json::{self, Member, Outline, write_string};

/// Edits of one text, applied together by [`Splice::finish`].
#[derive(Debug)]
pub struct Splice<'t> {
    text: &'t str,
    /// Ranges of the text that do not overlap, and what replaces them.
    edits: Vec<(Range<usize>, String)>,
}

/// A member to add: its name, and its value as JSON text.
pub type Addition<'a> = (&'a str, String);

impl<'t> Splice<'t> {
    /// No edits yet.
    pub const fn new(text: &'t str) -> Self {
        Self { text, edits: Vec::new() }
    }

    /// The text before the edits.
    pub const fn text(&self) -> &'t str {
        self.text
    }

    /// Replaces what is at `span`.
    pub fn replace(&mut self, span: Range<usize>, with: impl Into<String>) {
        self.edits.push((span, with.into()));
    }

    /// Edits the object at `span`, whose members are `members`: drops those of which `keep` says so by their name, escapes
    /// resolved, and adds `additions` in front of the others.
    pub fn object(
        &mut self,
        span: &Range<usize>,
        members: &[Member],
        keep: impl Fn(&str) -> bool,
        additions: &[Addition<'_>],
    ) {
        let kept: Vec<bool> = members.iter().map(|m| keep(&json::unquote(&self.text[m.name.clone()]))).collect();
        let mut before = false;
        for (index, member) in members.iter().enumerate() {
            if kept[index] {
                before = true;
            } else if before {
                // With the comma before it.
                let from = members[index - 1].value.end;
                self.edits.push((from..member.value.end, String::new()));
            } else {
                let to = members.get(index + 1).map_or(member.value.end, |next| next.name.start);
                self.edits.push((member.name.start..to, String::new()));
            }
        }
        if !additions.is_empty() {
            let more = if kept.contains(&true) { "," } else { "" };
            let at = span.start + 1;
            self.edits.push((at..at, written("", additions, more)));
        }
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The edited text.
    pub fn finish(mut self) -> String {
        // Stable: at one place, what was asked for first stands first.
        self.edits.sort_by_key(|(span, _)| (span.start, span.end));
        let added: usize = self.edits.iter().map(|(_, with)| with.len()).sum();
        let mut out = String::with_capacity(self.text.len() + added);
        let mut from = 0;
        for (span, with) in &self.edits {
            out.push_str(self.text.get(from..span.start).unwrap_or_default());
            out.push_str(with);
            from = from.max(span.end);
        }
        out.push_str(&self.text[from..]);
        out
    }
}

/// The object with these members.
pub(crate) fn object(members: &[Addition<'_>]) -> String {
    written("{", members, "}")
}

/// The members one after the other, between `before` and `after`.
fn written(before: &str, members: &[Addition<'_>], after: &str) -> String {
    let length: usize = members.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    let mut out = Vec::with_capacity(length + before.len() + after.len());
    out.extend_from_slice(before.as_bytes());
    for (index, (name, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(&mut out, name);
        out.push(b':');
        out.extend_from_slice(value.as_bytes());
    }
    out.extend_from_slice(after.as_bytes());
    String::from_utf8(out).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
}

/// The members of the object that `text` is; `None` for anything else. Each member names its own members, where it is an
/// object.
pub fn members(text: &str) -> Option<Vec<Member>> {
    match json::outline(text) {
        Ok(Outline::Object(members)) => Some(members),
        _ => None,
    }
}

/// The last of `members` with this name, as readers of JSON take it.
pub fn member<'m>(text: &str, members: &'m [Member], name: &str) -> Option<&'m Member> {
    members.iter().rev().find(|member| json::says(&text[member.name.clone()], name))
}

/// The members of the object at `span` of `text`, with spans of `text`.
pub fn members_at(text: &str, span: &Range<usize>) -> Option<Vec<Member>> {
    let shift = |range: Range<usize>| range.start + span.start..range.end + span.start;
    let mut found = members(&text[span.clone()])?;
    for member in &mut found {
        member.name = shift(member.name.clone());
        member.value = shift(member.value.clone());
        for inner in &mut member.members {
            inner.name = shift(inner.name.clone());
            inner.value = shift(inner.value.clone());
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::{Splice, members};

    fn edited(text: &str, drop: &[&str], additions: &[(&str, String)]) -> String {
        let members = members(text).expect("an object");
        let mut splice = Splice::new(text);
        let start = text.find('{').unwrap_or_default();
        splice.object(&(start..text.len()), &members, |name| !drop.contains(&name), additions);
        splice.finish()
    }

    #[test]
    fn the_rest_stays_byte_for_byte() {
        let text = r#"{ "a" : 1.50, "b":[1 ,2], "c" : "\u0041" }"#;
        assert_eq!(edited(text, &["b"], &[]), r#"{ "a" : 1.50, "c" : "\u0041" }"#);
        assert_eq!(edited(text, &["a"], &[]), r#"{ "b":[1 ,2], "c" : "\u0041" }"#);
        assert_eq!(edited(text, &["c"], &[]), r#"{ "a" : 1.50, "b":[1 ,2] }"#);
        assert_eq!(edited(text, &["a", "b", "c"], &[]), "{  }");
        assert_eq!(edited(text, &[], &[("x", "0".to_owned())]), format!("{{\"x\":0,{}", &text[1..]));
        assert_eq!(edited("{}", &[], &[("x", "0".to_owned())]), r#"{"x":0}"#);
    }

    proptest! {
        #[test]
        fn members_go_and_come(names in prop::collection::vec("[a-f]", 0..6), drop in prop::collection::vec("[a-f]", 0..4)) {
            let mut object = Map::new();
            for (index, name) in names.iter().enumerate() {
                object.insert(name.clone(), json!({ "n": index }));
            }
            let drop: Vec<&str> = drop.iter().map(String::as_str).collect();
            let text = Value::Object(object.clone()).to_string();
            let result = edited(&text, &drop, &[("x", "[]".to_owned()), ("y", "1".to_owned())]);
            object.retain(|name, _| !drop.contains(&name.as_str()));
            object.insert("x".to_owned(), json!([]));
            object.insert("y".to_owned(), json!(1));
            let read: Value = serde_json::from_str(&result).map_err(|why| TestCaseError::fail(format!("{result}: {why}")))?;
            prop_assert_eq!(read, Value::Object(object));
        }
    }
}

//! Drops records of other tenants from a JSON text: an object that names another tenant in one of the configured members.
//! Must not know what a record is for.

use std::ops::Range;

use guard::invisible::alike;
use wire::json::{Token, Tokens, unquote};

/// Who may see what: members that name a tenant, and the client's own tenant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tenant<'t> {
    pub(super) fields: &'t [String],
    /// None where the token names no tenant: then every record that names one is another's.
    pub(super) own: Option<&'t str>,
}

impl Tenant<'_> {
    /// Whether a member of this name names a tenant: another spelling of the same name does, for some reader of JSON.
    pub(super) fn is_named_by(&self, name: &str) -> bool {
        self.fields.iter().any(|field| alike(field, name))
    }

    /// Whether the value of such a member is another tenant.
    pub(super) fn is_another(&self, kind: Token, raw: &str) -> bool {
        let named = if kind == Token::String { unquote(raw) } else { raw.into() };
        !matches!(kind, Token::String | Token::Number) || self.own != Some(&*named)
    }
}

/// What became of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Filtered {
    /// It has no record of another tenant.
    Same,
    /// The text without them, and how many there were.
    Changed(String, usize),
    /// The text as a whole is one.
    Foreign,
}

/// An object or array that is being read.
struct Frame {
    start: usize,
    is_object: bool,
    /// It names another tenant.
    is_foreign: bool,
    /// The member whose value comes next names a tenant.
    names_tenant: bool,
    /// Of an array: its items, and whether each goes.
    items: Vec<(Range<usize>, bool)>,
    /// How many edits there were before it.
    edits: usize,
}

/// The text without records of other tenants. A text that is no JSON stays as it is.
pub(super) fn filtered(text: &str, tenant: &Tenant<'_>) -> Filtered {
    let mut reader = Reader { text, tenant, frames: Vec::new(), edits: Vec::new(), dropped: 0 };
    let mut tokens = Tokens::new(text);
    loop {
        match tokens.next_token() {
            Ok(Some((token, at))) => {
                if reader.take(token, at) {
                    return Filtered::Foreign;
                }
            }
            Ok(None) if reader.dropped == 0 => return Filtered::Same,
            Ok(None) => return Filtered::Changed(reader.finish(), reader.dropped),
            Err(_) => return Filtered::Same,
        }
    }
}

/// What was read of a text so far.
struct Reader<'r> {
    text: &'r str,
    tenant: &'r Tenant<'r>,
    frames: Vec<Frame>,
    edits: Vec<(Range<usize>, &'static str)>,
    dropped: usize,
}

impl Reader<'_> {
    /// Takes the next token; says whether the text as a whole is another tenant's.
    fn take(&mut self, token: Token, at: Range<usize>) -> bool {
        match token {
            Token::Name => {
                if let Some(frame) = self.frames.last_mut() {
                    let name = unquote(&self.text[at]);
                    frame.names_tenant = self.tenant.is_named_by(&name);
                }
            }
            Token::ObjectStart | Token::ArrayStart => {
                // A tenant that is no text and no number is not the client's.
                if let Some(frame) = self.frames.last_mut() {
                    frame.is_foreign |= std::mem::take(&mut frame.names_tenant);
                }
                self.frames.push(Frame {
                    start: at.start,
                    is_object: token == Token::ObjectStart,
                    is_foreign: false,
                    names_tenant: false,
                    items: Vec::new(),
                    edits: self.edits.len(),
                });
            }
            Token::ObjectEnd | Token::ArrayEnd => return self.end(at.end),
            scalar => self.scalar(scalar, at),
        }
        false
    }

    fn scalar(&mut self, token: Token, at: Range<usize>) {
        let Some(frame) = self.frames.last_mut() else { return };
        if std::mem::take(&mut frame.names_tenant) {
            frame.is_foreign |= self.tenant.is_another(token, &self.text[at]);
        } else if !frame.is_object {
            frame.items.push((at, false));
        }
    }

    fn end(&mut self, end: usize) -> bool {
        let Some(frame) = self.frames.pop() else { return false };
        if frame.is_foreign {
            // What was changed within it is gone with it.
            self.edits.truncate(frame.edits);
            self.dropped += 1;
        } else {
            self.edits.extend(gone(&frame.items));
        }
        let span = frame.start..end;
        match self.frames.last_mut() {
            None => return frame.is_foreign,
            Some(around) if !around.is_object => around.items.push((span, frame.is_foreign)),
            Some(_) if frame.is_foreign => self.edits.push((span, "null")),
            Some(_) => {}
        }
        false
    }

    fn finish(&mut self) -> String {
        self.edits.sort_by_key(|(span, _)| span.start);
        let (mut out, mut from) = (String::with_capacity(self.text.len()), 0);
        for (span, with) in &self.edits {
            out.push_str(self.text.get(from..span.start).unwrap_or_default());
            out.push_str(with);
            from = span.end;
        }
        out.push_str(self.text.get(from..).unwrap_or_default());
        out
    }
}

/// The spans of items that go, each with one comma.
fn gone(items: &[(Range<usize>, bool)]) -> Vec<(Range<usize>, &'static str)> {
    let (mut spans, mut before) = (Vec::new(), None::<usize>);
    for (index, (item, goes)) in items.iter().enumerate() {
        if !goes {
            before = Some(item.end);
            continue;
        }
        let previous = index.checked_sub(1).and_then(|previous| items.get(previous)).map(|(item, _)| item.end);
        let span = match (before, previous, items.get(index + 1)) {
            (Some(_), Some(previous), _) => previous..item.end,
            (_, _, Some((next, _))) => item.start..next.start,
            _ => item.clone(),
        };
        spans.push((span, ""));
    }
    spans
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{Filtered, Tenant, filtered};

    fn of(text: &str, own: Option<&str>) -> Filtered {
        filtered(text, &Tenant { fields: &["tenant_id".to_owned()], own })
    }

    #[test]
    fn records_of_others_go_and_the_rest_stays_byte_for_byte() {
        for (text, expected, count) in [
            (r#"[{"tenant_id":"a","n":1.50}, {"tenant_id":"b"}]"#, r#"[{"tenant_id":"a","n":1.50}]"#, 1),
            (r#"[{"tenant_id":"b"},{"tenant_id":"b"}, {"tenant_id":"a"} ]"#, r#"[{"tenant_id":"a"} ]"#, 2),
            (r#"{"x":[ {"tenant_id":"b"} ],"y":{"tenant_id":"b"}}"#, r#"{"x":[  ],"y":null}"#, 2),
            (r#"[1,{"t\u0065nant_id":"b"},"s"]"#, r#"[1,"s"]"#, 1),
            (r#"[{"tenant_id":null},{"tenant_id":["a"]},{"tenant_id":"a","tenant_id":"b"}]"#, "[]", 3),
            (r#"[{"z":[{"tenant_id":"b"},{"z":{"tenant_id":"b"}}],"tenant_id":"b"},3]"#, "[3]", 3),
        ] {
            assert_eq!(of(text, Some("a")), Filtered::Changed(expected.to_owned(), count), "{text}");
        }
        assert_eq!(of(r#"{"tenant_id":"b"}"#, Some("a")), Filtered::Foreign);
        assert_eq!(of(r#"{"tenant_id":7}"#, Some("7")), Filtered::Same);
        assert_eq!(of(r#"{"tenant_id":"a"}"#, None), Filtered::Foreign);
        assert_eq!(of("tenant_id: b", Some("a")), Filtered::Same);
    }

    fn tree() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(json!(1)), Just(json!("a")), Just(json!("b"))];
        leaf.prop_recursive(4, 40, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("tenant_id|x|y", inner, 0..3)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// What the rule says, on a tree.
    fn kept(value: &Value) -> Option<Value> {
        match value {
            Value::Array(items) => Some(items.iter().filter_map(kept).collect()),
            Value::Object(members) => {
                let is_own = members.get("tenant_id").is_none_or(|tenant| tenant == "a");
                let kept = |(name, value): (&String, &Value)| (name.clone(), kept(value).unwrap_or_default());
                is_own.then(|| Value::Object(members.iter().map(kept).collect()))
            }
            other => Some(other.clone()),
        }
    }

    proptest! {
        #[test]
        fn no_record_of_another_is_left(value in tree()) {
            let text = value.to_string();
            let left = match of(&text, Some("a")) {
                Filtered::Same => Some(value.clone()),
                Filtered::Changed(text, _) => Some(serde_json::from_str(&text).map_err(|why| TestCaseError::fail(format!("{text}: {why}")))?),
                Filtered::Foreign => None,
            };
            prop_assert_eq!(left, kept(&value));
        }
    }
}

//! Names that readers may differ over: repeated within one object, or reserved by our own reader. Must not know what a name means.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::{Token, Tokens, unquote};

/// What names begin with by which `serde_json` takes an object for the JSON in the text of its only member.
const RESERVED: &str = "$serde_json::private::";

/// A name that readers may differ over: repeated in one object, or reserved by our own reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The name.
    pub name: String,
    /// Byte offset of its second appearance, or of that of a reserved name.
    pub at: usize,
}

/// The first name within any one object of `text` that is repeated or reserved; `None` also where the text is not JSON.
pub fn duplicate_name(text: &str) -> Option<Duplicate> {
    let mut tokens = Tokens::new(text);
    let mut names = Names::new(text);
    while let Ok(Some((token, span))) = tokens.next_token() {
        names.note(token, &span);
        if names.repeated.is_some() {
            break;
        }
    }
    names.repeated
}

/// Finds the first name that is repeated within one object or reserved, as the tokens of a text are read.
pub(super) struct Names<'t> {
    text: &'t str,
    open: Vec<Object<'t>>,
    /// The first names of all open objects.
    few: Vec<Cow<'t, str>>,
    pub(super) repeated: Option<Duplicate>,
}

/// An open object. Few names are compared one by one: that is faster than hashing them.
struct Object<'t> {
    /// Where its first names begin.
    begin: usize,
    many: Option<HashSet<Cow<'t, str>>>,
}

impl<'t> Names<'t> {
    const FEW: usize = 16;

    pub(super) const fn new(text: &'t str) -> Self {
        Self { text, open: Vec::new(), few: Vec::new(), repeated: None }
    }

    /// Takes the next token.
    pub(super) fn note(&mut self, token: Token, span: &Range<usize>) {
        match token {
            Token::ObjectStart => self.open.push(Object { begin: self.few.len(), many: None }),
            Token::ObjectEnd => {
                if let Some(object) = self.open.pop() {
                    self.few.truncate(object.begin);
                }
            }
            Token::Name if self.repeated.is_none() => self.note_name(span),
            _ => {}
        }
    }

    fn note_name(&mut self, span: &Range<usize>) {
        let Some(object) = self.open.last_mut() else { return };
        let (name, few) = (unquote(&self.text[span.clone()]), self.few.len() - object.begin);
        let is_new = if name.starts_with(RESERVED) || self.few[object.begin..].contains(&name) {
            false
        } else if few < Self::FEW {
            self.few.push(name);
            true
        } else {
            object.many.get_or_insert_default().insert(name)
        };
        if !is_new {
            let name = unquote(&self.text[span.clone()]).into_owned();
            self.repeated = Some(Duplicate { name, at: span.start });
        }
    }
}

//! Answers in pages: which arguments choose a page, and which page is next. Recognizes cursors, page numbers, offsets and
//! links (RFC 8288). Must not know how pages are fetched.

mod next;
mod recognized;

use serde_json::{Map, Value};

use crate::request::escape;

/// What an argument that chooses a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pager {
    /// Something that the answer before gave.
    Cursor,
    /// How many items come before the page.
    Offset,
    /// The number of the page.
    Page,
}

/// An argument that chooses a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chooser {
    /// The argument.
    pub argument: String,
    /// Its name in the request.
    pub name: String,
    /// What it holds.
    pub pager: Pager,
    /// Whether it is a whole number.
    pub is_number: bool,
    /// The number of the first page, or of the first item.
    pub first: u64,
}

/// How an operation has pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paging {
    /// The arguments that choose a page: cursors first. Never empty.
    pub choosers: Vec<Chooser>,
    /// The argument for the size of a page.
    pub size: Option<String>,
    /// Where the answer has the next cursor: a JSON pointer.
    pub next_at: Option<String>,
    /// Where the answer has its items: a JSON pointer.
    pub items_at: Option<String>,
}

impl Paging {
    /// The arguments for the page that `cursor` names; `None` if it is not one of ours.
    pub fn arguments(&self, cursor: &str) -> Option<Map<String, Value>> {
        let mut arguments = Map::new();
        for pair in cursor.split('&') {
            let (name, value) = pair.split_once('=')?;
            let chooser = self.choosers.iter().find(|chooser| chooser.argument == name)?;
            let value = String::from_utf8(escape::decoded(value)).ok()?;
            let number = value.parse::<u64>().ok().filter(|_| chooser.is_number);
            arguments.insert(chooser.argument.clone(), number.map_or_else(|| Value::String(value), Value::from));
        }
        Some(arguments)
    }

    /// The name of a page by these arguments.
    fn cursor(pairs: &[(&str, String)]) -> String {
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}={}", escape::all(value))).collect();
        pairs.join("&")
    }

    /// Where a body has its items.
    pub fn items<'v>(&self, body: &'v Value) -> Option<(String, &'v Vec<Value>)> {
        if let Some(place) = &self.items_at {
            return Some((place.clone(), body.pointer(place)?.as_array()?));
        }
        next::items(body)
    }

    /// Puts the items of `body` before those of the page `more`: what else a page says is true of the last one. Whether `more`
    /// is a page at all.
    pub fn append(&self, body: &mut Value, mut more: Value) -> bool {
        let Some((place, _)) = self.items(&more) else { return false };
        let Some(Value::Array(items)) = body.pointer_mut(&place) else { return false };
        let mut all = std::mem::take(items);
        let Some(Value::Array(new)) = more.pointer_mut(&place) else { return false };
        all.append(new);
        *new = all;
        *body = more;
        true
    }
}

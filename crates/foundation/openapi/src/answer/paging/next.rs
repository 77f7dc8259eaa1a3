//! Which page is next, by what the answer says, or by counting.

use serde_json::{Map, Value};

use super::recognized::plain;
use super::{Chooser, Pager, Paging};
use crate::request::escape;

/// How deep the answer is searched for what it says of its pages.
const DEPTH: usize = 4;
/// How many members of one object are looked at.
const MEMBERS: usize = 200;
/// The longest cursor that is passed on.
const LONGEST: usize = 4096;

const LINKS: [&str; 8] =
    ["next", "nexturl", "nextpageurl", "nextpageuri", "nextlink", "odatanextlink", "nextpage", "nexthref"];
const CURSORS: [&str; 11] = [
    "nextpagetoken",
    "nexttoken",
    "nextcursor",
    "nextpagecursor",
    "nextmarker",
    "continuationtoken",
    "endcursor",
    "bookmark",
    "nextstartkey",
    "lastevaluatedkey",
    "scrollid",
];
const NUMBERS: [&str; 3] = ["nextpage", "nextoffset", "next"];
const MORE: [&str; 6] = ["hasmore", "hasnextpage", "hasnext", "istruncated", "more", "moreitemsinlist"];
const PAGES: [&str; 6] = ["totalpages", "pagecount", "lastpage", "numpages", "pagestotal", "pages"];
const TOTALS: [&str; 6] = ["total", "totalcount", "totalresults", "totalitems", "recordcount", "totalsize"];
const ITEMS: [&str; 12] = [
    "items",
    "data",
    "results",
    "records",
    "values",
    "entries",
    "rows",
    "list",
    "objects",
    "resources",
    "elements",
    "result",
];

/// The items of a body: itself, the member with a usual name, or its only list.
pub(super) fn items(body: &Value) -> Option<(String, &Vec<Value>)> {
    if let Value::Array(items) = body {
        return Some((String::new(), items));
    }
    let members = body.as_object()?;
    let lists: Vec<_> = members.iter().filter_map(|(name, value)| Some((name, value.as_array()?))).collect();
    let usual = lists.iter().find(|(name, _)| ITEMS.contains(&plain(name).as_str()));
    let only = (lists.len() == 1).then(|| &lists[0]);
    let (name, list) = usual.or(only)?;
    Some((wire::pointer::member("", name), list))
}

impl Paging {
    /// The cursor of the page after that with these arguments, if there is one.
    pub fn next(&self, arguments: &Map<String, Value>, body: &Value, link: Option<&str>) -> Option<String> {
        if let Some(place) = &self.next_at {
            return self.by_value(body.pointer(place)?);
        }
        if let Some(next) = link.and_then(next_link).and_then(|url| self.by_url(url)) {
            return Some(next);
        }
        let facts = Facts::of(body);
        if facts.more == Some(false) {
            return None;
        }
        if let Some(next) = facts.link.and_then(|url| self.by_url(url)) {
            return Some(next);
        }
        if let Some(next) = facts.cursor.and_then(|value| self.by_value(value)) {
            return Some(next);
        }
        self.after_last_item(body, &facts).or_else(|| self.by_counting(arguments, body, &facts))
    }

    /// The cursor as a value of the first chooser, or as an address.
    fn by_value(&self, value: &Value) -> Option<String> {
        let text = match value {
            Value::String(text) if !text.is_empty() && text.len() <= LONGEST => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        if is_url(&text) {
            return self.by_url(&text);
        }
        let chooser = self.choosers.first()?;
        Some(Self::cursor(&[(&chooser.argument, text)]))
    }

    /// What of an address chooses a page. Nothing else of it is used: it may lead anywhere.
    fn by_url(&self, url: &str) -> Option<String> {
        let query = url.split('#').next()?.split_once('?')?.1;
        let mut pairs = Vec::new();
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let text = |text: &str| String::from_utf8_lossy(&escape::decoded(&text.replace('+', " "))).into_owned();
            let name = text(name);
            let chooser = self.choosers.iter().find(|chooser| chooser.name == name);
            let (Some(chooser), value) = (chooser, text(value)) else { continue };
            if value.len() <= LONGEST && pairs.iter().all(|(known, _)| *known != chooser.argument) {
                pairs.push((chooser.argument.as_str(), value));
            }
        }
        (!pairs.is_empty()).then(|| Self::cursor(&pairs))
    }

    /// The id of the last item, where that is what the cursor is.
    fn after_last_item(&self, body: &Value, facts: &Facts<'_>) -> Option<String> {
        let chooser = self.choosers.first().filter(|chooser| plain(&chooser.name) == "startingafter")?;
        let (_, items) = self.items(body)?;
        let id = items.last()?.get("id")?.as_str().filter(|_| facts.more == Some(true))?;
        Some(Self::cursor(&[(&chooser.argument, id.to_owned())]))
    }

    /// The next number, where pages or items are counted and the answer does not seem to be the last.
    fn by_counting(&self, arguments: &Map<String, Value>, body: &Value, facts: &Facts<'_>) -> Option<String> {
        // A cursor that is not there says that there is no other page.
        let chooser = self.choosers.first().filter(|chooser| chooser.pager != Pager::Cursor)?;
        let (_, items) = self.items(body)?;
        let count = items.len() as u64;
        let size = self.size.as_ref().and_then(|size| number(arguments.get(size)?));
        let current = arguments.get(&chooser.argument).and_then(number).unwrap_or(chooser.first);
        if count == 0 || (facts.more.is_none() && is_last(chooser, current, (count, size), facts)) {
            return None;
        }
        let step = if chooser.pager == Pager::Page { 1 } else { count };
        Some(Self::cursor(&[(&chooser.argument, current.checked_add(step)?.to_string())]))
    }
}

fn is_last(chooser: &Chooser, current: u64, (count, size): (u64, Option<u64>), facts: &Facts<'_>) -> bool {
    if let Some(total) = facts.total {
        let done = match chooser.pager {
            Pager::Page => (current + 1).saturating_sub(chooser.first).saturating_mul(size.unwrap_or(count)),
            _ => current.saturating_sub(chooser.first).saturating_add(count),
        };
        return done >= total;
    }
    match facts.pages.filter(|_| chooser.pager == Pager::Page) {
        Some(pages) => (current + 1).saturating_sub(chooser.first) >= pages,
        None => size.is_some_and(|size| count < size),
    }
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn is_url(text: &str) -> bool {
    ["http://", "https://", "/", "?"].iter().any(|begin| text.starts_with(begin)) && text.contains('?')
}

/// The target of the link `next` in a `Link` header.
fn next_link(header: &str) -> Option<&str> {
    let mut rest = header;
    while let Some((_, behind)) = rest.split_once('<') {
        let (target, after) = behind.split_once('>')?;
        let parameters = after.split('<').next().unwrap_or(after);
        let is_next = parameters.split(';').filter_map(|one| one.split_once('=')).any(|(name, value)| {
            let value = value.trim().trim_end_matches(',').trim().trim_matches('"');
            name.trim().eq_ignore_ascii_case("rel") && value.split(' ').any(|rel| rel.eq_ignore_ascii_case("next"))
        });
        if is_next {
            return Some(target);
        }
        rest = after;
    }
    None
}

/// What an answer says of its pages.
#[derive(Default)]
struct Facts<'v> {
    link: Option<&'v str>,
    cursor: Option<&'v Value>,
    more: Option<bool>,
    pages: Option<u64>,
    total: Option<u64>,
}

impl<'v> Facts<'v> {
    fn of(body: &'v Value) -> Self {
        let mut facts = Self::default();
        facts.collect(body, "", DEPTH);
        facts
    }

    /// Looks through objects, not through lists: items may have members of the same names.
    fn collect(&mut self, value: &'v Value, parent: &str, depth: usize) {
        let Some(members) = value.as_object() else { return };
        for (name, value) in members.iter().take(MEMBERS) {
            let plain = plain(name);
            let name = plain.as_str();
            let is_value = value.is_number() || value.as_str().is_some_and(|text| !text.is_empty());
            let is_after = name == "after" && (parent == "cursors" || parent == "next");
            let is_href = name == "href" && parent == "next";
            if (LINKS.contains(&name) || is_href) && value.as_str().is_some_and(is_url) {
                self.link = self.link.or(value.as_str());
            } else if (CURSORS.contains(&name) || NUMBERS.contains(&name) || is_after) && is_value {
                self.cursor = self.cursor.or(Some(value));
            } else if MORE.contains(&name) && value.is_boolean() {
                self.more = self.more.or(value.as_bool());
            } else if PAGES.contains(&name) && value.is_u64() {
                self.pages = self.pages.or(value.as_u64());
            } else if TOTALS.contains(&name) && value.is_u64() {
                self.total = self.total.or(value.as_u64());
            }
            if depth > 1 {
                self.collect(value, name, depth - 1);
            }
        }
    }
}

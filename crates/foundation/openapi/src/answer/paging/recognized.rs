//! Which arguments of an operation choose a page, by their names and types.

use serde_json::Value;

use super::{Chooser, Pager, Paging};
use crate::model::{Arguments, Operation, Place};

const CURSORS: [&str; 22] = [
    "cursor",
    "nextcursor",
    "pagecursor",
    "startcursor",
    "aftercursor",
    "pagingcursor",
    "pagetoken",
    "nexttoken",
    "nextpagetoken",
    "paginationtoken",
    "pagingtoken",
    "continuationtoken",
    "continuation",
    "startingafter",
    "after",
    "pageafter",
    "marker",
    "bookmark",
    "skiptoken",
    "exclusivestartkey",
    "startingtoken",
    "scrollid",
];
const PAGES: [&str; 7] = ["page", "pagenumber", "pagenum", "pageno", "pageindex", "currentpage", "pagenr"];
const OFFSETS: [&str; 10] = [
    "offset",
    "skip",
    "start",
    "startindex",
    "startrow",
    "startat",
    "pageoffset",
    "firstresult",
    "startposition",
    "first",
];
const SIZES: [&str; 16] = [
    "limit",
    "perpage",
    "pagesize",
    "maxresults",
    "count",
    "size",
    "rows",
    "top",
    "pagelimit",
    "maxitems",
    "rowlimit",
    "itemsperpage",
    "resultsperpage",
    "maxrecords",
    "num",
    "pagelength",
];

/// A name without what spellings differ in.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn has_type(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(found)) => found == kind,
        Some(Value::Array(found)) => found.iter().any(|found| found == kind),
        _ => false,
    }
}

impl Paging {
    /// How an operation has pages, if it does.
    pub fn recognized(operation: &Operation) -> Option<Self> {
        let arguments = arguments(operation);
        let mut choosers: Vec<_> =
            arguments.iter().filter_map(|(argument, name, schema)| chooser(argument, name, schema)).collect();
        if choosers.is_empty() {
            return None;
        }
        choosers.sort_by_key(|chooser| chooser.pager);
        let is_size = |name: &str| SIZES.contains(&plain(name).as_str());
        let size = arguments.iter().find(|(_, name, schema)| is_size(name) && !has_type(schema, "string"));
        let size = size.map(|(argument, ..)| (*argument).to_owned());
        Some(Self { choosers, size, next_at: None, items_at: None })
    }
}

/// The arguments that go into the query or are members of the body, with their names there.
fn arguments(operation: &Operation) -> Vec<(&str, &str, &Value)> {
    let query = operation.parameters.iter().filter(|parameter| parameter.place == Place::Query);
    let mut found: Vec<_> = query.map(|one| (one.argument.as_str(), one.name.as_str(), &one.schema)).collect();
    if let Some(body) = &operation.body
        && let Arguments::Members(members) = &body.arguments
    {
        let schema = |name: &str| body.schema.get("properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null);
        found.extend(members.iter().map(|one| (one.argument.as_str(), one.name.as_str(), schema(&one.name))));
    }
    found
}

fn chooser(argument: &str, name: &str, schema: &Value) -> Option<Chooser> {
    let plain = plain(name);
    let is_number = has_type(schema, "integer") || has_type(schema, "number");
    let is_date = schema.get("format").and_then(Value::as_str).is_some_and(|format| format.starts_with("date"));
    let is_simple = !has_type(schema, "object") && !has_type(schema, "array") && !has_type(schema, "boolean");
    let pager = if CURSORS.contains(&plain.as_str()) && is_simple && !is_date {
        // `after: 5` counts or is a time.
        if plain == "after" && is_number {
            return None;
        }
        Pager::Cursor
    } else if PAGES.contains(&plain.as_str()) && is_simple {
        Pager::Page
    } else if OFFSETS.contains(&plain.as_str()) && is_number {
        Pager::Offset
    } else {
        return None;
    };
    let number = |name: &str| schema.get(name).and_then(Value::as_u64);
    let usual = match pager {
        Pager::Cursor => 0,
        // Some APIs count items from one.
        Pager::Offset => u64::from(number("minimum") == Some(1)),
        Pager::Page => u64::from(number("minimum") != Some(0)),
    };
    let first = number("default").filter(|_| pager != Pager::Cursor).unwrap_or(usual);
    Some(Chooser { argument: argument.to_owned(), name: name.to_owned(), pager, is_number, first })
}

//! Rows of an inventory, from JSON or a table of Markdown, and the entries that they make. Pure.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Imported, Of};
use crate::secret;

/// Names of columns, and of the members that they fill.
const COLUMNS: [(&str, &str); 17] = [
    ("name", "name"),
    ("server", "name"),
    ("source", "source"),
    ("repository", "source"),
    ("owner", "owner"),
    ("language", "language"),
    ("note", "note"),
    ("description", "note"),
    ("lines", "lines"),
    ("modules", "modules"),
    ("tools", "tools"),
    ("tags", "tags"),
    ("transports", "transports"),
    ("tests", "tests"),
    ("url", "url"),
    ("launch", "launch"),
    ("command", "launch"),
];

const TRANSPORTS: [&str; 4] = ["stdio", "http", "sse", "websocket"];

/// The servers of a list of objects.
pub(super) fn of_values(list: &[Value]) -> Vec<Imported> {
    let rows = list.iter().filter_map(Value::as_object);
    rows.filter_map(|row| imported(row.iter().map(|(name, value)| (name.to_lowercase(), value.clone())))).collect()
}

/// The servers of the first table that has a column `server` or `name`.
pub(super) fn of_markdown(text: &str) -> Vec<Imported> {
    let mut lines = text.lines().map(str::trim).skip_while(|line| {
        let head: Vec<String> = cells(line).into_iter().map(|cell| cell.to_lowercase()).collect();
        !head.iter().any(|cell| cell == "server" || cell == "name")
    });
    let Some(head) = lines.next().map(cells) else { return Vec::new() };
    let head: Vec<String> = head.into_iter().map(|cell| cell.to_lowercase()).collect();
    let rows = lines.skip(1).take_while(|line| line.starts_with('|')).map(cells);
    rows.filter_map(|row| imported(head.iter().cloned().zip(row.into_iter().map(Value::String)))).collect()
}

/// The cells of a row: `\|` is a part of a cell; code and links are their text.
fn cells(line: &str) -> Vec<String> {
    let Some(inner) = line.strip_prefix('|') else { return Vec::new() };
    let inner = inner.strip_suffix('|').unwrap_or(inner).replace("\\|", "\u{0}");
    inner.split('|').map(|cell| plain(&cell.replace('\u{0}', "|"))).collect()
}

fn plain(cell: &str) -> String {
    let cell = cell.trim();
    let label = cell.strip_prefix('[').and_then(|rest| rest.split_once("](")).map_or(cell, |(label, _)| label);
    label.trim_matches('`').trim().to_owned()
}

fn imported(row: impl Iterator<Item = (String, Value)>) -> Option<Imported> {
    let known = |name: &str| COLUMNS.iter().find(|(column, _)| *column == name).map(|(_, member)| (*member).to_owned());
    let mut members: Vec<(String, Value)> = row
        .filter(|(_, value)| !value.is_null() && value.as_str() != Some("") && value != &json!([]))
        .filter_map(|(name, value)| Some((if name == "credentials" { name } else { known(&name)? }, value)))
        .collect();
    let mut seen = BTreeSet::new();
    members.retain(|(member, _)| seen.insert(member.clone()));
    let name = members.iter().find(|(member, _)| member == "name")?.1.as_str()?.to_owned();
    let identity = launch_of(&members).map(|launch| match launch {
        Launch::Url(url) => url.trim_end_matches('/').to_owned(),
        Launch::Words(words) => words.join(" "),
    });
    Some(Imported { name, identity, of: Of::Row(members) })
}

enum Launch {
    Url(String),
    Words(Vec<String>),
}

fn launch_of(members: &[(String, Value)]) -> Option<Launch> {
    let found = members.iter().find(|(member, _)| member == "launch" || member == "url")?;
    match &found.1 {
        Value::Array(words) => Some(Launch::Words(words.iter().filter_map(Value::as_str).map(str::to_owned).collect())),
        Value::String(text) if text.contains("://") && !text.contains(' ') => Some(Launch::Url(text.clone())),
        Value::String(text) => Some(Launch::Words(words(text)?)),
        _ => None,
    }
}

/// The words of a command line: `'…'` and `"…"` hold blanks. `None` for an open quotation mark.
fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut open) = (Vec::new(), None::<String>, None::<char>);
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        match (open, c) {
            (Some(mark), c) if c == mark => open = None,
            (None, '\'' | '"') => {
                open = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().push(letters.next()?),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    open.is_none().then_some(words)
}

/// An entry of `fleet.yaml`.
pub(super) fn entry(name: &str, members: &[(String, Value)]) -> Result<String, String> {
    let mut out = format!("  - name: {}\n", document::scalar(name));
    for (member, value) in members {
        let line = match member.as_str() {
            "source" | "owner" | "language" | "note" => text(value).map(|text| document::scalar(&text)),
            "lines" | "modules" | "tools" => number(value).map(|number| number.to_string()),
            "tags" | "tests" => Some(list(value, |_| true)),
            "transports" => Some(list(value, |one| TRANSPORTS.contains(&one))),
            _ => None,
        };
        let line = line.filter(|line| line != "[]");
        if let Some(line) = line {
            if secret::in_text(&line) {
                return Err(format!("its `{member}` holds a secret"));
            }
            let _ = writeln!(out, "    {member}: {line}");
        }
    }
    out.push_str(&launch(members)?);
    Ok(out)
}

fn launch(members: &[(String, Value)]) -> Result<String, String> {
    let mut out = String::new();
    let credentials = members.iter().find(|(member, _)| member == "credentials").map(|(_, value)| names(value));
    let credentials = credentials.unwrap_or_default();
    match launch_of(members) {
        None => {}
        Some(Launch::Url(url)) if secret::in_address(&url) => {
            return Err("its address holds a secret: use a header".to_owned());
        }
        Some(Launch::Url(url)) => {
            let _ = writeln!(out, "    url: {}", document::scalar(&url));
            if let [name] = &credentials[..] {
                let _ = writeln!(out, "    bearer: {{ env: {name} }}");
            }
        }
        Some(Launch::Words(words)) if secret::in_words(&words).is_some() => {
            return Err("its command holds a secret: put it into a variable first".to_owned());
        }
        Some(Launch::Words(words)) => {
            let words: Vec<String> = words.iter().map(|word| document::scalar(word)).collect();
            let _ = writeln!(out, "    command: [{}]", words.join(", "));
            if !credentials.is_empty() {
                let pairs: Vec<String> = credentials.iter().map(|name| format!("{name}: {{ env: {name} }}")).collect();
                let _ = writeln!(out, "    env: {{ {} }}", pairs.join(", "));
            }
        }
    }
    Ok(out)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.replace(',', "").parse().ok())
}

/// The items of a list, or of a text with commas between them.
fn items(value: &Value) -> Vec<String> {
    let items: Vec<String> = match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(text) => text.split(',').map(|item| item.trim().to_owned()).collect(),
        _ => Vec::new(),
    };
    items.into_iter().filter(|item| !item.is_empty()).collect()
}

fn list(value: &Value, is_known: impl Fn(&str) -> bool) -> String {
    let items: Vec<String> =
        items(value).iter().filter(|item| is_known(item)).map(|item| document::scalar(item)).collect();
    format!("[{}]", items.join(", "))
}

/// Names of variables.
fn names(value: &Value) -> Vec<String> {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name =
        |name: &String| name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit());
    items(value).into_iter().filter(is_name).collect()
}

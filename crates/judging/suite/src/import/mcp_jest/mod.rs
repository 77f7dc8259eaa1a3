//! Files of mcp-jest: one server, with expectations of its tools, resources and prompts by name.

mod condition;
mod expression;

use document::{FileError, quoted, unfilled};
use serde_json::{Map, Value, json};

use self::condition::{Subject, expect};
use super::expected::{PathCondition, matcher};
use super::file::{Case, File, NotImported, time};
use super::paths;
use super::read::Source;
use super::server;

/// The kind of a test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tools,
    Resources,
    Prompts,
}

impl Kind {
    const fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Tools => ("tools", "tool", "name"),
            Self::Resources => ("resources", "resource", "uri"),
            Self::Prompts => ("prompts", "prompt", "name"),
        }
    }

    const fn subject(self) -> Subject {
        match self {
            Self::Tools => Subject { items: "$.content", text: "@.text", calls: true },
            Self::Resources => Subject { items: "$.contents", text: "@.text", calls: false },
            Self::Prompts => Subject { items: "$.messages", text: "@.content.text", calls: false },
        }
    }
}

/// Reads a file.
pub(super) fn file(source: &Source, errors: &mut Vec<FileError>) -> Option<File> {
    let server = server::read(source, errors)?;
    let mut file =
        File { server: server.members, not_imported: server.not_imported, remarks: server.remarks, ..File::default() };
    for name in source.root.keys().filter(|name| !matches!(name.as_str(), "server" | "tests" | "$schema")) {
        file.not_imported.push(NotImported::new(name.as_str(), "test files have no such member"));
    }
    let tests = source.root.get("tests").and_then(Value::as_object)?;
    let selection = Selection { filter: text(tests, "filter"), skip: text(tests, "skip") };
    for (name, value) in tests {
        let kind = match name.as_str() {
            "tools" => Kind::Tools,
            "resources" => Kind::Resources,
            "prompts" => Kind::Prompts,
            "timeout" => {
                file.timeout = value.as_f64().and_then(time);
                if file.timeout.is_none() {
                    file.not_imported
                        .push(NotImported::new("timeout", format!("{value}, not a time of at most one hour")));
                }
                continue;
            }
            "filter" | "skip" if value.is_string() => continue,
            other => {
                file.not_imported.push(NotImported::new(other, value.to_string()));
                continue;
            }
        };
        let Some(entries) = entries(value) else {
            let what = format!("`{name}` is neither a list of names nor a mapping");
            errors.push(source.error(&format!("/tests/{name}"), what, "[NAME, …], or NAME: { args, expect }"));
            continue;
        };
        file.cases.extend(listed(kind, &entries, &selection));
        for (name, config) in entries {
            file.cases.extend(case(kind, name, &config, &selection));
        }
    }
    Some(file)
}

/// The tests of a kind. A list of names means the same as a mapping with empty values.
fn entries(value: &Value) -> Option<Vec<(&str, Map<String, Value>)>> {
    match value {
        Value::Array(names) => names.iter().map(|name| Some((name.as_str()?, Map::new()))).collect(),
        Value::Object(entries) => {
            entries.iter().map(|(name, config)| Some((name.as_str(), config.as_object()?.clone()))).collect()
        }
        _ => None,
    }
}

fn text<'t>(tests: &'t Map<String, Value>, name: &str) -> Option<&'t str> {
    tests.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// Which tests run according to the file.
struct Selection<'t> {
    filter: Option<&'t str>,
    skip: Option<&'t str>,
}

impl Selection<'_> {
    /// Why a test is skipped.
    fn reason(&self, name: &str) -> Option<String> {
        let fits = |pattern: &str| {
            // Both a glob and a plain text match any part of the name.
            let regex = if pattern.contains('*') { paths::glob(pattern) } else { regex::escape(pattern) };
            regex::RegexBuilder::new(&regex).case_insensitive(true).build().is_ok_and(|regex| regex.is_match(name))
        };
        if let Some(skip) = self.skip.filter(|skip| fits(skip)) {
            return Some(format!("`skip` was {}", quoted(skip)));
        }
        self.filter.filter(|filter| !fits(filter)).map(|filter| format!("`filter` was {}", quoted(filter)))
    }
}

/// The name in a key: a tool may have a suffix that separates its tests.
fn named(kind: Kind, key: &str) -> &str {
    match (kind, key.split_once(':')) {
        (Kind::Tools, Some((name, _))) if !name.is_empty() => name,
        _ => key,
    }
}

/// Whether a URI is a glob. A question mark before a query is not part of one.
fn is_glob(uri: &str) -> bool {
    let query = uri.split_once('?').is_some_and(|(_, query)| query.contains('='));
    uri.contains('*') || uri.contains('?') && !query
}

/// The path of the list items that a test is about.
fn items(kind: Kind, key: &str) -> String {
    let (list, _, member) = kind.names();
    if kind == Kind::Resources && is_glob(key) {
        return format!("$.{list}[?match(@.uri, {})]", paths::literal(&paths::glob(key)));
    }
    format!("$.{list}[?@.{member} == {}]", paths::literal(named(kind, key)))
}

/// A case that expects everything tested to be listed.
fn listed(kind: Kind, entries: &[(&str, Map<String, Value>)], selection: &Selection<'_>) -> Option<Case> {
    let (list, one, _) = kind.names();
    let mut case = Case::new(format!("{list} are listed")).with("list", json!(list));
    for (key, config) in entries.iter().filter(|(key, _)| selection.reason(key).is_none()) {
        let absent = config.get("shouldExist") == Some(&Value::Bool(false));
        let condition = if absent { PathCondition::Absent } else { PathCondition::Exists };
        if let Err(why) = case.expected.add_condition(&items(kind, key), condition) {
            case.mark_not_imported(one, format!("{key}: {why}"));
        }
    }
    (case.expected.conditions > 0 || !case.not_imported.is_empty()).then_some(case)
}

/// The case of one test.
fn case(kind: Kind, key: &str, config: &Map<String, Value>, selection: &Selection<'_>) -> Option<Case> {
    let (list, one, _) = kind.names();
    if config.get("shouldExist") == Some(&Value::Bool(false)) {
        return None;
    }
    let mut case = Case::new(format!("{one} {key}"));
    case.skip = selection.reason(key);
    let many = kind == Kind::Resources && is_glob(key);
    let name = unfilled(&json!(named(kind, key)));
    case = match kind {
        Kind::Tools => case.with("call", name),
        Kind::Resources if many => case.with("list", json!(list)),
        Kind::Resources => case.with("read", name),
        Kind::Prompts => case.with("get", name),
    };
    if let Some(args) = config.get("args") {
        if kind != Kind::Resources && args.is_object() {
            case = case.with("arguments", unfilled(args));
        } else {
            case.mark_not_imported("args", args.to_string());
        }
    }
    let refused = config.get("shouldThrow") == Some(&Value::Bool(true));
    if refused {
        case.expected.expect_outcome("refused");
    }
    for (name, value) in config {
        match (name.as_str(), value) {
            ("args", _)
            | ("shouldThrow" | "shouldExist", Value::Bool(_))
            | ("snapshot" | "expect", Value::Bool(false) | Value::Null) => {}
            ("snapshot", _) if refused => case.mark_not_imported("snapshot", "an error has no result to compare"),
            ("snapshot", _) if many => case.mark_not_imported("snapshot", "of the first resource that fits"),
            ("snapshot", value) => snapshot(&mut case, value),
            ("expect", Value::String(text)) if many => counted(&mut case, &items(kind, key), text),
            ("expect", Value::String(text)) => expect(&mut case, text, &kind.subject()),
            (other, value) => case.mark_not_imported(other, value.to_string()),
        }
    }
    let asks = ["expect", "snapshot"].iter().any(|name| config.contains_key(*name));
    if case.expected.conditions == 0 && (case.not_imported.is_empty() || !asks) {
        if many && case.not_imported.is_empty() {
            // The case of the list already expects a match.
            return None;
        }
        // The only expectation is an answer.
        case.expected.expect_outcome("ok");
    }
    Some(case)
}

/// Expectations of the number of resources.
fn counted(case: &mut Case, items: &str, text: &str) {
    for condition in expression::read(text) {
        match condition::counted(&condition) {
            Ok(Some(path_condition)) => {
                if let Err(why) = case.expected.add_condition(items, path_condition) {
                    case.mark_not_imported("expect", format!("{}: {why}", condition.text));
                }
            }
            Ok(None) => {
                // Cannot contradict a count.
                let _ = case.expected.add_condition(items, PathCondition::Exists);
            }
            Err(why) => case.mark_not_imported("expect", format!("{}: {why}", condition.text)),
        }
    }
}

/// A comparison with a snapshot, without the paths in `exclude`.
fn snapshot(case: &mut Case, value: &Value) {
    case.expected.add_member("snapshot", json!(true));
    let Value::Object(config) = value else { return };
    for (name, value) in config {
        match name.as_str() {
            "name" => {}
            "exclude" => {
                let mut volatile = Vec::new();
                for path in value.as_array().into_iter().flatten() {
                    let steps = path.as_str().and_then(paths::steps);
                    match steps.and_then(|steps| paths::valid(format!("${steps}"))) {
                        Some(path) => volatile.push(json!(path)),
                        None => case.mark_not_imported("snapshot exclude", path.to_string()),
                    }
                }
                if !volatile.is_empty() {
                    case.members.insert("volatile".to_owned(), Value::Array(volatile));
                }
            }
            "properties" => {
                case.mark_not_imported("snapshot properties", format!("{value}: the whole result is compared"));
            }
            other => case.mark_not_imported(&format!("snapshot {other}"), value.to_string()),
        }
    }
}

/// The values that JavaScript's `==` accepts: a number and its text are equal.
fn loosely(value: &Value) -> Vec<Value> {
    let other = match value {
        Value::Number(number) => Some(json!(number.to_string())),
        Value::String(text) => text.parse::<serde_json::Number>().ok().map(Value::Number),
        _ => None,
    };
    std::iter::once(value.clone()).chain(other).map(|value| matcher(&value)).collect()
}

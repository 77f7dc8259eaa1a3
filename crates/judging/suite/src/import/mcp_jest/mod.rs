//! mcp-jest's files: one server, and what is expected of its tools, resources and prompts, each by its name.

mod condition;
mod expression;

use document::{Fault, quoted, unfilled};
use serde_json::{Map, Value, json};

use self::condition::{Whole, expect};
use super::expected::{Demand, matcher};
use super::file::{Case, File, Left, time};
use super::paths;
use super::read::Source;
use super::server;

/// What is tested: the member of `tests`, the list, and the member of an item that names it.
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

    const fn whole(self) -> Whole {
        match self {
            Self::Tools => Whole { items: "$.content", text: "@.text", calls: true },
            Self::Resources => Whole { items: "$.contents", text: "@.text", calls: false },
            Self::Prompts => Whole { items: "$.messages", text: "@.content.text", calls: false },
        }
    }
}

/// Reads a file.
pub(super) fn file(source: &Source, faults: &mut Vec<Fault>) -> Option<File> {
    let server = server::read(source, faults)?;
    let mut file = File { server: server.members, left: server.left, remarks: server.remarks, ..File::default() };
    for name in source.root.keys().filter(|name| !matches!(name.as_str(), "server" | "tests" | "$schema")) {
        file.left.push(Left::new(name.as_str(), "there is no such thing in a test file"));
    }
    let tests = source.root.get("tests").and_then(Value::as_object)?;
    let chosen = Chosen { filter: text(tests, "filter"), skip: text(tests, "skip") };
    for (name, value) in tests {
        let kind = match name.as_str() {
            "tools" => Kind::Tools,
            "resources" => Kind::Resources,
            "prompts" => Kind::Prompts,
            "timeout" => {
                file.timeout = value.as_f64().and_then(time);
                if file.timeout.is_none() {
                    file.left.push(Left::new("timeout", format!("{value}, which is no time up to an hour")));
                }
                continue;
            }
            "filter" | "skip" if value.is_string() => continue,
            other => {
                file.left.push(Left::new(other, value.to_string()));
                continue;
            }
        };
        let Some(entries) = entries(value) else {
            let what = format!("`{name}` is neither a list of names nor a mapping");
            faults.push(source.fault(&format!("/tests/{name}"), what, "[NAME, …], or NAME: { args, expect }"));
            continue;
        };
        file.cases.extend(listed(kind, &entries, &chosen));
        for (name, config) in entries {
            file.cases.extend(case(kind, name, &config, &chosen));
        }
    }
    Some(file)
}

/// A list of names asks for as much as a mapping to nothing.
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

/// Which tests are tried: as the file says, not the command line.
struct Chosen<'t> {
    filter: Option<&'t str>,
    skip: Option<&'t str>,
}

impl Chosen<'_> {
    /// Why a test is not tried.
    fn reason(&self, name: &str) -> Option<String> {
        let fits = |pattern: &str| {
            // A glob may stand anywhere in the name, as a part may.
            let regex = if pattern.contains('*') { paths::glob(pattern) } else { regex::escape(pattern) };
            regex::RegexBuilder::new(&regex).case_insensitive(true).build().is_ok_and(|regex| regex.is_match(name))
        };
        if let Some(skip) = self.skip.filter(|skip| fits(skip)) {
            return Some(format!("`skip` was {}", quoted(skip)));
        }
        self.filter.filter(|filter| !fits(filter)).map(|filter| format!("`filter` was {}", quoted(filter)))
    }
}

/// What a key names: a tool may be followed by what tells its tests apart.
fn named(kind: Kind, key: &str) -> &str {
    match (kind, key.split_once(':')) {
        (Kind::Tools, Some((name, _))) if !name.is_empty() => name,
        _ => key,
    }
}

/// Whether a resource is many: a question mark before a query is none.
fn is_glob(uri: &str) -> bool {
    let query = uri.split_once('?').is_some_and(|(_, query)| query.contains('='));
    uri.contains('*') || uri.contains('?') && !query
}

/// Which items of the list a test is about.
fn items(kind: Kind, key: &str) -> String {
    let (list, _, member) = kind.names();
    if kind == Kind::Resources && is_glob(key) {
        return format!("$.{list}[?match(@.uri, {})]", paths::literal(&paths::glob(key)));
    }
    format!("$.{list}[?@.{member} == {}]", paths::literal(named(kind, key)))
}

/// That everything that is tested is offered.
fn listed(kind: Kind, entries: &[(&str, Map<String, Value>)], chosen: &Chosen<'_>) -> Option<Case> {
    let (list, one, _) = kind.names();
    let mut case = Case::new(format!("the {list} are offered")).with("list", json!(list));
    for (key, config) in entries.iter().filter(|(key, _)| chosen.reason(key).is_none()) {
        let absent = config.get("shouldExist") == Some(&Value::Bool(false));
        let demand = if absent { Demand::Absent } else { Demand::Exists };
        if let Err(why) = case.expected.demand(&items(kind, key), demand) {
            case.leave(one, format!("{key}: {why}"));
        }
    }
    (case.expected.conditions > 0 || !case.left.is_empty()).then_some(case)
}

/// What is expected of one.
fn case(kind: Kind, key: &str, config: &Map<String, Value>, chosen: &Chosen<'_>) -> Option<Case> {
    let (list, one, _) = kind.names();
    if config.get("shouldExist") == Some(&Value::Bool(false)) {
        return None;
    }
    let mut case = Case::new(format!("{one} {key}"));
    case.skip = chosen.reason(key);
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
            case.leave("args", args.to_string());
        }
    }
    let refused = config.get("shouldThrow") == Some(&Value::Bool(true));
    if refused {
        case.expected.ends("refused");
    }
    for (name, value) in config {
        match (name.as_str(), value) {
            ("args", _)
            | ("shouldThrow" | "shouldExist", Value::Bool(_))
            | ("snapshot" | "expect", Value::Bool(false) | Value::Null) => {}
            ("snapshot", _) if refused => case.leave("snapshot", "an error has no result to compare"),
            ("snapshot", _) if many => case.leave("snapshot", "of the first resource that fits"),
            ("snapshot", value) => snapshot(&mut case, value),
            ("expect", Value::String(text)) if many => counted(&mut case, &items(kind, key), text),
            ("expect", Value::String(text)) => expect(&mut case, text, &kind.whole()),
            (other, value) => case.leave(other, value.to_string()),
        }
    }
    let asks = ["expect", "snapshot"].iter().any(|name| config.contains_key(*name));
    if case.expected.conditions == 0 && (case.left.is_empty() || !asks) {
        if many && case.left.is_empty() {
            // That there are any stands in the list of all.
            return None;
        }
        // It answers: that is what was asked.
        case.expected.ends("ok");
    }
    Some(case)
}

/// How many resources there are.
fn counted(case: &mut Case, items: &str, text: &str) {
    for condition in expression::read(text) {
        match condition::counted(&condition) {
            Ok(Some(demand)) => {
                if let Err(why) = case.expected.demand(items, demand) {
                    case.leave("expect", format!("{}: {why}", condition.text));
                }
            }
            Ok(None) => {
                // It cannot contradict: it is true of every count that is expected.
                let _ = case.expected.demand(items, Demand::Exists);
            }
            Err(why) => case.leave("expect", format!("{}: {why}", condition.text)),
        }
    }
}

/// A comparison with what was written down; `exclude` is left out of it.
fn snapshot(case: &mut Case, value: &Value) {
    case.expected.beside("snapshot", json!(true));
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
                        None => case.leave("snapshot exclude", path.to_string()),
                    }
                }
                if !volatile.is_empty() {
                    case.members.insert("volatile".to_owned(), Value::Array(volatile));
                }
            }
            "properties" => {
                case.leave("snapshot properties", format!("{value}: the whole result is compared, not these alone"));
            }
            other => case.leave(&format!("snapshot {other}"), value.to_string()),
        }
    }
}

/// What two values are that are equal to JavaScript's `==`: a number and its text.
fn loosely(value: &Value) -> Vec<Value> {
    let other = match value {
        Value::Number(number) => Some(json!(number.to_string())),
        Value::String(text) => text.parse::<serde_json::Number>().ok().map(Value::Number),
        _ => None,
    };
    std::iter::once(value.clone()).chain(other).map(|value| matcher(&value)).collect()
}

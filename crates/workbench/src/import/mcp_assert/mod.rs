//! mcp-assert's files: a server, steps that prepare something, and one assertion on one request.

mod expect;
mod fixture;

use reference::document::{Fault, unfilled};
use serde_json::{Map, Value, json};

use self::expect::{Said, expect};
use super::file::{Case, File, hole, time};
use super::read::Source;
use super::server::{self, Server};

/// What no server has to be asked for.
const OFFLINE: [&str; 3] = ["trajectory", "trace", "audit_log"];
/// What an assertion stands under, beside `trajectory`.
const BLOCKS: [&str; 7] = [
    "assert",
    "assert_resources",
    "assert_prompts",
    "assert_completion",
    "assert_sampling",
    "assert_logging",
    "assert_notifications",
];
/// The revisions in which a client sets the level of logging for all that follows.
const LEVELLED: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Reads a file.
pub(super) fn file(source: &Source, fixture: Option<&str>, faults: &mut Vec<Fault>) -> Option<File> {
    let name = source.root.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty());
    let name = name.map_or_else(
        || source.path.file_stem().unwrap_or(source.path.as_os_str()).to_string_lossy().into_owned(),
        str::to_owned,
    );
    if source.root.contains_key("trajectory") {
        return Some(offline(source, &name));
    }
    let filled = fixture::filled(source, fixture, faults)?;
    let server = server::read(&filled, faults)?;
    let root = &filled.root;
    let mut blocks = BLOCKS.into_iter().filter(|block| root.contains_key(*block));
    let (Some(block), None) = (blocks.next(), blocks.next()) else {
        faults.push(filled.fault("", "this file asserts several things", "one `assert…` in a file"));
        return None;
    };
    let Some(Value::Object(said)) = root.get(block) else {
        faults.push(filled.fault(
            &format!("/{block}"),
            format!("`{block}` is no mapping"),
            "assert: { tool: NAME, expect: … }",
        ));
        return None;
    };
    let mut file = File {
        server: server.members.clone(),
        left: server.left.clone(),
        remarks: server.remarks.clone(),
        ..File::default()
    };
    let captured = captured(root);
    let mut cases = asserted(block, said, &Reading { source: &filled, name: &name, captured: &captured }, faults)?;
    for case in &mut cases {
        surround(case, root, &server);
    }
    let skipped = cases.iter().any(|case| case.reason().is_some());
    let steps = setup(&filled, &name, &server, &captured, faults)?;
    if skipped {
        // What is not tried needs nothing, and what it is filled with is not there.
        for case in &mut cases {
            case.members.values_mut().for_each(|value| *value = bare(value));
            if !steps.is_empty() {
                case.leave("setup", format!("{} steps of a case that is skipped", steps.len()));
            }
        }
    } else {
        file.setup = steps;
    }
    file.cases = cases;
    Some(file)
}

/// What is true of a whole file: when it is tried, how long it may take, what the server is answered.
fn surround(case: &mut Case, root: &Map<String, Value>, server: &Server) {
    answer(case, server);
    for (name, value) in root {
        match (name.as_str(), value) {
            ("name" | "server" | "setup", _) => {}
            ("skip", Value::Bool(false)) => {}
            ("skip", Value::Bool(true)) => case.skip = Some("`skip` was true".to_owned()),
            ("skip_unless_env", Value::String(variable)) if !variable.is_empty() => {
                case.leave("skip_unless_env", format!("{variable}: it is tried all the same"));
            }
            ("timeout", value) => match value.as_str().and_then(duration) {
                Some(timeout) => {
                    case.members.insert("timeout".to_owned(), json!(timeout));
                }
                None => case.leave("timeout", format!("{value}, which is no time up to an hour")),
            },
            (name, _) if BLOCKS.contains(&name) => {}
            (name, value) => case.leave(name, value.to_string()),
        }
    }
    if let Some(image) = &server.image {
        case.skip.get_or_insert_with(|| format!("not imported: a container of {image}"));
    }
}

fn answer(case: &mut Case, server: &Server) {
    for (name, value) in &server.answers {
        let answers = case.members.entry("answers").or_insert_with(|| json!({}));
        if let Value::Object(answers) = answers {
            answers.entry(name).or_insert_with(|| value.clone());
        }
    }
    case.left.extend(server.unanswered.iter().cloned());
}

/// A check of a trace: no server is asked.
fn offline(source: &Source, name: &str) -> File {
    let mut case = Case::new(name).with("list", json!("tools"));
    for (name, value) in source.root.iter().filter(|(name, _)| OFFLINE.contains(&name.as_str())) {
        case.leave(name, value.to_string());
    }
    File { cases: vec![case], ..File::default() }
}

/// What the cases are read with.
struct Reading<'r> {
    source: &'r Source,
    name: &'r str,
    captured: &'r [(String, String)],
}

impl Reading<'_> {
    /// The member of a block that has to be there.
    fn text<'s>(
        &self,
        block: &str,
        said: &'s Map<String, Value>,
        name: &str,
        faults: &mut Vec<Fault>,
    ) -> Option<&'s str> {
        let text = said.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        if text.is_none() {
            faults.push(self.source.fault(
                &format!("/{block}"),
                format!("`{block}` has no `{name}`"),
                format!("{name}: …"),
            ));
        }
        text
    }

    /// A value with what is captured filled in.
    fn filled(&self, value: &Value) -> Value {
        fill(value, self.captured)
    }

    fn call(&self, block: &str, said: &Map<String, Value>, faults: &mut Vec<Fault>) -> Option<Case> {
        let tool = self.text(block, said, "tool", faults)?;
        let case = Case::new(self.name).with("call", unfilled(&json!(tool)));
        Some(match said.get("args") {
            Some(args @ Value::Object(members)) if !members.is_empty() => case.with("arguments", self.filled(args)),
            Some(Value::Object(_) | Value::Null) | None => case,
            Some(other) => {
                let mut case = case;
                case.leave("args", other.to_string());
                case
            }
        })
    }
}

/// The cases of one assertion: more than one where something has to be said to the server first.
fn asserted(
    block: &str,
    said: &Map<String, Value>,
    reading: &Reading<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Vec<Case>> {
    let empty = Map::new();
    let expected = said.get("expect").and_then(Value::as_object).unwrap_or(&empty);
    let mut case = match block {
        "assert_resources" => resources(said, expected, reading, faults)?,
        "assert_prompts" => prompts(said, expected, reading, faults)?,
        "assert_completion" => completion(said, expected, reading, faults)?,
        "assert_logging" => return logging(said, expected, reading, faults),
        "assert_notifications" => {
            let mut case = reading.call(block, said, faults)?;
            notifications(&mut case, expected);
            case
        }
        _ => {
            let mut case = reading.call(block, said, faults)?;
            if let Some(Value::String(text)) = said.get("mock_text") {
                case = case.with("answers", json!({ "say": text }));
            }
            expect(&mut case, expected, &Said::TOOL);
            case
        }
    };
    if let Some(other) = said.get("expect").filter(|expect| !expect.is_object() && !expect.is_null()) {
        case.expected.conditions = 0;
        case.leave("expect", other.to_string());
    }
    let known = ["tool", "args", "expect", "capture_progress", "mock_text", "list", "read", "get", "ref", "argument"];
    for (name, value) in said.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        case.leave(name, value.to_string());
    }
    Some(vec![case])
}

fn resources(
    said: &Map<String, Value>,
    expected: &Map<String, Value>,
    reading: &Reading<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Case> {
    match (said.get("list"), said.get("read").and_then(Value::as_str).filter(|uri| !uri.is_empty())) {
        (Some(list), _) if !list.is_null() => Some(listed("resources", list, expected, reading)),
        (_, Some(uri)) => {
            let mut case = Case::new(reading.name).with("read", reading.filled(&json!(uri)));
            expect(&mut case, expected, &Said::READ);
            Some(case)
        }
        _ => {
            let mut case = Case::new(reading.name).with("list", json!("resources"));
            if said.contains_key("subscribe") {
                // What is said about it stands in the comments of the case.
                return Some(case);
            }
            let what = "`assert_resources` has neither `list` nor `read`";
            faults.push(reading.source.fault("/assert_resources", what, "one of them"));
            case.members.clear();
            None
        }
    }
}

fn prompts(
    said: &Map<String, Value>,
    expected: &Map<String, Value>,
    reading: &Reading<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Case> {
    match (said.get("list"), said.get("get")) {
        (Some(list), _) if !list.is_null() => Some(listed("prompts", list, expected, reading)),
        (_, Some(Value::Object(get))) => {
            let name = reading.text("assert_prompts/get", get, "name", faults)?;
            let mut case = Case::new(reading.name).with("get", reading.filled(&json!(name)));
            if let Some(Value::Object(arguments)) = get.get("arguments") {
                // They are texts.
                let texts: Map<String, Value> =
                    arguments.iter().map(|(name, value)| (name.clone(), json!(server::plain(value)))).collect();
                case = case.with("arguments", reading.filled(&Value::Object(texts)));
            }
            expect(&mut case, expected, &Said::GET);
            Some(case)
        }
        _ => {
            let what = "`assert_prompts` has neither `list` nor `get`";
            faults.push(reading.source.fault("/assert_prompts", what, "one of them"));
            None
        }
    }
}

/// A list; one page where a cursor is named.
fn listed(list: &'static str, said: &Value, expected: &Map<String, Value>, reading: &Reading<'_>) -> Case {
    let case = Case::new(reading.name);
    let mut case = match said["cursor"].as_str() {
        Some(cursor) if !cursor.is_empty() => {
            let params = reading.filled(&json!({ "cursor": cursor }));
            case.with("raw", json!(format!("{list}/list"))).with("params", params)
        }
        _ => case.with("list", json!(list)),
    };
    expect(&mut case, expected, if list == "prompts" { &Said::PROMPTS } else { &Said::RESOURCES });
    case
}

fn completion(
    said: &Map<String, Value>,
    expected: &Map<String, Value>,
    reading: &Reading<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Case> {
    let part = |part: &str, member: &str| said.get(part).and_then(|part| part.get(member)).and_then(Value::as_str);
    let of = match part("ref", "type") {
        Some("ref/prompt") => "prompt",
        Some("ref/resource") => "template",
        _ => {
            let what = "what is completed is neither a prompt nor a resource";
            faults.push(reading.source.fault("/assert_completion/ref", what, "type: ref/prompt, or ref/resource"));
            return None;
        }
    };
    let (Some(name), Some(argument)) = (part("ref", "name"), part("argument", "name")) else {
        let what = "what is completed has no name, or its argument has none";
        faults.push(reading.source.fault("/assert_completion", what, "ref: { type, name }, argument: { name, value }"));
        return None;
    };
    let value = unfilled(&json!(part("argument", "value").unwrap_or_default()));
    let complete = json!({ of: unfilled(&json!(name)), "argument": argument, "value": value });
    let mut case = Case::new(reading.name).with("complete", complete);
    expect(&mut case, expected, &Said::COMPLETION);
    Some(case)
}

/// Two cases: the level is set, and the tool called.
fn logging(
    said: &Map<String, Value>,
    expected: &Map<String, Value>,
    reading: &Reading<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Vec<Case>> {
    let level = reading.text("assert_logging", said, "set_level", faults)?;
    let mut set = Case::new(format!("{}: the level {level}", reading.name))
        .with("raw", json!("logging/setLevel"))
        .with("params", unfilled(&json!({ "level": level })))
        .with("revisions", json!(LEVELLED));
    set.expected.ends("ok");
    let calls = said.get("tool").and_then(Value::as_str).is_some_and(|tool| !tool.is_empty());
    let mut case = if calls {
        reading.call("assert_logging", said, faults)?.with("revisions", json!(LEVELLED))
    } else {
        set.clone()
    };
    case.expected.ends("ok");
    for (name, value) in expected {
        match (name.as_str(), value.as_u64()) {
            ("min_messages", Some(0)) => {}
            ("min_messages", Some(least)) if calls => {
                case.expected.beside("notifications", json!(["notifications/message"]));
                if least > 1 {
                    case.leave("min_messages", format!("{least}: that one comes is all that is checked"));
                }
            }
            _ => case.leave(name, value.to_string()),
        }
    }
    for (name, value) in
        said.iter().filter(|(name, _)| !matches!(name.as_str(), "set_level" | "tool" | "args" | "expect"))
    {
        case.leave(name, value.to_string());
    }
    Some(if calls { vec![set, case] } else { vec![case] })
}

fn notifications(case: &mut Case, expected: &Map<String, Value>) {
    for (name, value) in expected {
        match (name.as_str(), value) {
            ("methods", Value::Array(methods)) if !methods.is_empty() => {
                case.expected.beside("notifications", methods.iter().map(server::plain).collect());
            }
            _ => case.leave(name, value.to_string()),
        }
    }
    if case.left.is_empty() && case.expected.conditions == 0 {
        case.expected.ends("ok");
    }
}

/// The calls that come first.
fn setup(
    source: &Source,
    name: &str,
    server: &Server,
    captured: &[(String, String)],
    faults: &mut Vec<Fault>,
) -> Option<Vec<Case>> {
    let steps = match source.root.get("setup") {
        None | Some(Value::Null) => return Some(Vec::new()),
        Some(Value::Array(steps)) => steps,
        Some(_) => {
            faults.push(source.fault("/setup", "`setup` is no list", "- tool: NAME"));
            return None;
        }
    };
    let mut cases = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let pointer = format!("/setup/{at}");
        let (Some(said), Some(tool)) = (step.as_object(), step["tool"].as_str()) else {
            faults.push(source.fault(&pointer, "this step has no `tool`", "tool: NAME"));
            return None;
        };
        let mut case = Case::new(format!("{name}: setup {}, {tool}", at + 1)).with("call", unfilled(&json!(tool)));
        case.expected.ends("ok");
        for (name, value) in said {
            match (name.as_str(), value) {
                ("tool", _) => {}
                ("args", Value::Object(members)) if members.is_empty() => {}
                ("args", Value::Object(_)) => case = case.with("arguments", fill(value, captured)),
                ("capture", Value::Object(capture)) => captures(&mut case, capture, source, &pointer, faults),
                (name, value) => case.leave(name, value.to_string()),
            }
        }
        answer(&mut case, server);
        cases.push(case);
    }
    Some(cases)
}

fn captures(case: &mut Case, capture: &Map<String, Value>, source: &Source, pointer: &str, faults: &mut Vec<Fault>) {
    let mut paths = Map::new();
    for (name, path) in capture {
        match path.as_str().and_then(expect::structured) {
            Some(path) => {
                paths.insert(variable(name), json!(path));
            }
            None => {
                let what = format!("what `{name}` captures has no counterpart: it is not within a mapping");
                faults.push(source.fault(&format!("{pointer}/capture/{name}"), what, "$.NAME, $.LIST[0].NAME"));
            }
        }
    }
    case.members.insert("capture".to_owned(), Value::Object(paths));
    case.remarks.push(expect::STRUCTURED.to_owned());
}

/// What is captured: what it is called in texts, and here.
fn captured(root: &Map<String, Value>) -> Vec<(String, String)> {
    let steps = root.get("setup").and_then(Value::as_array).into_iter().flatten();
    let names = steps.filter_map(|step| step["capture"].as_object()).flat_map(Map::keys);
    names.map(|name| (format!("{{{{{name}}}}}"), hole(&variable(name)))).collect()
}

/// A name that a text can be filled with.
fn variable(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("v{name}") }
}

/// A value whose texts are filled with what was captured, and with nothing else.
fn fill(value: &Value, captured: &[(String, String)]) -> Value {
    match value {
        Value::String(text) => {
            let mut filled = String::new();
            let mut rest = text.as_str();
            while let Some(begin) = rest.find("{{") {
                filled.push_str(&rest[..begin]);
                rest = &rest[begin..];
                let (mark, hole) = captured
                    .iter()
                    .find(|(mark, _)| rest.starts_with(mark.as_str()))
                    .map_or(("{{", "{{ \"{{\" }}"), |(mark, hole)| (mark.as_str(), hole.as_str()));
                filled.push_str(hole);
                rest = &rest[mark.len()..];
            }
            json!(filled + rest)
        }
        Value::Array(items) => items.iter().map(|item| fill(item, captured)).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), fill(value, captured))).collect(),
        value => value.clone(),
    }
}

/// A value that names variables that nobody captures, with their names alone.
fn bare(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(text.replace("{{ vars.", "{{ \"{{\" }}")),
        Value::Array(items) => items.iter().map(bare).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), bare(value))).collect(),
        value => value.clone(),
    }
}

/// A time as Go writes it: `1m30s`, `1.5h`, `300ms`.
fn duration(text: &str) -> Option<String> {
    let mut milliseconds = 0.0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let number: f64 = rest[..end].parse().ok()?;
        let unit = rest[end..].find(|c: char| !c.is_ascii_alphabetic()).map_or(rest.len(), |length| end + length);
        milliseconds += number
            * match &rest[end..unit] {
                "h" => 3_600_000.0,
                "m" => 60_000.0,
                "s" => 1000.0,
                "ms" => 1.0,
                _ => return None,
            };
        rest = &rest[unit..];
    }
    time(milliseconds)
}

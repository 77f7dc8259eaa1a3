//! Files of mcp-assert: a server, setup steps, and one assertion on one request.

mod expect;
mod fixture;
mod requests;
mod steps;

use document::FileError;
use serde_json::{Map, Value, json};

use self::requests::{Reading, asserted};
use self::steps::{captured, setup, without_references};
use super::file::{Case, File, time};
use super::read::Source;
use super::server::{self, Server};
use crate::advice::Words;

/// Assertions that need no server.
const OFFLINE: [&str; 3] = ["trajectory", "trace", "audit_log"];
/// The keys of assertions, in addition to `trajectory`.
const BLOCKS: [&str; 7] = [
    "assert",
    "assert_resources",
    "assert_prompts",
    "assert_completion",
    "assert_sampling",
    "assert_logging",
    "assert_notifications",
];
/// Reads a file.
pub(super) fn file(
    source: &Source,
    (fixture, words): (Option<&str>, Words),
    errors: &mut Vec<FileError>,
) -> Option<File> {
    let name = source.root.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty());
    let name = name.map_or_else(
        || source.path.file_stem().unwrap_or(source.path.as_os_str()).to_string_lossy().into_owned(),
        str::to_owned,
    );
    if source.root.contains_key("trajectory") {
        return Some(offline(source, &name));
    }
    let filled = fixture::filled(source, (fixture, words), errors)?;
    let server = server::read(&filled, errors)?;
    let root = &filled.root;
    let mut blocks = BLOCKS.into_iter().filter(|block| root.contains_key(*block));
    let (Some(block), None) = (blocks.next(), blocks.next()) else {
        errors.push(filled.error("", "this file needs exactly one `assert…` block", "one `assert…` per file"));
        return None;
    };
    let Some(Value::Object(assertion)) = root.get(block) else {
        errors.push(filled.error(
            &format!("/{block}"),
            format!("`{block}` is not a mapping"),
            "assert: { tool: NAME, expect: … }",
        ));
        return None;
    };
    let mut file = File {
        server: server.members.clone(),
        not_imported: server.not_imported.clone(),
        remarks: server.remarks.clone(),
        ..File::default()
    };
    let captured = captured(root);
    let mut cases = asserted(block, assertion, &Reading { source: &filled, name: &name, captured: &captured }, errors)?;
    for case in &mut cases {
        apply_file_settings(case, root, &server);
    }
    let skipped = cases.iter().any(|case| case.reason().is_some());
    let steps = setup(&filled, &name, &server, &captured, errors)?;
    if skipped {
        // A skipped case needs no setup, and its variables are not captured.
        for case in &mut cases {
            case.members.values_mut().for_each(|value| *value = without_references(value));
            if !steps.is_empty() {
                case.mark_not_imported("setup", format!("{} steps of a case that is skipped", steps.len()));
            }
        }
    } else {
        file.setup = steps;
    }
    file.cases = cases;
    Some(file)
}

/// Adds the settings of the whole file: skip, timeout, answers to the server.
fn apply_file_settings(case: &mut Case, root: &Map<String, Value>, server: &Server) {
    answer(case, server);
    for (name, value) in root {
        match (name.as_str(), value) {
            ("name" | "server" | "setup", _) | ("skip", Value::Bool(false)) => {}
            ("skip", Value::Bool(true)) => case.skip = Some("`skip` was true".to_owned()),
            ("skip_unless_env", Value::String(variable)) if !variable.is_empty() => {
                case.mark_not_imported("skip_unless_env", format!("{variable}: the case runs anyway"));
            }
            ("timeout", value) => match value.as_str().and_then(duration) {
                Some(timeout) => {
                    case.members.insert("timeout".to_owned(), json!(timeout));
                }
                None => case.mark_not_imported("timeout", format!("{value}, not a time of at most one hour")),
            },
            (name, value) if !BLOCKS.contains(&name) => case.mark_not_imported(name, value.to_string()),
            _ => {}
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
    case.not_imported.extend(server.unsupported_answers.iter().cloned());
}

/// A check of a trace, which needs no server.
fn offline(source: &Source, name: &str) -> File {
    let mut case = Case::new(name).with("list", json!("tools"));
    for (name, value) in source.root.iter().filter(|(name, _)| OFFLINE.contains(&name.as_str())) {
        case.mark_not_imported(name, value.to_string());
    }
    File { cases: vec![case], ..File::default() }
}

/// A time in Go's syntax: `1m30s`, `1.5h`, `300ms`.
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

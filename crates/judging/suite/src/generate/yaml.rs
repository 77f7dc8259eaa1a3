//! Writes the test file. `proof test` reads back the same values: texts are quoted where YAML needs it, and template syntax is
//! escaped.

use std::fmt::Write as _;

use document::{flow, scalar, unfilled};
use serde_json::{Map, Value, json};

use super::expect::{Case, Ended, Verdict};
use super::{Generated, plan::Aim};
use crate::requests::{List, Request};

/// The text of a whole file.
pub(super) fn file(generated: &Generated, head: &[String], server: &Map<String, Value>) -> String {
    let mut out = String::new();
    for line in head {
        let _ = writeln!(out, "# {}", wire::escape::line(line));
    }
    out.push_str("server:\n");
    for (name, value) in server {
        let _ = writeln!(out, "  {name}: {}", flow(value));
    }
    let _ = writeln!(out, "matrix: {{ revisions: [{}] }}", generated.revision);
    let written: Vec<&Case> =
        generated.cases.iter().filter(|case| !matches!(case.verdict, Verdict::Omitted(_))).collect();
    out.push_str(if written.is_empty() { "cases: []\n" } else { "cases:\n" });
    let mut primitive = "";
    for case in written {
        if case.planned.primitive != primitive {
            primitive = &case.planned.primitive;
            let _ = write!(out, "\n  # {}\n", wire::escape::line(primitive));
        }
        out.push_str(&write_case(case));
    }
    out
}

fn write_case(case: &Case) -> String {
    let mut out = format!("  - name: {}\n", scalar(&case.planned.name));
    let mut line = |name: &str, value: String| {
        let space = if value.starts_with('\n') { "" } else { " " };
        let _ = writeln!(out, "    {name}:{space}{value}");
    };
    write_request(&case.planned.request, &mut line);
    let mut tags = vec![json!(case.planned.sort)];
    match &case.verdict {
        Verdict::Accepted => {
            line("expect", "{ outcome: refused }".to_owned());
            line("xfail", "accepted".to_owned());
            tags.push(json!("accepted"));
        }
        Verdict::Skipped(why) => {
            if case.planned.aim == Aim::Invalid {
                line("expect", "{ outcome: refused }".to_owned());
            }
            line("skip", scalar(why));
        }
        Verdict::Omitted(_) => {}
        Verdict::Expect { outcome, at } => {
            tags.extend((case.planned.is_negative() && !case.conclusive).then(|| json!("inconclusive")));
            tags.extend((!case.planned.is_negative() && *outcome != Ended::Ok).then(|| json!("refused")));
            line("expect", expectation(*outcome, at));
        }
    }
    line("tags", flow(&Value::Array(tags)));
    out
}

fn write_request(request: &Request, line: &mut dyn FnMut(&str, String)) {
    let text = |text: &str| scalar(unfilled(&json!(text)).as_str().unwrap_or_default());
    let arguments = |map: &Map<String, Value>| flow(&unfilled(&Value::Object(map.clone())));
    match request {
        Request::Call { tool, arguments: map } => {
            line("call", text(tool));
            line("arguments", arguments(map));
        }
        Request::Read(uri) => line("read", text(uri)),
        Request::Get { prompt, arguments: map } => {
            line("get", text(prompt));
            line("arguments", arguments(map));
        }
        Request::Complete { reference, argument, value, known: _ } => {
            let mut complete = Map::new();
            match reference["uri"].as_str() {
                Some(template) => complete.insert("template".to_owned(), unfilled(&json!(template))),
                None => complete.insert("prompt".to_owned(), unfilled(&reference["name"])),
            };
            complete.insert("argument".to_owned(), json!(argument));
            complete.insert("value".to_owned(), unfilled(&json!(value)));
            line("complete", flow(&Value::Object(complete)));
        }
        Request::List(list) => line(
            "list",
            match list {
                List::Tools => "tools",
                List::Resources => "resources",
                List::Templates => "templates",
                List::Prompts => "prompts",
            }
            .to_owned(),
        ),
        Request::Raw { method, params } => {
            line("raw", scalar(method));
            line("params", arguments(params));
        }
    }
}

fn expectation(outcome: Ended, at: &[(String, Value)]) -> String {
    let short = |outcome: &str| format!("{{ outcome: {outcome} }}");
    match outcome {
        Ended::Refused => short("refused"),
        Ended::ToolError => short("tool-error"),
        Ended::Error(None) => short("error"),
        Ended::Error(Some(code)) => format!("{{ code: {code} }}"),
        Ended::Ok if at.is_empty() => short("ok"),
        Ended::Ok => at.iter().fold(String::new(), |mut out, (path, matcher)| {
            let _ = write!(out, "\n      {}: {}", scalar(path), flow(matcher));
            out
        }),
    }
}

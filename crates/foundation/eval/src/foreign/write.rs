//! Translated cases as a file.

use std::fmt::Write as _;

use document::{flow, scalar};

use super::expect::{Call, Case};
use crate::case::Order;

pub(super) fn write(cases: &[Case], tools: Option<&str>) -> String {
    let mut out = String::new();
    if let Some(tools) = tools {
        let _ = writeln!(out, "tools: {}", scalar(tools));
    }
    out.push_str("cases:\n");
    for case in cases {
        let _ = writeln!(out, "  - name: {}", scalar(&case.name));
        if let Some(prompt) = &case.prompt {
            let _ = writeln!(out, "    prompt: {}", scalar(prompt));
        }
        if !case.tags.is_empty() {
            let _ = writeln!(out, "    tags: {}", list(&case.tags));
        }
        let expected = &case.expected;
        if expected.calls.is_empty() {
            out.push_str("    abstain: true\n");
            continue;
        }
        if expected.order != Order::default() {
            let _ = writeln!(out, "    match: {}", expected.order);
        }
        if !expected.forbid.is_empty() {
            let _ = writeln!(out, "    forbid: {}", list(&expected.forbid));
        }
        out.push_str("    calls:\n");
        expected.calls.iter().for_each(|call| write_call(&mut out, call));
    }
    out
}

fn write_call(out: &mut String, call: &Call) {
    let _ = writeln!(out, "      - call: {}", scalar(&call.tool));
    if !call.arguments.is_empty() {
        let _ = writeln!(out, "        arguments: {}", flow(&call.arguments.clone().into()));
    }
    if call.ignores_others {
        out.push_str("        others: ignore\n");
    }
}

fn list(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| scalar(text)).collect::<Vec<_>>().join(", "))
}

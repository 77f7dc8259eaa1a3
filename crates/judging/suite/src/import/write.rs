//! Writes a test file that `proof test` reads.

use std::fmt::Write as _;
use std::path::Path;

use document::{flow, scalar};
use serde_json::json;

use super::file::{Case, File, NotImported};

/// How many characters of a part that was not imported a comment shows.
const LONGEST: usize = 400;

/// The text of a whole file.
pub(super) fn file(file: &File, head: &str, cwd: Option<&Path>) -> String {
    let mut out = format!("# {}\n", wire::escape::line(head));
    notes(&mut out, "", &file.not_imported, &file.remarks);
    out.push_str("server:\n");
    for (name, value) in &file.server {
        let _ = writeln!(out, "  {name}: {}", flow(value));
    }
    if let Some(cwd) = cwd.filter(|_| file.server.contains_key("command")) {
        let _ = writeln!(out, "  cwd: {}", flow(&json!(cwd.to_string_lossy())));
    }
    if let Some(timeout) = &file.timeout {
        let _ = writeln!(out, "timeout: {timeout}");
    }
    for (list, cases) in [("setup", &file.setup), ("cases", &file.cases)] {
        if cases.is_empty() && list == "setup" {
            continue;
        }
        let _ = writeln!(out, "{list}:{}", if cases.is_empty() { " []" } else { "" });
        for case in cases {
            one(&mut out, case);
        }
    }
    out
}

fn one(out: &mut String, case: &Case) {
    let _ = writeln!(out, "  - name: {}", scalar(&case.name));
    notes(out, "    ", &case.not_imported, &case.remarks);
    for (member, value) in &case.members {
        let _ = writeln!(out, "    {member}: {}", flow(value));
    }
    let members = case.expected.members();
    match members.as_slice() {
        [(member, value)] if !member.starts_with('$') => {
            let _ = writeln!(out, "    expect: {{ {member}: {} }}", flow(value));
        }
        members => {
            out.push_str("    expect:\n");
            for (member, value) in members {
                let _ = writeln!(out, "      {}: {}", scalar(member), flow(value));
            }
        }
    }
    if let Some(why) = case.reason() {
        let _ = writeln!(out, "    skip: {}", scalar(&why));
    }
}

/// Comments on what was not imported.
fn notes(out: &mut String, indent: &str, parts: &[NotImported], remarks: &[String]) {
    for NotImported { kind, detail } in parts {
        let between = if detail.is_empty() { "" } else { ": " };
        let _ = writeln!(
            out,
            "{indent}# not imported: {}{between}{}",
            wire::escape::line(kind),
            wire::escape::snippet(detail, LONGEST)
        );
    }
    for remark in remarks {
        let _ = writeln!(out, "{indent}# note: {}", wire::escape::snippet(remark, LONGEST));
    }
}

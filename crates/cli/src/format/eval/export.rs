//! What `proof eval export-tools` prints: the tools for a request, and what was lost on the way.

use std::fmt::Write as _;

use eval::export::{Exported, ExportedTool, Note, NoteKind};
use report::render::text::{count, wrap};
use serde_json::{Value, json};
use wire::escape::{self, snippet};

/// How much is shown of a name, and how many remarks of one tool.
const NAME: usize = 60;
const MOST_NOTES: usize = 10;

/// The value of `tools` in a request.
pub(crate) fn tools(exported: &Exported) -> String {
    document(&exported.to_value())
}

fn document(value: &Value) -> String {
    format!("{}\n", escape::json(&serde_json::to_string_pretty(value).unwrap_or_default()))
}

/// What was lost, for people.
pub(crate) fn notes(exported: &Exported, is_strict: bool) -> String {
    let mut out = String::new();
    for tool in exported.tools.iter().filter(|tool| !tool.notes.is_empty()) {
        let word = match (is_strict, tool.is_strict) {
            (false, _) => "",
            (true, true) => "  strict",
            (true, false) => "  not strict",
        };
        let _ = writeln!(out, "{}{word}", snippet(&tool.original, NAME));
        for note in tool.notes.iter().take(MOST_NOTES) {
            wrap(&mut out, 2, &said(tool, note));
        }
        if tool.notes.len() > MOST_NOTES {
            let _ = writeln!(out, "  and {} more (--report FILE)", tool.notes.len() - MOST_NOTES);
        }
    }
    let strict = exported.tools.iter().filter(|tool| tool.is_strict).count();
    let strict = if is_strict { format!(", {strict} of them strict") } else { String::new() };
    let _ = writeln!(out, "{} exported{strict}", count(exported.tools.len(), "tool"));
    out
}

fn said(tool: &ExportedTool, note: &Note) -> String {
    let place = if note.pointer.is_empty() { "its schema".to_owned() } else { snippet(&note.pointer, NAME) };
    match note.kind {
        NoteKind::Renamed => format!("exported as {}", tool.name),
        NoteKind::NotStrict => format!("{place}: {}", escape::line(&note.why)),
        NoteKind::Unchecked | NoteKind::Narrowed => {
            format!("{}: {place}: {}", note.kind.as_str(), escape::line(&note.why))
        }
    }
}

/// The names and remarks of all tools: `proof.export-tools/1`.
pub(crate) fn report(exported: &Exported, api: &str) -> String {
    let note = |note: &Note| json!({ "kind": note.kind.as_str(), "pointer": note.pointer, "why": note.why });
    let tools: Vec<Value> = exported
        .tools
        .iter()
        .map(|tool| {
            let notes: Vec<Value> = tool.notes.iter().map(note).collect();
            json!({ "tool": tool.original, "name": tool.name, "strict": tool.is_strict, "notes": notes })
        })
        .collect();
    document(
        &json!({ "schema": "proof.export-tools/1", "proof": env!("CARGO_PKG_VERSION"), "api": api, "tools": tools }),
    )
}

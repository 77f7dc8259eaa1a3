//! What changed between two snapshots, as text.

use std::fmt::Write as _;

use lock::Change;
use serde_json::{Value, json};
use wire::escape;

use report::render::escape::code;
use report::render::text::{Paint, wrap};

/// As text: breaking changes first.
pub(crate) fn human(changes: &[Change], paint: Paint) -> String {
    let mut out = String::new();
    for (breaks, heading) in [(true, "Breaks callers"), (false, "Does not break callers")] {
        let some: Vec<&Change> = changes.iter().filter(|change| change.breaks == breaks).collect();
        if some.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{}", if breaks { paint.red(heading) } else { paint.bold(heading) });
        for Change { of, what, .. } in some {
            wrap(&mut out, 2, &escape::line(&format!("{of}: {what}")));
        }
        out.push('\n');
    }
    let _ = writeln!(out, "{}", sum(changes));
    out
}

/// As Markdown, for a pull request comment.
pub(crate) fn markdown(changes: &[Change]) -> String {
    let mut out = format!("### MCP surface: {}\n", sum(changes));
    if !changes.is_empty() {
        out.push_str("\n| | of | what changed |\n|---|---|---|\n");
    }
    let cell = |text: &str| code(&escape::line(text)).replace('|', "\\|");
    for breaks in [true, false] {
        for Change { of, what, .. } in changes.iter().filter(|change| change.breaks == breaks) {
            let word = if breaks { "**breaks**" } else { "" };
            let _ = writeln!(out, "| {word} | {} | {} |", cell(of), cell(what));
        }
    }
    out
}

/// One JSON document: `proof.drift/1`.
pub(crate) fn json(changes: &[Change]) -> String {
    let list: Vec<Value> = changes
        .iter()
        .map(|Change { of, what, breaks, .. }| json!({ "of": of, "what": what, "breaks": breaks }))
        .collect();
    let document = json!({ "schema": "proof.drift/1", "proof": env!("CARGO_PKG_VERSION"), "changes": list });
    format!("{}\n", escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default()))
}

fn sum(changes: &[Change]) -> String {
    let breaking = changes.iter().filter(|change| change.breaks).count();
    match (changes.len(), breaking) {
        (0, _) => "nothing changed".to_owned(),
        (1, 1) => "1 change, which breaks callers".to_owned(),
        (1, 0) => "1 change, which breaks no caller".to_owned(),
        (all, 0) => format!("{all} changes, none of which breaks callers"),
        (all, some) => format!("{all} changes, {some} of which break callers"),
    }
}

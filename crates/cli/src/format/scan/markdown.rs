//! For a comment on a pull request.

use std::fmt::Write as _;

use super::{ScanView, place};

/// How many findings have a row.
const NAMED: usize = 50;

/// The report as Markdown.
pub(crate) fn markdown(view: &ScanView) -> String {
    let mut out = format!("**{}**\n\n{}\n", cell(&view.summary()), cell(&view.scope()));
    for note in view.notes.iter().chain(&view.incomplete) {
        let _ = writeln!(out, "\n{}", cell(note));
    }
    let open: Vec<_> = view.findings.iter().filter(|shown| shown.accepted.is_none()).collect();
    if open.is_empty() {
        return out;
    }
    out.push_str("\n| severity | rule | where | what |\n|---|---|---|---|\n");
    for shown in open.iter().take(NAMED) {
        let finding = &shown.finding;
        let (at, what) = (cell(&place(&finding.place)), cell(&finding.message));
        let _ = writeln!(out, "| {} | `{}` | {at} | {what} |", finding.severity, finding.rule.id);
    }
    let left = open.len().saturating_sub(NAMED) + view.more.values().flat_map(|counts| counts.values()).sum::<usize>();
    if left > 0 {
        let _ = writeln!(out, "\nand {left} more");
    }
    out
}

/// Text of a peer in one cell of a table: no markup, no mention of anybody.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in wire::escape::line(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '!' | '#' | '\\' | '~' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

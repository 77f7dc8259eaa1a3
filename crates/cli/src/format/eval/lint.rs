//! Reports of `proof eval lint`: for people in 80 columns, and as one JSON document.

use std::fmt::Write as _;
use std::path::Path;

use eval::lint::{Finding, Lint, Severity};
use report::render::text::{Paint, count, wrap};
use serde_json::{Value, json};
use wire::escape::{self, snippet};

/// How much is shown of a name.
const NAME: usize = 48;
/// How many expensive tools are listed.
const MOST_COSTS: usize = 3;

/// What is reported.
pub(crate) struct Report<'r> {
    pub(crate) lint: &'r Lint,
    /// The file of cases.
    pub(crate) file: Option<&'r Path>,
    pub(crate) has_passed: bool,
}

/// The report for people.
pub(crate) fn human(report: &Report<'_>, paint: Paint, verbose: bool) -> String {
    let mut out = String::new();
    let lint = report.lint;
    let shown = lint.findings.iter().filter(|finding| verbose || finding.severity > Severity::Note);
    let mut subject = None;
    for finding in shown {
        if subject != Some((finding.subject.as_str(), finding.line)) {
            subject = Some((finding.subject.as_str(), finding.line));
            let place = place(report, finding).map_or_else(String::new, |place| format!("  {place}"));
            let _ = writeln!(out, "{}{place}", paint.bold(&snippet(&finding.subject, NAME)));
        }
        write_finding(&mut out, finding, paint);
    }
    if !out.is_empty() {
        out.push('\n');
    }
    write_costs(&mut out, lint);
    write_counts(&mut out, report, verbose);
    let _ = writeln!(out, "{}", if report.has_passed { paint.green("passed") } else { paint.red("failed") });
    out
}

fn write_finding(out: &mut String, finding: &Finding, paint: Paint) {
    let word = match finding.severity {
        Severity::Error => paint.red("error"),
        Severity::Warning => paint.yellow("warning"),
        Severity::Note => "note".to_owned(),
    };
    let _ = writeln!(out, "  {word}  {}", finding.check.as_str());
    let place =
        if finding.pointer.is_empty() { String::new() } else { format!("{}: ", snippet(&finding.pointer, NAME)) };
    wrap(out, 4, &format!("{place}{}", escape::line(&finding.message)));
    wrap(out, 4, &format!("try: {}", finding.remedy));
}

fn write_costs(out: &mut String, lint: &Lint) {
    if lint.costs.is_empty() {
        return;
    }
    let families: Vec<String> = lint.costs.iter().map(|cost| format!("{} {}", cost.family, cost.tokens)).collect();
    wrap(out, 0, &format!("Estimated tokens of the whole list: {}", families.join(", ")));
    let Some(cost) = lint.costs.first() else { return };
    for (name, tokens) in cost.tools.iter().take(MOST_COSTS) {
        let share = 100.0 * *tokens as f64 / cost.tokens.max(1) as f64;
        let _ = writeln!(out, "{tokens:>8}  {share:>3.0} %  {}", snippet(name, NAME));
    }
}

fn write_counts(out: &mut String, report: &Report<'_>, verbose: bool) {
    let lint = report.lint;
    let number = |severity| lint.findings.iter().filter(|finding| finding.severity == severity).count();
    let cases = if report.file.is_some() { format!(" and {}", count(lint.cases, "case")) } else { String::new() };
    let notes = number(Severity::Note);
    let hidden = if verbose || notes == 0 { "" } else { " (-v lists them)" };
    let examined = match lint.tools {
        0 => count(lint.cases, "question"),
        tools => format!("{}{cases}", count(tools, "tool")),
    };
    let text = format!(
        "{examined}: {}, {}, {}{hidden}",
        count(number(Severity::Error), "error"),
        count(number(Severity::Warning), "warning"),
        count(notes, "note")
    );
    wrap(out, 0, &text);
    if !lint.is_compared {
        wrap(out, 0, "note: too many tools to be compared with each other");
    }
}

fn place(report: &Report<'_>, finding: &Finding) -> Option<String> {
    let (file, line) = (report.file?, finding.line?);
    Some(format!("{}:{line}", escape::line(&file.to_string_lossy())))
}

/// The report as JSON: `proof.eval-lint/1`.
pub(crate) fn json(report: &Report<'_>) -> String {
    let finding = |finding: &Finding| {
        json!({
            "check": finding.check.as_str(),
            "severity": finding.severity.as_str(),
            "subject": finding.subject,
            "line": finding.line,
            "pointer": finding.pointer,
            "message": finding.message,
            "remedy": finding.remedy,
        })
    };
    let costs: Vec<Value> = report
        .lint
        .costs
        .iter()
        .map(|cost| {
            let tools: Vec<Value> =
                cost.tools.iter().map(|(tool, tokens)| json!({ "tool": tool, "tokens": tokens })).collect();
            json!({ "family": cost.family, "tokens": cost.tokens, "tools": tools })
        })
        .collect();
    let document = json!({
        "schema": "proof.eval-lint/1",
        "proof": env!("CARGO_PKG_VERSION"),
        "passed": report.has_passed,
        "tools": report.lint.tools,
        "cases": report.lint.cases,
        "compared": report.lint.is_compared,
        "findings": report.lint.findings.iter().map(finding).collect::<Vec<_>>(),
        "estimatedTokens": costs,
    });
    format!("{}\n", escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default()))
}

//! Reports of `proof eval judge`: for people in 80 columns, and as one JSON document.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use eval::judge::{Agreement, Judged, Kind, Rate, Scale, Verdict};
use report::render::text::{Paint, count, wrap};
use serde_json::{Map, Value, json};
use wire::escape::{self, snippet};
use wire::redact::Redactor;

/// How much is shown of a name, and of a reason.
const NAME: usize = 48;
const WHY: usize = 240;
const NOT_JUDGED: &str = "not judged";

/// What is reported.
pub(crate) struct Report<'r> {
    /// The file of cases.
    pub(crate) file: &'r Path,
    /// The model that judged.
    pub(crate) judge: &'r str,
    /// The grades of a rubric.
    pub(crate) scale: Option<Scale>,
    pub(crate) rate: &'r Rate,
    pub(crate) agreement: Option<&'r Agreement>,
    /// The rate that is enough, in percent.
    pub(crate) required: f64,
    pub(crate) has_passed: bool,
    /// Whether not everything was asked, because the budget is used up.
    pub(crate) is_cut: bool,
}

impl Report<'_> {
    fn passes(&self, verdict: Option<Verdict>) -> bool {
        match verdict {
            Some(Verdict::Solved | Verdict::Win | Verdict::Tie) => true,
            Some(Verdict::Grade(grade)) => self.scale.is_some_and(|scale| grade >= scale.pass),
            Some(Verdict::Unsure | Verdict::Unsolved | Verdict::Loss) | None => false,
        }
    }

    const fn name(&self) -> &'static str {
        match self.rate.kind {
            Kind::Sopr => "Pass rate (SoPR)",
            Kind::Sowr => "Win rate (SoWR)",
            Kind::Rubric => "Passed",
        }
    }
}

/// The report for people.
pub(crate) fn human(report: &Report<'_>, redactor: &Redactor, paint: Paint, verbose: bool) -> String {
    let (mut out, rate) = (String::new(), report.rate);
    for judged in rate.judged.iter().filter(|one| verbose || !report.passes(one.verdict)) {
        write_answer(&mut out, report, judged, redactor, paint);
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let (low, high) = rate.interval;
    let answers = count(rate.judged.len(), if rate.kind == Kind::Sowr { "pair" } else { "answer" });
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let by = if report.judge.is_empty() { String::new() } else { format!(", judged by {}", snippet(report.judge, 40)) };
    let (share, low, high) = (percent(rate.share), percent(low), percent(high));
    let line = format!("{} of {answers}: {share} (95 % interval {low} to {high}){by}", report.name());
    wrap(&mut out, 0, &line);
    let mut verdicts: Vec<String> = rate.verdicts.iter().map(|(verdict, number)| shown(*verdict, *number)).collect();
    if rate.not_judged > 0 {
        verdicts.push(format!("{} {NOT_JUDGED}, which count 0", rate.not_judged));
    }
    wrap(&mut out, 2, &verdicts.join(", "));
    if let Some(mean) = rate.mean {
        let _ = writeln!(out, "  mean grade {mean:.2}");
    }
    if let Some(agreement) = report.agreement {
        write_agreement(&mut out, agreement);
    }
    let verdict = if report.has_passed { paint.green("passed") } else { paint.red("failed") };
    let why = match (rate.not_judged == rate.judged.len(), report.has_passed) {
        (true, _) => ": nothing was judged".to_owned(),
        _ if report.is_cut => ": not everything was asked".to_owned(),
        (_, false) => format!(": {} % is required", report.required),
        (_, true) => String::new(),
    };
    let _ = writeln!(out, "{verdict}{why}");
    out
}

fn shown(verdict: Verdict, number: usize) -> String {
    match verdict {
        Verdict::Grade(grade) => format!("{number} × grade {grade}"),
        other => format!("{number} {other}"),
    }
}

fn write_answer(out: &mut String, report: &Report<'_>, judged: &Judged, redactor: &Redactor, paint: Paint) {
    let word = if report.passes(judged.verdict) { paint.green("pass") } else { paint.red("FAIL") };
    let attempt = if judged.attempt > 1 { format!(" (answer {})", judged.attempt) } else { String::new() };
    let verdict = match judged.verdict {
        None => NOT_JUDGED.to_owned(),
        Some(Verdict::Grade(grade)) => format!("grade {grade}"),
        Some(verdict) => verdict.to_string(),
    };
    let _ = writeln!(out, "{word}  {}{attempt}  {verdict}", snippet(&judged.case, NAME));
    let why = snippet(&redactor.redact_text(&judged.why), WHY);
    let by = if judged.is_rule { " (not asked)" } else { "" };
    if !why.is_empty() {
        wrap(out, 6, &format!("{why}{by}"));
    }
    let _ = writeln!(out, "      {}:{}", escape::line(&report.file.to_string_lossy()), judged.line);
}

fn write_agreement(out: &mut String, agreement: &Agreement) {
    let Agreement { labelled, equal, interval: (low, high), kappa, confusion, .. } = agreement;
    if *labelled == 0 {
        out.push_str("\nNo label is about an answer of this run.\n");
        return;
    }
    let kappa = kappa.map_or("cannot be computed: all verdicts are the same".to_owned(), |kappa| format!("{kappa:.2}"));
    let share = 100.0 * *equal as f64 / *labelled as f64;
    out.push('\n');
    let labels = count(*labelled, "label");
    let (low, high) = (100.0 * low, 100.0 * high);
    let text = format!(
        "Agreement with {labels}: {equal} ({share:.1} %, 95 % interval {low:.1} % to {high:.1} %); Cohen's kappa {kappa}"
    );
    wrap(out, 0, &text);
    let rows: BTreeSet<Verdict> = confusion.keys().map(|(label, _)| *label).collect();
    let columns: BTreeSet<Option<Verdict>> = confusion.keys().map(|(_, verdict)| *verdict).collect();
    // Grades may have a hundred columns: those are in the JSON report.
    if columns.len() > 6 {
        out.push('\n');
        return;
    }
    let name = |verdict: &Option<Verdict>| verdict.map_or(NOT_JUDGED.to_owned(), |verdict| verdict.to_string());
    let heads: Vec<String> = columns.iter().map(|verdict| format!(" {:>10}", name(verdict))).collect();
    let _ = writeln!(out, "  {:<10}{}", "label", heads.concat());
    for row in rows {
        let cell = |verdict: &Option<Verdict>| format!(" {:>10}", confusion.get(&(row, *verdict)).unwrap_or(&0));
        let cells: Vec<String> = columns.iter().map(cell).collect();
        let _ = writeln!(out, "  {:<10}{}", row.to_string(), cells.concat());
    }
    out.push('\n');
}

/// The report as one JSON document: `proof.eval-judge-report/1`.
pub(crate) fn json(report: &Report<'_>, redactor: &Redactor) -> String {
    let rate = report.rate;
    let verdicts: Map<String, Value> =
        rate.verdicts.iter().map(|(verdict, number)| (verdict.to_string(), json!(number))).collect();
    let answer = |judged: &Judged| {
        json!({
            "case": judged.case,
            "line": judged.line,
            "attempt": judged.attempt,
            "verdict": judged.verdict.map(|verdict| verdict.to_string()),
            "reason": redactor.redact_text(&judged.why),
            "asked": !judged.is_rule,
        })
    };
    let document = json!({
        "schema": "proof.eval-judge-report/1",
        "proof": env!("CARGO_PKG_VERSION"),
        "cases": Path::display(report.file).to_string(),
        "kind": rate.kind.as_str(),
        "judge": report.judge,
        "passed": report.has_passed,
        "required": report.required / 100.0,
        "rate": rate.share,
        "interval": [rate.interval.0, rate.interval.1],
        "verdicts": verdicts,
        "notJudged": rate.not_judged,
        "meanGrade": rate.mean,
        "answers": rate.judged.iter().map(answer).collect::<Vec<_>>(),
        "agreement": report.agreement.map(agreement),
    });
    format!("{}\n", escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default()))
}

fn agreement(agreement: &Agreement) -> Value {
    let cell = |((label, verdict), number): (&(Verdict, Option<Verdict>), &usize)| json!({ "label": label.to_string(), "verdict": verdict.map(|verdict| verdict.to_string()), "count": number });
    json!({
        "labelled": agreement.labelled,
        "equal": agreement.equal,
        "interval": [agreement.interval.0, agreement.interval.1],
        "kappa": agreement.kappa,
        "confusion": agreement.confusion.iter().map(cell).collect::<Vec<_>>(),
        "unknown": agreement.strangers,
    })
}

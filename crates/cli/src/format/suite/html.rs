//! The report as one self-contained HTML page without scripts. Failures are open, other cases are collapsed.

use std::fmt::Write as _;
use std::time::Duration;

use suite::test::{CaseResult, FileResult, MatrixRun, Tally, Verdict};

use super::difference::{self, Line};
use super::{coverage, place, sums};
use crate::format::page::page;
use report::render::html::text::Text;

pub(crate) fn render(played: &[FileResult], elapsed: Duration) -> String {
    let tally = Tally::of(played);
    let mut out = String::new();
    for file in played {
        let _ = writeln!(out, "<section>\n<h2>{}</h2>", Text(&file.path.to_string_lossy()));
        for at in &file.runs {
            of_place(&mut out, &file.path.to_string_lossy(), at);
        }
        out.push_str("</section>\n");
    }
    let covered = coverage::lines(played);
    if !covered.is_empty() {
        out.push_str("<section>\n<h2>Coverage</h2>\n<pre>");
        covered.lines().for_each(|line| _ = writeln!(out, "{}", Text(line)));
        out.push_str("</pre>\n</section>\n");
    }
    let summary = format!("<p>{} in {:.2} s</p>", sums(tally).join(", "), elapsed.as_secs_f64());
    page("proof test", tally.failed > 0, &summary, &out)
}

fn of_place(out: &mut String, file: &str, at: &MatrixRun) {
    let _ = writeln!(out, "<h3>{} <span>{}</span></h3>", Text(&place(at)), sums(at.tally()).join(", "));
    if let Some(why) = &at.not_run {
        let _ = writeln!(out, "<div class=\"case f\"><p><b>not tried</b></p><pre>");
        why.to_string().lines().for_each(|line| _ = writeln!(out, "{}", Text(line)));
        out.push_str("</pre></div>\n");
    }
    for case in at.cases.iter().filter(|case| matches!(case.verdict, Verdict::Failed(_))) {
        failed(out, file, case);
    }
    let rest: Vec<&CaseResult> = at.cases.iter().filter(|case| !matches!(case.verdict, Verdict::Failed(_))).collect();
    if rest.is_empty() {
        return;
    }
    let others = if rest.len() < at.cases.len() { "other cases" } else { "cases" };
    let _ = writeln!(out, "<details><summary>{} {others}</summary>\n<table>", rest.len());
    for case in rest {
        let (class, word, why) = match &case.verdict {
            Verdict::ExpectedFailure(why) => ("x", "xfail", why.as_str()),
            Verdict::Skipped(why) => ("s", "skip", why.as_str()),
            Verdict::Passed | Verdict::Failed(_) => ("p", "ok", ""),
        };
        let why = if why.is_empty() { String::new() } else { format!("<br><small>{}</small>", Text(why)) };
        let _ = writeln!(
            out,
            "<tr class=\"{class}\"><td>{word}</td><td>{}{why}</td><td>{:.0} ms</td></tr>",
            Text(&case.name),
            case.elapsed.as_secs_f64() * 1000.0
        );
    }
    out.push_str("</table>\n</details>\n");
}

fn failed(out: &mut String, file: &str, case: &CaseResult) {
    let Verdict::Failed(failures) = &case.verdict else { return };
    let took = case.elapsed.as_secs_f64() * 1000.0;
    let _ = writeln!(out, "<div class=\"case f\"><p><b>FAIL</b> {} <span>{took:.0} ms</span></p>", Text(&case.name));
    for failure in failures {
        let path = failure.path.as_ref().map(|path| format!(" at <code>{}</code>", Text(path))).unwrap_or_default();
        let _ = write!(out, "<p>{}:{}:{}{path}</p>\n<pre>", Text(file), failure.at.line, failure.at.column);
        for line in difference::of(failure) {
            let _ = match line {
                Line::Same(line) => writeln!(out, "  {}", Text(&line)),
                Line::Expected(line) => writeln!(out, "<del>- {}</del>", Text(&line)),
                Line::Found(line) => writeln!(out, "<ins>+ {}</ins>", Text(&line)),
                Line::Labelled(word, line) => writeln!(out, "{word:<9} {}", Text(&line)),
                Line::More => writeln!(out, "…"),
            };
        }
        out.push_str("</pre>\n");
    }
    out.push_str("</div>\n");
}

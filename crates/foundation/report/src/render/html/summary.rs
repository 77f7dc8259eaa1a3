//! The top of the page: who was judged, the score with its coverage, and the runs.

use std::fmt::Write as _;

use wire::Level;

use super::findings;
use super::grid::Grid;
use super::text::{Places, Prose, Quoted, Text, Words, number};
use crate::render::phrases::{self, unexercised};
use crate::{Made, Report, ReportView, Run, Tally};

/// The name and version that the subject gives itself.
pub(super) fn title(report: &Report) -> String {
    let subject = &report.subject;
    let name = phrases::name(subject);
    format!("{name} {}", subject.version.as_deref().unwrap_or_default()).trim().to_owned()
}

/// The command that made the report.
fn command(report: &Report) -> &'static str {
    if report.subject.kind == "client" { "proof check-client" } else { "proof check" }
}

/// The page's banner.
pub(super) fn masthead(out: &mut String, report: &Report) {
    let _ = write!(
        out,
        "<header class=\"masthead\">\n<p class=\"brand\"><b>Proofhouse</b> conformance report</p>\n<h1><bdi>{}</bdi></h1>\n",
        Text(&title(report))
    );
    if report.subject.target.is_empty() {
        out.push_str("<p class=\"target\">the built-in reference server</p>\n");
    } else {
        let _ = writeln!(
            out,
            "<p class=\"target\">{}</p>",
            Words(&format!("{} {}", command(report), report.subject.target))
        );
    }
    if let Some(Made { at, command }) = &report.made {
        let _ = writeln!(
            out,
            "<p class=\"made\">Made <time datetime=\"{}\">{}</time> by proof {}: {}</p>",
            Quoted(at),
            Text(&at.replace('T', " ").replace('Z', " UTC")),
            Text(report.proof),
            Words(command)
        );
    }
    out.push_str("<button type=\"button\" id=\"theme\" class=\"scripted\">Dark theme</button>\n</header>\n");
}

/// The conclusion, the score next to its coverage, and the counts by level.
pub(super) fn score(out: &mut String, grid: &Grid<'_>) {
    let report = grid.view.report;
    out.push_str("<section class=\"summary\" aria-labelledby=\"verdict\">\n");
    let _ = writeln!(
        out,
        "<h2 id=\"verdict\" class=\"verdict {}\">{}.</h2>",
        class(grid.view),
        Text(&grid.view.conclusion().summary)
    );
    findings::glance(out, grid);
    notices(out, grid);
    stale(out, grid.view);
    out.push_str("<div class=\"figures\">\n");
    figures(out, report);
    levels(out, report);
    out.push_str("</div>\n</section>\n");
}

/// The runs that ended early, those of one reason together.
fn notices(out: &mut String, grid: &Grid<'_>) {
    let mut reasons: Vec<(&str, Vec<usize>)> = Vec::new();
    for (at, run) in grid.view.report.runs.iter().enumerate() {
        let Some(why) = run.cut_short.as_deref() else { continue };
        match reasons.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, runs)) => runs.push(at),
            None => reasons.push((why, vec![at])),
        }
    }
    for finding in &grid.view.report.unconfirmed {
        let place = format!("{} {}", finding.transport, finding.revision);
        let _ = writeln!(
            out,
            "<p class=\"notice\"><b>Seen once</b>, not confirmed by a second play, not counted: <code>{}</code> at {}: {}</p>",
            Text(finding.rule),
            Text(&place),
            Prose(&finding.message)
        );
    }
    if let Some(served) = grid.view.also_served() {
        let _ = writeln!(out, "<p class=\"notice hint\"><b>Also supports</b>, not checked: {}.</p>", Text(&served));
    }
    if let Some(tools) = grid.view.tools_unknown() {
        let _ = writeln!(out, "<p class=\"notice\"><b>Warning</b>: the options name {}.</p>", Text(&tools));
    }
    if let Some(tools) = grid.view.tools_not_called() {
        let _ = writeln!(
            out,
            "<p class=\"notice hint\"><b>Not called</b>: {}. Allow some with <code>--allow-tool</code>, or all with \
             <code>--call all</code>.</p>",
            Text(&tools)
        );
    }
    if let Some(tools) = grid.view.tools_called_by_name() {
        let _ = writeln!(
            out,
            "<p class=\"notice hint\"><b>Called</b>: {}. Forbid it with <code>--call read-only</code>.</p>",
            Text(&tools)
        );
    }
    for (why, runs) in reasons {
        let _ = writeln!(
            out,
            "<p class=\"notice\"><b>Cut short</b> at {}: {}. Rules that were not tested have not passed.</p>",
            Places(&grid.view.report.runs, &runs),
            Text(why)
        );
    }
}

/// The baseline's stale entries: they fail the check.
fn stale(out: &mut String, view: &ReportView<'_>) {
    for known in view.stale() {
        let _ = writeln!(
            out,
            "<p class=\"notice\"><b>Stale baseline entry</b>: {} is {}.</p>",
            Text(&phrases::entry(known)),
            view.stale_advice(known)
        );
    }
}

fn figures(out: &mut String, report: &Report) {
    let must = report.summary.must;
    let figure = |out: &mut String, name: &str, value: &str, means: &str| {
        let _ = writeln!(
            out,
            "<div class=\"figure\"><dt>{name}</dt><dd class=\"big\">{value}</dd><dd class=\"means\">{means}</dd></div>"
        );
    };
    out.push_str("<dl class=\"big-figures\">\n");
    match report.summary.score {
        Some(_) if report.is_perfect() => {
            let means = format!("all {} judged MUST rules passed; {}", number(must.pass), unexercised(must));
            figure(out, "Score", "100<small>/100</small>", &means);
        }
        Some(score) => {
            let means = format!("{} of {} judged MUST rules passed", number(must.pass), number(must.pass + must.fail));
            figure(out, "Score", &format!("{score:.1}<small> %</small>"), &means);
        }
        None => figure(out, "Score", "none", "no MUST rule was judged"),
    }
    let (judged, binding) = (must.judged(), must.binding());
    let share = match binding {
        0 => "none".to_owned(),
        // Rounded down, as the score is: 100 only where all was judged.
        _ => format!("{:.1}<small> %</small>", (judged * 1000 / binding) as f64 / 10.0),
    };
    let means = format!("{} of {} applicable MUST rules judged", number(judged), number(binding));
    figure(out, "Coverage", &share, &means);
    out.push_str("</dl>\n");
}

fn levels(out: &mut String, report: &Report) {
    let summary = &report.summary;
    out.push_str(
        "<div class=\"box\" role=\"region\" tabindex=\"0\" aria-label=\"Counts by level\">\n<table class=\"levels\">\n\
         <caption class=\"unseen\">How many rules came out how, by level</caption>\n\
         <thead><tr><th scope=\"col\">Level</th><td></td><th scope=\"col\">passed</th><th scope=\"col\">broken</th>\
         <th scope=\"col\">not exercised</th><th scope=\"col\">not applicable</th></tr></thead>\n<tbody>\n",
    );
    let all = [
        (Level::Must, summary.must),
        (Level::Should, summary.should),
        (Level::May, summary.may),
        (Level::Safety, summary.safety),
    ];
    for (level, tally) in all.into_iter().filter(|(_, tally)| tally.binding() + tally.not_applicable > 0) {
        let broken = tally.fail + tally.warn;
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"{}\">{}</td><td>{}</td><td>{}</td></tr>",
            level.as_str(),
            bar(tally),
            number(tally.pass),
            if tally.fail > 0 {
                "bad"
            } else if tally.warn > 0 {
                "mild"
            } else {
                ""
            },
            number(broken),
            number(tally.not_exercised),
            number(tally.not_applicable)
        );
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

/// The length of a bar.
const BAR: usize = 1000;

/// The shortest piece of a bar that can still be seen.
const SPECK: usize = 12;

/// What became of the rules that apply, as a bar; the table says the same in numbers.
fn bar(tally: Tally) -> String {
    let parts = [("p", tally.pass), ("f", tally.fail), ("w", tally.warn), ("e", tally.not_exercised)];
    let total = tally.binding().max(1);
    let lengths = parts.map(|(_, part)| if part == 0 { 0 } else { (part * BAR / total).max(SPECK) });
    let sum = lengths.iter().sum::<usize>().max(1);
    let mut out =
        format!("<svg class=\"bar\" viewBox=\"0 0 {sum} 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    let mut at = 0;
    for ((class, _), length) in parts.iter().zip(lengths).filter(|(_, length)| *length > 0) {
        let _ = write!(out, "<rect class=\"{class}\" x=\"{at}\" width=\"{length}\" height=\"10\"/>");
        at += length;
    }
    out + "</svg>"
}

/// How the conclusion looks.
fn class(view: &ReportView<'_>) -> &'static str {
    let conclusion = view.conclusion();
    match (conclusion.passed, conclusion.counts.warnings) {
        (false, _) => "f",
        (true, 0) => "p",
        (true, _) => "w",
    }
}

/// Whether safety rules were selected: zeros in their place would say that they passed.
fn has_safety(report: &Report) -> bool {
    report.results.iter().any(|finding| finding.level == Level::Safety)
}

/// One line per run: how long it took, and what became of the rules.
pub(super) fn runs(out: &mut String, report: &Report) {
    let (title, names) = if has_safety(report) {
        ("<th scope=\"colgroup\" colspan=\"2\">SAFETY</th>", &["passed", "broken"][..])
    } else {
        ("", &[][..])
    };
    let _ = write!(
        out,
        "<section class=\"runs\" aria-labelledby=\"runs\">\n<h2 id=\"runs\">Runs</h2>\n\
         <div class=\"box\" role=\"region\" tabindex=\"0\" aria-label=\"Table of runs\">\n<table>\n\
         <thead><tr><th scope=\"col\" rowspan=\"2\">Transport</th><th scope=\"col\" rowspan=\"2\">Revision</th>\
         <th scope=\"colgroup\" colspan=\"3\">MUST</th><th scope=\"colgroup\" colspan=\"3\">SHOULD</th>\
{title}\
         <th scope=\"col\" rowspan=\"2\">Probes</th><th scope=\"col\" rowspan=\"2\">Time</th></tr>\n<tr>",
    );
    for name in ["passed", "broken", "not exercised", "passed", "broken", "not exercised"].iter().chain(names) {
        let _ = write!(out, "<th scope=\"col\">{name}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for run in &report.runs {
        run_row(out, report, run);
    }
    let total = report
        .elapsed_ms
        .map_or(String::new(), |elapsed| format!(": the whole check took {:.1} s", elapsed as f64 / 1000.0));
    let _ = write!(
        out,
        "</tbody>\n</table>\n</div>\n<p class=\"note\">The columns count rules. Runs happen at the same time, so their times \
         overlap{total}. Not exercised: the rule applies, but no traffic tested it.</p>\n</section>\n",
    );
}

fn run_row(out: &mut String, report: &Report, run: &Run) {
    let [must, should, safety] = [Level::Must, Level::Should, Level::Safety].map(|level| report.tally(run, level));
    let cut = run.cut_short.as_ref().map_or("", |_| " <b class=\"cut\">cut short</b>");
    let _ = write!(out, "<tr><td>{}</td><th scope=\"row\">{}{cut}</th>", run.transport, run.revision);
    let mut cells = vec![
        (must.pass, ""),
        (must.fail, " class=\"bad\""),
        (must.not_exercised, ""),
        (should.pass, ""),
        (should.warn, " class=\"mild\""),
        (should.not_exercised, ""),
    ];
    if has_safety(report) {
        cells.extend([(safety.pass, ""), (safety.fail, " class=\"bad\"")]);
    }
    cells.push((run.probes, ""));
    for (count, class) in cells {
        let class = if count > 0 { class } else { "" };
        let _ = write!(out, "<td{class}>{}</td>", number(count));
    }
    let _ = writeln!(out, "<td>{:.1} s</td></tr>", run.elapsed_ms as f64 / 1000.0);
}

//! A badge: whether the check passed, why not, and the revisions, as one self-contained picture. Both halves bring their own
//! ground, so that it can be read on a light page and on a dark one.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr as _;

use super::escape::xml;
use super::phrases::{GRADE, unexercised};
use crate::saved::Report;
use crate::{Reason, ReasonKind};

/// How wide a column is drawn in the fonts that are asked for, in hundredths of a pixel, and a narrow character.
const COLUMN: usize = 690;
const NARROW: usize = 410;

/// The blank at each end of a half.
const MARGIN: usize = 7;

const HEIGHT: usize = 22;

/// How many letters of a revision are shown: all of our own, or its year and month.
const DAY: usize = 12;
const MONTH: usize = 7;

/// The ground of the right half: passed, failed, and what says too little either way. White on each is read easily (a contrast
/// of 4.5 and more); the words say the same without the colour.
const GREEN: &str = "#1a7f37";
const RED: &str = "#b62324";
const GREY: &str = "#57606a";

/// The badge as SVG.
pub fn render(report: &Report) -> String {
    let (left, (right, ground)) = (revisions(report, Length::Short), score(report, Length::Short));
    let (wide, rest) = (width(&left), width(&right));
    let (total, half) = (wide + rest, HEIGHT / 2 + 4);
    let label = xml(&format!("{}: {}", revisions(report, Length::Full), score(report, Length::Full).0));
    let text = |at: usize, room: usize, text: &str| {
        let length = room - 2 * MARGIN;
        let text = xml(text);
        format!(
            "<text x=\"{}\" y=\"{half}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\">{text}</text>",
            at + MARGIN
        )
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{total}\" height=\"{HEIGHT}\" viewBox=\"0 0 {total} {HEIGHT}\" \
         role=\"img\" aria-label=\"{label}\">\n\
         <title>{label}</title>\n\
         <clipPath id=\"r\"><rect width=\"{total}\" height=\"{HEIGHT}\" rx=\"4\"/></clipPath>\n\
         <g clip-path=\"url(#r)\"><rect width=\"{wide}\" height=\"{HEIGHT}\" fill=\"#24292f\"/>\
         <rect x=\"{wide}\" width=\"{rest}\" height=\"{HEIGHT}\" fill=\"{ground}\"/></g>\n\
         <rect x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"3.5\" fill=\"none\" stroke=\"#fff\" stroke-opacity=\".25\"/>\n\
         <g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,Geneva,sans-serif\" font-size=\"11\">\n\
         {}\n{}\n</g>\n</svg>\n",
        total - 1,
        HEIGHT - 1,
        text(0, wide, &left),
        text(wide, rest, &right),
    )
}

/// How much is said: in the picture, or in its label, which a pointer or a screen reader shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Short,
    Full,
}

/// `MCP 2025-11-25`, `MCP 2024-11-05 … 2026-07-28 (5)`: the revisions that were judged; of several, short: year and month.
fn revisions(report: &Report, length: Length) -> String {
    let judged = report.results.iter().filter(|finding| finding.outcome.is_judged());
    let revisions: BTreeSet<&str> = judged.map(|finding| finding.revision.as_str()).collect();
    // They are names, of any length where a file is not ours.
    let shown = |name: &str, letters: usize| name.chars().take(letters).collect::<String>();
    let several = |name: &str| shown(name, if length == Length::Short { MONTH } else { DAY });
    match (revisions.first(), revisions.last()) {
        (Some(first), Some(last)) if first != last => {
            let (first, last, number) = (several(first), several(last), revisions.len());
            if number == 2 { format!("MCP {first}, {last}") } else { format!("MCP {first} … {last} ({number})") }
        }
        (Some(only), _) => format!("MCP {}", shown(only, DAY)),
        _ => "MCP".to_owned(),
    }
}

/// What is said of the subject, and on which ground: why the check failed, or that it passed and how much of it was judged.
fn score(report: &Report, length: Length) -> (String, &'static str) {
    let conclusion = report.conclusion();
    let must = report.summary.must;
    let share = format!("{}/{} MUST", must.judged(), must.binding());
    let mut words: Vec<String> = conclusion.reasons.iter().map(short).collect();
    if conclusion.passed && must.judged() == 0 {
        words.push("passed · no MUST rule judged".to_owned());
    } else if conclusion.passed && report.is_perfect() && length == Length::Short {
        words.push(format!("{GRADE} · {share}"));
    } else if conclusion.passed && report.is_perfect() {
        words.push(format!("passed · {GRADE} · {}", unexercised(must).replace(" applicable", " MUST")));
    } else if conclusion.passed {
        words.push(format!("passed · {share} judged"));
    }
    words.extend(Some(conclusion.counts.known).filter(|known| *known > 0).map(|known| format!("{known} known")));
    let inconclusive = |kind: &ReasonKind| matches!(kind, ReasonKind::NothingJudged | ReasonKind::CutShort);
    let ground = match conclusion.reasons.first() {
        None if report.summary.must.judged() == 0 => GREY,
        None => GREEN,
        Some(reason) if inconclusive(&reason.kind) => GREY,
        Some(_) => RED,
    };
    (words.join(" · "), ground)
}

/// A reason in the few words that a badge has room for: `3 MUST broken`.
fn short(reason: &Reason) -> String {
    let words = match reason.kind {
        ReasonKind::NothingJudged => "nothing judged",
        ReasonKind::CutShort => "cut short",
        ReasonKind::StaleBaseline => "stale baseline",
        // `3 MUST rules broken`, and for SHOULD why that fails the check.
        ReasonKind::Must | ReasonKind::Safety | ReasonKind::Should => {
            let broken = reason.message.split(" (").next().unwrap_or_default();
            return broken.replace(" rules ", " ").replace(" rule ", " ");
        }
    };
    words.to_owned()
}

fn width(text: &str) -> usize {
    let narrow = text.chars().filter(|c| " .,/·ijltfr".contains(*c)).count();
    ((text.width() - narrow) * COLUMN + narrow * NARROW).div_ceil(100) + 2 * MARGIN
}

#[cfg(test)]
mod tests {
    use wire::Level;
    use wire::revision::{R2025_11_25, R2026_07_28};

    use super::render;
    use crate::samples::{finding, index, report};
    use crate::{FailOn, Finding, Outcome, ReportView, saved};

    /// A check of two revisions with so many MUST rules that passed, and were not exercised, at each.
    fn badge(passed: usize, missing: usize) -> String {
        let of = |outcome, revision| Finding { revision, ..finding("shape.results", Level::Must, outcome, "m") };
        let mut findings = Vec::new();
        for revision in [R2025_11_25, R2026_07_28] {
            findings.extend((0..passed).map(|_| of(Outcome::Pass, revision)));
            findings.extend((0..missing).map(|_| of(Outcome::NotExercised, revision)));
        }
        let (report, rules) = (report(findings, None), index());
        let view = ReportView::new(&report, &rules, None, FailOn::Must);
        render(&saved::Report::parse(&crate::render::json::render(&view)).expect("a report"))
    }

    #[test]
    fn two_revisions_that_passed_fit_45_letters() {
        let svg = badge(115, 8);
        let shown: Vec<&str> =
            svg.lines().filter_map(|line| line.strip_prefix("<text ")?.split(['>', '<']).nth(1)).collect();
        assert_eq!(shown, ["MCP 2025-11, 2026-07", "100/100 · 230/246 MUST"]);
        assert!(shown.join(": ").chars().count() <= 45, "{shown:?}");
        let label = "MCP 2025-11-25, 2026-07-28: passed · 100/100 · 16 of 246 MUST not exercised";
        assert!(svg.contains(&format!("<title>{label}</title>")), "{svg}");
    }
}

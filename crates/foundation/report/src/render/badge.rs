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

/// The ground of the right half: passed, failed, and what says too little either way. White on each is read easily (a contrast
/// of 4.5 and more); the words say the same without the colour.
const GREEN: &str = "#1a7f37";
const RED: &str = "#b62324";
const GREY: &str = "#57606a";

/// The badge as SVG.
pub fn render(report: &Report) -> String {
    let (left, (right, ground)) = (revisions(report), score(report));
    let (wide, rest) = (width(&left), width(&right));
    let (total, half) = (wide + rest, HEIGHT / 2 + 4);
    let label = xml(&format!("{left}: {right}"));
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

/// `MCP 2025-11-25`, `MCP 2024-11-05 … 2026-07-28 (5)`: the revisions that were judged.
fn revisions(report: &Report) -> String {
    let judged = report.results.iter().filter(|finding| finding.outcome.is_judged());
    let revisions: BTreeSet<&str> = judged.map(|finding| finding.revision.as_str()).collect();
    // They are names, of any length where a file is not ours.
    let shown = |name: &str| name.chars().take(12).collect::<String>();
    match (revisions.first(), revisions.last()) {
        (Some(first), Some(last)) if first != last => {
            let number = revisions.len();
            let between = if number == 2 { "," } else { " …" };
            format!(
                "MCP {}{between} {}{}",
                shown(first),
                shown(last),
                if number == 2 { String::new() } else { format!(" ({number})") }
            )
        }
        (Some(only), _) => format!("MCP {}", shown(only)),
        _ => "MCP".to_owned(),
    }
}

/// What is said of the subject, and on which ground: why the check failed, or that it passed and how much of it was judged.
fn score(report: &Report) -> (String, &'static str) {
    let conclusion = report.conclusion();
    let must = report.summary.must;
    let mut words: Vec<String> = conclusion.reasons.iter().map(short).collect();
    if conclusion.passed && must.judged() == 0 {
        words.push("passed · no MUST rule judged".to_owned());
    } else if conclusion.passed && report.is_perfect() {
        words.push(format!("passed · {GRADE} · {}", unexercised(must).replace(" applicable", " MUST")));
    } else if conclusion.passed {
        words.push(format!("passed · {}/{} MUST judged", must.judged(), must.binding()));
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

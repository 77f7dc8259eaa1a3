//! A trace as a person reads it: who said what, one line a frame, with a caret where a rule is broken.

use std::fmt::Write as _;
use std::ops::Range;

use report::excerpt;
use report::render::text::count;
use rules::{Breach, Rule, Verdict, View, judge};
use wire::Revision;
use wire::trace::{Content, Frame, Trace};

/// How much of a frame one line shows.
const WIDTH: usize = 68;
/// How wide the column of names is.
const COLUMN: usize = 8;

/// How many lines of frames are shown.
const LINES: usize = 36;

/// The frames of a trace around the one that breaks the rule, a line each; that one with a caret and the reason.
pub fn dialogue(rule: &Rule, trace: &Trace) -> String {
    let revision = judge::revision_of(trace).unwrap_or(Revision::NEWEST);
    let events = trace.events();
    let verdict = judge(rule, &View::new(trace, &events, revision));
    let breach = match &verdict {
        Verdict::Broken(breach) => Some(breach),
        _ => None,
    };
    let at = breach.map_or(0, |breach| breach.event);
    let shown = around(trace, at, breach);
    let mut out = String::new();
    let _ = writeln!(out, "  ({} at {revision})", trace.header.transport);
    left_out(&mut out, shown.start);
    for (index, frame) in trace.frames.iter().enumerate().take(shown.end).skip(shown.start) {
        out.push_str(&spoken(frame, breach.filter(|_| index == at)));
    }
    left_out(&mut out, trace.frames.len() - shown.end);
    out
}

/// As many frames as there is room for: the one at `at`, those before it, then those after it.
fn around(trace: &Trace, at: usize, breach: Option<&Breach>) -> Range<usize> {
    let lines = |index: usize| spoken(&trace.frames[index], breach.filter(|_| index == at)).lines().count();
    let Some(mut room) = (at < trace.frames.len()).then(|| LINES.saturating_sub(lines(at))) else { return 0..0 };
    let mut shown = at..at + 1;
    let mut takes = |index: usize| {
        let left = room.checked_sub(lines(index));
        room = left.unwrap_or(0);
        left.is_some()
    };
    while shown.start > 0 && takes(shown.start - 1) {
        shown.start -= 1;
    }
    while shown.end < trace.frames.len() && takes(shown.end) {
        shown.end += 1;
    }
    shown
}

fn left_out(out: &mut String, frames: usize) {
    if frames > 0 {
        let _ = writeln!(out, "  … {} not shown", count(frames, "frame"));
    }
}

/// One frame, and why it breaks the rule if it does.
fn spoken(frame: &Frame, breach: Option<&Breach>) -> String {
    let mut out = String::new();
    let who = if matches!(frame.content, Content::Mark(_)) { "(mark)" } else { frame.from.as_str() };
    let quoted = excerpt(frame, breach.map_or("", |b| &b.pointer));
    let text: Vec<char> = quoted.text.chars().collect();
    let caret = quoted.caret.filter(|_| breach.is_some()).unwrap_or(0..0);
    // A name too long for its column has a line to itself.
    let column = if who.len() < COLUMN { who } else { "" };
    if column.is_empty() {
        let _ = writeln!(out, "  {who}");
    }
    for (row, line) in text.chunks(WIDTH).enumerate() {
        let label = if row == 0 { column } else { "" };
        let _ = writeln!(out, "  {label:<COLUMN$}{}", line.iter().collect::<String>());
        let start = row * WIDTH;
        let marks: String = (start..start + line.len()).map(|i| if caret.contains(&i) { '^' } else { ' ' }).collect();
        if marks.contains('^') {
            let _ = writeln!(out, "          {}", marks.trim_end());
        }
    }
    if let Some(breach) = breach {
        reason(&mut out, &wire::escape::line(&breach.why));
    }
    out
}

/// Why the line above is a breach, folded at spaces.
fn reason(out: &mut String, why: &str) {
    const ROOM: usize = WIDTH - 2;
    let mut lines: Vec<String> = Vec::new();
    for word in why.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= ROOM => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    for (row, line) in lines.iter().enumerate() {
        let _ = writeln!(out, "          {} {line}", if row == 0 { "<-" } else { "  " });
    }
}

#[cfg(test)]
mod tests {
    use super::dialogue;

    #[test]
    fn an_example_is_short_and_shows_the_breach() {
        let mut shown = 0;
        for rule in rules::all_rules() {
            let Some(trace) = rules::example::broken(rule) else { continue };
            let text = dialogue(rule, &trace);
            assert!(text.lines().count() <= 40, "{}: {} lines", rule.id, text.lines().count());
            assert!(text.contains("<- "), "{}: {text}", rule.id);
            shown += 1;
        }
        assert!(shown > 100, "{shown} examples");
    }
}

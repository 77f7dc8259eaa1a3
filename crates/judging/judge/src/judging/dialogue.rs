//! A trace as a person reads it: who said what, one line a frame, with a caret where a rule is broken.

use std::fmt::Write as _;

use report::excerpt;
use rules::{Rule, Verdict, View, judge};
use wire::Revision;
use wire::trace::{Content, Trace};

/// How much of a frame one line shows.
const WIDTH: usize = 68;
/// How wide the column of names is.
const COLUMN: usize = 8;

/// The frames of a trace, a line each; the one that breaks the rule with a caret and the reason.
pub fn dialogue(rule: &Rule, trace: &Trace) -> String {
    let revision = judge::revision_of(trace).unwrap_or(Revision::NEWEST);
    let events = trace.events();
    let verdict = judge(rule, &View::new(trace, &events, revision));
    let mut out = String::new();
    let _ = writeln!(out, "  ({} at {revision})", trace.header.transport);
    for (index, frame) in trace.frames.iter().enumerate() {
        let breach = match &verdict {
            Verdict::Broken(breach) if breach.event == index => Some(breach),
            _ => None,
        };
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
            let marks: String =
                (start..start + line.len()).map(|i| if caret.contains(&i) { '^' } else { ' ' }).collect();
            if marks.contains('^') {
                let _ = writeln!(out, "          {}", marks.trim_end());
            }
        }
        if let Some(breach) = breach {
            reason(&mut out, &wire::escape::line(&breach.why));
        }
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

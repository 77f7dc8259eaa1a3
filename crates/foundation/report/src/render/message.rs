//! Messages for people on stderr, broken at blanks so that they fit a terminal. Must not know what they say.

use unicode_width::UnicodeWidthStr as _;

/// How a line begins that is broken, after at most two blanks. Other lines may be quotations, and stay whole.
const LABELS: [&str; 7] = ["error: ", "warning: ", "note: ", "try: ", "tip: ", "Usage: ", "[possible values: "];

/// The first word of a command line without backticks, which may follow a colon.
const PROGRAM: &str = "proof";

/// `text` with its long lines broken at blanks; what follows stands below the text after the label. What people may paste stays
/// whole: words, texts in quotes, and a command line at the end.
pub fn message(text: &str, width: usize) -> String {
    text.lines().map(|line| folded(line, width)).collect::<Vec<_>>().join("\n")
}

fn folded(line: &str, width: usize) -> String {
    let rest = line.trim_start();
    let is_ours = line.len() - rest.len() <= 2 && line.width() > width;
    let Some(label) = LABELS.iter().find(|label| is_ours && rest.starts_with(**label)) else {
        return line.to_owned();
    };
    let indent = line.len() - rest.len() + label.len();
    let mut out = line[..indent].to_owned();
    let mut column = indent;
    for piece in pieces(&line[indent..], *label == "Usage: ") {
        if column > indent && column + 1 + piece.width() > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if column > indent {
            out.push(' ');
            column += 1;
        }
        out.push_str(piece);
        column += piece.width();
    }
    out
}

/// The parts of a text that are not broken. In a line of usage, brackets hold theirs together.
fn pieces(text: &str, is_usage: bool) -> Vec<&str> {
    let (mut pieces, mut rest): (Vec<&str>, &str) = (Vec::new(), text.trim());
    while !rest.is_empty() {
        let begins_command = pieces.last().is_none_or(|last| last.ends_with(':')) && !is_usage;
        let is_command = begins_command && rest.strip_prefix(PROGRAM).is_some_and(|rest| rest.starts_with(' '));
        let end = if is_command { rest.len() } else { whole(rest, is_usage).unwrap_or_else(|| word(rest)) };
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after.trim_start();
    }
    pieces
}

fn word(text: &str) -> usize {
    text.find(' ').unwrap_or(text.len())
}

/// The end of the first blank-separated part in which quotes and brackets are closed, if they ever are.
fn whole(text: &str, is_usage: bool) -> Option<usize> {
    let (mut quote, mut depth, mut last) = (None, 0_usize, ' ');
    for (at, c) in text.char_indices() {
        let before = std::mem::replace(&mut last, c);
        match c {
            _ if quote == Some(c) => quote = None,
            _ if quote.is_some() => {}
            ' ' if depth == 0 => return Some(at),
            '`' => quote = Some(c),
            // Else an apostrophe.
            '\'' if matches!(before, ' ' | '=' | '(') => quote = Some(c),
            '[' | '<' | '(' if is_usage => depth += 1,
            ']' | '>' | ')' if is_usage => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    (quote.is_none() && depth == 0).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn long_messages_are_broken_at_blanks_below_their_text() {
        let long = format!("error: {}\n  try: {}", "word ".repeat(9).trim(), "thing ".repeat(9).trim());
        let shown = "error: word word word word word word\n       word word word\n  \
                     try: thing thing thing thing thing\n       thing thing thing thing";
        assert_eq!(message(&long, 40), shown);
        assert_eq!(message(shown, 40), shown, "what fits stays");
    }

    #[test]
    fn what_is_pasted_stays_whole() {
        let command = "proof test --call echo message=hi --expect '$.a=b' -- node server.js";
        for text in [
            format!("  try: {command}"),
            format!("  try: put it there: {command}"),
            format!("  try: `{command}`, or another"),
            format!("  try: the option's own way, --args '{command}' or so").replace(" '$.a=b'", ""),
        ] {
            let shown = message(&text, 40);
            let is_whole = |line: &str| line.contains(command) || line.contains("--expect -- node server.js");
            assert!(shown.lines().any(is_whole), "{shown}");
            assert!(shown.lines().all(|line| line.len() <= 40 || is_whole(line)), "{shown}");
        }
        let url = format!("see https://example.com/{} for that", "a".repeat(60));
        let shown = message(&format!("error: {url}"), 40);
        assert_eq!(shown.lines().count(), 3, "{shown}");
    }

    #[test]
    fn quotations_and_lone_backticks_are_left_as_they_are() {
        for label in ["", "error: "] {
            let line = format!("    {label}{}", "said ".repeat(30));
            assert_eq!(message(&line, 40), line);
        }
        let lone = message("error: a ` that is never closed, in a text that is far too long for it", 40);
        assert!(lone.lines().all(|line| line.len() <= 40), "{lone}");
    }

    #[test]
    fn usage_is_broken_between_arguments() {
        let usage = "Usage: proof check [OPTIONS] [URL] --timeout <A NUMBER> [-- <COMMAND>...]";
        let shown = "Usage: proof check [OPTIONS] [URL] --timeout\n       <A NUMBER> [-- <COMMAND>...]";
        assert_eq!(message(usage, 46), shown);
    }
}

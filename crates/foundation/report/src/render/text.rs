//! Words on a page: wrapping, and colour that only ever adds.

use std::fmt::Write as _;
use std::ops::Range;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The width of everything that is printed.
pub const WIDTH: usize = 80;

/// Text with or without colour.
#[derive(Clone, Copy)]
pub struct Paint {
    /// Whether escapes are written.
    pub colour: bool,
}

impl Paint {
    /// In bold.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// In red, for what fails.
    pub fn red(self, text: &str) -> String {
        self.with("1;31", text)
    }

    /// In yellow, for warnings.
    pub fn yellow(self, text: &str) -> String {
        self.with("1;33", text)
    }

    /// In green, for what passes.
    pub fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    /// Less prominent.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Appends `text` broken at spaces so that no line is wider than [`WIDTH`], each line after `indent` spaces. A word that
/// is wider than a line stays whole: an address that is broken is no address.
pub fn wrap(out: &mut String, indent: usize, text: &str) {
    let mut width = 0;
    for word in text.split_whitespace() {
        let length = word.width();
        if width == 0 {
            let _ = write!(out, "{:indent$}{word}", "");
            width = indent + length;
        } else if width + 1 + length <= WIDTH {
            let _ = write!(out, " {word}");
            width += 1 + length;
        } else {
            let _ = write!(out, "\n{:indent$}{word}", "");
            width = indent + length;
        }
    }
    out.push('\n');
}

/// Appends a label and, after it, text broken at spaces; further lines begin where the text does. The label comes with the number
/// of columns that it takes: it may be in colour.
pub fn hanging(out: &mut String, indent: usize, (label, columns): (&str, usize), text: &str) {
    let mut lines = String::new();
    wrap(&mut lines, indent + columns, text);
    let rest = lines.get(indent + columns..).unwrap_or("\n");
    let _ = write!(out, "{:indent$}{label}{rest}", "");
}

/// `text` cut into lines of `room` columns, each with the carets that stand under the characters in `caret`. A wide
/// character takes two columns, and two carets.
pub fn marked(text: &str, caret: Option<Range<usize>>, room: usize) -> Vec<(String, String)> {
    let caret = caret.unwrap_or_default();
    let mut lines = vec![(String::new(), String::new())];
    for (at, c) in text.chars().enumerate() {
        let columns = c.width().unwrap_or(0);
        if lines.last().is_some_and(|(line, _)| line.width() + columns > room) {
            lines.push(Default::default());
        }
        if let Some((line, marks)) = lines.last_mut() {
            line.push(c);
            marks.push_str(&if caret.contains(&at) { "^" } else { " " }.repeat(columns));
        }
    }
    for (_, marks) in &mut lines {
        marks.truncate(marks.trim_end().len());
    }
    lines
}

/// `1 rule`, `2 rules`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

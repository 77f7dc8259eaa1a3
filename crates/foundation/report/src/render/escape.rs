//! What a peer sent, made harmless for each format. Every escaper takes text of any kind and gives text that the format
//! reads back as just that text, on one line unless it says otherwise.

use std::borrow::Cow;
use std::fmt::Write as _;

/// One line without control characters, text that runs backwards, and what XML 1.0 and YAML have no room for. No
/// character is dropped: where one counts characters, the count of what is harmless stays.
pub fn plain(text: &str) -> Cow<'_, str> {
    let unknown = |c: char| matches!(c, '\u{fffe}' | '\u{ffff}');
    match wire::escape::line(text) {
        line if line.contains(unknown) => Cow::Owned(line.replace(unknown, "\u{fffd}")),
        line => line,
    }
}

/// Text or an attribute's value in XML, on one line.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            // `]]>` may stand in no text.
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A scalar in double quotes: JSON's, which YAML 1.2 reads alike once there is nothing left to write as a surrogate.
pub fn yaml(text: &str) -> String {
    serde_json::Value::from(plain(text)).to_string()
}

/// A description or a reason in a TAP line: `#` would begin a directive.
pub fn tap(text: &str) -> String {
    let line = plain(text);
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        if matches!(c, '#' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A code span in Markdown: nothing in it is markup, a link, an address or a person's name. Not for tables, where `|`
/// would end the cell.
pub fn code(text: &str) -> String {
    let line = plain(text);
    if line.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(&line) + 1);
    // The reader takes one blank from each end.
    format!("{fence} {line} {fence}")
}

/// A fenced block in Markdown of these lines, indented; the fence is longer than any run of backticks inside.
pub fn fenced(text: &str, indent: usize) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let mut out = format!("{:indent$}{fence}text\n", "");
    for line in text.lines() {
        let _ = writeln!(out, "{}", format_args!("{:indent$}{}", "", plain(line)).to_string().trim_end());
    }
    let _ = writeln!(out, "{:indent$}{fence}", "");
    out
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests;

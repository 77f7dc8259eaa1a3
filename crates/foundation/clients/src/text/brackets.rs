//! A list in brackets with commas and comments, as JSON and TOML have them: takes one child out, and finds where one goes in.

use std::ops::Range;

use super::spliced;

/// Children in brackets.
pub(super) struct Brackets {
    /// What stands between the brackets.
    pub(super) inside: Range<usize>,
    /// Each child, its key included.
    pub(super) children: Vec<Range<usize>>,
    /// The comma after a place, behind comments.
    pub(super) comma: fn(&str, usize) -> Option<usize>,
    /// What begins a comment that ends with its line.
    pub(super) comment: &'static str,
}

impl Brackets {
    /// The text without a child; `joins_lines` takes the white space before it, too.
    pub(super) fn without(&self, text: &str, index: usize, joins_lines: bool) -> String {
        let Range { start, end } = self.children[index];
        let after = (self.comma)(text, end);
        let Range { start: open, end: close } = self.inside;
        let head = if joins_lines { head(text, start, open) } else { start };
        if self.children.len() == 1 {
            let end = after.map_or(end, |at| at + 1);
            let is_blank = text[open..head].trim().is_empty() && text[end..close].trim().is_empty();
            return spliced(text, if is_blank { open..close } else { head..end }, "");
        }
        if index + 1 < self.children.len() {
            let end = after.map_or(end, |at| at + 1);
            let rest = text[end..].trim_start_matches([' ', '\t']);
            let ends_line = rest.starts_with(['\n', '\r']) || rest.starts_with(self.comment);
            let range = if ends_line && head < start { head..end } else { start..text.len() - rest.trim_start().len() };
            return spliced(text, range, "");
        }
        let text = spliced(text, head..after.map_or(end, |at| at + 1), "");
        // The comma before it now ends the list, which strict readers refuse; where one ended the list before, it stays.
        match (self.comma)(&text, self.children[index - 1].end) {
            Some(at) if after.is_none() => spliced(&text, at..at + 1, ""),
            _ => text,
        }
    }
}

/// Where a child goes that comes last: before the line break and the white space before the closing bracket.
pub(super) fn before_close(text: &str, from: usize, close: usize) -> usize {
    let blank = text[from..close].trim_end_matches([' ', '\t']);
    let line = blank.strip_suffix('\n').map(|rest| rest.strip_suffix('\r').unwrap_or(rest));
    from + line.unwrap_or(blank).len()
}

/// Where a child begins together with the white space before it, up to the end of the line before.
fn head(text: &str, start: usize, open: usize) -> usize {
    let before = text[open..start].trim_end_matches([' ', '\t']);
    let line = before.strip_suffix('\n').map(|rest| rest.strip_suffix('\r').unwrap_or(rest));
    open + line.unwrap_or(before).len()
}

/// The white space that a line begins with.
pub(super) fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The indentation of something that begins a line.
pub(super) fn leading(text: &str, at: usize) -> Option<&str> {
    let indent = line_indent(text, at);
    let start = text[..at].rfind('\n')? + 1;
    (start + indent.len() == at).then_some(indent)
}

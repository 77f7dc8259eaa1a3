//! How text gets into the page: nothing in it is ever markup, and no control or bidirectional character reaches the screen.

use std::fmt::{Display, Formatter, Result};

use crate::Run;

/// Text as it may stand in an element. Not in an attribute: quotes stay, for there are many of them in what peers send.
pub struct Text<'t>(pub &'t str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let harmless = wire::escape::line(self.0);
        let mut rest = &*harmless;
        while let Some(at) = rest.find(['&', '<', '>']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                _ => "&gt;",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

/// Text as it may stand between the double quotes of an attribute.
pub(super) struct Quoted<'t>(pub(super) &'t str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&Text(self.0).to_string().replace('"', "&quot;"))
    }
}

/// A command: each of its words may break, but rather the line breaks between them.
pub(super) struct Words<'t>(pub(super) &'t str);

impl Display for Words<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("<code class=\"words\">")?;
        for (at, word) in self.0.split(' ').enumerate() {
            f.write_str(if at > 0 { " " } else { "" })?;
            // A word without a dash breaks nowhere else as it is.
            if word.contains('-') { write!(f, "<span>{}</span>", Text(word))? } else { write!(f, "{}", Text(word))? }
        }
        f.write_str("</code>")
    }
}

/// A sentence of our own: what stands between backticks is code.
pub(super) struct Prose<'t>(pub(super) &'t str);

impl Display for Prose<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let parts: Vec<&str> = self.0.split('`').collect();
        let paired = parts.len() % 2 == 1;
        for (at, part) in parts.iter().enumerate() {
            match (at % 2, paired) {
                (1, true) => write!(f, "<code>{}</code>", Text(part))?,
                (1, false) => write!(f, "`{}", Text(part))?,
                (_, false) if at > 0 => write!(f, "`{}", Text(part))?,
                _ => write!(f, "{}", Text(part))?,
            }
        }
        Ok(())
    }
}

/// How some of a report's runs are named: `every run`, or `stdio 2025-06-18, 2025-11-25; http 2025-11-25`. No date breaks.
pub(super) struct Places<'r>(pub(super) &'r [Run], pub(super) &'r [usize]);

impl Display for Places<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self(all, some) = self;
        if some.len() > 1 && some.len() == all.len() {
            return f.write_str("every run");
        }
        let mut last = None;
        for run in some.iter().filter_map(|&at| all.get(at)) {
            match last {
                Some(transport) if transport == run.transport => write!(f, ", <i>{}</i>", run.revision)?,
                Some(_) => write!(f, "; <i>{} {}</i>", run.transport, run.revision)?,
                None => write!(f, "<i>{} {}</i>", run.transport, run.revision)?,
            }
            last = Some(run.transport);
        }
        Ok(())
    }
}

/// `1017`, with a narrow space where thousands end.
pub(super) fn number(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

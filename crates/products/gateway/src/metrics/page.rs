//! The text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write as _};

/// A page of metrics.
#[derive(Debug, Default)]
pub(crate) struct Page(String);

impl Page {
    /// Begins a family. Its samples follow.
    pub(crate) fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// One sample.
    pub(crate) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (index, (label, text)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{before}{label}=\"{}\"", escaped(text));
        }
        let after = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{after} {value}");
    }

    /// The text.
    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

/// The value of a label, escaped as the format demands.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn labels_are_escaped() {
        let mut page = Page::default();
        page.family("a_total", "counter", "Help.");
        page.sample("a_total", &[], 1);
        page.sample("a_total", &[("x", "back\\slash \"quote\"\nline"), ("y", "z")], 2);
        let expected = "# HELP a_total Help.\n# TYPE a_total counter\na_total 1\n\
            a_total{x=\"back\\\\slash \\\"quote\\\"\\nline\",y=\"z\"} 2\n";
        assert_eq!(page.into_text(), expected);
    }
}

//! JSONPath in its shortest form.

use std::fmt::Write as _;

/// A child segment of a JSONPath: `.name`, or `['name']` where that is needed.
pub(crate) fn child_segment(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty() {
        return format!(".{name}");
    }
    let mut quoted = String::new();
    for c in name.chars() {
        match c {
            '\\' | '\'' => quoted.extend(['\\', c]),
            // RFC 9535 has no control characters between quotes.
            '\u{0}'..='\u{1f}' => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    format!("['{quoted}']")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json_path::JsonPath;

    use super::child_segment;

    #[test]
    fn every_name_finds_its_member() {
        for name in
            ["plain", "1st", "", "a b", "it's", "back\\slash", "\u{1b}[31m", "tab\t\n", "\u{0}", "\u{7f}", "ü\u{202e}"]
        {
            let path = format!("${}", child_segment(name));
            let parsed = JsonPath::parse(&path).unwrap_or_else(|why| panic!("{path:?}: {why}"));
            let value = json!({ name: 7, "other": 8 });
            assert_eq!(parsed.query(&value).all(), [&json!(7)], "{path:?}");
        }
    }
}

//! JSONPaths to write: from dotted paths, and filters by what a text holds.

use std::fmt::Write as _;

use serde_json_path::JsonPath;

/// The longest path, in bytes: the limit for keys of test files.
const MAX_BYTES: usize = 256;

/// `a.b-c[0]` as segments of a JSONPath, `.a['b-c'][0]`. `None` for anything but names and numbers.
pub(super) fn steps(dotted: &str) -> Option<String> {
    let mut steps = String::new();
    for part in dotted.split('.') {
        let (name, indices) = part.split_at(part.find('[').unwrap_or(part.len()));
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        if is_number {
            let _ = write!(steps, "[{}]", name.parse::<u32>().ok()?);
        } else if !name.is_empty() {
            steps.push_str(&member(name)?);
        } else if indices.is_empty() {
            return None;
        }
        let mut rest = indices;
        while !rest.is_empty() {
            let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
            let _ = write!(steps, "[{}]", index.parse::<u32>().ok()?);
            rest = after;
        }
    }
    Some(steps)
}

fn member(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.chars().all(plain) {
        return Some(format!(".{name}"));
    }
    let may = |c: char| c.is_alphanumeric() || "_-$@:/".contains(c);
    name.chars().all(may).then(|| format!("[{}]", literal(name)))
}

/// A quoted text in a path.
pub(super) fn literal(text: &str) -> String {
    let mut out = "'".to_owned();
    for c in text.chars() {
        match c {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// `text`, if it is a valid path for a test file.
pub(super) fn valid(text: String) -> Option<String> {
    (text.len() <= MAX_BYTES && JsonPath::parse(&text).is_ok()).then_some(text)
}

/// The filter condition that the text at `node` matches the regular expression. `None` if that is invalid: the path would
/// silently match nothing.
pub(super) fn search(node: &str, regex: &str) -> Option<String> {
    // The form that JSONPath wraps it in.
    regex::Regex::new(&format!("(?R)({regex})")).ok()?;
    Some(format!("search({node}, {})", literal(regex)))
}

/// A glob as a regular expression: `*` is anything, `?` one character.
pub(super) fn glob(pattern: &str) -> String {
    pattern
        .chars()
        .map(|c| match c {
            '*' => ".*".to_owned(),
            '?' => ".".to_owned(),
            c => regex::escape(c.encode_utf8(&mut [0; 4])),
        })
        .collect()
}

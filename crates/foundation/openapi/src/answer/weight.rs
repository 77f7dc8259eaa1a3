//! Whether a body is worth parsing: a small text can stand for very many values. Looks at brackets and commas alone.

/// How many values a body may have to be parsed: about 100 MB of memory.
const VALUES: usize = 500_000;
/// How deep they may nest; the parser has a bound of its own, which is a little farther.
const DEPTH: usize = 100;

/// Whether a JSON text has no more values, and none deeper, than can be held in memory.
pub(super) fn is_light(text: &[u8]) -> bool {
    is_within(text, VALUES, DEPTH)
}

pub(super) fn is_within(text: &[u8], values: usize, depth: usize) -> bool {
    let (mut count, mut open, mut at) = (1usize, 0usize, 0);
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => {
                at = behind_string(text, at);
                continue;
            }
            b'[' | b'{' => {
                open += 1;
                count += 1;
            }
            b']' | b'}' => open = open.saturating_sub(1),
            b',' => count += 1,
            _ => continue,
        }
        if count > values || open > depth {
            return false;
        }
    }
    true
}

/// Where a text goes on after the string whose first character is at `at`.
fn behind_string(text: &[u8], mut at: usize) -> usize {
    while let Some(found) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if text[at - 1] == b'"' {
            return at;
        }
        // What is escaped ends nothing.
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::is_within;

    #[test]
    fn values_and_depth_are_counted_outside_of_texts() {
        for (text, values, depth, expected) in [
            ("[1,2,3]", 4, 1, true),
            ("[1,2,3]", 3, 1, false),
            ("[[],[]]", 5, 2, true),
            ("[[],[]]", 9, 1, false),
            (r#"{"a[,\",[":"]{,","b":1}"#, 3, 1, true),
            ("1", 1, 0, true),
            (r#"["\"[[[","\\",["x\\\"[[["]]"#, 6, 2, true),
            (r#"["\\",[[]]]"#, 9, 2, false),
            (r#"["never ends [[["#, 2, 1, true),
            (r#"["\"#, 2, 1, true),
        ] {
            assert_eq!(is_within(text.as_bytes(), values, depth), expected, "{text}");
        }
    }
}

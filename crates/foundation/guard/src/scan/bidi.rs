//! Controls of the direction of text: those that come in pairs, as programs put around what they insert, and others.

/// Whether a character is a control of direction. Marks, which stand alone, are not.
pub(super) const fn is_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether all of them are in pairs on each line and none can change the order of Latin text: no override, and embeddings
/// and isolates of one direction only in a text that has letters from right to left.
pub(super) fn is_balanced(text: &str, is_right_to_left: bool) -> bool {
    let mut open = Vec::new();
    for c in text.chars() {
        match c {
            '\u{2068}' => open.push('\u{2069}'),
            '\u{2066}' | '\u{2067}' if is_right_to_left => open.push('\u{2069}'),
            '\u{202a}' | '\u{202b}' if is_right_to_left => open.push('\u{202c}'),
            '\u{2069}' | '\u{202c}' if open.last() == Some(&c) => drop(open.pop()),
            '\n' | '\r' | '\u{85}' | '\u{2029}' if !open.is_empty() => return false,
            c if is_control(c) => return false,
            _ => {}
        }
    }
    open.is_empty()
}

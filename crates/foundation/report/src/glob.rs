//! Patterns that stand for several ids: `*` for any run of characters, `?` for one.

/// Whether a text is a pattern, and not an id.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Whether a glob (`*` for any run of characters, `?` for one) matches an id. Only the last `*` is tried again, so that no
/// pattern takes long.
pub fn matches(pattern: &str, id: &str) -> bool {
    let (pattern, id): (Vec<char>, Vec<char>) = (pattern.chars().collect(), id.chars().collect());
    let (mut at, mut next, mut star) = (0, 0, None);
    while next < id.len() {
        match (pattern.get(at), star) {
            (Some('*'), _) => {
                star = Some((at, next));
                at += 1;
            }
            (Some(&c), _) if c == '?' || c == id[next] => {
                at += 1;
                next += 1;
            }
            (_, Some((last, from))) => {
                star = Some((last, from + 1));
                (at, next) = (last + 1, from + 1);
            }
            (_, None) => return false,
        }
    }
    pattern[at..].iter().all(|&c| c == '*')
}

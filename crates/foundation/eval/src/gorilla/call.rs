//! Calls in Python code, read without a grammar: most responses are no Python as a whole, but prose around a call.
//!
//! What is a string or a comment is decided as APIBench's grammar decides it: many responses have `\\n` in place of a line end, so
//! that a comment hides what follows, and the apostrophe of a word opens a string.

/// The text of the call of `callee`: the last one of several, and the outer one of two within each other, which is the order
/// of APIBench's scripts.
pub(super) fn spans<'c>(code: &'c str, callee: &str) -> Option<&'c str> {
    let mut best: Option<(usize, usize)> = None;
    let signs: Vec<(usize, u8)> = pieces(code).collect();
    for (start, _) in code.match_indices(callee) {
        let Ok(first) = signs.binary_search_by_key(&start, |(at, _)| *at) else { continue };
        let continues = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        // The letter of an escape that stands outside strings is no part of a name.
        let is_adjacent = first.checked_sub(1).is_some_and(|before| signs[before].0 + 1 == start);
        if callee.is_empty() || (is_adjacent && code[..start].ends_with(continues)) {
            continue;
        }
        let after = signs[first..].iter().skip_while(|(at, _)| *at < start + callee.len());
        let mut after = after.skip_while(|(_, byte)| byte.is_ascii_whitespace());
        let Some((_, b'(')) = after.clone().next() else { continue };
        let Some(end) = closing(&mut after) else { continue };
        if best.is_none_or(|(other_start, other_end)| end > other_end || (end == other_end && start < other_start)) {
            best = Some((start, end));
        }
    }
    best.map(|(start, end)| &code[start..end])
}

/// Where the bracket that comes first is closed.
fn closing<'s>(signs: &mut impl Iterator<Item = &'s (usize, u8)>) -> Option<usize> {
    let mut depth = 0usize;
    signs.find_map(|(at, byte)| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at + 1)
    })
}

/// The callee and the arguments of an API's call; `None` where the text does not begin with one.
pub(super) fn parts(call: &str) -> Option<(&str, Vec<&str>)> {
    let mut at = 0;
    let mut last = None;
    loop {
        let rest = &call[at..];
        let name = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
        // `load('x').`: the sentence ends, the call is whole.
        if rest == "." {
            break;
        }
        if name > 0 {
            at += name;
            last = None;
            continue;
        }
        if !rest.starts_with(['(', '[']) || at == 0 {
            break;
        }
        let length = closing(&mut pieces(rest).collect::<Vec<_>>().iter())?;
        last = rest.starts_with('(').then_some((at, at + length));
        at += length;
    }
    let (open, end) = last?;
    Some((&call[..open], arguments(&call[open + 1..end - 1])))
}

/// The arguments between brackets.
fn arguments(text: &str) -> Vec<&str> {
    let (mut found, mut start, mut depth) = (Vec::new(), 0, 0usize);
    for (at, byte) in pieces(text) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(text[start..].trim());
    found.retain(|argument| !argument.is_empty());
    found
}

/// The bytes outside strings, comments and escapes; of a string its first quote. A quote that does not end is an ordinary sign.
fn pieces(text: &str) -> impl Iterator<Item = (usize, u8)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let byte = *bytes.get(at)?;
            let here = at;
            match byte {
                b'\\' => at += 1 + bytes.get(at + 1).map_or(0, |next| usize::from(next.is_ascii())),
                b'#' => at += bytes[at..].iter().take_while(|byte| **byte != b'\n').count(),
                b'\'' | b'"' => {
                    at += string(&bytes[at..]).unwrap_or(1);
                    return Some((here, byte));
                }
                _ => {
                    at += 1;
                    return Some((here, byte));
                }
            }
        }
    })
}

/// How long the string is that begins here; only one with three quotes may have several lines.
fn string(text: &[u8]) -> Option<usize> {
    let quote = *text.first()?;
    let length = if text.starts_with(&[quote; 3]) { 3 } else { 1 };
    let mut at = length;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' if length == 1 => return None,
            byte if *byte == quote && text[at..].starts_with(&[quote; 3][..length]) => return Some(at + length),
            _ => at += 1,
        }
    }
    None
}

/// The value of an argument `name=value`; `None` where it has no name.
pub(super) fn value(argument: &str) -> Option<(&str, &str)> {
    let (name, value) = argument.split_once('=')?;
    let name = name.trim_end();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && !value.starts_with('=')).then(|| (name, value.trim_start()))
}

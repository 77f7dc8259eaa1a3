//! Just enough of Rust's grammar to tell code from comments, strings and tests, and to spell imports out. It knows no
//! house rule. It errs on the side of calling something code.

/// What a stretch of a text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    Comment,
    String,
    Character,
}

/// The text with comments and the insides of string and character literals blanked; every line stays where it was.
pub(super) fn code_only(text: &str) -> String {
    only(Part::Code, text)
}

/// The text with everything but string literals blanked; every line stays where it was.
pub(super) fn strings_only(text: &str) -> String {
    only(Part::String, text)
}

fn only(kept: Part, text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let (part, end) = match chars[at..] {
            ['/', '/', ..] => (Part::Comment, line_end(&chars, at)),
            ['/', '*', ..] => (Part::Comment, block_comment_end(&chars, at)),
            ['"', ..] => (Part::String, string_end(&chars, at + 1)),
            ['r', '"' | '#', ..] if starts_raw(&chars, at) => (Part::String, raw_string_end(&chars, at + 1)),
            ['\'', '\\', ..] => (Part::Character, find(&chars, at + 3, &['\''])),
            ['\'', _, '\'', ..] => (Part::Character, at + 3),
            _ => (Part::Code, at + 1),
        };
        let end = end.min(chars.len());
        out.extend(chars[at..end].iter().map(|c| if *c == '\n' || part == kept { *c } else { ' ' }));
        at = end;
    }
    out
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars[at..].iter().position(|c| *c == '\n').map_or(chars.len(), |length| at + length)
}

/// Block comments nest.
fn block_comment_end(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0;
    while at < chars.len() {
        match chars[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string_end(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// Whether the `r` at this place begins a raw string, and not a raw name. (The grammar lets no name touch a quote.)
fn starts_raw(chars: &[char], at: usize) -> bool {
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    chars.get(at + 1 + hashes) == Some(&'"')
}

fn raw_string_end(chars: &[char], at: usize) -> usize {
    let hashes = chars[at..].iter().take_while(|c| **c == '#').count();
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    find(chars, at + hashes + 1, &close)
}

/// The place after the next occurrence.
fn find(chars: &[char], from: usize, what: &[char]) -> usize {
    let from = from.min(chars.len());
    chars[from..]
        .windows(what.len())
        .position(|some| some == what)
        .map_or(chars.len(), |length| from + length + what.len())
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The code (of [`code_only`]) with every item under `#[cfg(test)]` blanked.
pub(super) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(begin) = rest.find(MARK) {
        let end = item_end(&rest[begin + MARK.len()..]).map_or(rest.len(), |length| begin + MARK.len() + length);
        out.push_str(&rest[..begin]);
        out.extend(rest[begin..end].chars().filter(|c| *c == '\n'));
        rest = &rest[end..];
    }
    out + rest
}

/// The length of the item that begins here: up to its `;`, or to the end of its braces.
fn item_end(code: &str) -> Option<usize> {
    let end = code.find(['{', ';'])?;
    if code[end..].starts_with(';') { Some(end + 1) } else { Some(end + braces_end(&code[end..])?) }
}

/// The length of the text from its `{` to the matching `}`.
fn braces_end(code: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Every `use` spelled out, with its line: `use a::{b, c::{d, e as f}};` is `a::b`, `a::c::d` and `a::c::e`.
pub(super) fn imports(code: &str) -> Vec<(usize, String)> {
    let mut paths = Vec::new();
    for (begin, _) in code.match_indices("use ") {
        let alone = !code[..begin].chars().next_back().is_some_and(is_name);
        if let (true, Some(length)) = (alone, code[begin..].find(';')) {
            expand("", code, begin + "use ".len(), begin + length, &mut paths);
        }
    }
    paths
}

fn expand(prefix: &str, code: &str, begin: usize, end: usize, paths: &mut Vec<(usize, String)>) {
    let tree = &code[begin..end];
    if let Some(open) = tree.find('{') {
        let prefix = format!("{prefix}{}", tree[..open].trim());
        let inner = begin + open + 1;
        let close = braces_end(&tree[open..]).map_or(end, |length| begin + open + length - 1);
        for (from, to) in split(&code[inner..close]) {
            expand(&prefix, code, inner + from, inner + to, paths);
        }
    } else if let Some(path) = tree.split_whitespace().next() {
        let line = code[..begin + tree.len() - tree.trim_start().len()].matches('\n').count() + 1;
        paths.push((line, format!("{prefix}{path}")));
    }
}

/// The ranges between the commas that stand in no inner braces.
fn split(list: &str) -> Vec<(usize, usize)> {
    let (mut ranges, mut begin, mut depth) = (Vec::new(), 0, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                ranges.push((begin, at));
                begin = at + 1;
            }
            _ => {}
        }
    }
    ranges.push((begin, list.len()));
    ranges
}

/// Whether the word stands in the line on its own: no part of a longer name, nor (`net::` in `std::net::`) of a longer path.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let in_path = word.ends_with("::") && before == Some(':');
        let runs_on = word.ends_with(is_name) && after.is_some_and(is_name);
        !before.is_some_and(is_name) && !in_path && !runs_on
    })
}

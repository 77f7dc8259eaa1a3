//! The words of Python's syntax.

/// One word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Int(i128),
    Float(f64),
    Text(String),
    /// One of the signs below.
    Sign(&'static str),
}

/// The longest first.
const SIGNS: [&str; 17] = ["...", "**", "//", "(", ")", "[", "]", "{", "}", ",", ":", "=", ".", "-", "+", "*", "/"];
/// How many words a text may have.
const MOST: usize = 50_000;

/// All words of a text.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if found.len() == MOST {
            return Err("too long".to_owned());
        }
        let length = if let Some((text, length)) = string(rest)? {
            match found.last_mut() {
                // Adjacent texts are one.
                Some(Token::Text(before)) => before.push_str(&text),
                _ => found.push(Token::Text(text)),
            }
            length
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push(Token::Name(rest[..length].to_owned()));
            length
        } else if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            let (number, length) = number(rest)?;
            found.push(number);
            length
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            found.push(Token::Sign(sign));
            sign.len()
        } else {
            return Err(format!("unexpected character `{first}`"));
        };
        rest = rest[length..].trim_start();
    }
    Ok(found)
}

fn number(text: &str) -> Result<(Token, usize), String> {
    let bytes = text.as_bytes();
    let radix = match bytes.get(..2) {
        Some(b"0x" | b"0X") => 16,
        Some(b"0o" | b"0O") => 8,
        Some(b"0b" | b"0B") => 2,
        _ => 10,
    };
    if radix != 10 {
        let length = text[2..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(text.len(), |end| end + 2);
        let digits = text[2..length].replace('_', "");
        let whole = i128::from_str_radix(&digits, radix).map_err(|_| "invalid number".to_owned())?;
        return Ok((Token::Int(whole), length));
    }
    let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
    let mut end = digits(0);
    let mut is_whole = true;
    if bytes.get(end) == Some(&b'.') {
        is_whole = false;
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            is_whole = false;
            end = digits(end + 1 + sign);
        }
    }
    if text[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return Err("invalid number".to_owned());
    }
    let written = text[..end].replace('_', "");
    // `007` is an error in Python, `000` is not.
    let has_zeros =
        is_whole && written.len() > 1 && written.starts_with('0') && written.bytes().any(|byte| byte != b'0');
    let token = match is_whole {
        true if !has_zeros => written.parse().ok().map(Token::Int),
        true => None,
        false => written.parse().ok().map(Token::Float),
    };
    token.map(|token| (token, end)).ok_or_else(|| "invalid number".to_owned())
}

/// A text with its prefix, and its length; `None` where none begins here.
fn string(text: &str) -> Result<Option<(String, usize)>, String> {
    let letters = text.bytes().take_while(|byte| b"rRuUbBfF".contains(byte)).take(2).count();
    let (prefix, rest) = text.split_at(letters);
    let Some(quote) = rest.chars().next().filter(|c| matches!(c, '\'' | '"')) else { return Ok(None) };
    let prefix = prefix.to_ascii_lowercase();
    if prefix.contains(['b', 'f']) {
        return Err("bytes and formatted texts are not supported".to_owned());
    }
    let three = quote.to_string().repeat(3);
    let closing = if rest.starts_with(&three) { three.as_str() } else { &three[..1] };
    let body = &rest[closing.len()..];
    let mut out = String::new();
    let mut at = 0;
    loop {
        let here = &body[at..];
        if here.starts_with(closing) {
            return Ok(Some((out, letters + closing.len() + at + closing.len())));
        }
        let Some(c) = here.chars().next() else { return Err("a text does not end".to_owned()) };
        if c == '\n' && closing.len() == 1 {
            return Err("a text does not end in its line".to_owned());
        }
        if c != '\\' {
            out.push(c);
            at += c.len_utf8();
        } else if prefix.contains('r') {
            let next = here[1..].chars().next().ok_or("a text does not end")?;
            out.push(c);
            out.push(next);
            at += 1 + next.len_utf8();
        } else {
            at += 1 + escape(&here[1..], &mut out)?;
        }
    }
}

/// One escape after its backslash: how long it is.
fn escape(text: &str, out: &mut String) -> Result<usize, String> {
    let c = text.chars().next().ok_or("a text does not end")?;
    let hex = |digits: usize| -> Result<char, String> {
        let code = text.get(1..=digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        code.ok_or_else(|| "invalid escape".to_owned()).map(|code| char::from_u32(code).unwrap_or('\u{fffd}'))
    };
    let (written, length) = match c {
        '\n' => return Ok(1),
        '\\' | '\'' | '"' => (c, 1),
        'n' => ('\n', 1),
        't' => ('\t', 1),
        'r' => ('\r', 1),
        'a' => ('\u{7}', 1),
        'b' => ('\u{8}', 1),
        'f' => ('\u{c}', 1),
        'v' => ('\u{b}', 1),
        'x' => (hex(2)?, 3),
        'u' => (hex(4)?, 5),
        'U' => (hex(8)?, 9),
        '0'..='7' => {
            let digits = text.bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            let code = u32::from_str_radix(&text[..digits], 8).unwrap_or_default();
            (char::from_u32(code).unwrap_or('\u{fffd}'), digits)
        }
        // An unknown escape stays as it is.
        other => {
            out.push('\\');
            (other, other.len_utf8())
        }
    };
    out.push(written);
    Ok(length)
}

//! What the beginning of a message tells whose end has not come. Must not wait for the end.

use super::{RequestId, read_id};
use crate::json::{self, Member, Token, Tokens};

/// How many bytes are looked at first.
const FIRST: usize = 1 << 10;

/// Whether a text that begins like this is the result of the request `id`: of the members that tell, `result` is the first.
/// An `id` before it must be the request's. `false` also where the beginning tells nothing.
pub fn begins_result(beginning: &[u8], id: &RequestId) -> bool {
    // Mostly the first few members tell, and nothing after them needs to be looked at.
    let first = &beginning[..beginning.len().min(FIRST)];
    let told = tells_result(valid(first), id);
    told.or_else(|| tells_result(valid(beginning), id)).unwrap_or_default()
}

/// The text up to what is not UTF-8, or not yet.
fn valid(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

fn tells_result(text: &str, id: &RequestId) -> Option<bool> {
    let mut tokens = Tokens::new(text);
    if !matches!(tokens.next_token(), Ok(Some((Token::ObjectStart, _)))) {
        return None;
    }
    while let Ok(Some((Token::Name, name))) = tokens.next_token() {
        match json::unquote(&text[name]).as_ref() {
            "result" => return Some(true),
            "method" | "error" => return Some(false),
            "id" => {
                let (kind, value) = tokens.next_token().ok()??;
                let found = Member { name: 0..0, kind, value, members: Vec::new() };
                if read_id(text, &found).as_ref() != Ok(id) {
                    return Some(false);
                }
            }
            _ => while tokens.next_token().ok().flatten().is_some() && tokens.depth() > 1 {},
        }
    }
    None
}

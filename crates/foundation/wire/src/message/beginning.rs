//! What the beginning of a message tells whose end has not come. Must not wait for the end.

use super::{RequestId, read_id};
use crate::json::{self, Member, Token, Tokens};

/// Whether a text that begins like this is the result of the request `id`: of the members that tell, `result` is the first.
/// An `id` before it must be the request's. `false` also where the beginning tells nothing.
pub fn begins_result(beginning: &[u8], id: &RequestId) -> bool {
    let valid = beginning.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    tells_result(valid, id).unwrap_or_default()
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

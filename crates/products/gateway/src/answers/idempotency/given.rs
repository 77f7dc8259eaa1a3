//! Which key a call has. Pure.

use net::service::Call;
use wire::json::unquote;
use wire::splice::{member, members};
use wire::{Message, meta};

use crate::answers::request::KEY_ARGUMENT;

/// The header that may hold a key.
const HEADER: &str = "idempotency-key";
/// The longest key, in characters.
const LONGEST: usize = 255;
/// A key that a client gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenKey {
    pub(crate) text: String,
    /// It is an argument of the tool.
    pub(crate) is_argument: bool,
}

/// The key of a call; what is wrong with it otherwise.
pub(crate) fn key_of(call: &Call) -> Result<Option<GivenKey>, String> {
    let argument = argument_of(&call.message)?;
    let is_argument = argument.is_some();
    let of_meta = match call.message.meta().and_then(|all| all.get(meta::IDEMPOTENCY_KEY)) {
        Some(value) => Some(value.as_str().ok_or("the key in `_meta` is not a string")?.to_owned()),
        None => None,
    };
    let mut keys: Vec<String> = argument.into_iter().chain(of_meta).collect();
    for value in call.context.headers.iter().flat_map(|headers| headers.get_all(HEADER)) {
        let text = value.to_str().map_err(|_| "the header `Idempotency-Key` is not plain text")?.trim();
        // As a string of RFC 8941, or as it is.
        let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
        keys.push(text.to_owned());
    }
    let Some(text) = keys.pop() else { return Ok(None) };
    if keys.iter().any(|other| *other != text) {
        return Err("the call has several keys".to_owned());
    }
    if text.is_empty() || text.len() > LONGEST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!("a key has 1 to {LONGEST} visible ASCII characters"));
    }
    Ok(Some(GivenKey { text, is_argument }))
}

fn argument_of(message: &Message) -> Result<Option<String>, String> {
    let Some(arguments) = message.body_member("arguments") else { return Ok(None) };
    let Some(all) = members(arguments) else { return Ok(None) };
    let Some(found) = member(arguments, &all, KEY_ARGUMENT) else { return Ok(None) };
    match &arguments[found.value.clone()] {
        text if text.starts_with('"') => Ok(Some(unquote(text).into_owned())),
        _ => Err(format!("the argument `{KEY_ARGUMENT}` is not a string")),
    }
}

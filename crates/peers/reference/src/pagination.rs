//! Pages of a list and the cursors between them (server/utilities/pagination).

use net::service::{Call, RpcError};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Handled;
use crate::params;
use crate::seal::Seal;

#[derive(Deserialize)]
struct Params {
    #[serde(default)]
    cursor: Option<String>,
}

/// The page that `call` asks for, as `{ name: […], nextCursor }`. Only what is on it is described.
pub(crate) fn page<T>(
    call: &Call,
    name: &str,
    items: impl Iterator<Item = T>,
    describe: impl Fn(T) -> Value,
    size: usize,
) -> Handled {
    params::meta(call)?;
    let Params { cursor } = params::read(call)?;
    let from = match cursor {
        None => 0,
        Some(cursor) => Seal::CURSORS
            .open(name, &cursor)
            .and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok())
            .ok_or_else(|| RpcError::invalid_params("Invalid params: `cursor` is not one this server gave"))?,
    };
    let mut rest = items.skip(from);
    let page: Vec<Value> = rest.by_ref().take(size).map(describe).collect();
    let next = from + page.len();
    let mut body = json!({ name: page });
    if rest.next().is_some() {
        body["nextCursor"] = json!(Seal::CURSORS.close(name, next.to_string().as_bytes()));
    }
    Ok(body)
}

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

/// The page that `call` asks for, as `{ name: […], nextCursor }`.
pub(crate) fn page(call: &Call, name: &str, items: Vec<Value>, size: usize) -> Handled {
    params::meta(call)?;
    let Params { cursor } = params::read(call)?;
    let from = match cursor {
        None => 0,
        Some(cursor) => Seal::CURSORS
            .open(name, &cursor)
            .and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok())
            .ok_or_else(|| RpcError::invalid_params("Invalid params: `cursor` is not one this server gave"))?,
    };
    let total = items.len();
    let page: Vec<Value> = items.into_iter().skip(from).take(size).collect();
    let next = from + page.len();
    let mut body = json!({ name: page });
    if next < total {
        body["nextCursor"] = json!(Seal::CURSORS.close(name, next.to_string().as_bytes()));
    }
    Ok(body)
}

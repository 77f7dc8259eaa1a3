//! Reads `params` into typed values; what does not fit is -32602 with a word on where.

use net::service::{Call, RpcError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wire::json::repair;

/// The members of a request's `_meta` that both eras have.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Meta {
    #[serde(default, rename = "progressToken")]
    pub(crate) progress_token: Option<Value>,
    #[serde(default, rename = "io.modelcontextprotocol/logLevel")]
    pub(crate) log_level: Option<String>,
}

#[derive(Deserialize)]
struct WithMeta {
    #[serde(default, rename = "_meta")]
    meta: Option<Meta>,
}

/// The parameters of `call` as a `T`.
pub(crate) fn read<T: DeserializeOwned>(call: &Call) -> Result<T, RpcError> {
    let text = call.message.body_text().unwrap_or("{}");
    if !text.starts_with('{') {
        return Err(RpcError::invalid_params("Invalid params: `params` is not an object"));
    }
    // A lone surrogate is valid JSON, though no text: it becomes U+FFFD rather than an error.
    serde_json::from_str(text)
        .or_else(|error| serde_json::from_str(&repair(text)).map_err(|_| error))
        .map_err(|error| RpcError::invalid_params(format!("Invalid params: {error}")))
}

/// `_meta` of `call`, with a progress token that is a string or an integer.
pub(crate) fn meta(call: &Call) -> Result<Meta, RpcError> {
    read::<WithMeta>(call)?.meta.unwrap_or_default().checked()
}

impl Meta {
    /// The same, where the progress token is one.
    pub(crate) fn checked(self) -> Result<Self, RpcError> {
        match &self.progress_token {
            None | Some(Value::String(_)) => Ok(self),
            Some(Value::Number(number)) if !number.is_f64() => Ok(self),
            Some(_) => {
                Err(RpcError::invalid_params("Invalid params: `progressToken` is neither a string nor an integer"))
            }
        }
    }
}

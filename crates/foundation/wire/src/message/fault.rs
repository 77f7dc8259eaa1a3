//! What is wrong with bytes that should have been a message.

use std::fmt;

use super::RequestId;
use crate::error_code::{INVALID_REQUEST, PARSE_ERROR};
use crate::json;

/// Why some bytes are not a JSON-RPC message, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// What is wrong.
    pub fault: Fault,
    /// Byte offset of the offending part.
    pub at: usize,
    /// The id of the message, where it could be read anyway: an error answer should carry it.
    pub id: Option<RequestId>,
    /// Whether it names a method: it is meant as a request or a notification.
    pub names_method: bool,
}

impl Malformed {
    /// The id of the request that it is meant to answer.
    pub fn answered(&self) -> Option<&RequestId> {
        self.id.as_ref().filter(|_| !self.names_method)
    }
}

/// What is wrong with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing but white space.
    Empty,
    /// Not UTF-8.
    NotUtf8,
    /// Not JSON.
    NotJson(json::Why),
    /// JSON, nested deeper than we read. Not the sender's fault.
    TooDeep,
    /// JSON, but neither an object nor an array.
    NotObject,
    /// `[]`
    EmptyBatch,
    /// An array inside a batch.
    NestedBatch,
    /// A member of the envelope (`id`, `method`, …) is repeated.
    DuplicateMember(String),
    /// No `jsonrpc` member.
    JsonrpcMissing,
    /// `jsonrpc` is not the string `2.0`.
    JsonrpcWrong,
    /// `method` is not a string.
    MethodNotString,
    /// The id of a request or a result is null.
    IdNull,
    /// The id is a number with a fraction.
    IdFraction,
    /// The id is neither a string nor a number.
    IdType,
    /// `params` is neither an object nor an array.
    ParamsType,
    /// Has a `method` and a `result` or `error`.
    RequestAndResponse,
    /// Has a `result` and an `error`.
    ResultAndError,
    /// Has no `method`, `result` or `error`.
    Nothing,
    /// A result without an id.
    ResultWithoutId,
    /// `error` is not an object.
    ErrorType,
    /// `error.code` is missing or not an integer.
    ErrorCode,
    /// `error.message` is missing or not a string.
    ErrorMessage,
}

impl Fault {
    /// The JSON-RPC error code that answers such a message.
    pub const fn code(&self) -> i64 {
        match self {
            Self::Empty | Self::NotUtf8 | Self::NotJson(_) | Self::TooDeep => PARSE_ERROR,
            _ => INVALID_REQUEST,
        }
    }

    /// Whether this is a limit of ours rather than a mistake of the sender's.
    pub const fn is_ours(&self) -> bool {
        matches!(self, Self::TooDeep)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Empty => "empty",
            Self::NotUtf8 => "not UTF-8",
            Self::NotJson(why) => return write!(f, "not JSON: {why}"),
            Self::TooDeep => return write!(f, "nested deeper than the {} levels we read", json::DEPTH_LIMIT),
            Self::NotObject => "not a JSON object",
            Self::EmptyBatch => "an empty batch",
            Self::NestedBatch => "an array inside a batch",
            Self::DuplicateMember(name) => return write!(f, "member `{}` stands twice", name.escape_debug()),
            Self::JsonrpcMissing => "no `jsonrpc` member",
            Self::JsonrpcWrong => "`jsonrpc` is not \"2.0\"",
            Self::MethodNotString => "`method` is not a string",
            Self::IdNull => "`id` is null",
            Self::IdFraction => "`id` is a number with a fraction",
            Self::IdType => "`id` is neither a string nor an integer",
            Self::ParamsType => "`params` is not an object",
            Self::RequestAndResponse => "both a request (`method`) and a response (`result` or `error`)",
            Self::ResultAndError => "both `result` and `error`",
            Self::Nothing => "no `method`, no `result` and no `error`",
            Self::ResultWithoutId => "a result without an `id`",
            Self::ErrorType => "`error` is not an object",
            Self::ErrorCode => "`error.code` is not an integer",
            Self::ErrorMessage => "`error.message` is not a string",
        };
        f.write_str(text)
    }
}

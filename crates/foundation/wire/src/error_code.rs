//! The error codes of JSON-RPC and of the five revisions. Must not know who sends which.

/// Not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// JSON, but not a valid request.
pub const INVALID_REQUEST: i64 = -32600;
/// No such method, in this revision or at all.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters do not fit the method.
pub const INVALID_PARAMS: i64 = -32602;
/// The receiver failed through a bug of its own.
pub const INTERNAL_ERROR: i64 = -32603;
/// No such resource (2025-11-25 and earlier).
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// The user must visit a page first (2025-11-25).
pub const URL_ELICITATION_REQUIRED: i64 = -32042;
/// An HTTP header contradicts the body or is missing (2026-07-28).
pub const HEADER_MISMATCH: i64 = -32020;
/// The client did not declare a capability that the request needs (2026-07-28).
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// The server does not support this version (2026-07-28).
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// The codes that only the modern era has: a peer that sends one speaks it.
pub const MODERN_ONLY: [i64; 3] = [HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION];

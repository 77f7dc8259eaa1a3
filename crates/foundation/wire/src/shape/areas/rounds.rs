//! Multi round-trip requests, since 2026-07-28: a result asks for input, and the request comes again with it.

use super::base::{REQUEST_PARAMS, RESULT};
use crate::revision::R2026_07_28;
use crate::shape::describe::{Definition, Field, STRING, define, either, map, object, one, opt, refers};

/// What a request brings when it comes again.
pub(super) const RETRIED: &[Field] = &[
    opt("inputResponses", refers("InputResponses")).since(R2026_07_28),
    opt("requestState", STRING).since(R2026_07_28),
];

pub(super) const SHAPES: &[Definition] = &[
    define(
        "InputRequiredResult",
        "Asks for input before the request can be answered.",
        object(&[RESULT, &[opt("inputRequests", refers("InputRequests")), opt("requestState", STRING)]]),
    )
    .since(R2026_07_28),
    define(
        "InputRequests",
        "The inputs that are wanted, by names of the server's choice.",
        map(&refers("InputRequest")),
    )
    .since(R2026_07_28),
    define(
        "InputRequest",
        "One input that is wanted.",
        either(&[one("CreateMessageRequest"), one("ListRootsRequest"), one("ElicitRequest")]),
    )
    .since(R2026_07_28),
    define("InputResponses", "The inputs, by the same names.", map(&refers("InputResponse"))).since(R2026_07_28),
    define(
        "InputResponse",
        "One input.",
        either(&[one("CreateMessageResult"), one("ListRootsResult"), one("ElicitResult")]),
    )
    .since(R2026_07_28),
    define(
        "InputResponseRequestParams",
        "Parameters of a request that may come again with input.",
        object(&[REQUEST_PARAMS, RETRIED]),
    )
    .since(R2026_07_28),
];

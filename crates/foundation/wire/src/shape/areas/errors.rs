//! Errors: the object itself, and the codes to which a revision gives a shape.

use crate::error_code::{
    HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY,
    PARSE_ERROR, UNSUPPORTED_VERSION, URL_ELICITATION_REQUIRED,
};
use crate::revision::{R2025_11_25, R2026_07_28};
use crate::shape::describe::{
    ANY, Definition, Field, INTEGER, STRING, both, code, define, exactly, list, object, opt, refers, req,
};

/// An error answer whose id may be missing.
const FAILED: &[Field] = &[req("jsonrpc", exactly("2.0")), opt("id", refers("RequestId"))];

/// What an error says besides its code.
const ERROR: &[Field] = &[req("message", STRING), opt("data", ANY)];

pub(super) const SHAPES: &[Definition] = &[
    define("Error", "What went wrong: a code, a sentence, details.", object(&[&[req("code", INTEGER)], ERROR]))
        .since(R2025_11_25),
    define("ParseError", "The message was not JSON.", object(&[&[req("code", code(PARSE_ERROR))], ERROR]))
        .since(R2026_07_28),
    define(
        "InvalidRequestError",
        "The message was no valid request.",
        object(&[&[req("code", code(INVALID_REQUEST))], ERROR]),
    )
    .since(R2026_07_28),
    define(
        "MethodNotFoundError",
        "The method is not known here.",
        object(&[&[req("code", code(METHOD_NOT_FOUND))], ERROR]),
    )
    .since(R2026_07_28),
    define(
        "InvalidParamsError",
        "The parameters do not suit the method.",
        object(&[&[req("code", code(INVALID_PARAMS))], ERROR]),
    )
    .since(R2026_07_28),
    define(
        "InternalError",
        "The receiver failed by its own fault.",
        object(&[&[req("code", code(INTERNAL_ERROR))], ERROR]),
    )
    .since(R2026_07_28),
    define(
        "HeaderMismatchError",
        "HTTP headers and body disagree.",
        object(&[FAILED, &[req("error", both(&[refers("Error"), object(&[&[req("code", code(HEADER_MISMATCH))]])]))]]),
    )
    .since(R2026_07_28),
    define(
        "MissingRequiredClientCapabilityError",
        "The request needs capabilities that the client did not declare.",
        object(&[
            FAILED,
            &[req(
                "error",
                both(&[
                    refers("Error"),
                    object(&[&[
                        req("code", code(MISSING_CLIENT_CAPABILITY)),
                        req("data", object(&[&[req("requiredCapabilities", refers("ClientCapabilities"))]])),
                    ]]),
                ]),
            )],
        ]),
    )
    .since(R2026_07_28),
    define(
        "UnsupportedProtocolVersionError",
        "The server does not speak the revision that was asked for.",
        object(&[
            FAILED,
            &[req(
                "error",
                both(&[
                    refers("Error"),
                    object(&[&[
                        req("code", code(UNSUPPORTED_VERSION)),
                        req("data", object(&[&[req("requested", STRING), req("supported", list(&STRING))]])),
                    ]]),
                ]),
            )],
        ]),
    )
    .since(R2026_07_28),
    define(
        "URLElicitationRequiredError",
        "The request can go on only after the user has visited these addresses.",
        object(&[
            FAILED,
            &[req(
                "error",
                both(&[
                    refers("Error"),
                    object(&[&[
                        req("code", code(URL_ELICITATION_REQUIRED)),
                        req("data", object(&[&[req("elicitations", list(&refers("ElicitRequestURLParams")))]])),
                    ]]),
                ]),
            )],
        ]),
    )
    .only(R2025_11_25),
];

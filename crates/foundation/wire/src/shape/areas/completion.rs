//! Completion of arguments, and the references that say whose argument it is.

use super::base::{ANSWER, NAMED, REQUEST, REQUEST_PARAMS, RESULT, kind, method};
use crate::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};
use crate::shape::describe::{
    BOOLEAN, Definition, INTEGER, STRING, URI_TEMPLATE, define, either, list, list_up_to, map, object, one, opt,
    refers, req,
};

pub(super) const SHAPES: &[Definition] = &[
    define(
        "CompleteRequest",
        "Asks how an argument might go on.",
        object(&[REQUEST, &[method("completion/complete"), req("params", refers("CompleteRequestParams"))]]),
    ),
    define(
        "CompleteRequestParams",
        "Whose argument, what has been typed of it, and the other arguments.",
        object(&[
            REQUEST_PARAMS,
            &[
                req("ref", either(&[one("PromptReference"), one("ResourceTemplateReference")])),
                req("argument", object(&[&[req("name", STRING), req("value", STRING)]])),
                opt("context", object(&[&[opt("arguments", map(&STRING))]])).since(R2025_06_18),
            ],
        ]),
    )
    .since(R2025_11_25),
    define(
        "CompleteResult",
        "Ways in which the argument might go on.",
        object(&[
            RESULT,
            &[req(
                "completion",
                object(&[&[
                    req("values", list(&STRING)).until(R2025_11_25),
                    req("values", list_up_to(100, &STRING)).since(R2026_07_28),
                    opt("total", INTEGER),
                    opt("hasMore", BOOLEAN),
                ]]),
            )],
        ]),
    ),
    define(
        "CompleteResultResponse",
        "The whole answer to completion/complete.",
        object(&[ANSWER, &[req("result", refers("CompleteResult"))]]),
    )
    .since(R2026_07_28),
    define("PromptReference", "Names a prompt.", object(&[&[kind("ref/prompt")], NAMED])),
    define("ResourceReference", "Names a resource or a template.", refers("ResourceTemplateReference"))
        .until(R2025_03_26),
    define(
        "ResourceTemplateReference",
        "Names a resource or a template.",
        object(&[&[kind("ref/resource"), req("uri", URI_TEMPLATE)]]),
    )
    .since(R2025_06_18),
];

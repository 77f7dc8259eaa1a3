//! Elicitation: a server asks the user, by a form or at an address.

use super::base::{NOTIFICATION, SERVER_REQUEST, kind, method};
use super::tasks::AS_TASK;
use crate::revision::{R2025_06_18, R2025_11_25};
use crate::shape::describe::{
    BOOLEAN, Definition, Field, INTEGER, NUMBER, STRING, Shape, URI, alt, define, either, exactly, list, map, object,
    one, opt, refers, req, words,
};

/// What a field of a form is called and for.
const LABEL: &[Field] = &[opt("title", STRING), opt("description", STRING)];

/// The choice where the user makes none.
const PRESET: &[Field] = &[opt("default", STRING).since(R2025_11_25)];

/// A list of which the user may choose several items.
const SEVERAL: &[Field] =
    &[kind("array"), opt("minItems", INTEGER), opt("maxItems", INTEGER), opt("default", list(&STRING))];

/// Choices with a value for programs and a title for people.
const TITLED: Shape = list(&object(&[&[req("const", STRING), req("title", STRING)]]));

/// What the user is told.
const MESSAGE: &[Field] = &[req("message", STRING)];

pub(super) const SHAPES: &[Definition] = &[
    define(
        "ElicitRequest",
        "Asks the user for something.",
        object(&[SERVER_REQUEST, &[method("elicitation/create"), req("params", refers("ElicitRequestParams"))]]),
    )
    .since(R2025_06_18),
    define(
        "ElicitRequestParams",
        "What is asked: a form to fill in, or an address to visit.",
        either(&[one("ElicitRequestFormParams"), one("ElicitRequestURLParams").since(R2025_11_25)]),
    )
    .since(R2025_11_25),
    define(
        "ElicitRequestFormParams",
        "A form to fill in.",
        object(&[AS_TASK, MESSAGE, &[opt("mode", exactly("form")).since(R2025_11_25), req("requestedSchema", FORM)]]),
    )
    .since(R2025_11_25),
    define(
        "ElicitRequestURLParams",
        "An address to visit.",
        object(&[
            AS_TASK,
            MESSAGE,
            &[req("mode", exactly("url")), req("url", URI), req("elicitationId", STRING).only(R2025_11_25)],
        ]),
    )
    .since(R2025_11_25),
    define(
        "ElicitResult",
        "Whether the user agreed, and what was filled in.",
        object(&[&[
            opt("_meta", refers("MetaObject")).until(R2025_11_25),
            req("action", words(&["accept", "decline", "cancel"])),
            opt(
                "content",
                map(&either(&[alt(STRING), alt(NUMBER), alt(BOOLEAN), alt(list(&STRING)).since(R2025_11_25)])),
            ),
        ]]),
    )
    .since(R2025_06_18),
    define(
        "ElicitationCompleteNotification",
        "Says that the user is done at the address.",
        object(&[
            NOTIFICATION,
            &[method("notifications/elicitation/complete"), req("params", object(&[&[req("elicitationId", STRING)]]))],
        ]),
    )
    .only(R2025_11_25),
    define(
        "PrimitiveSchemaDefinition",
        "One field of a form.",
        either(&[one("StringSchema"), one("NumberSchema"), one("BooleanSchema"), one("EnumSchema")]),
    )
    .since(R2025_06_18),
    define(
        "StringSchema",
        "A field for text.",
        object(&[
            LABEL,
            PRESET,
            &[
                kind("string"),
                opt("minLength", INTEGER),
                opt("maxLength", INTEGER),
                opt("format", words(&["email", "uri", "date", "date-time"])),
            ],
        ]),
    )
    .since(R2025_06_18),
    define(
        "NumberSchema",
        "A field for a number.",
        object(&[
            LABEL,
            &[
                req("type", words(&["number", "integer"])),
                opt("minimum", NUMBER),
                opt("maximum", NUMBER),
                opt("default", NUMBER).since(R2025_11_25),
            ],
        ]),
    )
    .since(R2025_06_18),
    define("BooleanSchema", "A field for yes or no.", object(&[LABEL, &[kind("boolean"), opt("default", BOOLEAN)]]))
        .since(R2025_06_18),
    define(
        "EnumSchema",
        "A field with fixed choices.",
        either(&[
            one("LegacyTitledEnumSchema"),
            one("SingleSelectEnumSchema").since(R2025_11_25),
            one("MultiSelectEnumSchema").since(R2025_11_25),
        ]),
    )
    .since(R2025_06_18),
    define(
        "LegacyTitledEnumSchema",
        "A field with one choice among several, the titles in a list of their own.",
        object(&[LABEL, PRESET, &[kind("string"), req("enum", list(&STRING)), opt("enumNames", list(&STRING))]]),
    )
    .since(R2025_11_25),
    define(
        "SingleSelectEnumSchema",
        "A field with one choice among several.",
        either(&[one("UntitledSingleSelectEnumSchema"), one("TitledSingleSelectEnumSchema")]),
    )
    .since(R2025_11_25),
    define(
        "UntitledSingleSelectEnumSchema",
        "One choice among several, without titles.",
        object(&[LABEL, PRESET, &[kind("string"), req("enum", list(&STRING))]]),
    )
    .since(R2025_11_25),
    define(
        "TitledSingleSelectEnumSchema",
        "One choice among several, with titles.",
        object(&[LABEL, PRESET, &[kind("string"), req("oneOf", TITLED)]]),
    )
    .since(R2025_11_25),
    define(
        "MultiSelectEnumSchema",
        "A field with any number of choices.",
        either(&[one("UntitledMultiSelectEnumSchema"), one("TitledMultiSelectEnumSchema")]),
    )
    .since(R2025_11_25),
    define(
        "UntitledMultiSelectEnumSchema",
        "Any number of choices, without titles.",
        object(&[LABEL, SEVERAL, &[req("items", object(&[&[kind("string"), req("enum", list(&STRING))]]))]]),
    )
    .since(R2025_11_25),
    define(
        "TitledMultiSelectEnumSchema",
        "Any number of choices, with titles.",
        object(&[LABEL, SEVERAL, &[req("items", object(&[&[req("anyOf", TITLED)]]))]]),
    )
    .since(R2025_11_25),
];

/// A flat form: fields by name, and which of them must be filled in.
const FORM: Shape = object(&[&[
    opt("$schema", STRING).since(R2025_11_25),
    kind("object"),
    req("properties", map(&refers("PrimitiveSchemaDefinition"))),
    opt("required", list(&STRING)),
]]);

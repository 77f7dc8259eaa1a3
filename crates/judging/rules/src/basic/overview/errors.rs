//! The page `basic`, section "Error Codes", and what JSON-RPC 2.0 says of its own codes.

use serde_json::Value;
use wire::error_code::{
    HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY,
    PARSE_ERROR, RESOURCE_NOT_FOUND, UNSUPPORTED_VERSION, URL_ELICITATION_REQUIRED,
};
use wire::message::Fault;
use wire::meta;
use wire::method::{self, Form};
use wire::revision::{R2024_11_05, R2025_03_26, R2026_07_28};
use wire::shape;
use wire::{Kind, Transport};

use crate::basic::versioning::headers_agree;
use crate::extensions::tasks;
use crate::names::OF_EVERY_OBJECT;
use crate::rule::{Anchor, Rule, at, both, client, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, InvalidMessage, MessageAt, View, declared};

const FIRST: Anchor = at("basic/messages", "");
const SINCE: Anchor = at("basic/index", "messages");
const CODES: Anchor = at("basic/index", "error-codes");

/// The section's rules.
pub(crate) const RULES: &[Rule] = &[
    both("errors.parse-error")
        .says(R2024_11_05, FIRST, "Text that is not JSON SHOULD be answered, if at all, with the code -32700.")
        .says(R2025_03_26, SINCE, "Text that is not JSON SHOULD be answered, if at all, with the code -32700.")
        .says(R2026_07_28, CODES, "Text that is not JSON SHOULD be answered, if at all, with the code -32700.")
        .how("Sends text that is not JSON and looks at the code of the error that comes back.")
        .fix("Answer unreadable text with code -32700 (parse error) and a null id.")
        .judge(parse_error),
    both("errors.invalid-request")
        .says(R2024_11_05, FIRST, "JSON that is not a request object SHOULD be answered, if at all, with the code -32600.")
        .says(R2025_03_26, SINCE, "JSON that is not a request object SHOULD be answered, if at all, with the code -32600.")
        .says(R2026_07_28, CODES, "JSON that is not a request object SHOULD be answered, if at all, with the code -32600.")
        .how("Sends JSON whose envelope is wrong (no `jsonrpc`, a method that is not a string, …) and looks at the code of the error that comes back.")
        .fix("Answer a malformed envelope with code -32600 (invalid request).")
        .judge(invalid_request),
    both("errors.method-not-found")
        .says(R2024_11_05, FIRST, "A request of a method that does not exist SHOULD be answered with the code -32601.")
        .says(R2025_03_26, SINCE, "A request of a method that does not exist SHOULD be answered with the code -32601.")
        .says(R2026_07_28, CODES, "A request of a method that does not exist SHOULD be answered with the code -32601.")
        .how("Asks for a method that does not exist and looks at the answer; also at refusals of methods that the revision has removed.")
        .fix("Answer unknown methods with an error, code -32601 (method not found).")
        .judge(method_not_found),
    server("errors.method-not-declared")
        .says(R2026_07_28, CODES, "A method of a capability that the server does not declare SHOULD be answered, if refused, with the code -32601.")
        .how("Asks for a method whose capability the server did not declare and looks at the code of the error.")
        .fix("Treat the methods of capabilities you do not declare as unknown: code -32601.")
        .judge(method_not_declared),
    both("errors.invalid-params")
        .says(R2024_11_05, FIRST, "Params that a method does not take SHOULD be answered with the code -32602 where a code of JSON-RPC is used.")
        .says(R2025_03_26, SINCE, "Params that a method does not take SHOULD be answered with the code -32602 where a code of JSON-RPC is used.")
        .says(R2026_07_28, CODES, "Params that a method does not take SHOULD be answered with the code -32602 where a code of JSON-RPC is used.")
        .how("Sends a known method params that its schema refuses and looks at the code of the error.")
        .fix("Answer params that do not validate with code -32602 (invalid params), not with an internal error.")
        .judge(invalid_params),
    server("errors.no-retired-codes")
        .says(R2026_07_28, CODES, "The codes -32002 and -32042 of earlier revisions MUST NOT be sent.")
        .how("Looks at the code of every error.")
        .fix("Answer a missing resource with -32602, and ask for URL elicitation with an `input_required` result.")
        .judge(no_retired_codes),
    both("errors.reserved-codes-defined")
        .says(R2026_07_28, CODES, "A code from -32020 to -32099 MUST be one that the specification defines.")
        .how("Looks at the code of every error.")
        .fix("Choose codes of your own outside -32768 to -32000.")
        .judge(reserved_codes_defined),
    server("errors.codes-mean-what-they-say")
        .says(R2026_07_28, CODES, "A code that the specification defines MUST be used only in its meaning.")
        .how("Checks -32020 against the transport (there are no headers on stdio), -32021 against what the client declared, -32022 against the versions listed in the same error.")
        .fix("Use -32020 for header mismatches, -32021 for capabilities the client lacks, -32022 for versions you do not serve, and for nothing else.")
        .judge(codes_mean),
    both("errors.legacy-range-unused")
        .says(R2026_07_28, CODES, "New implementations SHOULD NOT use codes from -32000 to -32019.")
        .how("Looks at the code of every error; -32002 has a rule of its own.")
        .fix("Choose codes of your own outside -32768 to -32000.")
        .judge(legacy_range_unused),
    both("errors.own-codes-outside")
        .says(R2026_07_28, CODES, "Application-defined codes SHOULD lie outside -32768 to -32000.")
        .how("Looks at the code of every error.")
        .fix("Choose codes of your own outside -32768 to -32000.")
        .judge(own_codes_outside),
    client("errors.client-legacy-codes-unread")
        .says(R2026_07_28, CODES, "A client MUST NOT read a meaning into codes from -32000 to -32019, but for -32002.")
        .unobservable("how a client interprets a code does not show in its messages: it may react to the error itself, or to its message"),
];

/// The error by which something unreadable was answered: the first error after it on its stream, without an id or with
/// its id, and before anything else unreadable was sent there. HTTP+SSE has one stream for all that is posted.
fn reply_to<'v>(view: &View<'v>, invalid: &InvalidMessage<'v>) -> Option<MessageAt<'v>> {
    let here = |connection: u32, exchange: u32| {
        connection == invalid.connection && (exchange == invalid.exchange || view.transport() == Transport::HttpSse)
    };
    let reply = view.by_subject().find(|s| {
        here(s.connection, s.exchange)
            && s.event > invalid.event
            && s.message.kind() == Kind::Error
            && (s.message.id().is_none() || s.message.id() == invalid.malformed.id.as_ref())
    })?;
    let alone = !view
        .invalid_by_peer()
        .any(|g| here(g.connection, g.exchange) && g.event < reply.event && g.event != invalid.event);
    let notified = view
        .by(invalid.from)
        .any(|s| here(s.connection, s.exchange) && s.event > invalid.event && s.event < reply.event);
    (alone && !notified && !view.is_http_refusal(reply) && view.is_fully_seen(invalid.connection)).then_some(reply)
}

fn expect_code(sent: MessageAt<'_>, expected: i64, what: &str) -> Kept {
    match sent.message.error_code() {
        Some(code) if code == expected => Ok(()),
        code => {
            let code = code.map_or_else(|| "none".to_owned(), |c| c.to_string());
            Err(sent.breach("/error/code", format!("{what} was answered with the code {code}, not {expected}")))
        }
    }
}

fn parse_error(view: &View<'_>) -> Verdict {
    let bad = view.invalid_by_peer().filter(|g| matches!(g.malformed.fault, Fault::NotJson(_)));
    let replies: Vec<_> = bad.filter_map(|g| reply_to(view, &g)).collect();
    Verdict::every(replies, "no text that is not JSON was sent and answered", |s| {
        expect_code(*s, PARSE_ERROR, "text that is not JSON")
    })
}

fn invalid_request(view: &View<'_>) -> Verdict {
    let envelope = |fault: &Fault| {
        matches!(
            fault,
            Fault::NotObject
                | Fault::JsonrpcMissing
                | Fault::JsonrpcWrong
                | Fault::MethodNotString
                | Fault::IdNull
                | Fault::IdFraction
                | Fault::IdType
        )
    };
    let bad = view.invalid_by_peer().filter(|g| envelope(&g.malformed.fault));
    let replies: Vec<_> = bad.filter_map(|g| reply_to(view, &g)).collect();
    Verdict::every(replies, "no malformed request was sent and answered", |s| {
        expect_code(*s, INVALID_REQUEST, "a malformed request")
    })
}

/// Whether no server implements a method: no revision has it, and its name says that it does not exist, or is one that every
/// object of a language has. Any other unknown name may be a method of the server's own.
pub(crate) fn is_made_up_name(name: &str) -> bool {
    let marked = ["no-such", "no_such", "nonexistent", "non-existent", "does-not-exist", "unknown"];
    let says_so = |segment: &str| marked.into_iter().any(|t| segment.starts_with(t));
    OF_EVERY_OBJECT.contains(&name) || !method::known_ever(name) && name.split('/').any(says_so)
}

fn method_not_found(view: &View<'_>) -> Verdict {
    let calls = view.calls_by(view.subject().peer()).filter(|c| {
        let name = c.request.message.method().unwrap_or_default();
        let unknown = is_made_up_name(name) || (is_removed(view, name) && c.error().is_some());
        unknown
            && !c.request.batched
            && view.is_valid_request(c.request)
            && c.response.is_some_and(|r| !view.is_envelope_refusal(r))
    });
    Verdict::every(calls, "no method that does not exist was requested and answered", |call| {
        call.response.map_or(Ok(()), |r| expect_answer(r, METHOD_NOT_FOUND, "a method that does not exist"))
    })
}

/// A method that this revision no longer has: a server may continue serving it, but refuses it as unknown. How
/// `initialize` is refused is left to the server, and an extension may have kept what the core has not.
fn is_removed(view: &View<'_>, name: &str) -> bool {
    let extended = tasks::METHODS.contains(&name) && view.capability(meta::TASKS_CAPABILITY).is_some();
    name != "initialize" && !extended && method::removed_at(name, view.revision()).is_some()
}

fn expect_answer(sent: MessageAt<'_>, code: i64, what: &str) -> Kept {
    if sent.message.kind() == Kind::Result {
        return Err(sent.breach("/result", format!("{what} was answered with a result, not with the error {code}")));
    }
    expect_code(sent, code, what)
}

fn method_not_declared(view: &View<'_>) -> Verdict {
    let Some(capabilities) = view.server_capabilities() else {
        return Verdict::NotSeen("what the server declares is not known here".to_owned());
    };
    let calls = view.all_calls().filter(|c| {
        let needs =
            c.request.message.method().and_then(|m| method::find(m, view.revision())?.capability_at(view.revision()));
        let undeclared = needs.is_some_and(|(_, path)| declared(capabilities, path).is_none());
        undeclared
            && view.is_valid_request(c.request)
            && c.error().is_some()
            && c.response.is_some_and(|r| !view.is_envelope_refusal(r))
    });
    Verdict::every(calls, "no method of an undeclared capability was asked for and refused", |call| {
        call.response.map_or(Ok(()), |r| expect_code(r, METHOD_NOT_FOUND, "a method of an undeclared capability"))
    })
}

fn invalid_params(view: &View<'_>) -> Verdict {
    let calls = view.calls_by(view.subject().peer()).filter(|c| {
        let of_json_rpc =
            matches!(c.error_code(), Some(PARSE_ERROR | INVALID_REQUEST | INVALID_PARAMS | INTERNAL_ERROR));
        of_json_rpc
            && view.is_valid_request(c.request)
            && takes_no_such_params(view, c.request)
            && c.response.is_some_and(|r| !view.is_envelope_refusal(r))
    });
    Verdict::every(
        calls,
        "no request with params that its method does not take was answered with a code of JSON-RPC",
        |call: &Call<'_>| {
            call.response
                .map_or(Ok(()), |r| expect_code(r, INVALID_PARAMS, "a request whose params its method does not take"))
        },
    )
}

/// Whether the schema refuses the params of a request, and nothing else of it.
fn takes_no_such_params(view: &View<'_>, request: MessageAt<'_>) -> bool {
    let name = request.message.method().unwrap_or_default();
    let Some(method) = method::find(name, view.revision()).filter(|m| m.form == Form::Request) else { return false };
    let mismatches = shape::check(method.definition, view.revision(), request.message.value()).unwrap_or_default();
    !mismatches.is_empty() && mismatches.iter().all(|m| m.pointer.starts_with("/params"))
}

/// Holds where no error has a code that `is_wrong`, each error being a witness.
fn no_code(view: &View<'_>, is_wrong: impl Fn(i64) -> bool, why: &str) -> Verdict {
    let errors = view.by_subject().filter(|s| s.message.kind() == Kind::Error && is_modern(view, *s));
    Verdict::every(errors, "no error was seen", |sent| match sent.message.error_code() {
        Some(code) if is_wrong(code) => Err(sent.breach("/error/code", format!("the code {code} {why}"))),
        _ => Ok(()),
    })
}

/// Errors on a connection that a handshake opened belong to a legacy revision, and so does the refusal of a handshake.
fn is_modern(view: &View<'_>, sent: MessageAt<'_>) -> bool {
    view.handshake(sent.connection).is_none() && !view.question(sent).is_some_and(|q| q.is("initialize"))
}

fn no_retired_codes(view: &View<'_>) -> Verdict {
    no_code(
        view,
        |code| matches!(code, RESOURCE_NOT_FOUND | URL_ELICITATION_REQUIRED),
        "belongs to an earlier revision and must not be sent in this one",
    )
}

fn reserved_codes_defined(view: &View<'_>) -> Verdict {
    let undefined = |code| {
        (-32099..=HEADER_MISMATCH).contains(&code)
            && !matches!(code, UNSUPPORTED_VERSION..=HEADER_MISMATCH | URL_ELICITATION_REQUIRED)
    };
    no_code(view, undefined, "is reserved for the specification, which does not define it")
}

fn legacy_range_unused(view: &View<'_>) -> Verdict {
    no_code(
        view,
        |code| (-32019..=-32000).contains(&code) && code != RESOURCE_NOT_FOUND,
        "lies in the range left to old implementations",
    )
}

fn own_codes_outside(view: &View<'_>) -> Verdict {
    let reserved =
        |code| (-32768..=-32100).contains(&code) && !matches!(code, PARSE_ERROR | INTERNAL_ERROR..=INVALID_REQUEST);
    no_code(view, reserved, "lies in the range JSON-RPC reserves and is not one of its codes")
}

fn codes_mean(view: &View<'_>) -> Verdict {
    let errors = view.all_calls().filter(|c| matches!(c.error_code(), Some(UNSUPPORTED_VERSION..=HEADER_MISMATCH)));
    Verdict::every(errors, "no error with a code that the specification defines was seen", |call| {
        let Some(response) = call.response else { return Ok(()) };
        let wrong = |why: &str| Err(response.breach("/error/code", why));
        match call.error_code() {
            Some(HEADER_MISMATCH) if view.transport() == Transport::Stdio => {
                wrong("-32020 means that HTTP headers do not match the body; there are none on stdio")
            }
            Some(MISSING_CLIENT_CAPABILITY) if wants_only_declared(call) => {
                wrong("-32021 means that the client lacks a capability; it declared every one that is listed")
            }
            Some(UNSUPPORTED_VERSION) if refuses_a_listed_version(call) && headers_agree(view, call) => {
                wrong("-32022 means that the version is not served; the error itself lists it as supported")
            }
            _ => Ok(()),
        }
    })
}

fn wants_only_declared(call: &Call<'_>) -> bool {
    let listed = call.error().and_then(|e| e.pointer("/data/requiredCapabilities")?.as_object());
    let declared = call.request.message.meta().and_then(|m| m.get(meta::CLIENT_CAPABILITIES));
    match (listed, declared) {
        (Some(listed), Some(declared)) if !listed.is_empty() => {
            listed.iter().all(|(name, expected)| declared.get(name).is_some_and(|has| covers(has, expected)))
        }
        _ => false,
    }
}

/// Whether a declared capability has every expected member.
fn covers(has: &Value, expected: &Value) -> bool {
    match (has, expected) {
        (Value::Object(has), Value::Object(expected)) => {
            expected.iter().all(|(name, expected)| has.get(name).is_some_and(|has| covers(has, expected)))
        }
        _ => has == expected,
    }
}

fn refuses_a_listed_version(call: &Call<'_>) -> bool {
    let requested = call.request.message.meta().and_then(|m| m.get(meta::PROTOCOL_VERSION));
    let listed = call.error().and_then(|e| e.pointer("/data/supported")?.as_array());
    requested.zip(listed).is_some_and(|(requested, listed)| listed.contains(requested))
}

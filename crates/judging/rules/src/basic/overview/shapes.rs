//! Wire shapes: every message has the members its method demands, of the right types, as the schema of its revision
//! says. What the shapes are is `wire::shape`'s business; here it is decided only which one a message must have.

use serde_json::Value;
use wire::Era::Modern;
use wire::error_code::{HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION, URL_ELICITATION_REQUIRED};
use wire::meta;
use wire::revision::{R2024_11_05, R2025_11_25, R2026_07_28};
use wire::shape::{self, Extension, Formatted, Mismatch, Misspelt};
use wire::{Kind, Party, Revision, method};

use crate::reading::content::{is_base64, scheme, uri_fault};
use crate::rule::{Rule, at, both};
use crate::server::resources::subscriptions::UPDATED;
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{MessageAt, View};

/// The rules, one for each class of message.
pub(crate) const RULES: &[Rule] = &[
    both("shape.requests")
        .says(R2024_11_05, at("basic/index", "schema"), "A request MUST have the shape that the schema gives its method.")
        .how("Compares every request of a known method with the schema of the revision that is spoken. A client's request of a method that 2026-07-28 removed has no shape there; nor has `initialize` for it, once `server/discover` has listed it.")
        .fix("Send the members that the schema demands, with the types it gives them.")
        .judge(requests),
    both("shape.notifications")
        .says(R2024_11_05, at("basic/index", "schema"), "A notification MUST have the shape that the schema gives its method.")
        .how("Compares every notification of a known method with the schema of the revision that is spoken. A client's notification that 2026-07-28 removed has no shape there.")
        .fix("Send the members that the schema demands, with the types it gives them.")
        .judge(notifications),
    both("shape.results")
        .says(R2024_11_05, at("basic/index", "schema"), "A result MUST have the shape that the schema gives the method it answers.")
        .how("Compares every result with the schema's result for the method that was asked; those of the tasks extension with its own. Other extensions' methods and result types are left alone.")
        .fix("Answer with the members that the schema demands, with the types it gives them.")
        .judge(results),
    both("shape.errors")
        .says(R2024_11_05, at("basic/index", "schema"), "An error response MUST have the shape that the schema gives its code.")
        .how("Compares every error response with the schema: its general form, and the `data` of the codes that define one.")
        .fix("Give the error the members that the schema demands for its code.")
        .judge(errors),
    both("shape.formats")
        .says(
            R2024_11_05,
            at("basic/index", "schema"),
            "A text that the schema calls Base64 or a URI MUST be one.",
        )
        .how("Reads the images, sounds and links in results of tools, the URIs of listed resources and of those said to have changed, and the images and sounds of sampling. A client that reads a listed template without filling it in reads no URI. A text that the other party had sent before does not count. Prompts, read resources, icons and elicitation have rules of their own.")
        .fix("Encode binary data in Base64 without a prefix such as `data:`, and write URIs with their scheme.")
        .judge(formats),
];

fn requests(view: &View<'_>) -> Verdict {
    if let Some(sent) = gone(view, Kind::Request) {
        return Verdict::Broken(sent.breach("/method", not_here(view, sent)));
    }
    if let Some(sent) = greeted_twice(view) {
        let why = "the server was discovered to speak this revision, which has no `initialize`";
        return Verdict::Broken(sent.breach("/method", why));
    }
    calls_of(view, Kind::Request, "no request of a known method was sent")
}

/// What a client sends of an older era in the modern one. Before a modern request fails, no client knows the era: the
/// handshake itself is no breach, nor what follows it.
fn gone<'v>(view: &View<'v>, kind: Kind) -> Option<MessageAt<'v>> {
    if view.revision().era() != Modern || view.subject() != Party::Client {
        return None;
    }
    let greeted = |sent: &MessageAt<'v>| {
        view.by(Party::Client).any(|other| other.connection == sent.connection && other.is("initialize"))
    };
    let former = |name: &str| {
        let here = method::find(name, view.revision());
        // Tasks are an extension's matter there.
        here.is_none() && method::known_ever(name) && !name.contains("tasks/") && name != "initialize"
    };
    let own = view.by(Party::Client).filter(|sent| sent.message.kind() == kind && view.is_current(*sent));
    own.filter(|sent| sent.message.method().is_some_and(former)).find(|sent| !greeted(sent))
}

/// A handshake for a revision that the server said it speaks when it was discovered, and that has none. A handshake for an
/// older revision is the client's choice.
fn greeted_twice<'v>(view: &View<'v>) -> Option<MessageAt<'v>> {
    if view.revision().era() != Modern || view.subject() != Party::Client {
        return None;
    }
    let discovered = |sent: &MessageAt<'v>| {
        let mut found = view.client_calls("server/discover").filter_map(|call| Some((call.response?, call.result()?)));
        let lists = |result: &Value| {
            let all = result.get("supportedVersions").and_then(Value::as_array);
            all.is_some_and(|all| all.iter().any(|one| one == view.revision().as_str()))
        };
        found.any(|(answer, result)| answer.connection == sent.connection && answer.event < sent.event && lists(result))
    };
    let asks = |sent: &MessageAt<'v>| {
        sent.message.params().and_then(|p| p.get("protocolVersion")).is_some_and(|v| v == view.revision().as_str())
    };
    view.by(Party::Client).filter(|sent| sent.is("initialize") && asks(sent)).find(discovered)
}

fn not_here(view: &View<'_>, sent: MessageAt<'_>) -> String {
    format!("`{}` is no method of {}", sent.message.method().unwrap_or_default().escape_debug(), view.revision())
}

fn notifications(view: &View<'_>) -> Verdict {
    if let Some(sent) = view.notifications("notifications/cancelled").find(|s| names_nothing(view, *s)) {
        let why = "the cancellation names no request; tasks, which have none, are cancelled by `tasks/cancel`";
        return Verdict::Broken(sent.breach("/params", why));
    }
    if let Some(sent) = gone(view, Kind::Notification) {
        return Verdict::Broken(sent.breach("/method", not_here(view, sent)));
    }
    calls_of(view, Kind::Notification, "no notification of a known method was sent")
}

/// Only in 2025-11-25 the schema omits what the text demands: `requestId`, for every cancellation but that of a task.
fn names_nothing(view: &View<'_>, sent: MessageAt<'_>) -> bool {
    let named = sent.message.params().is_some_and(|p| p.get("requestId").is_some());
    view.revision() == R2025_11_25 && view.is_current(sent) && !named
}

/// What a message must look like: a definition of its revision's schema or of an extension's.
#[derive(Clone, Copy)]
enum Shape {
    Core(&'static str),
    Extended(Extension, &'static str),
}

/// Requests or notifications of the judged party whose method the revision spoken has.
fn calls_of(view: &View<'_>, kind: Kind, unseen: &str) -> Verdict {
    let known = view.by_subject().filter(|s| s.message.kind() == kind && view.is_current(*s)).filter_map(|sent| {
        if has_tasks(view) && sent.is("notifications/tasks") && sent.from == Party::Server {
            return Some((sent.event, (sent, Shape::Extended(Extension::Tasks, "TaskStatusNotification"))));
        }
        let method = method::find(sent.message.method()?, view.revision())?;
        method.direction.allows(sent.from).then_some((sent.event, (sent, Shape::Core(method.definition))))
    });
    Verdict::every(known, unseen, |(_, (sent, shape))| fits(view.revision(), *shape, sent.message.value(), *sent, ""))
}

/// Whether the server has the tasks extension: before its revision the name means nothing.
fn has_tasks(view: &View<'_>) -> bool {
    let declared = view.capability(meta::TASKS_CAPABILITY).is_some();
    declared && view.revision() == Extension::Tasks.revision()
}

fn results(view: &View<'_>) -> Verdict {
    let answered = view.calls_by(view.subject().peer()).filter_map(|call| {
        let response = call.response.filter(|r| view.is_current(*r))?;
        let shape = result_shape(view, call.request, call.result()?)?;
        Some((response.event, (response, shape, call.result()?)))
    });
    Verdict::every(answered, "no result of a known method was seen", |(_, (response, shape, result))| {
        fits(view.revision(), *shape, result, *response, "/result")
    })
}

/// The shape that a result must have.
fn result_shape(view: &View<'_>, request: MessageAt<'_>, result: &Value) -> Option<Shape> {
    let task = result.get("resultType").is_some_and(|kind| kind == "task");
    let extended = |definition| Some(Shape::Extended(Extension::Tasks, definition));
    match request.message.method()? {
        "tools/call" if task && has_tasks(view) => extended("CreateTaskResult"),
        "tasks/get" if has_tasks(view) => extended("GetTaskResult"),
        "tasks/update" if has_tasks(view) => extended("UpdateTaskResult"),
        "tasks/cancel" if has_tasks(view) => extended("CancelTaskResult"),
        _ => result_definition(view, request, result).map(Shape::Core),
    }
}

/// Whether a result is, in every member, what the schema has for the method that was asked.
pub(crate) fn fits_whole(view: &View<'_>, request: MessageAt<'_>, result: &Value) -> bool {
    let found = match result_shape(view, request, result) {
        Some(Shape::Core(definition)) => shape::check(definition, view.revision(), result),
        Some(Shape::Extended(extension, definition)) => extension.check(definition, result),
        None => None,
    };
    found.is_some_and(|mismatches| mismatches.is_empty())
}

/// Every message of the judged party that is described, with the members of it that are spelt otherwise than there.
pub(super) fn spelt<'v>(view: &View<'v>) -> Vec<(MessageAt<'v>, Vec<Misspelt>)> {
    let find = |definition, value| shape::misspelt(definition, view.revision(), value);
    let own = view.by_subject().filter(|sent| view.is_current(*sent)).filter_map(|sent| {
        let method = method::find(sent.message.method()?, view.revision())?;
        let found = find(method.definition, sent.message.value()).filter(|_| method.direction.allows(sent.from))?;
        Some((sent, found))
    });
    let results = view.calls_by(view.subject().peer()).filter_map(|call| {
        let (response, result) = (call.response.filter(|r| view.is_current(*r))?, call.result()?);
        let Shape::Core(definition) = result_shape(view, call.request, result)? else { return None };
        let mut found = find(definition, result)?;
        for one in &mut found {
            one.pointer.insert_str(0, "/result");
        }
        Some((response, found))
    });
    own.chain(results).collect()
}

/// The definition of the core that a result must fit: by the method asked and, in the modern era, by the result's own
/// type. `None` for the methods and result types of extensions, which the core schema does not know.
fn result_definition(view: &View<'_>, request: MessageAt<'_>, result: &Value) -> Option<&'static str> {
    let method = method::find(request.message.method()?, view.revision())?;
    let task = request.message.params().and_then(|p| p.get("task")).is_some() && result.get("task").is_some();
    match result.get("resultType").and_then(Value::as_str) {
        Some("input_required") if view.revision().era() == Modern => {
            method.instead_at(view.revision()).or(method.result)
        }
        Some(other) if view.revision().era() == Modern && other != "complete" => None,
        _ if view.revision() == R2025_11_25 && task => method.instead_at(R2025_11_25).or(method.result),
        _ => method.result,
    }
}

fn formats(view: &View<'_>) -> Verdict {
    let calls = view.calls_by(view.subject().peer()).filter_map(|call| {
        let (response, result) = (call.response.filter(|r| view.is_current(*r))?, call.result()?);
        let own =
            ["tools/call", "resources/list", "sampling/createMessage"].into_iter().find(|m| call.request.is(m))?;
        let definition = result_definition(view, call.request, result)?;
        let texts = shape::formatted(definition, view.revision(), result).into_iter();
        let texts = texts.filter(move |text| is_own_subject(own, text));
        Some(texts.map(|text| (response, "/result", text)).collect::<Vec<_>>())
    });
    let asks = view.calls_by(view.subject()).filter(|call| call.request.is("sampling/createMessage")).map(|call| {
        let value = call.request.message.value();
        let texts = shape::formatted("CreateMessageRequest", view.revision(), value);
        texts.into_iter().map(|text| (call.request, "", text)).collect::<Vec<_>>()
    });
    let peer: Vec<_> = view.by(view.subject().peer()).map(|sent| (sent.event, sent.message.text())).collect();
    let judged = calls.chain(asks).chain([updates(view)]).flatten().filter_map(|(sent, base, text)| {
        let fault = match text.format {
            "byte" => (!is_base64(text.text)).then(|| "it is not Base64".to_owned()),
            "uri" => uri_fault(text.text),
            _ => return None,
        };
        // What the other party made up may come back; what it sends later it may have learnt here.
        let before = || peer.iter().take_while(|(event, _)| *event < sent.event);
        let named = || Value::from(text.text).to_string();
        let echoed = || {
            // A part of what was subscribed to is not the other party's own.
            let part = if sent.is(UPDATED) { named() } else { text.text.to_owned() };
            before().any(|(_, said)| said.contains(&part))
        };
        match fault {
            None => Some((sent.event, Ok(()))),
            Some(_) if !text.text.is_empty() && echoed() => None,
            Some(why) => Some((sent.event, Err(sent.breach(format!("{base}{}", text.pointer), why)))),
        }
    });
    let judged = judged.chain(unexpanded(view));
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no text with a format was sent")
}

/// Reads of a template as it was listed: what has variables in braces is no URI.
fn unexpanded(view: &View<'_>) -> Vec<(usize, Kept)> {
    if view.subject() != Party::Client {
        return Vec::new();
    }
    let pages = view
        .client_calls("resources/templates/list")
        .filter_map(|call| Some((call.response?.event, call.result()?.get("resourceTemplates")?.as_array()?)));
    let pages: Vec<_> = pages.collect();
    let reads = view.client_calls("resources/read").map(|call| call.request).filter(|sent| view.is_current(*sent));
    let judged = reads.filter_map(|sent| {
        let uri = sent.message.params()?.get("uri")?.as_str().filter(|uri| uri.contains('{') && uri.contains('}'))?;
        let is_it = |item: &Value| item.get("uriTemplate").is_some_and(|template| template == uri);
        pages.iter().find(|(event, page)| *event < sent.event && page.iter().any(is_it))?;
        let why = "this is a template of the list, with its variables not filled in";
        Some((sent.event, Err(sent.breach("/params/uri", why))))
    });
    judged.collect()
}

/// The URIs of resources that are said to have changed.
fn updates<'v>(view: &View<'v>) -> Vec<(MessageAt<'v>, &'static str, Formatted<'v>)> {
    let known = method::find(UPDATED, view.revision()).map(|method| method.definition);
    let sent = view.notifications(UPDATED).filter(|sent| view.is_current(*sent));
    let texts = |sent: MessageAt<'v>| {
        let all = known.map(|definition| shape::formatted(definition, view.revision(), sent.message.value()));
        let uri = all.unwrap_or_default().into_iter().filter(|text| text.pointer == "/params/uri");
        uri.map(move |text| (sent, "", text)).collect::<Vec<_>>()
    };
    sent.flat_map(texts).collect()
}

/// Whether no other rule judges the format: of icons (`icons.src-showable`), of embedded bytes (`resources.binary-encoded`)
/// and of resources under a scheme of the server's own (`resources.custom-schemes-valid`).
fn is_own_subject(method: &str, text: &Formatted<'_>) -> bool {
    let icon = text.pointer.contains("/icons/");
    let standard = |scheme: &str| matches!(scheme, "http" | "https" | "file" | "git") || scheme.len() < 2;
    let custom =
        method == "resources/list" && scheme(text.text).is_some_and(|scheme| !standard(&scheme.to_ascii_lowercase()));
    !icon && !custom && !text.pointer.ends_with("/blob")
}

fn errors(view: &View<'_>) -> Verdict {
    let errors = view.by_subject().filter(|s| s.message.kind() == Kind::Error);
    Verdict::every(errors, "no error response was seen", |sent| {
        let shape = Shape::Core(error_definition(view.revision(), sent.message.error_code()));
        fits(view.revision(), shape, sent.message.value(), *sent, "")
    })
}

fn error_definition(revision: Revision, code: Option<i64>) -> &'static str {
    match (revision, code) {
        (R2026_07_28, Some(HEADER_MISMATCH)) => "HeaderMismatchError",
        (R2026_07_28, Some(MISSING_CLIENT_CAPABILITY)) => "MissingRequiredClientCapabilityError",
        (R2026_07_28, Some(UNSUPPORTED_VERSION)) => "UnsupportedProtocolVersionError",
        (R2025_11_25, Some(URL_ELICITATION_REQUIRED)) => "URLElicitationRequiredError",
        (R2025_11_25 | R2026_07_28, _) => "JSONRPCErrorResponse",
        _ => "JSONRPCError",
    }
}

/// Left to other rules: `resultType` (`result.type-present`), and an error's id, which may be null or absent where the
/// request could not be read (`jsonrpc.error-id`); hints for caching that are missing (`caching.hints-present`) or negative
/// (`caching.ttl-not-negative`); an `inputSchema` that is not an object (`tools.input-schema-object`, where that applies).
fn is_elsewhere(revision: Revision, shape: Shape, mismatch: &Mismatch, sent: MessageAt<'_>) -> bool {
    let missing = mismatch.found.starts_with("nothing");
    // A task has a `ttlMs` too, and it is not a hint for caching.
    let hint = matches!(shape, Shape::Core(_)) && mismatch.pointer == "/ttlMs";
    mismatch.pointer == "/resultType"
        || hint
        || (mismatch.pointer == "/cacheScope" && missing)
        || (mismatch.pointer.ends_with("/inputSchema") && !missing && revision.at_least(R2025_11_25))
        || (mismatch.pointer == "/id" && sent.message.kind() == Kind::Error)
}

fn fits(revision: Revision, shape: Shape, value: &Value, sent: MessageAt<'_>, base: &str) -> Kept {
    let (definition, mismatches) = match shape {
        Shape::Core(definition) => (definition, shape::check(definition, revision, value)),
        Shape::Extended(extension, definition) => (definition, extension.check(definition, value)),
    };
    let mismatches = mismatches.unwrap_or_default().into_iter().filter(|m| !is_elsewhere(revision, shape, m, sent));
    let breaches = mismatches.map(|Mismatch { pointer, expected, found }| {
        let place = if pointer.is_empty() { "the whole".to_owned() } else { format!("`{pointer}`") };
        let why = format!("{definition}: {place} should be {expected}; found {found}");
        sent.breach(format!("{base}{pointer}"), why)
    });
    Breach::first_of(breaches).map_or(Ok(()), Err)
}

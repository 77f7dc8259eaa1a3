//! The page `basic`, section "ResultType".

use serde_json::Value;
use wire::Kind;
use wire::revision::R2026_07_28;

use crate::rule::{Rule, at, client, server};
use crate::verdict::Verdict;
use crate::view::{Said, View, declared};

/// The section's rules.
pub(crate) const RULES: &[Rule] = &[
    server("result.type-present")
        .says(R2026_07_28, at("basic/index", "result-responses"), "Every result MUST have a `resultType` that is a string.")
        .how("Looks at every result that answers a request of this revision.")
        .mend("Put `\"resultType\": \"complete\"` into every result that is final.")
        .judge(type_present),
    server("result.type-known")
        .says(R2026_07_28, at("basic/index", "resulttype"), "A `resultType` MUST be one of the core protocol's or of an extension that is advertised.")
        .how("Compares the type of every result with the core's two and, where the server advertises extensions, leaves others alone.")
        .mend("Use `complete` or `input_required`, or advertise the extension that defines another type.")
        .judge(type_known),
    client("result.client-unknown-type-refused")
        .says(R2026_07_28, at("basic/index", "resulttype"), "A client MUST take a result of a type it does not know for invalid.")
        .declared(),
    client("result.client-absent-type-complete")
        .says(R2026_07_28, at("basic/index", "resulttype"), "A client MUST take a result of an earlier revision, which has no type, for a complete one.")
        .declared(),
];

/// Results to requests of this revision.
fn results<'v>(view: &View<'v>) -> Vec<(usize, (Said<'v>, &'v Value))> {
    let mine = view.theirs().filter(|s| s.message.kind() == Kind::Result);
    let modern = mine.filter(|s| view.spoken(*s).is_some_and(|r| r.at_least(R2026_07_28)));
    modern.filter_map(|s| Some((s.event, (s, s.message.result()?)))).collect()
}

fn type_present(view: &View<'_>) -> Verdict {
    Verdict::every(results(view), "no request of this revision was answered with a result", |(_, (said, result))| {
        match result.get("resultType") {
            Some(Value::String(_)) => Ok(()),
            Some(other) => Err(said.breach("/result/resultType", format!("`resultType` is {other}, not a string"))),
            None => Err(said.breach("/result", "the result has no `resultType`")),
        }
    })
}

fn type_known(view: &View<'_>) -> Verdict {
    let extended = view
        .server_capabilities()
        .map(|c| declared(c, "extensions").is_some_and(|e| *e != Value::Object(serde_json::Map::new())));
    let typed = results(view).into_iter().filter_map(|(event, (said, result))| {
        let kind = result.get("resultType")?.as_str()?;
        let core = matches!(kind, "complete" | "input_required");
        // An extension of the server's may define it; what the server advertises must be known to say otherwise.
        (core || extended == Some(false)).then_some((event, (said, kind, core)))
    });
    Verdict::every(typed, "no result with a type of the core protocol was seen", |(_, (said, kind, core))| {
        if *core {
            return Ok(());
        }
        let why =
            format!("`{}` is no type of the core protocol and the server advertises no extension", kind.escape_debug());
        Err(said.breach("/result/resultType", why))
    })
}

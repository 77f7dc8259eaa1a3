//! `server/tools#x-mcp-header`: what an annotation in a tool's input schema must be like.

use serde_json::Value;
use wire::http::{AnnotationFault, annotations};
use wire::revision::R2026_07_28;

use crate::rule::{Anchor, Rule, at, server};
use crate::server::listing::{TOOLS, items};
use crate::verdict::{Kept, Verdict};
use crate::view::View;

const HERE: Anchor = at("server/tools", "x-mcp-header");
const HOW: &str = "Reads every `x-mcp-header` annotation in the input schemas of listed tools.";

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    server("tools.header-names-not-empty")
        .says(R2026_07_28, HERE, "The value of `x-mcp-header` MUST NOT be empty.")
        .how(HOW)
        .mend("Write the header's name into the annotation, or remove it.")
        .judge(|view| each(view, |fault, _| *fault == AnnotationFault::Empty)),
    server("tools.header-names-tokens")
        .says(R2026_07_28, HERE, "The value of `x-mcp-header` MUST be a field-name token of HTTP.")
        .how(HOW)
        .mend("Use letters, digits and hyphens in the header's name.")
        .judge(|view| each(view, |fault, name| match fault {
            AnnotationFault::NotToken => !has_control(name),
            fault => *fault == AnnotationFault::NotString,
        })),
    server("tools.header-names-printable")
        .says(R2026_07_28, HERE, "The value of `x-mcp-header` MUST NOT hold control characters such as line ends.")
        .how(HOW)
        .mend("Remove the control characters: they would let a tool definition inject headers.")
        .judge(|view| each(view, |fault, name| *fault == AnnotationFault::NotToken && has_control(name))),
    server("tools.header-names-unique")
        .says(R2026_07_28, HERE, "The values of `x-mcp-header` in one schema MUST differ by more than letter case.")
        .how(HOW)
        .mend("Give each mirrored parameter a header of its own.")
        .judge(|view| judge(view, 2, |fault, _, _| matches!(fault, AnnotationFault::Duplicate(_)))),
    server("tools.header-types-primitive")
        .says(R2026_07_28, HERE, "`x-mcp-header` MUST only stand on integer, string and boolean parameters.")
        .how("Reads every `x-mcp-header` annotation in the input schemas of listed tools, where the parameter names its type.")
        .mend("Remove the annotation from parameters of type number, object, array or null.")
        .judge(typed),
    server("tools.header-places-reachable")
        .says(R2026_07_28, HERE, "`x-mcp-header` MUST only stand on properties reached through `properties` alone.")
        .how(HOW)
        .mend("Move the annotation out of arrays, combinations, conditions and definitions, or remove it.")
        .judge(|view| each(view, |fault, _| *fault == AnnotationFault::NotReachable)),
];

fn has_control(name: &Value) -> bool {
    name.as_str().is_some_and(|name| name.chars().any(char::is_control))
}

fn each(view: &View<'_>, broken: impl Fn(&AnnotationFault, &Value) -> bool) -> Verdict {
    judge(view, 1, |fault, schema, pointer| broken(fault, schema.pointer(pointer).unwrap_or(&Value::Null)))
}

/// A parameter that names no type (a reference, a combination) may still be primitive: that is let pass.
fn typed(view: &View<'_>) -> Verdict {
    judge(view, 1, |fault, schema, pointer| {
        let parameter = pointer.rsplit_once('/').and_then(|(parameter, _)| schema.pointer(parameter));
        *fault == AnnotationFault::NotPrimitive && parameter.is_some_and(|p| p.get("type").is_some())
    })
}

/// A tool counts where it has at least `least` annotations.
fn judge(view: &View<'_>, least: usize, broken: impl Fn(&AnnotationFault, &Value, &str) -> bool) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for tool in items(view, &TOOLS) {
        let Some(schema) = tool.value.get("inputSchema") else { continue };
        let found = annotations(schema);
        if found.valid.len() + found.faults.len() < least {
            continue;
        }
        judged.extend(found.valid.iter().map(|_| (tool.said.event, Ok(()))));
        for (pointer, fault) in found.faults {
            let breach = || tool.breach(&format!("/inputSchema{pointer}"), fault.to_string());
            let kept = if broken(&fault, schema, &pointer) { Err(breach()) } else { Ok(()) };
            judged.push((tool.said.event, kept));
        }
    }
    Verdict::of(judged, "no listed tool has an `x-mcp-header` annotation")
}

//! `server/tools#x-mcp-header`: what an annotation in a tool's input schema must be like.

use serde_json::Value;
use wire::http::{Annotation, AnnotationFault, annotations};
use wire::revision::R2026_07_28;

use crate::rule::{Anchor, Rule, at, server};
use crate::server::listing::{Item, TOOLS, items};
use crate::verdict::{Kept, Verdict};
use crate::view::View;

const HERE: Anchor = at("server/tools", "x-mcp-header");
const HOW: &str = "Reads every `x-mcp-header` annotation in the input schemas of listed tools.";

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    server("tools.header-names-not-empty")
        .says(R2026_07_28, HERE, "The value of `x-mcp-header` MUST NOT be empty.")
        .about(&["tools"])
        .how(HOW)
        .fix("Write the header's name into the annotation, or remove it.")
        .judge(|view| each(view, |fault, _| *fault == AnnotationFault::Empty)),
    server("tools.header-names-tokens")
        .says(R2026_07_28, HERE, "The value of `x-mcp-header` MUST be a field-name token of HTTP.")
        .about(&["tools"])
        .how(HOW)
        .fix("Use letters, digits and hyphens in the header's name.")
        .judge(|view| each(view, |fault, name| match fault {
            AnnotationFault::NotToken => !has_control(name),
            fault => *fault == AnnotationFault::NotString,
        })),
    server("tools.header-names-printable")
        .says(R2026_07_28, HERE, "The value of `x-mcp-header` MUST NOT hold control characters such as line ends.")
        .about(&["tools"])
        .how(HOW)
        .fix("Remove the control characters: they would let a tool definition inject headers.")
        .judge(|view| each(view, |fault, name| *fault == AnnotationFault::NotToken && has_control(name))),
    server("tools.header-names-unique")
        .says(R2026_07_28, HERE, "The values of `x-mcp-header` in one schema MUST differ by more than letter case.")
        .about(&["tools"])
        .how(HOW)
        .fix("Give each mirrored parameter a header of its own.")
        .judge(|view| judge(view, 2, |fault, _, _| matches!(fault, AnnotationFault::Duplicate(_)))),
    server("tools.header-types-primitive")
        .says(R2026_07_28, HERE, "`x-mcp-header` MUST only stand on integer, string and boolean parameters.")
        .about(&["tools"])
        .how("Reads every `x-mcp-header` annotation in the input schemas of listed tools, where the parameter names its type.")
        .fix("Remove the annotation from parameters of type number, object, array or null.")
        .judge(typed),
    server("tools.header-integers-safe")
        .says(
            R2026_07_28,
            HERE,
            "The values of an integer parameter with `x-mcp-header` MUST lie between -(2^53 - 1) and 2^53 - 1.",
        )
        .about(&["tools"])
        .how("Reads what the schemas of such parameters name: constants, enumerations, defaults, bounds. One that names no \
              value is accepted.")
        .fix("Narrow the bounds, or make the parameter a string.")
        .judge(integers_safe),
    server("tools.header-places-reachable")
        .says(R2026_07_28, HERE, "`x-mcp-header` MUST only stand on properties reached through `properties` alone.")
        .about(&["tools"])
        .how(HOW)
        .fix("Move the annotation out of arrays, combinations, conditions and definitions, or remove it.")
        .judge(|view| each(view, |fault, _| *fault == AnnotationFault::NotReachable)),
    server("tools.header-not-sensitive")
        .says(R2026_07_28, HERE, "Passwords, keys, tokens and the like SHOULD NOT be marked with `x-mcp-header`.")
        .about(&["tools"])
        .how("Reads the names of parameters that are mirrored, the names of their headers, and the signs of secrecy in their schemas (`format: password`, `writeOnly`). Only names that can hardly mean anything else count.")
        .fix("Remove the annotation: proxies and their logs see every header.")
        .judge(not_sensitive),
];

fn has_control(name: &Value) -> bool {
    name.as_str().is_some_and(|name| name.chars().any(char::is_control))
}

fn each(view: &View<'_>, broken: impl Fn(&AnnotationFault, &Value) -> bool) -> Verdict {
    judge(view, 1, |fault, schema, pointer| broken(fault, schema.pointer(pointer).unwrap_or(&Value::Null)))
}

/// A parameter that names no type (a reference, a combination) may still be primitive: that is accepted.
fn typed(view: &View<'_>) -> Verdict {
    judge(view, 1, |fault, schema, pointer| {
        let parameter = pointer.rsplit_once('/').and_then(|(parameter, _)| schema.pointer(parameter));
        *fault == AnnotationFault::NotPrimitive && parameter.is_some_and(|p| p.get("type").is_some())
    })
}

/// The parameters that are mirrored in order: the tool, the parameter's place in its `inputSchema`, and its schema.
fn mirrored<'v>(view: &View<'v>) -> Vec<(Item<'v>, Annotation, &'v Value)> {
    let of = |tool: Item<'v>| {
        let schema = tool.value.get("inputSchema").unwrap_or(&Value::Null);
        let parameter = move |annotation: Annotation| {
            let place = annotation.pointer.rsplit_once('/')?.0;
            Some((tool.clone(), annotation.clone(), schema.pointer(place)?))
        };
        annotations(schema).valid.into_iter().filter_map(parameter).collect::<Vec<_>>()
    };
    items(view, &TOOLS).into_iter().flat_map(of).collect()
}

/// 2^53 - 1: beyond it two integers may be one double.
const SAFEST: f64 = 9_007_199_254_740_991.0;

fn integers_safe(view: &View<'_>) -> Verdict {
    let judged = mirrored(view).into_iter().filter_map(|(tool, annotation, parameter)| {
        let safe = named_values(parameter)?;
        let place = annotation.pointer.rsplit_once('/')?.0;
        let breach = || tool.breach(&format!("/inputSchema{place}"), "the schema names integers beyond 2^53 - 1");
        Some((tool.sent.event, if safe { Ok(()) } else { Err(breach()) }))
    });
    Verdict::of(judged, "no integer parameter with an `x-mcp-header` annotation names any value")
}

/// Whether all integers that a parameter's schema names may be sent; `None` where it is not an integer or names none.
fn named_values(parameter: &Value) -> Option<bool> {
    let integer = parameter.get("type")? == "integer";
    let number = |name: &str| parameter.get(name).and_then(Value::as_f64);
    let named = ["const", "default"].into_iter().filter_map(number);
    let listed = parameter.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_f64);
    let values: Vec<f64> = named.chain(listed).collect();
    let (least, most) = (number("minimum"), number("maximum"));
    let beyond = least.is_some_and(|least| least > SAFEST) || most.is_some_and(|most| most < -SAFEST);
    let bounded = least.zip(most).is_some_and(|(least, most)| least >= -SAFEST && most <= SAFEST);
    let safe = !beyond && values.iter().all(|value| value.abs() <= SAFEST);
    (integer && (!safe || bounded || !values.is_empty())).then_some(safe)
}

/// Names under which hardly anything but a secret is handed over, in small letters and without what joins words.
const SECRETS: [&str; 19] = [
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "apitoken",
    "apisecret",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "bearertoken",
    "authorization",
    "clientsecret",
    "secretkey",
    "secretaccesskey",
    "privatekey",
    "socialsecuritynumber",
    "ssn",
    "creditcardnumber",
    "cvv",
];

fn is_secret(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    SECRETS.contains(&plain.as_str()) || plain.ends_with("password")
}

fn not_sensitive(view: &View<'_>) -> Verdict {
    let judged = mirrored(view).into_iter().map(|(tool, annotation, parameter)| {
        let name = annotation.path.last().map(String::as_str).unwrap_or_default();
        let secret = is_secret(name)
            || is_secret(&annotation.name)
            || parameter.get("format").is_some_and(|format| format == "password")
            || parameter.get("writeOnly").is_some_and(|only| only == true);
        let breach = || {
            let why = format!("`{}` is a secret by its name or schema, and is mirrored", name.escape_debug());
            tool.breach(&format!("/inputSchema{}", annotation.pointer), why)
        };
        (tool.sent.event, if secret { Err(breach()) } else { Ok(()) })
    });
    Verdict::of(judged, "no listed tool has an `x-mcp-header` annotation in order")
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
        judged.extend(found.valid.iter().map(|_| (tool.sent.event, Ok(()))));
        for (pointer, fault) in found.faults {
            let breach = || tool.breach(&format!("/inputSchema{pointer}"), fault.to_string());
            let kept = if broken(&fault, schema, &pointer) { Err(breach()) } else { Ok(()) };
            judged.push((tool.sent.event, kept));
        }
    }
    Verdict::of(judged, "no listed tool has an `x-mcp-header` annotation")
}

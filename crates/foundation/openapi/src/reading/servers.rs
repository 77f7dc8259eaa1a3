//! Where an API is: URLs, with the variables filled by their defaults.

use serde_json::{Map, Value};

use super::{Dialect, Source};

/// How many servers are kept.
const MOST: usize = 50;
/// How long an address may be, in bytes.
const LONGEST: usize = 2_000;

/// The servers of the whole description.
pub(super) fn of_root(source: &Source<'_>) -> Vec<String> {
    match source.dialect {
        Dialect::Swagger2 => swagger(source.root, None),
        _ => listed(source.root.get("servers")),
    }
}

/// The servers of an operation, or else of its path; none: those of the whole.
pub(super) fn of_operation(source: &Source<'_>, raw: &Map<String, Value>, item: &Map<String, Value>) -> Vec<String> {
    if source.dialect == Dialect::Swagger2 {
        return raw.get("schemes").map_or_else(Vec::new, |schemes| swagger(source.root, Some(schemes)));
    }
    let own = listed(raw.get("servers"));
    if own.is_empty() { listed(item.get("servers")) } else { own }
}

fn listed(servers: Option<&Value>) -> Vec<String> {
    let servers = servers.and_then(Value::as_array);
    servers.into_iter().flatten().filter_map(url).filter(|url| url.len() <= LONGEST).take(MOST).collect()
}

fn url(server: &Value) -> Option<String> {
    let template = server.get("url")?.as_str()?.trim();
    let mut url = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        url.push_str(before);
        let Some((name, behind)) = after.split_once('}') else {
            url.push('{');
            rest = after;
            continue;
        };
        match server.get("variables").and_then(|all| all.get(name)).and_then(value_of) {
            Some(value) => url.push_str(&value),
            None => url.extend(["{", name, "}"]),
        }
        rest = behind;
    }
    url.push_str(rest);
    Some(url)
}

fn value_of(variable: &Value) -> Option<String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let default = variable.get("default").and_then(text);
    default.or_else(|| variable.get("enum").and_then(|all| all.get(0)).and_then(text))
}

/// `schemes`, `host` and `basePath`; https first.
fn swagger(root: &Value, own: Option<&Value>) -> Vec<String> {
    let text = |name| root.get(name).and_then(Value::as_str).map(str::trim).filter(|text: &&str| !text.is_empty());
    let base = text("basePath").unwrap_or_default().trim_end_matches('/');
    let base = if base.is_empty() || base.starts_with('/') { base.to_owned() } else { format!("/{base}") };
    let Some(host) = text("host") else {
        return if base.is_empty() { Vec::new() } else { vec![base] };
    };
    let schemes = own.or_else(|| root.get("schemes")).and_then(Value::as_array);
    let mut schemes: Vec<_> = schemes.into_iter().flatten().filter_map(Value::as_str).collect();
    schemes.retain(|scheme| matches!(*scheme, "http" | "https"));
    schemes.sort_by_key(|scheme| *scheme != "https");
    if schemes.is_empty() {
        schemes.push("https");
    }
    schemes.iter().map(|scheme| format!("{scheme}://{host}{base}")).collect()
}

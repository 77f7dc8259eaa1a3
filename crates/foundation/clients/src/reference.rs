//! References to variables in texts. Ours are `${NAME}` and `${NAME:-default}`; each client has its own way to write them.

use std::convert::Infallible;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'t> {
    /// Text as it is.
    Text(&'t str),
    /// The value of a variable.
    Variable {
        /// Its name.
        name: &'t str,
        /// What stands for it where it is not set.
        default: Option<&'t str>,
    },
}

/// The parts of a text: `${NAME}`, `${NAME:-default}`, `${env:NAME}` and `{env:NAME}` are variables.
pub fn parts(text: &str) -> Vec<Part<'_>> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(found) = text[at..].find(['$', '{']).map(|found| at + found) {
        at = found + 1;
        if let Some((variable, end)) = variable(&text[found..]) {
            if start < found {
                parts.push(Part::Text(&text[start..found]));
            }
            parts.push(variable);
            (start, at) = (found + end, found + end);
        }
    }
    if start < text.len() {
        parts.push(Part::Text(&text[start..]));
    }
    parts
}

/// What clients fill in themselves.
const CLIENTS_OWN: [&str; 5] =
    ["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "extensionPath"];

/// The variable that a text begins with, and its length.
fn variable(text: &str) -> Option<(Part<'_>, usize)> {
    let (inner, is_named) = match text.strip_prefix("${") {
        Some(inner) => (inner.strip_prefix("env:").unwrap_or(inner), true),
        None => (text.strip_prefix("{env:")?, false),
    };
    let end = inner.find('}')?;
    let body = &inner[..end];
    let (name, default) = match body.split_once(":-").filter(|_| is_named) {
        Some((name, default)) => (name, Some(default)),
        None => (body, None),
    };
    if CLIENTS_OWN.contains(&name) {
        return None;
    }
    is_name(name).then(|| (Part::Variable { name, default }, text.len() - inner.len() + end + 1))
}

/// Whether this is the name of a variable.
pub fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a text refers to a variable.
pub fn has_variable(text: &str) -> bool {
    parts(text).iter().any(|part| matches!(part, Part::Variable { .. }))
}

/// The name of the one variable that is the whole text.
pub fn only_variable(text: &str) -> Option<&str> {
    match parts(text)[..] {
        [Part::Variable { name, default: None }] => Some(name),
        _ => None,
    }
}

/// The text in the way of a client: `syntax` holds `NAME` where the name goes. `Err` names the variable that cannot be written.
pub fn written(text: &str, syntax: &str, defaults: bool) -> Result<String, String> {
    let mut out = String::new();
    for part in parts(text) {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Variable { name, default: None } => out.push_str(&syntax.replace("NAME", name)),
            Part::Variable { name, default: Some(default) } if defaults => {
                out.push_str(&syntax.replace("NAME", &format!("{name}:-{default}")));
            }
            Part::Variable { name, .. } => return Err(name.to_owned()),
        }
    }
    Ok(out)
}

/// The text in our way.
pub fn canonical(text: &str) -> String {
    written(text, "${NAME}", true).unwrap_or_else(|_| text.to_owned())
}

/// The text with values in place of variables; one that is not set and has no default stays as it is written.
pub fn filled(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    replaced(text, |name, default| {
        let value = value(name).or_else(|| default.map(str::to_owned));
        Ok::<_, Infallible>(value.unwrap_or_else(|| format!("${{{name}}}")))
    })
    .unwrap_or_else(|never| match never {})
}

/// The text with values in place of variables. `Err` names one that is not set and has no default.
pub fn expanded(text: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    replaced(text, |name, default| value(name).or_else(|| default.map(str::to_owned)).ok_or_else(|| name.to_owned()))
}

/// The text with what `value` makes of each variable's name and default in its place.
fn replaced<E>(text: &str, value: impl Fn(&str, Option<&str>) -> Result<String, E>) -> Result<String, E> {
    let mut out = String::new();
    for part in parts(text) {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Variable { name, default } => out.push_str(&value(name, default)?),
        }
    }
    Ok(out)
}

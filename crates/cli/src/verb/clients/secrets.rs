//! What is secret in entries of clients.

use std::sync::LazyLock;

use clients::findings::entries;
use clients::reference::has_variable;
use clients::text::{Format, read};
use serde_json::{Value, json};
use wire::redact::{Redactor, Secrets};

/// Adds the values of an entry that are secret; references to variables are not.
pub(in crate::verb) fn add(entry: &Value, secrets: &mut Secrets) {
    let texts = |entry: &Value, member: &str| {
        let members = entry[member].as_object().into_iter().flatten();
        let texts = members.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        texts.filter(|(_, value)| !has_variable(value) && !value.contains("${input:")).collect::<Vec<_>>()
    };
    for (name, value) in ["env", "envs", "environment"].into_iter().flat_map(|member| texts(entry, member)) {
        secrets.handed_variable(&name, &value);
    }
    for entry in [entry, &entry["requestOptions"]] {
        for (name, value) in ["headers", "http_headers"].into_iter().flat_map(|member| texts(entry, member)) {
            secrets.header(&name, &value);
        }
    }
    for member in ["command", "cmd", "args"] {
        // Some files have a whole line for a command.
        secrets.arguments(entry[member].as_str().into_iter().flat_map(str::split_whitespace));
        secrets.arguments(entry[member].as_array().into_iter().flatten().filter_map(Value::as_str));
    }
    for member in ["url", "serverUrl", "httpUrl", "uri"] {
        secrets.address(entry[member].as_str().unwrap_or_default());
    }
}

/// Adds those of all entries in a file.
pub(super) fn add_all(text: &str, format: Format, secrets: &mut Secrets) {
    if let Ok(value) = read(text, format) {
        for (_, entry) in entries(&value) {
            add(&entry, secrets);
        }
    }
}

/// Whether a value is secret, by its name and its look.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::masking);
    let redactor = &*REDACTOR;
    if name.is_empty() {
        return redactor.redact_text(value) != value;
    }
    let object = json!({ name: value });
    name.eq_ignore_ascii_case("authorization") || redactor.redact_value(&object) != object
}

//! What a server may ask of a client, by what the client declared: as a request of its own in the legacy era, within an
//! `input_required` result in the modern one. It knows nothing of where the declaration was found.

use serde_json::Value;

use crate::view::declared;

/// The capability that asking for `method` with `params` takes and `capabilities` lacks, if any. `None` also for a
/// method that asks nothing of a client.
pub(crate) fn lacking(capabilities: &Value, method: &str, params: Option<&Value>) -> Option<&'static str> {
    let has = |path: &str| declared(capabilities, path).is_some();
    let param = |name: &str| params.and_then(|p| p.get(name));
    match method {
        "roots/list" if !has("roots") => Some("roots"),
        "sampling/createMessage" if !has("sampling") => Some("sampling"),
        "elicitation/create" if !has("elicitation") => Some("elicitation"),
        "elicitation/create" if param("mode").and_then(Value::as_str) == Some("url") => {
            (!has("elicitation.url")).then_some("elicitation.url")
        }
        // An empty declaration, and one by a revision without modes, means forms.
        "elicitation/create" => (has("elicitation.url") && !has("elicitation.form")).then_some("elicitation.form"),
        _ => None,
    }
}

//! Breaks a schema in one place at a time, so that the comparison can be shown to notice.

use serde_json::{Value, json};
use wire::pointer;

/// A breakage after which a schema accepts exactly what it did before.
pub(crate) struct Harmless {
    definition: &'static str,
    what: &'static str,
    why: &'static str,
}

impl Harmless {
    pub(crate) fn covers(&self, definition: &str, what: &str) -> bool {
        assert!(!self.why.is_empty(), "{definition} {what}: no reason given");
        self.definition == definition && what.contains(self.what)
    }
}

const fn harmless(definition: &'static str, what: &'static str, why: &'static str) -> Harmless {
    Harmless { definition, what, why }
}

const ANY_RESULT: &str = "Result accepts every other result too";
const ANY_NOTIFICATION: &str = "a request is also a notification with another member";
const ANY_STRING_FIELD: &str = "StringSchema accepts every other schema of a string";
const ANY_INPUT: &str = "InputRequiredResult accepts every result";
const ANY_CHOICE: &str = "UntitledSingleSelectEnumSchema accepts it too";
const CODE: &str = "Error insists on the code already";
const ANYTHING: &str = "JSONValue is read as anything at all";

/// What the comparison cannot notice because there is nothing to notice.
pub(crate) const HARMLESS: &[Harmless] = &[
    harmless("ClientResult", ": anyOf without", ANY_RESULT),
    harmless("ServerResult", ": anyOf without", ANY_RESULT),
    harmless("JSONRPCMessage", "/JSONRPCRequest", ANY_NOTIFICATION),
    harmless("JSONRPCBatchRequest", "/JSONRPCRequest", ANY_NOTIFICATION),
    harmless("PrimitiveSchemaDefinition", "SingleSelectEnumSchema", ANY_STRING_FIELD),
    harmless("PrimitiveSchemaDefinition", "/LegacyTitledEnumSchema", ANY_STRING_FIELD),
    harmless("PrimitiveSchemaDefinition", "/EnumSchema", ANY_STRING_FIELD),
    harmless("EnumSchema", "/LegacyTitledEnumSchema", ANY_CHOICE),
    harmless("CallToolResultResponse", "/CallToolResult", ANY_INPUT),
    harmless("GetPromptResultResponse", "/GetPromptResult", ANY_INPUT),
    harmless("ReadResourceResultResponse", "/ReadResourceResult", ANY_INPUT),
    harmless("HeaderMismatchError", "required without \"code\"", CODE),
    harmless("MissingRequiredClientCapabilityError", "required without \"code\"", CODE),
    harmless("UnsupportedProtocolVersionError", "required without \"code\"", CODE),
    harmless("URLElicitationRequiredError", "required without \"code\"", CODE),
    harmless("JSONValue", "anything instead of", ANYTHING),
    harmless("JSONArray", "anything instead of a reference", ANYTHING),
    harmless("JSONObject", "anything instead of a reference", ANYTHING),
];

/// Every way to break one definition in one place: what was done, and the broken definition.
pub(crate) fn breakages(definition: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    walk(definition, definition, "", &mut found);
    found
}

fn walk(whole: &Value, here: &Value, at: &str, found: &mut Vec<(String, Value)>) {
    let mut with = |what: String, change: &dyn Fn(&mut Value)| {
        let mut broken = whole.clone();
        if let Some(target) = broken.pointer_mut(at) {
            change(target);
        }
        found.push((format!("{at}: {what}"), broken));
    };
    for list in ["required", "enum", "anyOf", "allOf", "type"] {
        for (index, entry) in here.get(list).and_then(Value::as_array).into_iter().flatten().enumerate() {
            with(format!("{list} without {entry}"), &|target| {
                target[list].as_array_mut().map(|entries| entries.remove(index));
            });
        }
    }
    for bound in ["minimum", "maximum", "maxItems"] {
        if here.get(bound).is_some() {
            with(format!("without {bound}"), &|target| drop(target.as_object_mut().map(|t| t.shift_remove(bound))));
        }
    }
    if here.get("const").is_some() {
        with("another const".to_owned(), &|target| target["const"] = json!("another"));
    }
    if here.get("$ref").is_some() {
        with("anything instead of a reference".to_owned(), &|target| *target = json!({}));
    }
    if here.get("type").is_some_and(Value::is_string) {
        with("anything instead of a type".to_owned(), &|target| *target = json!({}));
    }
    deeper(whole, here, at, found);
}

fn deeper(whole: &Value, here: &Value, at: &str, found: &mut Vec<(String, Value)>) {
    for (name, property) in here.get("properties").and_then(Value::as_object).into_iter().flatten() {
        walk(whole, property, &format!("{at}/properties/{}", pointer::escape(name)), found);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = here.get(key) {
            walk(whole, inner, &format!("{at}/{key}"), found);
        }
    }
    for key in ["anyOf", "allOf"] {
        for (index, inner) in here.get(key).and_then(Value::as_array).into_iter().flatten().enumerate() {
            walk(whole, inner, &format!("{at}/{key}/{index}"), found);
        }
    }
}

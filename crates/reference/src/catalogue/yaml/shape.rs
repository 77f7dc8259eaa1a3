//! Holds a file against `docs/catalog.schema.json`, which is also what editors complete and check with, and says what does
//! not fit in the words of all other faults. What does not fit is taken out.

use std::collections::HashSet;
use std::sync::OnceLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::fault::{Fault, nearest, quoted};
use super::tree::Node;

/// The schema of a catalogue file.
pub(super) const SCHEMA: &str = include_str!("../../../../../docs/catalog.schema.json");

/// How many faults are looked for.
const MOST: usize = 1000;

/// The lists whose entries stand for themselves.
const LISTS: [&str; 4] = ["tools", "resources", "templates", "prompts"];

struct Schema {
    value: Value,
    validator: Validator,
}

fn schema() -> Option<&'static Schema> {
    static COMPILED: OnceLock<Option<Schema>> = OnceLock::new();
    let compile = || {
        let value: Value = serde_json::from_str(SCHEMA).ok()?;
        let validator = jsonschema::validator_for(&value).ok()?;
        Some(Schema { value, validator })
    };
    COMPILED.get_or_init(compile).as_ref()
}

/// What does not fit, and where something is missing now.
#[derive(Default)]
pub(super) struct Misfits {
    pub(super) faults: Vec<Fault>,
    /// Pointers to the mappings that lost an unknown key: what they lack may be what was misspelt.
    pub(super) lost: HashSet<String>,
}

/// Everything that does not fit the schema. What it is found in is taken out of `value`: an unknown key deep inside an entry
/// of one of the four lists, the entry, or else a member of the root.
pub(super) fn check(tree: &Node, value: &mut Value) -> Misfits {
    let Some(schema) = schema() else {
        let fault = Fault::new(None, "the schema of catalogues is broken", "report it: this is a bug of ours");
        return Misfits { faults: vec![fault], ..Misfits::default() };
    };
    let mut faults = Vec::new();
    let (mut unknown, mut broken) = (Vec::new(), Vec::new());
    for error in schema.validator.iter_errors(value).take(MOST) {
        let path = error.instance_path().to_string();
        if let ValidationErrorKind::AdditionalProperties { unexpected } = error.kind() {
            let known = known(schema, &error);
            for key in unexpected.iter().take(MOST) {
                let at = tree.place(&format!("{path}/{}", escape(key)));
                let what = format!("the key {} is unknown here", quoted(key));
                faults.push(Fault::new(at, what, nearest(key, known.iter().copied())));
                unknown.push((path.clone(), key.clone()));
            }
        } else {
            let (what, remedy) = explain(&error, &path);
            faults.push(Fault::new(tree.place(&path), what, remedy));
            broken.push(path);
        }
    }
    let mut lost = HashSet::new();
    for (path, key) in unknown {
        if let Some(members) = value.pointer_mut(&path).and_then(Value::as_object_mut) {
            members.remove(&key);
        }
        // All of an entry hangs on its own keys.
        if path.split('/').count() == 3 {
            broken.push(path);
        } else {
            lost.insert(path);
        }
    }
    for pointer in broken {
        take_out(value, &pointer);
    }
    Misfits { faults, lost }
}

/// The keys that may stand where `error` found another.
fn known<'s>(schema: &'s Schema, error: &ValidationError<'_>) -> Vec<&'s str> {
    let keyword = error.schema_path().to_string();
    let Some((around, _)) = keyword.rsplit_once('/') else { return Vec::new() };
    let properties = schema.value.pointer(around).and_then(|around| around.get("properties")?.as_object());
    properties.map(|properties| properties.keys().map(String::as_str).collect()).unwrap_or_default()
}

fn explain(error: &ValidationError<'_>, path: &str) -> (String, String) {
    let name = path.rsplit('/').find(|step| step.parse::<usize>().is_err()).filter(|step| !step.is_empty());
    let name =
        name.map_or_else(|| "the file".to_owned(), |step| format!("`{}`", step.replace("~1", "/").replace("~0", "~")));
    let found = error.instance();
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let missing = property.as_str().unwrap_or_default();
            let place = if path.is_empty() { "the file".to_owned() } else { format!("this entry of {name}") };
            (format!("{place} has no `{missing}`"), format!("add `{missing}`"))
        }
        ValidationErrorKind::Type { kind } => {
            let wanted = kinds(kind);
            let quote = wanted == "a text" && matches!(found.as_ref(), Value::Number(_) | Value::Bool(_));
            let remedy = if quote { format!("quotes: \"{found}\"") } else { wanted.clone() };
            (format!("{name} is {}, not {wanted}", called(found)), remedy)
        }
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            let known = options.iter().filter_map(Value::as_str);
            (format!("{name} may not be {}", shown(found)), nearest(found.as_str().unwrap_or_default(), known))
        }
        ValidationErrorKind::Constant { expected_value } => (
            format!("{name} may not be {}", shown(found)),
            format!("`{}`", expected_value.as_str().unwrap_or_default()),
        ),
        ValidationErrorKind::Pattern { .. } => (format!("{name} may not be {}", shown(found)), form(error)),
        ValidationErrorKind::MinLength { .. } => (format!("{name} is empty"), "a text".to_owned()),
        ValidationErrorKind::MinItems { .. } => (format!("{name} is empty"), "at least one entry".to_owned()),
        ValidationErrorKind::MinProperties { .. } => (format!("an entry of {name} says too little"), keys(error)),
        ValidationErrorKind::MaxProperties { .. } => (format!("an entry of {name} says too much"), keys(error)),
        ValidationErrorKind::MaxItems { limit } => {
            (format!("{name} has more than {limit} entries"), "fewer, or several servers".to_owned())
        }
        _ => (format!("{name} may not be {}", shown(found)), "what docs/serve.md says of it".to_owned()),
    }
}

/// What the schema says of a text with a pattern.
fn form(error: &ValidationError<'_>) -> String {
    let described = around(error).and_then(|around| around.get("description")?.as_str());
    described.map_or_else(|| "another form".to_owned(), str::to_owned)
}

/// The keys of which an object has one.
fn keys(error: &ValidationError<'_>) -> String {
    let properties = around(error).and_then(|around| around.get("properties")?.as_object());
    let names = properties.into_iter().flatten().map(|(name, _)| name.as_str()).filter(|name| *name != "role");
    format!("one of {}", names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
}

fn around(error: &ValidationError<'_>) -> Option<&'static Value> {
    let keyword = error.schema_path().to_string();
    schema()?.value.pointer(keyword.rsplit_once('/')?.0)
}

fn kinds(kind: &TypeKind) -> String {
    let name = match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(_) => return "another kind of value".to_owned(),
    };
    match name.as_str() {
        "string" => "a text",
        "object" => "a mapping",
        "array" => "a list",
        "boolean" => "`true` or `false`",
        "integer" => "a whole number",
        _ => "a number",
    }
    .to_owned()
}

fn called(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(_) | Value::Object(_) => called(value).to_owned(),
        value => quoted(&value.to_string()),
    }
}

fn escape(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}

/// Takes out the entry of a list, or the member of the root, that `pointer` leads into.
fn take_out(value: &mut Value, pointer: &str) {
    let mut steps = pointer.split('/').skip(1);
    let (first, second) = (steps.next().unwrap_or_default(), steps.next());
    let Some(root) = value.as_object_mut() else { return };
    match second.and_then(|step| step.parse::<usize>().ok()) {
        Some(index) if LISTS.contains(&first) => {
            if let Some(entry) = root.get_mut(first).and_then(|list| list.get_mut(index)) {
                *entry = Value::Null;
            }
        }
        _ => drop(root.remove(first)),
    }
}

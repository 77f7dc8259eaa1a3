//! Holds a file against its JSON Schema, which is also what editors complete and check with, and says what does not fit in
//! the words of all other errors. What does not fit is taken out.

use std::collections::HashSet;
use std::sync::OnceLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::file_error::{FileError, is_near, nearest, quoted, slip};
use super::respelled::Respelled;
use super::tree::Node;
use wire::pointer;

/// How many errors are looked for.
const MOST: usize = 1000;

/// How deep misspelt keys may nest in others.
const DEEPEST: usize = 6;

/// The shape of a kind of file: a JSON Schema without references to others.
#[derive(Debug)]
pub struct Shape {
    /// The schema.
    text: &'static str,
    /// The page that describes such files.
    guide: &'static str,
    /// The lists at the root whose entries stand for themselves.
    lists: &'static [&'static str],
    /// Whether an entry keeps what fits of it.
    keeps_rest: bool,
    /// Words that people use for a key, each with the key.
    aliases: &'static [(&'static str, &'static str)],
    /// What to do about a value of another type, by its pointer.
    advice: fn(&str, &Value) -> Option<String>,
    compiled: OnceLock<Option<Schema>>,
}

#[derive(Debug)]
struct Schema {
    value: Value,
    validator: Validator,
}

/// What does not fit, and where something is missing now.
#[derive(Debug)]
pub struct Misfits {
    /// What does not fit.
    pub errors: Vec<FileError>,
    /// Pointers to the mappings that lost an unknown key: what they lack may be what was misspelt.
    pub lost: HashSet<String>,
    /// The file's tree, with the keys that were meant in place of misspelt ones.
    pub tree: Node,
}

impl Shape {
    /// The shape that the JSON Schema `text` gives a file. `guide` is the page that describes such files, `lists` are the
    /// members of the root whose entries stand for themselves.
    pub const fn new(text: &'static str, guide: &'static str, lists: &'static [&'static str]) -> Self {
        Self { text, guide, lists, keeps_rest: false, aliases: &[], advice: |_, _| None, compiled: OnceLock::new() }
    }

    /// The same, taking each first word for the second where that may stand there.
    #[must_use]
    pub const fn with_aliases(mut self, aliases: &'static [(&'static str, &'static str)]) -> Self {
        self.aliases = aliases;
        self
    }

    /// The same with advice for some values of another type; it gets the value's pointer.
    #[must_use]
    pub const fn with_advice(mut self, advice: fn(&str, &Value) -> Option<String>) -> Self {
        self.advice = advice;
        self
    }

    /// The same, but an entry keeps what fits of it, so that the rest can be checked too. All members of an entry must be
    /// optional, and so must those of its members named `expect`.
    #[must_use]
    pub const fn keeping_rest(mut self) -> Self {
        self.keeps_rest = true;
        self
    }

    /// The schema, as text.
    pub const fn schema(&self) -> &'static str {
        self.text
    }

    fn compiled(&self) -> Option<&Schema> {
        let compile = || {
            let value: Value = serde_json::from_str(self.text).ok()?;
            let validator = jsonschema::validator_for(&value).ok()?;
            Some(Schema { value, validator })
        };
        self.compiled.get_or_init(compile).as_ref()
    }

    /// Everything that does not fit. What it is found in is taken out of `value`: an unknown key deep inside an entry of one
    /// of the lists, the entry, or else a member of the root.
    pub fn check(&self, tree: &Node, value: &mut Value) -> Misfits {
        let Some(schema) = self.compiled() else {
            let error = FileError::new(None, "the schema of such files is broken", "report it: this is a bug of ours");
            return Misfits { errors: vec![error], lost: HashSet::new(), tree: tree.clone() };
        };
        self.misfits(schema, tree, value, true)
    }

    /// What does not fit in the beginning of a file, of which the rest could not be read: nothing is missing in it.
    pub fn check_beginning(&self, tree: &Node) -> Vec<FileError> {
        let misfits = |schema: &Schema| self.misfits(schema, tree, &mut tree.to_value(), false).errors;
        self.compiled().map(misfits).unwrap_or_default()
    }

    fn misfits(&self, schema: &Schema, tree: &Node, value: &mut Value, is_whole: bool) -> Misfits {
        let mut tree = tree.clone();
        let mut errors = self.respell(schema, &mut tree, value);
        let (mut unknown, mut broken) = (Vec::new(), Vec::new());
        for error in schema.validator.iter_errors(value).take(MOST) {
            let path = error.instance_path().to_string();
            if let ValidationErrorKind::AdditionalProperties { unexpected } = error.kind() {
                for key in unexpected.iter().take(MOST) {
                    errors.push(self.unknown_key(schema, &error, &tree, key));
                    unknown.push((path.clone(), key.clone()));
                }
            } else if is_whole || !is_of_missing(&error) {
                let (what, remedy) = self.explain(schema, &error, &path);
                errors.push(FileError::new(tree.place(&path), what, remedy));
                broken.push(path);
            }
        }
        let mut lost = HashSet::new();
        for (path, key) in unknown {
            if let Some(members) = value.pointer_mut(&path).and_then(Value::as_object_mut) {
                members.remove(&key);
            }
            // All of an entry hangs on its own keys.
            if path.split('/').count() == 3 && !self.keeps_rest {
                broken.push(path);
            } else {
                lost.insert(path);
            }
        }
        for pointer in broken {
            if self.keeps_rest && take_out_of_entry(value, &pointer, self.lists) {
                lost.extend(pointer.match_indices('/').nth(2).map(|(end, _)| pointer[..end].to_owned()));
            } else {
                take_out(value, &pointer, self.lists);
            }
        }
        Misfits { errors, lost, tree }
    }

    /// Takes misspelt keys for the ones that are meant, from the outside to the inside; an error for each.
    fn respell(&self, schema: &Schema, tree: &mut Node, value: &mut Value) -> Vec<FileError> {
        let mut errors = Vec::new();
        for _ in 0..DEEPEST {
            let mut found = Vec::new();
            for error in schema.validator.iter_errors(value).take(MOST) {
                let ValidationErrorKind::AdditionalProperties { unexpected } = error.kind() else { continue };
                let mapping = error.instance_path().to_string();
                for written in unexpected.iter().take(MOST) {
                    let Some(meant) = self.meant(schema, &error, written) else { continue };
                    let why = self.unknown_key(schema, &error, tree, written);
                    found.push((why, Respelled { mapping: mapping.clone(), written: written.clone(), meant }));
                }
            }
            let before = errors.len();
            errors.extend(found.into_iter().filter(|(_, one)| one.apply(tree, value)).map(|(why, _)| why));
            if errors.len() == before {
                break;
            }
        }
        errors
    }

    /// The key that an unknown one stands for, if there is one.
    fn meant(&self, schema: &Schema, error: &ValidationError<'_>, written: &str) -> Option<String> {
        let free = free(schema, error);
        if let Some((_, key)) = self.aliases.iter().find(|(word, _)| *word == written) {
            return free.into_iter().find(|name| name == key);
        }
        let names = free.iter().map(String::as_str).filter(|name| !name.ends_with('…'));
        slip(written, names).filter(|name| is_near(written, name)).map(str::to_owned)
    }

    fn unknown_key(&self, schema: &Schema, error: &ValidationError<'_>, tree: &Node, key: &str) -> FileError {
        let path = error.instance_path().to_string();
        let at = tree.place(&format!("{path}/{}", pointer::escape(key)));
        let remedy = match self.meant(schema, error, key) {
            Some(meant) => format!("`{meant}`"),
            None => nearest(key, free(schema, error).iter().map(String::as_str)),
        };
        FileError::new(at, format!("the key {} is unknown here", quoted(key)), remedy)
    }

    fn explain(&self, schema: &Schema, error: &ValidationError<'_>, path: &str) -> (String, String) {
        let name = path.rsplit('/').find(|step| step.parse::<usize>().is_err()).filter(|step| !step.is_empty());
        let name = name.map_or_else(|| "the file".to_owned(), |step| format!("`{}`", pointer::unescape(step)));
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
                let usual = || if quote { format!("quotes: \"{found}\"") } else { wanted.clone() };
                let remedy = (self.advice)(path, found).unwrap_or_else(usual);
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
            ValidationErrorKind::Pattern { .. } => (format!("{name} may not be {}", shown(found)), form(schema, error)),
            ValidationErrorKind::MinLength { .. } => (format!("{name} is empty"), "a text".to_owned()),
            ValidationErrorKind::MinItems { .. } => (format!("{name} is empty"), "at least one entry".to_owned()),
            ValidationErrorKind::MinProperties { .. } => {
                (format!("an entry of {name} says too little"), keys(schema, error))
            }
            ValidationErrorKind::MaxProperties { .. } => {
                (format!("an entry of {name} says too much"), keys(schema, error))
            }
            ValidationErrorKind::MaxItems { limit } => {
                (format!("{name} has more than {limit} entries"), "fewer, or several files".to_owned())
            }
            ValidationErrorKind::Maximum { limit } => {
                (format!("{name} may not be {}", shown(found)), format!("a number up to {limit}"))
            }
            ValidationErrorKind::Minimum { limit } => {
                (format!("{name} may not be {}", shown(found)), format!("a number from {limit} on"))
            }
            _ => (format!("{name} may not be {}", shown(found)), format!("see {}", self.guide)),
        }
    }
}

/// Whether something is missing that may stand further below.
fn is_of_missing(error: &ValidationError<'_>) -> bool {
    let is_short = matches!(
        error.kind(),
        ValidationErrorKind::Required { .. }
            | ValidationErrorKind::MinItems { .. }
            | ValidationErrorKind::MinProperties { .. }
    );
    is_short || error.instance().is_null()
}

/// The keys that may stand where `error` found another, and do not: one that is there already would be the next error.
fn free(schema: &Schema, error: &ValidationError<'_>) -> Vec<String> {
    let is_free = |name: &String| error.instance().get(name.as_str()).is_none();
    known(schema, error).into_iter().filter(is_free).collect()
}

/// The keys that may stand where `error` found another.
fn known(schema: &Schema, error: &ValidationError<'_>) -> Vec<String> {
    let members =
        |keyword| around(schema, error).and_then(|around| around.get(keyword)?.as_object()).into_iter().flatten();
    let beginnings = members("patternProperties").map(|(pattern, _)| format!("{}…", pattern.replace(['^', '\\'], "")));
    members("properties").map(|(name, _)| name.clone()).chain(beginnings).collect()
}

/// What the schema says of a text with a pattern.
fn form(schema: &Schema, error: &ValidationError<'_>) -> String {
    let described = around(schema, error).and_then(|around| around.get("description")?.as_str());
    described.map_or_else(|| "another form".to_owned(), str::to_owned)
}

/// The keys of which an object has one.
fn keys(schema: &Schema, error: &ValidationError<'_>) -> String {
    let properties = around(schema, error).and_then(|around| around.get("properties")?.as_object());
    let names = properties.into_iter().flatten().map(|(name, _)| name.as_str()).filter(|name| *name != "role");
    format!("one of {}", names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
}

fn around<'s>(schema: &'s Schema, error: &ValidationError<'_>) -> Option<&'s Value> {
    let keyword = error.schema_path().to_string();
    schema.value.pointer(keyword.rsplit_once('/')?.0)
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

/// Takes out the member of a list's entry that `pointer` leads into; of `expect`, a member. `false` if it leads to none.
fn take_out_of_entry(value: &mut Value, pointer: &str, lists: &[&str]) -> bool {
    let steps: Vec<String> = pointer.split('/').skip(1).map(pointer::unescape).collect();
    let [list, index, member, below @ ..] = steps.as_slice() else { return false };
    let entry = value.get_mut(list).filter(|_| lists.contains(&list.as_str()));
    let entry = entry.and_then(|entries| entries.get_mut(index.parse::<usize>().ok()?)?.as_object_mut());
    let Some(entry) = entry else { return false };
    match (entry.get_mut(member).and_then(Value::as_object_mut), below.first()) {
        (Some(inner), Some(step)) if member == "expect" => drop(inner.remove(step)),
        _ => drop(entry.remove(member)),
    }
    true
}

/// Takes out the entry of a list, or the member of the root, that `pointer` leads into.
fn take_out(value: &mut Value, pointer: &str, lists: &[&str]) {
    let mut steps = pointer.split('/').skip(1);
    let (first, second) = (steps.next().unwrap_or_default(), steps.next());
    let Some(root) = value.as_object_mut() else { return };
    match second.and_then(|step| step.parse::<usize>().ok()) {
        Some(index) if lists.contains(&first) => {
            if let Some(entry) = root.get_mut(first).and_then(|list| list.get_mut(index)) {
                *entry = Value::Null;
            }
        }
        _ => drop(root.remove(first)),
    }
}

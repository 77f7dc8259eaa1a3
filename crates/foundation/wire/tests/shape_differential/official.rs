//! The official schemas, read from `../shared/spec`, and the few places where we do not take them at their word.

use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;
use wire::Revision;
use wire::revision::{R2025_06_18, R2025_11_25, R2026_07_28};
use wire::shape::Extension;

const SPEC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/spec");

/// Definitions of extensions that we do not describe, and why.
pub(crate) const LEFT_OUT: [(&str, &str); 1] = [(
    "TasksExtensionCapability",
    "the published schema allows no member at all, which no sentence says: settings may come to it",
)];

/// A place where the published JSON Schema says less than the protocol means.
pub(crate) struct Erratum {
    pub(crate) revisions: &'static [Revision],
    /// Into the definitions of the schema.
    pub(crate) pointer: &'static str,
    pub(crate) published: &'static str,
    pub(crate) read_as: &'static str,
    pub(crate) why: &'static str,
}

/// The JSON Schemas are generated from TypeScript, which the specification (basic, "Schema") calls the source of truth;
/// the generator writes `integer` for `number` unless told otherwise, and loses `null` in a list of types.
pub(crate) const ERRATA: &[Erratum] = &[
    Erratum {
        revisions: &[R2026_07_28],
        pointer: "/JSONValue/anyOf/2/type",
        published: r#"["string", "integer", "boolean"]"#,
        read_as: r#"["string", "number", "boolean", "null"]"#,
        why: "fractions and null are JSON values: settings of a capability may hold them",
    },
    Erratum {
        revisions: &[R2025_06_18],
        pointer: "/ElicitResult/properties/content/additionalProperties/type",
        published: r#"["string", "integer", "boolean"]"#,
        read_as: r#"["string", "number", "boolean"]"#,
        why: "a form may have a field of type number, and its answer may be a fraction",
    },
    Erratum {
        revisions: &[R2025_11_25, R2026_07_28],
        pointer: "/ElicitResult/properties/content/additionalProperties/anyOf/1/type",
        published: r#"["string", "integer", "boolean"]"#,
        read_as: r#"["string", "number", "boolean"]"#,
        why: "a form may have a field of type number, and its answer may be a fraction",
    },
];

/// One revision's official schema.
pub(crate) struct Official {
    pub(crate) revision: Revision,
    folder: PathBuf,
    published: Value,
    read: Value,
    words: Vec<String>,
    siblings: HashMap<String, Vec<String>>,
}

impl Official {
    /// `None` where the material is absent.
    pub(crate) fn load(revision: Revision) -> Option<Self> {
        Self::read(revision, PathBuf::from(SPEC).join(revision.as_str()), "schema.json")
    }

    /// Likewise of an extension, by the last part of its id.
    pub(crate) fn load_extension(extension: Extension) -> Option<Self> {
        let name = extension.id().rsplit('/').next().unwrap_or_default();
        Self::read(extension.revision(), PathBuf::from(SPEC).join("extensions"), &format!("{name}.schema.json"))
    }

    fn read(revision: Revision, folder: PathBuf, file: &str) -> Option<Self> {
        let text = fs::read_to_string(folder.join(file)).ok()?;
        let published = with_defs(&serde_json::from_str(&text).unwrap_or_else(|e| panic!("{revision}: {e}")));
        let mut read = published.clone();
        for erratum in ERRATA.iter().filter(|e| e.revisions.contains(&revision)) {
            let place = read["$defs"].pointer_mut(erratum.pointer);
            let place = place.unwrap_or_else(|| panic!("{revision}: no {}", erratum.pointer));
            *place = serde_json::from_str(erratum.read_as).unwrap_or_else(|e| panic!("{e}"));
        }
        let mut siblings = HashMap::new();
        gather_words(&read, &mut siblings);
        let words = siblings.keys().cloned().collect::<BTreeSet<_>>().into_iter().collect();
        Some(Self { revision, folder, published, read, words, siblings })
    }

    /// The definitions as published, their references aside.
    pub(crate) fn published(&self) -> &Value {
        &self.published["$defs"]
    }

    /// The schema of one definition, errata applied.
    pub(crate) fn definition(&self, name: &str) -> &Value {
        &self.read["$defs"][name]
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.published["$defs"].as_object().into_iter().flat_map(Map::keys).map(String::as_str)
    }

    /// Every string that is a `const` or in an `enum`.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// The words of the sets that a word belongs to; empty if it belongs to none.
    pub(crate) fn siblings(&self, word: &str) -> &[String] {
        self.siblings.get(word).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn validator(&self, name: &str) -> jsonschema::Validator {
        compile(&self.read, name)
    }

    /// The validator with another definition in its place.
    pub(crate) fn validator_with(&self, name: &str, definition: Value) -> jsonschema::Validator {
        let mut small = json!({ "$defs": reachable(&self.read, name) });
        small["$defs"][name] = definition;
        compile(&small, name)
    }

    /// The validator without errata, where they make a difference.
    pub(crate) fn unread_validator(&self, name: &str) -> Option<jsonschema::Validator> {
        let touched = reachable(&self.read, name) != reachable(&self.published, name);
        touched.then(|| compile(&self.published, name))
    }

    /// The official examples of a definition, in the order of their file names.
    pub(crate) fn examples(&self, name: &str) -> Vec<Value> {
        let Ok(entries) = fs::read_dir(self.folder.join("examples").join(name)) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
        paths.sort();
        let read = |path: PathBuf| {
            let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        };
        paths.into_iter().map(read).collect()
    }
}

/// The schema with its definitions under `$defs`, as 2020-12 has it, whatever the draft.
pub(crate) fn with_defs(schema: &Value) -> Value {
    let text = schema.to_string().replace("#/definitions/", "#/$defs/");
    let mut schema: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}"));
    let definitions = schema.get_mut("definitions").map_or(Value::Null, Value::take);
    if definitions.is_object() {
        schema["$defs"] = definitions;
    }
    schema
}

/// A validator for one definition. Formats are annotations, in the older draft as in the newer.
pub(crate) fn compile(schema: &Value, name: &str) -> jsonschema::Validator {
    let small = json!({ "$ref": format!("#/$defs/{name}"), "$defs": reachable(schema, name) });
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(false)
        .build(&small)
        .unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The definitions that one definition needs, itself among them: compiling all of them each time would take minutes.
fn reachable(schema: &Value, name: &str) -> Value {
    let mut found = Map::new();
    let mut wanted = vec![name.to_owned()];
    while let Some(name) = wanted.pop() {
        if !found.contains_key(&name) {
            let definition = &schema["$defs"][&name];
            references(definition, &mut wanted);
            found.insert(name, definition.clone());
        }
    }
    Value::Object(found)
}

fn references(schema: &Value, into: &mut Vec<String>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| references(item, into)),
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::String(target) if key == "$ref" => into.push(target.replace("#/$defs/", "")),
                    _ => references(member, into),
                }
            }
        }
        _ => {}
    }
}

/// Every `const` and `enum` string, with the other words of its set.
fn gather_words(schema: &Value, into: &mut HashMap<String, Vec<String>>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| gather_words(item, into)),
        Value::Object(members) => {
            let set = members.get("enum").and_then(Value::as_array).into_iter().flatten().chain(members.get("const"));
            let set: Vec<String> = set.filter_map(Value::as_str).map(str::to_owned).collect();
            for word in &set {
                into.entry(word.clone()).or_default().extend(set.iter().cloned());
            }
            members.values().for_each(|member| gather_words(member, into));
        }
        _ => {}
    }
}

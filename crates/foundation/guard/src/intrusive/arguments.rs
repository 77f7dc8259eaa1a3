//! Which strings of a tool's arguments are attacked: those that look like paths, addresses or commands first.

use serde_json::{Map, Value, json};

/// How many strings of one tool are attacked.
const STRINGS: usize = 8;
/// How deep strings are looked for in a schema.
const DEEPEST: usize = 4;

/// One step from the arguments to a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A member of an object.
    Member(String),
    /// The first item of a list.
    First,
}

/// A string among the arguments of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each says what one kind of attack needs to know")]
pub struct Argument {
    /// The way to it.
    pub path: Vec<Step>,
    /// JSON pointer of its schema within the tool.
    pub pointer: String,
    /// Whether it says that it is a command or code to run.
    pub runs: bool,
    /// Whether it says that it takes options of a program.
    pub takes_options: bool,
    /// Whether it looks like a URL or a host.
    pub is_url: bool,
    /// Whether it looks like a path.
    pub is_path: bool,
}

/// Words in names, descriptions and formats.
const RUNS: &[&str] =
    &["command", "cmd", "script", "code", "shell", "bash", "powershell", "argv", "python", "javascript", "expression"];
/// What a description says that is done with them.
const VERBS: &[&str] = &["run", "execute", "executed", "evaluate", "evaluated", "eval", "exec", "interpret"];
/// Tools that run what they are given, by a word of their names.
const RUNNERS: &[&str] = &[
    "shell",
    "bash",
    "sh",
    "zsh",
    "powershell",
    "terminal",
    "python",
    "javascript",
    "js",
    "node",
    "eval",
    "evaluate",
    "exec",
    "execute",
    "repl",
];
/// Names that say nothing about an argument: the tool's name says what it is.
const GENERIC: &[&str] =
    &["input", "text", "source", "content", "program", "body", "line", "statement", "snippet", "expr", "arg"];
const OPTIONS: &[&str] = &["option", "flag", "switch", "argv", "arg", "argument", "param", "parameter"];
const URLS: &[&str] = &[
    "url", "uri", "link", "href", "host", "hostname", "endpoint", "website", "webpage", "webhook", "site", "address",
    "domain", "feed", "proxy", "callback",
];
const PATHS: &[&str] = &[
    "path",
    "file",
    "filename",
    "filepath",
    "dir",
    "directory",
    "folder",
    "document",
    "root",
    "location",
    "source",
    "destination",
    "template",
    "image",
    "attachment",
];

impl Argument {
    /// Puts a text there, and makes the objects and lists on the way where they are missing.
    pub fn put(&self, arguments: &mut Map<String, Value>, text: &str) {
        let mut whole = Value::Object(std::mem::take(arguments));
        let mut at = &mut whole;
        for step in &self.path {
            at = match step {
                Step::Member(name) => {
                    if !at.is_object() {
                        *at = json!({});
                    }
                    &mut at[name.as_str()]
                }
                Step::First => {
                    if at.as_array().is_none_or(Vec::is_empty) {
                        *at = json!([null]);
                    }
                    &mut at[0]
                }
            };
        }
        *at = text.into();
        if let Value::Object(members) = whole {
            *arguments = members;
        }
    }

    fn rank(&self) -> u8 {
        u8::from(self.runs) + u8::from(self.is_url) + u8::from(self.is_path)
    }
}

/// How a description names an example.
const EXAMPLES: [&str; 6] = ["such as ", "e.g. ", "e.g., ", "for example ", "for example, ", "example: "];

/// Replaces made-up texts among the arguments by examples that descriptions name: with them, more of a tool is reached.
/// Paths and addresses in prose may be somebody's own, so they are used only where `takes_places` allows it.
pub fn spoken_examples(tool: &Value, arguments: &mut Map<String, Value>, takes_places: bool) {
    let properties = &tool["inputSchema"]["properties"];
    for (name, value) in arguments {
        let schema = &properties[name.as_str()];
        let is_open = ["enum", "const", "default", "examples", "format"].iter().all(|one| schema[*one].is_null());
        let text = schema["description"].as_str().filter(|_| value.is_string() && is_open);
        let Some(example) = text.and_then(example) else { continue };
        let about = argument(schema, &[], "", name, &About::default());
        let is_place = about.is_url || about.is_path || example.contains(['/', '\\', '~']);
        if takes_places || !is_place {
            *value = example.into();
        }
    }
}

fn example(text: &str) -> Option<&str> {
    let after = EXAMPLES.iter().find_map(|words| text.split_once(words))?.1;
    let is_quote = |c: char| matches!(c, '"' | '\'' | '`');
    let word = match after.strip_prefix(is_quote) {
        Some(quoted) => quoted.split(is_quote).next()?,
        None => after.split([' ', ',', ')', ';', '\n']).next()?.trim_end_matches(['.', ':']),
    };
    (1..200).contains(&word.len()).then_some(word)
}

/// Whether a tool is marked as destructive.
pub fn is_destructive(tool: &Value) -> bool {
    let hint = |name: &str| tool["annotations"][name].as_bool();
    hint("destructiveHint") == Some(true) && hint("readOnlyHint") != Some(true)
}

/// The strings of a tool that are attacked, the likely ones first, and how many are left out.
pub fn arguments(tool: &Value) -> (Vec<Argument>, usize) {
    let schema = &tool["inputSchema"];
    let mut found = Vec::new();
    let about = About { tool: tool["name"].as_str().unwrap_or_default(), ..About::default() };
    below(schema, schema, &mut Vec::new(), "/inputSchema", &about, &mut found);
    found.sort_by_key(|one| std::cmp::Reverse(one.rank()));
    let left_out = found.len().saturating_sub(STRINGS);
    found.truncate(STRINGS);
    (found, left_out)
}

/// What is known of a value from what stands around it.
#[derive(Clone, Copy, Default)]
struct About<'a> {
    tool: &'a str,
    name: &'a str,
    /// The description of the list that it is an item of.
    list: &'a str,
}

fn below<'v>(
    root: &'v Value,
    schema: &'v Value,
    path: &mut Vec<Step>,
    pointer: &str,
    about: &About<'v>,
    found: &mut Vec<Argument>,
) {
    // A schema without end is cut off by its depth, and one that is too wide by the number of strings.
    if path.len() > DEEPEST || found.len() >= 16 * STRINGS {
        return;
    }
    let Some(schema) = resolved(root, schema) else { return };
    if schema["enum"].is_array() || !schema["const"].is_null() {
        return;
    }
    if is(schema, "string") && !path.is_empty() {
        found.push(argument(schema, path, pointer, about.name, about));
        return;
    }
    for (member, inner) in schema["properties"].as_object().into_iter().flatten() {
        path.push(Step::Member(member.clone()));
        let escaped = member.replace('~', "~0").replace('/', "~1");
        let about = About { name: member, list: "", ..*about };
        below(root, inner, path, &format!("{pointer}/properties/{escaped}"), &about, found);
        path.pop();
    }
    if schema["items"].is_object() {
        path.push(Step::First);
        let about = About { list: schema["description"].as_str().unwrap_or_default(), ..*about };
        below(root, &schema["items"], path, &format!("{pointer}/items"), &about, found);
        path.pop();
    }
}

/// The schema behind a reference, or the alternative that admits strings, objects or lists.
fn resolved<'s>(root: &'s Value, schema: &'s Value) -> Option<&'s Value> {
    let mut schema = schema;
    for _ in 0..DEEPEST {
        if let Some(reference) = schema["$ref"].as_str() {
            schema = root.pointer(reference.strip_prefix('#')?)?;
            continue;
        }
        let mut ways = ["anyOf", "oneOf"].iter().filter_map(|one| schema[*one].as_array()).flatten();
        match ways.find(|way| ["string", "object", "array"].iter().any(|kind| is(way, kind)) || !way["$ref"].is_null())
        {
            Some(way) if schema["type"].is_null() => schema = way,
            _ => return Some(schema),
        }
    }
    Some(schema)
}

fn is(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(one) => one == kind,
        Value::Array(several) => several.iter().any(|one| one == kind),
        _ => false,
    }
}

fn argument(schema: &Value, path: &[Step], pointer: &str, name: &str, about: &About<'_>) -> Argument {
    let named = split(name);
    let texts = ["description", "title", "format"].iter().filter_map(|one| schema[*one].as_str());
    let said: Vec<String> = texts.chain([about.list]).flat_map(split).collect();
    let has = |list: &[&str]| is_any(&named, list) || is_any(&said, list);
    let is_generic = named.iter().all(|word| is_any(std::slice::from_ref(word), GENERIC));
    let is_code = is_any(&said, RUNS) && is_any(&said, VERBS);
    let runs = is_any(&named, RUNS) || is_code || (is_generic && is_any(&split(about.tool), RUNNERS));
    let says_options =
        is_any(&said, &["option", "flag", "switch"]) || said.windows(2).any(|two| two == ["command", "line"]);
    Argument {
        path: path.to_vec(),
        pointer: pointer.to_owned(),
        runs,
        takes_options: is_any(&named, OPTIONS) && (says_options || is_any(&named, &["argv"])),
        is_url: has(URLS),
        is_path: has(PATHS),
    }
}

/// Whether one of the words is in the list, also as a plural.
fn is_any(words: &[String], list: &[&str]) -> bool {
    let is = |word: &str| list.contains(&word);
    words.iter().any(|word| is(word) || word.strip_suffix('s').is_some_and(is))
}

/// The words of a text in lower case: `fileName` and `file_name` have two.
fn split(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut was_lower = false;
    for c in text.chars().take(2000) {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            out.push(String::new());
        }
        if c.is_alphanumeric() {
            out.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        was_lower = c.is_lowercase();
    }
    out.retain(|word| !word.is_empty());
    out
}

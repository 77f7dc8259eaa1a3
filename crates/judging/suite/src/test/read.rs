//! Reads a file into a [`Suite`]: its YAML, its shape, then its meaning. Reports all errors at once, with their places.

mod case;
mod expect;
mod server;
mod variables;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use document::{self, FileError, FileErrors, Node, Shape, quoted, unfilled};
use serde_json::{Map, Value, json};
use serde_json_path::JsonPath;
use wire::Revision;
use wire::escape::snippet;

use super::model;
use super::plan::{Case, Server, Suite};

/// The maximum size of a file, in bytes.
const MAX_BYTES: usize = 8 << 20;
/// The longest timeout.
const MAX_TIME: Duration = Duration::from_hours(1);

/// Where test files are described.
const GUIDE: &str = "https://github.com/proofhouse/proofhouse/blob/main/docs/test.md";

/// The shape of a file.
static SHAPE: Shape = Shape::new(include_str!("../../../../../docs/test.schema.json"), GUIDE, &["setup", "cases"])
    .keeping_rest()
    .with_aliases(&ALIASES)
    .with_advice(advice);

/// What people write for a key, from other tools.
const ALIASES: [(&str, &str); 16] = [
    ("tests", "cases"),
    ("steps", "cases"),
    ("suite", "cases"),
    ("variables", "vars"),
    ("tool", "call"),
    ("resource", "read"),
    ("prompt", "get"),
    ("method", "raw"),
    ("input", "arguments"),
    ("assert", "expect"),
    ("assertions", "expect"),
    ("save", "capture"),
    ("title", "name"),
    ("description", "name"),
    ("args", "arguments"),
    ("cmd", "command"),
];

/// What to do about a value of another type than its key has.
fn advice(pointer: &str, found: &Value) -> Option<String> {
    let key = pointer.rsplit('/').next()?;
    let member = |names: [&str; 2]| names.into_iter().find_map(|name| found.get(name)?.as_str());
    let name = |usual: &str, names| member(names).map_or_else(|| usual.to_owned(), |name| snippet(name, 60));
    match (key, found) {
        ("call", Value::Object(_)) => {
            Some(format!("`call: {}`, and its `arguments` as a key next to `call`", name("TOOL", ["tool", "name"])))
        }
        ("get", Value::Object(_)) => {
            Some(format!("`get: {}`, and its `arguments` as a key next to `get`", name("PROMPT", ["prompt", "name"])))
        }
        ("read", Value::Object(_)) => Some(format!("`read: {}`", name("URI", ["uri", "resource"]))),
        ("command", Value::String(_)) => Some("a list of words: `command: [npx, -y, my-server]`".to_owned()),
        _ => None,
    }
}

/// Reads a test file.
pub fn load(path: &Path) -> Result<Suite, FileErrors> {
    let name = path.display().to_string();
    let refuse = |what: String, remedy: &str| FileErrors::new(&name, vec![FileError::new(None, what, remedy)]);
    let mut bytes = Vec::new();
    net::open_at_once(path)
        .and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| refuse(format!("cannot read the file: {error}"), "check the path and its permissions"))?;
    if bytes.len() > MAX_BYTES {
        return Err(refuse("the file is larger than 8 MiB".to_owned(), "split it into several files"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| refuse("the file is not UTF-8 text".to_owned(), &format!("see {GUIDE} for an example")))?;
    parse(&text, path)
}

/// Reads a test file from its text; `path` is for messages and relative paths.
pub fn parse(text: &str, path: &Path) -> Result<Suite, FileErrors> {
    read(text, path).map_err(|errors| FileErrors::new(&path.display().to_string(), errors))
}

/// A suite of one call of a tool that the server lists, with values that its result must have at paths; `name` is for messages.
pub fn of_call(
    name: &Path,
    server: Value,
    tool: &str,
    arguments: Map<String, Value>,
    expect: Map<String, Value>,
) -> Result<Suite, FileErrors> {
    let equals = |value: &Value| json!({ "equals": unfilled(value) });
    let expect: Map<String, Value> = expect.iter().map(|(path, value)| (path.clone(), equals(value))).collect();
    let (tool, arguments) = (unfilled(&json!(tool)), unfilled(&Value::Object(arguments)));
    let places = places(&arguments, &expect);
    let case = json!({ "call": tool, "arguments": arguments, "expect": expect });
    let text = json!({ "server": server, "cases": [case] }).to_string();
    let mut suite = parse(&text, name).map_err(|errors| in_words(errors, &text, &places))?;
    suite.cases.iter_mut().for_each(|case| case.must_be_listed = true);
    Ok(suite)
}

/// Pointers to the parts of a call, each with its name on the command line.
fn places(arguments: &Value, expect: &Map<String, Value>) -> Vec<(String, String)> {
    let of = |list: &str, name: &str| format!("/cases/0/{list}/{}", wire::pointer::escape(name));
    let arguments = arguments.as_object().into_iter().flatten().enumerate();
    let arguments =
        arguments.map(|(at, (name, _))| (of("arguments", name), format!("argument {} ({})", at + 1, quoted(name))));
    let expect = expect.keys().enumerate().map(|(at, path)| (of("expect", path), format!("expectation {}", at + 1)));
    let others = [("/cases/0/call", "the name of the tool"), ("/server", "the server")];
    let others = others.map(|(pointer, name)| (pointer.to_owned(), name.to_owned()));
    others.into_iter().chain(arguments).chain(expect).collect()
}

/// Errors in a text that no person wrote: with the part of the command line in place of the position.
fn in_words(mut errors: FileErrors, text: &str, places: &[(String, String)]) -> FileErrors {
    let Ok((tree, _)) = document::read(text) else { return errors };
    for error in &mut errors.list {
        let Some(at) = error.at.take() else { continue };
        let before = places.iter().map(|(pointer, name)| (tree.place(pointer), name)).filter(|(place, _)| *place <= at);
        error.place = before.max_by_key(|(place, _)| *place).map(|(_, name)| name.clone());
    }
    errors
}

/// Reads a file from its text. The errors are unordered.
pub(super) fn read(text: &str, path: &Path) -> Result<Suite, Vec<FileError>> {
    let (tree, mut errors) = document::read(text).map_err(|error| with_earlier(error, text))?;
    let mut value = tree.to_value();
    let misfits = SHAPE.check(&tree, &mut value);
    errors.extend(misfits.errors);
    let tree = misfits.tree;
    let captured = captured_names(&tree.to_value());
    match serde_json::from_value::<model::File>(value) {
        Ok(file) => {
            let mut reader = Reader {
                tree: &tree,
                errors,
                lost: misfits.lost,
                captured,
                known: HashMap::new(),
                titles: HashMap::new(),
                uses: BTreeSet::new(),
            };
            let suite = reader.suite(file, path);
            if reader.errors.is_empty() { Ok(suite) } else { Err(reader.errors) }
        }
        Err(_) if !errors.is_empty() => Err(errors),
        Err(error) => {
            let what = format!("bug in proof: the schema of test files and their reader disagree: {error}");
            Err(vec![FileError::new(None, what, "report it, with the file")])
        }
    }
}

/// How many lines before an error of YAML may belong to the entry that has it.
const ENTRY: usize = 200;

/// An error of YAML, and what does not fit in the entries before the one that has it.
fn with_earlier(error: FileError, text: &str) -> Vec<FileError> {
    let lines: Vec<&str> = text.lines().collect();
    let last = error.at.map_or(0, |at| at.line.min(lines.len()));
    let begins_entry = |line: &str| line.trim_start().starts_with("- ") || !line.starts_with([' ', '#']);
    let ends = (1..last).rev().take(ENTRY).filter(|end| begins_entry(lines[*end]));
    let mut read = ends.map(|end| document::read(&lines[..end].join("\n")));
    let Some((tree, mut errors)) = read.find_map(Result::ok) else { return vec![error] };
    errors.extend(SHAPE.check_beginning(&tree));
    errors.push(error);
    errors
}

/// The names of all captured variables, also of those that do not fit the shape.
fn captured_names(file: &Value) -> HashSet<String> {
    let cases = ["setup", "cases"].iter().filter_map(|list| file.get(list)?.as_array()).flatten();
    let captures = cases.filter_map(|case| case.get("capture")?.as_object());
    captures.flat_map(|capture| capture.keys().cloned()).collect()
}

struct Reader<'t> {
    tree: &'t Node,
    errors: Vec<FileError>,
    /// Pointers to what lost a part that did not fit: what they lack may be that part.
    lost: HashSet<String>,
    /// The names of all captured variables.
    captured: HashSet<String>,
    /// The variables, and where each is set.
    known: HashMap<String, Step>,
    /// How often each generated name was used.
    titles: HashMap<String, usize>,
    /// The variables of the current case.
    uses: BTreeSet<String>,
}

/// A place that sets or uses variables; earlier places compare as less.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A value of `vars`, by its index.
    Var(usize),
    /// A case, by its index; the setup counts first.
    Case(usize),
}

impl Reader<'_> {
    fn error(&mut self, pointer: &str, what: impl Into<String>, remedy: impl Into<String>) {
        self.errors.push(FileError::new(self.tree.place(pointer), what, remedy));
    }

    fn suite(&mut self, file: model::File, path: &Path) -> Suite {
        let folder = path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut servers: Vec<Server> =
            file.server.into_iter().filter_map(|one| self.server(one, "/server", folder)).collect();
        for (at, server) in file.matrix.servers.into_iter().enumerate() {
            servers.extend(self.server(server, &format!("/matrix/servers/{at}"), folder));
        }
        // The schema has checked the names.
        let revisions: Vec<Revision> = file.matrix.revisions.iter().filter_map(|name| name.parse().ok()).collect();
        if !revisions.is_empty()
            && servers.iter().any(|server| !revisions.iter().any(|revision| server.supports(*revision)))
        {
            let what = "a server uses HTTP+SSE, which supports only 2024-11-05";
            self.error("/matrix/revisions", what, "add 2024-11-05");
        }
        self.known.extend(file.vars.keys().enumerate().map(|(at, name)| (name.clone(), Step::Var(at))));
        self.add_captures(&file.setup, "/setup", 0);
        self.add_captures(&file.cases, "/cases", file.setup.len());
        let timeout = file.timeout.as_deref().map(|text| self.time(text, "/timeout"));
        let vars = self.vars(file.vars);
        let before = file.setup.len();
        let setup = self.cases(file.setup, "/setup", 0, timeout);
        let cases = self.cases(file.cases, "/cases", before, timeout);
        self.check_names(&cases);
        self.check_snapshot_names(&cases);
        Suite {
            path: path.to_owned(),
            servers,
            revisions: Some(revisions).filter(|revisions| !revisions.is_empty()),
            vars,
            setup,
            cases,
        }
    }

    fn check_names(&mut self, cases: &[Case]) {
        let mut seen = HashMap::new();
        for case in cases {
            if let Some(first) = seen.insert(case.name.as_str(), case.at.line) {
                let what = format!("duplicate case name {}", quoted(&case.name));
                self.errors.push(FileError::new(
                    case.at,
                    what,
                    format!("another `name`; the first use is in line {first}"),
                ));
            }
        }
    }

    fn check_snapshot_names(&mut self, cases: &[Case]) {
        let mut seen = HashMap::new();
        for case in cases {
            let Some(name) = case.snapshot_name() else { continue };
            if let Some(first) = seen.insert(name, case.at.line) {
                let what = format!("two cases have the snapshot {}", quoted(name));
                let remedy = format!("another `snapshot: NAME`; the first use is in line {first}");
                self.errors.push(FileError::new(case.at, what, remedy));
            }
        }
    }

    fn path(&mut self, text: &str, pointer: &str) -> Option<JsonPath> {
        JsonPath::parse(text)
            .map_err(|error| {
                let at = error.position() + 1;
                let what = format!("{} is not a JSONPath, at character {at}: {}", quoted(text), error.message());
                self.error(pointer, what, "$.content[0].text, $.structuredContent['a b']");
            })
            .ok()
    }

    fn time(&mut self, text: &str, pointer: &str) -> Duration {
        let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
        let seconds = number.parse::<f64>().unwrap_or_default() / if unit == "ms" { 1000.0 } else { 1.0 };
        match Duration::try_from_secs_f64(seconds) {
            Ok(time) if !time.is_zero() && time <= MAX_TIME => time,
            _ => {
                self.error(pointer, format!("invalid time {}", quoted(text)), "between 1ms and 3600s");
                MAX_TIME
            }
        }
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;

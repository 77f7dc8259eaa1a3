//! A description on plain JSON values becomes an [`Api`]: Swagger 2, OpenAPI 3.0 and 3.1. One bad operation disables itself,
//! never the document. Fetches nothing: references lead into the description alone.

mod answers;
mod arguments;
mod bodies;
mod members;
mod operations;
mod parameters;
mod security;
mod servers;
mod source;
mod weight;

use std::fmt::{self, Display, Formatter};

use serde_json::{Map, Value};
use wire::pointer;

use crate::choice::{Choice, Head, Unmatched};
use crate::limits::Limits;
use crate::model::{Api, Method, Operation, Skipped};
use crate::prose;
use crate::schemas::Schemas;
pub(crate) use source::{Dialect, Source};

/// How many notes are kept: a description with more has one cause for most.
const NOTES: usize = 1_000;

/// How many bytes that are read and cut count as one that is kept.
const WORK: usize = 32;

/// Why nothing can be read of a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// It is no object with `openapi` or `swagger`, or of a version that is not known.
    Version {
        /// What stands there.
        found: String,
    },
    /// It has too many values, or they nest too deep.
    TooLarge {
        /// The bound.
        why: String,
    },
    /// The choice names what the description does not have.
    Unmatched(Vec<Unmatched>),
}

impl Display for ReadError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { found } => write!(
                f,
                "this is no OpenAPI description – {found} – try a file that begins with `openapi: 3.…` or `swagger: \"2.0\"`"
            ),
            Self::TooLarge { why } => {
                write!(f, "the description is too large – {why} – try a part of it, split by tags or paths")
            }
            Self::Unmatched(list) => {
                for (index, one) in list.iter().enumerate() {
                    write!(f, "{}{one}", if index == 0 { "" } else { "\n" })?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for ReadError {}

/// Reads every operation of a description.
pub fn read(value: &Value, limits: &Limits) -> Result<Api, ReadError> {
    read_chosen(value, limits, &Choice::everything())
}

/// Reads the operations of a description that are chosen; [`Api::left`] says why others are not.
pub fn read_chosen(value: &Value, limits: &Limits, choice: &Choice) -> Result<Api, ReadError> {
    let source = Source::new(value, limits)?;
    let mut reader =
        Reader { schemas: Schemas::new(&source, limits), source: &source, limits, api: Api::default(), weight: 0 };
    reader.frame();
    let heads = reader.heads();
    let unmatched = choice.unmatched(&heads.iter().map(|(head, _)| head).collect::<Vec<_>>());
    if !unmatched.is_empty() {
        return Err(ReadError::Unmatched(unmatched));
    }
    for (head, place) in heads {
        reader.take(head, &place, choice);
    }
    let mut notes = reader.schemas.take_notes();
    reader.api.notes.append(&mut notes);
    reader.api.notes.truncate(NOTES);
    Ok(reader.api)
}

/// The whole schema of an operation's answer, self-contained, whatever its size up to [`Limits::whole_bytes`].
pub fn answer_schema(value: &Value, operation: &Operation, limits: &Limits) -> Option<Value> {
    let source = Source::new(value, limits).ok()?;
    let mut schemas = Schemas::new(&source, limits);
    let raw = value.pointer(&operation.at)?.as_object()?;
    answers::read(&source, &mut schemas, raw, &operation.at, limits.whole_bytes).and_then(|answer| answer.schema)
}

/// Where an operation stands: itself and the path item around it.
pub(crate) struct Site<'v> {
    item: &'v Map<String, Value>,
    item_at: String,
    raw: &'v Map<String, Value>,
}

struct Reader<'s, 'v> {
    source: &'s Source<'v>,
    schemas: Schemas<'s, 'v>,
    limits: &'s Limits,
    api: Api,
    /// How much memory the operations take, about, and how much work reading them was.
    weight: usize,
}

impl<'v> Reader<'_, 'v> {
    /// Title, version, servers and schemes.
    fn frame(&mut self) {
        let root = self.source.root;
        let info = |name| root.get("info").and_then(|info| info.get(name)).and_then(Value::as_str).unwrap_or_default();
        self.api.title = prose::shortened(&prose::plain(info("title")), 200);
        self.api.version = prose::shortened(&prose::plain(info("version")), 40);
        self.api.servers = servers::of_root(self.source);
        self.api.schemes = security::schemes(self.source);
    }

    fn skip(&mut self, at: &str, why: impl Into<String>) {
        self.api.skipped.push(Skipped { at: at.to_owned(), why: why.into() });
    }

    fn note(&mut self, at: &str, why: impl Into<String>) {
        if self.api.notes.len() < NOTES {
            self.api.notes.push(Skipped { at: at.to_owned(), why: why.into() });
        }
    }

    /// Everything that looks like an operation.
    fn heads(&mut self) -> Vec<(Head, Site<'v>)> {
        let mut heads = Vec::new();
        let root = self.source.root;
        let Some(paths) = root.get("paths") else {
            if root.get("webhooks").is_none() {
                self.note("", "it has no `paths`, so no operations");
            }
            return heads;
        };
        let Some(paths) = paths.as_object() else {
            self.skip("/paths", "`paths` is no object");
            return heads;
        };
        let open = root.as_object().and_then(Choice::opinion);
        for (path, item) in paths.iter().filter(|(path, _)| !path.starts_with("x-")) {
            if heads.len() >= self.limits.heads {
                self.skip("/paths", format!("only the first {} operations are looked at", self.limits.heads));
                break;
            }
            let at = pointer::member("/paths", path);
            if path.len() > self.limits.name {
                self.skip("/paths", format!("the path {}… is too long", &path[..path.floor_char_boundary(60)]));
                continue;
            }
            if !path.starts_with('/') {
                self.skip(&at, "the path does not begin with `/`");
                continue;
            }
            match self.source.resolve(item, &at) {
                Ok((Value::Object(item), item_at)) => self.item(path, item, &item_at, open, &mut heads),
                Ok(_) => self.skip(&at, "the path item is no object"),
                Err(why) => self.skip(&at, why),
            }
        }
        heads
    }

    fn item(
        &mut self,
        path: &str,
        item: &'v Map<String, Value>,
        item_at: &str,
        open: Option<bool>,
        heads: &mut Vec<(Head, Site<'v>)>,
    ) {
        let open = Choice::opinion(item).or(open);
        for (name, raw) in item {
            let Some(method) = method(name) else { continue };
            let at = pointer::member(item_at, name);
            match raw {
                Value::Object(raw) => {
                    let head = operations::head(raw, &at, method, path, open);
                    heads.push((head, Site { item, item_at: item_at.to_owned(), raw }));
                }
                _ => self.skip(&at, "the operation is no object"),
            }
        }
    }

    fn take(&mut self, head: Head, site: &Site<'v>, choice: &Choice) {
        if let Err(why) = choice.picks(&head) {
            self.api.left.push(Skipped { at: head.at, why });
            return;
        }
        if self.api.operations.len() >= self.limits.operations {
            let why = format!("{} operations are read at most: choose by tag or path", self.limits.operations);
            self.api.left.push(Skipped { at: head.at, why });
            return;
        }
        let at = head.at.clone();
        if self.weight > self.limits.memory {
            return self.too_many(at);
        }
        let operation = self.operation(head, site);
        self.weight += self.schemas.take_work() / WORK;
        match operation {
            Ok(operation) => {
                self.weight += weight::of(&operation);
                if self.weight > self.limits.memory {
                    return self.too_many(at);
                }
                self.api.operations.push(operation);
            }
            Err(Skipped { at: place, why }) if place == at => self.skip(&at, why),
            Err(Skipped { at: place, why }) => self.skip(&at, format!("{why} (at {place})")),
        }
    }

    fn too_many(&mut self, at: String) {
        let why = format!("all operations together take more than {} MiB: choose fewer", self.limits.memory >> 20);
        self.api.left.push(Skipped { at, why });
    }
}

fn method(name: &str) -> Option<Method> {
    const METHODS: [(&str, Method); 8] = [
        ("get", Method::Get),
        ("head", Method::Head),
        ("options", Method::Options),
        ("put", Method::Put),
        ("delete", Method::Delete),
        ("post", Method::Post),
        ("patch", Method::Patch),
        ("trace", Method::Trace),
    ];
    METHODS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, method)| *method)
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;

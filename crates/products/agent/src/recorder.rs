//! Appends what happened to a recording, a line at a time, so that it is there when the process is killed. Secrets are
//! concealed before a line is written.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};

use eval::recording::{End, sample_members};
use serde_json::{Map, Value, json};

use crate::answer::Answered;

/// Conceals the secrets in a line.
pub type Conceal = Box<dyn Fn(&Value) -> Value + Send + Sync>;

/// Writes a recording.
pub struct Recorder {
    file: Mutex<File>,
    conceal: Conceal,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recorder")
    }
}

/// Which turn of which attempt a line belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'p> {
    pub(crate) case: &'p str,
    pub(crate) attempt: usize,
    pub(crate) turn: usize,
}

impl Recorder {
    /// Appends to a file that is open at its end.
    pub fn new(file: File, conceal: Conceal) -> Self {
        Self { file: Mutex::new(file), conceal }
    }

    /// Writes the first line.
    pub fn header(&self, members: &Map<String, Value>) -> io::Result<()> {
        self.write(&Value::Object(members.clone()))
    }

    /// Writes a line of another kind.
    pub fn line(&self, members: Map<String, Value>) -> io::Result<()> {
        self.write(&Value::Object(members))
    }

    pub(crate) fn begin(&self, place: Place<'_>, prompt: &str) -> io::Result<()> {
        self.write(&json!({ "kind": "begin", "case": place.case, "attempt": place.attempt, "prompt": prompt }))
    }

    /// An answer, with the calls that are scored.
    pub(crate) fn answer(&self, place: Place<'_>, answer: &Answered, sample: &eval::Sample) -> io::Result<()> {
        let mut line = line("answer", place);
        line.extend(sample_members(sample));
        line.insert("tokens".to_owned(), answer.tokens.map_or(Value::Null, |tokens| tokens.to_value()));
        line.insert("answer".to_owned(), answer.whole.clone());
        self.write(&Value::Object(line))
    }

    /// The calls of a turn begin.
    pub(crate) fn calling(&self, place: Place<'_>) -> io::Result<()> {
        self.write(&Value::Object(line("calling", place)))
    }

    pub(crate) fn results(&self, place: Place<'_>, results: Vec<Value>) -> io::Result<()> {
        let mut line = line("results", place);
        line.insert("results".to_owned(), results.into());
        self.write(&Value::Object(line))
    }

    pub(crate) fn end(&self, place: Place<'_>, end: &End) -> io::Result<()> {
        let mut line = line("end", place);
        line.insert("end".to_owned(), end.as_str().into());
        if let End::Error(why) = end {
            line.insert("error".to_owned(), why.as_str().into());
        }
        self.write(&Value::Object(line))
    }

    fn write(&self, line: &Value) -> io::Result<()> {
        let text = format!("{}\n", (self.conceal)(line));
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(text.as_bytes())
    }
}

fn line(kind: &str, place: Place<'_>) -> Map<String, Value> {
    let mut line = Map::new();
    line.insert("kind".to_owned(), kind.into());
    line.insert("case".to_owned(), place.case.into());
    line.insert("attempt".to_owned(), place.attempt.into());
    line.insert("turn".to_owned(), place.turn.into());
    line
}

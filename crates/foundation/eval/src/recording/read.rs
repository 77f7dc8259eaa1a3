//! Reads the lines of a recording. A last line that was cut off is left out; anything else that is wrong is an error.

use serde_json::{Map, Value};

use super::{Attempt, End, FORMAT, Recording, Tokens, Turn};
use crate::call::{Parse, Sample, ToolCall};
use crate::import::{MOST_SAMPLES, Unreadable};

/// How many turns one attempt may have.
const MOST_TURNS: usize = 10_000;

/// Reads a recording; `None` where the file is something else.
pub fn read(text: &str) -> Option<Result<Recording, Unreadable>> {
    let first = text.lines().next()?;
    let header: Value = serde_json::from_str(first).ok()?;
    if header.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return None;
    }
    Some(lines(text))
}

fn lines(text: &str) -> Result<Recording, Unreadable> {
    let mut recording = Recording::default();
    let mut indexes = std::collections::HashMap::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        // Killed in the middle of a write.
        if !line.ends_with('\n') {
            break;
        }
        let place = |what: &str| Unreadable::new(what, "the recording as `proof eval run` wrote it").at(number + 1);
        let Ok(Value::Object(members)) = serde_json::from_str(line) else { return Err(place("not a JSON object")) };
        recording.length += line.len();
        if number == 0 {
            recording.header = members;
            continue;
        }
        let line = Line(members);
        let key = (line.text("case").to_owned(), line.number("attempt"));
        if line.text("kind") == "begin" {
            if recording.attempts.len() == MOST_SAMPLES {
                return Err(place("more than 1,000,000 attempts"));
            }
            let prompt = line.text("prompt").to_owned();
            let attempt = Attempt { case: key.0.clone(), number: key.1, prompt, turns: Vec::new(), end: None };
            if indexes.insert(key, recording.attempts.len()).is_some() {
                return Err(place("an attempt begins twice"));
            }
            recording.attempts.push(attempt);
            continue;
        }
        let attempt = indexes.get(&key).and_then(|at| recording.attempts.get_mut(*at));
        let attempt = attempt.ok_or_else(|| place("a line of an attempt that has not begun"))?;
        line.add_to(attempt).map_err(place)?;
    }
    Ok(recording)
}

/// The members of one line.
struct Line(Map<String, Value>);

impl Line {
    fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn number(&self, name: &str) -> usize {
        self.0.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
    }

    fn is_true(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Value::Bool(true))
    }

    fn list(&self, name: &str) -> &[Value] {
        self.0.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn add_to(mut self, attempt: &mut Attempt) -> Result<(), &'static str> {
        match self.text("kind") {
            "answer" if self.number("turn") != attempt.turns.len() => Err("a turn is missing"),
            "answer" if attempt.turns.len() == MOST_TURNS => Err("an attempt has more than 10,000 turns"),
            "answer" => {
                let (sample, tokens) = (self.sample()?, self.tokens());
                let answer = self.0.remove("answer").unwrap_or_default();
                // An attempt that ended with an error was resumed.
                attempt.end = None;
                attempt.turns.push(Turn { answer, sample, tokens, is_called: false, results: None });
                Ok(())
            }
            "calling" | "results" => {
                let number = self.number("turn");
                let turn = attempt.turns.get_mut(number).ok_or("results of a turn that has no answer")?;
                turn.is_called = true;
                if self.text("kind") == "results" {
                    turn.results = Some(self.list("results").to_vec());
                }
                Ok(())
            }
            "end" => {
                attempt.end = Some(match self.text("end") {
                    "answered" => End::Answered,
                    "turns" => End::Turns,
                    "unreadable" => End::Unreadable,
                    "error" => End::Error(self.text("error").to_owned()),
                    _ => return Err("an unknown end"),
                });
                Ok(())
            }
            // What later versions add does not change what was answered.
            _ => Ok(()),
        }
    }

    fn tokens(&self) -> Tokens {
        let of = |name| self.0.get("tokens").and_then(|tokens| tokens.get(name)).and_then(Value::as_u64).unwrap_or(0);
        Tokens { input: of("input"), cached: of("cached"), output: of("output") }
    }

    fn sample(&self) -> Result<Sample, &'static str> {
        let mut sample = Sample { is_refusal: self.is_true("refused"), ..Sample::default() };
        sample.is_partial = self.is_true("partial");
        sample.write(self.text("text"));
        self.list("notes").iter().filter_map(Value::as_str).for_each(|note| sample.note(note));
        for (order, value) in self.list("calls").iter().enumerate() {
            sample.calls.push(call(value, order).ok_or("a call that is not complete")?);
        }
        Ok(sample)
    }
}

fn call(value: &Value, order: usize) -> Option<ToolCall> {
    let parse = match value.get("parse")?.as_str()? {
        "parsed" => Parse::Parsed,
        "empty" => Parse::Empty,
        "truncated" => Parse::Truncated,
        "malformed" => Parse::Malformed(value.get("why").and_then(Value::as_str).unwrap_or_default().to_owned()),
        _ => return None,
    };
    Some(ToolCall {
        id: value.get("id").and_then(Value::as_str).map(str::to_owned),
        name: value.get("name")?.as_str()?.to_owned(),
        arguments: value.get("arguments")?.as_object()?.clone(),
        turn: 0,
        order,
        parse,
    })
}

//! Judgements as JSON Lines: every question with its answer, so that the same recording gives the same rates without a model.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::work::Question;
use super::{Kind, Prompt, Verdict, parse};
use crate::call::Sample;
use crate::import::Unreadable;
use crate::recording::Tokens;

/// What the first line is called.
pub const FORMAT: &str = "proof.eval-judge/1";
/// How many judgements a recording may have.
const MOST: usize = 1_000_000;

/// The judgements of a recording, by the digests of their questions.
#[derive(Clone, Debug, Default)]
pub struct Judgements {
    /// The first line: who judged, and how.
    pub header: Map<String, Value>,
    /// The bytes up to the end of the last whole line.
    pub length: usize,
    /// What all answers cost together, and how many there are.
    pub spent: (usize, Tokens),
    found: HashMap<String, Result<(Verdict, String), String>>,
    failed: HashMap<String, String>,
}

impl Judgements {
    /// What became of a question; `None` where it was not asked.
    pub(super) fn of(&self, digest: &str) -> Option<Result<&(Verdict, String), &String>> {
        let found = self.found.get(digest).map(Result::as_ref);
        found.or_else(|| self.failed.get(digest).map(Err))
    }

    /// Forgets the questions that the endpoint did not answer, so that they are asked again.
    pub fn forget_failures(&mut self) {
        self.failed.clear();
    }

    /// How many judgements there are, and how many questions the endpoint did not answer.
    pub fn counts(&self) -> (usize, usize) {
        (self.found.len(), self.failed.len())
    }

    /// Why the endpoint did not answer one of the questions.
    pub fn failure(&self) -> Option<&str> {
        self.failed.values().next().map(String::as_str)
    }
}

/// The line about an answered question. What was answered in full stands next to it.
pub fn line_of(question: &Question, prompt: &Prompt, sample: &Sample, tokens: Option<Tokens>) -> Map<String, Value> {
    let is_swapped = question.side == super::work::Side::Swapped;
    let mut line = beginning(question);
    match parse(prompt, is_swapped, sample) {
        Ok((verdict, reason)) => {
            line.insert("verdict".to_owned(), json!(verdict.to_string()));
            line.insert("reason".to_owned(), json!(reason));
        }
        Err(why) => drop(line.insert("not_judged".to_owned(), json!(why))),
    }
    line.insert("tokens".to_owned(), tokens.map_or(Value::Null, Tokens::to_value));
    line
}

/// The line about a question that the endpoint did not answer.
pub fn failed(question: &Question, why: &str) -> Map<String, Value> {
    let mut line = beginning(question);
    line.insert("error".to_owned(), json!(why));
    line
}

fn beginning(question: &Question) -> Map<String, Value> {
    let line = json!({
        "kind": "judgement",
        "judge": question.kind.as_str(),
        "case": question.case,
        "attempt": question.attempt,
        "side": question.side.as_str(),
        "question": question.asked.digest,
        "asked": question.asked.text,
    });
    line.as_object().cloned().unwrap_or_default()
}

/// Reads a recording. A last line that was cut off is left out; anything else that is wrong is an error.
pub fn read(text: &str) -> Result<Judgements, Unreadable> {
    const REMEDY: &str = "a recording of `proof eval judge`";
    let mut judgements = Judgements::default();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if !line.ends_with('\n') {
            break;
        }
        let wrong = |what: &str| Unreadable::new(what, REMEDY).at(number + 1);
        let Ok(Value::Object(members)) = serde_json::from_str(line) else { return Err(wrong("not a JSON object")) };
        judgements.length += line.len();
        if number == 0 {
            if members.get("format").and_then(Value::as_str) != Some(FORMAT) {
                return Err(wrong("not a recording of `proof eval judge`"));
            }
            judgements.header = members;
            continue;
        }
        if judgements.found.len() + judgements.failed.len() >= MOST {
            return Err(wrong("more than 1,000,000 judgements"));
        }
        take(&mut judgements, &members).map_err(wrong)?;
    }
    if judgements.header.is_empty() {
        return Err(Unreadable::new("not a recording of `proof eval judge`", REMEDY));
    }
    Ok(judgements)
}

fn take(judgements: &mut Judgements, line: &Map<String, Value>) -> Result<(), &'static str> {
    let text = |name: &str| line.get(name).and_then(Value::as_str);
    let kind = Kind::ALL.into_iter().find(|kind| text("judge") == Some(kind.as_str()));
    let (Some(kind), Some(digest)) = (kind, text("question")) else { return Err("a line that is no judgement") };
    let number =
        |name: &str| line.get("tokens").and_then(|tokens| tokens.get(name)).and_then(Value::as_u64).unwrap_or(0);
    let found = match (text("verdict"), text("not_judged"), text("error")) {
        (Some(name), None, None) => {
            let verdict = Verdict::named(kind, name).ok_or("a verdict that this judge does not give")?;
            Ok((verdict, text("reason").unwrap_or_default().to_owned()))
        }
        (None, Some(why), None) => Err(why.to_owned()),
        (None, None, Some(why)) => {
            judgements.failed.insert(digest.to_owned(), why.to_owned());
            return Ok(());
        }
        _ => return Err("a line that is no judgement"),
    };
    let tokens = Tokens { input: number("input"), cached: number("cached"), output: number("output") };
    judgements.spent = (judgements.spent.0 + 1, judgements.spent.1.plus(tokens));
    judgements.failed.remove(digest);
    // The first judgement counts: a question is not asked until the verdict pleases.
    judgements.found.entry(digest.to_owned()).or_insert(found);
    Ok(())
}

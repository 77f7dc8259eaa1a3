//! Scores as Gorilla's APIBench defines them: a response is right if it calls an API of the domain that the question is from,
//! and hallucinated if it calls no API of the database. Every response is one of right, wrong and hallucinated.
//!
//! A call matches an API if the callee is the same and the call holds the text of each argument that identifies the API.

mod call;
mod read;

use std::collections::HashMap;

pub use read::{Response, apis, questions, responses};

use call::spans;

/// A hub of APIBench: its own script decides which arguments identify an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hub {
    /// `torch.hub.load`: the repository and the model.
    Torch,
    /// TensorFlow Hub: every argument; of `model=…` the value.
    TensorFlow,
    /// Hugging Face: every argument; of `name=…` the value.
    HuggingFace,
}

/// The APIs that exist.
#[derive(Clone, Debug)]
pub struct Apis {
    /// The hub, which the calls show.
    pub hub: Hub,
    pub(crate) matchable: Vec<Api>,
    /// How many APIs of the file no response can match: they are no calls, or have no identifying argument.
    pub unmatchable: usize,
}

impl Apis {
    /// How many APIs a response can match.
    pub const fn len(&self) -> usize {
        self.matchable.len()
    }

    /// Whether it is empty.
    pub const fn is_empty(&self) -> bool {
        self.matchable.is_empty()
    }
}

/// One API: its call, and what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Api {
    pub(crate) callee: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) domain: String,
}

/// What became of one response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It calls an API of the question's domain.
    Correct,
    /// It calls an API of another domain, or holds nothing to read.
    Error,
    /// It calls no API of the database.
    Hallucination,
}

impl Outcome {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Correct => "correct",
            Self::Error => "error",
            Self::Hallucination => "hallucination",
        }
    }
}

/// Judges a response to a question of a domain.
pub fn judge(apis: &Apis, domain: &str, response: &Response) -> Outcome {
    let Some(code) = response.text.as_deref().and_then(|text| code(apis.hub, text)) else { return Outcome::Error };
    match called(apis, code) {
        Some(api) if api.domain == domain => Outcome::Correct,
        Some(_) => Outcome::Error,
        None => Outcome::Hallucination,
    }
}

/// The first API of the database that a text calls.
fn called<'a>(apis: &'a Apis, code: &str) -> Option<&'a Api> {
    let mut calls: HashMap<&str, Option<&str>> = HashMap::new();
    apis.matchable.iter().find(|api| {
        let call = calls.entry(&api.callee).or_insert_with(|| spans(code, &api.callee));
        call.is_some_and(|call| api.arguments.iter().all(|argument| call.contains(argument.as_str())))
    })
}

/// The part of a response that holds the call: what is said of `api_call`, or all of it. Only the script of Torch Hub wants
/// `api_call`.
fn code(hub: Hub, text: &str) -> Option<&str> {
    let Some(part) = text.split("api_call").nth(1) else { return (hub != Hub::Torch).then_some(text) };
    let part = part.split("api_provider").next().unwrap_or_default();
    let start = part.find(':').unwrap_or(0);
    // As Python slices: one character after the sign is left out, and so is the last one where no call ends.
    let end = part.rfind(')').map_or_else(|| part.char_indices().next_back().map_or(0, |(at, _)| at), |at| at + 1);
    let start = part[start..].char_indices().nth(2).map_or(part.len(), |(at, _)| start + at);
    Some(part.get(start..end).unwrap_or_default())
}

/// How the responses of a file came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Right.
    pub correct: usize,
    /// Wrong.
    pub errors: usize,
    /// Hallucinated.
    pub hallucinations: usize,
}

impl Tally {
    /// Counts one response.
    pub const fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Correct => self.correct += 1,
            Outcome::Error => self.errors += 1,
            Outcome::Hallucination => self.hallucinations += 1,
        }
    }

    /// How many responses there are.
    pub const fn total(&self) -> usize {
        self.correct + self.errors + self.hallucinations
    }

    /// The shares of correct, wrong and hallucinated responses; `None` where there are no responses.
    pub fn shares(&self) -> Option<[f64; 3]> {
        let total = self.total();
        let share = |count: usize| count as f64 / total as f64;
        (total > 0).then(|| [share(self.correct), share(self.errors), share(self.hallucinations)])
    }
}

#[cfg(test)]
mod tests;

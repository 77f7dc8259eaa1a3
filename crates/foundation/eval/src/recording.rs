//! The recording of `proof eval run`: what a model answered, turn by turn, as JSON Lines. Read to score it again, and to go on
//! where a run stopped. It knows no endpoint.

mod read;

use serde_json::{Map, Value, json};

use crate::call::{Parse, Sample, ToolCall};

pub use read::read;

/// What the first line is called.
pub const FORMAT: &str = "proof.eval-run/1";

/// Everything that a run recorded.
#[derive(Debug, Default)]
pub struct Recording {
    /// The first line: what was asked, and how.
    pub header: Map<String, Value>,
    /// All attempts, in the order in which they began.
    pub attempts: Vec<Attempt>,
    /// The bytes up to the end of the last whole line: what follows was cut off.
    pub length: usize,
}

/// One attempt at a case.
#[derive(Debug)]
pub struct Attempt {
    /// The case.
    pub case: String,
    /// Which attempt at the case, from 0.
    pub number: usize,
    /// What the model was asked.
    pub prompt: String,
    /// Its answers, in order.
    pub turns: Vec<Turn>,
    /// How it ended; `None` where the run stopped before.
    pub end: Option<End>,
}

/// One answer of the model, and what its calls returned.
#[derive(Debug, Default)]
pub struct Turn {
    /// The answer as the endpoint gave it.
    pub answer: Value,
    /// What it came to, with the server's names of tools.
    pub sample: Sample,
    /// What the answer cost.
    pub tokens: Tokens,
    /// Whether calls of this answer were begun.
    pub is_called: bool,
    /// What the calls returned, if that was recorded.
    pub results: Option<Vec<Value>>,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The model called nothing more, or its first answer was all that was wanted.
    Answered,
    /// The limit of turns was reached.
    Turns,
    /// A call could not be read.
    Unreadable,
    /// There is no complete answer.
    Error(String),
}

/// The tokens of one answer or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// What the model read, cached tokens among them.
    pub input: u64,
    /// What of it came from a cache.
    pub cached: u64,
    /// What the model wrote.
    pub output: u64,
}

impl Tokens {
    /// What was read and written.
    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// These and further tokens.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            output: self.output.saturating_add(other.output),
        }
    }

    /// As lines have them.
    pub fn to_value(self) -> Value {
        json!({ "input": self.input, "cached": self.cached, "output": self.output })
    }
}

impl End {
    /// The word in lines.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Turns => "turns",
            Self::Unreadable => "unreadable",
            Self::Error(_) => "error",
        }
    }
}

impl Recording {
    /// One answer for each attempt that ended, in the order of their numbers.
    pub fn samples(&self) -> Vec<Sample> {
        let mut ended: Vec<&Attempt> = self.attempts.iter().filter(|attempt| attempt.end.is_some()).collect();
        ended.sort_by_key(|attempt| attempt.number);
        ended.into_iter().map(Attempt::sample).collect()
    }

    /// The attempt of this number at a case.
    pub fn attempt(&self, case: &str, number: usize) -> Option<&Attempt> {
        self.attempts.iter().find(|attempt| attempt.number == number && attempt.case == case)
    }

    /// What all answers cost together.
    pub fn tokens(&self) -> Tokens {
        let turns = self.attempts.iter().flat_map(|attempt| &attempt.turns);
        turns.fold(Tokens::default(), |sum, turn| sum.plus(turn.tokens))
    }
}

impl Attempt {
    /// All turns as one answer.
    fn sample(&self) -> Sample {
        let mut whole = Sample { case: Some(self.case.clone()), ..Sample::default() };
        for (number, turn) in self.turns.iter().enumerate() {
            let of = &turn.sample;
            for call in &of.calls {
                let order = whole.calls.len();
                whole.calls.push(ToolCall { turn: number, order, ..call.clone() });
            }
            whole.write(&of.text);
            whole.is_refusal |= of.is_refusal;
            whole.is_partial = of.is_partial;
            of.notes.iter().for_each(|note| whole.note(note.clone()));
        }
        match &self.end {
            Some(End::Error(why)) => (whole.broken, whole.is_partial) = (Some(why.clone()), true),
            Some(End::Turns) => {
                whole.is_partial = true;
                whole.note("stopped at the limit of turns");
            }
            _ => {}
        }
        whole
    }
}

/// The members of a line that hold what an answer came to.
pub fn sample_members(sample: &Sample) -> Map<String, Value> {
    let call = |call: &ToolCall| {
        let (parse, why) = match &call.parse {
            Parse::Parsed => ("parsed", None),
            Parse::Empty => ("empty", None),
            Parse::Truncated => ("truncated", None),
            Parse::Malformed(why) => ("malformed", Some(why)),
        };
        json!({ "id": call.id, "name": call.name, "arguments": call.arguments, "parse": parse, "why": why })
    };
    let calls: Vec<Value> = sample.calls.iter().map(call).collect();
    let mut members = Map::new();
    members.insert("calls".to_owned(), calls.into());
    members.insert("text".to_owned(), sample.text.clone().into());
    members.insert("refused".to_owned(), sample.is_refusal.into());
    members.insert("partial".to_owned(), sample.is_partial.into());
    members.insert("notes".to_owned(), sample.notes.clone().into());
    members
}

#[cfg(test)]
mod tests;

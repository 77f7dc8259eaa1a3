//! What a model that judges is asked about answers, and what its judgements come to: SoPR and SoWR of StableToolBench, and
//! grades by a rubric. Pure: the caller asks. What the judged model wrote is data in a question, never an instruction.

mod agreement;
mod prompt;
mod rate;
mod recorded;
mod verdict;
mod work;

use std::fmt::{self, Display, Formatter};

pub use agreement::{Agreement, Label, agreement, labels};
pub use prompt::{Asked, Prompt, Scale};
pub use rate::{Judged, Points, Rate, rate};
pub use recorded::{FORMAT, Judgements, failed, line_of, read};
pub use verdict::{Verdict, parse};
pub use work::{Decision, Prompts, Question, Shown, Side, Work};

/// What is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Whether an answer solves its task: the solvable pass rate.
    Sopr,
    /// Which of two answers is better: the solvable win rate.
    Sowr,
    /// A grade.
    Rubric,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Sopr, Self::Sowr, Self::Rubric];

    /// The name in files and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sopr => "sopr",
            Self::Sowr => "sowr",
            Self::Rubric => "rubric",
        }
    }

    /// The prompt that is used unless another one is given.
    pub const fn default_prompt(self) -> &'static str {
        match self {
            Self::Sopr => include_str!("prompts/sopr.md"),
            Self::Sowr => include_str!("prompts/sowr.md"),
            Self::Rubric => include_str!("prompts/rubric.md"),
        }
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;

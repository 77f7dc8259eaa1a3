//! What became of an answer, or of one call in it.

use std::fmt::{self, Display, Formatter};

/// What became of an answer. Where several hold, the first in this order names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// There is no complete answer: an error of the endpoint, or one that ended early and calls nothing.
    Broken,
    /// A call that cannot be read: its arguments are no JSON object, or it stands in the text.
    Malformed,
    /// The model refused.
    Refused,
    /// The model called nothing, though a call was expected.
    Abstained,
    /// A call of a tool that was not offered.
    HallucinatedTool,
    /// A call of a tool that the case forbids.
    ForbiddenTool,
    /// Another tool in place of the expected one.
    WrongTool,
    /// A call that nobody expected.
    ExtraCall,
    /// An expected call is missing.
    MissingCall,
    /// An argument that the tool does not have.
    HallucinatedArgument,
    /// An argument is missing.
    MissingArgument,
    /// A value that the tool's schema does not allow.
    InvalidArgument,
    /// A value that is allowed, but not the expected one.
    WrongArgument,
    /// The right calls in the wrong order.
    WrongOrder,
    /// All as expected.
    Correct,
}

impl Outcome {
    /// All outcomes, from the gravest on.
    pub const ALL: [Self; 15] = [
        Self::Broken,
        Self::Malformed,
        Self::Refused,
        Self::Abstained,
        Self::HallucinatedTool,
        Self::ForbiddenTool,
        Self::WrongTool,
        Self::ExtraCall,
        Self::MissingCall,
        Self::HallucinatedArgument,
        Self::MissingArgument,
        Self::InvalidArgument,
        Self::WrongArgument,
        Self::WrongOrder,
        Self::Correct,
    ];

    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Broken => "no answer",
            Self::Malformed => "malformed",
            Self::Refused => "refused",
            Self::Abstained => "abstained",
            Self::HallucinatedTool => "hallucinated tool",
            Self::ForbiddenTool => "forbidden tool",
            Self::WrongTool => "wrong tool",
            Self::ExtraCall => "extra call",
            Self::MissingCall => "missing call",
            Self::HallucinatedArgument => "hallucinated argument",
            Self::MissingArgument => "missing argument",
            Self::InvalidArgument => "invalid argument",
            Self::WrongArgument => "wrong argument",
            Self::WrongOrder => "wrong order",
            Self::Correct => "correct",
        }
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that is wrong with an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is.
    pub outcome: Outcome,
    /// Which call of the answer, from 0; `None` where it is about a call that is missing.
    pub call: Option<usize>,
    /// The tool that was called, or should have been.
    pub tool: String,
    /// Where in the arguments: a JSON pointer; empty where it is about the call.
    pub pointer: String,
    /// What was expected.
    pub expected: String,
    /// What is there.
    pub actual: String,
}

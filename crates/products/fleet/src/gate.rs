//! Gates: their names, what can come of one, and how long that holds. Pure values; must not know how a gate is computed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GateKind {
    /// The entry says who answers for the server, where it comes from and how it is reached.
    Listed,
    /// It starts and lists what it has.
    Starts,
    /// Names and descriptions are of use to a model.
    Described,
    /// No MUST of the specification is broken.
    Conforms,
    /// Its test files pass twice, and use its tools.
    Tested,
    /// No finding in what it tells a model, and a pinned launch.
    Scanned,
    /// It is what was locked.
    Locked,
    /// It answers in time.
    Fast,
    /// The eleven boxes of the readiness checklist have evidence.
    Ready,
    /// Models call its tools as they should.
    Evaluated,
    /// It is what was signed.
    Signed,
}

impl GateKind {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Listed,
        Self::Starts,
        Self::Described,
        Self::Conforms,
        Self::Tested,
        Self::Scanned,
        Self::Locked,
        Self::Fast,
        Self::Ready,
        Self::Evaluated,
        Self::Signed,
    ];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Listed => "listed",
            Self::Starts => "starts",
            Self::Described => "described",
            Self::Conforms => "conforms",
            Self::Tested => "tested",
            Self::Scanned => "scanned",
            Self::Locked => "locked",
            Self::Fast => "fast",
            Self::Ready => "ready",
            Self::Evaluated => "evaluated",
            Self::Signed => "signed",
        }
    }

    /// Raised when the same report would be judged differently: older results are then not used again.
    pub const fn version(self) -> u32 {
        1
    }

    /// Minutes that it usually takes a person to make it green, for the choice of the next action.
    pub const fn minutes(self) -> u32 {
        match self {
            Self::Listed | Self::Locked => 5,
            Self::Described => 20,
            Self::Starts | Self::Scanned | Self::Signed => 30,
            Self::Tested | Self::Fast => 45,
            Self::Conforms => 60,
            Self::Ready | Self::Evaluated => 120,
        }
    }
}

impl fmt::Display for GateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for GateKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = || Self::ALL.iter().map(|gate| gate.as_str());
        let found = Self::ALL.into_iter().find(|gate| gate.as_str() == name);
        found.ok_or_else(|| format!("unknown gate; use {}", document::nearest(name, known())))
    }
}

/// What came of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Green.
    Pass,
    /// Red: something is wrong, and there is evidence.
    Fail,
    /// It could not be computed to its end: never green.
    Incomplete,
    /// The entry names nothing to compute it from: not green either.
    Skipped,
}

impl Outcome {
    /// The word in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Incomplete => "incomplete",
            Self::Skipped => "skipped",
        }
    }
}

impl FromStr for Outcome {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        let all = [Self::Pass, Self::Fail, Self::Incomplete, Self::Skipped];
        all.into_iter().find(|outcome| outcome.as_str() == name).ok_or(())
    }
}

/// One thing that is wrong, by what stays the same from run to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule, box, check or case.
    pub rule: String,
    /// How bad it is, in the words of its source.
    pub level: String,
    /// Where it is.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What to do: a command or an advice.
    pub fix: String,
    /// Whether it makes the gate red.
    pub fails: bool,
}

impl Finding {
    /// What stays the same of it from run to run.
    pub fn fingerprint(&self) -> String {
        crate::digest::of(["finding", &self.rule, &self.place])[..24].to_owned()
    }
}

/// What came of a gate, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The outcome.
    pub outcome: Outcome,
    /// In one sentence.
    pub summary: String,
    /// Of 100, where the gate has a score.
    pub score: Option<f64>,
    /// Percent of what could be looked at, where the gate knows.
    pub coverage: Option<f64>,
    /// What is wrong; of a green gate what may be made better.
    pub findings: Vec<Finding>,
    /// Findings beyond those that are kept.
    #[serde(default)]
    pub more: usize,
    /// Figures for reports.
    #[serde(default)]
    pub facts: Value,
}

/// How many findings of one gate are kept.
pub const MOST_FINDINGS: usize = 100;

/// The longest text of a finding or a summary, in characters.
const LONGEST_TEXT: usize = 300;

/// The most bytes of all of it as JSON.
const MOST_BYTES: usize = 56 << 10;

impl Judged {
    /// Without findings.
    pub fn new(outcome: Outcome, summary: impl Into<String>) -> Self {
        Self {
            outcome,
            summary: summary.into(),
            score: None,
            coverage: None,
            findings: Vec::new(),
            more: 0,
            facts: Value::Null,
        }
    }

    /// Green or red by its findings.
    pub fn by_findings(findings: Vec<Finding>, green: impl Into<String>) -> Self {
        let red = findings.iter().filter(|finding| finding.fails).count();
        let mut judged = Self::new(Outcome::Pass, green);
        if red > 0 {
            judged.outcome = Outcome::Fail;
            judged.summary = match findings.iter().find(|finding| finding.fails) {
                Some(one) if red == 1 => format!("{}: {}", one.rule, one.message),
                Some(one) => format!("{red} findings, first {}: {}", one.rule, one.message),
                None => String::new(),
            };
        }
        judged.findings = findings;
        judged
    }

    /// The same with figures from 0 to 100: a worker hands in what it likes.
    #[must_use]
    pub fn in_range(mut self) -> Self {
        let clamp = |figure: f64| figure.clamp(0.0, 100.0);
        self.score = self.score.map(clamp);
        self.coverage = self.coverage.map(clamp);
        self
    }

    /// The same within limits: the findings that make it red first, texts cut.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        self.findings.sort_by_key(|finding| !finding.fails);
        self.more = self.more.saturating_add(self.findings.len().saturating_sub(MOST_FINDINGS));
        self.findings.truncate(MOST_FINDINGS);
        let cut = |text: &mut String| *text = wire::escape::snippet(text, LONGEST_TEXT);
        cut(&mut self.summary);
        for finding in &mut self.findings {
            [&mut finding.rule, &mut finding.level, &mut finding.place, &mut finding.message, &mut finding.fix]
                .into_iter()
                .for_each(cut);
        }
        while self.findings.len() > 1 && serde_json::to_string(&self).is_ok_and(|text| text.len() > MOST_BYTES) {
            self.findings.pop();
            self.more = self.more.saturating_add(1);
        }
        self
    }
}

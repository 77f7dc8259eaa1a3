//! Whether a search finds the tools that cases expect: the prompt of each case is the question, the tools of its calls are what
//! must be found.

mod vectors;

use std::collections::BTreeSet;

use crate::{Case, CaseFile, Catalogue};

pub use vectors::Vectors;

/// The places at which shares are reported.
pub const PLACES: [usize; 4] = [1, 3, 5, 10];
/// The place up to which gain counts.
const GAIN: usize = 10;

/// How many of the first tools the cost is kept of.
const COUNTED: usize = 100;

/// How the tools are chosen that a model is shown: the modes of Gorilla's APIBench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing is searched for, and the model is shown no tool.
    ZeroShot,
    /// The first tools of the search.
    Bm25,
    /// The expected tools, and no others.
    Oracle,
}

impl Mode {
    /// The name on the command line and in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ZeroShot => "zero-shot",
            Self::Bm25 => "bm25",
            Self::Oracle => "oracle",
        }
    }
}

/// What a mode comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// The mean share of the expected tools that are shown.
    pub recall: f64,
    /// The share of cases all of whose tools are shown.
    pub complete: f64,
    /// The mean estimated tokens of what is shown.
    pub tokens: f64,
}

/// What a search found for one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The case.
    pub case: String,
    /// Its line in the file.
    pub line: usize,
    /// The expected tools, and the place of each from 1; `None` where it was not found.
    pub tools: Vec<(String, Option<usize>)>,
    /// The tools at the first places.
    pub first: Vec<String>,
    /// The estimated tokens of the first tool, of the first two, and so on.
    tokens: Vec<usize>,
    /// Those of the expected tools.
    expected_tokens: usize,
}

impl Found {
    /// The share of the expected tools that are among the first `k`.
    pub fn recall(&self, k: usize) -> f64 {
        let found = self.tools.iter().filter(|(_, place)| place.is_some_and(|place| place <= k)).count();
        found as f64 / self.tools.len() as f64
    }

    /// The estimated tokens of the first `k` tools.
    pub fn tokens(&self, k: usize) -> usize {
        self.tokens.iter().take(k).next_back().copied().unwrap_or(0)
    }

    /// One divided by the place of the first expected tool.
    fn reciprocal(&self) -> f64 {
        self.tools.iter().filter_map(|(_, place)| *place).min().map_or(0.0, |place| 1.0 / place as f64)
    }

    /// The discounted gain, as a share of the best that is possible.
    fn gain(&self) -> f64 {
        let gain = |place: usize| 1.0 / (place as f64 + 1.0).log2();
        let places = self.tools.iter().filter_map(|(_, place)| *place).filter(|place| *place <= GAIN);
        let best: f64 = (1..=self.tools.len().min(GAIN)).map(gain).sum();
        places.map(gain).sum::<f64>() / best
    }
}

/// What a search found for all cases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retrieval {
    /// The cases with a prompt and an expected tool.
    pub found: Vec<Found>,
    /// The other cases, and why they were left out.
    pub skipped: Vec<(String, &'static str)>,
}

impl Retrieval {
    fn mean(&self, of: impl Fn(&Found) -> f64) -> f64 {
        if self.found.is_empty() { 0.0 } else { self.found.iter().map(of).sum::<f64>() / self.found.len() as f64 }
    }

    /// The mean share of the expected tools among the first `k`.
    pub fn recall(&self, k: usize) -> f64 {
        self.mean(|found| found.recall(k))
    }

    /// The share of cases all of whose tools are among the first `k`.
    pub fn complete(&self, k: usize) -> f64 {
        self.mean(|found| {
            f64::from(u8::from(found.tools.iter().all(|(_, place)| place.is_some_and(|place| place <= k))))
        })
    }

    /// The mean reciprocal rank.
    pub fn mrr(&self) -> f64 {
        self.mean(Found::reciprocal)
    }

    /// The mean normalised discounted cumulative gain of the first ten.
    pub fn ndcg(&self) -> f64 {
        self.mean(Found::gain)
    }

    /// The mean estimated tokens of the tools up to each of [`PLACES`].
    pub fn tokens(&self) -> [f64; PLACES.len()] {
        PLACES.map(|k| self.mean(|found| found.tokens(k) as f64))
    }

    /// What a mode comes to, where a search returns `k` tools.
    pub fn shares(&self, mode: Mode, k: usize) -> Shares {
        match mode {
            Mode::ZeroShot => Shares { recall: 0.0, complete: 0.0, tokens: 0.0 },
            Mode::Bm25 => {
                let tokens = self.mean(|found| found.tokens(k) as f64);
                Shares { recall: self.recall(k), complete: self.complete(k), tokens }
            }
            Mode::Oracle => {
                Shares { recall: 1.0, complete: 1.0, tokens: self.mean(|found| found.expected_tokens as f64) }
            }
        }
    }
}

/// Searches for the prompt of each case that `selects` picks: by words, or by the vectors that are given.
pub fn retrieve(
    catalogue: &Catalogue,
    file: &CaseFile,
    vectors: Option<&Vectors>,
    selects: &dyn Fn(&str, &[String]) -> bool,
) -> Retrieval {
    let index = crate::lint::index(catalogue);
    let costs: Vec<usize> = catalogue.tools().iter().map(crate::lint::cost_of).collect();
    let mut retrieval = Retrieval::default();
    for case in file.cases.iter().filter(|case| selects(&case.name, &case.tags)) {
        let prompt = match asked(case, catalogue) {
            Ok(prompt) => prompt,
            Err(why) => {
                retrieval.skipped.push((case.name.clone(), why));
                continue;
            }
        };
        let ranked = vectors.map_or_else(|| Some(index.rank(prompt)), |all| all.rank(&case.name, catalogue));
        let Some(ranked) = ranked else {
            retrieval.skipped.push((case.name.clone(), "the case has no vector"));
            continue;
        };
        let name = |number: &usize| catalogue.tools()[*number].name.as_str();
        let expected: BTreeSet<&str> =
            case.expect.iter().filter(|call| !call.is_optional).map(|call| call.tool.as_str()).collect();
        let cost = |tool: &str| {
            catalogue.tools().iter().position(|other| other.name == tool).map_or(0, |number| costs[number])
        };
        let counted = ranked.iter().take(COUNTED).scan(0, |sum, number| {
            *sum += costs[*number];
            Some(*sum)
        });
        let place = |tool: &&str| ranked.iter().position(|number| name(number) == *tool).map(|at| at + 1);
        retrieval.found.push(Found {
            case: case.name.clone(),
            line: case.at.line,
            tools: expected.iter().map(|tool| ((*tool).to_owned(), place(tool))).collect(),
            first: ranked.iter().take(3).map(|number| name(number).to_owned()).collect(),
            tokens: counted.collect(),
            expected_tokens: expected.iter().map(|tool| cost(tool)).sum(),
        });
    }
    retrieval
}

/// The question of a case that can be asked; or why it cannot.
fn asked<'c>(case: &'c Case, catalogue: &Catalogue) -> Result<&'c str, &'static str> {
    if case.skip.is_some() {
        return Err("skipped");
    }
    if case.expect.iter().all(|call| call.is_optional) {
        return Err("expects no tool");
    }
    if case.expect.iter().any(|call| !call.is_optional && catalogue.tool(&call.tool).is_none()) {
        return Err("expects a tool that is not offered");
    }
    case.prompt.as_deref().filter(|prompt| !prompt.trim().is_empty()).ok_or("has no prompt")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::case;

    fn tools() -> Catalogue {
        Catalogue::read(&json!([
            { "name": "read_file", "description": "Reads a file." },
            { "name": "write_file", "description": "Writes a file." },
            { "name": "send_mail", "description": "Sends a mail." },
        ]))
        .unwrap()
    }

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    fn of(cases: &str) -> Retrieval {
        let file = case::parse(&format!("cases:\n{cases}"), "c.yaml").unwrap_or_else(|errors| panic!("{errors}"));
        retrieve(&tools(), &file, None, &|_, _| true)
    }

    #[test]
    fn places_become_shares() {
        // In the list, the file's reader comes before its writer: equally good ones stay in order.
        let found = of(
            "  - { name: a, call: read_file, prompt: the file }\n  - { name: b, call: write_file, prompt: the file }\n  \
                        - { name: c, call: send_mail, prompt: the file }\n  - { name: d, calls: [{ call: write_file }, { call: send_mail }], \
                        prompt: mail this file }\n",
        );
        let places: Vec<Vec<Option<usize>>> =
            found.found.iter().map(|one| one.tools.iter().map(|(_, place)| *place).collect()).collect();
        assert_eq!(places, [vec![Some(1)], vec![Some(2)], vec![None], vec![Some(1), Some(3)]]);
        assert!(near(found.recall(1), (1.0 + 0.0 + 0.0 + 0.5) / 4.0) && near(found.recall(3), 3.0 / 4.0));
        assert!(near(found.complete(1), 1.0 / 4.0) && near(found.complete(3), 3.0 / 4.0));
        assert!(near(found.mrr(), (1.0 + 0.5 + 0.0 + 1.0) / 4.0));
        let (first, second, third) = (1.0, 1.0 / 3f64.log2(), 0.5);
        let both = (first + third) / (first + second);
        assert!(near(found.ndcg(), (first + second + 0.0 + both) / 4.0), "{}", found.ndcg());
        let tokens = PLACES.map(|k| found.found[3].tokens(k));
        assert!(tokens[0] > 0 && tokens[1] > tokens[0] && tokens[1] == tokens[3], "{tokens:?}");
        let of = |mode| found.shares(mode, 1);
        assert_eq!(
            (of(Mode::ZeroShot).recall, of(Mode::Oracle).complete, of(Mode::Bm25).recall),
            (0.0, 1.0, found.recall(1))
        );
        // The oracle shows the first tool to the first case, and two to the last; the search shows one to each.
        assert!(of(Mode::Oracle).tokens > of(Mode::Bm25).tokens && of(Mode::Bm25).tokens > 0.0);
    }

    #[test]
    fn cases_that_cannot_be_asked_say_why() {
        let found = of("  - { name: a, call: read_file }\n  - { name: b, abstain: true, prompt: x }\n  \
                        - { name: c, call: delete, prompt: x }\n  - { name: d, call: read_file, prompt: x, skip: later }\n");
        let why: Vec<&str> = found.skipped.iter().map(|(_, why)| *why).collect();
        assert_eq!(why, ["has no prompt", "expects no tool", "expects a tool that is not offered", "skipped"]);
        assert!(found.found.is_empty() && near(found.recall(1), 0.0) && near(found.mrr(), 0.0));
    }
}

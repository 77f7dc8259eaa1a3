//! The filter of dashboards and of `--filter`: `stage<6 gate:scanned=fail owner:ada age>7d`. All terms must hold.

use document::nearest;

use crate::gate::GateKind;
use crate::state::{DAY, Light, ServerState};

/// Why a filter cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

/// A filter; the empty one lets everything through.
#[derive(Clone, Debug, Default)]
pub struct Filter(Vec<(bool, Term)>);

#[derive(Clone, Debug)]
enum Term {
    Name(String),
    Owner(String),
    Tag(String),
    Language(String),
    Gate(GateKind, Light),
    Stage(Comparison, f64),
    Score(Comparison, f64),
    Age(Comparison, f64),
    Held,
    Below,
    Fallen,
}

#[derive(Clone, Copy, Debug)]
enum Comparison {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

const LIGHTS: [Light; 7] =
    [Light::Green, Light::Waived, Light::Red, Light::Incomplete, Light::Skipped, Light::Missing, Light::Old];

const FIELDS: [&str; 11] =
    ["name:", "owner:", "tag:", "language:", "gate:", "stage", "score", "age", "held", "below", "fallen"];

impl Filter {
    /// Reads a filter.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let term = |word: &str| match word.strip_prefix('-') {
            Some(rest) => Ok((false, parse_term(rest)?)),
            None => Ok((true, parse_term(word)?)),
        };
        text.split_whitespace().map(term).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a server passes.
    pub fn fits(&self, state: &ServerState<'_>, now: i64) -> bool {
        self.0.iter().all(|(expected, term)| term.fits(state, now) == *expected)
    }
}

fn parse_term(word: &str) -> Result<Term, FilterError> {
    let lower = |text: &str| text.to_lowercase();
    if let Some((field, value)) = word.split_once(':') {
        return match field {
            "name" => Ok(Term::Name(lower(value))),
            "owner" => Ok(Term::Owner(lower(value))),
            "tag" => Ok(Term::Tag(lower(value))),
            "language" => Ok(Term::Language(lower(value))),
            "gate" => gate(value),
            _ => Err(unknown(word)),
        };
    }
    for (sign, comparison) in [
        ("<=", Comparison::AtMost),
        (">=", Comparison::AtLeast),
        ("<", Comparison::Less),
        (">", Comparison::More),
        ("=", Comparison::Equal),
    ] {
        if let Some((field, value)) = word.split_once(sign) {
            let error = || FilterError {
                what: format!("`{}` has no number", wire::escape::snippet(word, 40)),
                remedy: "such as stage<6, score>=90, age>7d".to_owned(),
            };
            let days = field == "age" && value.ends_with('d');
            let number: f64 = value.trim_end_matches(if days { "d" } else { "" }).parse().map_err(|_| error())?;
            return match field {
                "stage" => Ok(Term::Stage(comparison, number)),
                "score" => Ok(Term::Score(comparison, number)),
                "age" => Ok(Term::Age(comparison, number)),
                _ => Err(unknown(word)),
            };
        }
    }
    Ok(match word {
        "held" => Term::Held,
        "below" => Term::Below,
        "fallen" => Term::Fallen,
        name => Term::Name(lower(name)),
    })
}

fn gate(value: &str) -> Result<Term, FilterError> {
    let (name, light) = value.split_once('=').ok_or_else(|| FilterError {
        what: format!("`gate:{}` has no outcome", wire::escape::snippet(value, 40)),
        remedy: "such as gate:scanned=fail".to_owned(),
    })?;
    let gate: GateKind = name.parse().map_err(|remedy: String| FilterError {
        what: format!("`{}` is no gate", wire::escape::snippet(name, 40)),
        remedy,
    })?;
    let found = LIGHTS.into_iter().find(|known| known.as_str() == light);
    let found = found.ok_or_else(|| FilterError {
        what: format!("`{}` is no outcome", wire::escape::snippet(light, 40)),
        remedy: nearest(light, LIGHTS.iter().map(|light| light.as_str())),
    })?;
    Ok(Term::Gate(gate, found))
}

fn unknown(word: &str) -> FilterError {
    FilterError {
        what: format!("`{}` is unknown in a filter", wire::escape::snippet(word, 40)),
        remedy: nearest(word, FIELDS.into_iter()),
    }
}

impl Comparison {
    fn holds(self, one: f64, other: f64) -> bool {
        match self {
            Self::Less => one < other,
            Self::AtMost => one <= other,
            Self::Equal => (one - other).abs() < f64::EPSILON,
            Self::AtLeast => one >= other,
            Self::More => one > other,
        }
    }
}

impl Term {
    fn fits(&self, state: &ServerState<'_>, now: i64) -> bool {
        let server = state.server;
        let has = |text: Option<&String>, part: &str| text.is_some_and(|text| text.to_lowercase().contains(part));
        match self {
            Self::Name(part) => server.name.to_lowercase().contains(part),
            Self::Owner(part) => has(server.owner.as_ref(), part),
            Self::Language(part) => has(server.language.as_ref(), part),
            Self::Tag(tag) => server.tags.iter().any(|own| own.to_lowercase() == *tag),
            Self::Gate(gate, light) => state.gate(*gate).is_some_and(|state| state.light == *light),
            Self::Stage(comparison, number) => comparison.holds(state.stage as f64, *number),
            Self::Score(comparison, number) => state.score().is_some_and(|score| comparison.holds(score, *number)),
            Self::Age(comparison, days) => {
                state.oldest().is_some_and(|at| comparison.holds((now - at) as f64 / DAY as f64, *days))
            }
            Self::Held => state.kept.hold.is_some(),
            Self::Below => server.wanted.is_some_and(|wanted| state.stage < wanted),
            Self::Fallen => state.has_fallen(),
        }
    }
}

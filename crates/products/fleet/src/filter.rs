//! The filter of dashboards, of `--filter` and of the page: `stage<6 gate:scanned=fail owner:ada age>7d`, `gate:scan is:failed`.
//! All terms must hold.

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

/// How a gate stands for `is:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Of(Light),
    /// Its result is old, or the server has changed since.
    Stale,
    Running,
}

/// The words of `is:` about gates; `held`, `below` and `fallen` are about servers.
const STANDINGS: [(&str, Standing); 7] = [
    ("passed", Standing::Of(Light::Green)),
    ("failed", Standing::Of(Light::Red)),
    ("waived", Standing::Of(Light::Waived)),
    ("incomplete", Standing::Of(Light::Incomplete)),
    ("skipped", Standing::Of(Light::Skipped)),
    ("stale", Standing::Stale),
    ("running", Standing::Running),
];

#[derive(Clone, Debug)]
enum Term {
    Name(String),
    Owner(String),
    Tag(String),
    Language(String),
    Gate(GateKind, Light),
    /// Gates whose names begin so; `is:` looks at these alone. Without `is:`, one of them must have a result.
    Gates(Vec<GateKind>),
    Is(Standing),
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

pub(crate) const FIELDS: [&str; 12] =
    ["name:", "owner:", "tag:", "language:", "gate:", "is:", "stage", "score", "age", "held", "below", "fallen"];

impl Filter {
    /// Reads a filter.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let term = |word: &str| match word.strip_prefix('-') {
            Some(rest) => Ok((false, parse_term(rest)?)),
            None => Ok((true, parse_term(word)?)),
        };
        text.split_whitespace().map(term).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a server passes, where nothing is known to run.
    pub fn fits(&self, state: &ServerState<'_>, now: i64) -> bool {
        self.fits_while(state, now, &[])
    }

    /// The same, while these gates of the server run.
    pub fn fits_while(&self, state: &ServerState<'_>, now: i64, running: &[GateKind]) -> bool {
        let asks = self.0.iter().any(|(expected, term)| *expected && matches!(term, Term::Is(_)));
        let is_meant = |gate: GateKind| {
            self.0.iter().all(|(expected, term)| match term {
                Term::Gates(some) => some.contains(&gate) == *expected,
                _ => true,
            })
        };
        self.0.iter().all(|(expected, term)| {
            let fits = match term {
                Term::Gates(_) if asks => return true,
                Term::Gates(some) => {
                    state.gates.iter().any(|gate| some.contains(&gate.gate) && gate.light != Light::Missing)
                }
                Term::Is(standing) => {
                    state.gates.iter().any(|gate| is_meant(gate.gate) && standing.fits(gate.gate, gate.light, running))
                }
                term => term.fits(state, now),
            };
            fits == *expected
        })
    }
}

impl Standing {
    fn fits(self, gate: GateKind, light: Light, running: &[GateKind]) -> bool {
        match self {
            Self::Of(own) => own == light,
            Self::Stale => matches!(light, Light::Old | Light::Missing),
            Self::Running => running.contains(&gate),
        }
    }
}

/// What may stand after `is:`.
pub(crate) fn standings() -> impl Iterator<Item = &'static str> + Clone {
    STANDINGS.iter().map(|(word, _)| *word).chain(["held", "below", "fallen"])
}

fn parse_term(word: &str) -> Result<Term, FilterError> {
    let lower = |text: &str| text.to_lowercase();
    if let Some((field, value)) = word.split_once(':') {
        // `stage:<6` is `stage<6`.
        if matches!(field, "stage" | "score" | "age") {
            let sign = if value.starts_with(['<', '>', '=']) { "" } else { "=" };
            return parse_term(&format!("{field}{sign}{value}"));
        }
        return match field {
            "is" => is(value),
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

fn is(value: &str) -> Result<Term, FilterError> {
    match value {
        "held" => return Ok(Term::Held),
        "below" => return Ok(Term::Below),
        "fallen" => return Ok(Term::Fallen),
        _ => {}
    }
    let found = STANDINGS.iter().find(|(word, _)| *word == value).map(|(_, standing)| Term::Is(*standing));
    found.ok_or_else(|| FilterError {
        what: format!("`is:{}` is unknown", wire::escape::snippet(value, 40)),
        remedy: nearest(value, standings()),
    })
}

fn gate(value: &str) -> Result<Term, FilterError> {
    let Some((name, light)) = value.split_once('=') else {
        let some: Vec<GateKind> = GateKind::ALL.into_iter().filter(|gate| gate.as_str().starts_with(value)).collect();
        return if some.is_empty() || value.is_empty() { Err(no_gate(value)) } else { Ok(Term::Gates(some)) };
    };
    let gate: GateKind = name.parse().map_err(|_| no_gate(name))?;
    let found = LIGHTS.into_iter().find(|known| known.as_str() == light);
    let found = found.ok_or_else(|| FilterError {
        what: format!("`{}` is no outcome", wire::escape::snippet(light, 40)),
        remedy: nearest(light, LIGHTS.iter().map(|light| light.as_str())),
    })?;
    Ok(Term::Gate(gate, found))
}

fn no_gate(name: &str) -> FilterError {
    FilterError {
        what: format!("there is no gate `{}`", wire::escape::snippet(name, 40)),
        remedy: nearest(name, GateKind::ALL.iter().map(|gate| gate.as_str())),
    }
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
            // Both look at the gates of a server and at what runs: `fits_while`.
            Self::Gates(_) | Self::Is(_) => false,
            Self::Held => state.kept.hold.is_some(),
            Self::Below => server.wanted.is_some_and(|wanted| state.stage < wanted),
            Self::Fallen => state.has_fallen(),
        }
    }
}

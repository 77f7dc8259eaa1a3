//! The one action that helps most: what it gains, what it costs, why. Pure.

use std::collections::BTreeMap;

use crate::columns::stage_name;
use crate::config::Fleet;
use crate::gate::GateKind;
use crate::launch::{self, quoted_path};
use crate::state::{Light, ServerState};

/// An action.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// What to do, in one line.
    pub what: String,
    /// The command to begin with.
    pub command: String,
    /// What to do after that command, if the entry of a server must name what it made.
    pub then: Option<String>,
    /// Why this one.
    pub why: String,
    /// The servers that it concerns.
    pub servers: Vec<String>,
    /// The gate that it makes green.
    pub gate: GateKind,
    /// Stages gained, weighted, by each minute.
    pub value: f64,
    /// Minutes that it is expected to take.
    pub minutes: u32,
}

/// What the same correction would open.
struct Candidate<'s> {
    servers: Vec<&'s ServerState<'s>>,
    gate: GateKind,
    light: Light,
    gain: f64,
    oldest: i64,
}

/// Minutes that a further server of the same kind costs, as a share of the first.
const FURTHER: f64 = 0.25;

/// The best action first; none where every server is as it is meant to be and at the last stage.
pub fn actions(fleet: &Fleet, states: &[ServerState<'_>]) -> Vec<Action> {
    let mut candidates: BTreeMap<(GateKind, String), Candidate<'_>> = BTreeMap::new();
    for state in states {
        let blockers = state.blockers(fleet);
        for blocker in &blockers {
            let gain = gain(fleet, state, blocker.gate) / blockers.len() as f64 * weight(state);
            let rule = blocker.record.as_ref().and_then(|record| record.judged.findings.iter().find(|one| one.fails));
            let cause = (blocker.gate, format!("{} {}", blocker.light.as_str(), rule.map_or("", |one| &one.rule)));
            let candidate = candidates.entry(cause).or_insert_with(|| Candidate {
                servers: Vec::new(),
                gate: blocker.gate,
                light: blocker.light,
                gain: 0.0,
                oldest: i64::MAX,
            });
            candidate.servers.push(state);
            candidate.gain += gain;
            candidate.oldest = candidate.oldest.min(blocker.record.as_ref().map_or(0, |record| record.at));
        }
    }
    let mut ranked: Vec<(i64, Action)> =
        candidates.into_values().map(|candidate| (candidate.oldest, candidate.action(fleet))).collect();
    ranked.sort_by(|one, other| other.1.value.total_cmp(&one.1.value).then(one.0.cmp(&other.0)));
    ranked.into_iter().map(|(_, action)| action).collect()
}

/// How many stages a server rises where this gate opens.
fn gain(fleet: &Fleet, state: &ServerState<'_>, gate: GateKind) -> f64 {
    let is_open = |other: &GateKind| *other == gate || state.gate(*other).is_some_and(|state| state.light.is_open());
    let reached = fleet.stages.iter().take_while(|stage| stage.gates.iter().all(is_open)).count();
    // One of several gates of a stage is a part of the way.
    reached.saturating_sub(state.reached).max(1) as f64
}

/// A server that fell counts most, then one below the stage that it is meant to have.
fn weight(state: &ServerState<'_>) -> f64 {
    if state.has_fallen() {
        5.0
    } else if state.server.wanted.is_some_and(|wanted| state.stage < wanted) {
        3.0
    } else {
        1.0
    }
}

impl Candidate<'_> {
    fn minutes(&self) -> u32 {
        let first = match self.light {
            Light::Missing | Light::Old => 2,
            _ => self.gate.minutes(),
        };
        (f64::from(first) * (self.servers.len() - 1) as f64).mul_add(FURTHER, f64::from(first)).round() as u32
    }

    fn action(&self, fleet: &Fleet) -> Action {
        let minutes = self.minutes();
        let names: Vec<String> = self.servers.iter().map(|state| state.server.name.clone()).collect();
        let Some(first) = self.servers.first() else { return self.empty() };
        Action {
            what: self.what(first, &names),
            command: self.command(first, &names),
            then: if matches!(self.light, Light::Missing | Light::Old) { None } else { then(self.gate, first) },
            why: self.why(fleet, minutes),
            gate: self.gate,
            value: self.gain / f64::from(minutes.max(1)),
            servers: names,
            minutes,
        }
    }

    /// No candidate is without a server.
    fn empty(&self) -> Action {
        Action {
            what: String::new(),
            command: String::new(),
            then: None,
            why: String::new(),
            servers: Vec::new(),
            gate: self.gate,
            value: 0.0,
            minutes: 0,
        }
    }

    fn what(&self, first: &ServerState<'_>, names: &[String]) -> String {
        let of = match names {
            [one] => one.clone(),
            [one, rest @ ..] => format!("{one} and {} more", rest.len()),
            [] => String::new(),
        };
        let record = first.gate(self.gate).and_then(|state| state.record.as_ref());
        let summary = record.map_or("", |record| record.judged.summary.as_str());
        match self.light {
            Light::Missing => format!("run the gate `{}` of {of}", self.gate),
            Light::Old => format!("run the gate `{}` of {of} again: its result is old", self.gate),
            Light::Skipped => format!("give `{}` of {of} something to compute it from: {summary}", self.gate),
            Light::Incomplete => format!("let `{}` of {of} come to its end: {summary}", self.gate),
            _ => format!("correct `{}` of {of}: {summary}", self.gate),
        }
    }

    fn command(&self, first: &ServerState<'_>, names: &[String]) -> String {
        match self.light {
            Light::Missing | Light::Old if names.len() > 1 => "proof fleet run".to_owned(),
            Light::Missing | Light::Old => format!("proof fleet run --only {}", first.server.name),
            _ => start(self.gate, first),
        }
    }

    fn why(&self, fleet: &Fleet, minutes: u32) -> String {
        let count = self.servers.len();
        let fallen = self.servers.iter().filter(|state| state.has_fallen()).count();
        let below =
            self.servers.iter().filter(|state| state.server.wanted.is_some_and(|wanted| state.stage < wanted)).count();
        let first = self.servers.first().map(|state| {
            let after = (state.reached as f64 + gain(fleet, state, self.gate)) as usize;
            format!(
                "{} is at {}, and could be at {}",
                state.server.name,
                stage_name(fleet, state.stage),
                stage_name(fleet, after)
            )
        });
        let mut parts: Vec<String> = first.into_iter().collect();
        if count > 1 {
            parts.push(format!("it helps {count} servers"));
        }
        if fallen > 0 {
            parts.push(format!("{fallen} fell since the last run"));
        } else if below > 0 {
            parts.push(format!("{below} below the stage that is wanted"));
        }
        parts.push(format!("about {minutes} minutes"));
        parts.join("; ")
    }
}

/// What the entry of a server must name after the command to begin with.
pub fn then(gate: GateKind, state: &ServerState<'_>) -> Option<String> {
    let (server, member) = match gate {
        GateKind::Tested | GateKind::Fast if state.server.tests.is_empty() => {
            (state.server, format!("tests: [{}.mcp.yaml]", state.server.name))
        }
        GateKind::Locked if state.server.lock.is_none() => (state.server, format!("lock: {}.lock", state.server.name)),
        _ => return None,
    };
    Some(format!("add `{member}` to the entry of {} in fleet.yaml, and `proof fleet run`", server.name))
}

/// The command to begin with.
pub fn start(gate: GateKind, state: &ServerState<'_>) -> String {
    let server = state.server;
    let target = launch::typed(server);
    let first =
        |list: &[String]| list.first().map_or_else(|| format!("{}.mcp.yaml", server.name), |path| quoted_path(path));
    match gate {
        GateKind::Listed => format!("edit the entry of {} in fleet.yaml", server.name),
        GateKind::Starts => format!("proof client tools {target}"),
        GateKind::Described => format!("proof eval lint {target}"),
        GateKind::Conforms => format!("proof check {target}"),
        GateKind::Tested | GateKind::Fast if server.tests.is_empty() => {
            format!("proof generate -o {}.mcp.yaml {target}", server.name)
        }
        GateKind::Tested | GateKind::Fast => format!("proof test {}", first(&server.tests)),
        GateKind::Scanned => format!("proof scan {target}"),
        GateKind::Locked => match &server.lock {
            Some(lock) => format!("proof lock --check -o {} {target}", quoted_path(lock)),
            None => format!("proof lock -o {}.lock {target}", server.name),
        },
        GateKind::Ready => format!("proof ready {}", server.ready.as_deref().map_or(target, quoted_path)),
        GateKind::Evaluated => match &server.evaluation {
            Some(one) => format!("proof eval score {} --calls {}", quoted_path(&one.cases), quoted_path(&one.calls)),
            None => "write cases (https://github.com/proofhouse/proofhouse/blob/main/docs/eval.md), and name them as `evaluation`".to_owned(),
        },
        GateKind::Signed => match &server.manifest {
            Some(one) => format!("proof verify {} --keys {} {target}", quoted_path(&one.file), quoted_path(&one.keys)),
            None => "sign it with `proof sign`, and name the manifest as `manifest`".to_owned(),
        },
    }
}

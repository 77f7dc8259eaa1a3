//! The columns of a status table.

use document::nearest;

use crate::config::Fleet;
use crate::gate::GateKind;
use crate::state::{DAY, ServerState};

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The name of the server.
    Server,
    /// Number and name of its stage.
    Stage,
    /// The stage that it is meant to have.
    Wanted,
    /// One sign for each gate.
    Gates,
    /// One gate.
    Gate(GateKind),
    /// The score of `check`.
    Score,
    /// Who answers for it.
    Owner,
    /// Its tags.
    Tags,
    /// How many tools it lists.
    Tools,
    /// Its language.
    Language,
    /// Days since its oldest result.
    Age,
    /// How many waivers it has.
    Waivers,
    /// What keeps it from the next stage.
    Blocked,
}

const NAMED: [(&str, Column); 12] = [
    ("server", Column::Server),
    ("stage", Column::Stage),
    ("wanted", Column::Wanted),
    ("gates", Column::Gates),
    ("score", Column::Score),
    ("owner", Column::Owner),
    ("tags", Column::Tags),
    ("tools", Column::Tools),
    ("language", Column::Language),
    ("age", Column::Age),
    ("waivers", Column::Waivers),
    ("blocked", Column::Blocked),
];

/// The columns where nobody chose others.
pub const USUAL: [Column; 6] =
    [Column::Server, Column::Stage, Column::Gates, Column::Score, Column::Owner, Column::Blocked];

impl Column {
    /// By its name, or that of a gate. The error says what is wrong and what to do.
    pub fn parse(name: &str) -> Result<Self, (String, String)> {
        if let Some((_, column)) = NAMED.iter().find(|(known, _)| *known == name) {
            return Ok(*column);
        }
        let gates = GateKind::ALL.iter().map(|gate| gate.as_str());
        name.parse().map(Self::Gate).map_err(|_| {
            let known = NAMED.iter().map(|(name, _)| *name).chain(gates);
            (format!("there is no column {}", document::quoted(name)), nearest(name, known))
        })
    }

    /// Its heading.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Gate(gate) => gate.as_str(),
            _ => NAMED.iter().find(|(_, column)| *column == self).map_or("", |(name, _)| name),
        }
    }

    /// What stands in it.
    pub fn cell(self, fleet: &Fleet, state: &ServerState<'_>, now: i64) -> String {
        let server = state.server;
        match self {
            Self::Server => server.name.clone(),
            Self::Stage => stage_name(fleet, state.stage),
            Self::Wanted => server.wanted.map_or_else(String::new, |stage| stage_name(fleet, stage)),
            Self::Gates => state.gates.iter().map(|gate| gate.light.sign()).collect(),
            Self::Gate(gate) => state.gate(gate).map_or_else(String::new, |state| state.light.as_str().to_owned()),
            Self::Score => state.score().map_or_else(String::new, |score| format!("{score}")),
            Self::Owner => server.owner.clone().unwrap_or_default(),
            Self::Tags => server.tags.join(","),
            Self::Tools if state.kept.seen.is_some() => state.kept.surface.tools.to_string(),
            Self::Tools => server.tools.map_or_else(String::new, |tools| tools.to_string()),
            Self::Language => server.language.clone().unwrap_or_default(),
            Self::Age => state.oldest().map_or_else(String::new, |at| format!("{}d", (now - at).max(0) / DAY)),
            Self::Waivers => match state.kept.waivers.iter().filter(|waiver| now < waiver.expires).count() {
                0 => String::new(),
                count => count.to_string(),
            },
            Self::Blocked => blocked(fleet, state),
        }
    }
}

/// Number and name of a stage.
pub fn stage_name(fleet: &Fleet, stage: usize) -> String {
    match stage.checked_sub(1).and_then(|at| fleet.stages.get(at)) {
        Some(named) => format!("{stage} {}", named.name),
        None => "0".to_owned(),
    }
}

fn blocked(fleet: &Fleet, state: &ServerState<'_>) -> String {
    if let Some(hold) = state.kept.hold.as_ref().filter(|hold| state.reached > hold.stage) {
        return format!("held: {}", hold.reason);
    }
    let blockers = state.blockers(fleet).into_iter().map(|gate| format!("{} {}", gate.gate, gate.light.as_str()));
    blockers.collect::<Vec<_>>().join(", ")
}

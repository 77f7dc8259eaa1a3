//! Scopes of entries, and which entry of one name a client uses.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::policy::{Decision, Policy};
use crate::server::Launch;

/// Whom an entry is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One user in one project: in the user's file, under the project's folder.
    Local,
    /// All who work in a project: in the project's folder.
    Project,
    /// One user everywhere.
    User,
}

impl Scope {
    /// All scopes, the strongest first.
    pub const ALL: [Self; 3] = [Self::Local, Self::Project, Self::User];
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Local => "local",
            Self::Project => "project",
            Self::User => "user",
        })
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|scope| scope.to_string() == text);
        found.ok_or_else(|| "expected local, project or user".to_owned())
    }
}

/// An entry that a client reads.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The name.
    pub name: String,
    /// Its scope.
    pub scope: Scope,
    /// How the server is reached.
    pub launch: Launch,
}

/// What a client does with an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It uses the entry.
    Used,
    /// An entry of the same name in a stronger scope is used.
    Shadowed(Scope),
    /// Only the managed file counts.
    Exclusive,
    /// A rule of the managed settings forbids it.
    Denied(String),
}

/// What a client does with each entry, in the same order.
pub fn standings(candidates: &[Candidate], policy: &Policy) -> Vec<Standing> {
    let decide = |candidate: &Candidate| {
        if policy.is_exclusive {
            return Standing::Exclusive;
        }
        match policy.decide(&candidate.name, &candidate.launch) {
            Decision::Allowed => Standing::Used,
            Decision::Denied(why) => Standing::Denied(why),
        }
    };
    let mut standings: Vec<_> = candidates.iter().map(decide).collect();
    for (index, candidate) in candidates.iter().enumerate() {
        let same = candidates.iter().filter(|other| other.name == candidate.name);
        let strongest = same.map(|other| other.scope).min();
        if let Some(scope) = strongest.filter(|scope| *scope < candidate.scope && standings[index] == Standing::Used) {
            standings[index] = Standing::Shadowed(scope);
        }
    }
    standings
}

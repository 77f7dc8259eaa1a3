//! The method table: every method of the five revisions, who sends it, what it carries, and what must be declared for it.
//! Every question whether a method is known, removed or allowed is answered here; other code keeps no list. What the
//! named shapes look like is the business of [`crate::shape`].

mod table;

use crate::revision::Revision;
use crate::trace::Party;

pub use table::METHODS;

/// How a method crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// A JSON-RPC request.
    Request,
    /// A JSON-RPC notification.
    Notification,
    /// No message of its own: a request embedded in an `InputRequiredResult`, answered within the retried request
    /// (2026-07-28, basic/patterns/mrtr).
    Input,
}

/// Who sends a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Only the client.
    ToServer,
    /// Only the server.
    ToClient,
    /// Either.
    Both,
}

impl Direction {
    /// Whether `sender` may send it.
    pub const fn allows(self, sender: Party) -> bool {
        match sender {
            Party::Client => matches!(self, Self::ToServer | Self::Both),
            Party::Server => matches!(self, Self::ToClient | Self::Both),
            Party::AuthorizationServer | Party::Other => false,
        }
    }
}

/// Whose capability is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// That of the party which sends the method.
    Sender,
    /// That of the party which receives it.
    Receiver,
}

/// A capability that must have been declared before a method is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Capability {
    /// Who must have declared it.
    pub of: End,
    /// Where it is in the capabilities object: member names joined by dots. A member that is there and not `false`
    /// declares it.
    pub path: &'static str,
    /// The first revision that has it.
    pub since: Revision,
}

/// A method as it was over a run of revisions. A name has several rows where a revision changed more than its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// The name on the wire.
    pub name: &'static str,
    /// How it crosses.
    pub form: Form,
    /// Who sends it.
    pub direction: Direction,
    /// The schema's definition of the whole request or notification.
    pub definition: &'static str,
    /// The schema's definition of `params`. Revisions before 2025-11-25 write it out within [`Method::definition`];
    /// `None` where every revision does.
    pub params: Option<&'static str>,
    /// The schema's definition of the result; `None` for a notification.
    pub result: Option<&'static str>,
    /// Results that may come instead, each in one revision.
    pub instead: &'static [(Revision, &'static str)],
    /// The first revision of this row.
    pub since: Revision,
    /// The first revision for which this row no longer holds.
    pub gone: Option<Revision>,
    /// What must have been declared for it.
    pub capability: Option<Capability>,
    /// Whether it takes a `cursor` and its result may have a `nextCursor`.
    pub paginated: bool,
}

impl Method {
    /// Whether this row holds at `revision`.
    pub fn is_at(&self, revision: Revision) -> bool {
        revision.at_least(self.since) && !self.gone.is_some_and(|gone| revision.at_least(gone))
    }

    /// The path of the capability that `revision` wants of its sender or receiver, if that revision has it.
    pub fn capability_at(&self, revision: Revision) -> Option<(End, &'static str)> {
        self.capability.filter(|c| revision.at_least(c.since)).map(|c| (c.of, c.path))
    }

    /// The shape that may come at `revision` instead of [`Method::result`].
    pub fn instead_at(&self, revision: Revision) -> Option<&'static str> {
        self.instead.iter().find(|(at, _)| *at == revision).map(|(_, name)| *name)
    }
}

/// The method `name` as it is at `revision`.
pub fn find(name: &str, revision: Revision) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name && method.is_at(revision))
}

/// The first revision that has the capability at `path`, where a method of the table depends on it.
pub fn capability_since(path: &str) -> Option<Revision> {
    METHODS.iter().filter_map(|method| method.capability).filter(|c| c.path == path).map(|c| c.since).min()
}

/// Whether any revision has the method `name`.
pub fn known_ever(name: &str) -> bool {
    METHODS.iter().any(|method| method.name == name)
}

/// Where `revision` no longer has the method `name`: the revision that removed it.
pub fn removed_at(name: &str, revision: Revision) -> Option<Revision> {
    if find(name, revision).is_some() {
        return None;
    }
    METHODS.iter().filter(|m| m.name == name).filter_map(|m| m.gone).filter(|gone| revision.at_least(*gone)).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};

    #[test]
    fn a_name_has_at_most_one_row_in_a_revision() {
        for revision in Revision::ALL {
            let mut names: Vec<_> = METHODS.iter().filter(|m| m.is_at(revision)).map(|m| m.name).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{revision}");
        }
        assert!(METHODS.iter().all(|m| m.gone.is_none_or(|gone| gone > m.since)));
        assert!(METHODS.iter().all(|m| m.result.is_none() == (m.form == Form::Notification)));
    }

    #[test]
    fn methods_come_and_go() {
        assert!(find("initialize", R2025_11_25).is_some());
        assert_eq!(removed_at("initialize", R2025_11_25), None);
        assert_eq!(removed_at("initialize", R2026_07_28), Some(R2026_07_28));
        assert!(find("elicitation/create", R2024_11_05).is_none());
        assert_eq!(removed_at("elicitation/create", R2024_11_05), None, "not there yet");
        assert_eq!(find("sampling/createMessage", R2026_07_28).map(|m| m.form), Some(Form::Input));
        assert!(find("notifications/progress", R2025_11_25).is_some_and(|m| m.direction.allows(Party::Client)));
        assert!(find("notifications/progress", R2026_07_28).is_some_and(|m| !m.direction.allows(Party::Client)));
        assert!(known_ever("tasks/list") && !known_ever("tasks/List") && !known_ever(""));
        assert_eq!(removed_at("no/such", R2026_07_28), None);
    }

    #[test]
    fn capabilities_are_asked_for_once_they_exist() {
        let complete = |revision| find("completion/complete", revision).and_then(|m| m.capability_at(revision));
        assert_eq!(complete(R2024_11_05), None);
        assert_eq!(complete(R2025_06_18), Some((End::Receiver, "completions")));
        assert_eq!(capability_since("completions"), Some(R2025_03_26));
        assert_eq!(capability_since("tools"), Some(R2024_11_05));
        assert_eq!(capability_since("no.such"), None);
        let call = find("tools/call", R2025_11_25).unwrap();
        assert_eq!(call.instead_at(R2025_06_18), None);
        assert_eq!(call.instead_at(R2025_11_25), Some("CreateTaskResult"));
        assert_eq!(call.instead_at(R2026_07_28), Some("InputRequiredResult"));
    }
}

//! What a scenario is: a server to talk to, and what its client is asked to do with it. It makes traffic and judges nothing.

use faults::server::Fault;
use reference::authorization::Development;
use reference::catalogue::Catalogue;
use serde_json::Value;
use wire::{Era, Revision, Transport};

use super::evidence::Evidence;

/// A server to talk to, and what its client is asked to do.
pub struct Scenario {
    /// Its name: what the client is told, and the case's name in traces and reports. The official suite's name where that
    /// asks for the same.
    pub name: &'static str,
    /// What the client is asked to do, in a sentence or two.
    pub asks: &'static str,
    /// The transports it is played over; all where empty.
    pub transports: &'static [Transport],
    /// The first revision it makes sense at.
    pub since: Revision,
    /// The last one.
    pub until: Revision,
    /// What is wrong with the server, on purpose.
    pub faults: &'static [&'static Fault],
    /// What the server offers; given an origin that nobody has any business with.
    pub offers: fn(&str) -> Catalogue,
    /// What the client is told beside the name.
    pub context: Option<fn() -> Value>,
    /// How the authorization server is set up whose tokens the server demands, if it does.
    pub demands: Option<fn() -> Development>,
    /// Whether a good client may well end with an error.
    pub may_fail: bool,
    /// What its trace shows, whenever a client does what it is asked.
    pub shows: &'static [Evidence],
}

/// A scenario on the standard catalogue, at every revision and over every transport.
pub const fn scenario(name: &'static str, asks: &'static str) -> Scenario {
    Scenario {
        name,
        asks,
        transports: &[],
        since: Revision::R2024_11_05,
        until: Revision::NEWEST,
        faults: &[],
        offers: |_| Catalogue::standard(),
        context: None,
        demands: None,
        may_fail: false,
        shows: &[],
    }
}

impl Scenario {
    /// Restricts it to some transports.
    pub const fn on(mut self, transports: &'static [Transport]) -> Self {
        self.transports = transports;
        self
    }

    /// Restricts it to one era.
    pub const fn era(mut self, era: Era) -> Self {
        match era {
            Era::Legacy => self.until = Revision::NEWEST_LEGACY,
            Era::Modern => self.since = Revision::R2026_07_28,
        }
        self
    }

    /// Restricts it to revisions from `since` on.
    pub const fn since(mut self, since: Revision) -> Self {
        self.since = since;
        self
    }

    /// Restricts it to revisions up to `until`.
    pub const fn until(mut self, until: Revision) -> Self {
        self.until = until;
        self
    }

    /// Offers something else.
    pub const fn offers(mut self, offers: fn(&str) -> Catalogue) -> Self {
        self.offers = offers;
        self
    }

    /// Tells the client something beside the name.
    pub const fn tells(mut self, context: fn() -> Value) -> Self {
        self.context = Some(context);
        self
    }

    /// Demands tokens of an authorization server that is set up like this.
    pub const fn demands(mut self, issuer: fn() -> Development) -> Self {
        self.demands = Some(issuer);
        self
    }

    /// Behaves oddly in these ways, and not wrongly.
    pub const fn tries(mut self, faults: &'static [&'static Fault]) -> Self {
        self.faults = faults;
        self
    }

    /// Wants something that no client need know. One that does not may well end with an error.
    pub const fn optional(mut self) -> Self {
        self.may_fail = true;
        self
    }

    /// Goes wrong in these ways. A client may well end with an error then.
    pub const fn wrong(mut self, faults: &'static [&'static Fault]) -> Self {
        self.faults = faults;
        self.may_fail = true;
        self
    }

    /// Promises that its trace shows all of this.
    pub const fn shows(mut self, evidence: &'static [Evidence]) -> Self {
        self.shows = evidence;
        self
    }

    /// Where it is played, in words.
    pub fn place(&self) -> String {
        let revisions = match (self.since == Revision::R2024_11_05, self.until == Revision::NEWEST) {
            (true, true) => "any revision".to_owned(),
            (true, false) if self.until == Revision::NEWEST_LEGACY => "legacy era".to_owned(),
            (true, false) => format!("up to {}", self.until),
            (false, true) if self.since == Revision::NEWEST => "modern era".to_owned(),
            (false, true) => format!("from {}", self.since),
            (false, false) if self.since == self.until => self.since.to_string(),
            (false, false) => format!("{} to {}", self.since, self.until),
        };
        match self.transports {
            [] => revisions,
            some => format!("{}, {revisions}", some.iter().map(|t| t.as_str()).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Whether it makes sense at `revision` over `transport`.
    pub fn fits(&self, revision: Revision, transport: Transport) -> bool {
        revision.at_least(self.since)
            && self.until.at_least(revision)
            && transport.carries(revision)
            && (self.transports.is_empty() || self.transports.contains(&transport))
    }
}

//! A scenario: a server, and what the client is asked to do with it. Must not judge.

use faults::server::Fault;
use reference::authorization::Development;
use reference::catalogue::Catalogue;
use serde_json::Value;
use wire::{Applies, Era, Revision, Transport};

use super::evidence::Evidence;

/// A server to talk to, and what its client is asked to do.
pub struct Scenario {
    /// Its name, for the client, traces and reports. The official suite's name if that asks for the same.
    pub name: &'static str,
    /// What the client is asked to do, in a sentence or two.
    pub asks: &'static str,
    /// Where it is played.
    pub applies: Applies,
    /// Faults and quirks of the server.
    pub faults: &'static [&'static Fault],
    /// What the server offers, given the origin of another server that the client must not contact.
    pub offers: fn(&str) -> Catalogue,
    /// How many items a page of each list has; the server's own number where none.
    pub page: Option<usize>,
    /// What the client receives in addition to the name.
    pub context: Option<fn() -> Value>,
    /// The setup of the authorization server, if the server requires tokens.
    pub demands: Option<fn() -> Development>,
    /// Whether a good client may exit with an error.
    pub may_fail: bool,
    /// What its trace shows if a client does what it is asked.
    pub shows: &'static [Evidence],
}

/// A scenario on the standard catalogue, at every revision and over every transport.
pub const fn scenario(name: &'static str, asks: &'static str) -> Scenario {
    Scenario {
        name,
        asks,
        applies: Applies::EVERYWHERE,
        faults: &[],
        offers: |_| Catalogue::standard(),
        page: None,
        context: None,
        demands: None,
        may_fail: false,
        shows: &[],
    }
}

impl Scenario {
    /// Restricts it to some transports.
    pub const fn on(mut self, transports: &'static [Transport]) -> Self {
        self.applies = self.applies.on(transports);
        self
    }

    /// Restricts it to one era.
    pub const fn era(mut self, era: Era) -> Self {
        self.applies = self.applies.era(era);
        self
    }

    /// Restricts it to revisions from `since` on.
    pub const fn since(mut self, since: Revision) -> Self {
        self.applies = self.applies.since(since);
        self
    }

    /// Restricts it to revisions up to `until`.
    pub const fn until(mut self, until: Revision) -> Self {
        self.applies = self.applies.until(until);
        self
    }

    /// Replaces what the server offers.
    pub const fn offers(mut self, offers: fn(&str) -> Catalogue) -> Self {
        self.offers = offers;
        self
    }

    /// Gives every list pages of so many items.
    pub const fn pages(mut self, items: usize) -> Self {
        self.page = Some(items);
        self
    }

    /// Tells the client something in addition to the name.
    pub const fn tells(mut self, context: fn() -> Value) -> Self {
        self.context = Some(context);
        self
    }

    /// Requires tokens of an authorization server with this setup.
    pub const fn demands(mut self, issuer: fn() -> Development) -> Self {
        self.demands = Some(issuer);
        self
    }

    /// Gives the server quirks: legal behaviour that clients must handle.
    pub const fn tries(mut self, faults: &'static [&'static Fault]) -> Self {
        self.faults = faults;
        self
    }

    /// Needs something that clients need not support. One that does not may exit with an error.
    pub const fn optional(mut self) -> Self {
        self.may_fail = true;
        self
    }

    /// Gives the server faults. A client may then exit with an error.
    pub const fn wrong(mut self, faults: &'static [&'static Fault]) -> Self {
        self.faults = faults;
        self.may_fail = true;
        self
    }

    /// Requires that its trace shows all of this.
    pub const fn shows(mut self, evidence: &'static [Evidence]) -> Self {
        self.shows = evidence;
        self
    }

    /// Whether it is played at `revision` over `transport`.
    pub fn fits(&self, revision: Revision, transport: Transport) -> bool {
        self.applies.covers(revision, transport) && transport.carries(revision)
    }
}

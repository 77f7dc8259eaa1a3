//! What a probe is: an async script that provokes behaviour. It makes traffic and judges nothing.

use std::future::Future;
use std::pin::Pin;

use wire::{Applies, Era, Revision, Transport};

use super::context::{Abort, ProbeContext, Setting};
use super::survey::Survey;

/// A script in progress.
pub type Script<'c> = Pin<Box<dyn Future<Output = Result<(), Abort>> + Send + 'c>>;

/// How a probe wants its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Leaves the connection as it found it: many such probes share one, one after the other.
    Shared,
    /// Is hard on its connection (broken messages, a second handshake): such probes share one of their own.
    Disruptive,
    /// Listens for what is announced, on a connection that nothing else disturbs. Where a connection is a process, which costs
    /// more than all that is said to it, such probes share one.
    Listening,
    /// Needs a connection (a process, a session) of its own, after the handshake.
    Fresh,
    /// Needs one on which nothing has been said yet.
    Bare,
}

/// An async script that provokes behaviour, and what it needs to run.
#[derive(Clone, Copy)]
pub struct Probe {
    /// Its name: the case's name in traces and reports.
    pub name: &'static str,
    /// How it wants its connection.
    pub access: Access,
    /// Where it makes sense.
    pub applies: Applies,
    /// A capability (dotted path) without which it does not run.
    pub needs: Option<&'static str>,
    /// Whether it strains the peer: then it runs on children and loopback only, unless `--intrusive`.
    pub intrusive: bool,
    /// Whether only safety rules profit from it.
    pub safety: bool,
    /// Whether it waits longer than most.
    pub is_long: bool,
    /// What must be known of the peer beforehand for it to be worth a connection.
    pub worth: fn(&Setting, &Survey) -> bool,
    /// What must have been learnt by calling the tools for it to be worth a connection.
    pub worth_when_learnt: fn(&Setting, &Survey) -> bool,
    /// The script.
    pub script: for<'c> fn(&'c ProbeContext) -> Script<'c>,
}

impl Probe {
    /// A probe that shares its connection.
    pub const fn shared(name: &'static str, script: for<'c> fn(&'c ProbeContext) -> Script<'c>) -> Self {
        Self {
            name,
            access: Access::Shared,
            applies: Applies::EVERYWHERE,
            needs: None,
            intrusive: false,
            safety: false,
            is_long: false,
            worth: |_, _| true,
            worth_when_learnt: |_, _| true,
            script,
        }
    }

    /// A probe that is hard on its connection.
    pub const fn disruptive(name: &'static str, script: for<'c> fn(&'c ProbeContext) -> Script<'c>) -> Self {
        Self { access: Access::Disruptive, ..Self::shared(name, script) }
    }

    /// A probe that listens.
    pub const fn listening(name: &'static str, script: for<'c> fn(&'c ProbeContext) -> Script<'c>) -> Self {
        Self { access: Access::Listening, ..Self::shared(name, script) }
    }

    /// A probe with a connection of its own.
    pub const fn fresh(name: &'static str, script: for<'c> fn(&'c ProbeContext) -> Script<'c>) -> Self {
        Self { access: Access::Fresh, ..Self::shared(name, script) }
    }

    /// A probe with a connection of its own on which nothing has been said yet.
    pub const fn bare(name: &'static str, script: for<'c> fn(&'c ProbeContext) -> Script<'c>) -> Self {
        Self { access: Access::Bare, ..Self::shared(name, script) }
    }

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

    /// Restricts it to peers that declare a capability.
    pub const fn needs(mut self, capability: &'static str) -> Self {
        self.needs = Some(capability);
        self
    }

    /// Says what must be known of the peer for it to be worth a connection.
    pub const fn when(mut self, worth: fn(&Setting, &Survey) -> bool) -> Self {
        self.worth = worth;
        self
    }

    /// Says what must have been learnt by calling the tools for it to be worth a connection.
    pub const fn when_learnt(mut self, worth: fn(&Setting, &Survey) -> bool) -> Self {
        self.worth_when_learnt = worth;
        self
    }

    /// Says that it strains the peer.
    pub const fn intrusive(mut self) -> Self {
        self.intrusive = true;
        self
    }

    /// Says that it waits longer than most: it begins before them.
    pub const fn long(mut self) -> Self {
        self.is_long = true;
        self
    }

    /// Says that only safety rules profit from it.
    pub const fn safety(mut self) -> Self {
        self.safety = true;
        self
    }
}

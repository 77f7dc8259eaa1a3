//! The two sides of a running gateway: a target for each principal at one of its servers, and one for each upstream. What an upstream
//! does for a client is below the client's row. Must not know where the messages come from.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use wire::trace::{Frame, Header};
use wire::{Party, Transport};

use crate::Console;
use crate::targets::Target;

/// How many sides have a target of their own. Further ones share one.
const SIDES: usize = 128;
/// How many exchanges are remembered whose rows others may belong to. Beyond that, all of them are forgotten.
const EXCHANGES: usize = 1 << 16;

/// One side of a gateway.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// A principal at a server of the gateway; `None` where clients need not say who they are.
    Client {
        /// Who it is, as the gateway knows it.
        principal: Option<String>,
        /// The server of the gateway.
        server: String,
    },
    /// An upstream.
    Upstream(String),
}

impl Side {
    fn label(&self) -> String {
        match self {
            Self::Client { principal: Some(principal), server } => format!("client {principal} at {server}"),
            Self::Client { principal: None, server } => format!("clients without a sign-in at {server}"),
            Self::Upstream(name) => format!("upstream {name}"),
        }
    }
}

/// Where a message belongs.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its side.
    pub side: Side,
    /// The exchange on that side; 0 for none.
    pub exchange: u64,
    /// The exchange with a client in whose course that one began; 0 for none.
    pub within: u64,
}

/// What is shown of one gateway.
pub struct GatewaySides {
    console: Arc<Console>,
    gateway: Arc<Target>,
    session: u32,
    /// The gateway's time and ours when it was connected to.
    clocks: (u64, u64),
    /// The session of each side.
    sides: HashMap<Side, u32>,
    others: Option<u32>,
    /// The first row of each exchange.
    rows: HashMap<u64, u64>,
    missed: u64,
}

impl fmt::Debug for GatewaySides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewaySides").field("sides", &self.sides).finish_non_exhaustive()
    }
}

impl Console {
    /// Adds a running gateway, whose clock shows `now` microseconds.
    pub fn add_gateway(self: &Arc<Self>, label: &str, now: u64) -> GatewaySides {
        let gateway = self.add_side(label);
        let session = gateway.state().session;
        let clocks = (now, self.hub().now());
        let console = Arc::clone(self);
        GatewaySides {
            console,
            gateway,
            session,
            clocks,
            sides: HashMap::new(),
            others: None,
            rows: HashMap::new(),
            missed: 0,
        }
    }

    fn add_side(&self, label: &str) -> Arc<Target> {
        // Only messages are shown, without what carries them.
        let header =
            Header { subject: Party::Server, transport: Transport::Stdio, revision: None, case: "gateway".to_owned() };
        self.add_target(label, |number, label| {
            Target::side(number, label, self.hub().begin_in_the_middle(number, header))
        })
    }
}

impl GatewaySides {
    /// Takes a message in.
    pub fn take(&mut self, place: &Place, frame: &Frame) {
        let session = self.session_of(&place.side);
        let (theirs, ours) = self.clocks;
        let at = frame.at.saturating_sub(theirs).saturating_add(ours);
        let row = self.console.hub().record(session, &Frame { at, done: at, ..frame.clone() });
        let Some(row) = row.filter(|_| place.exchange > 0) else { return };
        if self.rows.len() >= EXCHANGES {
            self.rows.clear();
        }
        let first = *self.rows.entry(place.exchange).or_insert(row);
        let parent = if first == row { self.rows.get(&place.within).copied() } else { Some(first) };
        if let Some(parent) = parent {
            self.console.hub().adopt(row, parent);
        }
    }

    /// The gateway passed over so many messages, because they were read too slowly.
    pub fn missed(&mut self, count: u64) {
        self.missed = self.missed.saturating_add(count);
        let text = format!("{count} messages were too fast to be shown ({} so far)", self.missed);
        self.console.hub().remark(self.gateway.number, self.session, &text);
    }

    /// Nothing more comes, for this reason.
    pub fn over(&self, why: &str) {
        self.console.hub().remark(self.gateway.number, self.session, why);
        for session in self.sides.values().chain(&self.others).chain([&self.session]) {
            self.console.hub().close(*session);
        }
        for target in self.console.all_targets() {
            if target.is_side() {
                target.is_over();
            }
        }
        self.console.hub().state_changed();
    }

    fn session_of(&mut self, side: &Side) -> u32 {
        if let Some(session) = self.sides.get(side) {
            return *session;
        }
        if self.sides.len() >= SIDES {
            let add = || self.console.add_side("other clients and upstreams").state().session;
            return *self.others.get_or_insert_with(add);
        }
        let session = self.console.add_side(&side.label()).state().session;
        self.sides.insert(side.clone(), session);
        session
    }
}

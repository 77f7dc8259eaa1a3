//! Requests that wait for their answers: how they are found again, and which of them hang. Pure; bounded in number and bytes.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha2::{Digest as _, Sha256};
use wire::{Message, Party, RequestId};

use crate::rows::{Status, Table};

/// How many requests and tokens of one session are remembered. Beyond that, all of them are forgotten.
const OPEN: usize = 1 << 16;
/// The longest id or token that is remembered as it is, in bytes.
const LONGEST_KEY: usize = 256;
/// What a person answers, who may take any time.
const FOR_A_PERSON: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];
/// Answered when the subscription ends.
const SUBSCRIPTION: &str = "subscriptions/listen";

/// An id or a token as JSON text, or the digest of a long one. A digest is no JSON text, so that neither is taken for the other.
type Key = Box<str>;

fn key(json: &str) -> Key {
    if json.len() <= LONGEST_KEY {
        return json.into();
    }
    format!("sha256:{}", BASE64.encode(Sha256::digest(json.as_bytes()))).into()
}

/// How long a request may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// As long as its client waits.
    Usual,
    /// Until a person answers.
    Person,
    /// Until the subscription ends.
    Subscription,
}

impl Patience {
    fn with(message: &Message, from: Party) -> Self {
        match message.method().unwrap_or_default() {
            SUBSCRIPTION => Self::Subscription,
            method if from == Party::Server && FOR_A_PERSON.contains(&method) => Self::Person,
            _ => Self::Usual,
        }
    }
}

/// A request without an answer.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Its row.
    pub(super) row: u64,
    /// Whether its sender said that it waits no longer.
    pub(super) given_up: bool,
    patience: Patience,
    /// When it was sent or last progressed, in microseconds since the launch.
    seen: u64,
}

/// The requests of one session that wait, by connection, sender and id.
#[derive(Debug, Default)]
pub(super) struct Requests {
    open: HashMap<(u32, Party, Key), Waiting>,
    /// The row and the id of requests that asked for progress, by connection, sender and token.
    tokens: HashMap<(u32, Party, Key), (u64, Key)>,
    /// When a person last answered on a connection, in microseconds since the launch.
    answered: HashMap<u32, u64>,
}

impl Requests {
    /// Remembers a request that `from` sent at `at`.
    pub(super) fn sent(&mut self, connection: u32, from: Party, message: &Message, (row, at): (u64, u64)) {
        let Some(id) = message.id().map(|id| key(&id.to_json())) else { return };
        if self.open.len() >= OPEN || self.tokens.len() >= OPEN {
            self.open.clear();
            self.tokens.clear();
        }
        if let Some(token) = message.meta_member("progressToken") {
            self.tokens.insert((connection, from, key(&token.to_string())), (row, id.clone()));
        }
        let patience = Patience::with(message, from);
        self.open.insert((connection, from, id), Waiting { row, given_up: false, patience, seen: at });
    }

    /// The row of a request of `from` that waits.
    pub(super) fn row(&self, connection: u32, from: Party, id: &RequestId) -> Option<u64> {
        self.open.get(&(connection, from, key(&id.to_json()))).map(|waiting| waiting.row)
    }

    /// The request that is answered at `at`.
    pub(super) fn answered(&mut self, connection: u32, from: Party, id: &RequestId, at: u64) -> Option<Waiting> {
        let waiting = self.open.remove(&(connection, from, key(&id.to_json())))?;
        if waiting.patience == Patience::Person {
            if self.answered.len() >= OPEN {
                self.answered.clear();
            }
            self.answered.insert(connection, at);
        }
        Some(waiting)
    }

    /// The row of the request of `from` that progresses at `at`.
    pub(super) fn progressed(&mut self, connection: u32, from: Party, token: &str, at: u64) -> Option<u64> {
        let (row, id) = self.tokens.get(&(connection, from, key(token)))?;
        if let Some(waiting) = self.open.get_mut(&(connection, from, id.clone())) {
            waiting.seen = waiting.seen.max(at);
        }
        Some(*row)
    }

    /// The client waits no longer for the answer to its request: returns its row.
    pub(super) fn given_up(&mut self, connection: u32, id: &RequestId) -> Option<u64> {
        let waiting = self.open.get_mut(&(connection, Party::Client, key(&id.to_json())))?;
        waiting.given_up = true;
        Some(waiting.row)
    }

    /// What had no sign of life since `before` hangs. A call is not late while a person is asked on its connection.
    pub(super) fn hang(&self, table: &mut Table, before: u64) {
        let is_question = |waiting: &Waiting| waiting.patience == Patience::Person;
        let asking: HashSet<u32> = self
            .open
            .iter()
            .filter(|(_, waiting)| is_question(waiting))
            .map(|((connection, ..), _)| *connection)
            .collect();
        for ((connection, ..), waiting) in &self.open {
            let seen = self.answered.get(connection).copied().unwrap_or(0).max(waiting.seen);
            if waiting.patience == Patience::Usual && seen < before && !asking.contains(connection) {
                change_pending(table, waiting.row, Status::Hung);
            }
        }
    }

    /// A connection, or every one, is over: what waits gets no answer. A subscription lasted as long as it could.
    pub(super) fn over(&self, table: &mut Table, connection: Option<u32>) {
        let of_it = self.open.iter().filter(|((on, ..), _)| connection.is_none_or(|connection| connection == *on));
        for (_, waiting) in of_it {
            let status = if waiting.patience == Patience::Subscription { Status::Ok } else { Status::Hung };
            change_pending(table, waiting.row, status);
        }
    }

    /// About how many bytes are remembered.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let open = self.open.keys().map(|(.., id)| id.len());
        open.chain(self.tokens.iter().map(|((.., token), (_, id))| token.len() + id.len())).sum()
    }
}

fn change_pending(table: &mut Table, row: u64, status: Status) {
    if table.get(row).is_some_and(|row| row.status == Status::Pending) {
        table.change(row, |row| row.status = status);
    }
}

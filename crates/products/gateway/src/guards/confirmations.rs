//! Questions to users of modern clients that wait for an answer, and calls that go on after one. An answer is for one call: the
//! same principal, server, tool and arguments, once.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use sha2::{Digest as _, Sha256};
use wire::Message;
use wire::json::{Token, Tokens};

use crate::ids::{Ids, hex};

/// The most questions and calls that wait, and the most of one principal.
const MOST: usize = 4096;
const MOST_OF_ONE: usize = 1024;
/// How our states begin.
const STATE: &str = "proof-gateway.confirm.1.";

/// What a confirmation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Confirmed([u8; 32]);

impl Confirmed {
    /// A call of a principal to a server. Answers to questions and `_meta` are no part of what is confirmed.
    pub(crate) fn of(message: &Message, principal: Option<&HeaderValue>, server: &str, upstream: &str) -> Self {
        let mut digest = Sha256::new();
        let mut part = |bytes: &[u8]| {
            digest.update((bytes.len() as u64).to_be_bytes());
            digest.update(bytes);
        };
        part(&[u8::from(principal.is_some())]);
        part(principal.map_or(&[][..], HeaderValue::as_bytes));
        part(server.as_bytes());
        part(upstream.as_bytes());
        part(message.content_key(&["inputResponses", "requestState", "_meta"]).as_bytes());
        // Numbers that no computer word holds would be equal where only their first digits are.
        let mut numbers =
            message.body_members().find(|(name, _)| name == "arguments").map_or_else(Vec::new, |it| exact(it.1));
        numbers.sort_unstable();
        for number in numbers {
            part(number.as_bytes());
        }
        Self(digest.finalize().into())
    }
}

/// The numbers of a text that are not whole numbers of 64 bits.
fn exact(text: &str) -> Vec<&str> {
    let (mut tokens, mut numbers) = (Tokens::new(text), Vec::new());
    while let Ok(Some((token, span))) = tokens.next_token() {
        let number = &text[span];
        if token == Token::Number && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
            numbers.push(number);
        }
    }
    numbers
}

/// Why an answer does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Invalid {
    /// Its time is over, it was given before, or the question was never asked.
    Unknown,
    /// It was given for another call.
    OtherCall,
}

struct Waiting {
    what: Confirmed,
    principal: Option<HeaderValue>,
    until: Instant,
}

/// Everything that waits.
#[derive(Default)]
pub(crate) struct Confirmations(Mutex<HashMap<String, Waiting>>, Ids);

impl Confirmations {
    pub(super) fn new(ids: Ids) -> Self {
        Self(Mutex::default(), ids)
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a state was made here.
    pub(crate) fn is_ours(state: &str) -> bool {
        state.starts_with(STATE)
    }

    /// Notes that the user is asked; the state that the answer must bring. `None` where too many wait.
    pub(crate) fn ask(
        &self,
        what: Confirmed,
        principal: Option<&HeaderValue>,
        (wait, now): (Duration, Instant),
    ) -> Option<String> {
        let state = self.1.unguessable(STATE)?;
        self.put(state.clone(), what, principal, (wait, now)).then_some(state)
    }

    /// Takes an answer in: it counts once, and only for its call.
    pub(crate) fn answer(&self, state: &str, what: Confirmed, now: Instant) -> Result<(), Invalid> {
        let mut all = self.all();
        let waiting = all.get(state).filter(|waiting| waiting.until > now).ok_or(Invalid::Unknown)?;
        // Another call's question stays with the call that it belongs to.
        if waiting.what != what {
            return Err(Invalid::OtherCall);
        }
        all.remove(state);
        Ok(())
    }

    /// A confirmed call goes on with the next round of its server's questions, which has this state.
    pub(crate) fn goes_on(
        &self,
        what: Confirmed,
        state: Option<&str>,
        principal: Option<&HeaderValue>,
        (wait, now): (Duration, Instant),
    ) -> bool {
        self.put(round(what, state), what, principal, (wait, now))
    }

    /// Whether a request is the next round of a call that was confirmed; counts once.
    pub(crate) fn is_next(&self, what: Confirmed, state: Option<&str>, now: Instant) -> bool {
        self.answer(&round(what, state), what, now).is_ok()
    }

    fn put(
        &self,
        state: String,
        what: Confirmed,
        principal: Option<&HeaderValue>,
        (wait, now): (Duration, Instant),
    ) -> bool {
        let mut all = self.all();
        if all.len() >= MOST {
            all.retain(|_, waiting| waiting.until > now);
        }
        let of_one = || all.values().filter(|one| one.principal.as_ref() == principal && one.until > now).count();
        if all.len() >= MOST || (principal.is_some() && of_one() >= MOST_OF_ONE) {
            return false;
        }
        all.insert(state, Waiting { what, principal: principal.cloned(), until: now + wait });
        true
    }

    pub(super) fn sweep(&self, now: Instant) {
        self.all().retain(|_, waiting| waiting.until > now);
    }
}

/// Under what a round waits: no client can name it, because it does not begin as our states do.
fn round(what: Confirmed, state: Option<&str>) -> String {
    let mut digest = Sha256::new();
    digest.update(what.0);
    digest.update([u8::from(state.is_some())]);
    digest.update(state.unwrap_or_default());
    format!("round.{}", hex(&digest.finalize()))
}

#[cfg(test)]
mod tests;

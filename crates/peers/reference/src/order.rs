//! What `--strict` demands of the order of requests in a legacy session: nothing but `ping` before `notifications/initialized`
//! (basic/lifecycle), and no id twice (basic/index#requests). Knows no method but those two.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use net::service::{Call, RpcError};
use wire::{Era, RequestId};

use crate::logging::SessionState;
use crate::{Handshake, Server};

/// How many ids of a session are remembered, and how many bytes of them. The oldest are forgotten.
const MOST_IDS: usize = 16_384;
const MOST_BYTES: usize = 1 << 20;

/// Refuses a request that comes out of order, where the server is strict.
pub(crate) fn admit(server: &Server, call: &Call) -> Result<(), RpcError> {
    let strict = server.state().options.handshake == Handshake::Strict && call.context.era() == Era::Legacy;
    let Some(session) = call.context.session.as_ref().filter(|_| strict) else { return Ok(()) };
    if !session.state::<SessionState>().used_ids.take(call.id()) {
        return Err(RpcError::invalid_request("Invalid request: an earlier request of this session had this id"));
    }
    if session.is_ready() || matches!(call.message.method(), Some("initialize" | "ping")) {
        return Ok(());
    }
    Err(RpcError::invalid_request("Invalid request: only `ping` may come before `notifications/initialized`"))
}

/// The ids of a session's requests, the newest of them.
#[derive(Default)]
pub(crate) struct UsedIds(Mutex<Used>);

#[derive(Default)]
struct Used {
    known: HashSet<RequestId>,
    by_age: VecDeque<RequestId>,
    bytes: usize,
}

impl UsedIds {
    /// Remembers an id; `false` where it is known.
    fn take(&self, id: &RequestId) -> bool {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !used.known.insert(id.clone()) {
            return false;
        }
        used.bytes += length(id);
        used.by_age.push_back(id.clone());
        while used.by_age.len() > MOST_IDS || used.bytes > MOST_BYTES {
            let Some(oldest) = used.by_age.pop_front() else { break };
            used.bytes -= length(&oldest);
            used.known.remove(&oldest);
        }
        true
    }
}

fn length(id: &RequestId) -> usize {
    let (RequestId::String(text) | RequestId::Number(text)) = id;
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken_once() {
        let used = UsedIds::default();
        assert!(used.take(&1_i64.into()));
        assert!(used.take(&RequestId::String("1".to_owned())), "a string is another id");
        assert!(!used.take(&1_i64.into()));
        assert!(!used.take(&RequestId::String("1".to_owned())));
    }

    #[test]
    fn only_so_many_ids_are_remembered() {
        let used = UsedIds::default();
        for id in 0..=MOST_IDS {
            assert!(used.take(&i64::try_from(id).expect("a small number").into()));
        }
        assert!(!used.take(&1_i64.into()), "the newest are known");
        assert!(used.take(&0_i64.into()), "the oldest is forgotten");
        let long = |letter: &str| RequestId::String(letter.repeat(MOST_BYTES / 2 + 1));
        assert!(used.take(&long("a")));
        assert!(used.take(&long("b")));
        let state = used.0.lock().expect("no panic");
        assert!(state.bytes <= MOST_BYTES, "{}", state.bytes);
        assert_eq!(state.known.len(), state.by_age.len());
    }
}

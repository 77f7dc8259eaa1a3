//! How much text of servers' questions waits for clients: of one call, one principal, one server, and in all. Must not know what
//! is asked, or of whom.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use net::server::http::HeaderValue;
use net::service::RpcError;
use wire::RequestId;

use crate::failure;
use crate::metrics::Page;
use crate::relay::error_text;

/// The most bytes of one call or task, of one principal, of one server, and of all together. Clients without a token are one
/// principal.
const OF_CALL: usize = 4 << 20;
const OF_PRINCIPAL: usize = 16 << 20;
const OF_SERVER: usize = 32 << 20;
const OF_ALL: usize = 64 << 20;
/// What a question takes besides its text, about: many small ones are bounded, too.
const BESIDES: usize = 512;

/// Which limit a question is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    Call,
    Principal,
    Server,
    All,
}

const REASONS: [(NoRoom, &str); 4] =
    [(NoRoom::Call, "call"), (NoRoom::Principal, "principal"), (NoRoom::Server, "server"), (NoRoom::All, "all")];

impl NoRoom {
    /// What happened, for the server, the client and the log.
    pub(crate) const fn what(self) -> &'static str {
        match self {
            Self::Call => "The questions of the server are larger than 4 MiB for one call",
            Self::Principal => "Too many questions to one client wait for answers",
            Self::Server => "Too many questions of one server wait for answers",
            Self::All => "Too many questions wait for answers",
        }
    }

    /// The answer for the server.
    pub(crate) fn answer(self, id: Option<&RequestId>) -> String {
        error_text(id, &RpcError::internal(self.what()))
    }

    /// The error for the client, whose call is given up.
    pub(crate) fn error(self) -> RpcError {
        match self {
            Self::Call => failure::QUESTIONS_TOO_LARGE.error(self.what()),
            _ => failure::TOO_MANY_WAIT.error(format!("{}; try again later", self.what())),
        }
    }

    fn reason(self) -> &'static str {
        REASONS.iter().find(|(one, _)| *one == self).map_or("all", |(_, reason)| reason)
    }
}

/// Who is asked, by which server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The subject of the client's token.
    pub(crate) subject: Option<HeaderValue>,
    /// The number of the upstream.
    pub(crate) upstream: usize,
}

/// How many bytes wait.
#[derive(Debug, Default)]
struct Held {
    all: usize,
    principals: HashMap<Option<HeaderValue>, usize>,
    servers: HashMap<usize, usize>,
}

/// The account of all questions that wait.
#[derive(Debug, Default)]
pub(crate) struct QuestionRoom {
    held: Mutex<Held>,
    refused: [AtomicU64; REASONS.len()],
}

/// The room that a question takes. Dropped, it is free again.
#[derive(Debug)]
pub(crate) struct Space {
    room: Arc<QuestionRoom>,
    asked: Asked,
    bytes: usize,
}

impl QuestionRoom {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for `text` bytes of a question in a call whose others hold `open`. A refusal is counted.
    pub(crate) fn take(self: &Arc<Self>, asked: Asked, open: usize, text: usize) -> Result<Space, NoRoom> {
        let bytes = text.saturating_add(BESIDES);
        match self.held().add(&asked, open, bytes) {
            Ok(()) => Ok(Space { room: Arc::clone(self), asked, bytes }),
            Err(why) => {
                let at = REASONS.iter().position(|(one, _)| *one == why);
                if let Some(count) = at.and_then(|at| self.refused.get(at)) {
                    count.fetch_add(1, Ordering::Relaxed);
                }
                Err(why)
            }
        }
    }

    /// Adds the counters to a page.
    pub(crate) fn write(&self, page: &mut Page) {
        let name = "proof_gateway_question_bytes";
        page.family(name, "gauge", "Bytes of servers' questions that wait for clients.");
        page.sample(name, &[], self.held().all);
        let name = "proof_gateway_questions_refused_total";
        page.family(name, "counter", "Questions of servers that were refused, by the limit that they were over.");
        for ((why, _), count) in REASONS.iter().zip(&self.refused) {
            page.sample(name, &[("limit", why.reason())], count.load(Ordering::Relaxed));
        }
    }
}

impl Held {
    fn add(&mut self, asked: &Asked, open: usize, bytes: usize) -> Result<(), NoRoom> {
        let over = |held: usize, most: usize| held.saturating_add(bytes) > most;
        if over(open, OF_CALL) {
            return Err(NoRoom::Call);
        }
        if over(self.principals.get(&asked.subject).copied().unwrap_or_default(), OF_PRINCIPAL) {
            return Err(NoRoom::Principal);
        }
        if over(self.servers.get(&asked.upstream).copied().unwrap_or_default(), OF_SERVER) {
            return Err(NoRoom::Server);
        }
        if over(self.all, OF_ALL) {
            return Err(NoRoom::All);
        }
        self.all += bytes;
        *self.principals.entry(asked.subject.clone()).or_default() += bytes;
        *self.servers.entry(asked.upstream).or_default() += bytes;
        Ok(())
    }

    fn give_back(&mut self, asked: &Asked, bytes: usize) {
        self.all -= bytes;
        lower(&mut self.principals, &asked.subject, bytes);
        lower(&mut self.servers, &asked.upstream, bytes);
    }
}

/// What holds nothing has no entry: there are as many principals as tokens.
fn lower<K: Eq + Hash>(held: &mut HashMap<K, usize>, key: &K, bytes: usize) {
    if let Some(of_one) = held.get_mut(key) {
        *of_one -= bytes;
        if *of_one == 0 {
            held.remove(key);
        }
    }
}

impl Space {
    /// How many bytes it holds.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        self.room.held().give_back(&self.asked, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use net::server::http::HeaderValue;

    use super::{Asked, BESIDES, NoRoom, OF_ALL, OF_CALL, OF_PRINCIPAL, OF_SERVER, QuestionRoom, Space};
    use crate::metrics::Page;

    const WHOLE: usize = OF_CALL - BESIDES;

    fn asked(subject: &'static str, upstream: usize) -> Asked {
        Asked { subject: Some(HeaderValue::from_static(subject)), upstream }
    }

    /// So many calls, each with as much as one may have.
    fn fill(room: &Arc<QuestionRoom>, asked: &Asked, bytes: usize) -> Vec<Space> {
        (0..bytes / OF_CALL).map(|_| room.take(asked.clone(), 0, WHOLE).expect("room")).collect()
    }

    #[test]
    fn each_limit_holds_alone_and_what_is_dropped_is_free_again() {
        let room = Arc::new(QuestionRoom::default());
        assert_eq!(room.take(asked("a", 0), 0, WHOLE + 1).expect_err("too large"), NoRoom::Call);
        assert_eq!(room.take(asked("a", 0), 1, WHOLE).expect_err("too large"), NoRoom::Call);
        assert_eq!(room.take(asked("a", 0), 0, usize::MAX).expect_err("too large"), NoRoom::Call);
        let mut all = fill(&room, &asked("a", 0), OF_PRINCIPAL);
        assert_eq!(room.take(asked("a", 1), 0, 0).expect_err("full"), NoRoom::Principal);
        all.extend(fill(&room, &asked("b", 0), OF_SERVER - OF_PRINCIPAL));
        assert_eq!(room.take(asked("c", 0), 0, 0).expect_err("full"), NoRoom::Server);
        all.extend(fill(&room, &asked("c", 1), OF_PRINCIPAL));
        all.extend(fill(&room, &asked("d", 1), OF_ALL - OF_SERVER - OF_PRINCIPAL));
        assert_eq!(room.take(asked("e", 2), 0, 0).expect_err("full"), NoRoom::All);
        drop(all.pop());
        drop(room.take(asked("e", 2), 0, WHOLE).expect("room"));
        drop(all);
        let held = room.held();
        assert_eq!((held.all, held.principals.len(), held.servers.len()), (0, 0, 0));
    }

    #[test]
    fn refusals_are_counted_by_limit() {
        let room = Arc::new(QuestionRoom::default());
        let _one = room.take(asked("a", 0), 0, 100).expect("room");
        room.take(asked("a", 0), 0, OF_CALL).expect_err("too large");
        let mut page = Page::default();
        room.write(&mut page);
        let page = page.into_text();
        for line in [
            "proof_gateway_question_bytes 612",
            "proof_gateway_questions_refused_total{limit=\"call\"} 1",
            "proof_gateway_questions_refused_total{limit=\"all\"} 0",
        ] {
            assert!(page.lines().any(|one| one == line), "{line}\n{page}");
        }
    }
}

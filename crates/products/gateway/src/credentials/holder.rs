//! One token and what is needed for the next one. Pure but for its lock: time comes from the caller.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use oauth::{IssuedToken, Secret, now};

use super::refusals::Refusal;
use super::secret;
use crate::consents::Number;

/// How early a token counts as expired, at most.
const MARGIN: Duration = Duration::from_secs(10);
/// After which part of its life a token is renewed, in percent: at a random place between these two.
const RENEWAL: (u32, u32) = (62, 75);
/// The longest life that is believed.
const LONGEST: Duration = Duration::from_hours(24);
/// How often a server that refuses tokens makes us ask for others.
const FORCED: Duration = Duration::from_secs(10);

/// A token in use.
#[derive(Clone)]
pub(crate) struct HeldToken {
    /// The value of `Authorization`.
    pub(crate) header: HeaderValue,
    /// Greater than that of every token before it.
    pub(crate) number: u64,
}

struct Kept {
    token: HeldToken,
    renew_at: Instant,
    good_until: Instant,
}

/// Whether a token may be used.
pub(super) enum Due {
    Good(HeldToken),
    /// It is time for the next one.
    Soon(HeldToken),
    /// There is none.
    Now,
}

/// The token of one user, or of the gateway.
pub(super) struct Holder {
    /// Held by the one who asks for a token.
    pub(super) asking: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

struct State {
    /// What a token is got for: the user's own token as it came last, or the name of the user who consented.
    subject: Option<Secret>,
    kept: Option<Kept>,
    issued: u64,
    refusal: Option<(Refusal, Instant)>,
    /// Which writing of a consent `kept` comes of.
    writing: Option<Number>,
    /// How often the token was forgotten.
    resets: u64,
    /// How many refusals came in a row.
    refusals: u32,
    renewing: bool,
    forced: Option<Instant>,
    used: Instant,
}

impl Default for Holder {
    fn default() -> Self {
        let state = State {
            subject: None,
            kept: None,
            issued: 0,
            refusal: None,
            writing: None,
            resets: 0,
            refusals: 0,
            renewing: false,
            forced: None,
            used: Instant::now(),
        };
        Self { asking: tokio::sync::Mutex::new(()), state: Mutex::new(state) }
    }
}

impl Holder {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of the user's token. With another one, what was refused is tried again.
    pub(super) fn note(&self, token: &str) {
        let mut state = self.lock();
        state.used = Instant::now();
        if state.subject.as_ref().is_none_or(|subject| subject.reveal() != token) {
            state.subject = Some(secret(token));
            if matches!(state.refusal, Some((Refusal::Denied(_), _))) {
                state.refusal = None;
            }
        }
    }

    pub(super) fn subject(&self) -> Option<Secret> {
        self.lock().subject.clone()
    }

    /// Forgets the token: the consent that it came of counts no more.
    pub(super) fn reset(&self) {
        let mut state = self.lock();
        (state.kept, state.refusal, state.refusals) = (None, None, 0);
        state.resets += 1;
    }

    /// How often that was done: what was found out before the last time counts no more.
    pub(super) fn resets(&self) -> u64 {
        self.lock().resets
    }

    /// Which writing of a consent the token comes of.
    pub(super) fn writing(&self) -> Option<Number> {
        let state = self.lock();
        state.writing.filter(|_| state.kept.is_some())
    }

    pub(super) fn has_token(&self) -> bool {
        self.lock().kept.is_some()
    }

    pub(super) fn used(&self) -> Instant {
        self.lock().used
    }

    pub(super) fn is_idle(&self, idle: Duration, now: Instant) -> bool {
        now.saturating_duration_since(self.used()) > idle
    }

    /// The token, for a request.
    pub(super) fn current(&self, now: Instant) -> Due {
        let mut state = self.lock();
        state.used = now;
        match &state.kept {
            Some(kept) if now < kept.renew_at => Due::Good(kept.token.clone()),
            Some(kept) if now < kept.good_until => Due::Soon(kept.token.clone()),
            _ => Due::Now,
        }
    }

    /// Whether the caller is to renew it: one does, and not where that failed a moment ago.
    pub(super) fn take_renewal(&self, now: Instant) -> bool {
        let mut state = self.lock();
        let is_due = state.kept.as_ref().is_some_and(|kept| now >= kept.renew_at && now < kept.good_until);
        let failed = state.refusal.as_ref().is_some_and(|(_, until)| *until > now);
        is_due && !failed && !std::mem::replace(&mut state.renewing, true)
    }

    pub(super) fn renewal_ended(&self) {
        self.lock().renewing = false;
    }

    /// Whether the caller is to get another token although this one lives: the server refused it.
    pub(super) fn take_forced(&self, now: Instant) -> bool {
        let mut state = self.lock();
        let may = state.forced.is_none_or(|forced| now.saturating_duration_since(forced) >= FORCED);
        if may {
            state.forced = Some(now);
        }
        may
    }

    /// Why there was no token a moment ago.
    pub(super) fn refusal(&self, now: Instant) -> Option<Refusal> {
        self.lock().refusal.as_ref().filter(|(_, until)| *until > now).map(|(refusal, _)| refusal.clone())
    }

    pub(super) fn refuse(&self, refusal: Refusal, now: Instant) {
        let mut state = self.lock();
        let until = now + refusal.lasts(state.refusals);
        state.refusals = state.refusals.saturating_add(1);
        state.refusal = Some((refusal, until));
    }

    /// Keeps an issued token; `None` where no header can carry it.
    pub(super) fn keep(&self, issued: &IssuedToken, at: Instant) -> Option<HeldToken> {
        let header = header_of(issued)?;
        Some(self.lock().keep(header, issued.expires, at))
    }

    /// Keeps the token of this writing of a consent; nothing where the token was forgotten since there were so many `resets`.
    pub(super) fn keep_writing(
        &self,
        issued: &IssuedToken,
        at: Instant,
        (writing, resets): (Number, u64),
    ) -> Result<Option<HeldToken>, Refusal> {
        let header = header_of(issued).ok_or(Refusal::Unavailable)?;
        let mut state = self.lock();
        if state.resets != resets {
            return Ok(None);
        }
        state.writing = Some(writing);
        Ok(Some(state.keep(header, issued.expires, at)))
    }
}

impl State {
    fn keep(&mut self, header: HeaderValue, expires: u64, at: Instant) -> HeldToken {
        let life = Duration::from_secs(expires.saturating_sub(now())).min(LONGEST);
        self.issued += 1;
        let token = HeldToken { header, number: self.issued };
        let (renew_at, good_until) = (at + life * renewal() / 100, at + life.saturating_sub(MARGIN.min(life / 10)));
        self.kept = Some(Kept { token: token.clone(), renew_at, good_until });
        (self.refusal, self.refusals) = (None, 0);
        token
    }
}

/// The header with a token; nothing where no header can carry it.
fn header_of(issued: &IssuedToken) -> Option<HeaderValue> {
    let mut header = HeaderValue::from_str(&format!("Bearer {}", issued.access.reveal())).ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// When to renew, in percent of a life: not all tokens of one minute at once.
fn renewal() -> u32 {
    let mut byte = [0];
    // Without random numbers, all are renewed early.
    let _ = getrandom::fill(&mut byte);
    RENEWAL.0 + u32::from(byte[0]) * (RENEWAL.1 - RENEWAL.0) / 255
}

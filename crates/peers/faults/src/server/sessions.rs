//! Faults of sessions over HTTP (legacy era).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use net::server::http::{Bytes, HeaderMap, HeaderValue, Method, Parts, StatusCode, Uri};

use super::state::State;
use super::stdio::replaced;
use super::{Fault, HTTP, Http, Kind, fault};

pub(super) const SESSION_ID: &str = "mcp-session-id";
const LAST_EVENT_ID: &str = "last-event-id";

pub(super) const FAULTS: &[&Fault] = &[
    &session(
        "session-id-counted",
        "http.session-id-unguessable",
        "session ids are consecutive numbers",
        Kind::Sessions(SessionIds::Counts),
    ),
    &session(
        "session-id-with-space",
        "http.session-id-visible-ascii",
        "session ids have a space in them",
        Kind::Sessions(SessionIds::Spaces),
    ),
    &session(
        "session-id-not-checked",
        "safety.unknown-session-refused",
        "an unknown session id is treated as the oldest session's",
        Kind::Sessions(SessionIds::TakesAny),
    )
    .breaks_too(&["http.terminated-session-404"]),
    SESSION_ID_CHANGES,
    &session(
        "session-missing-404",
        "http.session-required-400",
        "a request without session id is answered with 404",
        Kind::Http(Http {
            response: |asked, response| {
                if !asked.headers.contains_key(SESSION_ID) && *response.status == StatusCode::BAD_REQUEST {
                    *response.status = StatusCode::NOT_FOUND;
                }
            },
            ..HTTP
        }),
    ),
    &session(
        "session-ended-400",
        "http.terminated-session-404",
        "a request of a session that was ended is answered with 400",
        Kind::Http(Http {
            response: |asked, response| {
                if asked.headers.contains_key(SESSION_ID) && *response.status == StatusCode::NOT_FOUND {
                    *response.status = StatusCode::BAD_REQUEST;
                }
            },
            ..HTTP
        }),
    ),
    &session(
        "delete-fails",
        "safety.delete-answered",
        "the DELETE of a session is answered with 500",
        Kind::Http(Http {
            response: |asked, response| {
                if asked.method == Method::DELETE {
                    *response.status = StatusCode::INTERNAL_SERVER_ERROR;
                }
            },
            ..HTTP
        }),
    ),
    &session(
        "delete-ignored",
        "safety.session-end-closes-streams",
        "the DELETE of a session is answered with 204, and the session goes on",
        Kind::Http(Http {
            head: |head, _| {
                if head.method == Method::DELETE {
                    head.uri = Uri::from_static("/nowhere");
                }
            },
            response: |asked, response| {
                if asked.method == Method::DELETE {
                    *response.status = StatusCode::NO_CONTENT;
                }
            },
            ..HTTP
        }),
    )
    .breaks_too(&["http.terminated-session-404"]),
    &session(
        "events-for-anyone",
        "safety.resume-own-session",
        "who names an event is given what followed it, whoever's session it was",
        Kind::Http(Http { head: take_session_of_event, event: Some(number_event), ..HTTP }),
    )
    .breaks_too(&["jsonrpc.result-id", "progress.known-tokens", "safety.answers-stay-home"]),
];

/// The fault `session-id-changes`.
pub const SESSION_ID_CHANGES: &Fault = &session(
    "session-id-changes",
    "safety.session-id-stable",
    "every response names another session id",
    Kind::Http(Http {
        response: |asked, response| {
            if asked.headers.contains_key(SESSION_ID) && *response.status == StatusCode::OK {
                response.headers.insert(SESSION_ID, HeaderValue::from_static("another-0123456789abcdef"));
            }
        },
        ..HTTP
    }),
);

/// The sessions that were given events, by the number that these events carry.
#[derive(Default)]
struct Given(Mutex<Vec<HeaderValue>>);

impl Given {
    fn sessions(&self) -> MutexGuard<'_, Vec<HeaderValue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number and the rest of an event's id as [`number_event`] makes it.
fn numbered(head: &Parts) -> Option<(usize, HeaderValue)> {
    let (number, rest) = head.headers.get(LAST_EVENT_ID)?.to_str().ok()?.split_once('.')?;
    Some((number.parse().ok()?, HeaderValue::from_str(rest).ok()?))
}

/// A client that comes back is taken for the one whose event it names.
fn take_session_of_event(head: &mut Parts, state: &State) {
    let Some((number, rest)) = numbered(head) else { return };
    if let Some(session) = state.of::<Given>().sessions().get(number).cloned() {
        head.headers.insert(SESSION_ID, session);
        head.headers.insert(LAST_EVENT_ID, rest);
    }
}

/// Puts the number of the session that an event belongs to before the event's id.
fn number_event(asked: &Parts, event: Bytes, state: &State) -> Bytes {
    let Some(session) = asked.headers.get(SESSION_ID) else { return event };
    let given = state.of::<Given>();
    let mut given = given.sessions();
    let known = numbered(asked).map(|(number, _)| number).or_else(|| given.iter().position(|known| known == session));
    let number = known.unwrap_or(given.len());
    if number == given.len() && number < MOST {
        given.push(session.clone());
    }
    drop(given);
    replaced(&event, b"id: ", format!("id: {number}.").as_bytes()).into()
}

const fn session(name: &'static str, rule: &'static str, about: &'static str, kind: Kind) -> Fault {
    fault(name, rule, about, kind).legacy().http()
}

/// How session ids are dealt with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionIds {
    Counts,
    Spaces,
    TakesAny,
    /// Knows nothing any more of the first session after a few requests.
    Forgets,
    /// Gives ids of both cases, with every sort of punctuation.
    Capitals,
}

/// How such an id begins.
const CAPITALS: &str = "Session.ID+/=~!|";

/// How long a forgetful server takes to find out that it has forgotten: what its client has sent by then was under way, and
/// what comes later was not.
const DAWNING: Duration = Duration::from_millis(300);

impl SessionIds {
    /// How long a response of this status is held back.
    pub(super) fn pause(self, status: StatusCode) -> Duration {
        if self == Self::Forgets && status == StatusCode::NOT_FOUND { DAWNING } else { Duration::ZERO }
    }
}

/// The ids that were given out.
#[derive(Debug, Default)]
pub(super) struct KnownIds(Mutex<Vec<HeaderValue>>);

/// How many requests a forgetful server answers before it forgets.
const REMEMBERED: usize = 3;

/// How many ids are remembered: a test server has no more clients.
const MOST: usize = 4096;

impl KnownIds {
    fn ids(&self) -> MutexGuard<'_, Vec<HeaderValue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request comes: the id that the server knows stands in its head afterwards.
    pub(super) fn come(&self, ids_are: SessionIds, head: &mut Parts) {
        let Some(id) = head.headers.get(SESSION_ID).and_then(|id| id.to_str().ok()).map(str::to_owned) else { return };
        let mut ids = self.ids();
        if head.method == Method::DELETE && ids_are == SessionIds::TakesAny {
            // It ends, and with it the use of its id; anybody else's is not to end in its place.
            return ids.retain(|known| known != id.as_str());
        }
        let known = match ids_are {
            SessionIds::Counts => id.parse().ok().and_then(|number: usize| ids.get(number.checked_sub(1)?)).cloned(),
            SessionIds::Spaces => id.strip_prefix("session ").and_then(|id| HeaderValue::from_str(id).ok()),
            SessionIds::Capitals => id.strip_prefix(CAPITALS).and_then(|id| HeaderValue::from_str(id).ok()),
            SessionIds::Forgets if ids.first().is_some_and(|first| first == id.as_str()) => {
                ids.push(HeaderValue::from_static("a request"));
                (ids.len() > REMEMBERED).then(|| HeaderValue::from_static("forgotten"))
            }
            SessionIds::Forgets => None,
            SessionIds::TakesAny if ids.iter().any(|known| known == id.as_str()) => None,
            // The newest may be about to end, or not yet be ready.
            SessionIds::TakesAny => ids.first().cloned(),
        };
        if let Some(known) = known {
            head.headers.insert(SESSION_ID, known);
        }
    }

    /// A response goes: the id that the client is to know stands in its head afterwards.
    pub(super) fn go(&self, ids_are: SessionIds, headers: &mut HeaderMap) {
        let Some(id) = headers.get(SESSION_ID).cloned() else { return };
        let mut ids = self.ids();
        if ids.len() < MOST {
            ids.push(id.clone());
        }
        let told = match ids_are {
            SessionIds::Counts => HeaderValue::from_str(&ids.len().to_string()).ok(),
            SessionIds::Spaces => id.to_str().ok().and_then(|id| HeaderValue::from_str(&format!("session {id}")).ok()),
            SessionIds::Capitals => {
                id.to_str().ok().and_then(|id| HeaderValue::from_str(&format!("{CAPITALS}{id}")).ok())
            }
            SessionIds::TakesAny | SessionIds::Forgets => None,
        };
        if let Some(told) = told {
            headers.insert(SESSION_ID, told);
        }
    }
}

//! A key and what came of its call, as the store has them.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use net::server::http::HeaderValue;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use tokio::sync::watch;

use super::{Asked, CallKey, Entry, KeptAnswer, Progress, StateDigest, Status};
use crate::answers::request::RequestDigest;
use crate::shared::Token;

/// The longest time that a key is kept: a clock that was wrong must not keep one for ever.
const LONGEST: Duration = Duration::from_hours(24);

#[derive(Serialize, Deserialize)]
struct Record {
    /// Bytes: a header's value need not be text.
    principal: Option<Vec<u8>>,
    server: String,
    upstream: String,
    tool: String,
    key: String,
    digest: RequestDigest,
    status: Outcome,
    /// Milliseconds since 1970.
    until: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Running,
    Asked(Option<KeptText>, Option<StateDigest>),
    Ended(KeptText),
    TooLarge,
    Unknown,
}

#[derive(Serialize, Deserialize)]
struct KeptText {
    revision: String,
    body: String,
    code: Option<i64>,
}

impl KeptText {
    fn of(answer: &KeptAnswer) -> Self {
        Self { revision: answer.revision.as_str().to_owned(), body: answer.text.clone(), code: answer.code }
    }

    fn answer(self) -> Option<KeptAnswer> {
        Some(KeptAnswer { revision: self.revision.parse().ok()?, text: self.body, code: self.code })
    }
}

/// Under what a key stands in the store: keys may be long, and are nobody's business.
pub(super) fn name(key: &CallKey) -> Vec<u8> {
    let mut digest = Sha256::new();
    let principal = key.principal.as_ref().map(HeaderValue::as_bytes);
    digest.update([u8::from(principal.is_some())]);
    for part in [
        principal.unwrap_or_default(),
        key.server.as_bytes(),
        key.upstream.as_bytes(),
        key.tool.as_bytes(),
        key.key.as_bytes(),
    ] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    digest.finalize().to_vec()
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}

/// An entry as the store has it. One that runs is kept for `ttl` from now on.
pub(super) fn written(key: &CallKey, entry: &Entry, (ttl, now): (Duration, Instant)) -> Vec<u8> {
    let status = match &entry.status {
        Status::Claiming(_) | Status::Running(_) => Outcome::Running,
        Status::Asked(asked) => asked_of(asked),
        Status::Ended(answer) => Outcome::Ended(KeptText::of(answer)),
        Status::TooLarge => Outcome::TooLarge,
        Status::Unknown => Outcome::Unknown,
    };
    let left = entry.until.map_or(ttl, |until| until.saturating_duration_since(now));
    let record = Record {
        principal: key.principal.as_ref().map(|principal| principal.as_bytes().to_vec()),
        server: key.server.clone(),
        upstream: key.upstream.clone(),
        tool: key.tool.clone(),
        key: key.key.clone(),
        digest: entry.digest,
        status,
        until: now_ms().saturating_add(left.as_millis() as u64),
    };
    serde_json::to_vec(&record).unwrap_or_default()
}

/// What was written; nothing where its time is over. A call that ran when the gateway ended may have run to its end, or not.
pub(super) fn read(value: &[u8], now: Instant) -> Result<Option<(CallKey, Entry)>, serde_json::Error> {
    let record: Record = serde_json::from_slice(value)?;
    let Some(left) = record.until.checked_sub(now_ms()).filter(|left| *left > 0) else { return Ok(None) };
    let left = Duration::from_millis(left).min(LONGEST);
    let (key, mut entry) = record.entry()?;
    if entry.is_running() {
        entry.status = Status::Unknown;
    }
    entry.until = Some(now + left);
    Ok(Some((key, entry)))
}

/// What a gateway that shares the store has written, which may still be at it. The store itself forgets it in time.
pub(super) fn shared(value: &[u8]) -> Result<(CallKey, Entry), serde_json::Error> {
    serde_json::from_slice::<Record>(value)?.entry()
}

fn asked_of(asked: &Asked) -> Outcome {
    Outcome::Asked(asked.answer.as_ref().map(|answer| KeptText::of(answer)), asked.state)
}

impl Record {
    fn entry(self) -> Result<(CallKey, Entry), serde_json::Error> {
        let status = match self.status {
            Outcome::Running => Status::Running(watch::channel(Progress::Running).1),
            Outcome::Unknown => Status::Unknown,
            Outcome::TooLarge => Status::TooLarge,
            Outcome::Asked(text, state) => {
                Status::Asked(Asked { answer: text.and_then(KeptText::answer).map(Into::into), state })
            }
            // What cannot be read is not run again.
            Outcome::Ended(text) => text.answer().map_or(Status::Unknown, |answer| Status::Ended(answer.into())),
        };
        let principal = match self.principal {
            Some(bytes) => Some(HeaderValue::from_bytes(&bytes).map_err(serde::de::Error::custom)?),
            None => None,
        };
        let Self { server, upstream, tool, key, digest, .. } = self;
        let key = CallKey { principal, server, upstream, tool, key };
        Ok((key, Entry { digest, status, asked: None, until: None, token: Token::default(), step: 0 }))
    }
}

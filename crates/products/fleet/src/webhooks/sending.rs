//! Sends the messages that are due. A webhook that fails waits, and does not hold up the others.

use std::collections::HashMap;
use std::time::Duration;

use fleet_store::{Delivery, Millis, StoreError};
use net::client::HttpAddress;
use net::server::http::{Bytes, HeaderMap, HeaderName, HeaderValue, Method};
use net::upstream::{Failure, HttpUpstream};
use tokio::time::{Instant, sleep, timeout};
use wire::redact::{Redactor, Secrets};

use super::Key;
use crate::config::{Fleet, Text, Webhook, address};
use crate::keeping::{Keeping, MOST, seconds};

/// How long a connection and a whole answer may take.
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(10);
/// The first pause, longer than an answer may take, and the longest.
const PAUSE: (Millis, Millis) = (15_000, 6 * 3_600_000);
/// How often a message is sent before it is given up, after about two days.
const ATTEMPTS: u32 = 14;

/// What came of sending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Messages that arrived.
    pub sent: u64,
    /// Messages that are due later, or whose webhook cannot be used.
    pub waiting: usize,
    /// Messages that were given up now.
    pub given_up: u64,
    /// Why, for each webhook that failed.
    pub why: Vec<(String, String)>,
}

/// A webhook that can be used.
struct Ready {
    upstream: HttpUpstream,
    key: Key,
    redactor: Redactor,
}

/// Sends what is due, and for up to `wait` also what comes due meanwhile.
pub async fn send(keeping: &Keeping, fleet: &Fleet, wait: Duration, clock: fn() -> Millis) -> Result<Sent, StoreError> {
    let end = Instant::now() + wait;
    let mut sent = Sent::default();
    let mut why: HashMap<String, String> = HashMap::new();
    let mut ready: HashMap<String, Ready> = HashMap::new();
    for hook in &fleet.webhooks {
        match prepared(hook) {
            Ok(one) => drop(ready.insert(hook.name.clone(), one)),
            Err(error) => drop(why.insert(hook.name.clone(), error)),
        }
    }
    // When a webhook that failed is tried again.
    let mut later: HashMap<String, Millis> = HashMap::new();
    loop {
        let now = clock();
        let hooks: Vec<String> =
            ready.keys().filter(|name| later.get(*name).is_none_or(|at| *at <= now)).cloned().collect();
        if let Some(message) = keeping.store.take_delivery(&hooks, pause, now).await? {
            let Some(hook) = ready.get(&message.is.hook) else { continue };
            one(keeping, hook, &message, clock, &mut sent, &mut why, &mut later).await?;
            continue;
        }
        let next = next_due(keeping, &ready, &later, now).await?;
        let pause = next.map(|at| Duration::from_millis(u64::try_from(at - now).unwrap_or(0).max(10)));
        match pause {
            Some(pause) if Instant::now() + pause <= end => sleep(pause).await,
            _ => break,
        }
    }
    let left = keeping.store.undelivered_messages(MOST).await?;
    sent.waiting = left.iter().filter(|one| one.due.is_some()).count();
    // A webhook without a message has no trouble to report.
    why.retain(|name, _| left.iter().any(|one| one.is.hook == *name));
    let gone =
        left.iter().filter(|one| one.due.is_some() && fleet.webhooks.iter().all(|hook| hook.name != one.is.hook));
    why.extend(gone.map(|one| (one.is.hook.clone(), "fleet.yaml does not name this webhook any more".to_owned())));
    sent.why = why.into_iter().collect();
    sent.why.sort();
    Ok(sent)
}

/// When something can be sent next.
async fn next_due(
    keeping: &Keeping,
    ready: &HashMap<String, Ready>,
    later: &HashMap<String, Millis>,
    now: Millis,
) -> Result<Option<Millis>, StoreError> {
    let left = keeping.store.undelivered_messages(MOST).await?;
    let due = left.iter().filter(|one| ready.contains_key(&one.is.hook)).filter_map(|one| {
        let again = later.get(&one.is.hook).copied().unwrap_or(now);
        one.due.map(|due| due.max(again))
    });
    Ok(due.min())
}

async fn one(
    keeping: &Keeping,
    hook: &Ready,
    message: &Delivery,
    clock: fn() -> Millis,
    sent: &mut Sent,
    why: &mut HashMap<String, String>,
    later: &mut HashMap<String, Millis>,
) -> Result<(), StoreError> {
    match timeout(ANSWER, post(hook, message, seconds(clock())))
        .await
        .unwrap_or_else(|_| Err(Refused::later("no answer in 10 s")))
    {
        Ok(()) => {
            keeping.store.delivered(message.id, clock()).await?;
            later.remove(&message.is.hook);
            why.remove(&message.is.hook);
            sent.sent += 1;
        }
        Err(refused) => {
            let error = wire::escape::snippet(&hook.redactor.redact_known(&refused.why), 300);
            let is_last = refused.for_good || message.attempt >= ATTEMPTS;
            keeping.store.undelivered(message.id, &error, is_last).await?;
            sent.given_up += u64::from(is_last);
            later.insert(message.is.hook.clone(), clock() + pause(message.attempt));
            why.insert(message.is.hook.clone(), error);
        }
    }
    Ok(())
}

/// Why a message did not arrive.
struct Refused {
    why: String,
    /// It need not be sent again.
    for_good: bool,
}

impl Refused {
    fn later(why: impl Into<String>) -> Self {
        Self { why: why.into(), for_good: false }
    }
}

async fn post(hook: &Ready, message: &Delivery, at: i64) -> Result<(), Refused> {
    let id = format!("msg_{}", message.is.event.replace(':', "_"));
    let signature = hook.key.sign(&id, at, &message.is.body);
    let mut headers = HeaderMap::new();
    let texts = [
        ("content-type", "application/json"),
        ("webhook-id", &id),
        ("webhook-timestamp", &at.to_string()),
        ("webhook-signature", &signature),
    ];
    for (name, text) in texts {
        let value = HeaderValue::from_str(text).map_err(|_| Refused::later("a header has letters that HTTP lacks"))?;
        headers.insert(HeaderName::from_static(name), value);
    }
    let body = Bytes::from(message.is.body.clone());
    let response = hook.upstream.send(Method::POST, headers, body).await.map_err(|failure| match failure {
        Failure::NotSent(why) | Failure::Unknown(why) => Refused::later(why),
        Failure::Forbidden(refusal) => Refused::later(refusal.to_string()),
    })?;
    match response.status.as_u16() {
        200..=299 => Ok(()),
        410 => Err(Refused { why: "it answers 410: nothing is wanted there any more".to_owned(), for_good: true }),
        status => Err(Refused::later(format!("it answers {status}"))),
    }
}

fn prepared(hook: &Webhook) -> Result<Ready, String> {
    let mut known = Secrets::default();
    let variable = |name: &str| std::env::var(name).map_err(|_| format!("the variable {name} is not set"));
    let url = match &hook.url {
        Text::Plain(url) => url.clone(),
        Text::Variable { env } => {
            let url = variable(env)?;
            known.add(&url);
            url
        }
    };
    let url = address(&url).map_err(|(what, remedy)| format!("{what} – {remedy}"))?;
    if matches!(hook.url, Text::Variable { .. }) {
        known.add(url.as_str());
        if url.path().len() > 8 {
            known.add(url.path());
        }
    }
    let secret = variable(&hook.secret)?;
    known.add(&secret);
    let form = "whsec_ and base64 of 24 to 64 bytes: echo whsec_$(openssl rand -base64 32)";
    let key = Key::read(&secret).ok_or_else(|| format!("the variable {} holds no secret – {form}", hook.secret))?;
    let address = HttpAddress { egress: Some(hook.egress(&url)), ..HttpAddress::new(url) };
    let redactor = Redactor::masking().knowing(&known);
    let upstream =
        HttpUpstream::new(&address, CONNECT).map_err(|error| redactor.redact_known(&error.what()).into_owned())?;
    Ok(Ready { upstream, key, redactor })
}

/// Four times as long after each attempt.
fn pause(attempt: u32) -> Millis {
    let factor = 4_i64.saturating_pow(attempt.saturating_sub(1));
    PAUSE.0.saturating_mul(factor).min(PAUSE.1)
}

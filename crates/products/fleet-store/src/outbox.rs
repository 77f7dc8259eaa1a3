//! What happened and should be passed on, and the messages that pass it on: kept with what happened, so that no kill loses one. Must
//! not know where a message goes.

use serde_json::Value;

use crate::bounds::{self, NAME, SENTENCE, TEXT_BYTES};
use crate::rows::{self, Row};
use crate::sql::{Failure, Sql};
use crate::{Id, Millis, Store, StoreError};

/// A server came to another stage.
pub(crate) const STAGE: &str = "stage";
/// A gate turned red.
const GATE: &str = "gate";

/// How many are passed on in one transaction.
const AT_ONCE: u32 = 500;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Happened {
    /// Its number, until it is passed on.
    pub id: Id,
    /// The name of the server.
    pub server: String,
    /// When.
    pub at: Millis,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A server came to another stage.
    Stage {
        /// The number of the change.
        event: Id,
        /// The stage before.
        from: i64,
        /// The stage after.
        to: i64,
    },
    /// A gate turned red.
    Gate {
        /// The number of the result.
        result: Id,
        /// The gate.
        gate: String,
        /// Its figures.
        summary: Value,
    },
}

/// A message to a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// The name of the webhook.
    pub hook: String,
    /// What it is about. A webhook gets one message for each event.
    pub event: String,
    /// The message.
    pub body: String,
}

/// A message in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its number.
    pub id: Id,
    /// What it is.
    pub is: NewDelivery,
    /// When it was made.
    pub created: Millis,
    /// When it is sent, or sent again; none if it ended.
    pub due: Option<Millis>,
    /// How often it was sent.
    pub attempt: u32,
    /// Why it did not arrive last.
    pub error: Option<String>,
}

const DELIVERY: &str = "id, hook, event, body, created, due, attempt, error";

impl Store {
    /// What happened and was not passed on, the oldest first; at most 500.
    pub async fn happened(&self) -> Result<Vec<Happened>, StoreError> {
        let text = format!(
            "SELECT outbox.id, server.name, outbox.at, outbox.kind, outbox.subject, stage_event.from_stage, \
             stage_event.to_stage, gate_result.gate, gate_result.summary FROM outbox \
             JOIN server ON server.id = outbox.server \
             LEFT JOIN stage_event ON outbox.kind = '{STAGE}' AND stage_event.id = outbox.subject \
             LEFT JOIN gate_result ON outbox.kind = '{GATE}' AND gate_result.id = outbox.subject \
             ORDER BY outbox.id LIMIT {AT_ONCE}"
        );
        self.read(move |sql| rows::all(sql.query(&text, &[])?, happened)).await
    }

    /// Queues messages and forgets what they pass on, in one transaction. A message that is there stays as it is.
    pub async fn pass_on(&self, passed: &[Id], deliveries: &[NewDelivery], now: Millis) -> Result<(), StoreError> {
        const QUEUE: &str = "INSERT INTO delivery (hook, event, body, created, due) VALUES ($1, $2, $3, $4, $5) \
            ON CONFLICT (hook, event) DO NOTHING";
        for one in deliveries {
            bounds::name("the name of a webhook", &one.hook, NAME)?;
            bounds::name("the event of a message", &one.event, NAME)?;
            bounds::name("the body of a message", &one.body, TEXT_BYTES)?;
        }
        let (passed, deliveries) = (passed.to_vec(), deliveries.to_vec());
        self.write(move |sql| {
            for one in &deliveries {
                let values = [(&one.hook).into(), (&one.event).into(), (&one.body).into(), now.into(), now.into()];
                sql.execute(QUEUE, &values)?;
            }
            crate::reached("messages-queued");
            passed
                .iter()
                .try_for_each(|id| sql.execute("DELETE FROM outbox WHERE id = $1", &[(*id).into()]).map(|_| ()))
        })
        .await
    }

    /// Takes the next message of these webhooks that is due. It is due again after `pause` of its attempt, unless it is ended
    /// before: who takes it may be killed.
    pub async fn take_delivery(
        &self,
        hooks: &[String],
        pause: fn(u32) -> Millis,
        now: Millis,
    ) -> Result<Option<Delivery>, StoreError> {
        let hooks = hooks.to_vec();
        self.write(move |sql| take(sql, &hooks, pause, now)).await
    }

    /// The message arrived.
    pub async fn delivered(&self, id: Id, now: Millis) -> Result<(), StoreError> {
        const SENT: &str = "UPDATE delivery SET sent = $1, due = NULL, error = NULL WHERE id = $2";
        self.write(move |sql| sql.execute(SENT, &[now.into(), id.into()]).map(|_| ())).await
    }

    /// The message did not arrive. It stays due, unless this was the last attempt.
    pub async fn undelivered(&self, id: Id, error: &str, is_last: bool) -> Result<(), StoreError> {
        bounds::text("the error of a message", error, SENTENCE)?;
        let due = if is_last { ", due = NULL" } else { "" };
        let text = format!("UPDATE delivery SET error = $1{due} WHERE id = $2 AND sent IS NULL");
        let values = [error.into(), id.into()];
        self.write(move |sql| sql.execute(&text, &values).map(|_| ())).await
    }

    /// The messages that did not arrive: those that are due first, then those that were given up.
    pub async fn undelivered_messages(&self, most: u32) -> Result<Vec<Delivery>, StoreError> {
        let most = most.min(crate::LISTED);
        let text =
            format!("SELECT {DELIVERY} FROM delivery WHERE sent IS NULL ORDER BY due IS NULL, due, id LIMIT {most}");
        self.read(move |sql| rows::all(sql.query(&text, &[])?, delivery)).await
    }

    /// Deletes messages that ended before this time. How many.
    pub async fn collect_deliveries(&self, before: Millis) -> Result<u64, StoreError> {
        const OLD: &str = "DELETE FROM delivery WHERE due IS NULL AND created < $1";
        self.write(move |sql| sql.execute(OLD, &[before.into()])).await
    }
}

/// Writes down that something happened, in the transaction in which it happens.
pub(crate) fn put(sql: &mut dyn Sql, kind: &str, server: Id, subject: Id, now: Millis) -> Result<(), Failure> {
    const PUT: &str = "INSERT INTO outbox (kind, server, subject, at) VALUES ($1, $2, $3, $4)";
    sql.execute(PUT, &[kind.into(), server.into(), subject.into(), now.into()]).map(|_| ())
}

/// Writes down that a gate turned red, unless the result before was red, too.
pub(crate) fn put_red(sql: &mut dyn Sql, server: Id, gate: &str, result: Id, now: Millis) -> Result<(), Failure> {
    const BEFORE: &str =
        "SELECT outcome FROM gate_result WHERE server = $1 AND gate = $2 AND id < $3 ORDER BY id DESC LIMIT 1";
    let before = sql.query(BEFORE, &[server.into(), gate.into(), result.into()])?;
    if before.first().map_or(Ok(false), |row| row.text(0).map(|outcome| outcome == "fail"))? {
        return Ok(());
    }
    put(sql, GATE, server, result, now)
}

fn take(
    sql: &mut dyn Sql,
    hooks: &[String],
    pause: fn(u32) -> Millis,
    now: Millis,
) -> Result<Option<Delivery>, Failure> {
    let places: Vec<String> = (2..hooks.len() + 2).map(|at| format!("${at}")).collect();
    if places.is_empty() {
        return Ok(None);
    }
    let (of, skip) = (places.join(", "), sql.dialect().skip_locked());
    let text =
        format!("SELECT {DELIVERY} FROM delivery WHERE due <= $1 AND hook IN ({of}) ORDER BY due, id LIMIT 1{skip}");
    let values: Vec<_> = std::iter::once(now.into()).chain(hooks.iter().map(Into::into)).collect();
    let Some(mut found) = rows::one(sql.query(&text, &values)?, delivery)? else { return Ok(None) };
    found.attempt += 1;
    found.due = Some(now.saturating_add(pause(found.attempt)));
    let values = [i64::from(found.attempt).into(), rows::optional(found.due), found.id.into()];
    sql.execute("UPDATE delivery SET attempt = $1, due = $2 WHERE id = $3", &values)?;
    Ok(Some(found))
}

fn happened(row: &Row) -> Result<Happened, Failure> {
    let subject = row.integer(4)?;
    let what = if row.text(3)? == STAGE {
        What::Stage { event: subject, from: row.integer(5)?, to: row.integer(6)? }
    } else {
        What::Gate { result: subject, gate: row.text(7)?, summary: row.json(8)? }
    };
    Ok(Happened { id: row.integer(0)?, server: row.text(1)?, at: row.integer(2)?, what })
}

fn delivery(row: &Row) -> Result<Delivery, Failure> {
    Ok(Delivery {
        id: row.integer(0)?,
        is: NewDelivery { hook: row.text(1)?, event: row.text(2)?, body: row.text(3)? },
        created: row.integer(4)?,
        due: row.optional_integer(5)?,
        attempt: u32::try_from(row.integer(6)?).map_err(|_| Failure::garbled(6))?,
        error: row.optional_text(7)?,
    })
}

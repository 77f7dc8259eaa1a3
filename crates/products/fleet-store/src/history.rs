//! Runs, stages, waivers, notes and settings: what happened to the fleet, and what people said about it.

use serde::{Deserialize, Serialize};

use crate::bounds::{self, KEY, NAME, SENTENCE, TEXT_BYTES};
use crate::inventory::must_exist;
use crate::outbox;
use crate::rows::{self, Row, optional};
use crate::sql::{Failure, Sql, Value};
use crate::{Id, LISTED, Millis, Store, StoreError};

/// A run that begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewRun {
    /// What started it: a person, a timer, a webhook.
    pub trigger: String,
    /// Who.
    pub actor: String,
    /// The digest of the inventory.
    pub fleet_digest: String,
    /// The version of the program.
    pub proof_version: String,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its number.
    pub id: Id,
    /// What it is.
    pub is: NewRun,
    /// When it began.
    pub started: Millis,
    /// When it ended, unless it goes on or was interrupted.
    pub ended: Option<Millis>,
}

/// A server's change from one stage to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageEvent {
    /// The server.
    pub server: Id,
    /// When.
    pub at: Millis,
    /// The stage before.
    pub from: i64,
    /// The stage after.
    pub to: i64,
    /// The result that caused it.
    pub cause: Option<Id>,
}

/// An exception that somebody grants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewWaiver {
    /// The name of the server.
    pub server: String,
    /// What is waived: a gate, a rule, a fingerprint.
    pub scope: String,
    /// Who answers for it.
    pub owner: String,
    /// Why.
    pub reason: String,
    /// From when on it does not count any more.
    pub expires: Millis,
    /// Who wrote it down.
    pub created_by: String,
}

/// An exception in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// Its number.
    pub id: Id,
    /// What it is.
    pub is: NewWaiver,
    /// When it was written down.
    pub created: Millis,
    /// When it was taken back.
    pub ended: Option<Millis>,
}

/// What a person noted about a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The server.
    pub server: Id,
    /// When.
    pub at: Millis,
    /// Who.
    pub author: String,
    /// What.
    pub text: String,
}

const WAIVER: &str = "SELECT id, server, scope, owner, reason, expires, created_by, created, ended FROM waiver";
const EVENT: &str = "SELECT server, at, from_stage, to_stage, cause FROM stage_event";

impl Store {
    /// Begins a run.
    pub async fn begin_run(&self, run: &NewRun, now: Millis) -> Result<Id, StoreError> {
        const BEGIN: &str = "INSERT INTO run (cause, actor, fleet_digest, proof_version, started) \
            VALUES ($1, $2, $3, $4, $5) RETURNING id";
        bounds::text("the trigger of a run", &run.trigger, NAME)?;
        bounds::text("the actor of a run", &run.actor, NAME)?;
        bounds::text("the digest of a fleet", &run.fleet_digest, KEY)?;
        bounds::text("the version of the program", &run.proof_version, NAME)?;
        let values = [
            (&run.trigger).into(),
            (&run.actor).into(),
            (&run.fleet_digest).into(),
            (&run.proof_version).into(),
            now.into(),
        ];
        self.write(move |sql| rows::id(&sql.query(BEGIN, &values)?)).await
    }

    /// Ends a run. One that ended stays as it is.
    pub async fn end_run(&self, run: Id, now: Millis) -> Result<(), StoreError> {
        const END: &str = "UPDATE run SET ended = $1 WHERE id = $2 AND ended IS NULL";
        self.write(move |sql| {
            must_exist(sql, "SELECT id FROM run WHERE id = $1", run, "run")?;
            sql.execute(END, &[now.into(), run.into()]).map(|_| ())
        })
        .await
    }

    /// The runs, the newest first.
    pub async fn runs(&self, most: u32) -> Result<Vec<Run>, StoreError> {
        let text = format!(
            "SELECT id, cause, actor, fleet_digest, proof_version, started, ended FROM run ORDER BY id DESC LIMIT {}",
            most.min(LISTED)
        );
        self.read(move |sql| rows::all(sql.query(&text, &[])?, run)).await
    }

    /// Notes the stage of a server, unless it is at that stage already.
    pub async fn record_stage(
        &self,
        server: Id,
        to: i64,
        cause: Option<Id>,
        now: Millis,
    ) -> Result<Option<StageEvent>, StoreError> {
        self.write(move |sql| record_stage(sql, StageEvent { server, at: now, from: 0, to, cause })).await
    }

    /// The stage of each server.
    pub async fn stages(&self) -> Result<Vec<(Id, i64)>, StoreError> {
        let text = format!("SELECT id, stage FROM server WHERE retired IS NULL ORDER BY id LIMIT {LISTED}");
        self.read(move |sql| rows::all(sql.query(&text, &[])?, |row| Ok((row.integer(0)?, row.integer(1)?)))).await
    }

    /// The changes of stages, of one server or all, the newest first.
    pub async fn stage_events(&self, server: Option<Id>, most: u32) -> Result<Vec<StageEvent>, StoreError> {
        let condition = server.map_or("", |_| "WHERE server = $1");
        let values: Vec<Value> = server.map(Value::from).into_iter().collect();
        let text = format!("{EVENT} {condition} ORDER BY id DESC LIMIT {}", most.min(LISTED));
        self.read(move |sql| rows::all(sql.query(&text, &values)?, event)).await
    }

    /// Writes a waiver down.
    pub async fn put_waiver(&self, waiver: &NewWaiver, now: Millis) -> Result<Id, StoreError> {
        const PUT: &str = "INSERT INTO waiver (server, scope, owner, reason, expires, created_by, created) \
            VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id";
        bounds::name("the server of a waiver", &waiver.server, NAME)?;
        bounds::name("the scope of a waiver", &waiver.scope, NAME)?;
        bounds::name("the owner of a waiver", &waiver.owner, NAME)?;
        bounds::name("the reason of a waiver", &waiver.reason, SENTENCE)?;
        bounds::text("the author of a waiver", &waiver.created_by, NAME)?;
        let values = [
            (&waiver.server).into(),
            (&waiver.scope).into(),
            (&waiver.owner).into(),
            (&waiver.reason).into(),
            waiver.expires.into(),
            (&waiver.created_by).into(),
            now.into(),
        ];
        self.write(move |sql| rows::id(&sql.query(PUT, &values)?)).await
    }

    /// Takes a waiver back. Whether it was in force.
    pub async fn end_waiver(&self, waiver: Id, now: Millis) -> Result<bool, StoreError> {
        const END: &str = "UPDATE waiver SET ended = $1 WHERE id = $2 AND ended IS NULL";
        self.write(move |sql| Ok(sql.execute(END, &[now.into(), waiver.into()])? > 0)).await
    }

    /// The waivers of a server or of all, the ended and expired ones among them.
    pub async fn waivers(&self, server: Option<&str>) -> Result<Vec<Waiver>, StoreError> {
        let condition = server.map_or("", |_| "WHERE server = $1");
        let values: Vec<Value> = server.map(Value::from).into_iter().collect();
        let text = format!("{WAIVER} {condition} ORDER BY id LIMIT {LISTED}");
        self.read(move |sql| rows::all(sql.query(&text, &values)?, waiver)).await
    }

    /// Adds a note to a server.
    pub async fn add_note(&self, server: Id, author: &str, text: &str, now: Millis) -> Result<(), StoreError> {
        const ADD: &str = "INSERT INTO note (server, at, author, text) VALUES ($1, $2, $3, $4)";
        bounds::text("the author of a note", author, NAME)?;
        bounds::name("the note", text, TEXT_BYTES)?;
        let values = [server.into(), now.into(), author.into(), text.into()];
        self.write(move |sql| {
            must_exist(sql, "SELECT id FROM server WHERE id = $1", server, "server")?;
            sql.execute(ADD, &values).map(|_| ())
        })
        .await
    }

    /// The notes of a server, the newest first.
    pub async fn notes(&self, server: Id) -> Result<Vec<Note>, StoreError> {
        let text =
            format!("SELECT server, at, author, text FROM note WHERE server = $1 ORDER BY id DESC LIMIT {LISTED}");
        self.read(move |sql| rows::all(sql.query(&text, &[server.into()])?, note)).await
    }

    /// The value of a setting.
    pub async fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        let values = [name.into()];
        self.read(move |sql| {
            rows::one(sql.query("SELECT value FROM setting WHERE name = $1", &values)?, |row| row.text(0))
        })
        .await
    }

    /// Sets a setting.
    pub async fn set_setting(&self, name: &str, value: &str) -> Result<(), StoreError> {
        const SET: &str = "INSERT INTO setting (name, value) VALUES ($1, $2) \
            ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        bounds::name("the name of a setting", name, NAME)?;
        bounds::text("the value of a setting", value, TEXT_BYTES)?;
        let values = [name.into(), value.into()];
        self.write(move |sql| sql.execute(SET, &values).map(|_| ())).await
    }
}

fn record_stage(sql: &mut dyn Sql, event: StageEvent) -> Result<Option<StageEvent>, Failure> {
    const MOVE: &str = "UPDATE server SET stage = $1 WHERE id = $2";
    const APPEND: &str =
        "INSERT INTO stage_event (server, at, from_stage, to_stage, cause) VALUES ($1, $2, $3, $4, $5) RETURNING id";
    let text = format!("SELECT stage FROM server WHERE id = $1{}", sql.dialect().for_update());
    let server = event.server;
    let found = sql.query(&text, &[server.into()])?;
    let found = found.first().ok_or_else(|| StoreError::missing(format!("server {server}")))?.integer(0)?;
    if found == event.to {
        return Ok(None);
    }
    if let Some(cause) = event.cause {
        must_exist(sql, "SELECT id FROM gate_result WHERE id = $1", cause, "result")?;
    }
    sql.execute(MOVE, &[event.to.into(), server.into()])?;
    let values = [server.into(), event.at.into(), found.into(), event.to.into(), optional(event.cause)];
    let appended = rows::id(&sql.query(APPEND, &values)?)?;
    outbox::put(sql, outbox::STAGE, server, appended, event.at)?;
    Ok(Some(StageEvent { from: found, ..event }))
}

fn run(row: &Row) -> Result<Run, Failure> {
    Ok(Run {
        id: row.integer(0)?,
        is: NewRun {
            trigger: row.text(1)?,
            actor: row.text(2)?,
            fleet_digest: row.text(3)?,
            proof_version: row.text(4)?,
        },
        started: row.integer(5)?,
        ended: row.optional_integer(6)?,
    })
}

fn event(row: &Row) -> Result<StageEvent, Failure> {
    Ok(StageEvent {
        server: row.integer(0)?,
        at: row.integer(1)?,
        from: row.integer(2)?,
        to: row.integer(3)?,
        cause: row.optional_integer(4)?,
    })
}

fn waiver(row: &Row) -> Result<Waiver, Failure> {
    Ok(Waiver {
        id: row.integer(0)?,
        is: NewWaiver {
            server: row.text(1)?,
            scope: row.text(2)?,
            owner: row.text(3)?,
            reason: row.text(4)?,
            expires: row.integer(5)?,
            created_by: row.text(6)?,
        },
        created: row.integer(7)?,
        ended: row.optional_integer(8)?,
    })
}

fn note(row: &Row) -> Result<Note, Failure> {
    Ok(Note { server: row.integer(0)?, at: row.integer(1)?, author: row.text(2)?, text: row.text(3)? })
}

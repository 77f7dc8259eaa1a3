//! What gates found out. A result is written once by its key, together with its findings.

use serde::{Deserialize, Serialize};

use crate::bounds::{self, FINDINGS, KEY, NAME, PLACE, SENTENCE};
use crate::inventory::CURRENT;
use crate::outbox;
use crate::rows::{self, Row, optional};
use crate::sql::{Failure, Sql, Value};
use crate::{ContentHash, Id, LISTED, Millis, Store, StoreError};

/// How a gate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GateOutcome {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// It could not be computed to its end.
    Incomplete,
    /// It does not apply.
    Skipped,
}

impl GateOutcome {
    /// The word in the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Incomplete => "incomplete",
            Self::Skipped => "skipped",
        }
    }
}

/// A defect that a gate found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewFinding {
    /// The rule that is broken.
    pub rule: String,
    /// How much it matters.
    pub level: String,
    /// Where.
    pub place: String,
    /// What makes it the same defect in another result.
    pub fingerprint: String,
    /// What it is, in words.
    pub message: String,
}

/// What a gate found out, as a job hands it in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateReport {
    /// How it ended.
    pub outcome: GateOutcome,
    /// Its figures.
    pub summary: serde_json::Value,
    /// From 0 to 100; what a worker hands in beyond that is brought into this range.
    pub score: Option<f64>,
    /// In percent.
    pub coverage: Option<f64>,
    /// When it began.
    pub started: Millis,
    /// How long it took.
    pub ms: i64,
    /// Its whole report, stored before.
    pub report: Option<ContentHash>,
    /// The defects.
    pub findings: Vec<NewFinding>,
}

/// What a result is the result of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResultKey {
    /// The version of the server.
    pub version: Id,
    /// The gate.
    pub gate: String,
    /// The digest of everything that the result depends on; unique among the results of the version.
    pub key: String,
}

/// Whether a result was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recorded {
    /// It is new, with this number.
    New(Id),
    /// There was one of this key, with this number. Nothing was written.
    Already(Id),
}

/// A result in the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateResult {
    /// Its number.
    pub id: Id,
    /// The server.
    pub server: Id,
    /// What it is the result of.
    pub of: ResultKey,
    /// The run that asked for it.
    pub run: Option<Id>,
    /// When it was written.
    pub recorded: Millis,
    /// What was found out; without findings, which `findings` returns.
    pub is: GateReport,
    /// How many findings it has.
    pub finding_count: i64,
}

/// A finding in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The result that it belongs to.
    pub result: Id,
    /// When this fingerprint was first recorded for this server.
    pub first_seen: Millis,
    /// What it is.
    pub is: NewFinding,
}

const RESULT: &str = "SELECT gate_result.id, gate_result.server, version, gate, key, run, recorded, outcome, summary, score, \
                      coverage, started, ms, report, findings FROM gate_result";
/// The condition that no other result of its version and gate is newer.
const NEWEST: &str = "gate_result.id = (SELECT MAX(r.id) FROM gate_result r WHERE r.version = gate_result.version \
                      AND r.gate = gate_result.gate)";

impl ResultKey {
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        bounds::name("the name of a gate", &self.gate, NAME)?;
        bounds::name("the key of a result", &self.key, KEY)
    }
}

impl GateReport {
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        bounds::json("the summary of a result", &self.summary)?;
        for (name, figure) in [("score", self.score), ("coverage", self.coverage)] {
            if figure.is_some_and(|figure| !figure.is_finite()) {
                return Err(StoreError::invalid(format!("the {name} of a result is not a number"), "leave it out"));
            }
        }
        if self.findings.len() > FINDINGS {
            let what = format!("a result has {} findings", self.findings.len());
            return Err(StoreError::invalid(
                what,
                format!("use at most {FINDINGS}, and say in the summary how many there are"),
            ));
        }
        self.findings.iter().try_for_each(NewFinding::check)
    }
}

impl NewFinding {
    fn check(&self) -> Result<(), StoreError> {
        bounds::name("the rule of a finding", &self.rule, NAME)?;
        bounds::text("the level of a finding", &self.level, NAME)?;
        bounds::text("the place of a finding", &self.place, PLACE)?;
        bounds::name("the fingerprint of a finding", &self.fingerprint, PLACE)?;
        bounds::text("the message of a finding", &self.message, SENTENCE)
    }
}

impl Store {
    /// Records a result that was computed without a job.
    pub async fn record(
        &self,
        of: &ResultKey,
        run: Option<Id>,
        report: &GateReport,
        now: Millis,
    ) -> Result<Recorded, StoreError> {
        of.check()?;
        report.check()?;
        let (of, report) = (of.clone(), report.clone());
        self.write(move |sql| record(sql, &of, run, &report, now)).await
    }

    /// The result of this key.
    pub async fn result(&self, version: Id, key: &str) -> Result<Option<GateResult>, StoreError> {
        let text = format!("{RESULT} WHERE version = $1 AND key = $2");
        let values = [version.into(), key.into()];
        self.read(move |sql| rows::one(sql.query(&text, &values)?, result)).await
    }

    /// The newest result of each gate of the current version of each server.
    pub async fn latest_results(&self) -> Result<Vec<GateResult>, StoreError> {
        let text = format!(
            "{RESULT} JOIN version ON version.id = gate_result.version WHERE {CURRENT} AND {NEWEST} \
             ORDER BY gate_result.server, gate LIMIT {}",
            LISTED * 10
        );
        self.read(move |sql| rows::all(sql.query(&text, &[])?, result)).await
    }

    /// The newest result of each gate of a version.
    pub async fn results_of(&self, version: Id) -> Result<Vec<GateResult>, StoreError> {
        let text = format!("{RESULT} WHERE version = $1 AND {NEWEST} ORDER BY gate LIMIT {LISTED}");
        self.read(move |sql| rows::all(sql.query(&text, &[version.into()])?, result)).await
    }

    /// The results of a server, of all versions or one gate, the newest first.
    pub async fn history(&self, server: Id, gate: Option<&str>, most: u32) -> Result<Vec<GateResult>, StoreError> {
        let (condition, mut values) = (gate.map_or("", |_| "AND gate = $2"), vec![Value::from(server)]);
        values.extend(gate.map(Value::from));
        let most = most.min(LISTED);
        let text =
            format!("{RESULT} WHERE gate_result.server = $1 {condition} ORDER BY gate_result.id DESC LIMIT {most}");
        self.read(move |sql| rows::all(sql.query(&text, &values)?, result)).await
    }

    /// The findings of a result.
    pub async fn findings(&self, of: Id) -> Result<Vec<Finding>, StoreError> {
        const FOUND: &str = "SELECT result, first_seen, rule, level, place, fingerprint, message FROM finding \
            WHERE result = $1 ORDER BY position";
        self.read(move |sql| rows::all(sql.query(FOUND, &[of.into()])?, finding)).await
    }
}

/// Records a result within a transaction.
pub(crate) fn record(
    sql: &mut dyn Sql,
    of: &ResultKey,
    run: Option<Id>,
    report: &GateReport,
    now: Millis,
) -> Result<Recorded, Failure> {
    const RECORD: &str = "INSERT INTO gate_result (server, version, gate, key, outcome, summary, score, coverage, started, ms, \
        run, report, findings, recorded) SELECT server, id, $1, $2, $3, $4, CAST($5 AS DOUBLE PRECISION), \
        CAST($6 AS DOUBLE PRECISION), CAST($7 AS BIGINT), CAST($8 AS BIGINT), CAST($9 AS BIGINT), $10, CAST($11 AS BIGINT), \
        CAST($12 AS BIGINT) FROM version WHERE id = $13 ON CONFLICT (version, key) DO NOTHING RETURNING id, server";
    let values = [
        (&of.gate).into(),
        (&of.key).into(),
        report.outcome.word().into(),
        bounds::json("the summary of a result", &report.summary)?.into(),
        optional(report.score.map(in_range)),
        optional(report.coverage.map(in_range)),
        report.started.into(),
        report.ms.into(),
        optional(run),
        optional(report.report.as_ref().map(ToString::to_string)),
        bounds::count(report.findings.len()).into(),
        now.into(),
        of.version.into(),
    ];
    check_references(sql, run, report)?;
    let Some(written) = sql.query(RECORD, &values)?.into_iter().next() else {
        return already(sql, of);
    };
    crate::reached("result-written");
    let (id, server) = (written.integer(0)?, written.integer(1)?);
    for (at, finding) in report.findings.iter().enumerate() {
        write_finding(sql, [id, bounds::count(at), server, now], finding)?;
    }
    if report.outcome == GateOutcome::Fail {
        outbox::put_red(sql, server, &of.gate, id, now)?;
    }
    Ok(Recorded::New(id))
}

const fn in_range(percent: f64) -> f64 {
    percent.clamp(0.0, 100.0)
}

/// Nothing was inserted: there is one of this key, or there is no such version.
fn already(sql: &mut dyn Sql, of: &ResultKey) -> Result<Recorded, Failure> {
    const SAME: &str = "SELECT id FROM gate_result WHERE version = $1 AND key = $2";
    match sql.query(SAME, &[of.version.into(), (&of.key).into()])?.first() {
        Some(row) => Ok(Recorded::Already(row.integer(0)?)),
        None => Err(StoreError::missing(format!("version {}", of.version)).into()),
    }
}

fn check_references(sql: &mut dyn Sql, run: Option<Id>, report: &GateReport) -> Result<(), Failure> {
    if let Some(run) = run {
        crate::inventory::must_exist(sql, "SELECT id FROM run WHERE id = $1", run, "run")?;
    }
    let Some(hash) = &report.report else { return Ok(()) };
    if sql.query("SELECT 1 FROM artefact WHERE sha256 = $1", &[hash.to_string().into()])?.is_empty() {
        return Err(StoreError::missing(format!("artefact {hash}")).into());
    }
    Ok(())
}

fn write_finding(
    sql: &mut dyn Sql,
    [result, position, server, now]: [i64; 4],
    finding: &NewFinding,
) -> Result<(), Failure> {
    const FIRST: &str = "SELECT MIN(first_seen) FROM finding WHERE server = $1 AND fingerprint = $2";
    const WRITE: &str = "INSERT INTO finding (result, position, server, rule, level, place, fingerprint, message, first_seen) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let first = sql.query(FIRST, &[server.into(), (&finding.fingerprint).into()])?;
    let first = first.first().map_or(Ok(None), |row| row.optional_integer(0))?.unwrap_or(now);
    let values = [
        result.into(),
        position.into(),
        server.into(),
        (&finding.rule).into(),
        (&finding.level).into(),
        (&finding.place).into(),
        (&finding.fingerprint).into(),
        (&finding.message).into(),
        first.min(now).into(),
    ];
    sql.execute(WRITE, &values).map(|_| ())
}

fn result(row: &Row) -> Result<GateResult, Failure> {
    let report = row.optional_text(13)?.map(|hash| hash.parse()).transpose()?;
    Ok(GateResult {
        id: row.integer(0)?,
        server: row.integer(1)?,
        of: ResultKey { version: row.integer(2)?, gate: row.text(3)?, key: row.text(4)? },
        run: row.optional_integer(5)?,
        recorded: row.integer(6)?,
        is: GateReport {
            outcome: row.word(7)?,
            summary: row.json(8)?,
            score: row.optional_real(9)?,
            coverage: row.optional_real(10)?,
            started: row.integer(11)?,
            ms: row.integer(12)?,
            report,
            findings: Vec::new(),
        },
        finding_count: row.integer(14)?,
    })
}

fn finding(row: &Row) -> Result<Finding, Failure> {
    Ok(Finding {
        result: row.integer(0)?,
        first_seen: row.integer(1)?,
        is: NewFinding {
            rule: row.text(2)?,
            level: row.text(3)?,
            place: row.text(4)?,
            fingerprint: row.text(5)?,
            message: row.text(6)?,
        },
    })
}

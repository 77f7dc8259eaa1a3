//! A store in a folder of its own, with servers.
#![allow(dead_code, clippy::allow_attributes, reason = "no test file uses all of it")]

use fleet_store::{GateOutcome, GateReport, Id, Location, NewJob, NewServer, NewVersion, Options, ResultKey, Store};
use serde_json::json;
use tempfile::TempDir;

pub(crate) struct Fleet {
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
}

impl Fleet {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(&folder).await;
        Self { folder, store }
    }

    pub(crate) async fn server(&self, name: &str) -> Id {
        let server = NewServer { name: name.to_owned(), ..NewServer::default() };
        self.store.put_server(&server, 1).await.expect("a server")
    }

    /// A server and a version of it.
    pub(crate) async fn version(&self, name: &str) -> (Id, Id) {
        let server = self.server(name).await;
        let version = NewVersion { digest: "d".to_owned(), ..NewVersion::default() };
        (server, self.store.put_version(server, &version, 1).await.expect("a version"))
    }
}

/// Another connection to the same store.
pub(crate) async fn open(folder: &TempDir) -> Store {
    let location = Location::Sqlite(folder.path().join("fleet.db"));
    Store::open(Options::new(location, folder.path().join("artefacts"))).await.expect("a store")
}

pub(crate) fn report(outcome: GateOutcome) -> GateReport {
    GateReport {
        outcome,
        summary: json!({ "cases": 3 }),
        score: Some(87.5),
        coverage: None,
        started: 1,
        ms: 2,
        report: None,
        findings: Vec::new(),
    }
}

pub(crate) fn job(version: Id, key: &str) -> NewJob {
    NewJob {
        kind: "gate".to_owned(),
        result: ResultKey { version, gate: "scan".to_owned(), key: key.to_owned() },
        run: None,
        payload: json!({ "key": key }),
        priority: 0,
        run_at: 0,
        max_attempts: 3,
    }
}

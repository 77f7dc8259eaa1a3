//! The store on SQLite: inventory, results, stages, waivers, artefacts. Times are made up.

mod shared;

use std::time::Duration;

use fleet_store::{
    ContentHash, GateOutcome, Location, NewFinding, NewRun, NewServer, NewVersion, NewWaiver, Options, Recorded,
    ResultKey, Store, StoreError,
};
use shared::{Fleet, report};

const DAY: Duration = Duration::from_hours(24);
const DAY_MS: i64 = 86_400_000;

#[tokio::test]
async fn servers_are_updated_by_name_and_come_back_with_their_history() {
    let fleet = Fleet::new().await;
    let store = &fleet.store;
    let mut new =
        NewServer { name: "a".to_owned(), tags: vec!["x".to_owned(), "y,z".to_owned()], ..NewServer::default() };
    let id = store.put_server(&new, 5).await.expect("a server");
    new.lines = Some(12);
    assert_eq!(store.put_server(&new, 6).await, Ok(id));
    let server = store.server("a").await.expect("an answer").expect("the server");
    assert_eq!((server.created, server.lines, server.tags), (5, Some(12), new.tags.clone()));
    assert_eq!(store.retire_server("a", 7).await, Ok(true));
    assert_eq!(store.retire_server("a", 8).await, Ok(false));
    assert!(store.servers().await.expect("a list").is_empty());
    assert_eq!(store.put_server(&new, 9).await, Ok(id));
    assert_eq!(store.servers().await.expect("a list").len(), 1);
    store.hold("a", Some("wait")).await.expect("held");
    assert_eq!(store.server("a").await.expect("an answer").expect("it").hold.as_deref(), Some("wait"));
    assert!(matches!(store.hold("b", None).await, Err(StoreError::Missing { .. })));
    assert!(matches!(store.put_server(&NewServer::default(), 1).await, Err(StoreError::Invalid { .. })));
    let version = NewVersion { digest: "1".to_owned(), ..NewVersion::default() };
    assert!(matches!(store.put_version(99, &version, 1).await, Err(StoreError::Missing { .. })));
}

#[tokio::test]
async fn the_version_that_was_seen_last_is_the_current_one() {
    let fleet = Fleet::new().await;
    let (store, server) = (&fleet.store, fleet.server("a").await);
    let version = |digest: &str| NewVersion { digest: digest.to_owned(), ..NewVersion::default() };
    let first = store.put_version(server, &version("1"), 10).await.expect("a version");
    let second = store.put_version(server, &version("2"), 20).await.expect("a version");
    let current = || async { store.current_versions().await.expect("versions")[0].id };
    assert_eq!(current().await, second);
    assert_eq!(store.put_version(server, &version("1"), 30).await, Ok(first));
    assert_eq!(current().await, first);
    let versions = store.versions(server).await.expect("versions");
    assert_eq!(versions.iter().map(|it| (it.first_seen, it.seen)).collect::<Vec<_>>(), [(10, 30), (20, 20)]);
}

#[tokio::test]
async fn a_result_is_written_once_by_its_key_and_a_finding_keeps_its_first_date() {
    let fleet = Fleet::new().await;
    let (store, (server, version)) = (&fleet.store, fleet.version("a").await);
    let of = |key: &str| ResultKey { version, gate: "scan".to_owned(), key: key.to_owned() };
    let mut found = report(GateOutcome::Fail);
    let finding =
        |name: &str| NewFinding { rule: "r".to_owned(), fingerprint: name.to_owned(), ..NewFinding::default() };
    found.findings = vec![finding("old")];
    let Ok(Recorded::New(first)) = store.record(&of("k1"), None, &found, 100).await else { panic!("not recorded") };
    let other = report(GateOutcome::Pass);
    assert_eq!(store.record(&of("k1"), None, &other, 150).await, Ok(Recorded::Already(first)));
    assert_eq!(store.result(version, "k1").await.expect("an answer").expect("it").is.outcome, GateOutcome::Fail);
    found.findings.push(finding("new"));
    let Ok(Recorded::New(second)) = store.record(&of("k2"), None, &found, 200).await else { panic!("not recorded") };
    let dates: Vec<_> = store.findings(second).await.expect("findings").iter().map(|it| it.first_seen).collect();
    assert_eq!(dates, [100, 200]);
    let latest = store.latest_results().await.expect("results");
    assert_eq!(latest.iter().map(|it| (it.id, it.finding_count)).collect::<Vec<_>>(), [(second, 2)]);
    assert_eq!(store.results_of(version).await.expect("results"), latest);
    assert_eq!(store.history(server, Some("scan"), 10).await.expect("results").len(), 2);
    assert!(store.history(server, Some("check"), 10).await.expect("results").is_empty());
    // The same key is another result for another server.
    let (_, version) = fleet.version("b").await;
    let of = ResultKey { version, ..of("k1") };
    assert!(matches!(store.record(&of, None, &other, 1).await, Ok(Recorded::New(_))));
    let nowhere = ResultKey { version: 99, ..of };
    assert!(matches!(store.record(&nowhere, None, &other, 1).await, Err(StoreError::Missing { .. })));
}

#[tokio::test]
async fn what_is_too_large_is_refused_whole() {
    let fleet = Fleet::new().await;
    let (store, (_, version)) = (&fleet.store, fleet.version("a").await);
    let of = ResultKey { version, gate: "scan".to_owned(), key: "k".to_owned() };
    let mut large = report(GateOutcome::Fail);
    let finding = NewFinding { rule: "r".to_owned(), fingerprint: "f".to_owned(), ..NewFinding::default() };
    large.findings = vec![finding; fleet_store::FINDINGS + 1];
    assert!(matches!(store.record(&of, None, &large, 1).await, Err(StoreError::Invalid { .. })));
    let mut large = report(GateOutcome::Fail);
    large.score = Some(f64::NAN);
    assert!(matches!(store.record(&of, None, &large, 1).await, Err(StoreError::Invalid { .. })));
    let bytes = vec![0; fleet_store::ARTEFACT_BYTES + 1];
    assert!(matches!(store.put_artefact("trace", bytes, 1).await, Err(StoreError::Invalid { .. })));
    assert_eq!(store.result(version, "k").await, Ok(None));
}

#[tokio::test]
async fn stages_change_once_and_history_is_appended() {
    let fleet = Fleet::new().await;
    let (store, server) = (&fleet.store, fleet.server("a").await);
    let event = store.record_stage(server, 3, None, 10).await.expect("an answer").expect("a change");
    assert_eq!((event.from, event.to), (0, 3));
    assert_eq!(store.record_stage(server, 3, None, 11).await, Ok(None));
    store.record_stage(server, 1, None, 12).await.expect("an answer").expect("a change");
    assert_eq!(store.stages().await, Ok(vec![(server, 1)]));
    let events = store.stage_events(Some(server), 10).await.expect("events");
    assert_eq!(events.iter().map(|it| (it.at, it.from, it.to)).collect::<Vec<_>>(), [(12, 3, 1), (10, 0, 3)]);
}

#[tokio::test]
async fn waivers_notes_runs_and_settings_are_kept() {
    let fleet = Fleet::new().await;
    let (store, server) = (&fleet.store, fleet.server("a").await);
    let text = |text: &str| text.to_owned();
    let waiver = NewWaiver {
        server: text("a"),
        scope: text("scan"),
        owner: text("o"),
        reason: text("r"),
        expires: 99,
        created_by: text("me"),
    };
    let id = store.put_waiver(&waiver, 1).await.expect("a waiver");
    assert_eq!(store.end_waiver(id, 2).await, Ok(true));
    assert_eq!(store.end_waiver(id, 3).await, Ok(false));
    let waivers = store.waivers(Some("a")).await.expect("waivers");
    assert_eq!((waivers[0].ended, &waivers[0].is), (Some(2), &waiver));
    let without_reason = NewWaiver { reason: String::new(), ..waiver };
    assert!(matches!(store.put_waiver(&without_reason, 1).await, Err(StoreError::Invalid { .. })));
    store.add_note(server, "me", "it's \"fine\"; DROP TABLE note", 4).await.expect("a note");
    assert_eq!(store.notes(server).await.expect("notes")[0].text, "it's \"fine\"; DROP TABLE note");
    let run = store.begin_run(&NewRun::default(), 5).await.expect("a run");
    store.end_run(run, 6).await.expect("its end");
    store.end_run(run, 7).await.expect("its end again");
    assert_eq!(store.runs(5).await.expect("runs")[0].ended, Some(6));
    assert_eq!(store.setting("x").await, Ok(None));
    store.set_setting("x", "1").await.expect("set");
    store.set_setting("x", "2").await.expect("set");
    assert_eq!(store.setting("x").await, Ok(Some(text("2"))));
}

#[tokio::test]
async fn artefacts_are_collected_when_nothing_refers_to_them() {
    let fleet = Fleet::new().await;
    let (store, (_, version)) = (&fleet.store, fleet.version("a").await);
    let used = store.put_artefact("report", b"used".to_vec(), 0).await.expect("an artefact");
    let unused = store.put_artefact("report", b"unused".to_vec(), 0).await.expect("an artefact");
    assert_eq!(used, ContentHash::of(b"used"));
    let mut reported = report(GateOutcome::Pass);
    reported.report = Some(used.clone());
    let of = ResultKey { version, gate: "scan".to_owned(), key: "k".to_owned() };
    store.record(&of, None, &reported, 0).await.expect("recorded");
    let young = store.put_artefact("report", b"young".to_vec(), 2 * DAY_MS).await.expect("an artefact");
    assert_eq!(store.collect_garbage(DAY, DAY_MS / 2).await.expect("nothing").files, 0);
    let collected = store.collect_garbage(DAY, 2 * DAY_MS).await.expect("garbage");
    assert_eq!((collected.files, collected.bytes), (1, 6));
    assert_eq!(store.artefact(&unused).await, Ok(None));
    assert_eq!(store.artefact(&used).await, Ok(Some(b"used".to_vec())));
    assert_eq!(store.artefact(&young).await, Ok(Some(b"young".to_vec())));
    reported.report = Some(unused);
    let of = ResultKey { key: "k2".to_owned(), ..of };
    assert!(matches!(store.record(&of, None, &reported, 0).await, Err(StoreError::Missing { .. })));
}

#[tokio::test]
async fn files_that_were_never_finished_are_collected_and_changed_ones_are_not_handed_out() {
    let fleet = Fleet::new().await;
    let hash = fleet.store.put_artefact("report", b"whole".to_vec(), fleet_store::now()).await.expect("an artefact");
    let text = hash.to_string();
    let (first, rest) = text.split_at(2);
    let folder = fleet.folder.path().join("artefacts");
    std::fs::write(folder.join(".unfinished-1"), b"half").expect("a file");
    std::fs::write(folder.join(first).join(format!("{}0", &rest[..61])), b"stray").expect("a file");
    let collected = fleet.store.collect_garbage(DAY, fleet_store::now()).await.expect("nothing yet");
    assert_eq!(collected.files, 0);
    // The artefact itself is as old, and goes with them.
    let collected = fleet.store.collect_garbage(DAY, fleet_store::now() + 2 * DAY_MS).await.expect("garbage");
    assert_eq!(collected.files, 3);
    let hash = fleet.store.put_artefact("report", b"whole".to_vec(), 1).await.expect("an artefact");
    std::fs::write(folder.join(first).join(rest), b"changed").expect("a file");
    assert!(matches!(fleet.store.artefact(&hash).await, Err(StoreError::Refused { .. })));
}

#[tokio::test]
async fn a_file_that_is_no_store_and_a_folder_that_is_missing_are_errors_with_a_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "not a database, but rather long so that it has a header of its own").expect("a file");
    for path in [path, folder.path().join("missing/fleet.db")] {
        let options = Options::new(Location::Sqlite(path.clone()), folder.path().join("artefacts"));
        let error = Store::open(options).await.expect_err("no store").to_string();
        assert!(error.contains(path.to_str().expect("a path")) && error.contains("check that"), "{error}");
    }
}

#[tokio::test]
async fn figures_are_brought_into_their_range() {
    let fleet = Fleet::new().await;
    let (store, (_, version)) = (&fleet.store, fleet.version("a").await);
    let of = ResultKey { version, gate: "scan".to_owned(), key: "1".to_owned() };
    let mut found = report(GateOutcome::Pass);
    (found.score, found.coverage) = (Some(1e308), Some(-1.0));
    store.record(&of, None, &found, 1).await.expect("recorded");
    let kept = store.result(version, "1").await.expect("an answer").expect("the result").is;
    assert_eq!((kept.score, kept.coverage), (Some(100.0), Some(0.0)));
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_store_is_readable_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let (file, artefacts) = (folder.path().join("fleet.db"), folder.path().join("results/artefacts"));
    let store = Store::open(Options::new(Location::Sqlite(file.clone()), &artefacts)).await.expect("a store");
    store.put_server(&NewServer { name: "a".to_owned(), ..NewServer::default() }, 1).await.expect("a server");
    let mode = |path: &std::path::Path| std::fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    for path in [file.clone(), file.with_extension("db-wal"), file.with_extension("db-shm")] {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    assert_eq!((mode(&artefacts), mode(&folder.path().join("results"))), (0o700, 0o700));
}

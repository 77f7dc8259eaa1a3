//! `proof snapshot`: what is written, what is reported of a server that changed, and of snapshots that cannot be read.
//! The same server locked and signed: [`locks`], [`manifests`], [`published`].

#[path = "lock/locks.rs"]
mod locks;
#[path = "lock/manifests.rs"]
mod manifests;
#[path = "lock/published.rs"]
mod published;
#[path = "shared/ran.rs"]
mod ran;
#[path = "shared/serving.rs"]
mod serving;

use std::path::Path;
use std::process::Output;

use ran::{PROOF, ends_with, proof};
use serde_json::Value;

const BEFORE: &str = r#"
name: shop
version: "1"
tools:
  - name: buy
    description: Buys it.
    inputSchema: { type: object, properties: { item: { type: string }, count: { type: integer, minimum: 1 } }, required: [item] }
    annotations: { destructiveHint: false }
    answers: [{ text: bought }]
  - name: look
    description: Looks.
    answers: [{ text: seen }]
"#;

const AFTER: &str = r#"
name: shop
version: "2"
tools:
  - name: buy
    description: Buys it for you.
    inputSchema: { type: object, properties: { item: { type: string }, count: { type: integer, minimum: 2 }, to: { type: string } }, required: [item, to] }
    answers: [{ text: bought }]
  - name: sell
    description: Sells.
    answers: [{ text: sold }]
"#;

fn ran(folder: &Path, catalogue: &str, arguments: &[&str]) -> Output {
    std::fs::write(folder.join("shop.yaml"), catalogue).expect("a file");
    let server = ["--", PROOF, "serve", "--stdio", "--catalog", "shop.yaml"];
    proof(folder, &[&["snapshot"], arguments, &server].concat())
}

#[test]
fn changes_of_a_server_are_detected() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    assert_eq!(ends_with(0, &ran(folder, BEFORE, &["--output", "shop.json"])), "");
    assert_eq!(ends_with(0, &ran(folder, BEFORE, &["--check", "shop.json"])), "nothing changed\n");
    let changed = ran(folder, AFTER, &["--check", "shop.json"]);
    insta::assert_snapshot!(ends_with(1, &changed));
    insta::assert_snapshot!(ends_with(1, &ran(folder, AFTER, &["--check", "shop.json", "--format", "markdown"])));
    let report = ran(folder, AFTER, &["--check", "shop.json", "--format", "json"]);
    let report: Value = serde_json::from_slice(&report.stdout).expect("one JSON document");
    let breaking = report["changes"].as_array().unwrap().iter().filter(|change| change["breaks"] == true).count();
    assert_eq!((report["schema"].as_str(), breaking), (Some("proof.drift/1"), 4));
    // The other way round, nobody who only relies on the words is broken.
    let reworded = BEFORE.replace("Looks.", "Has a look.");
    ends_with(1, &ran(folder, &reworded, &["--check", "shop.json"]));
    ends_with(0, &ran(folder, &reworded, &["--check", "shop.json", "--fail-on", "breaking"]));
}

#[test]
fn a_snapshot_is_the_same_every_time_and_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let one = ends_with(0, &ran(folder.path(), BEFORE, &[]));
    assert_eq!(one, ends_with(0, &ran(folder.path(), BEFORE, &[])));
    let value: Value = serde_json::from_str(&one).expect("JSON");
    let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    assert!(keys.is_sorted() && value["tools"][0]["name"] == "buy" && value["revision"] == "2026-07-28", "{one}");
    let old = ends_with(0, &ran(folder.path(), BEFORE, &["--revision", "2024-11-05"]));
    assert!(old.contains("\"revision\": \"2024-11-05\""), "{old}");
    // What is compared with it is spoken at its own revision.
    std::fs::write(folder.path().join("old.json"), old).unwrap();
    assert_eq!(ends_with(0, &ran(folder.path(), BEFORE, &["--check", "old.json"])), "nothing changed\n");
}

#[test]
fn an_invalid_snapshot_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    assert!(ends_with(2, &ran(folder, BEFORE, &["--check", "none.json"])).contains("cannot read"));
    std::fs::write(folder.join("bad.json"), "{").unwrap();
    assert!(ends_with(2, &ran(folder, BEFORE, &["--check", "bad.json"])).contains("damaged"));
    std::fs::write(folder.join("bad.json"), "{}").unwrap();
    assert!(ends_with(2, &ran(folder, BEFORE, &["--check", "bad.json"])).contains("not a snapshot"));
    let nobody = proof(folder, &["snapshot", "--", "./no-such-server"]);
    assert!(ends_with(3, &nobody).contains("error: "));
    assert!(ends_with(2, &proof(folder, &["snapshot"])).contains("no server given"));
}

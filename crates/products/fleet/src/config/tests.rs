//! What `fleet.yaml` may say, and each mistake with its place.

use super::{Fleet, Launch, schema};
use crate::gate::GateKind;

fn read(text: &str) -> Result<Fleet, Vec<document::FileError>> {
    Fleet::read(text, "/f".into())
}

#[test]
fn every_mistake_is_named_in_one_pass_with_its_place() {
    let text = "\
servers:
  - name: a
    command: [x]
    url: https://a.example
  - name: A
    stage: 9
    openapi: a.yaml
  - name: b
    config: api.yaml
    stage: conform
  - name: c
    url: ftp://c.example
    env: { X: y }
  - name: d
    command: [x, --api-key, sk-4829a7c1e5b36d08f2]
    env: { API_TOKEN: ghp_4829a7c1e5b36d08f2a91b7c3d5e6f708192 }
    bearer: { env: T }
stages:
  - { name: one, gates: [starts, starts] }
  - { name: one, gates: [tested] }
dashboards:
  - { name: red, filter: 'stag<6', columns: [server, ownr] }
";
    let errors = read(text).expect_err("mistakes");
    let found: Vec<(usize, &str)> =
        errors.iter().filter_map(|error| Some((error.at?.line, error.what.as_str()))).collect();
    for (line, part) in [
        (4, "both `command` and `url`"),
        (5, "that of server 1"),
        (6, "no stage 9"),
        (9, "`config` is for `openapi`"),
        (10, "no stage `conform`"),
        (12, "neither http(s) nor ws(s)"),
        (13, "`env` is for a command"),
        (15, "holds a secret in clear"),
        (16, "holds a secret in clear"),
        (17, "`bearer` is for a `url`"),
        (19, "the gate `starts` is there twice"),
        (20, "the stage `one` is there twice"),
        (22, "`stag<6` is unknown"),
        (22, "no column `ownr`"),
    ] {
        assert!(found.iter().any(|(at, what)| *at == line && what.contains(part)), "{line} {part}: {found:#?}");
    }
    let shown = format!("{errors:?}");
    assert!(!shown.contains("4829a7c1e5b36d08f2"), "a secret is shown: {shown}");
}

#[test]
fn mistakes_against_the_schema_have_places_too() {
    for (text, line, part) in [
        ("servers:\n  - nam: a", 2, "`nam` is unknown"),
        ("servers:\n  - { name: 'a b' }", 2, "`name` may not be"),
        ("servers: []\nthresholds: { touched: 101 }", 2, "`touched`"),
        ("servers: []\nstages:\n  - { name: x, gates: [checked] }", 3, "may not be `checked`"),
        ("servers:\n  - name: a\n    env: { A: { file: x } }", 3, "`file` is unknown"),
        ("servers: []\nstore: postgres://u:p@h/d", 2, "may hold a password"),
    ] {
        let errors = read(text).expect_err(text);
        let first =
            errors.iter().find(|error| error.what.contains(part)).unwrap_or_else(|| panic!("{text}: {errors:?}"));
        assert_eq!(first.at.map(|at| at.line), Some(line), "{text}");
        assert!(!format!("{errors:?}").contains("u:p"), "a password is shown");
    }
}

#[test]
fn entries_take_over_what_is_said_for_all() {
    let text = "\
defaults: { owner: ada, stage: tested, tags: [all] }
servers:
  - { name: a, openapi: a.yaml, config: api.yaml, tags: [x] }
  - { name: b, stage: 2, owner: bob, url: 'https://b.example/mcp', bearer: { env: B_TOKEN } }
";
    let fleet = read(text).expect("valid");
    let [a, b] = &fleet.servers[..] else { panic!("two servers") };
    assert_eq!(
        (a.owner.as_deref(), a.wanted, &a.tags[..]),
        (Some("ada"), Some(5), &["x".to_owned(), "all".to_owned()][..])
    );
    assert_eq!(
        a.launch,
        Launch::Served(["--stdio", "--openapi", "a.yaml", "--config", "api.yaml"].map(str::to_owned).to_vec())
    );
    assert_eq!(
        (b.owner.as_deref(), b.wanted, b.variables().collect::<Vec<_>>()),
        (Some("bob"), Some(2), vec!["B_TOKEN"])
    );
    assert_eq!(fleet.stages.len(), 8);
    assert_eq!(fleet.gates().len(), GateKind::ALL.len());
    assert!(serde_json::from_str::<serde_json::Value>(schema()).is_ok());
}

#[test]
fn no_address_or_text_that_is_kept_holds_a_secret() {
    for member in [
        "url: 'https://h/mcp?access_token=sk-live-4829a7c1e5b36d08f2'",
        "url: 'https://u:4829a7c1e5b36d08f2@h/mcp'",
        "url: 'wss://h/mcp#token=4829a7c1e5b36d08f2'",
        "command: [x], ready: 'https://h/?api_key=4829a7c1e5b36d08f2'",
        "command: [x], ready: 'https://u@h/4829a7c1e5b36d08f2'",
        "command: [x], admin: 'http://u:4829a7c1e5b36d08f2@h:9000'",
        "source: 'https://u:4829a7c1e5b36d08f2@git.example/x'",
        "note: 'token ghp_4829a7c1e5b36d08f2a91b7c3d5e6f708192'",
    ] {
        let errors = read(&format!("servers:\n  - {{ name: a, {member} }}\n")).expect_err(member);
        assert_eq!(errors.len(), 1, "{member}: {errors:?}");
        assert!(errors[0].at.is_some() && !format!("{errors:?}").contains("4829a7c1e5b36d08f2"), "{errors:?}");
    }
    for store in ["'host=db user=u password=hunter2secret'", "postgres//u:hunter2@h/d"] {
        let errors = read(&format!("servers: []\nstore: {store}\n")).expect_err(store);
        assert!(!format!("{errors:?}").contains("hunter2"), "{errors:?}");
    }
    let plain = "servers:\n  - { name: a, url: 'https://h:8443/mcp?team=42', ready: gateway.yaml, admin: 'http://h:9000', \
                 source: 'https://git.example/x/commit/0a1b2c3d4e5f60718293a4b5c6d7e8f901234567', owner: ada@example.com }\nstore: ./a@b\n";
    assert!(read(plain).is_ok(), "{:?}", read(plain).err());
}

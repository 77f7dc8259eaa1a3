//! Messages, signatures and retries.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use fleet_store::{Happened, What};
use net::client::HttpAddress;
use net::egress::{Resolve, Resolving};
use net::server::http::{Bytes, HeaderMap, Method};
use net::upstream::{Failure, HttpUpstream};
use serde_json::{Value, json};

use super::messages::{expiring, of};
use crate::config::Fleet;
use crate::gate::{Finding, GateKind, Judged};
use crate::state::{DAY, Kept, Record, ServerState, Waiver};

const NOW: i64 = 1_800_000_000;
const TEXT: &str = "
name: demo
servers:
  - { name: shop, owner: ada, command: [x] }
webhooks:
  - { name: all, url: https://hooks.example/a, secret: { env: HOOK } }
  - { name: stages, url: { env: HOOK_URL }, secret: { env: HOOK }, on: [stage-changed] }
";

fn fleet() -> Fleet {
    Fleet::read(TEXT, ".".into()).expect("valid")
}

fn happened(what: What) -> Happened {
    Happened { id: 1, server: "shop".to_owned(), at: NOW * 1000, what }
}

fn waiver(expires: i64) -> Waiver {
    Waiver {
        id: 3,
        gate: GateKind::Conforms,
        rule: None,
        owner: "bob".to_owned(),
        reason: "fix is in review".to_owned(),
        expires,
    }
}

fn red() -> Record {
    let [rule, level, place, message, fix] = ["r", "MUST", "", "m", "f"].map(str::to_owned);
    let judged = Judged::by_findings(vec![Finding { rule, level, place, message, fix, fails: true }], "");
    Record { gate: GateKind::Conforms, judged, at: NOW, ms: 1, version: 1, key: "k".to_owned() }
}

fn kept(waivers: Vec<Waiver>) -> Kept {
    Kept { records: vec![red()], waivers, ..Kept::default() }
}

#[test]
fn each_webhook_gets_the_events_that_it_takes() {
    let fleet = fleet();
    let state = ServerState::of(&fleet, &fleet.servers[0], kept(Vec::new()), NOW);
    let made = of(&fleet, Some(&state), &happened(What::Stage { event: 7, from: 5, to: 3 }));
    let hooks: Vec<_> = made.iter().map(|one| (one.hook.as_str(), one.event.as_str())).collect();
    assert_eq!(hooks, [("all", "stage:7"), ("stages", "stage:7")]);
    let body: Value = serde_json::from_str(&made[0].body).expect("JSON");
    assert_eq!((&body["type"], &body["owner"]), (&json!("stage-changed"), &json!("ada")));
    assert_eq!(body["text"], "shop fell from 5 tested to 3 described");
    let summary = json!({ "summary": "r: m\u{1b}[31m", "findings": [{}, {}] });
    let gate = || What::Gate { result: 9, gate: "conforms".to_owned(), summary: summary.clone() };
    let made = of(&fleet, Some(&state), &happened(gate()));
    assert_eq!(made.len(), 1);
    let body: Value = serde_json::from_str(&made[0].body).expect("JSON");
    assert_eq!((&body["gate"], &body["findings"]), (&json!("conforms"), &json!(2)));
    assert!(!made[0].body.contains('\u{1b}') && !made[0].body.contains("u001b"), "{}", made[0].body);
    // A server that was taken out, and a red gate that somebody answers for.
    assert_eq!(of(&fleet, None, &happened(gate())), []);
    let waived = ServerState::of(&fleet, &fleet.servers[0], kept(vec![waiver(NOW + 90 * DAY)]), NOW);
    assert_eq!(of(&fleet, Some(&waived), &happened(gate())), []);
}

#[test]
fn a_waiver_is_announced_in_its_last_week() {
    let fleet = fleet();
    let made = |expires| {
        let state = ServerState::of(&fleet, &fleet.servers[0], kept(vec![waiver(expires)]), NOW);
        expiring(&fleet, &state, NOW)
    };
    assert_eq!(made(NOW + 8 * DAY), []);
    assert_eq!(made(NOW - 1), []);
    let found = made(NOW + 2 * DAY);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].hook.as_str(), found[0].event.as_str()), ("all", "waiver:3"));
    assert!(found[0].body.contains("\"waived_by\":\"bob\""), "{}", found[0].body);
}

#[test]
fn an_address_without_tls_or_with_a_secret_is_a_mistake_of_the_file() {
    for (url, expected) in [
        ("http://hooks.example/a", "no TLS"),
        ("https://user:pw@hooks.example/a", "secret"),
        ("https://hooks.example/a?token=abcdef0123456789abcdef", "secret"),
        ("ftp://127.0.0.1/a", "no TLS"),
        ("nothing", "not a URL"),
    ] {
        let text = TEXT.replace("https://hooks.example/a", &format!("\"{url}\""));
        let errors = Fleet::read(&text, ".".into()).expect_err(url);
        let shown = format!("{errors:?}");
        assert!(errors.len() == 1 && shown.contains(expected) && !shown.contains("pw@"), "{url}: {shown}");
    }
    for url in ["http://127.0.0.1:9/a", "http://localhost:9/a", "https://10.0.0.1/a"] {
        assert!(
            Fleet::read(&TEXT.replace("https://hooks.example/a", &format!("\"{url}\"")), ".".into()).is_ok(),
            "{url}"
        );
    }
    let twice = TEXT.replace("name: stages", "name: all");
    assert!(format!("{:?}", Fleet::read(&twice, ".".into()).expect_err("twice")).contains("twice"));
}

/// Says that every name is an address of this machine.
struct Here;

impl Resolve for Here {
    fn resolve<'a>(&'a self, _: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(async move { Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]) })
    }
}

#[tokio::test]
async fn a_name_leads_into_no_private_network_unless_the_entry_allows_it() {
    // Nothing listens there: where the rules allow the connection, it fails in another way.
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr()).expect("a port").port();
    for (private, is_forbidden) in [("", true), (", private: refuse", true), (", private: allow", false)] {
        let text =
            TEXT.replace("url: https://hooks.example/a", &format!("url: \"https://hooks.example:{free}/a\"{private}"));
        let fleet = Fleet::read(&text, ".".into()).expect("valid");
        let url = crate::config::address(&format!("https://hooks.example:{free}/a")).expect("an address");
        let egress = Some(fleet.webhooks[0].egress(&url).resolving(Arc::new(Here)));
        let address = HttpAddress { egress, ..HttpAddress::new(url) };
        let upstream = HttpUpstream::new(&address, Duration::from_secs(2)).expect("an upstream");
        let failure = upstream.send(Method::POST, HeaderMap::new(), Bytes::new()).await.expect_err("nothing is there");
        assert_eq!(matches!(failure, Failure::Forbidden(_)), is_forbidden, "{private}: {failure:?}");
    }
}

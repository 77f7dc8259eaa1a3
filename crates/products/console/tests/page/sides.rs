//! The two sides of a running gateway: whose row is below whose, how many are shown apart, and what is known of their beginning.

use console::hub::Bounds;
use console::{Place, Side};
use serde_json::json;
use wire::Party;
use wire::trace::file;
use wire::trace::{Content, Frame, Limit, Mark};

use super::support::empty;

fn client(principal: &str) -> Side {
    Side::Client { principal: Some(principal.to_owned()), server: "default".to_owned() }
}

fn frame(from: Party, connection: u32, text: &str) -> Frame {
    let content = Content::Line { bytes: text.as_bytes().to_vec(), terminated: true };
    Frame { connection, at: 3_000_007, ..Frame::new(from, content) }
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
const QUESTION: &str = r#"{"jsonrpc":"2.0","id":9,"method":"roots/list"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_an_upstream_does_is_below_the_row_of_its_client() {
    let page = empty(Bounds::default()).await;
    // The gateway has run for three seconds.
    let mut sides = page.console.add_gateway("gateway 7", 3_000_000);
    let place = |side: &Side, exchange, within| Place { side: side.clone(), exchange, within };
    let (ada, bob, docs) = (client("ada"), client("bob"), Side::Upstream("docs".to_owned()));
    sides.take(&place(&ada, 1, 0), &frame(Party::Client, 1, CALL));
    // Two clients use the same id.
    sides.take(&place(&bob, 2, 0), &frame(Party::Client, 2, CALL));
    sides.take(&place(&docs, 3, 1), &frame(Party::Client, 3, CALL));
    sides.take(&place(&docs, 3, 1), &frame(Party::Server, 3, QUESTION));
    sides.take(&place(&docs, 3, 1), &frame(Party::Server, 3, ANSWER));
    sides.take(&place(&ada, 1, 0), &frame(Party::Server, 1, ANSWER));
    let rows = page.rows("").await;
    let seen: Vec<_> = rows.iter().map(|row| json!([row[8], row[7], row[16]])).collect();
    let expected = [
        json!(["tools/call", "ok", 0]),
        json!(["tools/call", "pending", 0]),
        json!(["tools/call", "ok", 1]),
        json!(["roots/list", "pending", 3]),
    ];
    assert_eq!(seen, expected);
    let state = page.get("/api/state").await.json();
    let labels: Vec<_> = state["targets"].as_array().into_iter().flatten().map(|one| one["label"].clone()).collect();
    assert_eq!(labels, ["gateway 7", "client ada at default", "client bob at default", "upstream docs"]);
    // The clock of the gateway is another one.
    assert!(rows[0][5].as_u64().is_some_and(|at| at < 3_000_000), "{}", rows[0]);
    // What stays open is not taken for a request that hangs.
    sides.over("the gateway has ended");
    let state = page.until("it is over", |state| state["targets"][1]["state"] == "closed").await;
    assert_eq!(
        (&state["sessions"][1]["transport"], &state["sessions"][1]["judged"]),
        (&json!("messages"), &json!(false))
    );
    assert_eq!(page.rows("status:pending").await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_side_says_that_its_beginning_is_missing() {
    let page = empty(Bounds::default()).await;
    let mut sides = page.console.add_gateway("gateway 7", 0);
    sides.take(&Place { side: client("ada"), exchange: 1, within: 0 }, &frame(Party::Client, 1, CALL));
    let saved = page.get("/api/trace?session=2").await;
    let trace = file::read(&String::from_utf8(saved.body).expect("text")).expect("a trace");
    assert_eq!(trace.frames.len(), 2);
    assert_eq!(trace.frames[0].content, Content::Mark(Mark::Limit(Limit::Trace)));
}

#[tokio::test(flavor = "multi_thread")]
async fn principals_without_end_share_a_target() {
    let page = empty(Bounds::default()).await;
    let mut sides = page.console.add_gateway("gateway 7", 0);
    for number in 0..1000_u32 {
        let place = Place { side: client(&number.to_string()), exchange: number.into(), within: 0 };
        sides.take(&place, &frame(Party::Client, number, CALL));
    }
    let state = page.get("/api/state").await.json();
    let targets = state["targets"].as_array().expect("targets");
    assert_eq!((targets.len(), &targets[129]["label"]), (130, &json!("other clients and upstreams")));
    assert_eq!(page.get("/api/rows?filter=kind:call").await.json()["matched"], 1000);
}

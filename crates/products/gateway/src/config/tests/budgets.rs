//! `budgets`: what is read, and what is refused.

use std::time::Duration;

use super::{FULL, mentions, refuses, settings, upstream};
use crate::settings::{BudgetSettings, ToolClass};

fn file(budgets: &str) -> String {
    format!("{}budgets:{budgets}\n", upstream("command: [x]"))
}

#[test]
fn budgets_are_read() {
    let budgets = settings(FULL).budgets.expect("budgets");
    let seconds = Duration::from_secs;
    assert_eq!((budgets.tool, budgets.chain, budgets.session_gap), (seconds(20), seconds(90), seconds(15)));
    assert_eq!((budgets.reserve, budgets.poll_interval), (seconds(2), seconds(2)));
    assert!(!budgets.deadlines);
    let cold = budgets.cold;
    assert_eq!((cold.read, cold.moderate, cold.write), (Duration::from_millis(400), seconds(3), seconds(6)));
    let [(name, tool)] = budgets.tools.as_slice() else { panic!("{budgets:?}") };
    assert_eq!((name.as_str(), tool.limit, tool.class), ("search_*", Some(seconds(10)), Some(ToolClass::Moderate)));
    assert_eq!((tool.least, tool.expected), (Some(Duration::from_millis(100)), Some(seconds(4))));
    assert_eq!(budgets.chains[0].1, ["search_web", "read_file", "render"]);
    let [client] = budgets.clients.as_slice() else { panic!("{budgets:?}") };
    assert_eq!(
        (client.client.as_deref(), client.scopes.as_slice()),
        (Some("batch-*"), ["batch".to_owned()].as_slice())
    );
    assert_eq!((client.tool, client.chain), (Some(Duration::from_mins(1)), Some(Duration::from_mins(10))));
}

#[test]
fn the_key_alone_sets_the_usual_limits() {
    for text in ["", " {}"] {
        let budgets = settings(&file(text)).budgets.expect("budgets");
        assert_eq!(budgets, BudgetSettings::default());
        assert_eq!((budgets.tool, budgets.chain), (Duration::from_secs(30), Duration::from_secs(100)));
    }
    assert_eq!(settings(&upstream("command: [x]")).budgets, None);
}

#[test]
fn budgets_are_checked() {
    refuses(
        &file(" { tool: 30 }"),
        "error: `30` has no unit – etc/gateway.yaml:3:12\n  try: 1ms to 24h: a whole number with ms, s, m or h, such as 30s",
    );
    mentions(&file(" { tols: {} }"), &["the key `tols` is unknown here", "etc/gateway.yaml:3:12", "tools"]);
    mentions(&file(" { chain: 1s, reserve: 1s }"), &["`reserve` leaves no time for tools"]);
    mentions(&file(" { deadlines: maybe }"), &["`maybe` is not a value of `deadlines`", "`honour`, `ignore`"]);
    mentions(&file(" { cold: { slow: 1s } }"), &["the key `slow` is unknown here"]);
    mentions(&file(" { tools: { x: { least: 2s, limit: 1s } } }"), &["`least` is longer than `limit`"]);
    mentions(&file(" { tools: { x: { class: slow } } }"), &["`slow` is not a class of tools", "`read`"]);
    mentions(&file(" { tools: { x: 1s } }"), &["the budget of `x` is a text, not a mapping"]);
    mentions(&file(" { chains: { x: [] } }"), &["the chain `x` has 0 steps"]);
    mentions(&file(&format!(" {{ chains: {{ x: [{}] }} }}", "a, ".repeat(65))), &["has 65 steps", "1 to 64"]);
    mentions(&file(" { clients: {} }"), &["`clients` is a mapping, not a list"]);
    mentions(&file(" { clients: [{ client: x }] }"), &["the entry sets no limit", "add `tool` or `chain`"]);
    mentions(
        &file(" { clients: [{ scopes: [a], tool: 1s }] }"),
        &["`scopes` needs tokens, and the file has no `auth`"],
    );
}

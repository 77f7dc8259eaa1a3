//! Objectives: what counts, when it alerts and when that ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Ending, MOST, Measured, Slo, SloState, UNUSED};
use crate::metrics::Page;
use crate::settings::{SloSettings, ToolClass, ToolObjective};

const FAST: Duration = Duration::from_millis(50);
const SLOW: Duration = Duration::from_millis(700);
const MINUTE: Duration = Duration::from_mins(1);

fn slo() -> (Slo, Instant) {
    let settings = SloSettings {
        tools: vec![("own_*".to_owned(), ToolObjective { within: Some(FAST / 2), class: None })],
        ..SloSettings::default()
    };
    let state = Arc::new(SloState::default());
    let began = state.began;
    (Slo::new(&settings, &state), began)
}

fn call(tool: &str, took: Duration, ending: Ending) -> Measured {
    Measured { upstream: "u".to_owned(), tool: tool.to_owned(), took, ending }
}

/// Counts calls, as the gateway does: a tool that is not known is looked up.
fn run(slo: &Slo, calls: u32, measured: &Measured, now: Instant) {
    for _ in 0..calls {
        if !slo.record(measured, now) {
            slo.learn(measured, ToolClass::Read, now);
        }
    }
}

fn tool(slo: &Slo, now: Instant) -> Value {
    slo.status(now)["tools"][0].clone()
}

#[test]
fn a_call_is_bad_that_is_slow_or_fails_and_refusals_do_not_count() {
    let (slo, now) = slo();
    run(&slo, 4, &call("t", FAST, Ending::Answered), now);
    run(&slo, 2, &call("t", SLOW, Ending::Answered), now);
    run(&slo, 8, &call("t", FAST / 50, Ending::Failed), now);
    run(&slo, 5, &call("t", FAST, Ending::NotJudged), now);
    run(&slo, 1, &call("t", SLOW, Ending::NotJudged), now);
    let status = tool(&slo, now);
    assert_eq!((&status["calls"], &status["bad"], &status["slow"]), (&15.into(), &11.into(), &3.into()), "{status}");
    assert_eq!(status["objective_ms"], 500.0);
    assert_eq!(status["windows"]["5m"]["burn_rate"], 73.333, "{status}");
    // Failures that come at once do not make the tool look fast.
    assert!(status["p50_ms"].as_f64().is_some_and(|p50| p50 > 45.0), "{status}");
}

#[test]
fn p99_over_the_objective_is_an_alert_that_ends() {
    let (slo, now) = slo();
    run(&slo, 11, &call("t", FAST, Ending::Answered), now);
    run(&slo, 1, &call("t", SLOW, Ending::Answered), now);
    assert_eq!(slo.status(now)["alerting"], false, "one slow call is no alert");
    run(&slo, 1, &call("t", SLOW, Ending::Answered), now);
    assert_eq!(tool(&slo, now)["alerts"], serde_json::json!(["page", "ticket", "p99"]), "{}", slo.status(now));
    let later = now + MINUTE * 61;
    assert_eq!(tool(&slo, later)["alerts"], serde_json::json!(["ticket"]));
    assert_eq!(tool(&slo, later)["p99_ms"], Value::Null, "what is long ago is no p99");
    assert_eq!(slo.status(now + MINUTE * 60 * 7)["alerting"], false);
}

#[test]
fn a_budget_that_burns_fast_is_a_page_until_it_is_over() {
    let (slo, now) = slo();
    run(&slo, 30, &call("t", FAST, Ending::Answered), now);
    run(&slo, 9, &call("t", FAST, Ending::Failed), now);
    assert_eq!(tool(&slo, now)["alerts"], serde_json::json!(["page", "ticket"]));
    // The hour still burns, but of the last five minutes nothing does.
    run(&slo, 30, &call("t", FAST, Ending::Answered), now + MINUTE * 40);
    assert_eq!(tool(&slo, now + MINUTE * 40)["alerts"], serde_json::json!(["ticket"]));
}

#[test]
fn a_tool_has_the_time_of_its_rule_or_of_its_class() {
    let (slo, now) = slo();
    let fast = call("own_x", FAST, Ending::Answered);
    slo.learn(&fast, ToolClass::Write, now);
    assert_eq!((&tool(&slo, now)["objective_ms"], &tool(&slo, now)["slow"]), (&25.0.into(), &1.into()));
    assert_eq!(tool(&slo, now)["class"], "write");
    let (slo, now) = self::slo();
    slo.learn(&call("x", SLOW, Ending::Answered), ToolClass::Write, now);
    assert_eq!((&tool(&slo, now)["objective_ms"], &tool(&slo, now)["slow"]), (&5000.0.into(), &0.into()));
    // What the server says of it is believed for a while.
    assert!(slo.record(&call("x", FAST, Ending::Answered), now + MINUTE * 4));
    assert!(!slo.record(&call("x", FAST, Ending::Answered), now + MINUTE * 5));
    slo.learn(&call("x", FAST, Ending::Answered), ToolClass::Read, now + MINUTE * 5);
    assert_eq!((&tool(&slo, now)["class"], &tool(&slo, now)["calls"]), (&"read".into(), &3.into()));
}

#[test]
fn tools_are_bounded_and_make_room_again() {
    let (slo, now) = slo();
    for number in 0..MOST + 10 {
        run(&slo, 1, &call(&format!("t{number}"), FAST, Ending::Answered), now);
    }
    let status = slo.status(now);
    assert_eq!((status["tools"].as_array().map(Vec::len), &status["untracked_calls"]), (Some(MOST), &10.into()));
    let later = now + UNUSED + MINUTE;
    run(&slo, 1, &call("new", FAST, Ending::Answered), later);
    let status = slo.status(later);
    assert_eq!((status["tools"].as_array().map(Vec::len), &status["untracked_calls"]), (Some(MOST), &10.into()));
    assert!(status["tools"].as_array().expect("tools").iter().any(|tool| tool["tool"] == "new"));
}

#[test]
fn metrics_say_the_same() {
    let (slo, now) = slo();
    run(&slo, 10, &call("t", SLOW, Ending::Answered), now);
    let mut page = Page::default();
    slo.write(&mut page, now);
    let page = page.into_text();
    for line in [
        "proof_gateway_slo_objective_ratio 0.99",
        "proof_gateway_slo_objective_seconds{upstream=\"u\",tool=\"t\"} 0.5",
        "proof_gateway_slo_calls_total{upstream=\"u\",tool=\"t\"} 10",
        "proof_gateway_slo_bad_calls_total{upstream=\"u\",tool=\"t\"} 10",
        "proof_gateway_slo_burn_rate{upstream=\"u\",tool=\"t\",window=\"5m\"} 100",
        "proof_gateway_slo_alert{upstream=\"u\",tool=\"t\",alert=\"page\"} 1",
        "proof_gateway_slo_alert{upstream=\"u\",tool=\"t\",alert=\"p99\"} 1",
        "proof_gateway_slo_untracked_calls_total 0",
    ] {
        assert!(page.lines().any(|one| one == line), "{line}\n{page}");
    }
}

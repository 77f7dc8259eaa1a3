//! `traffic`: what is read, and what is refused.

use std::time::Duration;

use super::{FULL, mentions, refuses, settings, upstream};
use crate::settings::{Amount, BreakerSettings, RateKey, RetrySettings, TrafficSettings};

fn file(traffic: &str) -> String {
    format!("{}traffic: {traffic}\n", upstream("command: [x]"))
}

fn traffic(text: &str) -> TrafficSettings {
    settings(&file(text)).traffic.expect("traffic")
}

#[test]
fn traffic_is_read() {
    let traffic = settings(FULL).traffic.expect("traffic");
    let [wide, narrow] = traffic.rates.as_slice() else { panic!("{traffic:?}") };
    assert_eq!((wide.per.as_slice(), &wide.tools, wide.burst), ([RateKey::Principal].as_slice(), &None, 6));
    assert_eq!(wide.allow, Amount { count: 60, period: Duration::from_mins(1) });
    assert!(wide.is_wide() && !narrow.is_wide());
    assert_eq!((narrow.per.as_slice(), narrow.burst), ([RateKey::Principal, RateKey::Tool].as_slice(), 3));
    assert_eq!(narrow.tools.as_deref(), Some(["search_*".to_owned()].as_slice()));
    assert_eq!(narrow.allow, Amount { count: 5, period: Duration::from_secs(10) });
    let [rule] = traffic.concurrency.as_slice() else { panic!("{traffic:?}") };
    assert_eq!((rule.upstream.as_deref(), rule.at_once, rule.per_principal), (Some("files"), 8, Some(4)));
    assert_eq!((rule.queue, rule.wait), (10, Duration::from_secs(3)));
    let costs = traffic.costs.expect("costs");
    assert_eq!(costs.allow, Amount { count: 1000, period: Duration::from_hours(24) });
    assert_eq!((costs.default, costs.tools.as_slice()), (2, [("render_*".to_owned(), 5)].as_slice()));
    let open = Duration::from_secs(20);
    assert_eq!(traffic.breakers, Some(BreakerSettings { failures: 4, of: 10, open, half_open: 2, per_tool: true }));
    let (backoff, longest_backoff) = (Duration::from_millis(50), Duration::from_secs(1));
    assert_eq!(traffic.retries, Some(RetrySettings { most: 3, budget_percent: 20, backoff, longest_backoff }));
}

#[test]
fn a_key_alone_sets_the_usual_numbers() {
    let read = traffic("\n  breakers:\n  retries: {}\n  rates: [{ allow: 5/s }]\n  concurrency: [{ at_once: 4 }]");
    assert_eq!((read.breakers, read.retries), (Some(BreakerSettings::default()), Some(RetrySettings::default())));
    assert_eq!((read.rates[0].per.as_slice(), read.rates[0].burst), ([RateKey::Principal].as_slice(), 1));
    assert_eq!((read.concurrency[0].queue, read.concurrency[0].wait), (8, Duration::from_secs(2)));
    assert_eq!(traffic("{ concurrency: [{ at_once: 4, queue: 0 }] }").concurrency[0].queue, 0);
    assert_eq!(settings(&upstream("command: [x]")).traffic, None);
}

#[test]
fn traffic_is_checked() {
    refuses(
        &file("{ rates: [{ allow: 60 per min }] }"),
        "error: `60 per min` is no rate – etc/gateway.yaml:3:22\n  try: a number to 1000000 and a time: 60/min, 5/s, 100/h, 1000/day or 5/10s",
    );
    for rate in ["0/s", "5/0s", "5/25h", "5/", "/s", "1.5/s", "-1/s", "1000001/s", "5/week"] {
        mentions(&file(&format!("{{ rates: [{{ allow: {rate} }}] }}")), &[&format!("`{rate}` is no rate")]);
    }
    mentions(&file("{ rate: [] }"), &["the key `rate` is unknown here", "rates"]);
    mentions(&file("{ rates: {} }"), &["`rates` is a mapping, not a list"]);
    mentions(&file("{ rates: [{ per: tool }] }"), &["the entry has no `allow`"]);
    mentions(&file("{ rates: [{ per: user, allow: 1/s }] }"), &["`user` is nothing that rates are counted by"]);
    mentions(&file("{ rates: [{ per: [], allow: 1/s }] }"), &["`per` is empty"]);
    mentions(&file("{ rates: [{ tools: [], allow: 1/s }] }"), &["`tools` is empty"]);
    mentions(&file("{ rates: [{ allow: 1/s, burst: 0 }] }"), &["`burst` is not a whole number from 1 to 100000"]);
    mentions(&file("{ concurrency: [{ upstream: b, at_once: 1 }] }"), &["`b` is not one of `upstreams`"]);
    mentions(&file("{ concurrency: [{ upstream: a }] }"), &["the entry has no `at_once`"]);
    mentions(&file("{ concurrency: [{ at_once: 1, per_principal: 2 }] }"), &["`per_principal` is more than `at_once`"]);
    mentions(&file("{ costs: { default: 2 } }"), &["`costs` has no `allow`"]);
    mentions(&file("{ costs: { allow: 1/day, tools: { x: -1 } } }"), &["`x` is no cost"]);
    for failures in ["5", "0 of 5", "6 of 5", "1 of 1001"] {
        let text = format!("{{ breakers: {{ failures: '{failures}' }} }}");
        mentions(&file(&text), &[&format!("`{failures}` says not how many failures"), "5 of 20"]);
    }
    mentions(&file("{ breakers: { per: client } }"), &["`client` has no breaker of its own"]);
    mentions(&file("{ retries: { most: 6 } }"), &["`most` is not a whole number from 1 to 5"]);
    mentions(&file("{ retries: { budget: 101% } }"), &["`101%` is no share"]);
    mentions(&file("{ retries: { backoff: 2s..1s } }"), &["`2s..1s` is not the first and the longest pause"]);
}

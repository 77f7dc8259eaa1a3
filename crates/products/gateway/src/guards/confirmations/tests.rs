//! An answer is for one call, once, in time; and what waits is bounded.

use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use wire::Message;
use wire::message::{Packet, parse};

use super::{Confirmations, Confirmed, Invalid, MOST, MOST_OF_ONE};

const WAIT: Duration = Duration::from_mins(1);

fn call(params: &str) -> Message {
    match parse(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#).as_bytes()) {
        Ok(Packet::Message(message)) => message,
        _ => panic!("{params}"),
    }
}

fn of(params: &str) -> Confirmed {
    Confirmed::of(&call(params), None, "default", "a")
}

#[test]
fn what_is_confirmed_is_the_exact_call_of_a_principal() {
    let exact = of(r#"{"name":"t","arguments":{"a":1,"b":{"c":[2]}}}"#);
    for same in [
        r#"{"arguments":{"b":{"c":[2]},"a":1},"name":"t"}"#,
        r#"{"name":"t","arguments":{"a":1,"b":{"c":[2]}},"_meta":{"progressToken":7}}"#,
        r#"{"name":"t","arguments":{"a":1,"b":{"c":[2]}},"requestState":"s","inputResponses":{}}"#,
    ] {
        assert_eq!(of(same), exact, "{same}");
    }
    for other in [
        r#"{"name":"T","arguments":{"a":1,"b":{"c":[2]}}}"#,
        r#"{"name":"t","arguments":{"a":"1","b":{"c":[2]}}}"#,
        r#"{"name":"t","arguments":{"a":1,"b":{"c":[2,2]}}}"#,
        r#"{"name":"t","arguments":{"a":1,"b":{"c":[2]},"d":null}}"#,
        r#"{"name":"t","arguments":{"a":1,"b":{"c":[2]}},"task":{}}"#,
        r#"{"name":"t"}"#,
    ] {
        assert_ne!(of(other), exact, "{other}");
    }
    // Numbers that would be equal in floating point.
    let numbers = ["1000000000000000000000001", "1000000000000000000000002", "0.1", "0.10000000000000000555"];
    let all = numbers.map(|number| of(&format!(r#"{{"name":"t","arguments":{{"a":{number}}}}}"#)));
    for (index, one) in all.iter().enumerate() {
        assert!(all[index + 1..].iter().all(|other| other != one), "{}", numbers[index]);
    }
    let message = call(r#"{"name":"t"}"#);
    let ann = HeaderValue::from_static("ann");
    let variants = [
        Confirmed::of(&message, None, "default", "a"),
        Confirmed::of(&message, Some(&ann), "default", "a"),
        Confirmed::of(&message, Some(&HeaderValue::from_static("bob")), "default", "a"),
        Confirmed::of(&message, Some(&ann), "other", "a"),
        Confirmed::of(&message, Some(&ann), "default", "b"),
    ];
    for (index, one) in variants.iter().enumerate() {
        assert!(variants[index + 1..].iter().all(|other| other != one), "{index}");
    }
}

#[test]
fn an_answer_counts_once_and_in_time() {
    let (waiting, now) = (Confirmations::default(), Instant::now());
    let [one, other] = [r#"{"name":"t","arguments":{"a":1}}"#, r#"{"name":"t","arguments":{"a":2}}"#].map(of);
    let state = waiting.ask(one, None, (WAIT, now)).expect("room");
    assert!(Confirmations::is_ours(&state) && !Confirmations::is_ours("proof-gateway.1.00"));
    assert_eq!(waiting.answer(&state, other, now), Err(Invalid::OtherCall));
    assert_eq!(waiting.answer(&state, one, now + WAIT), Err(Invalid::Unknown));
    assert_eq!(waiting.answer(&state, one, now), Ok(()));
    assert_eq!(waiting.answer(&state, one, now), Err(Invalid::Unknown));
    assert_eq!(waiting.answer("proof-gateway.confirm.1.00", one, now), Err(Invalid::Unknown));
}

#[test]
fn a_call_goes_on_with_the_state_of_its_server_once() {
    let (waiting, now) = (Confirmations::default(), Instant::now());
    let [one, other] = [r#"{"name":"t","arguments":{"a":1}}"#, r#"{"name":"t","arguments":{"a":2}}"#].map(of);
    assert!(!waiting.is_next(one, Some("s"), now) && !waiting.is_next(one, None, now));
    assert!(waiting.goes_on(one, Some("s"), None, (WAIT, now)));
    for (what, state) in [(other, Some("s")), (one, Some("S")), (one, None), (one, Some(""))] {
        assert!(!waiting.is_next(what, state, now), "{state:?}");
    }
    assert!(waiting.is_next(one, Some("s"), now) && !waiting.is_next(one, Some("s"), now));
}

#[test]
fn what_waits_is_bounded() {
    let (waiting, now) = (Confirmations::default(), Instant::now());
    let principals: Vec<_> = (0..6).map(|number| HeaderValue::from_str(&number.to_string()).expect("text")).collect();
    let what = of(r#"{"name":"t"}"#);
    let mut count = 0;
    for principal in &principals {
        for number in 0..=MOST_OF_ONE {
            let asked = waiting.ask(what, Some(principal), (WAIT, now)).is_some();
            assert!(!(asked && number == MOST_OF_ONE), "{principal:?}");
            count += usize::from(asked);
        }
    }
    assert_eq!(count, MOST);
    // Those whose time is over make room.
    assert!(waiting.ask(what, Some(&principals[5]), (WAIT, now + WAIT)).is_some());
    waiting.sweep(now + WAIT);
    assert_eq!(waiting.all().len(), 1);
}

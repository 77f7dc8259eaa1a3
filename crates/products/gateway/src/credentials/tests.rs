//! When a token is used, renewed and given up, without a network.

use std::time::{Duration, Instant};

use oauth::{IssuedToken, Secret, now};

use super::holder::{Due, Holder};
use super::refusals::Refusal;

fn issued(text: &str, life: u64) -> IssuedToken {
    IssuedToken { access: Secret::new(text), expires: now() + life, scopes: None }
}

#[test]
fn a_token_is_renewed_by_one_before_it_expires() {
    let (holder, begin) = (Holder::default(), Instant::now());
    let at = |seconds| begin + Duration::from_secs(seconds);
    assert!(matches!(holder.current(begin), Due::Now));
    let first = holder.keep(&issued("t1", 100), begin).expect("a header");
    assert!(first.header.is_sensitive() && first.header == "Bearer t1");
    assert!(matches!(holder.current(at(60)), Due::Good(_)) && !holder.take_renewal(at(60)));
    assert!(matches!(holder.current(at(85)), Due::Soon(_)));
    assert!(holder.take_renewal(at(85)) && !holder.take_renewal(at(85)), "one renews it");
    holder.renewal_ended();
    holder.refuse(Refusal::Unavailable, at(85));
    assert!(!holder.take_renewal(at(85)), "not again at once");
    assert!(matches!(holder.current(at(85)), Due::Soon(_)), "the old one still serves");
    assert!(holder.take_renewal(at(88)));
    assert!(matches!(holder.current(at(95)), Due::Now), "it is not used to its last second");
    let second = holder.keep(&issued("t2", 100), at(95)).expect("a header");
    assert!(second.number > first.number && holder.refusal(at(95)).is_none());
}

#[test]
fn renewals_are_spread() {
    let begin = Instant::now();
    let due_at = |second: u64| {
        let all = (0..200).filter(|_| {
            let holder = Holder::default();
            holder.keep(&issued("t", 1000), begin).expect("a header");
            matches!(holder.current(begin + Duration::from_secs(second)), Due::Soon(_))
        });
        all.count()
    };
    assert_eq!((due_at(610), due_at(755)), (0, 200));
    assert!((20..180).contains(&due_at(685)), "not all at the same moment");
}

#[test]
fn another_token_of_the_user_is_tried_at_once() {
    let (holder, begin) = (Holder::default(), Instant::now());
    holder.note("a1");
    holder.refuse(Refusal::Denied("invalid_grant".to_owned()), begin);
    holder.note("a1");
    assert!(holder.refusal(begin).is_some());
    holder.note("a2");
    assert!(holder.refusal(begin).is_none());
    holder.refuse(Refusal::Unavailable, begin);
    holder.note("a3");
    assert!(holder.refusal(begin).is_some(), "the authorization server is down for all");
}

#[test]
fn a_server_that_refuses_all_tokens_does_not_make_us_ask_for_ever() {
    let (holder, begin) = (Holder::default(), Instant::now());
    assert!(holder.take_forced(begin) && !holder.take_forced(begin + Duration::from_secs(9)));
    assert!(holder.take_forced(begin + Duration::from_secs(10)));
}

#[test]
fn a_token_of_a_consent_that_ended_while_it_was_read_is_not_kept() {
    let (holder, begin) = (Holder::default(), Instant::now());
    let read = holder.resets();
    holder.reset();
    assert!(holder.keep_writing(&issued("t1", 100), begin, ([1; 16], read)).is_ok_and(|kept| kept.is_none()));
    assert!(matches!(holder.current(begin), Due::Now) && holder.writing().is_none());
    let kept = holder.keep_writing(&issued("t2", 100), begin, ([1; 16], holder.resets()));
    assert!(kept.is_ok_and(|kept| kept.is_some()) && holder.writing() == Some([1; 16]));
}

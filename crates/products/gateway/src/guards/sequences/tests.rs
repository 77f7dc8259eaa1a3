//! What was called stops what must not follow, for whom it must and as long as it must.

use std::time::{Duration, Instant};

use net::server::http::HeaderValue;

use super::{Caller, MOST_OF_ONE, Sequences, Stopped};
use crate::settings::{SequenceRule, SequenceScope};

const TTL: Duration = Duration::from_mins(1);

fn rule(per: SequenceScope) -> Vec<SequenceRule> {
    let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    vec![SequenceRule { after: texts(&["read_*"]), deny: texts(&["send_*", "read_twice"]), ttl: TTL, per }]
}

fn caller(principal: &str, chain: Option<&str>) -> Caller {
    let principal = Some(HeaderValue::from_str(principal).expect("text"));
    Caller { principal, session: None, chain: chain.map(str::to_owned) }
}

#[test]
fn what_was_called_stops_what_must_not_follow() {
    let (sequences, now, rules) = (Sequences::default(), Instant::now(), rule(SequenceScope::Principal));
    let (ann, bob) = (caller("ann", None), caller("bob", None));
    let enter = |tool: &str, caller: &Caller, now| sequences.enter(&rules, (tool, caller), now);
    assert_eq!(enter("send_mail", &ann, now), Ok(()));
    assert_eq!(enter("read_secret", &ann, now), Ok(()));
    assert_eq!(enter("send_mail", &ann, now), Err(Stopped::Denied { left: TTL }));
    assert_eq!(sequences.look(&rules, ("send_mail", &ann), now), Err(Stopped::Denied { left: TTL }));
    assert_eq!(enter("send_mail", &bob, now), Ok(()));
    assert_eq!(enter("other", &ann, now), Ok(()));
    // Each such call begins the time again.
    assert_eq!(enter("read_more", &ann, now + TTL / 2), Ok(()));
    assert_eq!(enter("send_mail", &ann, now + TTL), Err(Stopped::Denied { left: TTL / 2 }));
    assert_eq!(enter("send_mail", &ann, now + TTL * 3 / 2), Ok(()));
    // A tool may be both.
    assert_eq!(enter("read_twice", &bob, now), Ok(()));
    assert_eq!(enter("read_twice", &bob, now), Err(Stopped::Denied { left: TTL }));
}

#[test]
fn chains_count_by_name_and_without_one_by_principal() {
    let (sequences, now, rules) = (Sequences::default(), Instant::now(), rule(SequenceScope::Chain));
    let enter = |tool: &str, caller: &Caller| sequences.enter(&rules, (tool, caller), now);
    assert_eq!(enter("read_secret", &caller("ann", Some("x"))), Ok(()));
    assert!(enter("send_mail", &caller("ann", Some("x"))).is_err());
    assert_eq!(enter("send_mail", &caller("ann", Some("y"))), Ok(()));
    assert_eq!(enter("send_mail", &caller("bob", Some("x"))), Ok(()));
    assert_eq!(enter("send_mail", &caller("ann", None)), Ok(()));
}

#[test]
fn what_there_is_no_room_for_is_refused() {
    let (sequences, now, rules) = (Sequences::default(), Instant::now(), rule(SequenceScope::Chain));
    let enter = |name: &str, chain: usize, now| {
        sequences.enter(&rules, ("read_secret", &caller(name, Some(&chain.to_string()))), now)
    };
    for number in 0..MOST_OF_ONE {
        assert_eq!(enter("ann", number, now), Ok(()));
    }
    assert_eq!(enter("ann", MOST_OF_ONE, now), Err(Stopped::Full));
    // What is remembered stays, others have room, and time makes room.
    assert!(sequences.look(&rules, ("send_mail", &caller("ann", Some("0"))), now).is_err());
    assert_eq!((enter("ann", 7, now), enter("bob", 0, now)), (Ok(()), Ok(())));
    sequences.sweep(now + TTL);
    assert_eq!(sequences.all().len(), 0);
    assert_eq!(enter("ann", MOST_OF_ONE, now + TTL), Ok(()));
}

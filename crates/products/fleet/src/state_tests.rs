//! Stages from gates, waivers, holds and time.

use super::*;
use crate::config::Fleet;
use crate::gate::{Finding, Judged};

const NOW: i64 = 1_800_000_000;

fn fleet() -> Fleet {
    let text = "servers:\n  - { name: a, owner: o, source: s, command: [x], stage: 6 }\n";
    Fleet::read(text, ".".into()).expect("valid")
}

fn record(gate: GateKind, outcome: Outcome) -> Record {
    let mut judged = Judged::new(outcome, "x");
    if outcome == Outcome::Fail {
        judged.findings = ["one", "two"].map(finding).to_vec();
    }
    Record { gate, judged, at: NOW - DAY, ms: 1, version: 1, key: "k".to_owned() }
}

fn finding(rule: &str) -> Finding {
    let text = |text: &str| text.to_owned();
    Finding { rule: text(rule), level: text("high"), place: text(""), message: text("m"), fix: text("f"), fails: true }
}

/// All gates are green but those that are named.
fn kept(others: &[(GateKind, Outcome)]) -> Kept {
    let outcome = |gate| others.iter().find(|(other, _)| *other == gate).map_or(Outcome::Pass, |(_, outcome)| *outcome);
    let records =
        GateKind::ALL.into_iter().filter(|gate| *gate != GateKind::Listed).map(|gate| record(gate, outcome(gate)));
    Kept { records: records.collect(), ..Kept::default() }
}

fn stage(kept: Kept) -> usize {
    let fleet = fleet();
    ServerState::of(&fleet, &fleet.servers[0], kept, NOW).stage
}

#[test]
fn the_stage_is_the_last_before_a_gate_that_is_not_green() {
    assert_eq!(stage(kept(&[])), 8);
    for (gate, expected) in [
        (GateKind::Starts, 1),
        (GateKind::Described, 2),
        (GateKind::Conforms, 3),
        (GateKind::Tested, 4),
        (GateKind::Scanned, 5),
        (GateKind::Locked, 5),
        (GateKind::Fast, 6),
        (GateKind::Ready, 6),
        (GateKind::Evaluated, 7),
        (GateKind::Signed, 7),
    ] {
        for outcome in [Outcome::Fail, Outcome::Incomplete, Outcome::Skipped] {
            assert_eq!(stage(kept(&[(gate, outcome)])), expected, "{gate} {outcome:?}");
        }
        let mut missing = kept(&[]);
        missing.records.retain(|record| record.gate != gate);
        assert_eq!(stage(missing), expected, "{gate} was not run");
        let mut old = kept(&[]);
        old.records.iter_mut().filter(|record| record.gate == gate).for_each(|record| record.at = NOW - 91 * DAY);
        assert_eq!(stage(old), expected, "{gate} is old");
    }
}

fn waiver(gate: GateKind, rule: Option<&str>, expires: i64) -> Waiver {
    let text = |text: &str| text.to_owned();
    Waiver { id: 1, gate, rule: rule.map(text), owner: text("ada"), reason: text("r"), expires }
}

#[test]
fn a_waiver_opens_what_is_red_until_it_ends_and_never_what_is_incomplete() {
    let with =
        |outcome, waivers: &[Waiver]| stage(Kept { waivers: waivers.to_vec(), ..kept(&[(GateKind::Tested, outcome)]) });
    let tested = |rule, expires| waiver(GateKind::Tested, rule, expires);
    assert_eq!(with(Outcome::Fail, &[tested(None, NOW + 1)]), 8);
    assert_eq!(with(Outcome::Fail, &[tested(None, NOW)]), 4, "it has ended");
    assert_eq!(with(Outcome::Fail, &[tested(Some("one"), NOW + 1)]), 4, "one of two findings");
    assert_eq!(with(Outcome::Fail, &[tested(Some("one"), NOW + 1), tested(Some("two"), NOW + 1)]), 8);
    assert_eq!(with(Outcome::Fail, &[waiver(GateKind::Fast, None, NOW + 1)]), 4, "another gate");
    assert_eq!(with(Outcome::Incomplete, &[tested(None, NOW + 1)]), 4);
    assert_eq!(with(Outcome::Skipped, &[tested(None, NOW + 1)]), 8);
    let mut more = kept(&[(GateKind::Tested, Outcome::Fail)]);
    more.records.iter_mut().for_each(|record| record.judged.more = 1);
    more.waivers = vec![tested(Some("one"), NOW + 1), tested(Some("two"), NOW + 1)];
    assert_eq!(stage(more), 4, "there are findings that were not kept");
}

#[test]
fn a_hold_lowers_and_never_raises() {
    let hold = |stage| Some(Hold { stage, by: "ada".to_owned(), reason: "r".to_owned(), at: NOW });
    assert_eq!(stage(Kept { hold: hold(3), ..kept(&[]) }), 3);
    assert_eq!(stage(Kept { hold: hold(7), ..kept(&[(GateKind::Tested, Outcome::Fail)]) }), 4);
}

#[test]
fn as_wanted_is_neither_below_nor_fallen() {
    let fleet = fleet();
    let state = |kept| ServerState::of(&fleet, &fleet.servers[0], kept, NOW);
    assert!(state(kept(&[])).is_as_wanted());
    assert!(!state(kept(&[(GateKind::Tested, Outcome::Fail)])).is_as_wanted());
    let fallen = state(Kept { last_stage: Some(8), ..kept(&[(GateKind::Signed, Outcome::Fail)]) });
    assert!(fallen.has_fallen() && !fallen.is_as_wanted());
}

#[test]
fn what_helps_most_comes_first() {
    let text = "servers:\n  - { name: a, owner: o, source: s, command: [x], stage: 6 }\n  - { name: b, owner: o, source: s, command: [y] }\n";
    let fleet = Fleet::read(text, ".".into()).expect("valid");
    let of = |at: usize, others: &[(GateKind, Outcome)]| ServerState::of(&fleet, &fleet.servers[at], kept(others), NOW);
    let first = |states: &[ServerState<'_>]| crate::next::actions(&fleet, states).first().cloned();
    assert_eq!(first(&[of(0, &[]), of(1, &[])]), None);
    let action = first(&[of(0, &[(GateKind::Locked, Outcome::Fail)]), of(1, &[(GateKind::Conforms, Outcome::Fail)])]);
    assert_eq!(action.map(|action| (action.gate, action.servers)), Some((GateKind::Locked, vec!["a".to_owned()])));
    let both = first(&[of(0, &[(GateKind::Ready, Outcome::Fail)]), of(1, &[(GateKind::Ready, Outcome::Fail)])]);
    assert_eq!(both.map(|action| action.servers.len()), Some(2), "the same cause is one action");
    let mut missing = kept(&[(GateKind::Ready, Outcome::Fail)]);
    missing.records.retain(|record| record.gate != GateKind::Conforms);
    let action = first(&[ServerState::of(&fleet, &fleet.servers[0], missing, NOW)]).expect("an action");
    assert!(action.command.starts_with("proof fleet run"), "{action:?}");
}

#[test]
fn filters_choose() {
    let fleet = fleet();
    let state = ServerState::of(&fleet, &fleet.servers[0], kept(&[(GateKind::Tested, Outcome::Fail)]), NOW);
    for (filter, expected) in [
        ("", true),
        ("stage<6", true),
        ("stage>=5", false),
        ("gate:tested=fail", true),
        ("gate:tested=pass", false),
        ("owner:O", true),
        ("owner:x", false),
        ("-owner:x below", true),
        ("held", false),
        ("age>0.5d", true),
        ("age>7d", false),
        ("stage=4 name:a", true),
    ] {
        let parsed = crate::filter::Filter::parse(filter).expect(filter);
        assert_eq!(parsed.fits(&state, NOW), expected, "{filter}");
    }
    for filter in
        ["gate:", "gate:zzz", "is:red", "is:", "gate:x=fail", "gate:tested=red", "stage<x", "colour:red", "size>3"]
    {
        assert!(crate::filter::Filter::parse(filter).is_err(), "{filter}");
    }
}

#[test]
fn the_words_of_the_page_look_at_the_gates_that_are_named() {
    let fleet = fleet();
    let mut some = kept(&[(GateKind::Scanned, Outcome::Fail), (GateKind::Tested, Outcome::Incomplete)]);
    some.records.retain(|record| record.gate != GateKind::Ready);
    let state = ServerState::of(&fleet, &fleet.servers[0], some, NOW);
    for (filter, expected) in [
        ("is:failed", true),
        ("gate:scan is:failed", true),
        ("gate:scan is:failed owner:o stage:<6", true),
        ("gate:test is:failed", false),
        ("gate:test is:incomplete", true),
        ("gate:test -is:failed", true),
        ("-gate:scan is:failed", false),
        ("gate:s is:failed", true),
        ("gate:ready", false),
        ("gate:scanned", true),
        ("is:stale", true),
        ("gate:scan is:stale", false),
        ("is:waived", false),
        ("is:below", true),
        ("stage:6", false),
        ("stage:>=1", true),
    ] {
        let parsed = crate::filter::Filter::parse(filter).expect(filter);
        assert_eq!(parsed.fits(&state, NOW), expected, "{filter}");
    }
    let running = crate::filter::Filter::parse("gate:fast is:running").expect("a filter");
    assert!(!running.fits(&state, NOW) && running.fits_while(&state, NOW, &[GateKind::Fast]));
    assert!(!running.fits_while(&state, NOW, &[GateKind::Tested]));
}

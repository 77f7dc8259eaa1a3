//! Any mark: the tests of the file format and of redaction write and read them.

use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::RequestId;
use wire::trace::{Limit, Mark, MarkKind, Signal, Stimulus, StimulusKind};

fn id() -> impl Strategy<Value = RequestId> {
    prop_oneof![any::<i64>().prop_map(RequestId::from), "\\PC{0,4}".prop_map(|text| RequestId::from(text.as_str()))]
}

fn stimulus() -> impl Strategy<Value = Stimulus> {
    (prop::sample::select(StimulusKind::ALL.to_vec()), "\\PC{0,9}").prop_map(|(kind, text)| match kind {
        StimulusKind::InvalidCursor => Stimulus::InvalidCursor,
        StimulusKind::RequestInPieces => Stimulus::RequestInPieces,
        StimulusKind::FailingCall => Stimulus::FailingCall,
        StimulusKind::AskingCall => Stimulus::AskingCall,
        StimulusKind::MadeUpToken => Stimulus::MadeUpToken,
        StimulusKind::ForeignToken => Stimulus::ForeignToken,
        StimulusKind::Origin => Stimulus::Origin { url: text },
        StimulusKind::ClientIdGiven => Stimulus::ClientIdGiven { client_id: text },
    })
}

/// A mark of every kind that we write.
pub fn mark() -> impl Strategy<Value = Mark> {
    let signal = prop::sample::select(vec![Signal::Int, Signal::Term, Signal::Kill]);
    let limit = prop::sample::select(Limit::ALL.to_vec());
    let kind = prop::sample::select(MarkKind::ALL.to_vec());
    let numbers = (any::<u64>(), id(), any::<bool>());
    (kind, "\\PC{0,9}", numbers, stimulus(), signal, limit).prop_map(
        |(kind, text, (number, id, open), stimulus, signal, limit)| match kind {
            MarkKind::Stimulus => Mark::Stimulus(stimulus),
            MarkKind::WindowOpened => Mark::WindowOpened(text),
            MarkKind::WindowClosed => Mark::WindowClosed(text),
            MarkKind::StdinClosed => Mark::StdinClosed,
            MarkKind::Signal => Mark::Signal(signal),
            MarkKind::Survivors => Mark::Survivors(number),
            MarkKind::Memory => Mark::Memory(number),
            MarkKind::Unanswered => Mark::Unanswered { id, after_ms: number },
            MarkKind::PortTried => Mark::PortTried { address: text, open },
            MarkKind::Scenario => Mark::Scenario(text),
            MarkKind::CommandStarted => Mark::CommandStarted,
            MarkKind::Limit => Mark::Limit(limit),
        },
    )
}

/// What a mark's value may hold in a file that others wrote.
fn value() -> impl Strategy<Value = Value> {
    let names = [MarkKind::ALL.map(MarkKind::as_str).to_vec(), StimulusKind::ALL.map(StimulusKind::as_str).to_vec()];
    let text = prop_oneof![prop::sample::select(names.concat()).prop_map(str::to_owned), "[A-Za-z]{0,5}"];
    let plain = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f32>().prop_map(|number| json!(number)),
        text.prop_map(Value::from),
    ];
    let members = ["what", "url", "client_id", "id", "after_ms", "address", "open"];
    let object = prop::collection::vec((prop::sample::select(members.to_vec()), plain.clone()), 0..3)
        .prop_map(|members| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
    prop_oneof![plain, object]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_mark_survives_its_text(mark in mark()) {
        prop_assert_eq!(Mark::read(mark.name(), mark.value()), mark);
    }

    #[test]
    fn no_member_of_a_foreign_mark_is_lost(
        kind in option::of(prop::sample::select(MarkKind::ALL.to_vec())),
        other in "[a-z-]{0,6}",
        value in value(),
    ) {
        let name = kind.map_or(other, |kind| kind.as_str().to_owned());
        let mark = Mark::read(&name, value.clone());
        prop_assert_eq!(mark.name(), name.as_str());
        // `{"what": NAME}` and `NAME` mean the same.
        let short = value.get("what").filter(|_| value.as_object().is_some_and(|members| members.len() == 1));
        let written = mark.value();
        prop_assert!(written == value || short == Some(&written), "{value} became {written}");
    }
}

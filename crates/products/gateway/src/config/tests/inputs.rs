//! `inputs`: what is read, and what is refused.

use super::{FULL, mentions, settings, upstream};
use crate::settings::{InputRule, InputSettings, Personal, SecretInputs, UnknownInputs};

fn file(inputs: &str) -> String {
    format!("{}inputs:{inputs}\n", upstream("command: [x]"))
}

#[test]
fn what_becomes_of_arguments_is_read() {
    let rule = InputRule { unknown: UnknownInputs::Drop, secrets: SecretInputs::Mask, personal: vec![Personal::Email] };
    let tools = vec![
        ("login".to_owned(), InputRule { secrets: SecretInputs::Pass, ..rule.clone() }),
        (
            "send_*".to_owned(),
            InputRule { unknown: UnknownInputs::Refuse, secrets: SecretInputs::Refuse, personal: vec![] },
        ),
    ];
    assert_eq!(settings(FULL).inputs, Some(InputSettings { rule, tools }));
    assert_eq!(settings(&upstream("command: [x]")).inputs, None);
    let some = settings(&file(" { tools: { a: { unknown: refuse } } }")).inputs.expect("inputs");
    assert_eq!((some.rule, some.tools[0].1.unknown), (InputRule::default(), UnknownInputs::Refuse));
}

#[test]
fn what_becomes_of_arguments_is_checked() {
    mentions(&file(""), &["`inputs` has no value"]);
    mentions(&file(" {}"), &["`inputs` changes nothing", "unknown: drop"]);
    mentions(&file(" { unknown: pass }"), &["`inputs` changes nothing"]);
    mentions(&file(" { unknown: remove }"), &["`remove` is not a value of `unknown`"]);
    mentions(&file(" { secrets: true }"), &["`secrets` is true or false, not a text"]);
    mentions(&file(" { personal: [email] }"), &["`personal` has no effect with `secrets: pass`"]);
    mentions(&file(" { secrets: mask, personal: [name] }"), &["`name` is no kind of personal data"]);
    mentions(&file(" { unknown: drop, tools: { a: drop } }"), &["`a` is a text, not a mapping"]);
}

//! `confirm` and `sequences`: what is read, and what is refused.

use std::time::Duration;

use super::{FULL, mentions, settings, upstream};
use crate::access::check_all;
use crate::settings::{Effect, SequenceRule, SequenceScope};

fn file(members: &str) -> String {
    format!("{}{members}\n", upstream("command: [x]"))
}

#[test]
fn what_stands_before_calls_is_read() {
    let full = settings(FULL);
    let confirm = full.confirm.expect("confirm");
    assert_eq!(confirm.wait, Duration::from_secs(90));
    let [rule] = &confirm.rules[..] else { panic!("{confirm:?}") };
    assert_eq!((rule.effect, rule.tools.as_deref()), (Effect::Deny, Some(&["delete_*".to_owned()][..])));
    assert_eq!(rule.condition.as_ref().map(|one| one.text.as_str()), Some("arguments.path != \"/tmp\""));
    let sequence = SequenceRule {
        after: vec!["read_secret*".to_owned()],
        deny: vec!["send_*".to_owned()],
        ttl: Duration::from_mins(20),
        per: SequenceScope::Chain,
    };
    assert_eq!(full.sequences, [sequence]);
    let least = settings(&file("confirm: { rules: [{}] }\nsequences: [{ after: [a], deny: [b], ttl: 1s }]"));
    let confirm = least.confirm.expect("confirm");
    assert_eq!((confirm.wait, confirm.rules[0].tools.as_ref()), (Duration::from_mins(2), None));
    assert_eq!(least.sequences[0].per, SequenceScope::Principal);
    let none = settings(&upstream("command: [x]"));
    assert!(none.confirm.is_none() && none.sequences.is_empty());
}

#[test]
fn what_stands_before_calls_is_checked() {
    mentions(&file("confirm: {}"), &["`confirm` has no `rules`"]);
    mentions(&file("confirm: { rules: [] }"), &["`rules` does not have 1 to 1000 rules"]);
    mentions(&file("confirm: { rules: [{ tools: [] }] }"), &["`tools` is empty"]);
    mentions(&file("confirm: { rules: [{ prompts: [a] }] }"), &["the key `prompts` is unknown here"]);
    mentions(&file("confirm: { wait: 0s, rules: [{}] }"), &["is out of range"]);
    mentions(&file("sequences: {}"), &["`sequences` is a mapping, not a list"]);
    mentions(&file("sequences: [{ after: [a], deny: [b] }]"), &["the rule has no `ttl`"]);
    mentions(&file("sequences: [{ deny: [b], ttl: 1s }]"), &["the rule has no `after`"]);
    mentions(&file("sequences: [{ after: [a], deny: [b], ttl: 1s, per: user }]"), &["`user` is not a value of `per`"]);
    let error = check_all(&settings(&file("confirm: { rules: [{}, { when: user == 1 }] }"))).expect_err("no `user`");
    assert!(error.to_string().starts_with("the condition of confirm rule 2 is wrong"), "{error}");
}

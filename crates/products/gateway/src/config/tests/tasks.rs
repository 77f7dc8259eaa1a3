//! `tasks`: what is read, and what is refused.

use std::time::Duration;

use super::{FULL, mentions, settings, upstream};
use crate::settings::TaskSettings;

fn file(members: &str) -> String {
    format!("{}tasks: {members}\n", upstream("command: [x]"))
}

#[test]
fn tasks_are_read() {
    let tasks = settings(FULL).tasks.expect("tasks");
    let expected = TaskSettings {
        over: Duration::from_secs(8),
        tools: vec!["render_*".to_owned()],
        ttl: Duration::from_mins(20),
        poll: Duration::from_secs(2),
        per_principal: 4,
    };
    assert_eq!(tasks, expected);
    let usual = settings(&file("")).tasks.expect("tasks");
    assert_eq!((usual.over, usual.ttl), (Duration::from_secs(10), Duration::from_mins(15)));
    assert_eq!(settings(&upstream("command: [x]")).tasks, None);
}

#[test]
fn tasks_are_checked() {
    mentions(&file("{ over: 10 }"), &["`10` has no unit"]);
    mentions(&file("{ per_principal: 0 }"), &["`per_principal` is not a whole number from 1 to 1000"]);
    mentions(&file("{ ttl: 1s, poll: 2s }"), &["`poll` is longer than `ttl`"]);
    mentions(&file("{ tool: [x] }"), &["the key `tool` is unknown here", "tools"]);
}

//! `interceptors`: what is read, and what is refused.

use std::time::Duration;

use super::{FULL, SECRET, mentions, settings, upstream};
use crate::settings::{InterceptorSettings, InterceptorTarget};

fn file(members: &str) -> String {
    format!("{}interceptors: [{{ {members} }}]\n", upstream("command: [x]"))
}

#[test]
fn interceptors_are_read() {
    let all = settings(FULL).interceptors;
    let [guard, terms] = all.as_slice() else { panic!("{all:?}") };
    let InterceptorTarget::Http(address) = &guard.target else { panic!("{guard:?}") };
    assert_eq!((guard.name.as_str(), address.url.as_str()), ("guard", "https://guard.example/check"));
    assert_eq!(address.headers, [("Api-Key".to_owned(), SECRET.to_owned())]);
    assert!(address.egress.is_some());
    assert_eq!(guard.methods, ["tools/call", "resources/read"]);
    assert_eq!((guard.before, guard.after, guard.fails_open, guard.passes_secrets), (true, false, true, true));
    assert_eq!((guard.timeout, guard.answer_bytes), (Duration::from_millis(250), 64 << 10));
    assert_eq!((guard.at_once, guard.retries), (8, 2));
    assert_eq!(
        (guard.claims.as_slice(), guard.headers.as_slice()),
        (["sub", "org"].map(str::to_owned).as_slice(), ["x-team".to_owned()].as_slice())
    );
    assert_eq!(guard.names, ["search_*"]);
    let InterceptorTarget::Command(command, inherit) = &terms.target else { panic!("{terms:?}") };
    assert_eq!((command.program.as_str(), command.args.as_slice()), ("terms", ["--strict".to_owned()].as_slice()));
    assert_eq!((command.env.len(), inherit.as_slice()), (1, ["LANG".to_owned()].as_slice()));
    let target = terms.target.clone();
    assert_eq!(*terms, InterceptorSettings::new("terms", target));
    assert!(settings(&upstream("command: [x]")).interceptors.is_empty());
}

#[test]
fn interceptors_are_checked() {
    let part = |members: &str, parts: &[&str]| mentions(&file(members), parts);
    part("url: 'http://x'", &["the interceptor has no `name`"]);
    part("name: a", &["needs either a `url` or a `command`"]);
    part("name: a, url: 'http://x', command: [x]", &["needs either a `url` or a `command`"]);
    part("name: 'a b', url: 'http://x'", &["the name `a b` is invalid"]);
    part("name: a, url: 'ws://x'", &["is not an http or https URL"]);
    part("name: a, url: 'http://x', env: { A: b }", &["`env` needs a `command`"]);
    part("name: a, command: [x], headers: { A: b }", &["`headers` needs a `url`"]);
    part("name: a, command: []", &["`command` names no program"]);
    part("name: a, url: 'http://x', methods: [tools/list]", &["`tools/list` is not a value of `methods`"]);
    part("name: a, url: 'http://x', when: []", &["`when` is empty"]);
    part("name: a, url: 'http://x', when: [between]", &["`between` is not a value of `when`"]);
    part("name: a, url: 'http://x', timeout: 6m", &["`timeout` is longer than 5 min"]);
    part("name: a, url: 'http://x', on_failure: shut", &["`shut` is not a value of `on_failure`"]);
    part("name: a, url: 'http://x', secrets: show", &["`show` is not a value of `secrets`"]);
    part("name: a, url: 'http://x', retries: 6", &["not a whole number from 1 to 5"]);
    for header in ["Host", "Mcp-Session-Id", "Content-Length", "'a b'", "Transfer-Encoding"] {
        let parts = ["an interceptor cannot add the header"];
        part(&format!("name: a, url: 'http://x', add_headers: [{header}]"), &parts);
    }
    mentions(&format!("{}interceptors: []\n", upstream("command: [x]")), &["`interceptors` has 0 entries"]);
    let twice = "interceptors: [{ name: a, command: [x] }, { name: a, command: [y] }]";
    mentions(&format!("{}{twice}\n", upstream("command: [x]")), &["two interceptors are called `a`"]);
    let outside = "egress: { hosts: [x] }\ninterceptors: [{ name: a, url: 'https://guard.example' }]";
    mentions(&format!("{}{outside}\n", upstream("command: [x]")), &["the host is not in `hosts`"]);
}

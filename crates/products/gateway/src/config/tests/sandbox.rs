//! `sandbox`: what is read, and what is refused.

use std::path::PathBuf;

use net::process::{Ports, Sandbox};

use super::{FULL, mentions, settings, upstream};
use crate::settings::{Settings, Target};

fn sandbox(settings: &Settings) -> Option<&Sandbox> {
    let Target::Command { limits, .. } = &settings.upstreams[0].target else { panic!("{settings:?}") };
    limits.sandbox.as_ref()
}

fn file(sandbox: &str) -> String {
    upstream(&format!("command: [x], sandbox: {sandbox}"))
}

#[test]
fn what_a_program_may_reach_is_read() {
    let expected = Sandbox {
        is_required: true,
        readable: vec![PathBuf::from("/srv/tools")],
        writable: vec![PathBuf::from("/data"), PathBuf::from("etc/cache")],
        connect: Ports::Only(vec![443, 8443]),
        listen: vec![0],
    };
    assert_eq!(sandbox(&settings(FULL)), Some(&expected));
    assert_eq!(sandbox(&settings(&upstream("command: [x]"))), None);
    let required = Sandbox { is_required: true, ..Sandbox::default() };
    assert_eq!(sandbox(&settings(&file("required"))), Some(&required));
    let any = Sandbox { connect: Ports::Any, ..Sandbox::default() };
    assert_eq!(sandbox(&settings(&file("{ mode: preferred, connect: any }"))), Some(&any));
}

#[test]
fn what_a_program_may_reach_is_checked() {
    mentions(&file("sometimes"), &["`sometimes` does not say whether the sandbox is needed"]);
    mentions(&file("{}"), &["`sandbox` has no `mode`"]);
    mentions(&file("{ mode: required, readable: /data }"), &["`readable` is a text, not a list"]);
    mentions(&file("{ mode: required, writable: [~/data] }"), &["`~` is a matter of shells"]);
    mentions(&file("{ mode: required, writable: [\"\"] }"), &["an entry of `writable` is not a path"]);
    mentions(&file("{ mode: required, connect: [0] }"), &["an entry of `connect` is not a port", "from 1 to 65535"]);
    mentions(&file("{ mode: required, listen: [65536] }"), &["an entry of `listen` is not a port", "from 0 to 65535"]);
    mentions(&upstream("url: https://a.example/mcp, sandbox: required"), &["`sandbox` needs a `command`"]);
}

//! A recording's secrets are replaced before it is written: what is judged live must be judged alike from a file.

use std::fs;
use std::path::Path;

use rules::judge::{judge, revision_of};
use rules::{Verdict, View, find};
use wire::redact::Redactor;
use wire::trace::{Trace, file};

fn verdict(id: &str, trace: &Trace) -> Verdict {
    let rule = find(id).expect("a fixture belongs to a rule");
    let events = trace.events();
    let revision = revision_of(trace).expect("the fixture names its revision");
    judge(rule, &View::new(trace, &events, revision))
}

#[test]
fn redacted_traces_of_clients_on_their_way_to_a_token_are_judged_alike() {
    let redactor = Redactor::new([7; 32]);
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for rule in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")).expect("fixtures") {
        let folder = rule.expect("entry").path();
        let id = folder.file_name().and_then(|name| name.to_str()).expect("UTF-8").to_owned();
        if !id.starts_with("oauth.") {
            continue;
        }
        for entry in fs::read_dir(&folder).expect("fixtures") {
            let path = entry.expect("entry").path();
            let trace = file::read(&fs::read_to_string(&path).expect("a text file")).expect("a trace");
            let (live, stored) = (verdict(&id, &trace), verdict(&id, &redactor.redact_trace(&trace)));
            compared += 1;
            if live.weight() != stored.weight() {
                wrong.push(format!("{}: {live:?} live, {stored:?} from a file", path.display()));
            }
        }
    }
    assert!(compared > 200, "only {compared} traces were compared");
    assert!(wrong.is_empty(), "{} traces are judged otherwise:\n{}", wrong.len(), wrong.join("\n"));
}

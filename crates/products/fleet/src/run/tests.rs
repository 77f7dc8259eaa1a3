//! What a run says before it waits.

use fleet_store::{JobState, ResultKey, State};

use super::waits_for;

#[test]
fn a_run_says_that_it_waits_for_jobs_of_another_run_alone() {
    let job = |run| JobState {
        id: 1,
        kind: "gate".to_owned(),
        result: ResultKey { version: 1, gate: "conforms".to_owned(), key: "k.0".to_owned() },
        run,
        state: State::Leased,
        attempt: 1,
        leased_by: None,
        error: None,
    };
    assert_eq!(waits_for(&[job(Some(2))], 2), None);
    let text = waits_for(&[job(Some(1)), job(Some(2))], 2).expect("a text");
    assert_eq!(text, "waiting for 1 job of another run: up to 30 s if it was interrupted");
}

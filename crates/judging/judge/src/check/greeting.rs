//! At which revisions a server is judged, given how it greets in each: a greeting that is broken is judged, and not sorted
//! out. Does not greet; asks one thing of a server whose greeting is missing.

use std::sync::Arc;

use net::client::{Detected, OtherGreeting};
use serde_json::json;
use wire::error_code::METHOD_NOT_FOUND;
use wire::{Revision, Transport};

use super::RevisionChoice;
use super::context::{ProbeContext, Setting};

/// A server of older revisions that does not know `server/discover` may serve 2026-07-28 all the same: a list that is
/// answered as only that revision does shows it. Asked over HTTP alone, where it costs one request and no process.
pub async fn look_past_discovery(found: &mut Detected, mut modern: Setting) {
    let is_newest = |(revision, _): &&mut (Revision, OtherGreeting)| *revision == Revision::NEWEST;
    let Some((_, greeting)) = found.others.iter_mut().find(is_newest) else { return };
    if found.transport != Transport::StreamableHttp || !matches!(greeting, OtherGreeting::Error(_)) {
        return;
    }
    // Redirects were followed.
    modern.address = found.address.clone();
    let Ok(case) = ProbeContext::bare(Arc::new(modern), Arc::default(), "without-discovery").await else { return };
    let reply = case.in_time(case.request("tools/list", json!({}))).await;
    let is_modern = reply.is_ok_and(|reply| reply.result().is_some_and(|result| result.get("resultType").is_some()));
    case.finish().await;
    if is_modern {
        *greeting = OtherGreeting::WithoutVersion;
    }
}

/// The revisions to judge at, oldest first; empty where the server properly refuses all that are wanted.
pub fn judged_at(choice: &RevisionChoice, found: &Detected) -> Vec<Revision> {
    let is_named = !choice.named().is_empty();
    let serves_nothing = found.revisions.is_empty();
    let is_broken = |greeting: OtherGreeting| match greeting {
        OtherGreeting::Refused => false,
        OtherGreeting::WithoutVersion => true,
        // A server of the other era does not know the method.
        OtherGreeting::Error(Some(METHOD_NOT_FOUND)) => is_named && serves_nothing,
        OtherGreeting::Error(_) => is_named || serves_nothing,
    };
    let broken = found.others.iter().filter(|(_, greeting)| is_broken(*greeting)).map(|(revision, _)| *revision);
    let mut all: Vec<_> = found.revisions.iter().copied().chain(broken).collect();
    all.sort_unstable();
    choice.of(&all)
}

#[cfg(test)]
mod tests {
    use net::client::{Address, Command, Detected, OtherGreeting};
    use wire::{Revision, Transport};

    use super::judged_at;
    use crate::check::RevisionChoice::{All, NewestOfEachEra, These};

    fn found(served: &[Revision], others: &[(Revision, OtherGreeting)]) -> Detected {
        Detected {
            address: Address::Stdio(Command::new("x", Vec::<String>::new())),
            transport: Transport::Stdio,
            revisions: served.to_vec(),
            introductions: Vec::new(),
            others: others.to_vec(),
            unknown: Vec::new(),
            evidence: Vec::new(),
        }
    }

    #[test]
    fn a_broken_greeting_is_judged_and_a_proper_refusal_is_not() {
        let [_, _, older, newest, modern] = Revision::ALL;
        let without = OtherGreeting::WithoutVersion;
        let (unknown, internal) = (OtherGreeting::Error(Some(-32601)), OtherGreeting::Error(Some(-32603)));
        let legacy = found(&[older, newest], &[(modern, unknown)]);
        assert_eq!(judged_at(&NewestOfEachEra, &legacy), [newest]);
        assert_eq!(judged_at(&These(vec![modern]), &legacy), []);
        let odd = found(&[older, newest], &[(modern, internal)]);
        assert_eq!(judged_at(&NewestOfEachEra, &odd), [newest], "perhaps it only speaks the legacy era");
        assert_eq!(judged_at(&These(vec![modern]), &odd), [modern]);
        let refusing = found(&[newest], &[(older, OtherGreeting::Refused)]);
        assert_eq!(judged_at(&These(vec![older]), &refusing), []);
        assert_eq!(judged_at(&All, &refusing), [newest]);
        let both = found(&[modern], &[(older, without), (newest, without)]);
        assert_eq!(judged_at(&NewestOfEachEra, &both), [newest, modern]);
        let none = found(&[], &[(older, unknown), (newest, unknown), (modern, unknown)]);
        assert_eq!(judged_at(&NewestOfEachEra, &none), [], "another protocol");
        assert_eq!(judged_at(&These(vec![newest]), &none), [newest]);
    }
}

//! At which revisions a server is judged, given how it greets in each: a greeting that is broken is judged, and not sorted
//! out. Does not greet; asks one thing of a server whose greeting is missing.

use std::sync::Arc;

use net::client::{Detected, OtherGreeting};
use serde_json::json;
use wire::error_code::METHOD_NOT_FOUND;
use wire::{Era, Revision, Transport};

use super::RevisionChoice;
use super::context::{ProbeContext, Setting};

/// A server that does not know `server/discover`, or fails at it, may serve 2026-07-28 all the same: a list that is answered
/// as only that revision does shows it. Over HTTP it costs one request; a process, only where nothing else is served.
pub async fn look_past_discovery(found: &mut Detected, mut modern: Setting) {
    let is_newest = |(revision, _): &&mut (Revision, OtherGreeting)| *revision == Revision::NEWEST;
    let Some((_, greeting)) = found.others.iter_mut().find(is_newest) else { return };
    let is_cheap = found.transport == Transport::StreamableHttp || found.revisions.is_empty();
    if !is_cheap || !matches!(greeting, OtherGreeting::Error(_)) {
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
    let is_broken = |revision: Revision, greeting: OtherGreeting| match greeting {
        OtherGreeting::Refused => false,
        OtherGreeting::WithoutVersion => true,
        // A server of the other era does not know the method.
        OtherGreeting::Error(Some(METHOD_NOT_FOUND)) => is_named && serves_nothing,
        OtherGreeting::Error(_) => is_named || serves_nothing && is_of_no_other_era(revision.era(), &found.others),
    };
    let broken = found.others.iter().filter(|(revision, greeting)| is_broken(*revision, *greeting));
    let broken = broken.map(|(revision, _)| *revision);
    let mut all: Vec<_> = found.revisions.iter().copied().chain(broken).collect();
    all.sort_unstable();
    choice.of(&all)
}

/// Whether a server whose greeting in `era` failed has shown that it is not one of the other era. Silence shows nothing: the
/// answer may come late. An error to `server/discover` shows little: servers of the legacy era refuse all before `initialize`.
fn is_of_no_other_era(era: Era, others: &[(Revision, OtherGreeting)]) -> bool {
    let is_denial = |greeting: OtherGreeting| match greeting {
        OtherGreeting::Refused => true,
        OtherGreeting::WithoutVersion => false,
        OtherGreeting::Error(code) => era == Era::Legacy || code == Some(METHOD_NOT_FOUND),
    };
    let mut greetings =
        others.iter().filter(|(revision, _)| revision.era() != era).map(|(_, greeting)| *greeting).peekable();
    greetings.peek().is_some() && greetings.all(is_denial)
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
    #[test]
    fn an_error_to_one_greeting_is_judged_only_where_the_server_is_not_of_the_other_era() {
        let [_, _, older, newest, modern] = Revision::ALL;
        let error = |code| OtherGreeting::Error(Some(code));
        let judged = |others: &[(Revision, OtherGreeting)]| judged_at(&NewestOfEachEra, &found(&[], others));
        assert_eq!(judged(&[(modern, error(0))]), [], "`initialize` may be answered late");
        assert_eq!(judged(&[(newest, error(-32603))]), [], "`server/discover` may be");
        assert_eq!(judged(&[(newest, error(-32603)), (modern, error(0))]), [newest]);
        assert_eq!(judged(&[(newest, OtherGreeting::WithoutVersion), (modern, error(0))]), [newest]);
        assert_eq!(judged(&[(older, error(-32601)), (newest, error(-32601)), (modern, error(-32603))]), [modern]);
        assert_eq!(judged(&[(newest, OtherGreeting::Refused), (modern, error(-32603))]), [modern]);
        assert_eq!(judged(&[(newest, error(-32601)), (modern, OtherGreeting::WithoutVersion)]), [modern]);
        assert_eq!(judged_at(&These(vec![modern]), &found(&[], &[(modern, error(0))])), [modern], "asked for");
    }
}

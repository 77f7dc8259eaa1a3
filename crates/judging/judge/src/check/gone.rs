//! A server that can no longer be reached: nothing can be played a second time then. What confirms its end is that it stays
//! away. Over stdio every play has a process of its own, so that this concerns networks alone.

use std::time::Duration;

use rules::Verdict;
use wire::trace::{Content, Frame, Trace};
use wire::{Transport, message};

use super::run::Stage;
use crate::judging::{Defect, Judged, is_unreached};

/// The rule under which the end of a server is reported.
const GONE: &str = "safety.keeps-answering";

/// What the end of a server breaks.
const ENDED: [&str; 2] = ["jsonrpc.answered-before-end", GONE];

/// Why the other sessions, which the end of the server ended too, say nothing more.
const ELSEWHERE: &str = "the server ended, which is reported under `safety.keeps-answering`";

/// How long it is waited before each attempt to reach it: what starts it again may take a moment.
const ATTEMPTS: [Duration; 3] = [Duration::ZERO, Duration::from_millis(400), Duration::from_millis(1200)];

impl Stage {
    /// Confirms what says that the server ended, where nothing listens there any more. It ended once: the session that most
    /// likely ended it reports that.
    pub(super) async fn confirm_the_end(&self, cases: &mut [Judged]) {
        let says_so = |case: &Judged| case.suspicions().iter().any(|one| ENDED.contains(&one.rule));
        if self.setting.transport == Transport::Stdio || !cases.iter().any(says_so) || !self.is_gone().await {
            return;
        }
        report_once(cases);
        for case in &*cases {
            for suspicion in case.suspicions().iter().filter(|one| ENDED.contains(&one.rule)) {
                self.confirm_at_once(suspicion, case.defects.get(suspicion.rule));
            }
        }
    }

    /// Whether no attempt brings a connection about. A server that answers in whatever way is there.
    async fn is_gone(&self) -> bool {
        let stage = self.undisturbed();
        for pause in ATTEMPTS {
            tokio::time::sleep(pause).await;
            match stage.greeted("still-there").await {
                Err(trace) if is_unreached_in(&trace) => {}
                _ => return false,
            }
        }
        true
    }
}

/// Whether no connection came about.
fn is_unreached_in(trace: &Trace) -> bool {
    trace.frames.iter().any(|frame| is_unreached(&frame.content))
}

/// Leaves the end of the server to the session that most likely ended it.
fn report_once(cases: &mut [Judged]) {
    let suspects = cases.iter().enumerate().filter_map(|(at, case)| Some((at, likelihood(case, end_of(case)?))));
    let Some((culprit, _)) = suspects.min_by_key(|(_, likelihood)| *likelihood) else { return };
    for (at, case) in cases.iter_mut().enumerate() {
        take_back_ends(case, |rule| at != culprit || rule != GONE);
    }
}

/// How the end of the server shows in a case, if it does.
fn end_of(case: &Judged) -> Option<&Defect> {
    case.verdicts.iter().find(|(rule, verdict)| rule.id == GONE && verdict.is_broken())?;
    case.defects.get(GONE)?.all.first().filter(|end| shows_end(case, end.event))
}

fn shows_end(case: &Judged, event: usize) -> bool {
    case.quoted.get(&event).is_some_and(|frame| is_unreached(&frame.content))
}

/// How likely the last thing that was sent in a session ended the server, the likeliest first: an invalid message, or one that
/// is too long to be kept; what was not answered; what was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likelihood {
    Invalid,
    Open,
    Answered,
}

fn likelihood(case: &Judged, end: &Defect) -> Likelihood {
    let sent = end.before.request.and_then(|request| case.quoted.get(&request));
    if !end.before.is_open {
        Likelihood::Answered
    } else if sent.is_none_or(|frame| !is_message(frame)) {
        Likelihood::Invalid
    } else {
        Likelihood::Open
    }
}

fn is_message(frame: &Frame) -> bool {
    let (Content::Body { bytes, .. } | Content::WebSocket { bytes, .. } | Content::Raw(bytes)) = &frame.content else {
        return false;
    };
    message::parse(bytes).is_ok()
}

/// Takes back what rests on nothing but that the server could not be reached any more.
fn take_back_ends(case: &mut Judged, wanted: impl Fn(&str) -> bool) {
    let ends: Vec<usize> = case.quoted.iter().filter(|(_, f)| is_unreached(&f.content)).map(|(at, _)| *at).collect();
    for (rule, verdict) in &mut case.verdicts {
        let rests_on_it = matches!(verdict, Verdict::Broken(breach) if ends.contains(&breach.event));
        if rests_on_it && wanted(rule.id) {
            *verdict = Verdict::NotSeen(ELSEWHERE.to_owned());
            case.defects.remove(rule.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::Revision;

    use super::{GONE, end_of, report_once};
    use crate::judging::sample::{GREETING, posted_until_gone};
    use crate::judging::{Judged, Selection};

    const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    const PONG: Option<&str> = Some(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);

    /// A session that was greeted, sent `last` and then could not reach the server.
    fn session(name: &'static str, last: (&str, Option<&str>)) -> Judged {
        let trace = posted_until_gone(name, &[GREETING, last]);
        Judged::new(name, Vec::new(), &trace, Revision::R2025_11_25, &Selection::default())
    }

    fn names(cases: &[Judged]) -> Vec<&str> {
        cases.iter().filter(|case| end_of(case).is_some()).map(|case| case.name).collect()
    }

    #[test]
    fn the_session_that_most_likely_ended_the_server_reports_it() {
        let mut cases =
            [session("answered", (PING, PONG)), session("open", (PING, None)), session("invalid", ("\"42\"", None))];
        assert_eq!(names(&cases), ["answered", "open", "invalid"], "the end shows in each");
        report_once(&mut cases);
        assert_eq!(names(&cases), ["invalid"]);
        let case = &cases[2];
        let end = end_of(case).expect("the end");
        assert!(end.why.ends_with("after the invalid message `42` (event 6)"), "{}", end.why);
        assert_eq!(end.before.request, Some(6), "its place shows what was sent last");
        assert!(case.quoted.contains_key(&6));
        let broken: Vec<&str> =
            case.broken().map(|(rule, _)| rule).filter(|rule| rule.starts_with("safety.")).collect();
        assert_eq!(broken, [GONE]);
        let is_told = |rule: &str| cases[1].broken().any(|(broken, _)| broken == rule);
        assert!(is_told("jsonrpc.answered-before-end") && !is_told(GONE), "the same end explains what stays open");
    }

    #[test]
    fn a_request_ended_it_where_nothing_else_was_open() {
        let mut cases = [session("answered", (PING, PONG)), session("open", (PING, None))];
        report_once(&mut cases);
        assert_eq!(names(&cases), ["open"]);
    }
}

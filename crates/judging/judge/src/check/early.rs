//! Findings in a survey that goes on: a server that answers nothing keeps a survey waiting for long, though its first line may
//! show what is wrong. Only rules are believed there that one message breaks, whatever follows it.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::sleep;

use super::context::ProbeContext;
use super::run::{Played, SHARED_SESSION, Stage};
use super::survey::Survey;
use crate::judging::Judged;

/// Rules that one message breaks, together with what came before it.
const OF_ONE_MESSAGE: [&str; 12] = [
    "jsonrpc.error-code-integer",
    "jsonrpc.error-object",
    "jsonrpc.json",
    "jsonrpc.object",
    "jsonrpc.one-kind",
    "jsonrpc.one-message",
    "jsonrpc.result-id",
    "jsonrpc.result-xor-error",
    "jsonrpc.utf8",
    "jsonrpc.version-member",
    "shape.results",
    "stdio.only-messages-on-stdout",
];

/// How long a survey may take before it is looked at, and how often that is done, twice as long after each time.
const FIRST_LOOK: Duration = Duration::from_millis(500);
const LOOKS: u32 = 4;

/// How often a second play is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

impl Stage {
    /// Judges a survey while it goes on, and has played a second time what is found. Never over.
    pub(super) async fn judge_early(&self, case: &ProbeContext) -> Infallible {
        for look in 0..LOOKS {
            sleep(FIRST_LOOK * 2_u32.pow(look)).await;
            let judged = self.of_one_message(case).await;
            if judged.fails() {
                let stage = self.clone();
                self.confirmations.early().spawn(async move { stage.confirm(&judged).await });
                break;
            }
        }
        std::future::pending().await
    }

    /// Waits for what was found early to be played a second time.
    pub(super) async fn early_plays_end(&self) {
        let early = std::mem::take(&mut *self.confirmations.early());
        early.join_all().await;
    }

    /// A survey for the second time, until it shows again that these rules are broken.
    pub(super) async fn survey_again(&self, name: &str, wanted: &[&'static str]) -> Played {
        match ProbeContext::bare(self.setting.clone(), self.survey.clone(), name).await {
            Err((_, trace)) => Played::nothing(trace),
            Ok(case) => {
                tokio::select! {
                    biased;
                    _ = case.in_time(Survey::take(&case)) => {}
                    () = self.seen_again(&case, wanted) => {}
                }
                Played::nothing(case.finish().await)
            }
        }
    }

    async fn seen_again(&self, case: &ProbeContext, wanted: &[&'static str]) {
        if !wanted.iter().all(|rule| OF_ONE_MESSAGE.contains(rule)) {
            return std::future::pending().await;
        }
        let mut frames = 0;
        loop {
            sleep(LOOK_AGAIN).await;
            // A survey of a server that answers in order is over before much has crossed.
            if case.connection().tap().snapshot().frames.len() == frames {
                continue;
            }
            frames = case.connection().tap().snapshot().frames.len();
            let judged = self.of_one_message(case).await;
            if wanted.iter().all(|wanted| judged.broken().any(|(rule, _)| rule == *wanted)) {
                return;
            }
        }
    }

    /// What those rules make of a case that goes on.
    async fn of_one_message(&self, case: &ProbeContext) -> Judged {
        let mut judged = self.so_far(SHARED_SESSION, case).await;
        judged.keep_only(|rule| OF_ONE_MESSAGE.contains(&rule));
        judged
    }
}

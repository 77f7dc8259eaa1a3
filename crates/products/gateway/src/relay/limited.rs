//! The time of a call that has a budget: until when its parts are awaited, and what becomes of it then.

use std::time::{Duration, Instant};

use tokio::time::timeout;
use wire::Message;

use super::Relay;
use crate::budget::is_success;
use crate::upstream::{Conversation, Flight, Trouble};

impl Relay {
    /// How much of the call's time is left: without a budget, more than any other limit.
    pub(super) fn time_left(&self) -> Duration {
        self.allowance.as_ref().map_or(Duration::MAX, |allowance| allowance.left())
    }

    /// Whether the call's time is over.
    pub(super) fn is_over(&self) -> bool {
        self.time_left().is_zero()
    }

    /// What has to be done before the request is sent.
    pub(super) async fn in_time<T>(&self, before: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
        let Some(allowance) = &self.allowance else { return before.await };
        timeout(allowance.left(), before).await.unwrap_or_else(|_| {
            let (after, limit) = allowance.limit();
            // How long a server takes to start says nothing of its tool.
            allowance.learn_nothing();
            allowance.exceeded(self.request, None, Duration::ZERO, 0);
            Err(Trouble::OverLimit { after, limit, is_sent: false })
        })
    }

    /// The request got no answer in its time: that of its budget, or that of every request.
    pub(super) fn gave_up(&self, conversation: &Conversation, flight: Option<Flight>, begun: Instant) -> Trouble {
        let limits = &self.gateway.limits;
        let Some(allowance) = self.allowance.as_ref().filter(|_| self.is_over()) else {
            return conversation.core.gave_up(begun);
        };
        conversation.core.ran_out(begun, limits.request);
        allowance.exceeded(self.request, flight, limits.request, limits.message_bytes);
        let (after, limit) = allowance.limit();
        Trouble::OverLimit { after, limit, is_sent: true }
    }

    /// The same where it has become a task, which its end cancels.
    pub(super) fn over_as_task(&self) -> Option<Trouble> {
        let allowance = self.allowance.as_ref().filter(|_| self.is_over())?;
        allowance.exceeded(self.request, None, Duration::ZERO, 0);
        let (after, limit) = allowance.limit();
        Some(Trouble::OverLimit { after, limit, is_sent: true })
    }

    /// Takes note of what kind of answer it is: only the time of a whole call
    /// that succeeds says something of the tool.
    pub(super) fn learn_from(&self, message: &Message) {
        let Some(allowance) = &self.allowance else { return };
        let is_complete = message.string_member("resultType").is_none_or(|kind| kind == "complete");
        let is_retry = self.call.message.body_member("inputResponses").is_some();
        if !is_success(message) || !is_complete || is_retry || message.body_member("task").is_some() {
            allowance.learn_nothing();
        }
    }
}

//! A request and its record in the audit log.

use std::sync::Arc;

use net::service::{Answer, Call};

use super::{Inner, surviving};
use crate::audit::{AuditLog, Trail};
use crate::failure::{self, Failure};

impl Inner {
    /// Answers one request and records it.
    pub(super) async fn audited(self: Arc<Self>, audit: Arc<AuditLog>, call: Call, trail: Trail) -> Answer {
        let id = call.id().clone();
        let failed = |what: &'static str, failure: Failure| Answer::error(Some(&id), &failure.error(what));
        let Some(audited) = audit.begin(self.stats.number(), self.view.name(), &call).await else {
            return failed(
                "The gateway cannot record this request, and runs none without a record",
                failure::NOT_RECORDED,
            );
        };
        let answer =
            surviving(id.clone(), Box::pin(self.answer(call, audited.trail.clone().traced(trail.trace)))).await;
        let recorded = audited.end(&answer);
        if recorded.await {
            answer
        } else {
            failed("The gateway could not record this request: its answer is withheld", failure::ANSWER_WITHHELD)
        }
    }
}

//! A request and its record in the audit log.

use std::sync::Arc;

use net::service::{Answer, Call, RpcError};
use serde_json::json;

use super::{Inner, surviving};
use crate::audit::AuditLog;

impl Inner {
    /// Answers one request and records it.
    pub(super) async fn audited(self: Arc<Self>, audit: Arc<AuditLog>, call: Call) -> Answer {
        let id = call.id().clone();
        let failed = |what: &'static str, outcome: &str| {
            let data = json!({ "outcome": outcome, "retryable": outcome == "not run" });
            Answer::error(Some(&id), &RpcError::internal(what).with_data(data))
        };
        let Some(audited) = audit.begin(self.stats.number(), self.view.name(), &call).await else {
            return failed("The gateway cannot record this request, and runs none without a record", "not run");
        };
        let answer = surviving(id.clone(), Box::pin(self.answer(call, audited.trail.clone()))).await;
        let recorded = audited.end(&answer);
        if recorded.await {
            answer
        } else {
            failed("The gateway could not record this request: its answer is withheld", "unknown")
        }
    }
}

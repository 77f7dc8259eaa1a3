//! A request and its span.

use std::sync::Arc;

use net::service::{Call, Reply};

use super::Inner;
use crate::audit::Trail;

impl Inner {
    /// Answers a request, within a span where there are spans.
    pub(super) fn reply(self: Arc<Self>, call: Call) -> Reply {
        let Some(telemetry) = &self.telemetry else { return self.replied(call, Trail::default()) };
        let span = telemetry.begin(self.view.name(), &call);
        let reply = self.replied(call, Trail::default().traced(span.trace()));
        Reply::later(async move {
            let answer = match reply {
                Reply::Now(answer) => answer,
                Reply::Later(answer) => answer.await,
            };
            span.end(&answer);
            answer
        })
    }
}

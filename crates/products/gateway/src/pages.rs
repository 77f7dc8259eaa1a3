//! The pages for those who run the gateway: whether it lives, whether it is ready, what it counted. Knows no message.

use std::fmt::Write as _;
use std::time::Duration;

use net::server::http::{Body, Bytes, HeaderValue, HttpFuture, Layer, Method, Next, Request, Response, StatusCode};

use crate::hub::Gateway;

/// How long `/ready` waits for an upstream that was not used yet.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers at `/health`, `/ready` and `/metrics`.
#[derive(Debug)]
pub struct Pages(Gateway);

impl Pages {
    /// The pages of this gateway.
    pub const fn new(gateway: Gateway) -> Self {
        Self(gateway)
    }

    fn metrics(&self) -> String {
        let mut page = self.0.stats().metrics();
        page.push_str(
            "# HELP translation_loss_total What was lost between revisions, by row of the translation table.\n",
        );
        page.push_str("# TYPE translation_loss_total counter\n");
        for (row, count) in self.0.losses().by_row() {
            let _ = writeln!(page, "translation_loss_total{{row=\"{row}\"}} {count}");
        }
        page
    }

    async fn page(&self, path: &str) -> Option<(StatusCode, String)> {
        match path {
            "/health" => Some((StatusCode::OK, "ok\n".to_owned())),
            "/ready" => Some(match self.0.is_ready(PATIENCE).await {
                Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
                Err(missing) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: no answer from {missing}\n")),
            }),
            "/metrics" => Some((StatusCode::OK, self.metrics())),
            _ => None,
        }
    }
}

impl Layer for Pages {
    fn respond<'a>(&'a self, request: Request, next: Next<'a>) -> HttpFuture<'a, Response> {
        Box::pin(async move {
            if !matches!(request.uri().path(), "/health" | "/ready" | "/metrics") {
                return next.run(request).await;
            }
            if let Some(refusal) = next.distrust(&request) {
                return refusal;
            }
            if !matches!(*request.method(), Method::GET | Method::HEAD) {
                let mut response = Response::new(Body::Whole(None));
                *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
                response.headers_mut().insert("allow", HeaderValue::from_static("GET, HEAD"));
                return response;
            }
            let Some((status, text)) = self.page(request.uri().path()).await else { return next.run(request).await };
            let mut response = Response::new(Body::Whole(Some(Bytes::from(text))));
            *response.status_mut() = status;
            let headers = response.headers_mut();
            headers.insert("content-type", HeaderValue::from_static("text/plain; charset=utf-8"));
            headers.insert("cache-control", HeaderValue::from_static("no-store"));
            response
        })
    }
}

//! The pages for those who run the gateway: whether it lives, whether it is ready, what it counted; and, for servers, the keys
//! of its assertions. Knows no message.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use net::server::http::{Body, Bytes, HeaderValue, HttpFuture, Layer, Method, Next, Request, Response, StatusCode};

use crate::assertions;
use crate::hub::Gateway;
use crate::metrics::Page;

/// How long `/ready` waits for an upstream that was not used yet.
const PATIENCE: Duration = Duration::from_secs(5);
/// `Content-Type` and `Cache-Control` of a page, and of published keys.
const PAGE: (&str, &str) = ("text/plain; charset=utf-8", "no-store");
const PUBLISHED: (&str, &str) = ("application/jwk-set+json", "max-age=300");

/// Answers at `/health`, `/ready`, `/metrics`, and where keys are published.
#[derive(Debug)]
pub struct Pages {
    gateway: Gateway,
    /// Names of servers and tools, and what is done with them, are for those who run the gateway.
    hides_names: bool,
}

impl Pages {
    /// All pages of this gateway.
    pub const fn new(gateway: Gateway) -> Self {
        Self { gateway, hides_names: false }
    }

    /// The pages where strangers reach the gateway, too: whether it lives, and whether it is ready.
    pub const fn without_names(gateway: Gateway) -> Self {
        Self { gateway, hides_names: true }
    }

    fn metrics(&self) -> String {
        let mut page = self.gateway.stats().metrics();
        page.push_str(
            "# HELP translation_loss_total What was lost between revisions, by row of the translation table.\n",
        );
        page.push_str("# TYPE translation_loss_total counter\n");
        for (row, count) in self.gateway.losses().by_row() {
            let _ = writeln!(page, "translation_loss_total{{row=\"{row}\"}} {count}");
        }
        page.push_str(&self.gateway.answer_metrics());
        page.push_str(&self.gateway.traffic_metrics());
        let mut last = "";
        for (name, help, label, count) in self.gateway.budgets().map(|all| all.counters()).unwrap_or_default() {
            if last != name {
                let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} counter");
                last = name;
            }
            let _ = writeln!(page, "{name}{label} {count}");
        }
        if let Some(audit) = self.gateway.audit() {
            page.push_str("# HELP audit_lost_total Records of the audit log that could not be written.\n");
            page.push_str("# TYPE audit_lost_total counter\n");
            let _ = writeln!(page, "audit_lost_total {}", audit.lost());
        }
        let mut more = Page::default();
        if let Some(telemetry) = self.gateway.telemetry() {
            telemetry.write(&mut more);
        }
        if let Some(replicas) = self.gateway.replicas() {
            replicas.write(&mut more);
        }
        if let Some(slo) = self.gateway.slo() {
            slo.write(&mut more, Instant::now());
        }
        page.push_str(&more.into_text());
        page
    }

    async fn page(&self, path: &str) -> Option<(StatusCode, String)> {
        match path {
            "/health" => Some((StatusCode::OK, "ok\n".to_owned())),
            "/ready" => Some(match self.gateway.is_ready(PATIENCE).await {
                Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
                Err(_) if self.hides_names => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n".to_owned()),
                Err(missing) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: no answer from {missing}\n")),
            }),
            "/metrics" if !self.hides_names => Some((StatusCode::OK, self.metrics())),
            assertions::KEYS => Some((StatusCode::OK, self.gateway.published_keys()?)),
            _ => None,
        }
    }
}

impl Layer for Pages {
    fn respond<'a>(&'a self, request: Request, next: Next<'a>) -> HttpFuture<'a, Response> {
        Box::pin(async move {
            let is_ours = match request.uri().path() {
                "/health" | "/ready" => true,
                assertions::KEYS => self.gateway.published_keys().is_some(),
                "/metrics" => !self.hides_names,
                _ => false,
            };
            if !is_ours {
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
            let path = request.uri().path();
            let (content_type, cache) = if path == assertions::KEYS { PUBLISHED } else { PAGE };
            let Some((status, text)) = self.page(path).await else { return next.run(request).await };
            let mut response = Response::new(Body::Whole(Some(Bytes::from(text))));
            *response.status_mut() = status;
            let headers = response.headers_mut();
            headers.insert("content-type", HeaderValue::from_static(content_type));
            headers.insert("cache-control", HeaderValue::from_static(cache));
            response
        })
    }
}

//! The origin of apps: a listener of its own, whose port makes it another origin than the page's. It serves the page of an app by an
//! address that cannot be guessed, and takes what browsers report of its policy. It knows nothing of the page and has no token.

use std::sync::Arc;

use net::server::http::{
    Body, HeaderName, HeaderValue, HttpFuture, Layer, Method, Next, Request, Response, StatusCode,
};
use serde_json::Value;

use crate::Console;

/// Headers of every answer. Nothing is looked up before it is asked for, and no feature of the browser is given away.
const PROTECTING: [(&str, &str); 7] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
    ("x-dns-prefetch-control", "off"),
    ("origin-agent-cluster", "?1"),
    (
        "permissions-policy",
        "camera=(), geolocation=(), microphone=(), payment=(), usb=(), clipboard-read=(), clipboard-write=(), \
         display-capture=(), fullscreen=()",
    ),
];

/// The layer that answers every request.
#[derive(Debug)]
pub(crate) struct AppPages(pub(crate) Arc<Console>);

impl Layer for AppPages {
    fn respond<'a>(&'a self, request: Request, next: Next<'a>) -> HttpFuture<'a, Response> {
        Box::pin(async move { self.answer(request, next).await })
    }
}

impl AppPages {
    async fn answer(&self, request: Request, next: Next<'_>) -> Response {
        let host = request.headers().get("host").map(HeaderValue::as_bytes);
        if host.is_none() || host.map(<[u8]>::to_vec) != self.0.apps.host().map(String::into_bytes) {
            return plain(StatusCode::FORBIDDEN);
        }
        let path = request.uri().path().to_owned();
        match (request.method(), path.strip_prefix("/app/"), path.strip_prefix("/report/")) {
            (&Method::GET, Some(id), _) => match self.0.apps.page(id) {
                Some((html, policy)) => document(html, &policy),
                None => plain(StatusCode::NOT_FOUND),
            },
            (&Method::POST, _, Some(id)) => {
                let id = id.to_owned();
                match next.read(request.into_body()).await {
                    Ok(body) => self.report(&id, &body),
                    Err(refusal) => return refusal,
                }
                plain(StatusCode::NO_CONTENT)
            }
            _ => plain(StatusCode::NOT_FOUND),
        }
    }

    /// Takes a report of the browser in: what the policy stopped.
    fn report(&self, id: &str, body: &[u8]) {
        let report: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |name: &str| report["csp-report"][name].as_str().unwrap_or_default();
        let directive =
            [text("effective-directive"), text("violated-directive")].into_iter().find(|one| !one.is_empty());
        if let Some(directive) = directive {
            self.0.apps.blocked(&self.0.hub, id, directive, text("blocked-uri"));
        }
    }
}

fn document(html: bytes::Bytes, policy: &str) -> Response {
    let mut response = plain(StatusCode::OK);
    *response.body_mut() = Body::Whole(Some(html));
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static("content-type"), HeaderValue::from_static("text/html; charset=utf-8"));
    match HeaderValue::from_str(policy) {
        Ok(policy) => {
            headers.insert(HeaderName::from_static("content-security-policy"), policy);
            response
        }
        // A page without its policy must not be shown.
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// An answer without a body.
fn plain(status: StatusCode) -> Response {
    let mut response = Response::new(Body::Whole(None));
    *response.status_mut() = status;
    for (name, value) in PROTECTING {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

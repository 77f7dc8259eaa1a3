//! Admits requests by the client certificate of their connection, where clients need no token. Knows no message.

use net::server::http::{Denied, Grant, Guard, GuardRequest, GuardResponse, Head, HeaderMap, HttpFuture, StatusCode};
use serde_json::json;
use wire::Message;

use crate::hub::Gateway;
use crate::metrics::{AuthFailure, Foreign};

/// Lets in who showed a certificate. Its name is the principal.
#[derive(Debug)]
pub struct CertificateGuard(Gateway);

impl CertificateGuard {
    /// A guard of this gateway.
    pub const fn new(gateway: Gateway) -> Self {
        Self(gateway)
    }

    fn check(&self, head: Head<'_>) -> Result<Grant, Denied> {
        if let Some(certificate) = head.certificate {
            // Subjects of tokens begin with an issuer. Each kind of name has its place: a URI may look like a name of another.
            let (uri, dns) = (certificate.uris.first(), certificate.dns.first());
            let sha256 = (uri.is_none() && dns.is_none()).then_some(&certificate.sha256);
            let subject = json!([null, uri, dns.filter(|_| uri.is_none()), sha256]).to_string();
            return Ok(Grant { subject, ..Grant::default() });
        }
        self.0.stats().security.refused(AuthFailure::Missing);
        if let Some(audit) = self.0.audit() {
            audit.refused(head.uri.path(), "no client certificate");
        }
        Err(Denied { status: StatusCode::FORBIDDEN, challenge: String::new(), nonce: None, error: None })
    }
}

impl Guard for CertificateGuard {
    fn owns(&self, _path: &str) -> bool {
        false
    }

    fn serve(&self, _request: GuardRequest) -> HttpFuture<'_, GuardResponse> {
        let (status, headers) = (StatusCode::NOT_FOUND, HeaderMap::new());
        Box::pin(async move { GuardResponse { status, headers, body: Vec::new() } })
    }

    fn admit<'g>(&'g self, head: Head<'g>) -> HttpFuture<'g, Result<Grant, Denied>> {
        Box::pin(async move { self.check(head) })
    }

    fn foreign_session(&self) {
        self.0.stats().security.crossed(Foreign::Session);
    }

    fn permits(&self, _grant: &Grant, _head: Head<'_>, _message: &Message) -> Result<(), Denied> {
        Ok(())
    }
}

//! What stands before the servers at the address of clients: TLS and who is let in. Knows no upstream.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gateway::access::{CertificateGuard, GuardedTls, TokenGuard};
use gateway::settings::{Settings, TlsSettings};
use gateway::{Announcing, Gateway};
use net::server::http;
use net::server::tls::{Certificate, ServerTls, is_readable_by_others};
use wire::timestamp::rfc3339;

use crate::tell::{Failure, tell};

/// How long before the end of the certificate a warning says so.
const SOON: Duration = Duration::from_hours(14 * 24);

/// Reads the certificate and its key, and says what is unsafe about them.
pub(crate) fn tls(settings: &Settings) -> Result<Option<Arc<ServerTls>>, Failure> {
    let Some(files) = &settings.tls else { return Ok(None) };
    let read = ServerTls::read(files).map_err(|error| {
        Failure::usage(error.to_string(), "correct the files under `listen.tls`, in PEM: the certificate and its key")
    })?;
    warn(files, &read.certificate());
    Ok(Some(Arc::new(read)))
}

fn warn(files: &TlsSettings, certificate: &Certificate) {
    if is_readable_by_others(&files.key) {
        let key = files.key.display();
        tell(&format!("warning: every user of this machine can read {key}\n  try: chmod 600 {key}"));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    if certificate.not_after < (now + SOON).as_secs() {
        tell(&format!("warning: {}\n  try: renew it", described(certificate)));
    }
}

/// Whose certificate it is, and when it expires.
pub(crate) fn described(certificate: &Certificate) -> String {
    let until = rfc3339(Duration::from_secs(certificate.not_after));
    format!("the certificate of {} expires at {until}", certificate.name())
}

/// Reads the files again: those of the settings, or else the same ones. Files with mistakes change nothing.
pub(crate) fn renew(tls: &ServerTls, files: Option<&TlsSettings>) {
    match tls.renew(files) {
        Ok(false) => {}
        Ok(true) => tell(&format!("certificate read again: {}", described(&tls.certificate()))),
        Err(error) => tell(&format!(
            "error: {error}\n  try: correct the files under `listen.tls`\nthe certificate stays as it was"
        )),
    }
}

/// What decides who is let in; `None` where everybody is.
pub(crate) async fn guard(gateway: &Gateway, settings: &Settings) -> Result<Option<Arc<dyn http::Guard>>, Failure> {
    let has_certificates = settings.tls.as_ref().is_some_and(|tls| tls.clients.is_some());
    let Some(auth) = &settings.auth else {
        let guard = || Arc::new(CertificateGuard::new(gateway.clone())) as Arc<dyn http::Guard>;
        return Ok(has_certificates.then(guard));
    };
    let guard = TokenGuard::start(gateway, auth).await.map_err(|why| {
        let what = format!("cannot read the keys of {}: {why}", auth.issuer);
        Failure::usage(what, "check `keys` under `auth`: the issuer's JWKS document, as a URL or a file")
    })?;
    let over = if has_certificates { GuardedTls::Certificates } else { GuardedTls::Plain };
    let guard = if settings.tls.is_some() { guard.over(over) } else { guard };
    Ok(Some(Arc::new(guard)))
}

/// Where other gateways send requests, and that this one says where it is. Nothing where it has no others.
pub(crate) async fn for_replicas(
    gateway: &Gateway,
    settings: &Settings,
    endpoints: &http::Endpoints,
    clients: &http::Limits,
) -> Result<Option<(http::Server, Announcing)>, Failure> {
    let Some((replicas, settings)) = gateway.replicas().zip(settings.replicas.as_ref()) else { return Ok(None) };
    let server = crate::listening(gateway, settings.listen, replicas.listener(endpoints.clone(), clients)).await?;
    tell(&format!("{} is for the other gateways, which reach it as {}", server.local_addr(), settings.own));
    Ok(Some((server, replicas.announce())))
}

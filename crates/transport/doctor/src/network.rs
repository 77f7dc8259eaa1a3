//! The way to a URL: the host's addresses, a connection, its encryption. What follows is in [`http`](super::http),
//! [`authorization`](super::authorization) and [`conversation`](super::conversation).

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use net::client::{Address, Dialer, HttpAddress, OpenError, Reached};
use wire::timestamp::rfc3339;

use crate::step::StepName;
use crate::walk::{Finding, Walk};
use crate::{authorization, conversation, http};

/// How many addresses of a host are tried.
const ADDRESSES: usize = 8;
/// How many names of a certificate are shown.
const HOSTS: usize = 6;

const ALL: &[StepName] = &StepName::TO_URL;
const BEFORE: &str = "not reached: see the failed step";

/// Walks to a URL.
pub(crate) async fn walk(walk: &mut Walk) {
    if connected(walk).await.is_some()
        && let Some(answered) = http::ask(walk).await
        && authorization::walk(walk, &answered).await.is_some()
    {
        conversation::walk(walk).await;
    }
    walk.skip_rest(ALL, BEFORE);
}

/// The steps to an encrypted connection.
async fn connected(walk: &mut Walk) -> Option<()> {
    let address = url_of(&walk.options.address)?.clone();
    let limit = walk.step_limit();
    let options = walk.options.clone();
    let failed = move |error: &OpenError| http::failed(&options, error);
    let dialer = match Dialer::new(&address, limit) {
        Ok(dialer) => dialer,
        Err(error) => {
            walk.note(StepName::Dns, failed(&error));
            return None;
        }
    };
    let addresses = walk.take(StepName::Dns, resolved(&dialer, &address, &failed)).await?;
    let reached = walk.take(StepName::Tcp, reached(&dialer, &addresses, &failed)).await?;
    if !matches!(address.url.scheme(), "https" | "wss") {
        walk.note(StepName::Tls, Finding::skipped(format!("{}:// is not encrypted", address.url.scheme())));
        return Some(());
    }
    let limit = walk.step_limit();
    // The handshake ends first, so that its own error is shown and not that of the step.
    walk.take(StepName::Tls, secured(reached, &address, limit.mul_f64(0.9), &failed)).await
}

/// The URL that an address has.
pub(crate) const fn url_of(address: &Address) -> Option<&HttpAddress> {
    match address {
        Address::Http(http) | Address::Sse(http) | Address::WebSocket(http) => Some(http),
        Address::Stdio(_) => None,
    }
}

async fn resolved(
    dialer: &Dialer,
    http: &HttpAddress,
    failed: &impl Fn(&OpenError) -> Finding,
) -> (Finding, Option<Vec<SocketAddr>>) {
    let host = http.url.host_str().unwrap_or_default();
    match dialer.resolve().await {
        Err(error) => (failed(&error), None),
        Ok(addresses) if host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() => {
            (Finding::skipped(format!("{host} is an address")), Some(addresses))
        }
        Ok(addresses) => {
            let shown: Vec<_> = addresses.iter().take(ADDRESSES).map(|address| address.ip().to_string()).collect();
            (Finding::ok(format!("{host} is {}", shown.join(", "))), Some(addresses))
        }
    }
}

/// The first address that takes a connection; those before it are named, because every client stumbles over them.
async fn reached(
    dialer: &Dialer,
    addresses: &[SocketAddr],
    failed: &impl Fn(&OpenError) -> Finding,
) -> (Finding, Option<Reached>) {
    let (mut before, mut last) = (Vec::new(), None);
    for address in addresses.iter().take(ADDRESSES) {
        match dialer.reach(*address).await {
            Ok(reached) => return (Finding::ok(format!("{address} takes connections")).after(before), Some(reached)),
            Err(error) => {
                before.push(format!("{address}: {}", error.what()));
                last = Some(failed(&error));
            }
        }
    }
    let last = last.unwrap_or_else(|| Finding::failed("no address to try", "check the host's name"));
    // The line of an only address says no more than the error.
    (if before.len() > 1 { last.seeing(before) } else { last }, None)
}

async fn secured(
    reached: Reached,
    http: &HttpAddress,
    limit: Duration,
    failed: &impl Fn(&OpenError) -> Finding,
) -> (Finding, Option<()>) {
    let secured = reached.secure(http, limit).await;
    let described = secured.certificate.map(|shown| {
        let unnamed = || "a name that it does not give".to_owned();
        let (subject, issuer) = (shown.subject.unwrap_or_else(unnamed), shown.issuer.unwrap_or_else(unnamed));
        let mut hosts = shown.hosts.iter().take(HOSTS).cloned().collect::<Vec<_>>().join(", ");
        if shown.hosts.len() > HOSTS {
            hosts.push_str(", …");
        }
        let until = rfc3339(Duration::from_secs(shown.not_after));
        [
            format!("certificate of {subject}, issued by {issuer}"),
            format!(
                "for {}, until {}",
                if hosts.is_empty() { "no host" } else { &hosts },
                &until[..until.len().min(10)]
            ),
        ]
    });
    let (finding, brought) = match &secured.version {
        Ok(version) => (Finding::ok(version.as_str()), Some(())),
        Err(error @ OpenError::Timeout { .. }) => {
            let fix = "does this port speak TLS? Otherwise http:// or ws:// instead, or another port";
            (Finding::failed(error.what(), fix), None)
        }
        Err(error) => (failed(error), None),
    };
    (described.into_iter().flatten().fold(finding, Finding::and), brought)
}

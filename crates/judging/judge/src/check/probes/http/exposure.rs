//! Who can reach the server: without credentials, and at other addresses of its machine.

use std::net::{IpAddr, Ipv4Addr};

use net::client::Address;

use super::{ANY_HTTP, put};
use crate::check::context::{Abort, ProbeContext, Setting};
use crate::check::probe::{Probe, Script};

/// A loopback address that nobody binds to on purpose. On Linux all of 127.0.0.0/8 is this machine: who answers there
/// listens everywhere.
const OUT_OF_THE_WAY: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 66, 83, 80));

pub(in super::super) const ADDRESS: Probe = Probe::shared("http-other-address", other_address).on(ANY_HTTP);

/// The server's port at another loopback address.
fn other_address(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        if !cfg!(target_os = "linux") {
            return Err(Abort::Lacks("a machine with more than one loopback address"));
        }
        case.connection().http()?.try_port(OUT_OF_THE_WAY, case.short()).await;
        Ok(())
    })
}

pub(in super::super) const CREDENTIALS: Probe =
    Probe::shared("http-no-credentials", no_credentials).on(ANY_HTTP).when(|setting, _| has_credentials(setting));

/// The same request with the credentials that we were given, and without.
fn no_credentials(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        put(case, |o| o).await?;
        put(case, |o| o.without("Authorization")).await?;
        Ok(())
    })
}

fn has_credentials(setting: &Setting) -> bool {
    let (Address::Http(address) | Address::Sse(address)) = &setting.address else { return false };
    address.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
}

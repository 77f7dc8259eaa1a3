//! Who can reach a server: from which addresses, and with which credentials.

use std::collections::BTreeSet;

use wire::trace::Mark;

use super::{foreign_origin, only_errors};
use crate::verdict::{Breach, Verdict};
use crate::view::{Exchange, View};

/// At which addresses of this machine the server's port was tried is known from marks: the wire does not show it.
pub(super) fn bound_to_loopback(view: &View<'_>) -> Verdict {
    let tried = view.marks().filter_map(|(event, mark)| match mark {
        Mark::PortTried { address, open } => Some((event, (address, *open))),
        _ => None,
    });
    Verdict::every(tried, "the server was not reached at a loopback address, or tried at no other", |t| {
        let &(event, (address, open)) = t;
        if !open {
            return Ok(());
        }
        let why = format!("reached at a loopback address, the server answers at {} too", address.escape_debug());
        Err(Breach::at(event, "", why))
    })
}

fn taken(x: &Exchange<'_>) -> bool {
    x.succeeded() && !only_errors(x)
}

/// Requests without credentials that are, for all else, like one with them that was taken. Of a client that was let in
/// without any before it ever sent some, none: what it sends now and then are not credentials that are demanded.
fn bare<'a, 'v>(view: &'a View<'v>) -> Vec<&'a Exchange<'v>> {
    let posts = || {
        let all = view.endpoint_exchanges().into_iter();
        all.filter(|x| x.is("POST") && !x.client_messages.is_empty() && x.status().is_some() && !foreign_origin(x))
    };
    let credentials = |x: &Exchange<'_>| x.request_header("authorization").is_some();
    if !posts().find(|x| taken(x)).is_some_and(credentials) {
        return Vec::new();
    }
    let asks = |x: &Exchange<'v>| x.client_messages.first().and_then(|s| s.message.method());
    let named: BTreeSet<_> = posts().filter(|x| credentials(x) && taken(x)).map(|x| (x.path(), asks(x))).collect();
    let alike = |x: &Exchange<'v>| named.contains(&(x.path(), asks(x)));
    let conclusive = |x: &Exchange<'_>| !matches!(x.status(), Some(300..=399 | 408 | 429 | 500..));
    posts().filter(|x| !credentials(x) && conclusive(x) && alike(x)).collect()
}

pub(super) fn authenticated(view: &View<'_>) -> Verdict {
    Verdict::every(bare(view), "no request went without credentials that is taken with them", |x| {
        if taken(x) { Err(x.status_breach("taken without the credentials that other requests have")) } else { Ok(()) }
    })
}

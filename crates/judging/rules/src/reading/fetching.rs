//! What a client fetches on its own, apart from the MCP endpoint: an address that a server named, fetched by a
//! request that the trace holds. It judges nothing.

use wire::Party;
use wire::http::HOST;
use wire::trace::Stimulus;

use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Exchange, View};

/// An address that a server gave the client, and the event that did.
#[derive(Clone)]
pub(crate) struct OfferedUrl<'v> {
    /// The event.
    pub event: usize,
    /// The connection that carried it.
    pub connection: u32,
    /// The address as it stands there.
    pub url: &'v str,
}

/// The authority and the target that a request for `url` names; `None` for what no HTTP request fetches.
pub(crate) fn parts(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    if !["http", "https"].into_iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(end);
    Some((authority, if target.is_empty() { "/" } else { target }))
}

fn begun(x: &Exchange<'_>) -> usize {
    x.request.map_or(0, |(event, ..)| event)
}

/// The authority that a request was made of.
pub(crate) fn authority<'v>(x: &Exchange<'v>) -> Option<&'v str> {
    x.request_header(HOST).map(str::trim)
}

/// The requests for that address after it was offered, those with messages aside.
pub(crate) fn fetches<'a, 'v>(view: &'a View<'v>, offered: &OfferedUrl<'_>) -> Vec<&'a Exchange<'v>> {
    let Some((expected, target)) = parts(offered.url) else { return Vec::new() };
    let plain =
        |x: &&Exchange<'_>| x.client_messages.is_empty() && x.request_body.is_none() && begun(x) > offered.event;
    let same = |x: &&Exchange<'_>| {
        let here = authority(x).is_some_and(|host| host.eq_ignore_ascii_case(expected));
        here && x.request.is_some_and(|(_, _, found, _)| found == target)
    };
    view.exchanges().iter().filter(plain).filter(same).collect()
}

/// Judges that none of these addresses is fetched. Kept where the client was watched to its end, or for a while, after the address
/// was offered: only what can be seen at all (`seen`) counts for that.
pub(crate) fn unfetched<'v>(
    view: &View<'v>,
    offered: impl IntoIterator<Item = OfferedUrl<'v>>,
    seen: impl Fn(&OfferedUrl<'v>) -> bool,
    (why, unseen): (&str, &str),
) -> Verdict {
    let judged = offered.into_iter().filter_map(|offered| {
        if let Some(x) = fetches(view, &offered).first() {
            let why = format!("{why}: `{}`, given in event {}", offered.url.escape_debug(), offered.event);
            return Some((begun(x), Err(Breach::at(begun(x), "", why))));
        }
        let end = view.watched_after(offered.event, offered.connection).filter(|_| seen(&offered))?;
        Some((end, Ok(())))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), unseen)
}

/// Whether a request for an address would show: the trace holds requests that were made of its authority, or says that it
/// was listened to.
pub(crate) fn is_watched(view: &View<'_>, url: &str) -> bool {
    let Some((expected, _)) = parts(url) else { return false };
    let is_it = |host: &str| host.eq_ignore_ascii_case(expected);
    let mut opened =
        view.stimuli().filter_map(|(_, what)| if let Stimulus::Origin { url } = what { parts(url) } else { None });
    view.exchanges().iter().any(|x| authority(x).is_some_and(is_it)) || opened.any(|(host, _)| is_it(host))
}

/// The authorities of the MCP server, as its client's requests name them.
pub(crate) fn homes<'v>(view: &View<'v>) -> Vec<&'v str> {
    let own = view.exchanges().iter().filter(|x| x.partner == Some(Party::Server) && !x.client_messages.is_empty());
    own.filter_map(authority).collect()
}

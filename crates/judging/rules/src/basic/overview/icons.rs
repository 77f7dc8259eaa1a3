//! The page `basic`, section "icons".

use serde_json::Value;
use wire::Party;
use wire::revision::R2025_11_25;

use super::meta::results;
use crate::reading::fetching::{OfferedUrl, authority, fetches, homes, is_watched, parts, unfetched};
use crate::reading::liveness::client_continues;
use crate::rule::{Anchor, Rule, at, client, safety};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::View;

const ICONS: Anchor = at("basic/index", "icons");

/// The section's rules. That icons can be shown at all is up to the server; the other demands bind the client that fetches
/// them. How they are drawn is not traffic.
pub(crate) const RULES: &[Rule] = &[
    safety("icons.src-showable")
        .asks(R2025_11_25, ICONS, "An icon's `src` is an HTTPS (or HTTP) address or a `data:` URI.")
        .by_default()
        .how("Looks at every icon of tools, resources, templates, prompts and of the server itself.")
        .fix("Serve icons over HTTPS or inline them as `data:` URIs: clients must refuse every other scheme.")
        .judge(src_showable),
    client("icons.client-safe-schemes")
        .says(
            R2025_11_25,
            ICONS,
            "A client MUST load icons from HTTPS and `data:` URIs alone, and reject all other schemes.",
        )
        .how("Needs a server whose icons are at plain `http:` addresses of an observed origin, and checks whether they are fetched before the client leaves. What a client does with other schemes is not visible on the wire.")
        .fix("Load icons from `https:` addresses and `data:` URIs, and drop all others.")
        .judge(safe_schemes),
    client("icons.client-redirects-kept")
        .says(
            R2025_11_25,
            ICONS,
            "A client that fetches an icon MUST NOT follow redirects to another scheme or origin.",
        )
        .how("Needs an icon at an address that redirects to another, observed origin, and checks whether the client follows.")
        .fix("Follow no redirect of an icon to another scheme, host or port.")
        .judge(redirects_kept),
    client("icons.client-resilient")
        .says(R2025_11_25, ICONS, "A client MUST survive icons that are huge, in bytes, pixels or frames.")
        .how("Needs icons of more than a million bytes, or PNG images of more than 20000 pixels each way, fetched or in `data:` URIs, and checks whether the client continues.")
        .fix("Bound the bytes, the dimensions and the frames of what you load as an icon.")
        .judge(resilient),
    client("icons.client-no-credentials")
        .says(R2025_11_25, ICONS, "A client MUST fetch icons without cookies, tokens or other credentials.")
        .how("Looks for cookies, tokens and session ids in requests for icons. Needs icons at an observed origin, and a client that shows icons.")
        .fix("Fetch icons without cookies, and without the headers of the MCP connection.")
        .judge(no_credentials),
    client("icons.client-same-origin")
        .says(R2025_11_25, ICONS, "A client MUST check that an icon comes from the server's own origin.")
        .how("Needs icons at another origin than the server's that is listened to, and checks whether they are fetched before the client leaves.")
        .fix("Compare the icon's origin with the server's, and drop it where they differ.")
        .judge(same_origin),
];

fn src_showable(view: &View<'_>) -> Verdict {
    let icons: Vec<_> = results(view)
        .into_iter()
        .flat_map(|(sent, result)| icons_of(result).into_iter().map(move |(pointer, src)| (sent.event, (pointer, src))))
        .collect();
    Verdict::every(icons, "no icon was seen", |(event, (pointer, src))| {
        let scheme = src.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        if matches!(scheme.as_deref(), Some("https" | "http" | "data")) {
            return Ok(());
        }
        let shown: String = src.chars().take(60).collect();
        Err(Breach::at(*event, pointer, format!("the icon is at `{}`, which no client may load", shown.escape_debug())))
    })
}

/// Every icon in a result: where its `src` stands, and the `src`.
fn icons_of(result: &Value) -> Vec<(String, &str)> {
    let mut owners: Vec<String> =
        ["/serverInfo", "/_meta/io.modelcontextprotocol~1serverInfo"].map(str::to_owned).to_vec();
    for list in ["tools", "resources", "resourceTemplates", "prompts"] {
        let count = result.get(list).and_then(Value::as_array).map_or(0, Vec::len);
        owners.extend((0..count).map(|index| format!("/{list}/{index}")));
    }
    let mut found = Vec::new();
    for owner in owners {
        let icons = result.pointer(&owner).and_then(|o| o.get("icons")?.as_array());
        for (index, icon) in icons.into_iter().flatten().enumerate() {
            if let Some(src) = icon.get("src").and_then(Value::as_str) {
                found.push((format!("/result{owner}/icons/{index}/src"), src));
            }
        }
    }
    found
}

/// Every icon that the server offered the client.
fn offered_icons<'v>(view: &View<'v>) -> Vec<OfferedUrl<'v>> {
    let sent = view.by(Party::Server).filter_map(|sent| Some((sent, sent.message.result()?)));
    let each = sent.flat_map(|(sent, result)| {
        let one = move |(_, url)| OfferedUrl { event: sent.event, connection: sent.connection, url };
        icons_of(result).into_iter().map(one)
    });
    each.collect()
}

const UNWATCHED: &str = "no such icon was offered at an observed origin, or the client was not seen to leave";

fn safe_schemes(view: &View<'_>) -> Verdict {
    let plain = |icon: &OfferedUrl<'_>| icon.url.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("http://"));
    let icons = offered_icons(view).into_iter().filter(plain);
    unfetched(
        view,
        icons,
        |icon| is_watched(view, icon.url),
        ("an icon that is not at an `https:` address was fetched", UNWATCHED),
    )
}

fn same_origin(view: &View<'_>) -> Verdict {
    let homes = homes(view);
    let foreign = |icon: &OfferedUrl<'_>| {
        parts(icon.url)
            .is_some_and(|(host, _)| !homes.is_empty() && !homes.iter().any(|home| home.eq_ignore_ascii_case(host)))
    };
    let icons = offered_icons(view).into_iter().filter(foreign);
    unfetched(
        view,
        icons,
        |icon| is_watched(view, icon.url),
        ("an icon of another origin than the server's was fetched", UNWATCHED),
    )
}

fn redirects_kept(view: &View<'_>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for icon in offered_icons(view) {
        for x in fetches(view, &icon) {
            let target = x.response_header("location").filter(|_| x.status().is_some_and(|s| (300..400).contains(&s)));
            let (Some(url), Some((event, ..))) = (target, x.response) else { continue };
            let other =
                parts(url).is_some_and(|(host, _)| authority(x).is_some_and(|here| !here.eq_ignore_ascii_case(host)));
            if !other {
                continue;
            }
            let led = OfferedUrl { event, connection: x.connection, url };
            let why = ("an icon's redirect to another origin was followed", "");
            match unfetched(view, [led], |led| is_watched(view, led.url), why) {
                Verdict::Broken(breach) => judged.push((breach.event, Err(breach))),
                Verdict::Holds(events) => judged.extend(events.into_iter().map(|event| (event, Ok(())))),
                _ => {}
            }
        }
    }
    Verdict::of(judged, "no icon was fetched that redirects to another, observed origin")
}

/// How many bytes are too many for an icon by any measure.
const HUGE: usize = 1_000_000;

/// How many pixels per side are too many: decoded, such an image has gigabytes.
const WIDE: u64 = 20_000;

fn resilient(view: &View<'_>) -> Verdict {
    let mut events = Vec::new();
    for icon in offered_icons(view) {
        let inline = icon.url.strip_prefix("data:").and_then(|rest| rest.split_once(','));
        if inline.is_some_and(|(_, data)| data.len() > HUGE || is_wide(&head(data))) {
            events.push(icon.event);
        }
        let answers = fetches(view, &icon).into_iter().filter_map(|x| x.response_body);
        events.extend(answers.filter(|(_, bytes)| bytes.len() > HUGE || is_wide(bytes)).map(|(event, _)| event));
    }
    client_continues(view, events, "a huge icon", "the client received no huge icon, or sent nothing afterwards")
}

/// The first 24 bytes of what is written in Base64; fewer where it is not.
fn head(base64: &str) -> Vec<u8> {
    let digit = |b: u8| match b {
        b'A'..=b'Z' => Some(b - b'A'),
        b'a'..=b'z' => Some(b - b'a' + 26),
        b'0'..=b'9' => Some(b - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u8> = base64.bytes().take(32).map_while(digit).collect();
    let three = |four: &[u8]| [four[0] << 2 | four[1] >> 4, four[1] << 4 | four[2] >> 2, four[2] << 6 | four[3]];
    digits.chunks_exact(4).flat_map(three).collect()
}

/// Whether bytes begin a PNG image that is too wide and too high.
fn is_wide(bytes: &[u8]) -> bool {
    let side = |at: usize| bytes.get(at..at + 4).map_or(0, |four| four.iter().fold(0, |n, b| n << 8 | u64::from(*b)));
    bytes.starts_with(b"\x89PNG\r\n\x1a\n") && side(16) > WIDE && side(20) > WIDE
}

fn no_credentials(view: &View<'_>) -> Verdict {
    const SECRET: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "mcp-session-id"];
    let judged = offered_icons(view).into_iter().flat_map(|icon| {
        let judge = |x: &crate::view::Exchange<'_>| {
            let event = x.request.map_or(0, |(event, ..)| event);
            let found = SECRET.into_iter().find(|name| x.request_header(name).is_some());
            let breach =
                |name: &str| Breach::at(event, format!("header:{name}"), format!("an icon was fetched with `{name}`"));
            (event, found.map_or(Ok(()), |name| Err(breach(name))))
        };
        fetches(view, &icon).into_iter().map(judge).collect::<Vec<(usize, Kept)>>()
    });
    Verdict::of(judged.collect::<Vec<_>>(), "the client fetched no icon")
}

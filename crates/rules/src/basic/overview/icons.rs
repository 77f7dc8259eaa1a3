//! The page `basic`, section "icons".

use serde_json::Value;
use wire::revision::R2025_11_25;

use super::meta::results;
use crate::rule::{Anchor, Rule, at, client, safety};
use crate::verdict::{Breach, Verdict};
use crate::view::View;

const ICONS: Anchor = at("basic/index", "icons");

/// The section's rules. That icons can be shown at all is up to the server; what else it demands binds whoever fetches
/// them. How they are drawn is no traffic.
pub(crate) const RULES: &[Rule] = &[
    safety("icons.src-showable")
        .asks(R2025_11_25, ICONS, "An icon's `src` is an HTTPS (or HTTP) address or a `data:` URI.")
        .how("Looks at every icon of tools, resources, templates, prompts and of the server itself.")
        .mend("Serve icons over HTTPS or inline them as `data:` URIs: clients must refuse every other scheme.")
        .judge(src_showable),
    client("icons.client-safe-schemes")
        .says(
            R2025_11_25,
            ICONS,
            "A client MUST load icons from HTTPS and `data:` URIs alone, and reject all other schemes.",
        )
        .declared(),
    client("icons.client-redirects-kept")
        .says(
            R2025_11_25,
            ICONS,
            "A client that fetches an icon MUST NOT follow redirects to another scheme or origin.",
        )
        .declared(),
    client("icons.client-resilient")
        .says(R2025_11_25, ICONS, "A client MUST survive icons that are huge, in bytes, pixels or frames.")
        .declared(),
    client("icons.client-no-credentials")
        .says(R2025_11_25, ICONS, "A client MUST fetch icons without cookies, tokens or other credentials.")
        .declared(),
    client("icons.client-same-origin")
        .says(R2025_11_25, ICONS, "A client MUST check that an icon comes from the server's own origin.")
        .declared(),
];

fn src_showable(view: &View<'_>) -> Verdict {
    let icons: Vec<_> = results(view)
        .into_iter()
        .flat_map(|(said, result)| icons_of(result).into_iter().map(move |(pointer, src)| (said.event, (pointer, src))))
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

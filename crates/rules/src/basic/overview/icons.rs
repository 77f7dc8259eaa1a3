//! The page `basic`, section "icons".

use serde_json::Value;
use wire::revision::R2025_11_25;

use super::meta::results;
use crate::rule::{Rule, at, safety};
use crate::verdict::{Breach, Verdict};
use crate::view::View;

/// The section's rules. What it demands with MUST binds whoever shows icons; that icons can be shown at all is up to the
/// server.
pub(crate) const RULES: &[Rule] = &[safety("icons.src-showable")
    .asks(R2025_11_25, at("basic/index", "icons"), "An icon's `src` is an HTTPS (or HTTP) address or a `data:` URI.")
    .how("Looks at every icon of tools, resources, templates, prompts and of the server itself.")
    .mend("Serve icons over HTTPS or inline them as `data:` URIs: clients must refuse every other scheme.")
    .judge(src_showable)];

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

//! `server/tools#tool-names`.

use std::collections::{BTreeMap, BTreeSet};

use wire::revision::R2025_11_25;

use crate::rule::{Anchor, Rule, at, server};
use crate::server::listing::{TOOLS, items, walks};
use crate::verdict::{Kept, Verdict};
use crate::view::View;

const NAMES: Anchor = at("server/tools", "tool-names");

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    server("tools.names-length")
        .says(R2025_11_25, NAMES, "A tool's name SHOULD have 1 to 128 characters.")
        .about(&["tools"])
        .how("Counts the characters of every listed tool's name.")
        .fix("Give the tool a name of at least one and at most 128 characters.")
        .judge(|view| each_name(view, |name| match name.chars().count() {
            1..=128 => Ok(()),
            count => Err(format!("the name has {count} characters, expected 1 to 128")),
        })),
    server("tools.names-case-sensitive")
        .says(R2025_11_25, NAMES, "Tool names that differ in letter case alone SHOULD be distinguished.")
        .about(&["tools"])
        .how("Looks for a call under a name that differs from a listed one in case alone, but is in no list.")
        .fix("Compare tool names exactly.")
        .judge(case_sensitive),
    server("tools.names-characters")
        .says(
            R2025_11_25,
            NAMES,
            "A tool's name SHOULD consist of ASCII letters, digits, underscores, hyphens and dots alone, without spaces, \
             commas or other characters.",
        )
        .about(&["tools"])
        .how("Looks at the characters of every listed tool's name.")
        .fix("Rename the tool with A-Z, a-z, 0-9, `_`, `-` and `.`; put anything else into `title`.")
        .judge(|view| each_name(view, plain)),
    server("tools.names-unique")
        .says(R2025_11_25, NAMES, "No two tools of a server SHOULD have the same name.")
        .about(&["tools"])
        .how("Compares the names on all pages of one walk through `tools/list`.")
        .fix("Rename one of the tools, or list it once.")
        .judge(unique),
];

fn each_name(view: &View<'_>, kept: impl Fn(&str) -> Result<(), String>) -> Verdict {
    let named = items(view, &TOOLS).into_iter().filter(|tool| tool.text("name").is_some());
    Verdict::every(named, "no tool was listed", |tool| {
        kept(tool.text("name").unwrap_or_default()).map_err(|why| tool.breach("/name", why))
    })
}

fn plain(name: &str) -> Result<(), String> {
    let odd = name.chars().find(|c| !(c.is_ascii_alphanumeric() || "_-.".contains(*c)));
    odd.map_or(Ok(()), |c| Err(format!("the name holds `{}`", c.escape_debug())))
}

/// A page may have changed between two walks, and within one: only a name that is repeated in one walk counts.
fn unique(view: &View<'_>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for walk in walks(view, &TOOLS) {
        if walk.iter().map(|page| page.items.len()).sum::<usize>() < 2 {
            continue;
        }
        let mut seen = BTreeSet::new();
        for page in &walk {
            for (index, tool) in page.items.iter().enumerate() {
                let Some(name) = tool.get("name").and_then(serde_json::Value::as_str) else { continue };
                let twice = !seen.insert(name);
                let pointer = format!("/result/tools/{index}/name");
                let why = format!("a tool named `{}` was listed before", name.escape_debug());
                let kept = if twice { Err(page.response.breach(pointer, why)) } else { Ok(()) };
                judged.push((page.response.event, kept));
            }
        }
    }
    Verdict::of(judged, "no list with two tools was read to its end")
}

fn case_sensitive(view: &View<'_>) -> Verdict {
    let listed: BTreeSet<&str> = items(view, &TOOLS).iter().filter_map(|tool| tool.text("name")).collect();
    let alike: BTreeMap<String, &str> = listed.iter().map(|name| (name.to_lowercase(), *name)).collect();
    let walked = !walks(view, &TOOLS).is_empty();
    let judged = view.calls("tools/call").filter(|call| walked && view.judges_content(call)).filter_map(|call| {
        let name = call.request.message.params()?.get("name")?.as_str()?;
        let tool = alike.get(&name.to_lowercase()).filter(|_| !listed.contains(name))?;
        let response = call.response?;
        let failed = call.result().is_none_or(|r| r.get("isError").is_some_and(|e| e == true));
        let why = format!("`{name}` was called as if it were `{tool}`");
        Some((response.event, if failed { Ok(()) } else { Err(response.breach("/result", why)) }))
    });
    Verdict::of(judged, "no tool was called under its name in other letter case")
}

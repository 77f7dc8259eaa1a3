//! Servers that offer one kind of thing, or nothing.

use crate::catalogue::{Catalogue, PROOF};
use crate::harness::check;
use crate::verdicts::Checked;

pub(crate) const TOOLS: &str = "
name: tools-only
version: '1.0'
tools:
  - name: one
    description: One tool
    inputSchema: { type: object }
    answers:
      - text: done
";

const RESOURCES: &str = "
name: resources-only
version: '1.0'
resources:
  - uri: doc://one
    name: one
    text: words
";

const NOTHING: &str = "{ name: nothing, version: '1.0' }";

#[test]
fn tools_alone() {
    let checked = Checked::of(check(&["--revision", "all"]), &Catalogue::of(TOOLS).command());
    checked.is_clean().says(&["tools-only 1.0", "stdio 2024-11-05", "stdio 2026-07-28"]);
    let least = [("2024-11-05", 24), ("2025-03-26", 28), ("2025-06-18", 32), ("2025-11-25", 34), ("2026-07-28", 53)];
    checked.keeps(&least).passes("tools.list-answered").passes("jsonrpc.answered");
    checked.lacks("prompts.", "prompts", 30).lacks("resources.", "resources", 20);
    checked.ran.within(20);
}

#[test]
fn resources_alone() {
    let checked = Checked::of(check(&["--revision", "all"]), &Catalogue::of(RESOURCES).command());
    checked.is_clean().says(&["resources-only 1.0"]);
    let least = [("2024-11-05", 24), ("2025-03-26", 28), ("2025-06-18", 32), ("2025-11-25", 34), ("2026-07-28", 54)];
    checked.keeps(&least).passes("resources.not-found-code").passes("resources.list-answered");
    checked.lacks("prompts.", "prompts", 30).lacks("tools.", "tools", 40);
    checked.ran.within(20);
}

/// Its greeting loses the one capability that every catalogue has.
#[test]
fn nothing_at_all() {
    let script = r#""$0" serve --stdio --catalog "$1" | sed -u 's/"logging":{}//'"#;
    let catalogue = Catalogue::of(NOTHING);
    let checked = Checked::of(check(&["--revision", "all"]), &["--", "sh", "-c", script, PROOF, &catalogue.path()]);
    checked.is_clean().says(&["nothing 1.0"]);
    let least = [("2024-11-05", 23), ("2025-03-26", 27), ("2025-06-18", 30), ("2025-11-25", 31), ("2026-07-28", 46)];
    checked.keeps(&least).passes("ping.answered").passes("discover.implemented");
    checked.lacks("prompts.", "prompts", 30).lacks("tools.", "tools", 40).lacks("resources.", "resources", 20);
    checked.lacks("logging.", "logging", 15).ran.within(20);
}

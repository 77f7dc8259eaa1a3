//! Reads how results of tools are held against their schemas: `outputs`.

use document::{Entry, quoted};

use super::Reader;
use crate::settings::{OutputSettings, SchemaMode};

const MEMBERS: &[&str] = &["schema", "tools"];
/// The most patterns.
const MOST: usize = 1000;

impl Reader<'_> {
    pub(super) fn outputs(&mut self, entry: &Entry) -> Option<OutputSettings> {
        let members = self.members("`outputs`", entry.at, &entry.node, MEMBERS)?;
        let schema = members.get("schema");
        if schema.is_none() && !members.has_unknown {
            self.error(entry.at, "`outputs` has no `schema`", "add schema: enforce, mark or off");
        }
        let schema = schema.and_then(|entry| self.schema_mode(entry));
        let mut tools = Vec::new();
        if let Some(entry) = members.get("tools") {
            let named = self.named(entry, "{ \"legacy_*\": mark }", false);
            if named.len() > MOST {
                self.error(entry.at, format!("`tools` has more than {MOST} entries"), "use `*` for any characters");
            }
            for one in named.into_iter().take(MOST) {
                if let Some(mode) = self.schema_mode(one) {
                    tools.push((one.key.clone(), mode));
                }
            }
        }
        Some(OutputSettings { schema: schema?, tools })
    }

    fn schema_mode(&mut self, entry: &Entry) -> Option<SchemaMode> {
        match self.text(entry)? {
            "enforce" => Some(SchemaMode::Enforce),
            "mark" => Some(SchemaMode::Mark),
            "off" => Some(SchemaMode::Off),
            other => {
                let what = format!("{} does not say what becomes of a result", quoted(other));
                self.error(entry.at, what, "enforce, mark or off");
                None
            }
        }
    }
}

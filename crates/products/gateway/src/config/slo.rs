//! Reads how fast calls of tools shall be: `slo`.

use document::{Content, Entry, quoted};

use super::Reader;
use crate::settings::{SloSettings, ToolObjective};

const MEMBERS: &[&str] = &["objective", "read", "moderate", "write", "tools"];
const TOOL: &[&str] = &["within", "class"];
/// The most entries of `tools`.
const MOST: usize = 1000;
/// The least and the largest objective, in percent. Of 100 %, no error budget is left.
const OBJECTIVE: (f64, f64) = (50.0, 99.999);

impl Reader<'_> {
    pub(super) fn slo(&mut self, entry: &Entry) -> Option<SloSettings> {
        let mut slo = SloSettings::default();
        // The key alone sets the usual objectives.
        if matches!(entry.node.content, Content::Null) {
            return Some(slo);
        }
        let members = self.members("`slo`", entry.at, &entry.node, MEMBERS)?;
        for (name, time) in [("read", &mut slo.read), ("moderate", &mut slo.moderate), ("write", &mut slo.write)] {
            if let Some(duration) = members.get(name).and_then(|entry| self.duration(entry)) {
                *time = duration;
            }
        }
        if let Some(objective) = members.get("objective").and_then(|entry| self.objective(entry)) {
            slo.objective = objective;
        }
        if let Some(entry) = members.get("tools") {
            let entries = self.named(entry, "a mapping: { \"search_*\": { within: 800ms } }", false);
            if entries.len() > MOST {
                self.error(entry.at, format!("`tools` has more than {MOST} entries"), "remove some");
            }
            slo.tools = entries.into_iter().filter_map(|one| Some((one.key.clone(), self.tool_slo(one)?))).collect();
        }
        Some(slo)
    }

    fn objective(&mut self, entry: &Entry) -> Option<f64> {
        let text = match &entry.node.content {
            Content::Text(text) => text.strip_suffix('%').map(str::trim_end),
            _ => None,
        };
        let (least, most) = OBJECTIVE;
        let percent = text.and_then(|text| text.parse::<f64>().ok()).filter(|value| (least..=most).contains(value));
        if percent.is_none() {
            let what = format!("{} is not a percentage from {least} to {most}", quoted(&entry.key));
            self.error(entry.at, what, "a percentage such as 99%");
        }
        percent.map(|percent| percent / 100.0)
    }

    fn tool_slo(&mut self, entry: &Entry) -> Option<ToolObjective> {
        let what = format!("the objective of {}", quoted(&entry.key));
        let members = self.members(&what, entry.at, &entry.node, TOOL)?;
        let within = members.get("within").and_then(|entry| self.duration(entry));
        let class = members.get("class").and_then(|entry| self.class(entry));
        if members.get("within").is_none() && members.get("class").is_none() && !members.has_unknown {
            self.error(entry.at, format!("{what} sets nothing"), "add `within` or `class`");
        }
        Some(ToolObjective { within, class })
    }
}

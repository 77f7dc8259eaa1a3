//! Reads how long calls of tools may take: `budgets`.

use std::time::Duration;

use document::{Content, Entry, Node, nearest, quoted};

use super::Reader;
use crate::settings::{BudgetSettings, ClientBudget, ColdStart, ToolBudget, ToolClass};

const MEMBERS: &[&str] =
    &["tool", "chain", "session_gap", "reserve", "deadlines", "poll_interval", "cold", "tools", "chains", "clients"];
const COLD: &[&str] = &["read", "moderate", "write"];
const TOOL: &[&str] = &["limit", "least", "class", "expected"];
const CLIENT: &[&str] = &["client", "scopes", "tool", "chain"];

/// The most steps of a plan.
pub(crate) const MOST_STEPS: usize = 64;
/// The most entries of each list.
const MOST: usize = 1000;

impl Reader<'_> {
    pub(super) fn budgets(&mut self, entry: &Entry, has_auth: bool) -> Option<BudgetSettings> {
        let mut budgets = BudgetSettings::default();
        // The key alone sets the usual limits.
        if matches!(entry.node.content, Content::Null) {
            return Some(budgets);
        }
        let members = self.members("`budgets`", entry.at, &entry.node, MEMBERS)?;
        for (name, limit) in [
            ("tool", &mut budgets.tool),
            ("chain", &mut budgets.chain),
            ("session_gap", &mut budgets.session_gap),
            ("reserve", &mut budgets.reserve),
            ("poll_interval", &mut budgets.poll_interval),
        ] {
            if let Some(duration) = members.get(name).and_then(|entry| self.duration(entry)) {
                *limit = duration;
            }
        }
        if let Some(entry) = members.get("reserve").filter(|_| budgets.reserve >= budgets.chain) {
            self.error(entry.at, "`reserve` leaves no time for tools", "a time shorter than `chain`");
        }
        if let Some(honours) = members.get("deadlines").and_then(|entry| self.deadlines(entry)) {
            budgets.deadlines = honours;
        }
        if let Some(entry) = members.get("cold") {
            budgets.cold = self.cold_start(entry);
        }
        if let Some(entry) = members.get("tools") {
            budgets.tools = self.tool_budgets(entry);
        }
        if let Some(entry) = members.get("chains") {
            budgets.chains = self.plans(entry);
        }
        if let Some(entry) = members.get("clients") {
            budgets.clients = self.client_budgets(entry, has_auth);
        }
        Some(budgets)
    }

    fn deadlines(&mut self, entry: &Entry) -> Option<bool> {
        match self.text(entry)? {
            "honour" => Some(true),
            "ignore" => Some(false),
            other => {
                let what = format!("{} is not a value of `deadlines`", quoted(other));
                self.error(entry.at, what, nearest(other, ["honour", "ignore"].into_iter()));
                None
            }
        }
    }

    fn cold_start(&mut self, entry: &Entry) -> ColdStart {
        let mut cold = ColdStart::default();
        let Some(members) = self.members("`cold`", entry.at, &entry.node, COLD) else { return cold };
        for (name, time) in [("read", &mut cold.read), ("moderate", &mut cold.moderate), ("write", &mut cold.write)] {
            if let Some(duration) = members.get(name).and_then(|entry| self.duration(entry)) {
                *time = duration;
            }
        }
        cold
    }

    fn tool_budgets(&mut self, entry: &Entry) -> Vec<(String, ToolBudget)> {
        let entries = self.named(entry, "a mapping: { \"search_*\": { limit: 10s } }", false);
        self.bounded(entry, entries.len());
        entries.into_iter().filter_map(|entry| Some((entry.key.clone(), self.tool_budget(entry)?))).collect()
    }

    fn tool_budget(&mut self, entry: &Entry) -> Option<ToolBudget> {
        let what = format!("the budget of {}", quoted(&entry.key));
        let members = self.members(&what, entry.at, &entry.node, TOOL)?;
        let mut time = |name: &str| members.get(name).and_then(|entry| self.duration(entry));
        let (limit, least, expected) = (time("limit"), time("least"), time("expected"));
        if let (Some(least), Some(limit), Some(entry)) = (least, limit, members.get("least"))
            && least > limit
        {
            self.error(entry.at, "`least` is longer than `limit`", "a time of at most `limit`");
        }
        let class = members.get("class").and_then(|entry| self.class(entry));
        Some(ToolBudget { limit, least, class, expected })
    }

    pub(super) fn class(&mut self, entry: &Entry) -> Option<ToolClass> {
        match self.text(entry)? {
            "read" => Some(ToolClass::Read),
            "moderate" => Some(ToolClass::Moderate),
            "write" => Some(ToolClass::Write),
            other => {
                let what = format!("{} is not a class of tools", quoted(other));
                self.error(entry.at, what, nearest(other, COLD.iter().copied()));
                None
            }
        }
    }

    fn plans(&mut self, entry: &Entry) -> Vec<(String, Vec<String>)> {
        let entries = self.named(entry, "a mapping: { report: [search, read, render] }", false);
        self.bounded(entry, entries.len());
        let mut plans = Vec::new();
        for entry in entries {
            let before = self.errors.len();
            let steps: Vec<_> =
                self.texts(entry, "[search, read, render]").into_iter().map(|(step, _)| step.to_owned()).collect();
            if self.errors.len() == before && !(1..=MOST_STEPS).contains(&steps.len()) {
                let what = format!("the chain {} has {} steps", quoted(&entry.key), steps.len());
                self.error(entry.at, what, format!("1 to {MOST_STEPS} names of tools"));
            }
            plans.push((entry.key.clone(), steps));
        }
        plans
    }

    fn client_budgets(&mut self, entry: &Entry, has_auth: bool) -> Vec<ClientBudget> {
        let Content::List(items) = &entry.node.content else {
            let example = "a list: [{ client: \"batch-*\", chain: 10m }]";
            self.wrong_type("`clients`", entry.at, &entry.node, "a list", example);
            return Vec::new();
        };
        self.bounded(entry, items.len());
        items.iter().filter_map(|item| self.client_budget(item, has_auth)).collect()
    }

    fn client_budget(&mut self, node: &Node, has_auth: bool) -> Option<ClientBudget> {
        let members = self.members("an entry of `clients`", node.at, node, CLIENT)?;
        let client = members.get("client").and_then(|entry| self.text(entry)).map(str::to_owned);
        let scopes = members.get("scopes").map(|entry| self.scopes(entry)).unwrap_or_default();
        if let Some(entry) = members.get("scopes").filter(|_| !has_auth) {
            self.error(entry.at, "`scopes` needs tokens, and the file has no `auth`", "add `auth`");
        }
        let mut time = |name: &str| members.get(name).and_then(|entry| self.duration(entry));
        let (tool, chain): (Option<Duration>, Option<Duration>) = (time("tool"), time("chain"));
        if members.get("tool").is_none() && members.get("chain").is_none() && !members.has_unknown {
            self.error(node.at, "the entry sets no limit", "add `tool` or `chain`");
        }
        Some(ClientBudget { client, scopes, tool, chain })
    }

    fn bounded(&mut self, entry: &Entry, count: usize) {
        if count > MOST {
            self.error(entry.at, format!("{} has more than {MOST} entries", quoted(&entry.key)), "remove some");
        }
    }
}

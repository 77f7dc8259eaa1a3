//! Reads how much clients may ask for, and what happens while an upstream fails: `traffic`.

use std::time::Duration;

use document::{Content, Entry, Node, nearest, quoted};

use super::{MAX_DURATION, Reader, units};
use crate::settings::{
    Amount, BreakerSettings, ConcurrencyRule, CostSettings, RateKey, RateRule, RetrySettings, TrafficSettings,
    UpstreamSettings,
};

const MEMBERS: &[&str] = &["rates", "concurrency", "costs", "breakers", "retries"];
const RATE: &[&str] = &["per", "tools", "allow", "burst"];
const CONCURRENCY: &[&str] = &["upstream", "at_once", "per_principal", "queue", "wait"];
const COSTS: &[&str] = &["allow", "default", "tools"];
const BREAKERS: &[&str] = &["failures", "open", "half_open", "per"];
const RETRIES: &[&str] = &["most", "budget", "backoff"];

/// The most rules of each kind.
const MOST_RULES: usize = 100;
/// The largest count of a rate.
const MOST_COUNT: u32 = 1_000_000;
/// The largest burst.
const MOST_BURST: usize = 100_000;
/// The most places of one upstream, and the longest queue.
const MOST_PLACES: usize = 10_000;
/// The most requests that a breaker remembers.
const MOST_LAST: usize = 1000;
/// The most retries of one request.
const MOST_RETRIES: usize = 5;
/// How long a request waits for a place, if nothing is said.
const WAIT: Duration = Duration::from_secs(2);

impl Reader<'_> {
    pub(super) fn traffic(&mut self, entry: &Entry, upstreams: &[UpstreamSettings]) -> Option<TrafficSettings> {
        let members = self.members("`traffic`", entry.at, &entry.node, MEMBERS)?;
        let concurrency = members.get("concurrency").map(|entry| self.rules(entry)).unwrap_or_default();
        Some(TrafficSettings {
            rates: members.get("rates").map(|entry| self.rates(entry)).unwrap_or_default(),
            concurrency: concurrency.into_iter().filter_map(|rule| self.concurrency(rule, upstreams)).collect(),
            costs: members.get("costs").and_then(|entry| self.costs(entry)),
            breakers: members.get("breakers").and_then(|entry| self.breakers(entry)),
            retries: members.get("retries").and_then(|entry| self.retries(entry)),
        })
    }

    fn rules<'n>(&mut self, entry: &'n Entry) -> Vec<&'n Node> {
        let Content::List(items) = &entry.node.content else {
            let example = if entry.key == "rates" { "[{ allow: 60/min }]" } else { "[{ at_once: 8 }]" };
            let example = format!("a list: {example}");
            self.wrong_type(&quoted(&entry.key), entry.at, &entry.node, "a list", &example);
            return Vec::new();
        };
        if items.len() > MOST_RULES {
            self.error(entry.at, format!("{} has more than {MOST_RULES} entries", quoted(&entry.key)), "remove some");
        }
        items.iter().collect()
    }

    fn rates(&mut self, entry: &Entry) -> Vec<RateRule> {
        self.rules(entry).into_iter().filter_map(|node| self.rate(node)).collect()
    }

    fn rate(&mut self, node: &Node) -> Option<RateRule> {
        let members = self.members("an entry of `rates`", node.at, node, RATE)?;
        let per = members.get("per").map_or_else(|| vec![RateKey::Principal], |entry| self.rate_keys(entry));
        let tools = members.get("tools").map(|entry| {
            let tools: Vec<_> =
                self.texts(entry, "[\"search_*\"]").into_iter().map(|(name, _)| name.to_owned()).collect();
            if matches!(&entry.node.content, Content::List(items) if items.is_empty()) {
                self.error(entry.at, "`tools` is empty", "name tools, or remove the key: then every request counts");
            }
            tools
        });
        let burst = members.get("burst").and_then(|entry| self.whole_number(entry, MOST_BURST, "10"));
        if members.get("allow").is_none() && !members.has_unknown {
            self.error(node.at, "the entry has no `allow`", "add how often, such as `allow: 60/min`");
        }
        let allow = members.get("allow").and_then(|entry| self.amount(entry))?;
        // A tenth of it at once.
        let burst = burst.and_then(|burst| u32::try_from(burst).ok()).unwrap_or((allow.count / 10).clamp(1, 1000));
        Some(RateRule { per, tools, allow, burst })
    }

    fn rate_keys(&mut self, entry: &Entry) -> Vec<RateKey> {
        let all = match &entry.node.content {
            Content::List(items) if items.is_empty() => {
                self.error(entry.at, "`per` is empty", "per: principal");
                Vec::new()
            }
            Content::List(_) => self.texts(entry, "[principal, tool]"),
            _ => self.text(entry).map(|text| (text, entry.at)).into_iter().collect(),
        };
        let mut keys = Vec::new();
        for (text, at) in all {
            if let Some(key) = RateKey::ALL.into_iter().find(|key| key.as_str() == text) {
                keys.push(key);
            } else {
                let what = format!("{} is nothing that rates are counted by", quoted(text));
                self.error(at, what, nearest(text, RateKey::ALL.iter().map(|key| key.as_str())));
            }
        }
        keys
    }

    /// So many in a time: `60/min`.
    fn amount(&mut self, entry: &Entry) -> Option<Amount> {
        let text = self.text(entry)?;
        let amount = text.split_once('/').and_then(|(count, period)| {
            let count = count.trim().parse().ok().filter(|count| (1..=MOST_COUNT).contains(count))?;
            let period = match period.trim() {
                "s" => Duration::from_secs(1),
                "min" => Duration::from_mins(1),
                "h" => Duration::from_hours(1),
                "day" => Duration::from_hours(24),
                other => units::duration(other).filter(|time| !time.is_zero() && *time <= MAX_DURATION)?,
            };
            Some(Amount { count, period })
        });
        if amount.is_none() {
            let remedy = format!("a number to {MOST_COUNT} and a time: 60/min, 5/s, 100/h, 1000/day or 5/10s");
            self.error(entry.at, format!("{} is no rate", quoted(text)), remedy);
        }
        amount
    }

    fn concurrency(&mut self, node: &Node, upstreams: &[UpstreamSettings]) -> Option<ConcurrencyRule> {
        let members = self.members("an entry of `concurrency`", node.at, node, CONCURRENCY)?;
        let upstream = members.get("upstream").and_then(|entry| {
            let name = self.text(entry)?;
            if !upstreams.iter().any(|upstream| upstream.name == name) {
                let what = format!("{} is not one of `upstreams`", quoted(name));
                self.error(entry.at, what, nearest(name, upstreams.iter().map(|upstream| upstream.name.as_str())));
            }
            Some(name.to_owned())
        });
        let mut number = |name: &str| members.get(name).map(|entry| self.whole_number(entry, MOST_PLACES, "8"));
        let (at_once, per_principal) = (number("at_once"), number("per_principal").flatten());
        let queue = members.get("queue").map(|entry| match &entry.node.content {
            // Nothing waits.
            Content::Number(number) if number.as_u64() == Some(0) => Some(0),
            _ => self.whole_number(entry, MOST_PLACES, "16"),
        });
        let wait = members.get("wait").and_then(|entry| self.duration(entry)).unwrap_or(WAIT);
        if at_once.is_none() && !members.has_unknown {
            self.error(node.at, "the entry has no `at_once`", "add how many requests the upstream gets at a time");
        }
        let at_once = at_once.flatten()?;
        if let Some(entry) = members.get("per_principal").filter(|_| per_principal.is_some_and(|own| own > at_once)) {
            self.error(entry.at, "`per_principal` is more than `at_once`", "a number of at most `at_once`");
        }
        let queue = queue.flatten().unwrap_or(at_once.saturating_mul(2));
        Some(ConcurrencyRule { upstream, at_once, per_principal, queue, wait })
    }

    fn costs(&mut self, entry: &Entry) -> Option<CostSettings> {
        let members = self.members("`costs`", entry.at, &entry.node, COSTS)?;
        if members.get("allow").is_none() && !members.has_unknown {
            self.error(entry.at, "`costs` has no `allow`", "add what a principal may spend, such as `allow: 1000/day`");
        }
        let default = members.get("default").map_or(Some(1), |entry| self.cost(entry)).unwrap_or(1);
        let mut tools = Vec::new();
        if let Some(entry) = members.get("tools") {
            let entries = self.named(entry, "a mapping: { \"render_*\": 5 }", false);
            tools = entries.into_iter().filter_map(|entry| Some((entry.key.clone(), self.cost(entry)?))).collect();
        }
        let allow = members.get("allow").and_then(|entry| self.amount(entry))?;
        Some(CostSettings { allow, default, tools })
    }

    fn cost(&mut self, entry: &Entry) -> Option<u32> {
        let number = match &entry.node.content {
            Content::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
            _ => None,
        };
        let fits = number.filter(|number| *number <= MOST_COUNT);
        if fits.is_none() {
            let what = format!("{} is no cost", quoted(&entry.key));
            self.error(entry.at, what, format!("a whole number from 0 to {MOST_COUNT}"));
        }
        fits
    }

    fn breakers(&mut self, entry: &Entry) -> Option<BreakerSettings> {
        let mut breakers = BreakerSettings::default();
        // The key alone sets the usual numbers.
        if matches!(entry.node.content, Content::Null) {
            return Some(breakers);
        }
        let members = self.members("`breakers`", entry.at, &entry.node, BREAKERS)?;
        if let Some((failures, of)) = members.get("failures").and_then(|entry| self.failures(entry)) {
            (breakers.failures, breakers.of) = (failures, of);
        }
        if let Some(open) = members.get("open").and_then(|entry| self.duration(entry)) {
            breakers.open = open;
        }
        if let Some(number) = members.get("half_open").and_then(|entry| self.whole_number(entry, MOST_LAST, "1")) {
            breakers.half_open = number;
        }
        if let Some((text, at)) = members.get("per").and_then(|entry| Some((self.text(entry)?, entry.at))) {
            match text {
                "upstream" => breakers.per_tool = false,
                "tool" => breakers.per_tool = true,
                other => {
                    let what = format!("{} has no breaker of its own", quoted(other));
                    self.error(at, what, nearest(other, ["upstream", "tool"].into_iter()));
                }
            }
        }
        Some(breakers)
    }

    /// So many of the last requests: `5 of 20`.
    fn failures(&mut self, entry: &Entry) -> Option<(usize, usize)> {
        let text = self.text(entry)?;
        let numbers = text.split_once(" of ").and_then(|(failures, of)| {
            let (failures, of) = (failures.trim().parse().ok()?, of.trim().parse().ok()?);
            (1 <= failures && failures <= of && of <= MOST_LAST).then_some((failures, of))
        });
        if numbers.is_none() {
            let what = format!("{} says not how many failures of how many requests", quoted(text));
            self.error(entry.at, what, format!("such as `5 of 20`, of at most {MOST_LAST} requests"));
        }
        numbers
    }

    fn retries(&mut self, entry: &Entry) -> Option<RetrySettings> {
        let mut retries = RetrySettings::default();
        if matches!(entry.node.content, Content::Null) {
            return Some(retries);
        }
        let members = self.members("`retries`", entry.at, &entry.node, RETRIES)?;
        let most = members.get("most").and_then(|entry| self.whole_number(entry, MOST_RETRIES, "2"));
        if let Some(most) = most.and_then(|most| u32::try_from(most).ok()) {
            retries.most = most;
        }
        if let Some((text, at)) = members.get("budget").and_then(|entry| Some((self.text(entry)?, entry.at))) {
            match text.strip_suffix('%').and_then(|number| number.parse().ok()).filter(|number| *number <= 100) {
                Some(percent) => retries.budget_percent = percent,
                None => self.error(at, format!("{} is no share", quoted(text)), "0% to 100%, such as 10%"),
            }
        }
        if let Some((text, at)) = members.get("backoff").and_then(|entry| Some((self.text(entry)?, entry.at))) {
            let pauses = text.split_once("..").and_then(|(least, most)| {
                let (least, most) = (units::duration(least.trim())?, units::duration(most.trim())?);
                (!least.is_zero() && least <= most && most <= MAX_DURATION).then_some((least, most))
            });
            if let Some(pauses) = pauses {
                (retries.backoff, retries.longest_backoff) = pauses;
            } else {
                let what = format!("{} is not the first and the longest pause", quoted(text));
                self.error(at, what, "such as 100ms..2s");
            }
        }
        Some(retries)
    }
}

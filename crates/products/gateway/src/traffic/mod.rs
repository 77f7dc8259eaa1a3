//! How much clients may ask for, and what happens while an upstream fails: rates, costs, places, breakers, retries. Without such
//! settings it costs nothing. Must not know how a request is carried.

mod breaker;
mod breakers;
mod costs;
mod lent_costs;
mod lent_rates;
mod passage;
mod rates;
mod retries;
mod slots;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use net::service::{Answer, Call, RpcError};
use serde_json::{Value, json};

use self::breakers::Breakers;
use self::costs::{Charge, Costs, TooDear};
use self::lent_costs::LentCosts;
use self::lent_rates::LentRates;
pub(crate) use self::passage::Passage;
use self::rates::{Counted, Rates, Taken};
use self::retries::Retries;
use self::slots::{NoPlace, Place, Slots};
use crate::failure;
use crate::settings::{Amount, RateKey, RateRule, TrafficSettings};
use crate::shared::SharedStore;
use crate::upstream::{Client, Upstream};
use crate::view::matches;

/// When it is worth another try where all places are taken.
const PLACE: Duration = Duration::from_secs(1);
/// The longest name of a client that is told apart, in bytes.
const LONGEST_NAME: usize = 256;

/// Why requests are refused, for counting.
#[derive(Clone, Copy, Debug)]
enum Reason {
    Rate,
    Cost,
    Concurrency,
    Breaker,
}

impl Reason {
    const ALL: [Self; 4] = [Self::Rate, Self::Cost, Self::Concurrency, Self::Breaker];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Cost => "cost",
            Self::Concurrency => "concurrency",
            Self::Breaker => "breaker",
        }
    }
}

/// What was counted since the start.
#[derive(Debug, Default)]
struct Counters {
    refused: [AtomicU64; Reason::ALL.len()],
    opened: AtomicU64,
    retries: AtomicU64,
    retries_refused: AtomicU64,
    /// How often the shared store was asked to lend something.
    asked: Arc<AtomicU64>,
    /// Requests that this gateway counted by itself while the shared store was away.
    unshared: AtomicU64,
}

impl Counters {
    fn refuse(&self, reason: Reason) {
        if let Some(count) = self.refused.get(reason as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The places of each upstream, with its name.
type AllSlots = Mutex<HashMap<usize, (String, Arc<Slots>)>>;

/// The traffic of a gateway, by its settings.
#[derive(Debug)]
pub(crate) struct Traffic {
    settings: TrafficSettings,
    rates: Arc<Rates>,
    costs: Option<Arc<Costs>>,
    /// The same for all gateways with one store.
    lent_rates: Option<Arc<LentRates>>,
    lent_costs: Option<Arc<LentCosts>>,
    breakers: Option<Arc<Breakers>>,
    retries: Option<Arc<Retries>>,
    slots: Arc<AllSlots>,
    counters: Arc<Counters>,
}

/// A part that is made from the same settings as before stays as it is.
fn kept<P, S: PartialEq>(
    wanted: Option<&S>,
    before: Option<&Arc<P>>,
    is: impl Fn(&P) -> &S,
    new: impl Fn(&S) -> P,
) -> Option<Arc<P>> {
    let wanted = wanted?;
    Some(before.filter(|before| is(before) == wanted).cloned().unwrap_or_else(|| Arc::new(new(wanted))))
}

/// What the store lends of these rates; the same as before where they are the same.
fn lent_rates(
    settings: &TrafficSettings,
    before: Option<&Traffic>,
    store: Option<&Arc<SharedStore>>,
    asked: &Arc<AtomicU64>,
) -> Option<Arc<LentRates>> {
    let store = store.filter(|_| !settings.rates.is_empty())?;
    let same = before.filter(|old| old.settings.rates == settings.rates).and_then(|old| old.lent_rates.clone());
    Some(same.unwrap_or_else(|| Arc::new(LentRates::new(&settings.rates, store, asked))))
}

/// The same for costs.
fn lent_costs(
    settings: &TrafficSettings,
    before: Option<&Traffic>,
    store: Option<&Arc<SharedStore>>,
    asked: &Arc<AtomicU64>,
) -> Option<Arc<LentCosts>> {
    let (store, costs) = store.zip(settings.costs.as_ref())?;
    let same = before.filter(|old| old.settings.costs == settings.costs).and_then(|old| old.lent_costs.clone());
    Some(same.unwrap_or_else(|| Arc::new(LentCosts::new(costs, store, asked))))
}

impl Traffic {
    /// What these settings say; counts whose settings did not change go on. Gateways with one store count together.
    pub(crate) fn new(settings: &TrafficSettings, before: Option<&Self>, store: Option<&Arc<SharedStore>>) -> Self {
        let start = Instant::now();
        let new_rates = |rules: &Vec<RateRule>| Rates::new(rules, start);
        let rates = kept(Some(&settings.rates), before.map(|old| &old.rates), |old| &old.rules, new_rates);
        let costs = before.and_then(|old| old.costs.as_ref());
        let breakers = before.and_then(|old| old.breakers.as_ref());
        let retries = before.and_then(|old| old.retries.as_ref());
        let same_slots = before.filter(|old| old.settings.concurrency == settings.concurrency);
        let counters = before.map(|old| Arc::clone(&old.counters)).unwrap_or_default();
        Self {
            settings: settings.clone(),
            rates: rates.unwrap_or_else(|| Arc::new(Rates::new(&settings.rates, start))),
            costs: kept(settings.costs.as_ref(), costs, |old| &old.settings, |new| Costs::new(new, start)),
            lent_rates: lent_rates(settings, before, store, &counters.asked),
            lent_costs: lent_costs(settings, before, store, &counters.asked),
            breakers: kept(settings.breakers.as_ref(), breakers, |old| &old.settings, Breakers::new),
            retries: kept(settings.retries.as_ref(), retries, |old| &old.settings, Retries::new),
            slots: same_slots.map(|old| Arc::clone(&old.slots)).unwrap_or_default(),
            counters,
        }
    }

    /// Refuses a request of which only the client is known: it comes too often. Every request counts, also one that the client
    /// may not send.
    pub(crate) async fn too_many(&self, call: &Call, client: &Client, server: &str) -> Option<Answer> {
        self.too_often(RateRule::is_wide, call, client, (server, None)).await
    }

    /// Refuses a request that the client may send: it comes too often for where it goes.
    pub(crate) async fn too_many_there(
        &self,
        call: &Call,
        client: &Client,
        (server, upstream): (&str, &Upstream),
    ) -> Option<Answer> {
        self.too_often(|rule| !rule.is_wide(), call, client, (server, Some(upstream))).await
    }

    async fn too_often(
        &self,
        counts: fn(&RateRule) -> bool,
        call: &Call,
        client: &Client,
        (server, upstream): (&str, Option<&Upstream>),
    ) -> Option<Answer> {
        let from = self.taken(counts, call, client, (server, upstream));
        if from.is_empty() {
            return None;
        }
        let (rule, again) = self.take(&from).await.err()?;
        self.counters.refuse(Reason::Rate);
        let rule = self.rates.rules.get(rule)?;
        let per: Vec<_> = rule.per.iter().map(|key| key.as_str()).collect();
        let what = format!("Too many requests: at most {} per {}", in_words(rule.allow), per.join(" and "));
        let data = json!({ "per": per, "retry_after_ms": millis(again) });
        Some(refused(call, &failure::RATE_LIMITED.error_with(what, data), Some(again)))
    }

    /// What a request takes from, by the rules that fit it.
    fn taken<'r>(
        &self,
        counts: fn(&RateRule) -> bool,
        call: &'r Call,
        client: &'r Client,
        (server, upstream): (&'r str, Option<&'r Upstream>),
    ) -> Vec<Taken<'r>> {
        let of_tool = || call.message.string_member("name").filter(|_| call.message.method() == Some("tools/call"));
        let tool = upstream.and_then(|_| of_tool());
        let fits = |rule: &RateRule| match (&rule.tools, &tool) {
            _ if !counts(rule) => false,
            (None, tool) => tool.is_some() || !rule.is_of_tools(),
            (Some(_), None) => false,
            (Some(patterns), Some(tool)) => patterns.iter().any(|pattern| matches(pattern, tool)),
        };
        let name = client.info().get("name").and_then(Value::as_str).unwrap_or_default();
        let name = &name.as_bytes()[..name.len().min(LONGEST_NAME)];
        let counted = |rule: &RateRule| {
            let has = |key| rule.per.contains(&key);
            Counted {
                principal: (has(RateKey::Principal) || has(RateKey::Client)).then_some(&client.subject),
                client: has(RateKey::Client).then_some(name),
                server: (has(RateKey::Server) || has(RateKey::Tool)).then_some(server),
                tool: tool.clone().filter(|_| has(RateKey::Tool)),
                upstream: upstream.filter(|_| has(RateKey::Upstream)).map(|upstream| upstream.name.as_str()),
            }
        };
        let rules = self.rates.rules.iter().enumerate().filter(|(_, rule)| fits(rule));
        let all = rules.map(|(rule, counts)| {
            let of = counted(counts);
            Taken { rule, key: self.rates.key(&of), of }
        });
        all.collect()
    }

    /// Takes one from each of these counts, or from none: then the rule that refuses, and for how long.
    async fn take(&self, from: &[Taken<'_>]) -> Result<(), (usize, Duration)> {
        let keys = from.iter().map(|one| (one.rule, one.key));
        let Some(lent) = &self.lent_rates else { return self.rates.take(keys, Instant::now()) };
        // What one gateway lets in is never more than what all may, whatever the store forgot.
        self.rates.look(keys.clone(), Instant::now())?;
        if let Some(decided) = lent.take(from).await {
            decided.map(|()| self.rates.note(keys, Instant::now()))
        } else {
            self.counters.unshared.fetch_add(1, Ordering::Relaxed);
            self.rates.take(keys, Instant::now())
        }
    }

    /// What the call costs its principal; the refusal where that is too much.
    async fn charge(&self, call: &Call, client: &Client) -> Result<Option<Charge>, Answer> {
        let Some(costs) = self.costs.as_ref().filter(|_| call.message.method() == Some("tools/call")) else {
            return Ok(None);
        };
        let tool = call.message.string_member("name").unwrap_or_default();
        let charged = match costs.charge(&client.subject, costs.of_tool(&tool), Instant::now()) {
            Ok(charge) => self.charge_shared(charge, client).await,
            Err(too_dear) => Err(too_dear),
        };
        charged.map(Some).map_err(|TooDear { cost, left, again }| {
            self.counters.refuse(Reason::Cost);
            let of = in_words(costs.settings.allow);
            let what = format!("The call is not sent: it costs {cost}, and {left} of {of} are left");
            let data = json!({
                "cost": cost, "left": left, "retryable": again.is_some(), "retry_after_ms": again.map(millis),
            });
            refused(call, &failure::COST_USED_UP.error_with(what, data), again)
        })
    }

    /// Charges the account that all gateways share, too.
    async fn charge_shared(&self, mut charge: Charge, client: &Client) -> Result<Charge, TooDear> {
        if let Some(lent) = self.lent_costs.as_ref().filter(|_| charge.cost > 0) {
            match lent.charge(&client.subject, charge.cost).await {
                Some(charged) => charge.lent = Some(charged?),
                None => _ = self.counters.unshared.fetch_add(1, Ordering::Relaxed),
            }
        }
        Ok(charge)
    }

    fn slots(&self, upstream: &Upstream) -> Option<Arc<Slots>> {
        let is_for = |name: &String| *name == upstream.name;
        let rule = self.settings.concurrency.iter().find(|rule| rule.upstream.as_ref().is_none_or(is_for))?;
        let mut all = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, slots) = all.entry(upstream.index).or_insert_with(|| (upstream.name.clone(), Slots::new(rule)));
        Some(Arc::clone(slots))
    }

    async fn place(&self, call: &Call, client: &Client, upstream: &Upstream) -> Result<Option<Place>, Answer> {
        let Some(slots) = self.slots(upstream) else { return Ok(None) };
        slots.place(&client.subject).await.map(Some).map_err(|why| {
            self.counters.refuse(Reason::Concurrency);
            let why = match why {
                NoPlace::Full => "and as many requests wait as may",
                NoPlace::Late => "and none was free in time",
            };
            let what = format!("All places of the server `{}` are taken, {why}", upstream.name);
            let data = json!({ "upstream": upstream.name, "retry_after_ms": millis(PLACE) });
            refused(call, &failure::TOO_MANY_AT_ONCE.error_with(what, data), Some(PLACE))
        })
    }

    fn is_broken(&self, upstream: &str, again: Duration) -> RpcError {
        self.counters.refuse(Reason::Breaker);
        let what = format!("The server `{upstream}` has failed too often: nothing is sent to it for a while");
        failure::BREAKER_OPEN.error_with(what, json!({ "upstream": upstream, "retry_after_ms": millis(again) }))
    }

    /// Forgets what is over; `is_there` says whether there is an upstream of this number.
    pub(crate) fn sweep(&self, is_there: impl Fn(usize) -> bool) {
        let now = Instant::now();
        self.rates.sweep(now);
        self.costs.iter().for_each(|costs| costs.sweep(now));
        self.lent_rates.iter().for_each(|lent| lent.sweep(now));
        self.lent_costs.iter().for_each(|lent| lent.sweep(now));
        self.breakers.iter().for_each(|breakers| breakers.sweep(&is_there));
        self.retries.iter().for_each(|retries| retries.keep_only(&is_there));
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).retain(|upstream, _| is_there(*upstream));
    }

    /// What was counted, and the breakers; for `status`.
    pub(crate) fn status(&self) -> Value {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.counters;
        let refused: serde_json::Map<_, _> = Reason::ALL
            .iter()
            .zip(&counters.refused)
            .map(|(reason, count)| (reason.as_str().to_owned(), json!(read(count))))
            .collect();
        json!({
            "refused_total": refused, "retries_total": read(&counters.retries),
            "retries_refused_total": read(&counters.retries_refused), "breakers_opened_total": read(&counters.opened),
            "places": self.places(), "breakers": self.breakers.as_ref().map(|all| all.status(Instant::now())).unwrap_or_default(),
        })
    }

    /// How many requests each upstream has, and how many wait, where they are limited.
    fn places(&self) -> Vec<Value> {
        let all = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows: Vec<_> = all.values().map(|(name, slots)| (name, slots.counts())).collect();
        rows.sort();
        let row = |(name, (running, waiting))| json!({ "upstream": name, "running": running, "waiting": waiting });
        rows.into_iter().map(row).collect()
    }

    /// The same in the text format of Prometheus.
    pub(crate) fn metrics(&self) -> String {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (mut page, counters) = (String::new(), &self.counters);
        let _ = writeln!(page, "# HELP traffic_refused_total Requests that `traffic` refused, by reason.");
        let _ = writeln!(page, "# TYPE traffic_refused_total counter");
        for (reason, count) in Reason::ALL.iter().zip(&counters.refused) {
            let _ = writeln!(page, "traffic_refused_total{{reason=\"{}\"}} {}", reason.as_str(), read(count));
        }
        if self.lent_rates.is_some() || self.lent_costs.is_some() {
            let counter = |page: &mut String, name: &str, help: &str, count: &AtomicU64| {
                let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {}", read(count));
            };
            let help = "Times that the shared store was asked for a part of a rate or of an account.";
            counter(&mut page, "traffic_store_asked_total", help, &counters.asked);
            let help = "Requests that this gateway counted by itself: the shared store was away.";
            counter(&mut page, "traffic_unshared_total", help, &counters.unshared);
        }
        for (name, help, count) in [
            ("retries_total", "Requests that the gateway sent again.", &counters.retries),
            (
                "retries_refused_total",
                "Requests not sent again because the budget was used up.",
                &counters.retries_refused,
            ),
            ("breakers_opened_total", "How often a breaker opened.", &counters.opened),
        ] {
            let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {}", read(count));
        }
        let all = self.breakers.as_ref().map(|all| all.status(Instant::now())).unwrap_or_default();
        if !all.is_empty() {
            let _ =
                writeln!(page, "# HELP breaker_state 0: closed, 1: half-open, 2: open.\n# TYPE breaker_state gauge");
        }
        for one in all {
            let text = |name: &str| crate::metrics::escaped(one.get(name).and_then(Value::as_str).unwrap_or_default());
            let state = match &*text("state") {
                "open" => 2,
                "half-open" => 1,
                _ => 0,
            };
            let _ =
                writeln!(page, "breaker_state{{upstream=\"{}\",tool=\"{}\"}} {state}", text("upstream"), text("tool"));
        }
        page
    }
}

/// The answer to a refused request; over HTTP with the status 429 where it says when to come again.
fn refused(call: &Call, error: &RpcError, again: Option<Duration>) -> Answer {
    let answer = Answer::error(Some(call.id()), error);
    match again {
        Some(again) => answer.with_retry_after(again),
        None => answer,
    }
}

/// Rounded up: who comes then shall not come too early.
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

fn in_words(Amount { count, period }: Amount) -> String {
    let unit = match period.as_secs() {
        1 => "second",
        60 => "minute",
        3600 => "hour",
        86_400 => "day",
        seconds => return format!("{count} in {seconds} s"),
    };
    format!("{count} in a {unit}").replace("a hour", "an hour")
}

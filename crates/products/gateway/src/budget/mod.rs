//! Budgets of time: how long one call of a tool may take, alone and as a step of a chain, and which call is refused because it
//! could not end in time. Learns how long tools take. Without such settings it costs nothing. Must not know how a call is
//! carried.

mod allowance;
mod asked;
mod chains;
pub mod formula;
mod latencies;
mod plan;
mod polls;
pub mod quantiles;
mod room;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use net::service::{Answer, Call, RpcError};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

pub(crate) use self::allowance::{Allowance, Begun, Kind, is_success};
pub(crate) use self::asked::chain_of;
use self::asked::{Asked, AskedPlan};
pub(crate) use self::chains::Chain;
use self::chains::Chains;
use self::formula::{Step, is_hopeless, limit};
use self::latencies::{Estimate, Latencies};
use self::plan::Plan;
use self::polls::Polls;
use self::room::Room;
use crate::failure;
use crate::session::ClientState;
use crate::settings::{BudgetSettings, ToolBudget, ToolClass};
use crate::upstream::Client;
use crate::view::matches;

/// The most answers that are awaited after their limit.
const MOST_LATE: usize = 1024;

/// Whose something is: a principal, by its subject. Without tokens all clients are one principal.
type Owner = Option<HeaderValue>;

/// What was learnt and counted. It outlives a change of the settings.
#[derive(Debug)]
pub(crate) struct BudgetState {
    latencies: Latencies,
    chains: Chains,
    polls: Polls,
    room: Arc<Room>,
    orphaned: AtomicU64,
    refused: AtomicU64,
    exceeded: [AtomicU64; Kind::ALL.len()],
    late: Arc<Semaphore>,
}

impl Default for BudgetState {
    fn default() -> Self {
        Self {
            latencies: Latencies::default(),
            chains: Chains::default(),
            polls: Polls::default(),
            room: Arc::default(),
            orphaned: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            exceeded: Default::default(),
            late: Arc::new(Semaphore::new(MOST_LATE)),
        }
    }
}

impl BudgetState {
    /// What was counted, by name; for `/metrics`.
    pub(crate) fn counters(&self) -> Vec<(&'static str, &'static str, String, u64)> {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut all = vec![
            (
                "orphaned_responses_total",
                "Answers of servers that came after the time limit of their call.",
                String::new(),
                read(&self.orphaned),
            ),
            (
                "budget_refused_total",
                "Calls that were not sent because they could not have ended in time.",
                String::new(),
                read(&self.refused),
            ),
        ];
        let help = "Calls that were cut off by a time limit.";
        all.extend(Kind::ALL.iter().zip(&self.exceeded).map(|(kind, counter)| {
            ("budget_exceeded_total", help, format!("{{limit=\"{}\"}}", kind.as_str()), read(counter))
        }));
        all
    }

    /// What was learnt and counted, for `status`.
    pub(crate) fn status(&self) -> Value {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let exceeded: serde_json::Map<_, _> = Kind::ALL
            .iter()
            .zip(&self.exceeded)
            .map(|(kind, counter)| (kind.as_str().to_owned(), json!(read(counter))))
            .collect();
        json!({
            "orphaned_responses_total": read(&self.orphaned), "refused_total": read(&self.refused),
            "exceeded_total": exceeded, "tools": self.latencies.status(),
        })
    }

    /// Forgets what is over.
    pub(crate) fn sweep(&self, settings: &BudgetSettings) {
        let now = Instant::now();
        let longest = settings.clients.iter().filter_map(|client| client.chain).fold(settings.chain, Duration::max);
        self.chains.sweep(now, longest);
        self.polls.sweep(now, settings.poll_interval);
    }
}

/// The budgets of one server that clients see.
#[derive(Clone, Debug)]
pub(crate) struct Budgets {
    settings: Arc<BudgetSettings>,
    state: Arc<BudgetState>,
    server: Arc<str>,
    /// The plans of the configuration, shared by all chains.
    plans: Arc<[(String, Arc<[String]>)]>,
}

/// A call that asks to be let in.
pub(crate) struct Request {
    owner: Owner,
    /// The called tool; cut, where its name is longer than any that is kept.
    tool: String,
    arrived: Instant,
    /// The most that it may take, whatever is left.
    most: Duration,
    /// What is left of the chain, and the client's deadline: the shorter one, and which it is.
    left: Option<(Duration, Kind)>,
    chain: Option<Arc<Chain>>,
    later: Vec<String>,
    /// How many further steps come later that the client does not see.
    hidden: usize,
    /// The client sees the called tool, as far as that is known.
    is_seen: bool,
}

impl Request {
    /// The called tool and the steps after it.
    /// The tools in it.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.tool).chain(&self.later)
    }

    /// How long the call may wait for another one, whose answer will be its own.
    pub(crate) fn patience(&self) -> (Duration, Kind) {
        let over = self.arrived.elapsed();
        let left = self.left.map(|(left, kind)| (left.saturating_sub(over), kind));
        let most = (self.most.saturating_sub(over), Kind::Tool);
        left.into_iter().chain([most]).min_by_key(|(left, _)| *left).unwrap_or(most)
    }
}

/// What to expect of a tool.
struct Expected {
    /// What a call takes.
    typical: Duration,
    /// What it gets at least.
    least: Duration,
    weight: Duration,
    /// Recent enough to refuse a call for it.
    is_sure: bool,
}

impl Budgets {
    pub(crate) fn new(settings: &BudgetSettings, state: &Arc<BudgetState>, server: &str) -> Self {
        let plans = settings.chains.iter().map(|(name, steps)| (name.clone(), steps.as_slice().into())).collect();
        Self { settings: Arc::new(settings.clone()), state: Arc::clone(state), server: server.into(), plans }
    }

    /// What a call of a tool asks for that came at `arrived`.
    pub(crate) fn request(
        &self,
        call: &Call,
        client: &Client,
        tool: &str,
        arrived: Instant,
    ) -> Result<Request, RpcError> {
        let asked = Asked::of(call)?;
        let (most_of_tool, most_of_chain) = self.limits_of(client);
        let is_named = asked.chain.is_some();
        let gap = (!is_named).then_some(self.settings.session_gap);
        let of_session = || client.session.as_ref().map(|session| Arc::clone(ClientState::of(session).chain()));
        let chain = match &asked.chain {
            Some(name) => self.state.chains.find(&client.subject, name),
            None => of_session(),
        };
        let kind = if is_named { Kind::Chain } else { Kind::Session };
        let of_chain = chain.as_ref().map(|chain| (most_of_chain.saturating_sub(chain.ran(arrived, gap)), kind));
        let deadline = asked.deadline.filter(|_| self.settings.deadlines).map(|deadline| (deadline, Kind::Deadline));
        let left = of_chain.into_iter().chain(deadline).min_by_key(|(left, _)| *left);
        let left = left.map(|(left, kind)| (left.saturating_sub(self.settings.reserve), kind));
        let most = self.rule(tool).limit.unwrap_or(most_of_tool);
        let later = match &chain {
            Some(chain) => self.later((chain, &client.subject), asked.plan, tool)?,
            // Without a chain to keep it, a plan holds for this call.
            None => self.planned(asked.plan, None, tool)?.map(|plan| plan.later(tool).to_vec()).unwrap_or_default(),
        };
        let (owner, tool) = (client.subject.clone(), kept_name(tool));
        Ok(Request { owner, tool, arrived, most, left, chain, later, hidden: 0, is_seen: true })
    }

    /// How long one call and a chain of this client may take.
    fn limits_of(&self, client: &Client) -> (Duration, Duration) {
        let name = client.info().get("name").and_then(Value::as_str).unwrap_or_default();
        let has = |scope: &String| client.grant.as_ref().is_some_and(|grant| grant.scopes.contains(scope));
        let rule = self.settings.clients.iter().find(|rule| {
            rule.client.as_ref().is_none_or(|pattern| matches(pattern, name)) && rule.scopes.iter().all(has)
        });
        let tool = rule.and_then(|rule| rule.tool).unwrap_or(self.settings.tool);
        (tool, rule.and_then(|rule| rule.chain).unwrap_or(self.settings.chain))
    }

    fn rule(&self, tool: &str) -> ToolBudget {
        let rule = self.settings.tools.iter().find(|(pattern, _)| matches(pattern, tool));
        rule.map(|(_, rule)| *rule).unwrap_or_default()
    }

    /// The steps of the chain after this call. A plan that the client gives and that has no room holds for this call only.
    fn later(
        &self,
        (chain, owner): (&Chain, &Owner),
        asked: Option<AskedPlan>,
        tool: &str,
    ) -> Result<Vec<String>, RpcError> {
        if let Some(AskedPlan::Steps(steps)) = asked {
            let later = Plan::new(Arc::clone(&steps)).later(tool).to_vec();
            chain.plan(|before| {
                // What it replaces makes room first.
                drop(before);
                let lease = self.state.room.take(owner, &steps)?;
                Some(Plan::leased(steps, lease))
            });
            return Ok(later);
        }
        let mut wrong = None;
        let plan = chain.plan(|before| match self.planned(asked, before.clone(), tool) {
            Ok(plan) => plan,
            Err(error) => {
                wrong = Some(error);
                before
            }
        });
        match wrong {
            Some(error) => Err(error),
            None => Ok(plan.map(|plan| plan.later(tool).to_vec()).unwrap_or_default()),
        }
    }

    /// The plan that holds: the one that the client gives, the one that the chain has, or the first of the configuration that
    /// begins with this tool.
    fn planned(&self, asked: Option<AskedPlan>, before: Option<Plan>, tool: &str) -> Result<Option<Plan>, RpcError> {
        let made = |steps: &Arc<[String]>| Plan::new(Arc::clone(steps));
        match asked {
            Some(AskedPlan::Steps(steps)) => Ok(Some(Plan::new(steps))),
            Some(AskedPlan::Named(_)) | None if before.is_some() => Ok(before),
            Some(AskedPlan::Named(name)) => {
                let found = self.plans.iter().find(|(known, _)| *known == name);
                found.map(|(_, steps)| Some(made(steps))).ok_or_else(|| asked::unknown_plan(&name))
            }
            None => {
                let begins = |steps: &Arc<[String]>| steps.first().is_some_and(|first| first == tool);
                Ok(self.plans.iter().find(|(_, steps)| begins(steps)).map(|(_, steps)| made(steps)))
            }
        }
    }

    /// Whether it has to be known which of its tools the client can see: what is known of the others is not its business.
    pub(crate) fn needs_list(&self, request: &Request) -> bool {
        request.left.is_some() || !self.state.latencies.knows(&self.server, &request.tool)
    }

    /// Takes in what servers say of the tools in it. `find`: a tool that a server lists and that the client may use.
    pub(crate) fn take_in<'t>(&self, request: &mut Request, find: impl Fn(&str) -> Option<&'t Value>) {
        for tool in request.steps().filter(|tool| !self.state.latencies.knows(&self.server, tool)) {
            if let Some(item) = find(tool) {
                let class = class_of(item.get("annotations"));
                self.state.latencies.classify(&self.server, tool, class, request.arrived);
            }
        }
        // Otherwise limits would show which tools there are, and how others use them.
        request.is_seen = find(&request.tool).is_some();
        let steps = request.later.len();
        request.later.retain(|tool| find(tool).is_some());
        request.hidden = steps - request.later.len();
    }

    /// What is expected of a tool. What servers and calls say of it counts where the client sees it.
    fn expected(&self, owner: &Owner, tool: &str, is_seen: bool, now: Instant) -> Expected {
        let rule = self.rule(tool);
        let most = rule.limit.unwrap_or(self.settings.tool);
        let estimate = || self.state.latencies.estimate((&self.server, owner), tool, now);
        match if is_seen { estimate() } else { Estimate::Cold(None) } {
            Estimate::Learnt { quantiles, is_stale } => Expected {
                typical: quantiles.p50,
                least: rule.least.unwrap_or(quantiles.enough()),
                weight: quantiles.p99.min(most),
                is_sure: !is_stale,
            },
            Estimate::Cold(class) => {
                let cold = &self.settings.cold;
                let of_class = match rule.class.or(class).unwrap_or(ToolClass::Moderate) {
                    ToolClass::Read => cold.read,
                    ToolClass::Moderate => cold.moderate,
                    ToolClass::Write => cold.write,
                };
                let time = rule.expected.unwrap_or(of_class);
                Expected { typical: time, least: rule.least.unwrap_or(time), weight: time.min(most), is_sure: true }
            }
        }
    }

    /// The weights of the steps after a call.
    fn weights(&self, owner: &Owner, later: &[String], hidden: usize, now: Instant) -> Vec<Duration> {
        let unknown = self.settings.cold.moderate.min(self.settings.tool);
        let known = later.iter().map(|tool| self.expected(owner, tool, true, now).weight);
        known.chain(std::iter::repeat_n(unknown, hidden)).collect()
    }

    /// A call was not sent: its time was over while it waited.
    pub(crate) fn waited_too_long(&self, kind: Kind) -> RpcError {
        self.state.refused.fetch_add(1, Ordering::Relaxed);
        let of = kind.in_words();
        let what = format!("The call was not sent: {of} was over while it waited for an equal call that still runs");
        failure::WAITED_TOO_LONG.error_with(what, json!({ "limit": kind.as_str() }))
    }

    /// Lets a call in, with a limit; or says why it is not sent.
    pub(crate) fn admit(&self, request: Request) -> Result<Begun, RpcError> {
        let now = Instant::now();
        let Request { owner, tool, arrived, most, left, chain, later, hidden, is_seen } = request;
        let left = left.map(|(left, kind)| (left.saturating_sub(now - arrived), kind));
        let (time, kind, typical) = match left {
            None => (most, Kind::Tool, Duration::ZERO),
            Some((left, kind)) => {
                let Expected { typical, least, weight, is_sure } = self.expected(&owner, &tool, is_seen, now);
                let needed = if is_sure { typical } else { Duration::ZERO };
                if is_hopeless(left, needed) {
                    self.state.refused.fetch_add(1, Ordering::Relaxed);
                    return Err(self.refusal(&tool, (left, kind), needed, chain.as_deref().map(|c| (c, now))));
                }
                if !is_sure {
                    self.state.latencies.probe((&self.server, &owner), &tool, now);
                }
                let weights = self.weights(&owner, &later, hidden, now);
                let time = limit(left, Step { weight, least, most }, weights);
                let kind = match time {
                    time if time == left => kind,
                    time if time == most => Kind::Tool,
                    _ => Kind::Plan,
                };
                (time, kind, typical)
            }
        };
        if let Some(chain) = &chain {
            chain.enter(now);
        }
        let of = (Arc::clone(&self.state), Arc::clone(&self.server), owner);
        Ok(Begun(Arc::new(Allowance::new(of, tool, chain, (now, time, kind), typical))))
    }

    fn refusal(
        &self,
        tool: &str,
        (left, kind): (Duration, Kind),
        typical: Duration,
        chain: Option<(&Chain, Instant)>,
    ) -> RpcError {
        let of = kind.in_words();
        let name = wire::escape::line(tool);
        let (left_ms, typical_ms) = (left.as_millis() as u64, typical.as_millis() as u64);
        let what = format!(
            "The call of `{name}` was not sent: {left_ms} ms of {of} are left, and it typically takes {typical_ms} ms"
        );
        // Only a session gets a new budget by waiting.
        let again = chain.filter(|_| kind == Kind::Session).map(|(c, now)| c.idle_in(now, self.settings.session_gap));
        let mut data = json!({
            "retryable": again.is_some(), "limit": kind.as_str(), "left_ms": left_ms, "expected_ms": typical_ms,
        });
        if let Some(again) = again {
            data["retry_after_ms"] = json!(again.as_millis() as u64);
        }
        failure::BUDGET_TOO_SMALL.error_with(what, data)
    }

    /// The answer to a look at a task that comes too early, or whose id is too long to be watched.
    pub(crate) fn too_early(&self, call: &Call) -> Option<Answer> {
        let task = call.message.string_member("taskId").filter(|_| call.message.method() == Some("tasks/get"))?;
        if task.len() > polls::LONGEST {
            let most = polls::LONGEST;
            let error = failure::PARAMS_INVALID.error(format!("Invalid params: `taskId` has more than {most} bytes"));
            return Some(Answer::error(Some(call.id()), &error));
        }
        let key = (call.context.subject.clone(), task.into_owned());
        let early = self.state.polls.look(key, Instant::now(), self.settings.poll_interval)?;
        let data = json!({ "retry_after_ms": early.as_millis() as u64 });
        let error = failure::POLLED_TOO_OFTEN.error_with("This task was polled a moment ago", data);
        Some(Answer::error(Some(call.id()), &error).with_retry_after(early))
    }
}

/// A name in the length in which names are kept. What is cut is the name of no tool of which something is known.
fn kept_name(tool: &str) -> String {
    if tool.len() <= asked::LONGEST {
        return tool.to_owned();
    }
    format!("{}…", &tool[..tool.floor_char_boundary(asked::LONGEST)])
}

/// What annotations say of a tool. A server that says nothing says neither that it only reads nor that it writes.
pub(crate) fn class_of(annotations: Option<&Value>) -> ToolClass {
    let hint = |name: &str| annotations.and_then(|all| all.get(name)?.as_bool());
    match (hint("readOnlyHint"), hint("openWorldHint"), hint("destructiveHint")) {
        (Some(true), Some(true), _) | (None, _, None | Some(false)) => ToolClass::Moderate,
        (Some(true), ..) => ToolClass::Read,
        (Some(false), ..) | (None, _, Some(true)) => ToolClass::Write,
    }
}

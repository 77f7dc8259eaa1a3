//! What a request says of its chain in `_meta` (docs/gateway-budgets.md): its name, its plan, the client's deadline. Must not
//! know what follows from it.

use std::sync::Arc;
use std::time::Duration;

use net::service::{Call, RpcError};
use serde_json::Value;

use crate::config::budgets::MOST_STEPS;
use crate::failure;
use crate::telemetry::trace_of;

/// The chain that a call belongs to: any text.
const CHAIN: &str = "dev.proofhouse/chain";
/// The tools that the chain is going to call from this call on, or the name of a plan of the configuration.
const PLAN: &str = "dev.proofhouse/plan";
/// In how many milliseconds the client no longer needs the rest of its chain.
const DEADLINE: &str = "dev.proofhouse/deadline-ms";
/// W3C Trace Context (2026-07-28, basic#meta).
const TRACE: &str = "traceparent";

/// The longest name of a chain, and of a tool in a plan, in bytes.
pub(super) const LONGEST: usize = 256;

/// What a request says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) chain: Option<String>,
    pub(super) plan: Option<AskedPlan>,
    pub(super) deadline: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AskedPlan {
    Steps(Arc<[String]>),
    Named(String),
}

impl Asked {
    pub(super) fn of(call: &Call) -> Result<Self, RpcError> {
        let header = call.context.headers.as_ref().and_then(|headers| headers.get(TRACE)?.to_str().ok());
        Self::read(call.message.meta(), header)
    }

    fn read(meta: Option<&Value>, header: Option<&str>) -> Result<Self, RpcError> {
        let member = |name: &str| meta.and_then(|meta| meta.get(name));
        let named = member(CHAIN).map(|chain| {
            let text = chain.as_str().filter(|text| !text.is_empty() && text.len() <= LONGEST);
            text.map(|text| format!("name:{text}")).ok_or_else(|| invalid(CHAIN, "a text of 1 to 256 bytes"))
        });
        let trace = || member(TRACE).and_then(Value::as_str).or(header).and_then(trace_of);
        let deadline = member(DEADLINE).map(|deadline| {
            let ms = deadline.as_u64().map(Duration::from_millis);
            ms.ok_or_else(|| invalid(DEADLINE, "a whole number of milliseconds"))
        });
        let chain = named.transpose()?.or_else(|| trace().map(|id| format!("trace:{id}")));
        Ok(Self { chain, plan: member(PLAN).map(plan).transpose()?, deadline: deadline.transpose()? })
    }
}

/// The name of the chain that a call belongs to, where its client gives one.
pub(crate) fn chain_of(call: &Call) -> Result<Option<String>, RpcError> {
    Asked::of(call).map(|asked| asked.chain)
}

fn plan(value: &Value) -> Result<AskedPlan, RpcError> {
    let wrong = || invalid(PLAN, "a list of 1 to 64 names of tools, or the name of a chain of the configuration");
    let name = |value: &Value| value.as_str().filter(|name| name.len() <= LONGEST).map(str::to_owned);
    match value {
        Value::Array(steps) if (1..=MOST_STEPS).contains(&steps.len()) => {
            let steps: Option<Vec<_>> = steps.iter().map(name).collect();
            steps.map(|steps| AskedPlan::Steps(steps.into())).ok_or_else(wrong)
        }
        value => name(value).map(AskedPlan::Named).ok_or_else(wrong),
    }
}

pub(super) fn unknown_plan(name: &str) -> RpcError {
    let name = wire::escape::line(name).into_owned();
    failure::PLAN_UNKNOWN.error(format!("Invalid params: `_meta` names the plan `{name}`, which is not configured"))
}

fn invalid(name: &str, expected: &str) -> RpcError {
    failure::PARAMS_INVALID.error(format!("Invalid params: `{name}` in `_meta` is not {expected}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::{Asked, AskedPlan};

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn read(meta: &Value, header: Option<&str>) -> Result<Asked, String> {
        Asked::read(Some(meta), header).map_err(|error| error.message.into_owned())
    }

    #[test]
    fn a_chain_has_a_name_or_a_trace() {
        let chain = |meta: Value, header| read(&meta, header).expect("good").chain;
        let trace = Some("trace:0af7651916cd43dd8448eb211c80319c".to_owned());
        assert_eq!(chain(json!({ "traceparent": PARENT }), None), trace);
        assert_eq!(chain(json!({}), Some(PARENT)), trace);
        let named = json!({ "traceparent": PARENT, "dev.proofhouse/chain": "turn 7" });
        assert_eq!(chain(named, Some(PARENT)), Some("name:turn 7".to_owned()));
        let without = |part: &str| PARENT.replace(part, &"0".repeat(part.len()));
        let (trace, span) = (without("0af7651916cd43dd8448eb211c80319c"), without("b7ad6b7169203331"));
        for bad in ["", "00-0-0-0", &trace, &span, &PARENT[1..], &format!("{PARENT}-more")] {
            assert_eq!(chain(json!({ "traceparent": bad }), None), None, "{bad}");
        }
        assert_eq!(chain(json!({ "traceparent": 7 }), None), None);
    }

    #[test]
    fn plans_and_deadlines_are_checked() {
        let asked = read(&json!({ "dev.proofhouse/plan": ["a", "b"], "dev.proofhouse/deadline-ms": 1500 }), None);
        let asked = asked.expect("good");
        assert_eq!(asked.deadline, Some(Duration::from_millis(1500)));
        let Some(AskedPlan::Steps(steps)) = asked.plan else { panic!("{:?}", asked.plan) };
        assert_eq!(*steps, ["a".to_owned(), "b".to_owned()]);
        let named = read(&json!({ "dev.proofhouse/plan": "report" }), None).expect("good");
        assert_eq!(named.plan, Some(AskedPlan::Named("report".to_owned())));
        for (name, values) in [
            ("dev.proofhouse/plan", vec![json!([]), json!(["a", 1]), json!(7), json!(vec!["a"; 65]), Value::Null]),
            ("dev.proofhouse/deadline-ms", vec![json!(-1), json!(1.5), json!("1"), Value::Null]),
            ("dev.proofhouse/chain", vec![json!(""), json!(1), json!("x".repeat(257)), Value::Null]),
        ] {
            for value in values {
                let error = read(&json!({ name: value }), None).expect_err("bad");
                assert!(error.contains(name), "{error}");
            }
        }
    }
}

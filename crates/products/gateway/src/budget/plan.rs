//! The tools that a chain is going to call, in order. Pure.

use std::sync::Arc;

use super::room::Lease;

/// A plan, and how far it has come.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    steps: Arc<[String]>,
    at: usize,
    /// The room that its steps take, where a client gave them.
    _lease: Option<Arc<Lease>>,
}

impl Plan {
    pub(crate) fn new(steps: Arc<[String]>) -> Self {
        Self { steps, at: 0, _lease: None }
    }

    /// One that is kept as long as it has room.
    pub(super) fn leased(steps: Arc<[String]>, lease: Lease) -> Self {
        Self { _lease: Some(Arc::new(lease)), ..Self::new(steps) }
    }

    /// The steps after a call of this tool. Steps before it are left out; a tool that is not among the rest is one more step.
    pub(crate) fn later(&self, tool: &str) -> &[String] {
        let rest = self.steps.get(self.at..).unwrap_or_default();
        match rest.iter().position(|step| step == tool) {
            Some(place) => &rest[place + 1..],
            None => rest,
        }
    }

    /// A call of this tool is done.
    pub(crate) fn advance(&mut self, tool: &str) {
        self.at = self.steps.len() - self.later(tool).len();
    }
}

#[cfg(test)]
mod tests {
    use super::Plan;

    #[test]
    fn a_plan_follows_the_calls() {
        let steps = ["a", "b", "a", "c"].map(str::to_owned);
        let mut plan = Plan::new(steps.clone().into());
        assert_eq!(plan.later("a"), &steps[1..]);
        assert_eq!(plan.later("x"), &steps);
        plan.advance("x");
        plan.advance("a");
        // A step that is called again counts as the next one of its name.
        assert_eq!(plan.later("a"), &steps[3..]);
        assert_eq!(plan.later("c"), &[] as &[String]);
        plan.advance("c");
        assert_eq!(plan.later("b"), &[] as &[String]);
    }
}

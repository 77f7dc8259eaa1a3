//! Who may use what: by the access rules, and by a policy decision point where there is one. Both must allow. Must not know
//! where an item is.

use std::sync::Arc;

use net::OpenError;

use super::authzen::{DecisionError, DecisionPoint, Question};
use super::policy::Action;
use super::rules::{AccessRules, ConditionError, Kind, Target};
use crate::settings::{AccessRule, AuthzenSettings};
use crate::view::is_ambiguous;

/// What decides about access.
#[derive(Debug)]
pub(crate) struct Access {
    rules: Option<AccessRules>,
    point: Option<Arc<DecisionPoint>>,
}

impl Access {
    /// What these settings say; `None` where they say nothing, and clients may use everything.
    pub(crate) fn new(
        rules: Option<&[AccessRule]>,
        point: Option<Arc<DecisionPoint>>,
    ) -> Result<Option<Self>, ConditionError> {
        let rules = rules.map(AccessRules::new).transpose()?;
        Ok((rules.is_some() || point.is_some()).then_some(Self { rules, point }))
    }

    /// The policy decision point.
    pub(crate) const fn point(&self) -> Option<&Arc<DecisionPoint>> {
        self.point.as_ref()
    }

    /// Whether a decision may depend on a tool's annotations.
    pub(crate) fn uses_annotations(&self) -> bool {
        self.point.is_some() || self.rules.as_ref().is_some_and(AccessRules::use_annotations)
    }

    /// Whether each target may be used, in their order. They are of one client and one request.
    pub(crate) async fn allow(&self, action: Action, targets: &[Target<'_>]) -> Result<Vec<bool>, DecisionError> {
        let may = targets.iter().map(|target| self.rules_allow(target)).collect();
        match &self.point {
            Some(point) => Box::pin(Self::point_allows(point, action, targets, may)).await,
            None => Ok(may),
        }
    }

    /// Asks about what the rules allow.
    async fn point_allows(
        point: &DecisionPoint,
        action: Action,
        targets: &[Target<'_>],
        mut may: Vec<bool>,
    ) -> Result<Vec<bool>, DecisionError> {
        let left: Vec<Target<'_>> =
            targets.iter().zip(&may).filter(|(_, may)| **may).map(|(target, _)| *target).collect();
        // A token that does not name its subject is nobody's.
        let decided = match Question::new(&point.settings.mapping, action, &left) {
            Some(question) => point.decide(&question).await?,
            None => vec![false; left.len()],
        };
        let mut decided = decided.into_iter();
        for may in may.iter_mut().filter(|may| **may) {
            *may = decided.next().unwrap_or_default();
        }
        Ok(may)
    }

    /// What needs no question. A URI that may be read as another one is denied with or without rules.
    fn rules_allow(&self, target: &Target<'_>) -> bool {
        match &self.rules {
            Some(rules) => rules.allow(target),
            None => target.kind != Kind::Resource || !is_ambiguous(target.name),
        }
    }
}

/// The decision point of these settings; the known one where nothing of it changed, with what it has decided.
pub(crate) fn decision_point(
    settings: Option<&AuthzenSettings>,
    known: Option<Arc<DecisionPoint>>,
) -> Result<Option<Arc<DecisionPoint>>, OpenError> {
    let Some(settings) = settings else { return Ok(None) };
    match known.filter(|known| known.settings == *settings) {
        Some(known) => Ok(Some(known)),
        None => Ok(Some(Arc::new(DecisionPoint::new(settings)?))),
    }
}

//! How one probe, or several on one connection, are played: for the first time, and again.

use wire::trace::Trace;

use super::context::{Abort, ProbeContext};
use super::probe::{Access, Probe};
use super::probes::PROBES;
use super::run::{Played, Stage};
use super::survey::Survey;

impl Stage {
    /// A connection of its own, after the handshake.
    pub(super) async fn greeted(&self, name: &str) -> Result<ProbeContext, Trace> {
        let case =
            ProbeContext::bare(self.setting.clone(), self.survey.clone(), name).await.map_err(|(_, trace)| trace)?;
        match case.in_time(case.handshake()).await {
            Ok(_) => Ok(case),
            Err(Abort::Unwelcome) if self.survey.unwelcome => Ok(case),
            Err(_) => Err(case.finish().await),
        }
    }

    /// One probe on a connection of its own.
    pub(super) async fn played(&self, probe: &'static Probe) -> Played {
        let case = if probe.access == Access::Bare {
            let case = ProbeContext::bare(self.setting.clone(), self.survey.clone(), probe.name).await;
            // Its script says the first word, perhaps one that is not answered: the time that a start took before tells
            // when it has started at the latest.
            case.inspect(|case| case.starts_within(self.survey.start)).map_err(|(_, trace)| trace)
        } else {
            self.greeted(probe.name).await
        };
        match case {
            Err(trace) => Played::nothing(trace),
            Ok(case) => self.script(&[probe], case).await,
        }
    }

    /// Several probes on one connection; where `surveyed`, every list is asked for first.
    pub(super) async fn together_again(&self, name: &str, probes: &[&'static Probe], surveyed: bool) -> Played {
        if !surveyed {
            return match self.greeted(name).await {
                Err(trace) => Played::nothing(trace),
                Ok(case) => self.script(probes, case).await,
            };
        }
        match ProbeContext::bare(self.setting.clone(), self.survey.clone(), name).await {
            Err((_, trace)) => Played::nothing(trace),
            Ok(case) => match case.in_time(Survey::take(&case)).await {
                Err(_) => Played::nothing(case.finish().await),
                Ok(_) => self.script(probes, case).await,
            },
        }
    }

    async fn script(&self, probes: &[&'static Probe], case: ProbeContext) -> Played {
        let mut begins = Vec::new();
        let mut completed = 0;
        for probe in probes {
            begins.push(case.connection().tap().now());
            let outcome = case.in_time((probe.script)(&case)).await;
            if !came_to_its_end(&outcome) {
                tracing::debug!(case = probe.name, ?outcome, "the case ended early");
                break;
            }
            completed += 1;
        }
        Played { trace: case.finish().await, completed, begins }
    }
}

/// The probes of these names.
pub(super) fn named(names: &[&'static str]) -> Vec<&'static Probe> {
    names.iter().filter_map(|name| PROBES.iter().copied().find(|probe| probe.name == *name)).collect()
}

/// Whether a script got as far as it could with this peer.
const fn came_to_its_end(outcome: &Result<(), Abort>) -> bool {
    matches!(outcome, Ok(()) | Err(Abort::Lacks(_)))
}

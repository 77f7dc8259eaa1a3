//! How one probe, or several on one connection, are played: for the first time, and again.

use serde_json::json;
use wire::trace::{Content, Frame, Mark, Trace};
use wire::{Era, Message};

use super::context::{Abort, ProbeContext};
use super::probe::{Access, Probe};
use super::probes::PROBES;
use super::run::{Played, Stage};
use super::spawn_limit::SpawnPermit;
use super::survey::Survey;

impl Stage {
    /// A connection of its own, after the handshake.
    pub(super) async fn greeted(&self, name: &str) -> Result<ProbeContext, Trace> {
        self.greeted_from(name, self.setting.spawns.acquire(self.setting.transport)).await
    }

    async fn greeted_from(&self, name: &str, start: impl Future<Output = SpawnPermit>) -> Result<ProbeContext, Trace> {
        let case = ProbeContext::bare_from(self.setting.clone(), self.survey.clone(), name, start).await;
        let case = case.map_err(|(_, trace)| trace)?;
        match case.in_time(case.handshake()).await {
            Ok(_) => Ok(case),
            Err(Abort::Unwelcome) if self.survey.unwelcome => Ok(case),
            Err(_) => Err(case.finish().await),
        }
    }

    /// A connection on which nothing has been said.
    async fn silent_from(&self, name: &str, start: impl Future<Output = SpawnPermit>) -> Result<ProbeContext, Trace> {
        let case = ProbeContext::bare_from(self.setting.clone(), self.survey.clone(), name, start).await;
        // The first word comes from a script, and perhaps is not answered: the time that a start took before tells when it
        // has started at the latest.
        case.inspect(|case| case.starts_within(self.setting.spawns.longest(self.survey.start)))
            .map_err(|(_, trace)| trace)
    }

    /// One probe on a connection of its own.
    pub(super) async fn played(&self, probe: &'static Probe, start: SpawnPermit) -> Played {
        let start = std::future::ready(start);
        let case = match probe.access {
            Access::Bare => self.silent_from(probe.name, start).await,
            _ => self.greeted_from(probe.name, start).await,
        };
        match case {
            Err(trace) => Played::nothing(trace),
            Ok(case) => self.script(&[probe], case).await,
        }
    }

    /// A connection on which `opener` said the first words, if that leaves it as the handshake does; otherwise what came of it.
    pub(super) async fn opened_by(&self, opener: &'static Probe, name: &str) -> Result<ProbeContext, Played> {
        let start = self.setting.spawns.acquire(self.setting.transport);
        let case = self.silent_from(name, start).await.map_err(Played::nothing)?;
        let outcome = case.in_time((opener.script)(&case)).await;
        if outcome.is_ok() && is_as_greeted(&case).await {
            return Ok(case);
        }
        let completed = usize::from(came_to_its_end(&outcome));
        Err(Played { trace: case.finish().await, completed, begins: vec![0] })
    }

    /// Several probes on one connection; where `surveyed`, every list is asked for first.
    pub(super) async fn together_again(&self, name: &str, probes: &[&'static Probe], surveyed: bool) -> Played {
        if let [opener, others @ ..] = probes
            && opener.access == Access::Bare
        {
            return match self.opened_by(opener, name).await {
                Err(played) => played,
                Ok(case) => self.script_after(1, others, case).await,
            };
        }
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

    pub(super) async fn script(&self, probes: &[&'static Probe], case: ProbeContext) -> Played {
        self.script_after(0, probes, case).await
    }

    /// The same on a connection on which so many were played.
    async fn script_after(&self, before: usize, probes: &[&'static Probe], case: ProbeContext) -> Played {
        let mut begins = vec![0; before];
        let mut completed = before;
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

/// Whether a connection is left as the handshake leaves it: everything was answered, in the legacy era at last one greeting,
/// the only one that succeeded. Then the client's last word of the handshake follows.
async fn is_as_greeted(case: &ProbeContext) -> bool {
    let unanswered = |frame: &Frame| matches!(frame.content, Content::Mark(Mark::Unanswered { .. }));
    if case.connection().is_over() || case.connection().tap().snapshot().frames.iter().any(unanswered) {
        return false;
    }
    if case.era() == Era::Modern {
        return true;
    }
    let received = case.connection().received();
    let version = |message: &Message| message.result().and_then(|result| result.get("protocolVersion")).cloned();
    let last = received.iter().rfind(|message| message.kind().is_response());
    let agrees = last.and_then(version).is_some_and(|version| version == case.revision().as_str());
    let greetings = received.iter().filter_map(version).count();
    agrees && greetings == 1 && case.notify("notifications/initialized", json!({})).await.is_ok()
}

/// The probes of these names.
pub(super) fn named(names: &[&'static str]) -> Vec<&'static Probe> {
    names.iter().filter_map(|name| PROBES.iter().copied().find(|probe| probe.name == *name)).collect()
}

/// Whether a script got as far as it could with this peer.
const fn came_to_its_end(outcome: &Result<(), Abort>) -> bool {
    matches!(outcome, Ok(()) | Err(Abort::Lacks(_)))
}

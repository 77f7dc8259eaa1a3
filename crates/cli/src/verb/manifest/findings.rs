//! `proof check --manifest`: the manifest and the server as findings of the report, never as silence.

use lock::Entry;
use lock::admission::Signed;
use lock::trust::State;
use net::client::Address;
use report::{Finding, Outcome, Report, Summary};
use serde_json::Value;
use wire::redact::Redactor;
use wire::{Level, Revision, Transport, escape};

use super::rules::{MATCHES, ManifestRule, URL, VERIFIED};
use super::{Unfetched, elsewhere, fetch, now, read, well_known};
use crate::args::check::{CheckArgs, ManifestPlace};
use crate::exit::{Exit, usage};
use crate::run::Run;
use crate::verb::keys;
use crate::verb::lock::target::{self, Unread};

/// How many differences are named, and how long each may be.
const NAMED: usize = 8;
const LONGEST: usize = 160;

/// What `--manifest` and `--keys` give, read before the check.
pub(crate) struct Given {
    place: Place,
    keys: Vec<Value>,
    server: Address,
}

/// A manifest that is here, or the address of one.
enum Place {
    Here(Signed),
    At(net::client::HttpAddress),
}

impl Given {
    /// Reads the files; `None` without `--manifest`.
    pub(crate) fn of(args: &CheckArgs) -> Result<Option<Self>, Exit> {
        let Some(place) = &args.manifest else { return Ok(None) };
        let server = args
            .server
            .address()?
            .ok_or_else(|| usage("--manifest needs a server", "add its URL, or its command after `--`"))?;
        let place = match place {
            ManifestPlace::File(path) => Place::Here(read(path)?),
            ManifestPlace::Url(url) => Place::At(elsewhere(url.clone(), &server, &args.server.reach)),
            ManifestPlace::Auto => Place::At(well_known(&server).ok_or_else(|| {
                usage("--manifest auto: a command has no well-known path", "--manifest FILE or --manifest URL")
            })?),
        };
        let keys = args.keys.as_deref().map(keys::trusted).transpose()?.unwrap_or_default();
        Ok(Some(Self { place, keys, server }))
    }

    /// Adds the findings about the manifest to the report.
    pub(crate) fn judge(self, run: &Run, args: &CheckArgs, report: &mut Report) -> Result<(), Exit> {
        let transport = self.server.transport();
        let signed = match self.place {
            Place::Here(signed) => Ok(signed),
            Place::At(address) => match fetch(run, &args.server.reach, &address) {
                Ok(signed) => Ok(signed),
                Err(Unfetched::Reported(exit)) => return Err(exit),
                Err(Unfetched::Missing(why) | Unfetched::Invalid(why)) => Err(why),
            },
        };
        let listed = match target::live(run, &args.server, self.server) {
            Err(Unread::Reported(exit @ Exit::Interrupted(_))) => return Err(exit),
            Err(unread) => Err(unread.reason()),
            Ok(found) => Ok(found),
        };
        let (verified, is_verified) = verified(&signed, &self.keys);
        let matches = match (&signed, &listed) {
            (Err(_), _) => (Outcome::NotExercised, "there is no manifest to compare the server with".to_owned()),
            (Ok(_), Err(why)) => (Outcome::Fail, format!("the server could not be listed: {}", shown(why))),
            (Ok(signed), Ok(found)) => compared(signed, found, is_verified),
        };
        let revision = listed.ok().and_then(|found| revision(&found.entry));
        let redactor = run.redactor_of(&args.server.secrets()).masked();
        add(report, (transport, revision), [(&VERIFIED, verified), (&MATCHES, matches)], &redactor);
        Ok(())
    }
}

type Verdict = (Outcome, String);

/// Whether a trusted key signed the manifest, and it holds.
fn verified(signed: &Result<Signed, String>, keys: &[Value]) -> (Verdict, bool) {
    let signed = match signed {
        Ok(signed) => signed,
        Err(why) => return ((Outcome::Fail, why.clone()), false),
    };
    let examined = signed.examine(None, keys, now(), &keys::verifies);
    let mut reasons = Vec::new();
    if examined.judgement.state != State::Verified {
        let advice = if keys.is_empty() { "; no key is trusted without --keys" } else { "" };
        let judgement = &examined.judgement;
        reasons.push(format!("the manifest is {}: {}{advice}", judgement.state, shown(&judgement.reason)));
    }
    reasons.extend(examined.refusals.iter().map(|why| format!("the manifest is refused: {}", shown(&why.to_string()))));
    if reasons.is_empty() {
        return ((Outcome::Pass, VERIFIED.says.to_owned()), true);
    }
    ((Outcome::Fail, reasons.join("; ")), false)
}

/// Whether the server is the one in the manifest.
fn compared(signed: &Signed, found: &target::Found, is_verified: bool) -> Verdict {
    let unstable = found.unstable.iter().map(|change| format!("{}: {}", change.of, change.what));
    let mut differences: Vec<String> = unstable.collect();
    differences.extend(signed.manifest.differences(&found.entry).iter().map(ToString::to_string));
    differences.dedup();
    if differences.is_empty() {
        return if is_verified {
            (Outcome::Pass, MATCHES.says.to_owned())
        } else {
            (Outcome::NotExercised, "the manifest is not verified, so that it matches proves nothing".to_owned())
        };
    }
    let named: Vec<String> = differences.iter().take(NAMED).map(|what| shown(what)).collect();
    let more = differences.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    (Outcome::Fail, format!("{}{more}", named.join("; ")))
}

fn shown(text: &str) -> String {
    escape::snippet(text, LONGEST)
}

fn revision(entry: &Entry) -> Option<Revision> {
    entry.protocol.as_deref()?.parse().ok()
}

/// Adds findings to the run in which the server was listed: the same revision, or the newest of the report.
fn add(
    report: &mut Report,
    (transport, revision): (Transport, Option<Revision>),
    verdicts: [(&'static ManifestRule, Verdict); 2],
    redactor: &Redactor,
) {
    let same = report.runs.iter().find(|run| Some(run.revision) == revision);
    let run = same.or_else(|| report.runs.iter().max_by_key(|run| run.revision));
    let place = run.map(|run| (run.transport, run.revision));
    let newest = || Revision::ALL.into_iter().next_back().unwrap_or(Revision::ALL[0]);
    let (transport, revision) = place.unwrap_or_else(|| (transport, revision.unwrap_or_else(newest)));
    // A check that judged no rule of the specification must not pass for its manifest.
    let is_empty = report.summary.judged() == 0;
    for (rule, (outcome, message)) in verdicts {
        let outcome = if is_empty && outcome == Outcome::Pass { Outcome::NotExercised } else { outcome };
        report.results.push(Finding {
            rule: rule.id,
            level: Level::Safety,
            revision,
            transport,
            outcome,
            message: redactor.redact_text(&message).into_owned(),
            url: URL.to_owned(),
            evidence: Vec::new(),
            repro: None,
        });
    }
    report.summary = Summary::of(&report.results);
}

//! `proof check --manifest`: the manifest and the server as findings of the report, never as silence.

use lock::admission::Signed;
use lock::trust::State;
use lock::{Entry, Lock};
use net::client::Address;
use report::{Finding, Outcome, Report, Summary};
use serde_json::Value;
use wire::redact::Redactor;
use wire::{Level, Revision, Transport, escape};

use super::rules::{MATCHES, ManifestRule, URL, VERIFIED};
use super::{Unfetched, elsewhere, fetch, now, read, warn_of_no_expiry, well_known};
use crate::args::check::{CheckArgs, ManifestPlace};
use crate::exit::{Exit, usage};
use crate::run::Run;
use crate::verb::keys;
use crate::verb::lock::file;
use crate::verb::lock::target::{self, Unread};

/// How many differences are named, and how long each may be.
const NAMED: usize = 8;
const LONGEST: usize = 160;

/// What `--manifest`, `--keys` and `--lock` give, read before the check.
pub(crate) struct Given {
    place: Place,
    keys: Option<Vec<Value>>,
    lock: Option<Lock>,
    server: Address,
}

/// A manifest that is here, or the address of one.
enum Place {
    Here(Box<Signed>),
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
            ManifestPlace::File(path) => Place::Here(Box::new(read(path)?)),
            ManifestPlace::Url(url) => Place::At(elsewhere(url.clone(), &server, &args.server.reach)),
            ManifestPlace::Auto => Place::At(well_known(&server).ok_or_else(|| {
                usage("--manifest auto: a command has no well-known path", "--manifest FILE or --manifest URL")
            })?),
        };
        let keys = args.keys.as_deref().map(keys::trusted).transpose()?;
        let lock = args.lock.as_deref().map(file::existing).transpose()?;
        Ok(Some(Self { place, keys, lock, server }))
    }

    /// Adds the findings about the manifest to the report.
    pub(crate) fn judge(self, run: &Run, args: &CheckArgs, report: &mut Report) -> Result<(), Exit> {
        let transport = self.server.transport();
        let signed = match self.place {
            Place::Here(signed) => Ok(*signed),
            Place::At(address) => match fetch(run, &args.server.reach, &address) {
                Ok(signed) => Ok(signed),
                Err(Unfetched::Reported(exit)) => return Err(exit),
                Err(Unfetched::Missing(why) | Unfetched::Invalid(why)) => Err(why),
            },
        };
        let locked = locked(self.lock.as_ref(), &signed);
        let (verified, is_verified) = verified(&signed, &locked, self.keys);
        let redactor = run.redactor_of(&args.server.secrets()).masked();
        let mut newest = None;
        for checked in revisions(report) {
            let listed = match target::live(run, &args.server, self.server.clone(), checked) {
                Err(Unread::Reported(exit @ Exit::Interrupted(_))) => return Err(exit),
                Err(unread) => Err(unread.reason()),
                Ok(mut found) => {
                    locked.iter().flatten().for_each(|locked| found.complete_at_place(locked));
                    Ok(found)
                }
            };
            let matches = match (&signed, &listed) {
                (Err(_), _) => (Outcome::NotExercised, "there is no manifest to compare the server with".to_owned()),
                (Ok(_), Err(why)) => (Outcome::Fail, format!("the server could not be listed: {}", shown(why))),
                (Ok(signed), Ok(found)) => compared(signed, found, is_verified),
            };
            let found = listed.ok().and_then(|found| revision(&found.entry));
            let at = place(report, transport, checked.or(found));
            newest = newest.max(Some(at));
            add(report, at, (&MATCHES, matches), &redactor);
        }
        let at = newest.unwrap_or_else(|| place(report, transport, None));
        add(report, at, (&VERIFIED, verified), &redactor);
        report.summary = Summary::of(&report.results);
        if let (true, None, Ok(signed)) = (is_verified, &self.lock, &signed) {
            warn_of_no_expiry(&signed.manifest);
        }
        Ok(())
    }
}

/// The revisions that were checked, each once; where nothing was, the newest that the server speaks.
fn revisions(report: &Report) -> Vec<Option<Revision>> {
    let mut revisions: Vec<_> = report.runs.iter().map(|run| Some(run.revision)).collect();
    revisions.sort_unstable();
    revisions.dedup();
    if revisions.is_empty() { vec![None] } else { revisions }
}

/// What the lock knows of the server of the manifest: nothing without a lock, an error if it does not know the server.
fn locked<'l>(lock: Option<&'l Lock>, signed: &Result<Signed, String>) -> Result<Option<&'l Entry>, String> {
    let (Some(lock), Ok(signed)) = (lock, signed) else { return Ok(None) };
    let name = &signed.manifest.name;
    let own = |entry: &&Entry| entry.name() == Some(name.as_str());
    let entry = lock.servers.get(name).filter(own).or_else(|| lock.servers.values().find(own));
    entry.map(Some).ok_or_else(|| format!("the lock has no server `{}`", shown(name)))
}

type Verdict = (Outcome, String);

/// Whether a trusted key signed the manifest, it holds, and it is not older than what the lock remembers. Without `--keys`, the
/// keys that the lock pins are trusted.
fn verified(
    signed: &Result<Signed, String>,
    locked: &Result<Option<&Entry>, String>,
    keys: Option<Vec<Value>>,
) -> (Verdict, bool) {
    let (signed, locked) = match (signed, locked) {
        (Err(why), _) | (_, Err(why)) => return ((Outcome::Fail, why.clone()), false),
        (Ok(signed), Ok(locked)) => (signed, *locked),
    };
    let keys = keys.unwrap_or_else(|| locked.map(|entry| entry.keys.clone()).unwrap_or_default());
    let examined = signed.examine(locked, &keys, now(), &keys::verifies);
    let mut reasons = Vec::new();
    if examined.judgement.state != State::Verified {
        let advice =
            if keys.is_empty() { "; no key is trusted without --keys, or a --lock that pins some" } else { "" };
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

/// The run in which the server was listed: of the same revision, or the newest of the report.
fn place(report: &Report, transport: Transport, revision: Option<Revision>) -> (Revision, Transport) {
    let same = report.runs.iter().find(|run| Some(run.revision) == revision);
    let run = same.or_else(|| report.runs.iter().max_by_key(|run| run.revision));
    let newest = || Revision::ALL.into_iter().next_back().unwrap_or(Revision::ALL[0]);
    run.map_or_else(|| (revision.unwrap_or_else(newest), transport), |run| (run.revision, run.transport))
}

/// Adds a finding to a run.
fn add(
    report: &mut Report,
    (revision, transport): (Revision, Transport),
    (rule, (outcome, message)): (&'static ManifestRule, Verdict),
    redactor: &Redactor,
) {
    // A check that judged no rule of the specification must not pass for its manifest.
    let is_empty = report.summary.judged() == 0;
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
        more_defects: false,
        consequence_of: None,
        repro: None,
    });
}

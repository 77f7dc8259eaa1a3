//! `proof verify`: whether a manifest is signed by a trusted key, holds now, is not an older one, and states what the server
//! says.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use lock::manifest::{Manifest, Refusal};
use lock::strict::{Integers, read};
use lock::trust::{Judgement, State, judge};
use lock::{Entry, Lock, dsse};
use serde_json::{Value, json};
use wire::escape;

use crate::args::sign::{VerifyArgs, VerifyFormat};
use crate::exit::{self, Exit, tell, usage};
use crate::run::Run;
use crate::verb::lock::{file, target};
use crate::verb::{given_file, keys, output};

/// The most bytes of a manifest.
const LONGEST: u64 = 32 << 20;

/// Verifies.
pub(crate) fn run(run: &Run, args: &VerifyArgs) -> Exit {
    exit::conceal(run.redactor_of(&args.target.server.secrets()));
    verified(run, args).unwrap_or_else(|exit| exit)
}

/// A manifest, and the document whose signatures are checked: itself, or the envelope around it.
struct Given {
    manifest: Manifest,
    document: Value,
}

impl Given {
    fn read(path: &Path) -> Result<Self, Exit> {
        let shown = output::shown(path);
        let wrong = |why: String| {
            let what = format!("{shown} is not a manifest: {}", escape::line(&why));
            usage(&what, "a manifest or an envelope that `proof sign` wrote")
        };
        let text = given_file::text(path, LONGEST).map_err(|error| wrong(error.to_string()))?;
        let document = read(&text, Integers::Doubles).map_err(|why| wrong(why.to_string()))?;
        let manifest =
            if dsse::is_envelope(&document) { dsse::opened(&document) } else { Manifest::of(document.clone()) };
        Ok(Self { manifest: manifest.map_err(|why| wrong(why.to_string()))?, document })
    }

    fn judge(&self, keys: &[Value]) -> Judgement {
        if dsse::is_envelope(&self.document) {
            dsse::judge(&self.document, keys, &keys::verifies)
        } else {
            judge(&self.document, keys, &keys::verifies)
        }
    }
}

fn verified(run: &Run, args: &VerifyArgs) -> Result<Exit, Exit> {
    let given = Given::read(&args.manifest)?;
    let mut lock = args.lock.as_deref().map(file::existing).transpose()?;
    let name = args.name.clone().unwrap_or_else(|| given.manifest.name.clone());
    let entry = match (&lock, &args.lock) {
        (Some(lock), Some(path)) => {
            let entry = lock.servers.get(&name);
            Some(entry.cloned().ok_or_else(|| file::unknown(lock, path, Some(&name)))?)
        }
        _ => None,
    };
    let (judgement, is_first_use) = trust(args, &given, entry.as_ref())?;
    let mut refusals = refusals(&given.manifest, entry.as_ref());
    refusals.extend(of_target(run, args, &given.manifest)?);
    let is_verified = judgement.state == State::Verified && refusals.is_empty();
    show(args, &given.manifest, &judgement, &refusals)?;
    if args.pin && is_verified {
        if let (Some(lock), Some(path)) = (&mut lock, &args.lock) {
            pin(lock, path, &name, &given, is_first_use)?;
        }
    } else if args.pin {
        tell("note: nothing was pinned");
    }
    Ok(if is_verified { Exit::Clean } else { Exit::Finding })
}

/// The state of the manifest, and whether its own keys are trusted because none were pinned. Keys that are pinned or given
/// outweigh those that the manifest names.
fn trust(args: &VerifyArgs, given: &Given, entry: Option<&Entry>) -> Result<(Judgement, bool), Exit> {
    let pinned = entry.map(|entry| entry.keys.clone()).unwrap_or_default();
    let named = args.keys.as_deref().map(keys::trusted).transpose()?.unwrap_or_default();
    let is_first_use = args.pin && pinned.is_empty() && args.keys.is_none();
    // With both, a key counts only where neither the lock nor the file is bypassed by the other.
    let known = match (pinned.is_empty(), args.keys.is_some()) {
        _ if is_first_use => given.manifest.keys.clone(),
        (false, true) => pinned.into_iter().filter(|key| named.iter().any(|other| is_same(key, other))).collect(),
        (false, false) => pinned,
        (true, _) => named,
    };
    Ok((given.judge(&known), is_first_use))
}

/// Whether two JWKs are one key.
fn is_same(one: &Value, other: &Value) -> bool {
    ["kty", "crv", "x", "y", "kid"].iter().all(|member| one.get(*member) == other.get(*member))
}

/// Why the manifest is refused for its time, for a newer one, or for what was reviewed.
fn refusals(manifest: &Manifest, entry: Option<&Entry>) -> Vec<Refusal> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut refusals: Vec<Refusal> = manifest.validity(now.as_millis() as u64).into_iter().collect();
    if let Some(entry) = entry {
        refusals.extend(entry.release.as_ref().and_then(|release| manifest.succession(release)));
        refusals.extend(manifest.differences(entry));
    }
    refusals
}

/// Why the target is not the server that was signed; nothing without a target.
fn of_target(run: &Run, args: &VerifyArgs, manifest: &Manifest) -> Result<Vec<Refusal>, Exit> {
    let Some(found) = target::found(run, &args.target, &|_, _| Ok(None))? else { return Ok(Vec::new()) };
    let unstable = found.unstable.iter().map(|change| Refusal::Differs(format!("{}: {}", change.of, change.what)));
    let mut refusals: Vec<Refusal> = unstable.collect();
    refusals.extend(manifest.differences(&found.entry));
    refusals.dedup();
    Ok(refusals)
}

fn show(args: &VerifyArgs, manifest: &Manifest, judgement: &Judgement, refusals: &[Refusal]) -> Result<(), Exit> {
    let reasons: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    if args.format == VerifyFormat::Json {
        let document = json!({
            "schema": "proof.verification/1",
            "proof": env!("CARGO_PKG_VERSION"),
            "server": manifest.name,
            "version": manifest.version,
            "state": judgement.state.as_str(),
            "reason": judgement.reason,
            "signedBy": judgement.signed_by,
            "refused": reasons,
        });
        return output::print(&format!(
            "{}\n",
            escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default())
        ));
    }
    let state = judgement.state.as_str();
    let word = if judgement.state == State::Tampered { state.to_uppercase() } else { state.to_owned() };
    let mut text = format!(
        "{} {}: {word}: {}\n",
        escape::line(&manifest.name),
        escape::line(&manifest.version),
        escape::line(&judgement.reason)
    );
    for reason in reasons {
        let _ = writeln!(text, "refused: {}", escape::line(&reason));
    }
    output::print(&text)
}

/// Pins the keys of the publisher and remembers the manifest. Another key is taken where the manifest names it, it signed the
/// manifest, and so did a key that is pinned.
fn pin(lock: &mut Lock, path: &Path, name: &str, given: &Given, is_first_use: bool) -> Result<(), Exit> {
    let Some(entry) = lock.servers.get_mut(name) else { return Ok(()) };
    let own = given.judge(&given.manifest.keys);
    let is_signer = |key: &&Value| key["kid"].as_str().is_some_and(|kid| own.signed_by.iter().any(|by| by == kid));
    let keys: Vec<Value> = given.manifest.keys.iter().filter(is_signer).cloned().collect();
    if own.state == State::Verified && keys != entry.keys {
        let names: Vec<&str> = keys.iter().filter_map(|key| key["kid"].as_str()).collect();
        let how = if is_first_use { "on first use" } else { "in place of the old ones" };
        tell(format_args!("note: pinned {how}: {}", escape::line(&names.join(", "))));
        entry.keys = keys;
    }
    entry.release = Some(given.manifest.release());
    file::write(path, lock)
}

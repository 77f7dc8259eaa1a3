//! `proof verify`: whether a manifest is signed by a trusted key, holds now, is not an older one, and states what the server
//! says.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use lock::admission::{Examination, Signed};
use lock::manifest::{Manifest, Refusal};
use lock::trust::{Judgement, State};
use lock::{Entry, Lock};
use net::client::Address;
use serde_json::{Value, json};
use wire::escape;

use crate::args::reach::Target;
use crate::args::sign::{ManifestPlace, VerifyArgs, VerifyFormat};
use crate::exit::{self, Exit, tell, usage};
use crate::run::Run;
use crate::verb::keys;
use crate::verb::lock::{file, target};
use crate::verb::manifest::{Unfetched, elsewhere, fetch, now, read, warn_of_no_expiry, well_known};

/// Verifies.
pub(crate) fn run(run: &Run, args: &VerifyArgs) -> Exit {
    let mut secrets = args.target.server.secrets();
    if let ManifestPlace::Url(url) = &args.manifest {
        secrets.address(url.as_str());
    }
    exit::conceal(run.redactor_of(&secrets));
    verified(run, args).unwrap_or_else(|exit| exit)
}

/// A manifest, and the server that published it, if one did.
struct Given {
    signed: Signed,
    publisher: Option<Address>,
}

impl Given {
    fn of(run: &Run, args: &VerifyArgs) -> Result<Self, Exit> {
        let reach = &args.target.server.reach;
        let url = match &args.manifest {
            ManifestPlace::File(path) => return Ok(Self { signed: read(path)?, publisher: None }),
            ManifestPlace::Auto => return Err(usage("no manifest given", "a file, or the URL of a server")),
            ManifestPlace::Url(url) => url,
        };
        let server = reach.address(Target { url: Some(url.as_str()), command: &[] })?.ok_or(Exit::Usage)?;
        let is_document = Path::new(url.path()).extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
        let address = if is_document { Some(elsewhere(url.clone(), &server, reach)) } else { well_known(&server) };
        let signed = fetch(run, reach, &address.ok_or(Exit::Usage)?).map_err(Unfetched::report)?;
        Ok(Self { signed, publisher: Some(server).filter(|_| !is_document) })
    }

    const fn manifest(&self) -> &Manifest {
        &self.signed.manifest
    }
}

fn verified(run: &Run, args: &VerifyArgs) -> Result<Exit, Exit> {
    args.to.check(&read_files(args))?;
    let given = Given::of(run, args)?;
    let mut lock = args.lock.as_deref().map(file::existing).transpose()?;
    let name = args.name.clone().unwrap_or_else(|| given.manifest().name.clone());
    let entry = match (&lock, &args.lock) {
        (Some(lock), Some(path)) => {
            let entry = lock.servers.get(&name);
            Some(entry.cloned().ok_or_else(|| file::unknown(lock, path, Some(&name)))?)
        }
        _ => None,
    };
    let pins_own_keys = args.pin && args.keys.is_none() && entry.as_ref().is_none_or(|entry| entry.keys.is_empty());
    let keys = known(args, &given, entry.as_ref(), pins_own_keys)?;
    let Examination { judgement, mut refusals } = given.signed.examine(entry.as_ref(), &keys, now(), &keys::verifies);
    refusals.extend(entry.iter().flat_map(|entry| given.manifest().differences(entry)));
    refusals.extend(of_target(run, args, &given, entry.as_ref())?);
    dedup(&mut refusals);
    let is_verified = judgement.state == State::Verified && refusals.is_empty();
    show(args, given.manifest(), &judgement, &refusals)?;
    if is_verified && lock.is_none() {
        warn_of_no_expiry(given.manifest());
    }
    if args.pin && is_verified {
        if let (Some(lock), Some(path)) = (&mut lock, &args.lock) {
            pin(lock, path, &name, &given, pins_own_keys)?;
        }
    } else if args.pin {
        tell("note: nothing was pinned");
    }
    Ok(if is_verified { Exit::Clean } else { Exit::Finding })
}

/// The files that are read, or changed by --pin.
fn read_files(args: &VerifyArgs) -> Vec<&Path> {
    let manifest = match &args.manifest {
        ManifestPlace::File(path) => Some(path),
        ManifestPlace::Auto | ManifestPlace::Url(_) => None,
    };
    manifest.into_iter().chain(&args.keys).chain(&args.lock).map(PathBuf::as_path).collect()
}

/// The keys that may count. On first use those that the manifest names itself; else those of `--keys`, or those that the lock
/// pins. With both, [`Signed::examine`] takes those that are in both.
fn known(args: &VerifyArgs, given: &Given, entry: Option<&Entry>, is_first_use: bool) -> Result<Vec<Value>, Exit> {
    if is_first_use {
        return Ok(given.manifest().keys.clone());
    }
    match &args.keys {
        Some(path) => keys::trusted(path),
        None => Ok(entry.map(|entry| entry.keys.clone()).unwrap_or_default()),
    }
}

/// Why the target is not the server that was signed; nothing without a target. The server that published the manifest is one.
fn of_target(run: &Run, args: &VerifyArgs, given: &Given, locked: Option<&Entry>) -> Result<Vec<Refusal>, Exit> {
    let mut found = match target::found(run, &args.target, &|_, _| Ok(None))? {
        Some(found) => found,
        None => match &given.publisher {
            Some(address) => target::at(run, &args.target, address.clone(), &|_, _| Ok(None))?,
            None => return Ok(Vec::new()),
        },
    };
    if let Some(locked) = locked {
        found.complete_at_place(locked);
    }
    let unstable = found.unstable.iter().map(|change| Refusal::Differs(format!("{}: {}", change.of, change.what)));
    Ok(unstable.chain(given.manifest().differences(&found.entry)).collect())
}

/// Leaves each reason once, in order.
fn dedup(refusals: &mut Vec<Refusal>) {
    let mut seen = HashSet::new();
    refusals.retain(|refusal| seen.insert(refusal.to_string()));
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
        let text = serde_json::to_string_pretty(&document).unwrap_or_default();
        return args.to.write(&format!("{}\n", escape::json(&text)));
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
    args.to.write(&text)
}

/// Pins the keys of the publisher and remembers the manifest. Another key is taken where the manifest names it, it signed the
/// manifest, and so did a key that is pinned.
fn pin(lock: &mut Lock, path: &Path, name: &str, given: &Given, is_first_use: bool) -> Result<(), Exit> {
    let Some(entry) = lock.servers.get_mut(name) else { return Ok(()) };
    let own = given.signed.judge(&given.manifest().keys, &keys::verifies);
    let is_signer = |key: &&Value| key["kid"].as_str().is_some_and(|kid| own.signed_by.iter().any(|by| by == kid));
    let keys: Vec<Value> = given.manifest().keys.iter().filter(is_signer).cloned().collect();
    if own.state == State::Verified && keys != entry.keys {
        let names: Vec<&str> = keys.iter().filter_map(|key| key["kid"].as_str()).collect();
        let how = if is_first_use { "on first use" } else { "in place of the old ones" };
        tell(format_args!("note: pinned {how}: {}", escape::line(&names.join(", "))));
        entry.keys = keys;
    }
    entry.release = Some(given.manifest().release());
    file::write(path, lock)
}

//! `proof sign`: a manifest of a locked server, signed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lock::jws::{Signing, sign};
use lock::manifest::{Manifest, Statement, draft};
use lock::{dsse, time};

use crate::args::sign::SignArgs;
use crate::exit::{self, Exit, usage};
use crate::run::Run;
use crate::verb::keys::{self, NamedSigner};
use crate::verb::lock::{file, now};
use crate::verb::output;

/// Signs.
pub(crate) fn run(run: &Run, args: &SignArgs) -> Exit {
    // A key that is read must not come out in a message.
    exit::conceal(run.redactor().remembering());
    signed(args).err().unwrap_or(Exit::Clean)
}

fn signed(args: &SignArgs) -> Result<(), Exit> {
    let written: Vec<&Path> = args.to.output.iter().chain(&args.dsse).map(PathBuf::as_path).collect();
    let read: Vec<&Path> = args.key.iter().chain([&args.lock]).map(PathBuf::as_path).collect();
    output::distinct(&written, &read)?;
    for path in written {
        output::writable(path)?;
    }
    let lock = file::existing(&args.lock)?;
    let chosen = file::choose(&lock, args.name.as_deref());
    let (name, entry) = chosen.ok_or_else(|| file::unknown(&lock, &args.lock, args.name.as_deref()))?;
    if entry.name().is_none() || entry.version().is_none() {
        let what = format!("`{}` gives itself no name or no version", wire::escape::line(name));
        return Err(usage(&what, "a server whose `serverInfo` has both"));
    }
    if args.expires.as_deref().is_some_and(|text| time::millis(text).is_none()) {
        return Err(usage("--expires: not a time in UTC", "a time such as 2027-11-26T00:00:00Z"));
    }
    let keys = keys::signers(args)?;
    let (tool_permissions, permissions) = permissions(&args.permission);
    if let Some(unknown) = tool_permissions.keys().find(|tool| entry.digest(&format!("tool {tool}")).is_none()) {
        let what = format!("--permission: the lock has no tool `{}`", wire::escape::line(unknown));
        return Err(usage(&what, "TOOL=SCOPE with a tool of the lock"));
    }
    let statement = Statement {
        provider: args.provider.clone(),
        permissions,
        tool_permissions,
        issued_at: now(),
        expires: args.expires.clone(),
        keys: keys.iter().map(|key| key.public.clone()).collect(),
    };
    let mut document = draft(entry, &statement);
    let manifest = Manifest::of(document.clone()).map_err(|why| {
        usage(&format!("the lock cannot be signed: {why}"), "lock the server again with `proof lock`")
    })?;
    let makers: Vec<_> = keys.iter().map(|key| |message: &[u8]| key.signer.signature(message)).collect();
    let signing: Vec<Signing<'_>> = keys.iter().zip(&makers).map(|(key, sign)| of(key, sign)).collect();
    for key in &signing {
        sign(&mut document, key);
    }
    let text = |value: &serde_json::Value| {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        format!("{}\n", wire::escape::json(&text))
    };
    if let Some(path) = &args.dsse {
        output::write(path, &text(&dsse::envelope(&manifest, &signing)))?;
    }
    args.to.publish(&text(&document))
}

fn of<'s>(key: &'s NamedSigner, sign: &'s dyn Fn(&[u8]) -> Vec<u8>) -> Signing<'s> {
    Signing { alg: key.signer.alg(), kid: &key.kid, sign }
}

/// Permissions of single tools, and of the server.
fn permissions(given: &[String]) -> (BTreeMap<String, Vec<String>>, Vec<String>) {
    let (mut of_tools, mut all): (BTreeMap<String, Vec<String>>, _) = (BTreeMap::new(), Vec::new());
    for permission in given {
        match permission.split_once('=') {
            Some((tool, scope)) => of_tools.entry(tool.to_owned()).or_default().push(scope.to_owned()),
            None => all.push(permission.clone()),
        }
    }
    (of_tools, all)
}

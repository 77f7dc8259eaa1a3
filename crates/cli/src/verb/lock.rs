//! `proof lock`: locks what a server tells the model, compares it with the lock, and records what is approved.

pub(in crate::verb) mod file;
pub(in crate::verb) mod target;

use std::time::{SystemTime, UNIX_EPOCH};

use lock::{Approval, Change, Entry, Identity, Launch, Lock, Severity};
use report::render::text::Paint;
use wire::Revision;

use crate::args::lock::{LockArgs, LockFormat};
use crate::colour;
use crate::exit::{self, Exit, tell, usage};
use crate::format::lock as format;
use crate::run::Run;
use crate::verb::output;
use target::Found;

/// Locks, compares or approves.
pub(crate) fn run(run: &Run, args: &LockArgs) -> Exit {
    exit::conceal(run.redactor_of(&args.target.server.secrets()));
    locked(run, args).unwrap_or_else(|exit| exit)
}

/// The time, in RFC 3339.
pub(in crate::verb) fn now() -> String {
    wire::timestamp::rfc3339(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn locked(run: &Run, args: &LockArgs) -> Result<Exit, Exit> {
    let changes_nothing = args.check;
    let before = if args.check || !args.approve.is_empty() {
        file::existing(&args.file)?
    } else {
        file::read(&args.file)?.unwrap_or_default()
    };
    if !changes_nothing {
        output::writable(&args.file)?;
    }
    // What is compared is spoken at the revision that was locked.
    let revision_of = |identity: &Identity, launch: Option<&Launch>| -> Result<Option<Revision>, Exit> {
        let locked = file::of_target(&before, args.name.as_deref(), identity, launch)?;
        let compares = args.check || !args.approve.is_empty();
        let only = || compares.then(|| file::choose(&before, args.name.as_deref())).flatten();
        Ok(locked.or_else(only).and_then(|(_, entry)| entry.protocol.as_deref()?.parse().ok()))
    };
    let found = target::found(run, &args.target, &revision_of)?;
    let mut found = found.ok_or_else(|| {
        usage("no server given", "add its URL, its command after `--`, or --trace FILE: proof lock -- npx -y my-server")
    })?;
    let (identity, launch) = (&found.entry.identity, found.entry.launch.as_ref());
    let locked = file::of_target(&before, args.name.as_deref(), identity, launch)?;
    let given = args.name.as_deref().or(found.entry.name()).map(str::to_owned);
    if changes_nothing || !args.approve.is_empty() {
        // The name that a server gives itself chooses only among entries of other targets, which is drift in any case.
        let named = given.as_deref().filter(|name| before.servers.contains_key(*name));
        let chosen = locked.or_else(|| file::choose(&before, args.name.as_deref().or(named)));
        let (name, entry) = chosen.ok_or_else(|| file::unknown(&before, &args.file, given.as_deref()))?;
        found.complete(entry);
        return if changes_nothing { compare(args, name, entry, &found) } else { approve(args, &before, name, &found) };
    }
    let name = locked.map(|(name, _)| name.clone()).or(given);
    let name = name.ok_or_else(|| usage("the server gives itself no name", "choose one for the lock: --name NAME"))?;
    write(args, before, &name, found)
}

/// Compares, prints, and changes nothing.
fn compare(args: &LockArgs, name: &str, entry: &Entry, found: &Found) -> Result<Exit, Exit> {
    let changes = changes(entry, found);
    show(args, name, entry, found, &changes)?;
    Ok(if is_drift(&changes) { Exit::Finding } else { Exit::Clean })
}

fn changes(entry: &Entry, found: &Found) -> Vec<Change> {
    let mut changes = found.unstable.clone();
    changes.extend(entry.drift(&found.entry));
    changes.sort_by_key(|change| std::cmp::Reverse(change.severity()));
    changes
}

fn is_drift(changes: &[Change]) -> bool {
    changes.iter().any(|change| change.severity() > Severity::Info)
}

fn show(args: &LockArgs, name: &str, entry: &Entry, found: &Found, changes: &[Change]) -> Result<(), Exit> {
    let view = format::View { name, locked: entry, found: &found.entry, changes };
    output::print(&match args.format {
        LockFormat::Human => format::human(&view, Paint { colour: colour::is_wanted() }),
        LockFormat::Json => format::json(&view),
        LockFormat::Markdown => format::markdown(&view),
    })?;
    let unlisted: Vec<&str> = found.unlisted().map(lock::Kind::list).collect();
    if !unlisted.is_empty() {
        tell(format_args!("note: not in the trace, so not compared: {}", unlisted.join(", ")));
    }
    Ok(())
}

/// Adds a server. One that is locked already only changes by an approval.
fn write(args: &LockArgs, mut before: Lock, name: &str, mut found: Found) -> Result<Exit, Exit> {
    if let Some(entry) = before.servers.get(name) {
        found.complete(entry);
        let changes = changes(entry, &found);
        if is_drift(&changes) {
            show(args, name, entry, &found, &changes)?;
            let other = if args.name.is_none() { ", or --name NAME to add another server" } else { "" };
            tell(format_args!(
                "error: `{}` is locked with other definitions\n  try: --approve ITEM --by WHO --reason WHY{other}",
                wire::escape::line(name)
            ));
            return Ok(Exit::Finding);
        }
        let mut entry = entry.clone();
        entry.take_introduction(&found.entry);
        entry.take_meta(&found.entry);
        before.servers.insert(name.to_owned(), entry);
    } else {
        if !found.unstable.is_empty() {
            show(args, name, &found.entry, &found, &found.unstable)?;
            tell(
                "error: the server's lists differ between requests or client names, so nothing was locked\n  try: report the differences shown above to the author of the server",
            );
            return Ok(Exit::Finding);
        }
        before.servers.insert(name.to_owned(), found.entry);
    }
    file::write(&args.file, &before)?;
    let counts = format::counts(&before.servers[name]);
    output::print(&format!("locked {}: {counts} in {}\n", wire::escape::line(name), output::shown(&args.file)))?;
    Ok(Exit::Clean)
}

/// Takes over what is approved, and records who approved it.
fn approve(args: &LockArgs, before: &Lock, name: &str, found: &Found) -> Result<Exit, Exit> {
    let entry = &before.servers[name];
    if !found.unstable.is_empty() {
        show(args, name, entry, found, &found.unstable)?;
        tell(
            "error: the server's lists differ between requests or client names, so nothing can be approved\n  try: report the differences shown above to the author of the server",
        );
        return Ok(Exit::Finding);
    }
    let changes = entry.drift(&found.entry);
    let mut parts: Vec<&str> = changes.iter().map(|change| change.of.as_str()).collect();
    parts.sort_unstable();
    parts.dedup();
    if let Some(wanted) = args.approve.iter().find(|wanted| !parts.iter().any(|part| is_meant(wanted, part))) {
        let what = format!("nothing changed in `{}`", wire::escape::line(wanted));
        let all = wire::escape::line(&parts.join(", ")).into_owned();
        return Err(usage(
            &what,
            &if all.is_empty() { "drop --approve: all is in sync".to_owned() } else { format!("one of: {all}") },
        ));
    }
    for wanted in args.approve.iter().filter(|wanted| *wanted != "*") {
        let fitting: Vec<&str> = parts.iter().copied().filter(|part| is_meant(wanted, part)).collect();
        if fitting.len() > 1 && !fitting.contains(&wanted.as_str()) {
            let what = format!("`{}` is the name of several parts that changed", wire::escape::line(wanted));
            return Err(usage(&what, &format!("one of: {}", wire::escape::line(&fitting.join(", ")))));
        }
    }
    let mut after = entry.clone();
    let approved = parts.iter().filter(|part| args.approve.iter().any(|wanted| is_meant(wanted, part)));
    let (by, at, reason) = (args.by.clone().unwrap_or_default(), now(), args.reason.clone().unwrap_or_default());
    let mut count = 0;
    for part in approved {
        let digest = after.take_over(part, &found.entry);
        let item = (*part).to_owned();
        after.approvals.push(Approval { item, digest, by: by.clone(), at: at.clone(), reason: reason.clone() });
        count += 1;
    }
    let rest = after.drift(&found.entry);
    let mut lock = before.clone();
    lock.servers.insert(name.to_owned(), after.clone());
    file::write(&args.file, &lock)?;
    if is_drift(&rest) {
        show(args, name, &after, found, &rest)?;
    }
    tell(format_args!("approved {count} of {} parts that changed", parts.len()));
    Ok(Exit::Clean)
}

/// Whether an approval of `wanted` is one of `part`: `*`, `tool buy`, or `buy`.
fn is_meant(wanted: &str, part: &str) -> bool {
    let name = || lock::Kind::ALL.iter().find_map(|kind| part.strip_prefix(kind.word())?.strip_prefix(' '));
    wanted == "*" || wanted == part || name() == Some(wanted)
}

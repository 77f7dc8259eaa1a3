//! `proof undo`: the files as they were before the last change.

use std::fmt::Write as _;

use wire::redact::Secrets;

use super::add::conceal_files;
use super::drafts::Drafts;
use super::files::{self, Access};
use super::journal::{Journal, Record};
use super::machine::Machine;
use crate::args::clients::UndoArgs;
use crate::exit::{Exit, tell, usage};
use crate::run::Run;
use crate::verb::output;

/// Takes back the last change.
pub(crate) fn run(run: &Run, args: &UndoArgs) -> Exit {
    undone(run, args).unwrap_or_else(|exit| exit)
}

/// A file of the change that is left alone: which of them, and why.
type Left = (usize, String);

fn undone(run: &Run, args: &UndoArgs) -> Result<Exit, Exit> {
    let machine = Machine::here()?;
    let journal = Journal::of(&machine);
    let _locked = if args.showing.dry_run { None } else { Some(journal.lock()?) };
    let nothing = || usage("there is no change to take back", "`proof list` shows what clients have now");
    let record = journal.records()?.into_iter().find(|record| !record.passed).ok_or_else(nothing)?;
    let (mut drafts, mut left) = (Drafts::default(), Vec::new());
    for index in 0..record.files.len() {
        if let Err(why) = drafted(&record, index, &mut drafts) {
            left.push((index, why));
        }
    }
    conceal_files(run, Secrets::default(), &drafts);
    if !args.showing.dry_run {
        drafts.restore()?;
    }
    print(args, &record, &drafts, &left)?;
    for (index, why) in &left {
        tell(format_args!(
            "error: {}: {why}\n  try: {}",
            output::shown(&record.files[*index].path),
            remedy(&record, *index)
        ));
    }
    let exit = if left.is_empty() { Exit::Clean } else { Exit::Finding };
    if !args.showing.dry_run {
        // The texts before it are still wanted where a file was left alone.
        let done = if left.is_empty() { record.forget() } else { record.pass() };
        done.map_err(|error| {
            usage(&format!("cannot change the journal: {error}"), "check the permissions of its folder")
        })?;
    }
    Ok(exit)
}

/// Puts back the text of one file. `Err` says why it is left alone.
fn drafted(record: &Record, index: usize, drafts: &mut Drafts) -> Result<(), String> {
    let file = &record.files[index];
    let now = files::read(&file.path).map_err(|error| format!("it cannot be read: {error}"))?;
    let before = record.before(index).map_err(|error| error.to_string())?;
    if before == now {
        return Ok(());
    }
    if !record.is_current(index, now.as_deref()) {
        return Err("it was changed since, so it is left alone".to_owned());
    }
    if let Some(obstacle) = files::obstacle(&file.path) {
        return Err(format!("{} ({}), so it is left alone", obstacle.what, obstacle.remedy));
    }
    drafts.text(&file.path).map_err(|error| error.to_string())?;
    drafts.put(&file.path, before, None, file.mode.map_or(Access::Private, Access::Mode));
    Ok(())
}

/// What is left to do by hand.
fn remedy(record: &Record, index: usize) -> String {
    let file = &record.files[index];
    match file.added.first() {
        _ if file.existed => format!("its text before is in {}", output::shown(&record.backup(index))),
        Some(name) => format!("there was no file before; proof remove {}", wire::escape::line(name)),
        None => "there was no file before; remove it yourself".to_owned(),
    }
}

fn print(args: &UndoArgs, record: &Record, drafts: &Drafts, left: &[Left]) -> Result<(), Exit> {
    let files: Vec<_> = drafts.changed_paths().map(|path| output::shown(path)).collect();
    if args.showing.json {
        let left: Vec<_> = left.iter().map(|(index, _)| output::shown(&record.files[*index].path)).collect();
        let value = serde_json::json!({
            "schema": "proof.clients-undo/1", "dry_run": args.showing.dry_run, "change": record.by, "at": record.at,
            "files": files, "left_alone": left, "diff": drafts.diffs(),
        });
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        return output::print(&format!("{}\n", wire::escape::json(&text)));
    }
    let mut text = if args.showing.dry_run { drafts.diffs() } else { String::new() };
    let verb = match (args.showing.dry_run, files.is_empty(), left.is_empty()) {
        (true, false, _) => "would take back",
        (false, false, true) => "took back",
        (false, false, false) => "took back a part of",
        (_, true, true) => "nothing is left of",
        (_, true, false) => "did not take back",
    };
    let _ = writeln!(text, "{verb} `{}` of {}", wire::escape::line(&record.by), record.at);
    text.extend(files.iter().map(|file| format!("  {file}\n")));
    if !left.is_empty() && !args.showing.dry_run {
        text.push_str("The next `proof undo` takes back the change before this one.\n");
    }
    output::print(&text)
}

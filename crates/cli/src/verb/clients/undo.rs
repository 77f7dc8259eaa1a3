//! `proof undo`: the files as they were before the last change.

use std::fmt::Write as _;

use wire::redact::Secrets;

use super::add::conceal_files;
use super::drafts::Drafts;
use super::files;
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

fn undone(run: &Run, args: &UndoArgs) -> Result<Exit, Exit> {
    let machine = Machine::here()?;
    let journal = Journal::of(&machine);
    let _locked = if args.showing.dry_run { None } else { Some(journal.lock()?) };
    let nothing = || usage("there is no change to take back", "`proof list` shows what clients have now");
    let record = journal.records()?.into_iter().next().ok_or_else(nothing)?;
    let (mut drafts, mut alone) = (Drafts::default(), Vec::new());
    for (index, file) in record.files.iter().enumerate() {
        let now = files::read(&file.path).map_err(|error| unusable(&file.path, &error.to_string()))?;
        let before = record.before(index).map_err(|error| unusable(&file.path, &error.to_string()))?;
        if before == now {
            continue;
        }
        if !record.is_current(index, now.as_deref()) {
            alone.push(index);
            continue;
        }
        drafts.text(&file.path).map_err(|why| unusable(&file.path, &why))?;
        drafts.put(&file.path, before, None, true);
    }
    conceal_files(run, Secrets::default(), &drafts);
    if !args.showing.dry_run {
        drafts.restore()?;
    }
    print(args, &record, &drafts, &alone)?;
    for index in &alone {
        let path = output::shown(&record.files[*index].path);
        let copy = output::shown(&record.backup(*index));
        tell(format_args!("error: {path} was changed since, so it is left alone\n  try: its text before is in {copy}"));
    }
    if alone.is_empty() && !args.showing.dry_run {
        record.forget().map_err(|error| unusable(machine.variables.home(), &error.to_string()))?;
    }
    Ok(if alone.is_empty() { Exit::Clean } else { Exit::Finding })
}

fn unusable(path: &std::path::Path, why: &str) -> Exit {
    usage(&format!("cannot take back the change of {}: {why}", output::shown(path)), "check its permissions")
}

fn print(args: &UndoArgs, record: &Record, drafts: &Drafts, alone: &[usize]) -> Result<(), Exit> {
    let files: Vec<_> = drafts.changed_paths().map(|path| output::shown(path)).collect();
    if args.showing.json {
        let left: Vec<_> = alone.iter().map(|index| output::shown(&record.files[*index].path)).collect();
        let value = serde_json::json!({
            "schema": "proof.clients-undo/1", "dry_run": args.showing.dry_run, "change": record.by, "at": record.at,
            "files": files, "left_alone": left, "diff": drafts.diffs(),
        });
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        return output::print(&format!("{}\n", wire::escape::json(&text)));
    }
    let mut text = if args.showing.dry_run { drafts.diffs() } else { String::new() };
    let verb = if args.showing.dry_run { "would take back" } else { "took back" };
    let _ = writeln!(text, "{verb} `{}` of {}", wire::escape::line(&record.by), record.at);
    text.extend(files.iter().map(|file| format!("  {file}\n")));
    output::print(&text)
}

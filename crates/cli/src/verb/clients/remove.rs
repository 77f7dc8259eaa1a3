//! `proof remove`: a server out of the files of clients.

use clients::plan::Target;
use clients::policy::wildcard;
use clients::{Scope, plan, text};
use wire::redact::Secrets;

use super::add::conceal_files;
use super::drafts::Drafts;
use super::files::Access;
use super::journal::Journal;
use super::machine::{Machine, Place};
use super::outcome::{Done, Refused, Report, pointer};
use super::write::{outside, refused_file};
use crate::args::clients::RemoveArgs;
use crate::exit::{Exit, usage};
use crate::run::Run;
use crate::verb::output;

/// Removes the server.
pub(crate) fn run(run: &Run, args: &RemoveArgs) -> Exit {
    removed(run, args).unwrap_or_else(|exit| exit)
}

fn removed(run: &Run, args: &RemoveArgs) -> Result<Exit, Exit> {
    let machine = Machine::here()?;
    let clients = Machine::named(&args.selection.client)?;
    let journal = Journal::of(&machine);
    let _locked = if args.showing.dry_run { None } else { Some(journal.lock()?) };
    let (mut drafts, mut report) = (Drafts::default(), Report::default());
    for client in clients {
        for place in machine.places(client) {
            if let Err(refused) = from_place(args, &machine, &journal, &place, &mut drafts, &mut report) {
                report.refused.push(refused);
            }
        }
    }
    conceal_files(run, Secrets::default(), &drafts);
    if report.done.is_empty() && report.refused.is_empty() {
        let what = format!("no client has a server `{}`", wire::escape::line(&args.name));
        return Err(usage(&what, "`proof list` shows all names; the name must be the whole name"));
    }
    if !args.showing.dry_run {
        drafts.write(&journal, &format!("remove {}", args.name))?;
    }
    report.print(&drafts, args.showing.dry_run, args.showing.json)?;
    Ok(report.exit())
}

fn from_place(
    args: &RemoveArgs,
    machine: &Machine,
    journal: &Journal,
    place: &Place,
    drafts: &mut Drafts,
    report: &mut Report,
) -> Result<(), Refused> {
    let broken = |error: &clients::FileError| refused_file(&place.path, error);
    if place.scope == Scope::Project && machine.leads_out(&place.path) {
        return leads_out(args, place);
    }
    let unreadable = |what: String| Refused {
        place: output::shown(&place.path),
        what,
        remedy: "check the path and its permissions".to_owned(),
    };
    let before = drafts.text(&place.path).map_err(unreadable)?;
    let value = text::read(&before, place.client.format).map_err(|error| broken(&error))?;
    let here = machine.local_project();
    for held in plan::held(place.client, place.scope, &value) {
        let is_meant = if args.pattern { wildcard(&args.name, &held.name) } else { held.name == args.name };
        // Servers of other projects are not seen from here.
        let is_here = held.scope != Scope::Local || held.project.as_deref() == Some(here.as_str());
        if !is_meant || !is_here || args.selection.scope.is_some_and(|scope| scope != held.scope) {
            continue;
        }
        let target = Target { client: place.client, scope: held.scope, project: &here };
        let now = drafts.text(&place.path).map_err(unreadable)?;
        let is_without = |before: &Option<String>| {
            let value = text::read(before.as_deref().unwrap_or_default(), place.client.format).unwrap_or_default();
            let same = |other: &plan::Held| {
                (other.scope, &other.project, &other.name) == (held.scope, &held.project, &held.name)
            };
            !plan::held(place.client, place.scope, &value).iter().any(same)
        };
        let after = match journal.before_addition(&place.path, &now, &held.name).filter(is_without) {
            // Nothing changed since it was added: the text before, byte for byte.
            Some(before) => before,
            None => Some(target.remove(&now, &held.name).map_err(|error| broken(&error))?.unwrap_or(now)),
        };
        drafts.put(&place.path, after, None, Access::Usual);
        let mut way = place.client.way(&value, held.scope, &here).0;
        way.push(place.client.step(&held.name));
        report.done.push(Done {
            client: place.client,
            scope: held.scope,
            path: place.path.clone(),
            pointer: pointer(&way),
            server: held.name,
            did: "removed",
            needs: Vec::new(),
            clear: Vec::new(),
        });
    }
    Ok(())
}

/// Leaves a file of a project alone that a link puts outside of it; only a name that stands in it is an error.
fn leads_out(args: &RemoveArgs, place: &Place) -> Result<(), Refused> {
    if args.selection.scope.is_some_and(|scope| scope != Scope::Project) {
        return Ok(());
    }
    let text = super::files::read(&place.path).ok().flatten().unwrap_or_default();
    let value = text::read(&text, place.client.format).unwrap_or_default();
    let is_meant = |name: &str| if args.pattern { wildcard(&args.name, name) } else { args.name == name };
    if plan::held(place.client, place.scope, &value).iter().any(|held| is_meant(&held.name)) {
        return Err(outside(&place.path));
    }
    Ok(())
}

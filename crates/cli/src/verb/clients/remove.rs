//! `proof remove`: a server out of the files of clients.

use std::collections::BTreeSet;

use clients::plan::Target;
use clients::policy::wildcard;
use clients::{Client, Scope, plan, text};
use wire::redact::Secrets;

use super::add::conceal_files;
use super::drafts::Drafts;
use super::files::{Access, obstacle};
use super::journal::Journal;
use super::machine::{Machine, Place};
use super::outcome::{Done, Refused, Report, pointer};
use super::write::{outside, refused_file, unreadable};
use crate::args::clients::RemoveArgs;
use crate::args::suggestion;
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
        return Err(missing(args, &machine));
    }
    if !args.showing.dry_run {
        drafts.write(&journal, &format!("remove {}", args.name))?;
    }
    report.print(&drafts, args.showing.dry_run, args.showing.json)?;
    Ok(report.exit())
}

/// The error of a name that no client has, or none of those that are meant.
fn missing(args: &RemoveArgs, machine: &Machine) -> Exit {
    let name = wire::escape::line(&args.name);
    let is_all = args.selection.client.is_empty() && args.selection.scope.is_none();
    let whose = if is_all { "no client has" } else { "none of these clients and scopes has" };
    let names: BTreeSet<String> = clients::clients().iter().flat_map(|client| names(machine, client)).collect();
    let similar = suggestion(&args.name, names.iter().map(String::as_str));
    let remedy = match similar.filter(|_| !args.pattern) {
        Some(similar) if similar != args.name => {
            format!("`{}`; `proof list` shows all names", wire::escape::line(similar))
        }
        _ => "`proof list` shows all names; the name must be the whole name".to_owned(),
    };
    usage(&format!("{whose} a server `{name}`"), &remedy)
}

/// The names of all servers of a client.
fn names(machine: &Machine, client: &'static Client) -> Vec<String> {
    let of_place = |place: Place| {
        let text = super::files::read(&place.path).ok().flatten().unwrap_or_default();
        let value = text::read(&text, client.format).unwrap_or_default();
        plan::held(client, place.scope, &value).into_iter().map(|held| held.name)
    };
    machine.places(client).into_iter().flat_map(of_place).collect()
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
    let before = drafts.text(&place.path).map_err(|error| unreadable(&place.path, &error))?;
    let value = text::read(&before, place.client.format).map_err(|error| broken(&error))?;
    let here = machine.local_project();
    for held in plan::held(place.client, place.scope, &value) {
        let is_meant = if args.pattern { wildcard(&args.name, &held.name) } else { held.name == args.name };
        // Servers of other projects are not seen from here.
        let is_here = held.scope != Scope::Local || held.project.as_deref() == Some(here.as_str());
        if !is_meant || !is_here || args.selection.scope.is_some_and(|scope| scope != held.scope) {
            continue;
        }
        if let Some(obstacle) = obstacle(&place.path) {
            let remedy = obstacle.remedy.to_owned();
            return Err(Refused { place: output::shown(&place.path), what: obstacle.what, remedy, is_drift: false });
        }
        let target = Target { client: place.client, scope: held.scope, project: &here };
        let now = drafts.text(&place.path).map_err(|error| unreadable(&place.path, &error))?;
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

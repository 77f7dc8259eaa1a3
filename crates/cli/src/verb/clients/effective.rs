//! `proof config effective`: which entry of each name a client uses in this folder, and why.

use clients::policy::Policy;
use clients::scope::{Candidate, Standing, standings};
use clients::{Client, Scope};
use report::render::text::{Paint, wrap};
use serde_json::{Value, json};

use super::choices::{Approval, Choices};
use super::list::{Entry, candidate, entries, launched, variable};
use super::machine::Machine;
use super::restrictions::Restrictions;
use super::syntax;
use super::unset::Unset;
use crate::args::clients::EffectiveArgs;
use crate::exit::{Exit, tell};
use crate::format::painted;
use crate::run::Run;
use crate::verb::output;

/// An entry, and what its client does with it.
pub(super) struct Judged {
    pub(super) entry: Entry,
    pub(super) standing: Standing,
    /// Why its client leaves it out, although it is the one of its name.
    pub(super) off: Option<String>,
    /// What the user decided on a server of `.mcp.json`.
    pub(super) approval: Option<Approval>,
}

impl Judged {
    /// Whether its client uses it, now or once the user approves it.
    pub(super) fn is_used(&self) -> bool {
        self.standing == Standing::Used && self.off.is_none()
    }

    /// What its client does with it, in words.
    pub(super) fn words(&self) -> String {
        match (&self.off, &self.approval) {
            _ if self.standing != Standing::Used => words(&self.standing),
            (Some(why), _) => format!("not used: {why}"),
            (_, Some(Approval::Approved(place))) => format!("used: approved by {place}"),
            (_, Some(Approval::Pending(why))) => {
                let why = why.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
                format!("not used before you approve it: run `claude` in this folder{why}")
            }
            _ => words(&self.standing),
        }
    }
}

/// Shows them.
pub(crate) fn run(run: &Run, args: &EffectiveArgs) -> Exit {
    shown(run, args).unwrap_or_else(|exit| exit)
}

fn shown(run: &Run, args: &EffectiveArgs) -> Result<Exit, Exit> {
    args.to.check(&[])?;
    let machine = Machine::here()?;
    let clients = Machine::named(&args.client)?;
    let mut restrictions = Restrictions::read(&machine, &clients, args.managed.as_deref())?;
    let (entries, mut refused) = entries(run, &machine, &clients);
    refused.append(&mut restrictions.problems);
    let judged = judged(&machine, &restrictions.policy, entries);
    if args.json {
        let value = json!({
            "schema": "proof.clients-effective/1", "project": machine.project,
            "managed": restrictions.document(),
            "entries": judged.iter().map(document).collect::<Vec<_>>(),
            "unreadable": refused.iter().map(|one| json!({ "place": one.place, "what": one.what })).collect::<Vec<_>>(),
        });
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        args.to.write(&format!("{}\n", wire::escape::json(&text)))?;
    } else {
        args.to.write(&text(&restrictions, &judged, args.to.paint()))?;
    }
    for one in &refused {
        tell(format_args!("error: {}: {}\n  try: {}", one.place, one.what, one.remedy));
    }
    Ok(if refused.is_empty() { Exit::Clean } else { Exit::Finding })
}

/// Judges the entries that count in this folder.
pub(super) fn judged(machine: &Machine, policy: &Policy, entries: Vec<Entry>) -> Vec<Judged> {
    let here = machine.local_project();
    let choices = Choices::read(machine);
    let is_here = |entry: &Entry| entry.project.as_deref().is_none_or(|project| project == here);
    let mut groups: Vec<(&'static Client, Vec<Entry>)> = Vec::new();
    for entry in entries.into_iter().filter(is_here) {
        match groups.last_mut() {
            Some((client, group)) if client.id == entry.client.id => group.push(entry),
            _ => groups.push((entry.client, vec![entry])),
        }
    }
    let mut found = Vec::new();
    for (client, group) in groups {
        let candidates: Vec<_> = group.iter().map(filled).collect();
        let none = Policy::default();
        let policy = if client.id == "claude-code" { policy } else { &none };
        let standings = standings(&candidates, policy);
        found.extend(group.into_iter().zip(standings).map(|(entry, standing)| {
            let is_asked = entry.client.id == "claude-code" && entry.scope == Scope::Project;
            let approval = is_asked.then(|| choices.on(&entry.name));
            let off = off(&entry, approval.as_ref());
            Judged { entry, standing, off, approval }
        }));
    }
    found.sort_by(|a, b| {
        (&a.entry.client.id, &a.entry.name, a.entry.scope).cmp(&(&b.entry.client.id, &b.entry.name, b.entry.scope))
    });
    found
}

/// An entry as rules are compared with it: with the values of variables.
fn filled(entry: &Entry) -> Candidate {
    Candidate { launch: entry.launch.filled(variable), ..candidate(entry) }
}

/// Why an entry is switched off.
fn off(entry: &Entry, approval: Option<&Approval>) -> Option<String> {
    if let Some(member) = syntax::switched_off(&entry.value) {
        return Some(format!("`{member}` in its entry switches it off"));
    }
    match approval {
        Some(Approval::Rejected(why)) => Some(why.clone()),
        _ => None,
    }
}

/// What a client does with an entry, in words.
fn words(standing: &Standing) -> String {
    match standing {
        Standing::Used => "used".to_owned(),
        Standing::Shadowed(scope) => format!("not used: the entry of scope {scope} wins"),
        Standing::Exclusive => "not used: a managed file is exclusive".to_owned(),
        Standing::Denied(why) => format!("not used: denied, because {why}"),
    }
}

fn text(restrictions: &Restrictions, judged: &[Judged], paint: Paint) -> String {
    let mut out = String::new();
    restrictions.words(&mut out);
    for one in judged {
        let entry = &one.entry;
        let name = wire::escape::line(&format!("{} {} ({})", entry.client.id, entry.name, entry.scope)).into_owned();
        let mut head = String::new();
        wrap(&mut head, 0, &format!("{name}: {}", wire::escape::line(&one.words())));
        out += &painted::lead(&head, &name, |name| paint.bold(name));
        wrap(
            &mut out,
            4,
            &format!("{} from {}", wire::escape::line(&launched(&entry.launch)), output::shown(&entry.path)),
        );
        for unset in &entry.unset {
            wrap(&mut out, 4, &wire::escape::line(&unset.words()));
        }
    }
    if judged.is_empty() {
        out.push_str("no client has an entry here\n");
    }
    out
}

fn document(one: &Judged) -> Value {
    let entry = &one.entry;
    let standing = match &one.standing {
        Standing::Used if one.off.is_some() => "switched off",
        Standing::Used if matches!(one.approval, Some(Approval::Pending(_))) => "pending approval",
        Standing::Used => "used",
        Standing::Shadowed(_) => "shadowed",
        Standing::Exclusive => "ignored: exclusive",
        Standing::Denied(_) => "denied",
    };
    json!({
        "client": entry.client.id, "name": entry.name, "scope": entry.scope.to_string(), "file": entry.path,
        "standing": standing, "why": one.words(), "launch": launched(&entry.launch), "unset": entry.unset.iter().map(Unset::document).collect::<Vec<_>>(),
    })
}

//! `proof config effective`: which entry of each name a client uses in this folder, and why.

use std::path::{Path, PathBuf};

use clients::policy::Policy;
use clients::reference::{Part, parts};
use clients::scope::{Standing, standings};
use clients::{Client, Platform, Scope};
use report::render::text::wrap;
use serde_json::{Value, json};

use super::choices::{Approval, Choices};
use super::list::{Entry, candidate, entries, launched};
use super::machine::Machine;
use super::syntax;
use crate::args::clients::EffectiveArgs;
use crate::exit::{Exit, tell, usage};
use crate::run::Run;
use crate::verb::{given_file, output};

/// The largest managed file.
const LARGEST: u64 = 4 << 20;

/// What an administrator decided of Claude Code, and the servers of the managed file.
#[derive(Default)]
pub(super) struct Managed {
    pub(super) policy: Policy,
    servers: Option<(PathBuf, Vec<String>)>,
}

/// An entry, and what its client does with it.
pub(super) struct Judged {
    pub(super) entry: Entry,
    pub(super) standing: Standing,
    /// Why its client leaves it out, although it is the one of its name.
    pub(super) off: Option<String>,
    /// What the user decided on a server of `.mcp.json`.
    pub(super) approval: Option<Approval>,
    /// Variables without a value or a default, and where.
    pub(super) unset: Vec<String>,
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
    let machine = Machine::here()?;
    let managed = managed(args.managed.as_deref())?;
    let (entries, refused) = entries(run, &machine, &Machine::named(&args.client)?);
    let judged = judged(&machine, &managed, entries);
    if args.json {
        let value = json!({
            "schema": "proof.clients-effective/1", "project": machine.project,
            "managed": managed.servers.as_ref().map(|(path, names)| json!({ "file": path, "servers": names })),
            "entries": judged.iter().map(document).collect::<Vec<_>>(),
            "unreadable": refused.iter().map(|one| json!({ "place": one.place, "what": one.what })).collect::<Vec<_>>(),
        });
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        output::print(&format!("{}\n", wire::escape::json(&text)))?;
    } else {
        output::print(&text(&managed, &judged))?;
    }
    for one in &refused {
        tell(format_args!("error: {}: {}\n  try: {}", one.place, one.what, one.remedy));
    }
    Ok(if refused.is_empty() { Exit::Clean } else { Exit::Finding })
}

/// Judges the entries that count in this folder.
pub(super) fn judged(machine: &Machine, managed: &Managed, entries: Vec<Entry>) -> Vec<Judged> {
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
        let candidates: Vec<_> = group.iter().map(candidate).collect();
        let none = Policy::default();
        let policy = if client.id == "claude-code" { &managed.policy } else { &none };
        let standings = standings(&candidates, policy);
        found.extend(group.into_iter().zip(standings).map(|(entry, standing)| {
            let is_asked = entry.client.id == "claude-code" && entry.scope == Scope::Project;
            let approval = is_asked.then(|| choices.on(&entry.name));
            let (off, unset) = (off(&entry, approval.as_ref()), unset(&entry));
            Judged { entry, standing, off, approval, unset }
        }));
    }
    found.sort_by(|a, b| {
        (&a.entry.client.id, &a.entry.name, a.entry.scope).cmp(&(&b.entry.client.id, &b.entry.name, b.entry.scope))
    });
    found
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

/// Variables of an entry that have no value here and no default.
fn unset(entry: &Entry) -> Vec<String> {
    let mut unset = Vec::new();
    for (place, text) in entry.launch.texts() {
        for part in parts(text) {
            if let Part::Variable { name, default: None } = part
                && std::env::var_os(name).is_none()
            {
                unset.push(format!("{name} in {place}"));
            }
        }
    }
    unset
}

/// The managed files of Claude Code in a folder, or in that of the system.
pub(super) fn managed(folder: Option<&Path>) -> Result<Managed, Exit> {
    let system = match Platform::here() {
        Platform::Linux => "/etc/claude-code",
        Platform::MacOs => "/Library/Application Support/ClaudeCode",
        Platform::Windows => "C:\\Program Files\\ClaudeCode",
    };
    let folder = folder.unwrap_or(Path::new(system));
    let (list, settings) = (folder.join("managed-mcp.json"), folder.join("managed-settings.json"));
    let servers = read(&list)?;
    let rules = read(&settings)?.unwrap_or_default();
    let policy = Policy::read(&rules, servers.is_some()).map_err(|why| {
        usage(
            &format!("{}: {}", output::shown(&settings), wire::escape::line(&why)),
            "a rule is {\"serverName\": …}, {\"serverCommand\": […]} or {\"serverUrl\": …}",
        )
    })?;
    let servers = servers.map(|value| {
        let names = value["mcpServers"].as_object().into_iter().flat_map(|servers| servers.keys().cloned());
        (list, names.collect())
    });
    Ok(Managed { policy, servers })
}

fn read(path: &Path) -> Result<Option<Value>, Exit> {
    let broken = |why: String| {
        usage(&format!("cannot read {}: {why}", output::shown(path)), "check the file and its permissions")
    };
    match given_file::text(path, LARGEST) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| broken(error.to_string())),
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(broken(error.to_string())),
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

fn text(managed: &Managed, judged: &[Judged]) -> String {
    let mut out = String::new();
    if let Some((path, names)) = &managed.servers {
        let names: Vec<_> = names.iter().map(|name| wire::escape::line(name).into_owned()).collect();
        wrap(
            &mut out,
            0,
            &format!("Claude Code takes servers from {} alone: {}.", output::shown(path), names.join(", ")),
        );
    }
    for one in judged {
        let entry = &one.entry;
        let head = format!("{} {} ({}): {}", entry.client.id, entry.name, entry.scope, one.words());
        wrap(&mut out, 0, &wire::escape::line(&head));
        wrap(
            &mut out,
            4,
            &format!("{} from {}", wire::escape::line(&launched(&entry.launch)), output::shown(&entry.path)),
        );
        if !one.unset.is_empty() {
            wrap(&mut out, 4, &format!("not set here: {}", wire::escape::line(&one.unset.join(", "))));
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
        "standing": standing, "why": one.words(), "launch": launched(&entry.launch), "unset": one.unset,
    })
}

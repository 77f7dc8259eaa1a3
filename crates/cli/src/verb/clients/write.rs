//! Plans one server's entry in one client. Writes nothing.

use clients::plan::{Manner, Problem, Target};
use clients::shape::{self, Knowledge, Refusal};
use clients::{Client, FileError, Launch, Scope, Server};

use super::drafts::Drafts;
use super::files::{Access, obstacle};
use super::machine::Machine;
use super::outcome::{Done, Refused, pointer, word};
use super::secrets::is_secret;
use crate::exit::Exit;
use crate::verb::output;

/// Whether a client may have these places in clear.
pub(super) type Agree<'a> = &'a mut dyn FnMut(&Client, &[String]) -> Result<bool, Exit>;

/// A server for several clients.
pub(super) struct Wish<'w> {
    pub(super) name: &'w str,
    /// The ways to reach it, the best first.
    pub(super) launches: &'w [Launch],
    pub(super) scope: Option<Scope>,
    pub(super) manner: Manner,
}

/// Why nothing is planned.
pub(super) enum Stop {
    Refused(Refused),
    Exit(Exit),
}

fn refuse(place: &str, what: impl Into<String>, remedy: impl Into<String>) -> Stop {
    Stop::Refused(Refused { place: place.to_owned(), what: what.into(), remedy: remedy.into(), is_drift: false })
}

/// An error of a file, with its place.
pub(super) fn refused_file(path: &std::path::Path, error: &FileError) -> Refused {
    let at = error.at.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
    let what = wire::escape::line(&error.what).into_owned();
    let place = format!("{}{at}", output::shown(path));
    Refused { place, what, remedy: error.remedy.clone(), is_drift: false }
}

/// The error of a file that cannot be read as a text.
pub(super) fn unreadable(path: &std::path::Path, error: &std::io::Error) -> Refused {
    let remedy = match error.kind() {
        std::io::ErrorKind::InvalidData => "save the file as UTF-8 in an editor",
        _ => "check the path and its permissions",
    };
    Refused { place: output::shown(path), what: error.to_string(), remedy: remedy.to_owned(), is_drift: false }
}

/// Why a client is not given a reference.
fn no_reference(client: &Client) -> String {
    if client.reference.is_some() {
        "it takes no reference there".to_owned()
    } else if client.has_references() {
        format!("of variables it takes only {}", client.syntax())
    } else {
        "it has no references".to_owned()
    }
}

/// The error of a file of a project that a link puts outside of it.
pub(super) fn outside(path: &std::path::Path) -> Refused {
    Refused {
        place: output::shown(path),
        what: "a link leads out of the project, so this is no file of the project".to_owned(),
        remedy: "--scope user, or replace the link by a file".to_owned(),
        is_drift: false,
    }
}

impl Wish<'_> {
    /// Plans the entry in one client.
    pub(super) fn plan(
        &self,
        machine: &Machine,
        drafts: &mut Drafts,
        client: &'static Client,
        agree: Agree<'_>,
    ) -> Result<Done, Stop> {
        let scope = self.scope.or(client.default_scope).unwrap_or(Scope::User);
        if !client.scopes().contains(&scope) {
            let scopes: Vec<_> = client.scopes().iter().map(ToString::to_string).collect();
            return Err(refuse(
                &client.id,
                format!("it has no scope `{scope}`"),
                format!("--scope {}", scopes.join(", or --scope ")),
            ));
        }
        let Some(path) = machine.file(client, scope) else {
            return Err(refuse(&client.id, "it has no file for this scope", "another --scope"));
        };
        if scope == Scope::Project && machine.leads_out(&path) {
            return Err(Stop::Refused(outside(&path)));
        }
        let before = drafts.text(&path).map_err(|error| Stop::Refused(unreadable(&path, &error)))?;
        let project = machine.local_project();
        let target = Target { client, scope, project: &project };
        let value = drafts.value(&path, client.format).map_err(|error| Stop::Refused(refused_file(&path, &error)))?;
        let entry = self.entry(&target, target.is_also(&value))?;
        let place = format!("{} ({})", client.id, output::shown(&path));
        if !entry.clear.is_empty() && !agree(client, &entry.clear).map_err(Stop::Exit)? {
            let what = format!("secrets would stand in clear: {}; {}", entry.clear.join(", "), no_reference(client));
            return Err(refuse(&place, what, "agree with --clear-secrets, or leave this client out"));
        }
        let (after, now, outcome) =
            target.add_to(&before, &value, self.name, &entry, self.manner).map_err(|problem| match problem {
                Problem::File(error) => Stop::Refused(refused_file(&path, &error)),
                Problem::OtherServer { is, wanted } => Stop::Refused(self.other_server(&place, &is, &wanted)),
            })?;
        let pointer = pointer(&target.way_to(&value, self.name));
        let did = word(outcome);
        let added = (did == "added").then_some(self.name);
        if did != "unchanged" {
            if let Some(obstacle) = obstacle(&path) {
                return Err(refuse(&place, obstacle.what, obstacle.remedy));
            }
            let access = if entry.clear.is_empty() { Access::Usual } else { Access::Private };
            drafts.put(&path, Some(after), added, access);
            drafts.holds(&path, now);
        }
        let (needs, clear) = (entry.needs, entry.clear);
        Ok(Done { client, scope, path, pointer, server: self.name.to_owned(), did, needs, clear })
    }

    fn other_server(&self, place: &str, is: &str, wanted: &str) -> Refused {
        let (is, wanted) = (wire::escape::line(is), wire::escape::line(wanted));
        let remedy = match self.manner {
            Manner::Declare => "another name in the list, or first remove it: proof remove NAME",
            _ => "another --name, or --force to replace it",
        };
        Refused {
            place: place.to_owned(),
            what: format!("`{}` is another server there: {is}, not {wanted}", self.name),
            remedy: remedy.to_owned(),
            is_drift: true,
        }
    }

    /// The entry by the first way that the client knows.
    fn entry(&self, target: &Target<'_>, is_also: bool) -> Result<shape::Entry, Stop> {
        let variable = |name: &str| std::env::var(name).ok();
        let known = Knowledge { is_secret: &is_secret, variable: &variable };
        let client = target.client;
        let mut last = None;
        for launch in self.launches {
            let server = Server { name: self.name.to_owned(), launch: launch.clone() };
            match shape::entry(&server, client, target.scope, is_also, &known) {
                Ok(entry) => return Ok(entry),
                Err(refusal) => last = Some((refusal, launch)),
            }
        }
        Err(match last {
            Some((Refusal::Discontinued, _)) => refuse(&client.id, "it is not developed any more", "another client"),
            Some((Refusal::Transport(what), Launch::Remote { url, .. })) => {
                let bridge = format!(
                    "a bridge: proof add {} --client {} -- npx -y mcp-remote@latest {}",
                    self.name,
                    client.id,
                    wire::escape::line(url)
                );
                refuse(&client.id, format!("its file has no {what}"), bridge)
            }
            Some((Refusal::Variable(name), _)) => {
                let what = format!("{}, and {name} is not set here", no_reference(client));
                let remedy = if client.has_references() {
                    "--env NAME, so that both names are the same, or leave this client out".to_owned()
                } else {
                    format!("export {name}, or leave this client out")
                };
                refuse(&client.id, what, remedy)
            }
            _ => refuse(&client.id, "it does not know this kind of server", "another client"),
        })
    }
}

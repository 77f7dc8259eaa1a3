//! What the command line means for the client: where, as whom, and what it answers.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;

use client::{Client, Given, Options, Respondent};
use net::client::Address;
use serde_json::{Value, json};
use suite::test::{Consent, Scripted};
use wire::Revision;

use super::pairs;
use super::terminal::Terminal;
use crate::args::client::ClientArgs;
use crate::exit::{Exit, usage};
use crate::run::Run;
use crate::verb::reached;

/// The options of a client at `address`.
pub(super) fn options(run: &Run, args: &ClientArgs, address: Address) -> Result<Options, Exit> {
    Ok(Options {
        respondent: respondent(args)?,
        log_level: args.log.clone(),
        progress: args.progress || (std::io::stderr().is_terminal() && !args.json),
        ..reached::options(run, &args.reach, address, revision(args)?)?
    })
}

fn revision(args: &ClientArgs) -> Result<Option<Revision>, Exit> {
    let parse = |text: &String| {
        text.parse().map_err(|e: wire::revision::UnknownRevision| usage(&e.to_string(), "name one of those"))
    };
    args.revision.as_ref().map(parse).transpose()
}

/// Whether the server speaks the revision that was named.
pub(super) fn as_wanted(args: &ClientArgs, client: &Client) -> Result<(), Exit> {
    match revision(args)? {
        Some(wanted) if wanted != client.revision() => {
            let what = format!("the server does not speak {wanted}; it offers {}", client.revision());
            Err(usage(&what, &format!("--revision {}, or none", client.revision())))
        }
        _ => Ok(()),
    }
}

/// Who answers what the server asks: a person, where there is one.
fn respondent(args: &ClientArgs) -> Result<Arc<dyn Respondent>, Exit> {
    Ok(match Terminal::find(scripted(args)?) {
        Ok(terminal) => Arc::new(terminal),
        Err(scripted) => Arc::new(scripted),
    })
}

/// What is answered without asking anybody.
fn scripted(args: &ClientArgs) -> Result<Scripted, Exit> {
    let mut scripted = Scripted { says: args.say.clone(), ..Scripted::default() };
    for answer in &args.answer {
        scripted.consent = Some(match answer.as_str() {
            "accept" => Consent::Accept,
            "decline" => Consent::Decline,
            "cancel" => Consent::Cancel,
            field => {
                scripted.fields.push(pairs::pair(field).map_err(|why| {
                    usage(&why, "--answer FIELD=VALUE, --answer FIELD:=JSON, --answer accept|decline|cancel")
                })?);
                Consent::Accept
            }
        });
    }
    if !args.root.is_empty() {
        scripted.roots = Some(args.root.iter().map(|path| root(path)).collect::<Result<_, _>>()?);
    }
    Ok(scripted)
}

/// A directory that is there, without detours.
fn root(path: &Path) -> Result<Value, Exit> {
    let shown = crate::verb::output::shown(path);
    let real = path.canonicalize().map_err(|error| {
        usage(&format!("`{shown}` cannot be a root: {error}"), "the path of a directory that you may read")
    })?;
    let url = url::Url::from_file_path(&real).map_err(|()| usage(&format!("`{shown}` is no path"), "a directory"))?;
    let name = real.file_name().map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
    Ok(json!({ "uri": url.as_str(), "name": name }))
}

/// A field and what was given for it.
pub(super) type Pair = (String, Given);

//! From the command line to the options of the client.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;

use client::{Client, Given, Options, Respondent};
use net::client::Address;
use serde_json::{Value, json};
use suite::test::{Consent, Scripted};
use wire::Revision;

use super::answers::Answers;
use super::arguments;
use super::conventions;
use super::terminal::Terminal;
use crate::args::client::ClientArgs;
use crate::exit::{Exit, usage};
use crate::run::Run;
use crate::verb::client_options;

/// The options of a client at `address`, with the answers of the command line.
pub(super) fn options(run: &Run, args: &ClientArgs, address: Address, answers: Answers) -> Result<Options, Exit> {
    Ok(Options {
        respondent: conventions::knowing(args.verb.as_ref(), respondent(answers)),
        log_level: args.log.clone(),
        progress: args.progress || (std::io::stderr().is_terminal() && !args.json),
        ..client_options::options(run, &args.reach, address, revision(args)?)?
    })
}

fn revision(args: &ClientArgs) -> Result<Option<Revision>, Exit> {
    let parse = |text: &String| {
        text.parse().map_err(|e: wire::revision::UnknownRevision| usage(&e.to_string(), "use one of these"))
    };
    args.revision.as_ref().map(parse).transpose()
}

/// Reports a server that does not support the revision of `--revision`.
pub(super) fn check_revision(args: &ClientArgs, client: &Client) -> Result<(), Exit> {
    match revision(args)? {
        Some(revision) if revision != client.revision() => {
            let what = format!("the server does not support {revision}; it offers {}", client.revision());
            Err(usage(&what, &format!("--revision {}, or no --revision", client.revision())))
        }
        _ => Ok(()),
    }
}

/// Who answers the server's requests: the person at the terminal, or the command line.
fn respondent(answers: Answers) -> Arc<dyn Respondent> {
    match Terminal::find(answers) {
        Ok(terminal) => Arc::new(terminal),
        Err(answers) => Arc::new(answers),
    }
}

/// The answers on the command line.
pub(super) fn answers(args: &ClientArgs) -> Result<Answers, Exit> {
    let mut scripted = Scripted { model_text: args.say.clone(), ..Scripted::default() };
    for answer in &args.answer {
        scripted.consent = Some(match answer.as_str() {
            "accept" => Consent::Accept,
            "decline" => Consent::Decline,
            "cancel" => Consent::Cancel,
            field => {
                scripted.fields.push(arguments::parse(field).map_err(|why| {
                    usage(&why, "--answer FIELD=VALUE, --answer FIELD:=JSON, --answer accept|decline|cancel")
                })?);
                Consent::Accept
            }
        });
    }
    if !args.root.is_empty() {
        scripted.roots = Some(args.root.iter().map(|path| root(path)).collect::<Result<_, _>>()?);
    }
    Ok(Answers::new(scripted))
}

/// An existing directory, with symbolic links resolved.
fn root(path: &Path) -> Result<Value, Exit> {
    let shown = crate::verb::output::shown(path);
    let real = path.canonicalize().map_err(|error| {
        usage(&format!("cannot use `{shown}` as a root: {error}"), "use the path of a readable directory")
    })?;
    let url = url::Url::from_file_path(&real)
        .map_err(|()| usage(&format!("`{shown}` is not a path"), "use the path of a directory"))?;
    let name = real.file_name().map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
    Ok(json!({ "uri": url.as_str(), "name": name }))
}

/// A name and its value.
pub(in crate::verb) type Pair = (String, Given);

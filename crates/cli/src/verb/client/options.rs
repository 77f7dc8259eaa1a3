//! What the command line means for the client: where, as whom, and what it answers.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use net::client::{Address, Authorizer, Limits};
use net::oauth::Scopes;
use reference::client::{Client, Consent, Given, Options, Respondent, Scripted};
use serde_json::{Value, json};
use wire::Revision;

use super::pairs;
use super::terminal::Terminal;
use crate::args::client::ClientArgs;
use crate::exit::{Exit, usage};

/// How long a request may go without a sign of life.
const ANSWER: Duration = Duration::from_mins(1);
/// How long a server gets to be reached.
const CONNECT: Duration = Duration::from_secs(10);
/// What a server gets to end after its input is closed, and again after TERM.
const SHUTDOWN: Duration = Duration::from_secs(1);

/// The options of a client at `address`.
pub(super) fn options(args: &ClientArgs, address: Address) -> Result<Options, Exit> {
    let request = args.reach.timeout.unwrap_or(ANSWER);
    let limits = Limits {
        request,
        connect: args.reach.timeout.unwrap_or(CONNECT),
        start: request,
        shutdown: SHUTDOWN,
        ..Limits::default()
    };
    let revision = revision(args)?;
    let endpoint = match &address {
        Address::Http(http) => Some(http.url.clone()),
        // These open with one request: a token is got before. A command has its credentials in its environment.
        Address::Sse(_) | Address::WebSocket(_) | Address::Stdio(_) => None,
    };
    let ca = args.reach.ca_file.clone();
    let authorizer = match endpoint {
        Some(url) => args.reach.oauth.authorizer(&url, revision, Scopes::Asked, ca)?,
        None => None,
    };
    Ok(Options {
        revision,
        authorizer: authorizer.map(|one| Arc::new(one) as Arc<dyn Authorizer>),
        limits,
        respondent: respondent(args)?,
        log_level: args.log.clone(),
        faults: args.faults.meaning()?,
        progress: args.progress || (std::io::stderr().is_terminal() && !args.json),
        ..Options::new(address)
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

//! `--intrusive`: calls a server with arguments that do harm where they are not checked, and reports what was proven.

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use guard::scan::{Scanner, items};
use net::client::Address;
use report::render::text::count;
use serde_json::Value;
use suite::intrusive::{Options, ProbeError, Probed, probe};

use crate::advice::asking;
use crate::args::scan::{ScanArgs, ScanCall};
use crate::exit::{Exit, tell, tell_redacted, usage};
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::{client_options, output};

/// The timeout of one answer.
const ANSWER: Duration = Duration::from_secs(10);
/// How many timeouts all of it may take.
const TIMES: u32 = 30;

/// Attacks one server.
pub(super) fn server(
    run: &Run,
    args: &ScanArgs,
    address: Address,
    server: &str,
    scanner: &mut Scanner,
    notes: &mut Vec<String>,
) -> Result<(), Exit> {
    let options = options(run, args, address)?;
    let probed = played(run, &options, args)?;
    for (rule, times) in probed.tried.values() {
        scanner.note_tried(rule, *times);
    }
    for list in &probed.lists {
        for (_, item) in &items(list, server) {
            scanner.item(server, item);
        }
    }
    for proven in &probed.proven {
        scanner.proven(server, proven);
    }
    let shown = wire::escape::snippet(server, 60);
    for what in &probed.incomplete {
        scanner.note_incomplete(format!("{shown}: {what}"));
    }
    notes.push(summary(&shown, &probed));
    notes.extend(probed.notes.iter().map(|note| format!("{shown}: {note}{}.", remedy(note))));
    Ok(())
}

/// What was done to a server.
fn summary(server: &str, probed: &Probed) -> String {
    let tried: Vec<String> =
        probed.tried.iter().map(|(rule, (_, times))| format!("{} {times}", rule.trim_start_matches("scan."))).collect();
    let tried = if tried.is_empty() { "nothing to try".to_owned() } else { tried.join(", ") };
    let tools = count(probed.tools, "tool");
    format!("{server}: {} to {tools}, {} answered; tries: {tried}.", count(probed.sent, "attack"), probed.answered)
}

/// Which option would have made it possible.
fn remedy(note: &str) -> &'static str {
    match note {
        note if note.starts_with("path traversal") => " (--plant)",
        note if note.starts_with("not called") => " (--call all)",
        _ => "",
    }
}

fn options(run: &Run, args: &ScanArgs, address: Address) -> Result<Options, Exit> {
    if let Some(folder) = args.plant.as_deref().filter(|folder| !folder.is_dir()) {
        let what = format!("--plant: {} is not a directory", output::shown(folder));
        return Err(usage(&what, "name the existing folder that the server serves"));
    }
    let other_audience = args.other_audience_env.as_deref().map(|name| foreign(name, &address)).transpose()?;
    let mut client = client_options::options(run, &args.reach, address, args.revision)?;
    client.limits.request = args.reach.timeout.unwrap_or(ANSWER);
    let time = client.limits.request * TIMES;
    Ok(Options {
        client,
        plant: args.plant.clone(),
        site: args.site,
        calls_destructive: args.call == ScanCall::All,
        other_audience,
        time,
    })
}

/// A token whose audience is another server, which it must say itself.
fn foreign(name: &str, address: &Address) -> Result<String, Exit> {
    let wrong = |what: &str| usage(&format!("--other-audience-env {name}: {what}"), "give a JWT for another server");
    let token = std::env::var(name).map_err(|_| wrong("the environment variable is not set"))?;
    let audiences = audiences(&token).ok_or_else(|| wrong("the token is no JWT with an audience"))?;
    let (Address::Http(http) | Address::Sse(http) | Address::WebSocket(http)) = address else {
        return Err(wrong("a command takes no token"));
    };
    let origin = http.url.origin().ascii_serialization();
    if audiences.iter().any(|audience| audience.starts_with(&origin)) {
        return Err(wrong("its audience is the server that is scanned"));
    }
    Ok(token)
}

/// The members of `aud`.
fn audiences(token: &str) -> Option<Vec<String>> {
    let payload = token.split('.').nth(1)?;
    let bytes = base64::prelude::BASE64_URL_SAFE_NO_PAD.decode(payload).ok()?;
    let claims: Value = serde_json::from_slice(&bytes).ok()?;
    let found: Vec<String> = match &claims["aud"] {
        Value::String(one) => vec![one.clone()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    (!found.is_empty()).then_some(found)
}

fn played(run: &Run, options: &Options, args: &ScanArgs) -> Result<Probed, Exit> {
    // Before the first child starts.
    run.children.adopt_orphans();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: cannot start the async runtime: {error}"));
        Exit::Bug
    })?;
    let probed = runtime.block_on(async {
        let interrupted = interrupted();
        tokio::pin!(interrupted);
        tokio::select! {
            probed = probe(options) => probed.map_err(|error| failed(&error, args)),
            signal = &mut interrupted => Err(Exit::Interrupted(signal)),
        }
    });
    runtime.shutdown_background();
    probed
}

fn failed(error: &ProbeError, args: &ScanArgs) -> Exit {
    let folder = args.plant.as_deref().unwrap_or_else(|| Path::new("."));
    match error {
        ProbeError::Client(error) => {
            tell_redacted(&format!("error: {}", error.describe(asking)));
            Exit::NoAnswer
        }
        ProbeError::Plant(why) => usage(
            &format!("cannot plant canaries in and next to {}: {why}", output::shown(folder)),
            "name a folder that you may write, below one that you may write",
        ),
        ProbeError::Site(why) => {
            usage(&format!("cannot serve a site at the address of --site: {why}"), "name a free port")
        }
        ProbeError::Machine(why) => usage(
            &format!("cannot prepare canaries on this machine: {why}"),
            "check that the temporary folder can be written",
        ),
    }
}

//! `proof snapshot`: saves what a server declares, or compares it with a saved snapshot.

use std::path::Path;

use client::ClientError;
use lock::{SNAPSHOT, Surface};
use serde_json::Value;
use wire::Revision;

use crate::advice::asking;
use crate::args::reach::environment;
use crate::args::snapshot::{Drift, DriftFormat, SnapshotArgs};
use crate::exit::{self, Exit, tell_redacted, usage};
use crate::format::drift as format;
use crate::run::Run;
use crate::verb::connecting::declared;
use crate::verb::{given_file, output};

/// Writes a snapshot, or compares with one.
pub(crate) fn run(run: &Run, args: &SnapshotArgs) -> Exit {
    let run = &run.with_environment(environment(&args.server.reach.inherit_env));
    exit::conceal(run.redactor_of(&args.server.secrets()));
    match taken(run, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn taken(run: &Run, args: &SnapshotArgs) -> Result<Exit, Exit> {
    let address = args.server.address()?.ok_or_else(|| {
        usage("no server given", "add its URL, or its command after `--`: proof snapshot -- npx -y my-server")
    })?;
    let before = args.check.as_deref().map(read).transpose()?;
    args.to.check(&[])?;
    let kept: Option<Revision> = before.as_ref().and_then(|one| one["revision"].as_str()?.parse().ok());
    let now = declared(run, &args.server.reach, address, args.revision.or(kept), failed)?.to_snapshot();
    // One mask for all secrets: a placeholder of this run would differ in every snapshot.
    let redactor = run.redactor_of(&args.server.secrets()).masked();
    let now = redactor.redact_value(&now);
    let before = before.map(|before| redactor.redact_value(&before));
    let Some(before) = before else {
        let text = serde_json::to_string_pretty(&now).unwrap_or_default();
        args.to.publish(&format!("{}\n", wire::escape::json(&text)))?;
        return Ok(Exit::Clean);
    };
    let changes = Surface::from_snapshot(&before).changes(&Surface::from_snapshot(&now));
    args.to.publish(&match args.format {
        DriftFormat::Human => format::human(&changes, args.to.paint()),
        DriftFormat::Json => format::json(&changes),
        DriftFormat::Markdown => format::markdown(&changes),
    })?;
    let fails = changes.iter().any(|change| change.breaks || args.fail_on == Drift::Any);
    Ok(if fails { Exit::Finding } else { Exit::Clean })
}

/// The most bytes of a snapshot.
const LONGEST: u64 = 256 << 20;

/// Reads a snapshot.
fn read(path: &Path) -> Result<Value, Exit> {
    let shown = output::shown(path);
    let bytes = given_file::bytes(path, LONGEST).map_err(|error| {
        usage(&format!("cannot read the snapshot {shown}: {error}"), "write one with --output FILE")
    })?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
        usage(
            &format!("the snapshot {shown} is damaged: {}", wire::escape::line(&error.to_string())),
            "write a new one with `proof snapshot --output`",
        )
    })?;
    if value["schema"].as_str() != Some(SNAPSHOT) {
        let what = format!("{shown} is not a snapshot: its `schema` is not {SNAPSHOT}");
        return Err(usage(&what, "use a file that `proof snapshot --output` wrote"));
    }
    Ok(value)
}

pub(super) fn failed(error: &ClientError) -> Exit {
    tell_redacted(&format!("error: {}", error.describe(asking)));
    match error {
        ClientError::Rpc { .. } => Exit::Finding,
        _ => Exit::NoAnswer,
    }
}

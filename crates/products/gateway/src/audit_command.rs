//! `proof-gateway audit`: verifies an audit log, and makes the key that signs one. Needs no running gateway.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use gateway::audit::{Verified, VerifyError, VerifyingKey, generate_key, key_text, verify};

use crate::tell::Failure;

#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    action: AuditAction,
}

#[derive(Subcommand, Debug)]
enum AuditAction {
    /// Check that no line of an audit log was changed, taken out or put in
    Verify {
        /// Folder of the log: `audit.folder` in gateway.yaml
        folder: PathBuf,
        /// Public key of the log's signatures, in PEM
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
    },
    /// Make a key that signs an audit log; its public half goes to FILE.pub
    Key {
        /// File to write the private key to
        file: PathBuf,
    },
}

pub(crate) fn run(args: &AuditArgs) -> Result<(), Failure> {
    match &args.action {
        AuditAction::Verify { folder, key } => check(folder, key.as_deref()),
        AuditAction::Key { file } => {
            let public = generate_key(file).map_err(|error| {
                let what = format!("cannot write the key {}: {error}", file.display());
                Failure::usage(what, "name a file that does not exist yet")
            })?;
            say(&format!("private key: {}\npublic key:  {}", file.display(), public.display()));
            Ok(())
        }
    }
}

fn check(folder: &Path, key: Option<&Path>) -> Result<(), Failure> {
    let key = key.map(read_key).transpose()?;
    match verify(folder, key.as_ref()) {
        Ok(verified) => {
            say(&report(&verified, key.is_some()));
            if key.is_some() && verified.signatures == 0 {
                let what = "the audit log has no signature, so the key proves nothing of it".to_owned();
                return Err(Failure::found(what, "set `key` under `audit` in gateway.yaml"));
            }
            Ok(())
        }
        Err(error @ VerifyError::Line { .. }) => {
            Err(Failure::found(error.to_string(), "keep the folder as it is, and compare it with a copy"))
        }
        Err(error) => Err(Failure::usage(format!("{error} – {}", folder.display()), "name the folder of an audit log")),
    }
}

fn read_key(file: &Path) -> Result<VerifyingKey, Failure> {
    let read = key_text(file).map_err(|error| error.to_string()).and_then(|text| VerifyingKey::read(&text));
    read.map_err(|why| {
        Failure::usage(format!("cannot use the key {}: {why}", file.display()), "the .pub file that `audit key` wrote")
    })
}

fn report(verified: &Verified, has_key: bool) -> String {
    let Verified { files, lines, requests, first, signatures, unsigned, lost, is_closed, last } = verified;
    let count = |number: u64, one: &str| if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") };
    let (files, lines) = (count(*files as u64, "file"), count(*lines, "line"));
    let mut said = vec![format!("unchanged: {lines} in {files}, {} of requests", count(*requests, "record"))];
    if *first > 0 {
        said.push(format!("begins at line {first}: older files are gone"));
    }
    let signed = count(*signatures, "signature");
    said.push(match (signatures, has_key) {
        (0, _) => "no signatures: who can write to the folder could have made it all anew".to_owned(),
        (_, false) => format!("{signed}, not verified: add --key FILE"),
        (_, true) => format!("{signed} verified, {} after the last one", count(*unsigned, "line")),
    });
    if *lost > 0 {
        said.push(format!("{} without a record: the log could not be written then", count(*lost, "request")));
    }
    if !is_closed {
        said.push("not closed: the gateway still writes, was killed, or lines were cut off at the end".to_owned());
    }
    said.extend(last.as_ref().map(|last| format!("last line: {} {}", last.number, last.hash)));
    said.join("\n")
}

#[expect(clippy::print_stdout, reason = "the result of the command")]
fn say(text: &str) {
    println!("{text}");
}

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
    /// Check that no line of an audit log was changed, removed or inserted
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
    let count = |number: u64, one: &str| if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") };
    let (files, lines) = (count(verified.files as u64, "file"), count(verified.lines, "line"));
    let mut report =
        vec![format!("consistent: {lines} in {files}, {} of requests", count(verified.requests, "record"))];
    if verified.first > 0 {
        report.push(format!("begins at line {}: older files are gone", verified.first));
    }
    let signatures = count(verified.signatures, "signature");
    report.push(match (verified.signatures, has_key) {
        (0, _) => "no signatures: anyone with write access could have written the whole log".to_owned(),
        (_, false) => format!("{signatures}, not verified: add --key FILE"),
        (_, true) => format!("{signatures} verified, {} after the last one", count(verified.unsigned, "line")),
    });
    if has_key && verified.never_signed > 0 {
        let lines = count(verified.never_signed, "line");
        report.push(format!("{lines} before a restart never signed: anyone with write access could have written them"));
    }
    if verified.lost > 0 {
        report.push(format!("{} missing: the log could not be written then", count(verified.lost, "record")));
    }
    if verified.not_closed_before > 0 {
        let times = count(verified.not_closed_before, "time");
        report.push(format!("continued {times} without a close: the gateway was killed, or lines were removed"));
    }
    if verified.incomplete_bytes > 0 {
        report.push(format!("the last line is not complete: {}", count(verified.incomplete_bytes as u64, "byte")));
    }
    if !verified.is_closed {
        report.push("not closed: the gateway still writes, was killed, or lines were removed at the end".to_owned());
    }
    report.extend(verified.last.as_ref().map(|last| format!("last line: {} {}", last.number, last.hash)));
    report.join("\n")
}

#[expect(clippy::print_stdout, reason = "the result of the command")]
fn say(text: &str) {
    println!("{text}");
}

//! `cargo xtask gateway-as-client`: a gateway is an MCP client of the servers behind it, and `proof check-client` judges it as
//! one. Our own client asks it for all that it has. Findings must be those of `peers/gateway-as-client.json`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::gateway_matrix::build;
use crate::peers::proof;
use crate::words::{Words, help};
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask gateway-as-client [--quick] [--proof PATH] [--gateway PATH]

  --quick          the scenarios of `proof check-client --quick` only
  --proof PATH     use this binary instead of building `proof` first
  --gateway PATH   use this binary instead of building `proof-gateway` first";

const KNOWN: &str = "peers/gateway-as-client.json";
/// Fewer MUST rules that hold mean that the scenarios did not reach the gateway.
const FEWEST: u64 = 100;

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let (mut quick, mut given_proof, mut given_gateway) = (false, None::<PathBuf>, None::<PathBuf>);
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--quick" => quick = true,
            "--proof" => given_proof = Some(words.value()?.into()),
            "--gateway" => given_gateway = Some(words.value()?.into()),
            _ => return Err(words.unknown()),
        }
    }
    let proof = proof(given_proof.as_deref())?;
    let gateway = match given_gateway {
        Some(path) => path.canonicalize().with_context(|| format!("--gateway {}", path.display()))?,
        None => build()?,
    };
    let report = root().join("target/gateway-as-client.json");
    let mut check = Command::new(&proof);
    check.args(["check-client", "--timeout", "20", "--format", "json", "--output"]).arg(&report);
    check.args(["--baseline".as_ref(), root().join(KNOWN).as_os_str()]);
    if quick {
        check.arg("--quick");
    }
    check.arg("--").arg(&proof).args(["client", "--conformance", "--"]);
    let status = check.arg(&gateway).args(["--stdio", "{url}"]).status()?;
    let report: Value = serde_json::from_slice(&std::fs::read(&report)?)?;
    let held = report["summary"]["must"]["pass"].as_u64().unwrap_or_default();
    for finding in report["results"].as_array().into_iter().flatten() {
        let broken = finding["outcome"] == "fail" || finding["outcome"] == "warn";
        if broken && finding.get("known").is_none() {
            println!("{} {} at {}: {}", finding["level"], finding["rule"], finding["revision"], finding["message"]);
        }
    }
    for entry in report["stale"].as_array().into_iter().flatten() {
        println!("no longer found, take it out of {KNOWN}: {entry}");
    }
    println!("{held} MUST rules hold; the check ended with {status}");
    ensure!(held >= FEWEST, "only {held} MUST rules were seen to hold");
    Ok(status.success())
}

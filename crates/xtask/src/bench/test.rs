//! `cargo xtask bench test`: how long `proof test` takes on files that `proof generate` makes: about a hundred cases of the
//! reference server over stdio, and a thousand of a server with many tools.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::check::{median, ms, timed};
use crate::{Verdict, root};

/// How often each file is played.
const RUNS: usize = 11;
/// How many cases there are to be at least, and how long they may take.
const SMALL: (usize, Duration) = (100, Duration::from_secs(1));
const LARGE: (usize, Duration) = (1000, Duration::from_secs(5));
/// How many tools the server has that the large file is made of.
const TOOLS: usize = 70;

/// Runs the benchmark with the binary `proof`.
pub(super) fn run(proof: &Path) -> Verdict {
    let folder = root().join("target/bench/test");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let catalogue = folder.join("many.yaml");
    std::fs::write(&catalogue, many())?;
    let own = proof.to_string_lossy();
    println!("medians of {RUNS} runs, wall clock, start of proof and of the server included");
    let reference = made(proof, &folder.join("reference.mcp.yaml"), &[&own, "serve", "--stdio"])?;
    let large = ["serve", "--stdio", "--catalog", &*catalogue.to_string_lossy()];
    let large = made(proof, &folder.join("many.mcp.yaml"), &[&[&*own], &large[..]].concat())?;
    // Of the reference server's cases every second or third, so that about a hundred are left.
    let shard = format!("1/{}", (reference.cases / SMALL.0).max(1));
    let small = Made { cases: reference.cases.div_ceil((reference.cases / SMALL.0).max(1)), ..reference };
    Ok(played(proof, &small, &["--shard", &shard], SMALL)? & played(proof, &large, &[], LARGE)?)
}

/// A test file.
struct Made {
    path: PathBuf,
    cases: usize,
}

fn made(proof: &Path, path: &Path, server: &[&str]) -> anyhow::Result<Made> {
    let begun = Instant::now();
    let mut generate = Command::new(proof);
    generate.args(["generate", "--force", "--slowest", "0.1", "--format", "json", "--output"]).arg(path);
    let ran = generate.arg("--").args(server).stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    ensure!(ran.status.success(), "proof generate ended with {}", ran.status);
    let report: Value = serde_json::from_slice(&ran.stdout).context("proof generate wrote no JSON")?;
    let cases = report["summary"]["played"].as_u64().context("no count of cases")? as usize;
    let took = ms(begun.elapsed());
    println!("proof generate, {cases:>5} cases            {took:>8.0} ms   (one run)");
    Ok(Made { path: path.to_owned(), cases })
}

fn played(proof: &Path, made: &Made, options: &[&str], (least, limit): (usize, Duration)) -> Verdict {
    ensure!(made.cases >= least, "{} has {} cases; expected: {least}", made.path.display(), made.cases);
    let path = made.path.to_string_lossy();
    let words = [&["test", &*path, "--format", "json"], options].concat();
    let took = median(RUNS, || timed(proof, &words, &[0]))?;
    println!(
        "proof test, {:>5} cases                {:>8.0} ms   (expected: under {:.0})",
        made.cases,
        ms(took),
        ms(limit)
    );
    Ok(took < limit)
}

/// A catalogue of many tools, each with something to break.
fn many() -> String {
    let mut text = "name: many\nversion: \"1\"\ntools:\n".to_owned();
    for number in 0..TOOLS {
        let _ = write!(
            text,
            "  - name: tool_{number}\n    description: Gives a text back\n    inputSchema:\n      type: object\n      properties:\n        \
             text: {{ type: string, minLength: 2, maxLength: 20 }}\n        \
             count: {{ type: integer, minimum: 1, maximum: 9 }}\n        \
             kind: {{ type: string, enum: [a, b, c] }}\n      \
             required: [text]\n      additionalProperties: false\n    annotations: {{ readOnlyHint: true }}\n    \
             answers:\n      - text: \"{{{{ arguments.text }}}}\"\n"
        );
    }
    text
}

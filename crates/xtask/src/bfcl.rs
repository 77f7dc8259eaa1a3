//! `cargo xtask bfcl`: the verdicts of `proof eval score --compat bfcl` beside those of bfcl-eval's own checker, on all of its
//! single-turn questions: with the key as the answer, and with thousands of mutations of it. Installs bfcl-eval under `.peers/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::peers::{Home, proof};
use crate::words::{Words, help};
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask bfcl [OPTIONS]

  --proof PATH     use this binary instead of building `proof` first
  --mutations N    at least so many mutated answers (default: 20000)
  --seed N         the seed of the mutations (default: 1)
  --speed          only measure how fast both judge the key";

/// How many disagreements of one kind are listed.
const LISTED: usize = 5;

/// What one side says of an entry: valid, the type of error, whether an exception is raised.
type Said = (bool, Option<String>, bool);

/// Compares.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let (mut given, mut mutations, mut seed, mut only_speed) = (None, 20_000u64, 1u64, false);
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--proof" => given = Some(PathBuf::from(words.value()?)),
            "--mutations" => mutations = words.value()?.parse().context("--mutations wants a number")?,
            "--seed" => seed = words.value()?.parse().context("--seed wants a number")?,
            "--speed" => only_speed = true,
            _ => return Err(words.unknown()),
        }
    }
    let home = Home::new(&root());
    let python = home.install_bfcl()?;
    let folder = home.files().join("bfcl");
    let wanted = if only_speed { vec!["speed".to_owned()] } else { vec![mutations.to_string(), seed.to_string()] };
    let script = root().join("peers/bfcl/verdicts.py");
    let ran = Command::new(python).arg(script).arg(&folder).args(wanted).output()?;
    let told = String::from_utf8_lossy(&ran.stderr);
    ensure!(ran.status.success(), "the checker of bfcl-eval failed (--speed needs a run without it first): {told}");
    println!("{}", String::from_utf8_lossy(&ran.stdout).trim());
    speed(&folder)?;
    if only_speed { Ok(true) } else { compare(&proof(given.as_deref())?, &folder) }
}

fn compare(proof: &Path, folder: &Path) -> Verdict {
    let mut disagreements: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for results in files(folder, ".results.json")? {
        let name = results.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let (category, round) = name.split_once('.').context("a file of results without a category")?;
        let ours = ours(proof, folder, category, &results)?;
        let theirs = theirs(&folder.join(name.replace(".results.json", ".verdicts.json")))?;
        ensure!(ours.len() == theirs.len(), "{name}: {} verdicts, not {}", ours.len(), theirs.len());
        let kind = if round.contains("-0.") { "key" } else { "mutated" };
        for (id, said) in theirs {
            let count = counts.entry(kind).or_default();
            count.0 += 1;
            let our = ours.get(&id).with_context(|| format!("no verdict on {id}"))?;
            if *our == said {
                count.1 += 1;
            } else {
                let key = (category.to_owned(), shown(&said), shown(our));
                disagreements.entry(key).or_default().push(format!("{id} of {name}"));
            }
        }
    }
    for (kind, (total, same)) in counts {
        println!("{kind} answers: {same} of {total} verdicts are the same");
    }
    for ((category, theirs, ours), places) in &disagreements {
        println!("{category}: bfcl-eval {theirs}, proof {ours}: {}", places.len());
        places.iter().take(LISTED).for_each(|place| println!("  {place}"));
    }
    Ok(disagreements.is_empty())
}

fn shown((valid, error, raises): &Said) -> String {
    match (valid, raises) {
        (true, _) => "valid".to_owned(),
        (false, true) => "raises an exception".to_owned(),
        (false, false) => error.clone().unwrap_or_default(),
    }
}

fn files(folder: &Path, end: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .with_context(|| format!("cannot read {}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(end))
        .collect();
    found.sort();
    Ok(found)
}

fn said(value: &Value) -> Option<(String, Said)> {
    let error = value["error_type"].as_str().map(str::to_owned);
    Some((value["id"].as_str()?.to_owned(), (value["valid"].as_bool()?, error, value["raises"].as_bool()?)))
}

fn theirs(path: &Path) -> anyhow::Result<BTreeMap<String, Said>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let line = |line: &str| said(&serde_json::from_str(line).ok()?);
    text.lines().map(|one| line(one).context("a line that is not a verdict")).collect()
}

fn ours(proof: &Path, folder: &Path, category: &str, results: &Path) -> anyhow::Result<BTreeMap<String, Said>> {
    let mut command = Command::new(proof);
    command.args(["eval", "score", "--compat", "bfcl", "--format", "json"]);
    command.arg(folder.join(format!("{category}.questions.json")));
    let answers = folder.join(format!("{category}.answers.json"));
    if answers.exists() {
        command.arg(answers);
    }
    let ran = command.arg(results).output().context("proof does not run")?;
    let report: Value = serde_json::from_slice(&ran.stdout)
        .with_context(|| format!("{}: {}", results.display(), String::from_utf8_lossy(&ran.stderr)))?;
    let entries = report["entries"].as_array().context("no entries")?;
    entries.iter().map(|entry| said(entry).context("an entry without a verdict")).collect()
}

/// How many entries both judge in a second of CPU of one core. Ours is a release build of a program that needs the crate alone.
fn speed(folder: &Path) -> anyhow::Result<()> {
    let mut command = crate::cargo::cargo();
    command.args(["run", "--quiet", "--release", "-p", "eval", "--example", "bfcl_speed", "--"]).arg(folder);
    let ran = command.stderr(Stdio::inherit()).output()?;
    ensure!(ran.status.success(), "the measurement failed");
    let theirs: BTreeMap<String, f64> = serde_json::from_slice(&fs::read(folder.join("speeds.json"))?)?;
    let ours = String::from_utf8(ran.stdout)?;
    println!("{:<24} {:>8} {:>12} {:>12} {:>7}", "entries a second of CPU", "entries", "bfcl-eval", "proof", "ratio");
    let mut sums = [0.0; 3];
    for line in ours.lines() {
        let mut columns = line.split('\t');
        let (name, mut number) = (columns.next().unwrap_or_default(), || columns.next()?.parse::<f64>().ok());
        let (count, our) = number().zip(number()).with_context(|| format!("no figures: {line}"))?;
        let their = *theirs.get(name).with_context(|| format!("bfcl-eval was not measured on {name}"))?;
        compared(name, count, their, our);
        sums = [sums[0] + count, sums[1] + count / their, sums[2] + count / our];
    }
    compared("all", sums[0], sums[0] / sums[1], sums[0] / sums[2]);
    Ok(())
}

fn compared(name: &str, count: f64, their: f64, our: f64) {
    println!("{name:<24} {count:>8} {their:>12.0} {our:>12.0} {:>7.1}", our / their);
}

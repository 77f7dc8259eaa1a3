//! `cargo xtask gorilla`: the responses that APIBench's repository stores, judged by `proof eval score --compat gorilla` and by
//! APIBench's own scripts, beside the figures of its paper. The repository's data stays outside this one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::peers::{Home, proof};
use crate::words::{Words, help};
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask gorilla --repository FOLDER [OPTIONS]

  --repository FOLDER  a clone of ShishirPatil/gorilla on GitHub, at commit 6ea57973
                       (git clone --filter=blob:none, then git checkout 6ea57973)
  --proof PATH         use this binary instead of building `proof` first
  --list               list every response on which the two disagree";

/// Files of responses by the mode of retrieval, as the repository names them.
const MODES: [&str; 4] = ["0_shot", "bm25", "gpt_index", "oracle"];
/// The paper's accuracy and hallucination, in percent, as far as they could be checked against a public source.
type Paper = (Option<f64>, Option<f64>);
/// A name in files of responses, one in files of questions, and the paper's figures by mode.
type Hub = (&'static str, &'static str, [Paper; 4]);

/// The hubs: as files of responses and of questions name them, and the paper's figures in each mode (the rows of Gorilla). Where
/// they come from: docs/eval-gorilla.md.
const HUBS: [Hub; 3] = [
    ("torchhub", "torchhub", [(Some(59.13), Some(6.98)), NONE, (Some(61.82), Some(0.0)), (Some(67.20), None)]),
    ("huggingface", "huggingface", [NONE, NONE, NONE, (Some(91.26), None)]),
    ("tensorflowhub", "tensorflow", [NONE, (Some(41.89), None), (Some(64.96), None), (Some(94.16), None)]),
];
const NONE: Paper = (None, None);
/// How far accuracy and hallucination may be from those of the scripts where the paper has a row, in points; and the share of
/// all responses that must have the same outcome.
const POINTS: f64 = 1.0;
const SAME: f64 = 0.97;

/// A response: its question, its outcome, and whether the script matched an API that the response calls nowhere.
type Judged = (u64, String, bool);

/// What all comparisons come to.
#[derive(Default)]
struct Totals {
    responses: usize,
    same: usize,
    fallthroughs: usize,
    /// Rows of the paper that are too far from the scripts.
    far: Vec<String>,
}

/// Compares.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let (mut given, mut repository, mut lists) = (None, None, false);
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--proof" => given = Some(PathBuf::from(words.value()?)),
            "--repository" => repository = Some(PathBuf::from(words.value()?)),
            "--list" => lists = true,
            _ => return Err(words.unknown()),
        }
    }
    let repository = repository.with_context(|| format!("no repository to read\n\n{USAGE}"))?;
    let home = Home::new(&root());
    let python = home.install_gorilla()?;
    let folder = home.files().join("gorilla");
    let script = root().join("peers/gorilla/outcomes.py");
    let ran = Command::new(python).arg(script).arg(&repository).arg(&folder).output()?;
    ensure!(ran.status.success(), "APIBench's scripts failed: {}", String::from_utf8_lossy(&ran.stderr));
    compare(&proof(given.as_deref())?, &repository, &folder, lists)
}

fn compare(proof: &Path, repository: &Path, theirs: &Path, lists: bool) -> Verdict {
    let mut totals = Totals::default();
    println!("percent: accuracy, hallucination           proof          scripts        paper");
    for (hub, bench, paper) in HUBS {
        // The paper has the model trained without retrieval for zero-shot, and the one trained with it for the rest.
        for trained in ["FT", "RT"] {
            let report = scored(proof, repository, hub, bench, trained)?;
            let modes = report["modes"].as_array().context("no modes")?;
            ensure!(modes.len() == MODES.len(), "{} modes instead of {}", modes.len(), MODES.len());
            for (at, mode) in modes.iter().enumerate() {
                let is_row = (trained == "FT") == (at == 0);
                let name = format!("response_{hub}_Gorilla_{trained}_{}.jsonl", MODES[at]);
                let file = read(&theirs.join(&name))?;
                one(mode, &name, &file, is_row.then_some(paper[at]), &mut totals, lists)?;
            }
        }
    }
    let share = totals.same as f64 / totals.responses as f64;
    println!(
        "{} of {} responses have the same outcome ({:.1} %); the scripts matched {} that call no such API",
        totals.same,
        totals.responses,
        100.0 * share,
        totals.fallthroughs
    );
    totals.far.iter().for_each(|row| println!("too far from the scripts: {row}"));
    Ok(totals.far.is_empty() && share >= SAME)
}

fn scored(proof: &Path, repository: &Path, hub: &str, bench: &str, trained: &str) -> anyhow::Result<Value> {
    let mut command = Command::new(proof);
    command.args(["eval", "score", "--compat", "gorilla", "--format", "json"]);
    command.arg(repository.join(format!("data/api/{hub}_api.jsonl")));
    command.arg(repository.join(format!("data/apibench/{bench}_eval.json")));
    let folder = repository.join("gorilla/eval/eval-data/responses").join(hub);
    command.args(MODES.map(|mode| folder.join(format!("response_{hub}_Gorilla_{trained}_{mode}.jsonl"))));
    let ran = command.output().context("proof does not run")?;
    serde_json::from_slice(&ran.stdout).with_context(|| format!("{hub}: {}", String::from_utf8_lossy(&ran.stderr)))
}

fn read(path: &Path) -> anyhow::Result<Vec<Judged>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let line = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        let outcome = value["outcome"].as_str()?.to_owned();
        Some((value["question"].as_u64()?, outcome, value["is_by_fallthrough"].as_bool()?))
    };
    text.lines().map(|one| line(one).with_context(|| format!("not an outcome: {one}"))).collect()
}

/// Compares one file of responses.
fn one(
    mode: &Value,
    name: &str,
    theirs: &[Judged],
    paper: Option<Paper>,
    totals: &mut Totals,
    lists: bool,
) -> anyhow::Result<()> {
    let ours = mode["outcomes"].as_array().context("no outcomes")?;
    ensure!(ours.len() == theirs.len() && !ours.is_empty(), "{name}: {} outcomes, not {}", ours.len(), theirs.len());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (our, (question, their, is_by_fallthrough)) in ours.iter().zip(theirs) {
        let outcome = our["outcome"].as_str().context("no outcome")?;
        ensure!(our["question"].as_u64() == Some(*question), "{name}: the responses are in another order");
        *counts.entry(their).or_default() += 1;
        totals.responses += 1;
        totals.fallthroughs += usize::from(*is_by_fallthrough);
        totals.same += usize::from(outcome == their);
        if lists && outcome != their {
            let why = if *is_by_fallthrough { " (it calls no such API)" } else { "" };
            println!("  {name} question {question}: scripts {their}{why}, proof {outcome}");
        }
    }
    let share = |of: &str| 100.0 * counts.get(of).copied().unwrap_or(0) as f64 / theirs.len() as f64;
    let percent = |of: &str| mode[of].as_f64().map(|share| 100.0 * share).context("no share");
    let (accuracy, hallucination) = (percent("accuracy")?, percent("hallucination")?);
    let (their_accuracy, their_hallucination) = (share("correct"), share("hallucination"));
    let row = name.trim_start_matches("response_").trim_end_matches(".jsonl").replace("_Gorilla_", " ");
    let figure = |figure: Option<f64>| figure.map_or_else(|| "     –".to_owned(), |figure| format!("{figure:6.2}"));
    let shown = paper.map_or_else(String::new, |(one, other)| format!("{} {}", figure(one), figure(other)));
    println!("{row:<36} {accuracy:6.2} {hallucination:6.2}  {their_accuracy:6.2} {their_hallucination:6.2}  {shown}");
    let distance = (accuracy - their_accuracy).abs().max((hallucination - their_hallucination).abs());
    if paper.is_some() && distance > POINTS {
        totals.far.push(row);
    }
    Ok(())
}

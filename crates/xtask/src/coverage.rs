//! `cargo xtask coverage`: for each revision, whether every sentence of the specification is judged or accounted for, and
//! how many of the judged ones a check of the reference server exercises, and one of the reference client. Fails where a row
//! is missing, stale or wrong, or where the aims are missed. `coverage/` holds the rows; `map` reads them.

mod map;
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use serde_json::Value;

use self::map::{Document, Row};
use super::{Verdict, root};
use crate::served::Served;

const USAGE: &str = "usage: cargo xtask coverage [--proof FILE] [--report REPORT.json]… [--without-specification]";

/// Prints the table.
pub fn run(args: &[String]) -> Verdict {
    let (mut proof, mut reports, mut with_specification) = (None, Vec::new(), true);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--proof" => proof = Some(PathBuf::from(args.next().context(USAGE)?)),
            "--report" => reports.push(PathBuf::from(args.next().context(USAGE)?)),
            "--without-specification" => with_specification = false,
            _ => anyhow::bail!(USAGE),
        }
    }
    let specification = specification();
    if with_specification {
        let missing = "the specification is not next to the project; --without-specification trusts the committed ids";
        anyhow::ensure!(specification.is_dir(), missing);
    } else {
        println!("The committed ids were not compared with the specification.");
    }
    let wrong = complaints(&root(), with_specification.then_some(specification.as_path()))?;
    for complaint in &wrong {
        println!("{complaint}");
    }
    let exercised = exercised(&reports, proof.as_deref())?;
    let (text, met) = table::with_exercise(&root(), &exercised)?;
    print!("{text}");
    Ok(wrong.is_empty() && met)
}

/// The page of the documentation.
pub(crate) fn page() -> anyhow::Result<String> {
    table::page(&root())
}

/// Where the specification lies, if it does.
fn specification() -> PathBuf {
    root().join("../shared/spec")
}

/// What is wrong with the rows of all documents. Not every rule has a row: some sentences demand without the words.
fn complaints(root: &Path, specification: Option<&Path>) -> anyhow::Result<Vec<String>> {
    let mut wrong = Vec::new();
    for document in Document::all() {
        let (rows, complaints) = map::read(&document, root)?;
        wrong.extend(complaints);
        if let Some(specification) = specification {
            wrong.extend(differences(&document, &rows, specification)?);
        }
    }
    Ok(wrong)
}

/// Where the committed ids and those of the specification differ.
fn differences(document: &Document, rows: &[Row], specification: &Path) -> anyhow::Result<Vec<String>> {
    let path = document.sentences(specification);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let mut ids = BTreeSet::new();
    for line in text.lines() {
        let sentence: Value = serde_json::from_str(line)?;
        ids.insert(sentence["id"].as_str().context("a sentence without id")?.to_owned());
    }
    let known: BTreeSet<_> = rows.iter().map(|row| row.id.clone()).collect();
    let name = &document.name;
    let unmapped = ids.difference(&known).map(|id| format!("{name}: {id} is not accounted for"));
    let stale = known.difference(&ids).map(|id| format!("{name}: {id} is no sentence of the specification"));
    Ok(unmapped.chain(stale).collect())
}

/// The rules, by revision, that checks of our own peers judged: from reports, and from checks made now of a peer that none
/// of them is about.
fn exercised(reports: &[PathBuf], proof: Option<&Path>) -> anyhow::Result<Exercised> {
    let mut exercised = Exercised::default();
    for path in reports {
        exercised.add(&fs::read(path).with_context(|| format!("reading {}", path.display()))?)?;
    }
    if !exercised.servers.is_empty() && !exercised.clients.is_empty() {
        return Ok(exercised);
    }
    let proof = crate::peers::proof(proof)?;
    if exercised.servers.is_empty() {
        checked_servers(&proof)?.iter().try_for_each(|text| exercised.add(text))?;
    }
    if exercised.clients.is_empty() {
        checked_clients(&proof)?.iter().try_for_each(|text| exercised.add(text))?;
    }
    Ok(exercised)
}

/// The rules that were judged, by revision, on servers and on clients.
#[derive(Default)]
struct Exercised {
    servers: BTreeSet<(String, String)>,
    clients: BTreeSet<(String, String)>,
}

impl Exercised {
    /// Takes down what a report shows of its subject.
    fn add(&mut self, text: &[u8]) -> anyhow::Result<()> {
        let report: Value = serde_json::from_slice(text).context("reading the report")?;
        let rules = match report["subject"]["kind"].as_str() {
            Some("server") => &mut self.servers,
            Some("client") => &mut self.clients,
            other => anyhow::bail!("a report about {other:?} says nothing of the coverage"),
        };
        let results = report["results"].as_array().context("the report has no results")?;
        let judged = |result: &&Value| matches!(result["outcome"].as_str(), Some("pass" | "fail" | "warn"));
        let place =
            |result: &Value| Some((result["revision"].as_str()?.to_owned(), result["rule"].as_str()?.to_owned()));
        rules.extend(results.iter().filter(judged).filter_map(place));
        Ok(())
    }
}

/// The reports of checks of the reference server: as it is, demanding a token, and issuing tokens without metadata.
fn checked_servers(proof: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut plain = Command::new(proof);
    plain.args(["check", "--format", "json"]);
    let mut locked = Command::new(proof);
    locked.args(["check", "--transport", "http", "--bearer-env", "PROOF_COVERAGE_TOKEN", "--format", "json"]);
    locked.env("PROOF_COVERAGE_TOKEN", "a-token-for-coverage");
    let mut reports = vec![plain.output()?.stdout, locked.output()?.stdout];
    reports.push(checked_without_metadata(proof)?);
    Ok(reports)
}

/// The report on a server of 2025-03-26 that issues tokens itself and publishes no metadata: no other server here needs the
/// default endpoints.
fn checked_without_metadata(proof: &Path) -> anyhow::Result<Vec<u8>> {
    let mut serve = Command::new(proof);
    serve.args(["serve", "--http", "127.0.0.1:0", "--auth", "dev", "--fault", "authorization-undiscoverable"]);
    let server = Served::start(serve)?;
    let mut check = Command::new(proof);
    check.args(["check", server.url(), "--revision", "2025-03-26", "--format", "json"]);
    Ok(check.output()?.stdout)
}

/// The reports of checks of the reference client, over every transport.
fn checked_clients(proof: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let check = |transports: &[&str], server: &[&str]| {
        let mut check = Command::new(proof);
        // Our own client starts in milliseconds, and mostly waits.
        check.args(["check-client", "--format", "json", "--jobs", "8"]).args(transports).arg("--").arg(proof);
        check.args(["client", "--conformance"]).args(server).stdout(Stdio::piped()).spawn()
    };
    let checks = [check(&["--transport", "http,sse,ws"], &["{url}"])?, check(&[], &["--", "{server}"])?];
    checks.into_iter().map(|check| Ok(check.wait_with_output()?.stdout)).collect()
}

#[cfg(test)]
mod tests {
    use super::{complaints, specification};
    use crate::root;

    #[test]
    fn every_sentence_is_accounted_for() {
        let specification = specification();
        let found = specification.is_dir().then_some(specification.as_path());
        if found.is_none() {
            println!("not compared with the specification: it is not next to the project");
        }
        let wrong = complaints(&root(), found).expect("the rows can be read");
        assert!(wrong.is_empty(), "{} rows are wrong:\n{}", wrong.len(), wrong.join("\n"));
    }
}

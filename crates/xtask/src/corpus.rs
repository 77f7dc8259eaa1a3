//! `cargo xtask corpus`: `proof generate` on real servers from npm, PyPI and cargo, each in a folder of its own; every file
//! is then played twice by `proof test`. Writes `docs/corpus.md` and fails where the corpus misses its minimum.
//!
//! This module is the order of events; [`servers`] lists the servers, [`table`] writes the results. [`kept`] plays the files that
//! the project keeps.

mod kept;
mod servers;
mod table;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::Verdict;
use crate::peers::{Home, ProcessGroup, free_port, proof, wait_until_listening};
use crate::words::{Words, help};
use servers::{SERVERS, Server};
use table::Row;

const USAGE: &str = "usage: cargo xtask corpus [kept] [--only NAME] [--proof PATH] [--depth DEPTH]

  kept           play the files of examples/corpus instead, without network; has options of its own
  --only NAME    this server alone, may be repeated; docs/corpus.md stays as it is
  --proof PATH   use this binary instead of building `proof` first
  --depth DEPTH  basic, standard or full [default: full]";

/// How often each file is played.
const TIMES: usize = 2;

#[derive(Default)]
struct Options {
    only: Vec<String>,
    proof: Option<PathBuf>,
    depth: Option<String>,
}

impl Options {
    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut options = Self::default();
        let mut words = Words::of(args, USAGE);
        while let Some(option) = words.option() {
            match option {
                "--only" => options.only.push(words.value()?.to_owned()),
                "--proof" => options.proof = Some(words.value()?.into()),
                "--depth" => options.depth = Some(words.value()?.to_owned()),
                _ => return Err(words.unknown()),
            }
        }
        Ok(options)
    }
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if let Some((_, rest)) = args.split_first().filter(|(word, _)| *word == "kept") {
        return kept::run(rest);
    }
    if help(args, USAGE) {
        return Ok(true);
    }
    let options = Options::parse(args)?;
    let home = Home::new(&crate::root());
    home.install_corpus()?;
    let proof = proof(options.proof.as_deref())?;
    let depth = options.depth.as_deref().unwrap_or("full");
    let chosen = |server: &&Server| options.only.is_empty() || options.only.iter().any(|name| name == server.name);
    let (mut rows, mut complaints) = (Vec::new(), Vec::new());
    println!("{}", table::HEAD);
    for server in SERVERS.iter().filter(chosen) {
        match tried(&home, &proof, server, depth) {
            Ok(row) => {
                println!("{}", row.line());
                rows.push(row);
            }
            Err(error) => {
                println!("{:<18} failed", server.name);
                complaints.push(format!("{}: {error:#}", server.name));
            }
        }
    }
    if options.only.is_empty() {
        complaints.extend(table::shortfalls(&rows));
        let page = home.root.join("docs/corpus.md");
        if complaints.is_empty() {
            fs::write(&page, table::page(&rows, depth)).with_context(|| format!("cannot write {}", page.display()))?;
            println!("\nWritten: docs/corpus.md");
        }
    }
    for complaint in &complaints {
        println!("- {complaint}");
    }
    Ok(complaints.is_empty())
}

/// Makes a file from one server and plays it.
fn tried(home: &Home, proof: &Path, server: &'static Server, depth: &str) -> anyhow::Result<Row> {
    let folder = home.corpus().join(server.name);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    let files = folder.join("files");
    furnish(&files)?;
    let log = File::create(folder.join("log.txt"))?;
    if let Some((program, words)) = home.filled(server.prepare).split_first() {
        let prepared = Command::new(program).args(words).current_dir(&files).stdin(Stdio::null()).status()?;
        ensure!(prepared.success(), "its preparation ended with {prepared}");
    }
    let (_file_server, port) = start_file_server(home, server, &files, &log)?;
    let filled = |text: &str| text.replace("{folder}", &files.to_string_lossy()).replace("{port}", &port.to_string());
    let mut generate = Command::new(proof);
    generate.current_dir(&folder).args(["generate", "--format", "json", "--output", "t.mcp.yaml", "--depth", depth]);
    generate.args(server.options).args(["--cwd".as_ref(), files.as_os_str()]);
    for (name, value) in server.env {
        generate.args(["--env", &format!("{name}={}", filled(value))]);
    }
    let known = home.peers.join("arguments").join(format!("{}.json", server.name));
    if known.is_file() {
        let path = folder.join("arguments.json");
        fs::write(&path, filled(&fs::read_to_string(&known)?))?;
        generate.arg("--arguments").arg(path);
    }
    generate.arg("--").args(home.filled(server.command).iter().map(|word| filled(word)));
    let begun = Instant::now();
    let ran = generate.stdin(Stdio::null()).stderr(log.try_clone()?).output().context("proof does not start")?;
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(ran.status.success(), "proof generate ended with {}; see {}", ran.status, folder.join("log.txt").display());
    fs::write(folder.join("report.json"), &ran.stdout)?;
    let report: Value = serde_json::from_slice(&ran.stdout).context("proof generate wrote no JSON")?;
    for time in 1..=TIMES {
        let out = folder.join(format!("test-{time}.txt"));
        let mut test = Command::new(proof);
        test.current_dir(&folder).args(["test", "t.mcp.yaml", "--output"]).arg(&out);
        let status = test.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?).status()?;
        ensure!(status.success(), "proof test, time {time}, ended with {status}; see {}", out.display());
    }
    Row::new(server, &report, seconds)
}

/// What the servers find in their folder: some files, and a repository of git.
fn furnish(files: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(files.join("notes"))?;
    fs::write(files.join("note.txt"), "A note.\nIt has two lines.\n")?;
    fs::write(files.join("notes/other.txt"), "Another note.\n")?;
    let git = |args: &[&str]| -> anyhow::Result<()> {
        let mut git = Command::new("git");
        git.current_dir(files).args(["-c", "user.name=proof", "-c", "user.email=proof@example.com"]).args(args);
        let ran = git.stdin(Stdio::null()).output().context("git does not start; install git")?;
        ensure!(ran.status.success(), "git {}: {}", args.join(" "), String::from_utf8_lossy(&ran.stderr));
        Ok(())
    };
    git(&["init", "--quiet", "--initial-branch", "main"])?;
    git(&["add", "note.txt"])?;
    git(&["commit", "--quiet", "--no-gpg-sign", "--message", "A note"])?;
    Ok(())
}

/// Serves the folder on a loopback port for as long as the answer is held, for a server that fetches something.
fn start_file_server(
    home: &Home,
    server: &Server,
    files: &Path,
    log: &File,
) -> anyhow::Result<(Option<ProcessGroup>, u16)> {
    if !server.fetches {
        return Ok((None, 0));
    }
    let port = free_port()?;
    let mut command = home.filled(&["{python}", "-m", "http.server", "--bind", "127.0.0.1", "--directory"]);
    command.extend([files.to_string_lossy().into_owned(), port.to_string()]);
    let mut group = ProcessGroup::start(&command, &[("PYTHONUNBUFFERED", "1")], log)?;
    wait_until_listening(&mut group, port)?;
    Ok((Some(group), port))
}

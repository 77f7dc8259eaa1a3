//! `cargo xtask factory`: the REST APIs in `examples/factory`, each served by `proof serve --openapi` in front of a model of the
//! API: its description, a whole check, its test files, its lock. `--write` makes the generated files again.

mod table;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use self::table::Row;
use crate::Verdict;
use crate::peers::proof;
use crate::words::{Words, help};

const USAGE: &str = "usage: cargo xtask factory [--write] [--only NAME] [--proof PATH] [--jobs N]

  --write        make the generated test files and the locks again, and the table in README.md
  --only NAME    this API alone, may be repeated
  --proof PATH   use this binary instead of building `proof` first
  --jobs N       how many at once [default: 3]";

/// How many cases a generated file has.
const DEPTH: &str = "basic";
const LOCK: &str = "mcp.lock";

struct Options {
    write: bool,
    only: Vec<String>,
    proof: Option<PathBuf>,
    jobs: usize,
}

impl Options {
    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut options = Self { write: false, only: Vec::new(), proof: None, jobs: 3 };
        let mut words = Words::of(args, USAGE);
        while let Some(option) = words.option() {
            match option {
                "--write" => options.write = true,
                "--only" => options.only.push(words.value()?.to_owned()),
                "--proof" => options.proof = Some(words.value()?.into()),
                "--jobs" => options.jobs = words.value()?.parse().context("--jobs takes a number")?,
                _ => return Err(words.unknown()),
            }
        }
        ensure!(options.jobs > 0, "--jobs takes a number above 0");
        Ok(options)
    }
}

/// The folder of the examples, and the program that they are served with.
struct Examples {
    folder: PathBuf,
    proof: PathBuf,
    /// `PATH`, so that `proof` in a test file is that program.
    path: OsString,
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let options = Options::parse(args)?;
    let examples = Examples::new(proof(options.proof.as_deref())?)?;
    let mut names = examples.names()?;
    names.retain(|name| options.only.is_empty() || options.only.contains(name));
    ensure!(!names.is_empty(), "no folder of examples/factory has this name");
    println!("{}", table::HEAD);
    let begun = Instant::now();
    let (mut rows, mut complaints) = examples.all(names, &options);
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    println!("{}, {:.0} s", table::totals(&rows), begun.elapsed().as_secs_f64());
    complaints.extend(rows.iter().filter_map(Row::complaint));
    if options.only.is_empty() {
        complaints.extend(table::shortfalls(&rows));
        if options.write && complaints.is_empty() {
            let readme = examples.folder.join("README.md");
            let text = fs::read_to_string(&readme)?;
            fs::write(&readme, table::written(&text, &rows)?)?;
        }
    }
    for complaint in &complaints {
        println!("- {complaint}");
    }
    Ok(complaints.is_empty())
}

impl Examples {
    fn new(proof: PathBuf) -> anyhow::Result<Self> {
        let beside = proof.parent().context("the program has no folder")?.to_owned();
        // The model and the tests start `proof` by its name.
        ensure!(proof.file_name().is_some_and(|name| name == "proof"), "{}: call the file `proof`", proof.display());
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(beside).chain(std::env::split_paths(&others)))?;
        Ok(Self { folder: crate::root().join("examples/factory"), proof, path })
    }

    /// Every folder with a description, the longest list of tools first: it takes longest.
    fn names(&self) -> anyhow::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).context("cannot read examples/factory")? {
            let path = entry?.path().join("openapi.json");
            let Ok(about) = path.metadata() else { continue };
            let name = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
            names.push((std::cmp::Reverse(about.len()), name.context("a name that is no text")?.to_owned()));
        }
        names.sort();
        Ok(names.into_iter().map(|(_, name)| name).collect())
    }

    /// Plays all, several at once; prints a line for each.
    fn all(&self, names: Vec<String>, options: &Options) -> (Vec<Row>, Vec<String>) {
        let (left, done) = (Mutex::new(names.into_iter()), Mutex::new((Vec::new(), Vec::new())));
        std::thread::scope(|scope| {
            for _ in 0..options.jobs {
                scope.spawn(|| {
                    while let Some(name) = left.lock().ok().and_then(|mut names| names.next()) {
                        let played = self.played(&name, options.write);
                        let Ok(mut done) = done.lock() else { return };
                        match played {
                            Ok(row) => {
                                println!("{}", row.line());
                                done.0.push(row);
                            }
                            Err(error) => done.1.push(format!("{name}: {error:#}")),
                        }
                    }
                });
            }
        });
        done.into_inner().unwrap_or_default()
    }

    fn played(&self, name: &str, write: bool) -> anyhow::Result<Row> {
        let begun = Instant::now();
        if write {
            self.write(name)?;
        }
        let described = self.described(name)?;
        let checked = self.report("check", &Self::served(name, &["check", "--call", "all", "--format", "json"]))?;
        let tested = self.report("test", &["test", name, "--format", "json"].map(str::to_owned))?;
        let lock = format!("{name}/{LOCK}");
        let locked = self.ran(&Self::served(name, &["lock", "--check", "-o", &lock]), ".")?;
        Row::new(name, &described, (&checked, &tested), locked.status.success(), begun.elapsed())
    }

    /// What `proof serve --check` prints.
    fn described(&self, name: &str) -> anyhow::Result<String> {
        let mut command = Command::new("python3");
        command.current_dir(&self.folder).env("PATH", &self.path).stdin(Stdio::null());
        command.args(["upstream.py", name, "--", "proof", "serve", "--check"]).args(files(name));
        let ran = command.output().context("python3 does not start")?;
        ensure!(ran.status.success(), "proof serve --check: {}", said(&ran));
        Ok(String::from_utf8(ran.stdout)?)
    }

    /// The generated test file, and the lock.
    fn write(&self, name: &str) -> anyhow::Result<()> {
        let (file, folder) = (format!("{name}.mcp.yaml"), self.folder.join(name));
        let options = ["generate", "--force", "--call", "all", "--depth", DEPTH, "-o", &file];
        let mut words: Vec<String> = options.map(str::to_owned).to_vec();
        if folder.join("arguments.json").is_file() {
            words.extend(["--arguments", "arguments.json"].map(str::to_owned));
        }
        words.extend(["--", "python3", "../upstream.py", ".", "--", "proof", "serve", "--stdio"].map(str::to_owned));
        words.extend(["--openapi", "openapi.json", "--config", "api.yaml"].map(str::to_owned));
        let ran = self.ran(&words, name)?;
        ensure!(ran.status.success(), "proof generate: {}", said(&ran));
        let lock = format!("{name}/{LOCK}");
        if self.folder.join(&lock).exists() {
            fs::remove_file(self.folder.join(&lock))?;
        }
        let ran = self.ran(&Self::served(name, &["lock", "-o", &lock]), ".")?;
        ensure!(ran.status.success(), "proof lock: {}", said(&ran));
        Ok(())
    }

    /// The words of a verb whose target is the server of an example, in front of its model.
    fn served(name: &str, verb: &[&str]) -> Vec<String> {
        let model = ["--", "python3", "upstream.py", name, "--", "proof", "serve", "--stdio"];
        let words = verb.iter().chain(&model).map(|&word| word.to_owned());
        words.chain(files(name)).collect()
    }

    fn ran(&self, words: &[String], folder: &str) -> anyhow::Result<Output> {
        let mut command = Command::new(&self.proof);
        command.args(words).current_dir(self.folder.join(folder)).env("PATH", &self.path).stdin(Stdio::null());
        command.output().context("proof does not start")
    }

    /// The JSON that `proof` prints. A failure is in it.
    fn report(&self, verb: &str, words: &[String]) -> anyhow::Result<Value> {
        let ran = self.ran(words, ".")?;
        match serde_json::from_slice(&ran.stdout) {
            Ok(report) => Ok(report),
            Err(_) => bail!("proof {verb}: {}", said(&ran)),
        }
    }
}

/// The options that name the description and the configuration of an example.
fn files(name: &str) -> [String; 4] {
    ["--openapi".to_owned(), format!("{name}/openapi.json"), "--config".to_owned(), format!("{name}/api.yaml")]
}

fn said(ran: &Output) -> String {
    let text = String::from_utf8_lossy(&ran.stderr);
    text.lines().filter(|line| !line.trim().is_empty()).take(6).collect::<Vec<_>>().join(" / ")
}

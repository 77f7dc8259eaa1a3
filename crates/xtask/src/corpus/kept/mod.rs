//! `cargo xtask corpus kept`: the test files in `examples/corpus`. Their servers are catalogues beside them, so no network and no
//! package is needed. Each file is played and its server is checked the same way; `--write` makes the files again from the
//! servers, and the page with the results.

mod table;
#[cfg(test)]
mod tests;
mod way;

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use self::table::Row;
use self::way::Way;
use crate::Verdict;
use crate::peers::{free_port, proof};
use crate::served::Served;
use crate::words::{Words, help};

const USAGE: &str = "usage: cargo xtask corpus kept [--write] [--only NAME] [--proof PATH]

  --write        make the test files from the servers again, and README.md
  --only NAME    this server alone, may be repeated
  --proof PATH   use this binary instead of building `proof` first";

/// How many cases a file has.
const DEPTH: &str = "standard";

#[derive(Default)]
struct Options {
    write: bool,
    only: Vec<String>,
    proof: Option<PathBuf>,
}

impl Options {
    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut options = Self::default();
        let mut words = Words::of(args, USAGE);
        while let Some(option) = words.option() {
            match option {
                "--write" => options.write = true,
                "--only" => options.only.push(words.value()?.to_owned()),
                "--proof" => options.proof = Some(words.value()?.into()),
                _ => return Err(words.unknown()),
            }
        }
        Ok(options)
    }
}

/// The folder of the corpus, and the program that it is played with.
struct Corpus {
    folder: PathBuf,
    proof: PathBuf,
    /// `PATH`, so that `proof` in a test file is that program.
    path: OsString,
}

/// One server, reached one way.
struct Configuration {
    server: String,
    way: &'static Way,
}

/// Runs the task.
pub(super) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let options = Options::parse(args)?;
    let corpus = Corpus::new(proof(options.proof.as_deref())?)?;
    let chosen = |name: &String| options.only.is_empty() || options.only.contains(name);
    let (mut rows, mut complaints) = (Vec::new(), Vec::new());
    println!("{}", table::HEAD);
    for configuration in corpus.configurations()?.iter().filter(|one| chosen(&one.server)) {
        match corpus.played(configuration, options.write) {
            Ok(row) => {
                println!("{}", row.line());
                complaints.extend(row.complaint());
                rows.push(row);
            }
            Err(error) => complaints.push(format!("{}: {error:#}", configuration.file())),
        }
    }
    println!("{}", table::totals(&rows));
    if options.only.is_empty() {
        complaints.extend(table::shortfalls(&rows));
        if options.write && complaints.is_empty() {
            fs::write(corpus.folder.join("README.md"), table::page(&rows))?;
        }
    }
    for complaint in &complaints {
        println!("- {complaint}");
    }
    Ok(complaints.is_empty())
}

impl Configuration {
    /// The test file, in the corpus's folder.
    fn file(&self) -> String {
        format!("{}.{}.mcp.yaml", self.server, self.way.name)
    }
}

impl Corpus {
    fn new(proof: PathBuf) -> anyhow::Result<Self> {
        let beside = proof.parent().context("the program has no folder")?.to_owned();
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(beside).chain(std::env::split_paths(&others)))?;
        Ok(Self { folder: crate::root().join("examples/corpus"), proof, path })
    }

    /// Every server, each in two ways: over stdio, and over one of the other transports in turn.
    fn configurations(&self) -> anyhow::Result<Vec<Configuration>> {
        let servers = self.folder.join("servers");
        let entries = fs::read_dir(&servers).with_context(|| format!("cannot read {}", servers.display()))?;
        let mut names = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_stem().and_then(|name| name.to_str()).context("a name that is no text")?;
            names.push(name.to_owned());
        }
        names.sort();
        let ways = way::OTHERS.iter().cycle();
        let both = |(server, other): (String, &'static Way)| {
            [&way::STDIO, other].map(|way| Configuration { server: server.clone(), way })
        };
        Ok(names.into_iter().zip(ways).flat_map(both).collect())
    }

    /// Plays the file of a configuration, and checks its server.
    fn played(&self, configuration: &Configuration, write: bool) -> anyhow::Result<Row> {
        let file = configuration.file();
        if write {
            let text = self.generated(configuration)?;
            fs::write(self.folder.join(&file), text)?;
        }
        let tested = self.report(&["test", &file, "--format", "json"].map(str::to_owned))?;
        let checked = self.at(configuration, |target| {
            let options = ["check", "--call", "all", "--format", "json", "--revision", configuration.way.revision];
            self.report(&configuration.way.targeted(&options, target))
        })?;
        Row::new(&configuration.server, configuration.way, &tested, &checked)
    }

    /// The text of the test file, made from the running server.
    fn generated(&self, configuration: &Configuration) -> anyhow::Result<String> {
        // Beside the servers: the file is also played once, and names them relative to itself.
        let made = self.folder.join(format!(".{}", configuration.file()));
        let written = self.at(configuration, |target| {
            let output = made.to_string_lossy().into_owned();
            let revision = configuration.way.revision;
            let options =
                ["generate", "--force", "--call", "all", "--depth", DEPTH, "--revision", revision, "--output", &output];
            let ran = self.command(&configuration.way.targeted(&options, target)).output()?;
            ensure!(ran.status.success(), "proof generate: {}", String::from_utf8_lossy(&ran.stderr));
            Ok(())
        });
        let text = fs::read_to_string(&made);
        let _ = fs::remove_file(&made);
        written?;
        configuration.way.rewritten(&text?, &configuration.server)
    }

    /// Calls `ask` with what the server is reached by: its command, or its address for as long as `ask` runs.
    fn at<T>(
        &self,
        configuration: &Configuration,
        ask: impl FnOnce(&[String]) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let Configuration { server, way } = configuration;
        let Some(url) = way.url else { return ask(&way.command(server)) };
        let port = free_port()?.to_string();
        let command = way.command(server).into_iter().map(|word| word.replace("{port}", &port));
        let mut serve = Command::new(&self.proof);
        serve.args(command.skip(1)).current_dir(&self.folder);
        let _server = Served::start(serve)?;
        ask(&[url.replace("{port}", &port)])
    }

    fn command(&self, args: &[String]) -> Command {
        let mut command = Command::new(&self.proof);
        command.args(args).current_dir(&self.folder).env("PATH", &self.path).stdin(Stdio::null());
        command
    }

    /// The JSON that `proof` prints. Its exit code says no more than the JSON does.
    fn report(&self, args: &[String]) -> anyhow::Result<Value> {
        let ran = self.command(args).output().context("proof does not start")?;
        serde_json::from_slice(&ran.stdout)
            .with_context(|| format!("proof {}: {}", args.join(" "), String::from_utf8_lossy(&ran.stderr)))
    }
}

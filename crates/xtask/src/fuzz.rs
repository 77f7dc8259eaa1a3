//! `cargo xtask fuzz`: builds the targets of `fuzz/` with coverage counters and runs each for a while, from the inputs
//! committed under `fuzz/corpus/` and those found before. It knows how the engine is run and what it prints, not what a
//! target does.
//!
//! The engine is LLVM's libFuzzer. A stable toolchain can insert its counters (a code generation option does it); what it
//! lacks are the sanitizers, which find little in code without `unsafe`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};

use crate::cargo::cargo;
use crate::words::{Words, help};
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask fuzz [OPTIONS]

  --target NAME   this target only; may be repeated
  --seconds N     how long each target runs (default: 8)
  --seed N        the seed of the mutations (default: 1)
  --known         run only the committed inputs, once each, in an ordinary build (what CI does)
  --minimise      run nothing; put the fewest inputs that reach all that is known into fuzz/corpus
  --list          name the targets";

/// Each target, and the longest input that it is given.
pub(crate) const TARGETS: [(&str, usize); 16] = [
    ("http", 4096),
    ("stdio", 4096),
    ("lines", 1024),
    ("sse", 1024),
    ("message", 2048),
    ("trace", 2048),
    ("header", 512),
    ("oauth", 1024),
    ("schema", 1024),
    ("translate", 2048),
    ("splice", 1024),
    ("gateway_file", 2048),
    ("lock", 2048),
    ("guard", 2048),
    ("filter", 512),
    ("eval", 2048),
];

/// Counters at every edge, and comparisons reported to the engine; the build scripts are spared by naming the target machine.
const COUNTED: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing";

const NO_BUILD: &str = "the fuzz targets do not build; libFuzzer wants a C++ compiler (apt-get install g++)";

/// Seconds that one input may take, and MiB that the process may have.
const PATIENCE: u32 = 10;
const MEMORY: u32 = 1024;

/// What to run, and for how long.
pub(crate) struct Options {
    targets: Vec<String>,
    /// How long each target runs.
    seconds: u64,
    /// The seed of the mutations.
    seed: u64,
    task: Task,
}

/// What is done with each target.
#[derive(Clone, Copy, PartialEq)]
enum Task {
    /// New inputs are looked for.
    Search,
    /// The committed inputs are run.
    Known,
    /// The committed inputs are replaced by the fewest that reach as much.
    Minimise,
}

impl Default for Options {
    fn default() -> Self {
        Self { targets: Vec::new(), seconds: 8, seed: 1, task: Task::Search }
    }
}

impl Options {
    /// Every target, so long each.
    pub(crate) fn lasting(seconds: u64, seed: u64) -> Self {
        Self { seconds, seed, ..Self::default() }
    }

    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut options = Self::default();
        let mut words = Words::of(args, USAGE);
        while let Some(option) = words.option() {
            match option {
                "--known" => options.task = Task::Known,
                "--minimise" => options.task = Task::Minimise,
                "--target" => options.targets.push(words.value()?.to_owned()),
                "--seconds" => options.seconds = words.number()?,
                "--seed" => options.seed = words.number()?,
                _ => return Err(words.unknown()),
            }
        }
        if let Some(name) = options.targets.iter().find(|name| TARGETS.iter().all(|(known, _)| known != name)) {
            bail!("there is no target {name:?}; `cargo xtask fuzz --list` names them");
        }
        ensure!(options.seconds > 0, "--seconds: expected at least 1");
        Ok(options)
    }
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    match args {
        [arg] if arg == "--list" => TARGETS.iter().for_each(|(name, _)| println!("{name}")),
        _ => return Ok(all(&Options::parse(args)?)?.iter().all(|line| line.well)),
    }
    Ok(true)
}

/// How one target ended, in words, and whether it found nothing.
pub(crate) struct Line {
    pub(crate) well: bool,
    pub(crate) text: String,
}

/// Runs the chosen targets, and prints a line for each.
pub(crate) fn all(options: &Options) -> anyhow::Result<Vec<Line>> {
    let programs = if options.task == Task::Known { build_plain()? } else { build()? };
    let mut lines = Vec::new();
    for (name, longest) in &TARGETS {
        if !options.targets.is_empty() && !options.targets.iter().any(|target| target == name) {
            continue;
        }
        let target = Target::new(&programs, name, *longest)?;
        let line = match options.task {
            Task::Search => target.run(options)?,
            Task::Known => target.replay()?,
            Task::Minimise => target.minimise()?,
        };
        println!("{}", line.text);
        lines.push(line);
    }
    Ok(lines)
}

/// Builds the targets without counters, from what the tests have built already, and gives the folder that they lie in.
fn build_plain() -> anyhow::Result<PathBuf> {
    let target = root().join("target");
    let mut cargo = cargo();
    cargo.args(["build", "--quiet", "--locked", "--target-dir"]).arg(&target).current_dir(root().join("fuzz"));
    let built = cargo.status().context("cannot start cargo")?;
    ensure!(built.success(), "{NO_BUILD}");
    Ok(target.join("debug"))
}

/// Builds the targets and gives the folder that they lie in.
fn build() -> anyhow::Result<PathBuf> {
    let machine = machine()?;
    let folder = root().join("fuzz");
    let mut cargo = cargo();
    cargo.args(["build", "--quiet", "--release", "--locked", "--target", &machine]).current_dir(&folder);
    cargo
        .arg("--target-dir")
        .arg(folder.join("target"))
        .env("RUSTFLAGS", COUNTED)
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    let built = cargo.status().context("cannot start cargo")?;
    ensure!(built.success(), "{NO_BUILD}");
    Ok(folder.join("target").join(machine).join("release"))
}

/// The machine that rustc builds for, as it calls it.
fn machine() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("cannot start rustc")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say what machine this is")
}

/// One target and its places.
struct Target<'n> {
    name: &'n str,
    program: PathBuf,
    longest: usize,
    /// What is committed.
    seeds: PathBuf,
    /// What was found, kept from run to run.
    found: PathBuf,
    /// What made the target fail.
    failures: PathBuf,
    log: PathBuf,
}

impl<'n> Target<'n> {
    fn new(programs: &Path, name: &'n str, longest: usize) -> anyhow::Result<Self> {
        let (fuzz, kept) = (root().join("fuzz"), root().join("fuzz/target/kept"));
        let target = Self {
            name,
            program: programs.join(name),
            longest,
            seeds: fuzz.join("corpus").join(name),
            found: kept.join("corpus").join(name),
            failures: kept.join("failures").join(name),
            log: kept.join(format!("{name}.log")),
        };
        for folder in [&target.seeds, &target.found, &target.failures] {
            fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        Ok(target)
    }

    /// The engine with the arguments that every use of it has, its words going to the log.
    fn engine(&self) -> anyhow::Result<Command> {
        let log = File::create(&self.log).with_context(|| format!("cannot write {}", self.log.display()))?;
        let mut engine = Command::new(&self.program);
        engine.arg(format!("-max_len={}", self.longest)).arg(format!("-timeout={PATIENCE}"));
        engine
            .arg(format!("-rss_limit_mb={MEMORY}"))
            .arg(format!("-dict={}", root().join("fuzz/words.dict").display()));
        engine.arg(format!("-artifact_prefix={}/", self.failures.display()));
        engine.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        Ok(engine)
    }

    fn run(&self, options: &Options) -> anyhow::Result<Line> {
        let mut engine = self.engine()?;
        engine.arg(format!("-max_total_time={}", options.seconds)).arg(format!("-seed={}", options.seed));
        let status = engine.args([&self.found, &self.seeds]).status().context("the target does not start")?;
        let said = String::from_utf8_lossy(&fs::read(&self.log)?).into_owned();
        if !status.success() {
            return Ok(self.failure(&said));
        }
        let (first, last) = (Progress::read(&said, "INITED"), Progress::read(&said, "DONE"));
        let (first, last) = first.zip(last).with_context(|| format!("no figures in {}", self.log.display()))?;
        ensure!(last.edges > 100, "{}: {} edges seen; the counters are not in", self.name, last.edges);
        let text = format!(
            "{:<12} {:>8} inputs, {:>6}/s; edges {:>5} (+{}); corpus {:>4} (+{})",
            self.name,
            last.inputs,
            last.inputs / options.seconds,
            last.edges,
            last.edges.saturating_sub(first.edges),
            last.kept,
            last.kept.saturating_sub(first.kept),
        );
        Ok(Line { well: true, text })
    }

    /// Runs what is committed, each input once.
    fn replay(&self) -> anyhow::Result<Line> {
        let inputs = fs::read_dir(&self.seeds)?.map(|file| Ok(file?.path())).collect::<anyhow::Result<Vec<_>>>()?;
        ensure!(!inputs.is_empty(), "{}: no input is committed in {}", self.name, self.seeds.display());
        let status = self.engine()?.args(&inputs).status().context("the target does not start")?;
        if !status.success() {
            return Ok(self.failure(&String::from_utf8_lossy(&fs::read(&self.log)?)));
        }
        Ok(Line { well: true, text: format!("{:<12} {:>8} inputs", self.name, inputs.len()) })
    }

    fn failure(&self, said: &str) -> Line {
        let why =
            said.lines().skip_while(|line| !line.contains("panicked at")).take(3).collect::<Vec<_>>().join("\n    ");
        let why = if why.is_empty() { said.lines().find(|line| line.contains("ERROR")).unwrap_or("?") } else { &why };
        let unit = said.lines().find_map(|line| line.split_once("Test unit written to ")).map_or("?", |(_, path)| path);
        let (program, log) = (self.program.display(), self.log.display());
        let text = format!("{:<12} FAILED\n    {why}\n    log:    {log}\n    repeat: {program} {unit}", self.name);
        Line { well: false, text }
    }

    /// Puts a least set of inputs that reaches all that seeds and finds reach in the place of the seeds.
    fn minimise(&self) -> anyhow::Result<Line> {
        let fewer = self.seeds.with_extension("fewer");
        fs::create_dir_all(&fewer)?;
        let status = self.engine()?.arg("-merge=1").arg(&fewer).args([&self.seeds, &self.found]).status()?;
        ensure!(status.success(), "{}: merging failed; see {}", self.name, self.log.display());
        fs::remove_dir_all(&self.seeds)?;
        fs::rename(&fewer, &self.seeds)?;
        let sizes =
            fs::read_dir(&self.seeds)?.map(|file| Ok(file?.metadata()?.len())).collect::<anyhow::Result<Vec<_>>>();
        let sizes = sizes?;
        let text = format!("{:<12} {} inputs, {} bytes", self.name, sizes.len(), sizes.iter().sum::<u64>());
        Ok(Line { well: true, text })
    }
}

/// One of the lines in which the engine says how far it is.
#[derive(Debug, PartialEq)]
struct Progress {
    inputs: u64,
    edges: u64,
    kept: u64,
}

impl Progress {
    /// The last line of this kind: `#123 DONE cov: 45 ft: 67 corp: 8/90b …`.
    fn read(said: &str, kind: &str) -> Option<Self> {
        let line = said.lines().rfind(|line| line.starts_with('#') && line.split_whitespace().nth(1) == Some(kind))?;
        let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
        let after = |name: &str| line.split_once(name).and_then(|(_, rest)| number(rest.trim_start()));
        Some(Self { inputs: number(&line[1..])?, edges: after("cov:")?, kept: after("corp:")? })
    }
}

#[cfg(test)]
mod tests {
    use super::Progress;

    #[test]
    fn the_engines_figures_are_read() {
        let said = "INFO: x\n#2\tINITED cov: 7 ft: 8 corp: 1/1b exec/s: 0 rss: 30Mb\n#9\tNEW    cov: 8 ft: 9 corp: 2/2b\n\
            #4096\tDONE   cov: 12 ft: 34 corp: 5/67b lim: 8 exec/s: 409 rss: 31Mb\n";
        assert_eq!(Progress::read(said, "INITED"), Some(Progress { inputs: 2, edges: 7, kept: 1 }));
        assert_eq!(Progress::read(said, "DONE"), Some(Progress { inputs: 4096, edges: 12, kept: 5 }));
        assert_eq!(Progress::read(said, "pulse"), None);
    }
}

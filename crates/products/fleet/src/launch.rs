//! The command lines of `proof` that a gate is computed by. Pure: paths and variables are given, nothing is started or read.

use std::path::{Path, PathBuf};

use crate::config::{Fleet, Launch, Server, Text};
use crate::gate::GateKind;

/// A run of `proof`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The arguments of `proof`.
    pub args: Vec<String>,
    /// The file that the report is written to; `None` where it is on stdout.
    pub output: Option<PathBuf>,
    /// Where it runs; `None` for the job's own folder.
    pub cwd: Option<PathBuf>,
}

/// The folder that a server's command runs in.
pub fn folder(fleet: &Fleet, server: &Server) -> PathBuf {
    server.cwd.as_ref().map_or_else(|| fleet.folder.clone(), |cwd| fleet.folder.join(cwd))
}

/// The words that start the server, the program first; `None` where it has a URL or nothing says how.
pub fn words(server: &Server) -> Option<Vec<String>> {
    match &server.launch {
        Launch::Command(words) => Some(words.clone()),
        Launch::Served(words) => {
            Some(["proof", "serve"].into_iter().map(str::to_owned).chain(words.iter().cloned()).collect())
        }
        Launch::Url(_) | Launch::Unknown => None,
    }
}

/// The target as a person types it.
pub fn typed(server: &Server) -> String {
    match (&server.launch, words(server)) {
        (Launch::Url(url), _) => quoted(url),
        (_, Some(words)) => format!("-- {}", quoted_words(&words)),
        _ => String::new(),
    }
}

/// A word for a shell: one word, whatever is in it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Words for a shell.
pub fn quoted_words(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A path for a shell, which no program takes for an option.
pub fn quoted_path(path: &str) -> String {
    if path.starts_with('-') { quoted(&format!("./{path}")) } else { quoted(path) }
}

/// The variables of the child, in addition to the minimum: each name with its value or the variable that holds it.
pub fn variables(server: &Server) -> Vec<(String, Text)> {
    let of_bearer = server.bearer.iter().map(|name| (name.clone(), Text::Variable { env: name.clone() }));
    server.env.iter().map(|(name, value)| (name.clone(), value.clone())).chain(of_bearer).collect()
}

/// What a gate runs, in order; empty where it needs no run. `Err`: the entry lacks what the gate is computed from.
pub fn invocations(
    gate: GateKind,
    fleet: &Fleet,
    server: &Server,
    work: &Path,
) -> Result<Vec<Invocation>, &'static str> {
    if server.launch == Launch::Unknown && gate != GateKind::Listed {
        return Err("the entry does not say how the server is reached");
    }
    let build = Build { fleet, server, work };
    Ok(match gate {
        GateKind::Listed => Vec::new(),
        GateKind::Starts => vec![build.snapshot()],
        GateKind::Described => vec![build.lint()],
        GateKind::Conforms => vec![build.check()],
        GateKind::Tested => vec![build.test("tests-1.json")?, build.test("tests-2.json")?],
        GateKind::Scanned => vec![build.scan()],
        GateKind::Locked => vec![build.lock()?],
        GateKind::Fast => vec![build.snapshot(), build.test("tests-1.json")?, build.test("tests-2.json")?],
        GateKind::Ready => vec![build.ready()],
        GateKind::Evaluated => vec![build.score()?],
        GateKind::Signed => vec![build.verify()?],
    })
}

struct Build<'b> {
    fleet: &'b Fleet,
    server: &'b Server,
    work: &'b Path,
}

impl Build<'_> {
    /// The start of a command line that writes a JSON report to a file of the job's folder.
    fn reporting(&self, verb: &[&str], file: &str) -> Invocation {
        let output = self.work.join(file);
        let mut args: Vec<String> = verb.iter().map(|&word| word.to_owned()).collect();
        args.extend(["--output".to_owned(), output.display().to_string()]);
        Invocation { args, output: Some(output), cwd: None }
    }

    fn path(&self, path: &str) -> String {
        self.fleet.path(path).display().to_string()
    }

    /// Adds how to connect, and the target.
    fn at_server(&self, mut invocation: Invocation) -> Invocation {
        let args = &mut invocation.args;
        if let Some(bearer) = &self.server.bearer {
            args.extend(["--bearer-env".to_owned(), bearer.clone()]);
        }
        match (&self.server.launch, words(self.server)) {
            (Launch::Url(url), _) => args.push(url.clone()),
            (_, Some(words)) => {
                for name in self.server.env.keys() {
                    args.extend(["--inherit-env".to_owned(), name.clone()]);
                }
                args.extend([
                    "--cwd".to_owned(),
                    folder(self.fleet, self.server).display().to_string(),
                    "--".to_owned(),
                ]);
                args.extend(words);
            }
            _ => {}
        }
        invocation
    }

    fn snapshot(&self) -> Invocation {
        self.at_server(self.reporting(&["snapshot"], "snapshot.json"))
    }

    fn lint(&self) -> Invocation {
        self.at_server(self.reporting(&["eval", "lint", "--format", "json"], "lint.json"))
    }

    fn check(&self) -> Invocation {
        let mut check = self.reporting(&["check", "--format", "json", "--max-time"], "check.json");
        // The check ends by itself, with a report, before the job is killed.
        let seconds = (self.fleet.limits.seconds * 9 / 10).clamp(1, 3600);
        check.args.insert(4, seconds.to_string());
        if !self.server.revisions.is_empty() {
            check.args.extend(["--revision".to_owned(), self.server.revisions.join(",")]);
        }
        for (option, file) in [("--hints", &self.server.hints), ("--baseline", &self.server.baseline)] {
            check.args.extend(file.iter().flat_map(|file| [option.to_owned(), self.path(file)]));
        }
        self.at_server(check)
    }

    fn test(&self, file: &str) -> Result<Invocation, &'static str> {
        if self.server.tests.is_empty() {
            return Err("the entry names no `tests`; `proof generate` makes some");
        }
        let mut test = self.reporting(&["test", "--coverage", "--format", "json"], file);
        for (name, _) in variables(self.server) {
            test.args.extend(["--inherit-env".to_owned(), name]);
        }
        test.args.extend(self.server.tests.iter().map(|path| self.path(path)));
        Ok(test)
    }

    fn scan(&self) -> Invocation {
        let mut scan = self.reporting(&["scan", "--format", "json"], "scan.json");
        scan.args.extend(["--fail-on".to_owned(), self.fleet.thresholds.severity.clone()]);
        let suppressions = self.fleet.folder.join(".proof/scan.toml");
        if suppressions.is_file() {
            scan.args.extend(["--suppressions".to_owned(), suppressions.display().to_string()]);
        }
        if words(self.server).is_some() {
            scan.args.extend(["--config".to_owned(), self.work.join("launch.json").display().to_string()]);
        }
        self.at_server(scan)
    }

    fn lock(&self) -> Result<Invocation, &'static str> {
        let Some(lock) = &self.server.lock else { return Err("the entry names no `lock`; `proof lock` makes one") };
        let args = ["lock", "--check", "--format", "json", "-o"].map(str::to_owned).to_vec();
        let mut lock_check = Invocation { args, output: None, cwd: None };
        lock_check.args.push(self.path(lock));
        Ok(self.at_server(lock_check))
    }

    fn ready(&self) -> Invocation {
        let mut args = ["ready", "--json"].map(str::to_owned).to_vec();
        args.extend(self.server.admin.iter().flat_map(|admin| ["--admin".to_owned(), admin.clone()]));
        match (&self.server.ready, &self.server.launch, words(self.server)) {
            (Some(target), ..) if target.contains("://") => args.push(target.clone()),
            (Some(target), ..) => args.push(self.path(target)),
            (None, Launch::Url(url), _) => args.push(url.clone()),
            (None, _, words) => args.extend(std::iter::once("--".to_owned()).chain(words.unwrap_or_default())),
        }
        Invocation { args, output: None, cwd: Some(folder(self.fleet, self.server)) }
    }

    fn score(&self) -> Result<Invocation, &'static str> {
        let Some(evaluation) = &self.server.evaluation else { return Err("the entry names no `evaluation`") };
        let mut score = self.reporting(&["eval", "score", "--format", "json"], "score.json");
        score.args.extend(["--min-score".to_owned(), self.fleet.thresholds.score.to_string()]);
        score.args.extend(["--calls".to_owned(), self.path(&evaluation.calls), self.path(&evaluation.cases)]);
        Ok(score)
    }

    fn verify(&self) -> Result<Invocation, &'static str> {
        let Some(manifest) = &self.server.manifest else {
            return Err("the entry names no `manifest`; `proof sign` makes one");
        };
        let mut args = ["verify", "--format", "json", "--keys"].map(str::to_owned).to_vec();
        args.extend([self.path(&manifest.keys), self.path(&manifest.file)]);
        Ok(self.at_server(Invocation { args, output: None, cwd: None }))
    }
}

/// The files that a gate's result depends on, besides the server.
pub fn files(gate: GateKind, fleet: &Fleet, server: &Server) -> Vec<PathBuf> {
    let paths = |members: &[&Option<String>]| {
        members.iter().filter_map(|path| path.as_deref()).map(|path| fleet.path(path)).collect()
    };
    match gate {
        GateKind::Listed | GateKind::Starts | GateKind::Described => Vec::new(),
        GateKind::Conforms => paths(&[&server.hints, &server.baseline]),
        GateKind::Tested | GateKind::Fast => server.tests.iter().map(|path| fleet.path(path)).collect(),
        GateKind::Scanned => vec![fleet.folder.join(".proof/scan.toml")],
        GateKind::Locked => paths(&[&server.lock]),
        GateKind::Ready => {
            server.ready.iter().filter(|target| !target.contains("://")).map(|path| fleet.path(path)).collect()
        }
        GateKind::Evaluated => {
            server.evaluation.iter().flat_map(|one| [fleet.path(&one.cases), fleet.path(&one.calls)]).collect()
        }
        GateKind::Signed => {
            server.manifest.iter().flat_map(|one| [fleet.path(&one.file), fleet.path(&one.keys)]).collect()
        }
    }
}

/// The launch as an entry of a client, for the scan of it: without variables.
pub fn client_configuration(server: &Server) -> Option<serde_json::Value> {
    let words = words(server)?;
    let (command, args) = words.split_first()?;
    let mut servers = serde_json::Map::new();
    servers.insert(server.name.clone(), serde_json::json!({ "command": command, "args": args }));
    Some(serde_json::json!({ "mcpServers": servers }))
}

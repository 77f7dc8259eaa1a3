//! `cargo xtask scan-intrusive`: `proof scan --intrusive` on the servers of `peers/vulnerable`. Each is found by its rules, its
//! hardened twin has no finding at all, and nothing that was planted is left.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::peers::{build_for_development, free_port, proof};
use crate::words::{Words, help};
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask scan-intrusive [--proof PATH]

  --proof PATH   use this binary instead of building `proof` first; needs `node`, 18 or newer";

/// A vulnerable server, and what it must be found by.
pub(crate) struct Weak {
    pub(crate) file: &'static str,
    pub(crate) rules: &'static [&'static str],
    /// The folder below its root in which it serves files.
    folder: Option<&'static str>,
    has_site: bool,
    /// A tool of the twin that rejects every call: it must be reported as one that was not tried.
    rejects: Option<&'static str>,
}

const fn weak(file: &'static str, rules: &'static [&'static str]) -> Weak {
    Weak { file, rules, folder: None, has_site: false, rejects: None }
}

/// The servers of `peers/vulnerable`.
pub(crate) const WEAK: [Weak; 5] = [
    Weak {
        rejects: Some("share_notes"),
        ..weak("injection.mjs", &["scan.argument-injection", "scan.command-injection"])
    },
    Weak { folder: Some("data"), ..weak("traversal.mjs", &["scan.path-traversal"]) },
    Weak { has_site: true, ..weak("ssrf.mjs", &["scan.ssrf"]) },
    weak("rugpull.mjs", &["scan.changing-definition"]),
    weak("state.mjs", &["scan.request-state"]),
];

/// What a scan of a server came to.
pub(crate) struct Scanned {
    pub(crate) code: Option<i32>,
    pub(crate) report: Value,
}

impl Scanned {
    /// The rules that called the server, with findings of at least a severity.
    pub(crate) fn found(&self, severities: &[&str]) -> BTreeSet<String> {
        let results = self.report["results"].as_array().into_iter().flatten();
        let counts = |one: &&Value| {
            let of = |member: &str| one[member].as_str().unwrap_or_default();
            severities.contains(&of("severity")) && self.report["tried"].get(of("rule")).is_some()
        };
        results.filter(counts).map(|one| one["rule"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// How often a rule tried.
    pub(crate) fn tried(&self, rule: &str) -> u64 {
        self.report["tried"][rule].as_u64().unwrap_or_default()
    }
}

/// Runs `proof scan --intrusive` with these words in a folder.
pub(crate) fn scanned(proof: &Path, folder: &Path, words: &[String]) -> anyhow::Result<Scanned> {
    let mut scan = Command::new(proof);
    scan.current_dir(folder).args(["scan", "--intrusive", "--format", "json"]).args(words).stdin(Stdio::null());
    let ran = scan.output().context("proof does not start")?;
    let report = serde_json::from_slice(&ran.stdout)
        .with_context(|| format!("no report: {}", String::from_utf8_lossy(&ran.stderr)))?;
    Ok(Scanned { code: ran.status.code(), report })
}

/// A folder below the system's temporary folder, removed when it is dropped.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("scan-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Scans a vulnerable server, or its twin.
pub(crate) fn vulnerable(proof: &Path, weak: &Weak, is_hardened: bool) -> anyhow::Result<Scanned> {
    let name = if is_hardened { "hardened" } else { "weak" };
    let scratch = Scratch::new(&format!("{}-{name}", weak.file))?;
    let folder = &scratch.0;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let (mut options, mut of_server) = (Vec::new(), vec!["--root".to_owned(), text(folder)]);
    if let Some(served) = weak.folder {
        fs::create_dir_all(folder.join(served))?;
        options.extend(["--plant".to_owned(), text(&folder.join(served))]);
    }
    if weak.has_site {
        let site = format!("127.0.0.2:{}", free_port()?);
        of_server.extend(["--site".to_owned(), format!("http://{site}")]);
        options.extend(["--site".to_owned(), site]);
    }
    of_server.extend(is_hardened.then(|| "--hardened".to_owned()));
    let script = root().join("peers/vulnerable").join(weak.file);
    // Their folder is new: examples of paths in descriptions lead nowhere else.
    options.extend(["--call", "all", "--inherit-env", "TMPDIR"].map(str::to_owned));
    options.extend(["--".to_owned(), "node".to_owned(), text(&script)]);
    let scanned = scanned(proof, folder, &[options, of_server].concat())?;
    let left = planted_below(folder)?;
    ensure!(left.is_empty(), "left behind: {}", left.join(", "));
    Ok(scanned)
}

/// What is left of what was planted.
fn planted_below(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            found.extend(planted_below(&entry.path())?);
        }
        if name.contains("proof-") {
            found.push(name);
        }
    }
    Ok(found)
}

/// What is wrong with the scan of a server; empty where nothing is.
pub(crate) fn complaint(weak: &Weak, is_hardened: bool, scanned: &Scanned) -> Option<String> {
    let all = scanned.found(&["info", "low", "medium", "high"]);
    let expected: BTreeSet<String> =
        if is_hardened { BTreeSet::new() } else { weak.rules.iter().map(|rule| (*rule).to_owned()).collect() };
    let untried: Vec<_> = weak.rules.iter().filter(|rule| scanned.tried(rule) == 0).copied().collect();
    if !untried.is_empty() {
        return Some(format!("was not tried: {}", untried.join(", ")));
    }
    if all != expected || (!is_hardened && scanned.found(&["high"]) != expected) {
        return Some(format!("expected {expected:?}, found {all:?}"));
    }
    let incomplete = scanned.report["incomplete"].as_array().map_or(&[][..], Vec::as_slice);
    let says =
        |what: &Value, name: &str| what.as_str().is_some_and(|what| what.contains(&format!("no call of {name}")));
    let rejects = weak.rejects.filter(|_| is_hardened);
    let as_expected = match (rejects, incomplete) {
        (None, []) => true,
        (Some(name), [one]) => says(one, name),
        _ => false,
    };
    let code = i32::from(!is_hardened || rejects.is_some());
    if scanned.code != Some(code) || !as_expected {
        return Some(format!("expected exit code {code}, got {:?}: {incomplete:?}", scanned.code));
    }
    None
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let mut given = None;
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--proof" => given = Some(PathBuf::from(words.value()?)),
            _ => return Err(words.unknown()),
        }
    }
    let proof = match given {
        Some(path) => proof(Some(&path))?,
        None => build_for_development()?,
    };
    let mut well = true;
    for weak in &WEAK {
        for is_hardened in [false, true] {
            let name = if is_hardened { "hardened" } else { "weak" };
            let said = match vulnerable(&proof, weak, is_hardened) {
                Ok(scanned) => complaint(weak, is_hardened, &scanned),
                Err(error) => Some(format!("{error:#}")),
            };
            well &= said.is_none();
            println!("{:<15} {name:<9} {}", weak.file, said.as_deref().unwrap_or("as expected"));
        }
    }
    Ok(well)
}

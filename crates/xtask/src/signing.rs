//! `cargo xtask signing`: manifests that `proof` signs, verified by other implementations of JWS, and the reverse. Each is also
//! changed afterwards, and must then be refused. Installs `jose` (Node) and `joserfc` (Python) under `.peers/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::peers::{Home, proof};
use crate::words::{Words, help};
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask signing [--proof PATH]

  --proof PATH   use this binary instead of building `proof` first";

/// The algorithms of `proof keygen`, and the names of algorithms that others sign with.
const OURS: [&str; 2] = ["eddsa", "es256"];
const THEIRS: [&str; 3] = ["EdDSA", "Ed25519", "ES256"];

/// What is needed for one crossing after the other.
struct Workplace {
    proof: PathBuf,
    folder: PathBuf,
    /// The implementations, each with its command.
    tools: [(&'static str, Vec<String>); 2],
    tried: usize,
    complaints: Vec<String>,
}

/// Plays all crossings.
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
    let home = Home::new(&root());
    let tools = home.install_signing()?;
    let folder = home.files().join("signing");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut place = Workplace { proof: proof(given.as_deref())?, folder, tools, tried: 0, complaints: Vec::new() };
    place.prepare()?;
    for (name, tool) in place.tools.clone() {
        OURS.iter().try_for_each(|alg| place.theirs_verifies_ours(name, &tool, alg))?;
        THEIRS.iter().try_for_each(|alg| place.ours_verifies_theirs(name, &tool, alg))?;
    }
    println!("signing: {} verifications, {} wrong", place.tried, place.complaints.len());
    place.complaints.iter().for_each(|what| println!("  {what}"));
    Ok(place.complaints.is_empty())
}

impl Workplace {
    /// Runs a command in the folder; whether it ended well.
    fn ends_well(&self, words: &[String]) -> anyhow::Result<bool> {
        let (program, arguments) = words.split_first().context("no command")?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        Ok(status.with_context(|| format!("cannot start {program}"))?.success())
    }

    fn proof(&self, arguments: &[&str]) -> anyhow::Result<bool> {
        let program = self.proof.to_string_lossy().into_owned();
        self.ends_well(&[&[program][..], &arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()].concat())
    }

    fn tool(&self, tool: &[String], arguments: &[&str]) -> anyhow::Result<bool> {
        self.ends_well(&[tool, &arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()].concat())
    }

    /// Locks the reference server and makes our keys.
    fn prepare(&self) -> anyhow::Result<()> {
        for file in ["mcp.lock", "eddsa.pem", "es256.pem"] {
            let _ = fs::remove_file(self.folder.join(file));
        }
        let server = self.proof.to_string_lossy().into_owned();
        ensure!(self.proof(&["lock", "--", &server, "serve", "--stdio"])?, "the reference server cannot be locked");
        for alg in OURS {
            let (key, public) = (format!("{alg}.pem"), format!("{alg}.json"));
            ensure!(self.proof(&["keygen", "--alg", alg, "-o", &key, "--public", &public])?, "no key of {alg}");
        }
        Ok(())
    }

    fn sign(&self, alg: &str) -> anyhow::Result<()> {
        let made =
            self.proof(&["sign", "--key", &format!("{alg}.pem"), "--provider", "Überall 😀", "-o", "manifest.json"])?;
        ensure!(made, "the manifest cannot be signed with {alg}");
        Ok(())
    }

    fn theirs_verifies_ours(&mut self, name: &str, tool: &[String], alg: &str) -> anyhow::Result<()> {
        self.sign(alg)?;
        let keys = format!("{alg}.json");
        let good = self.tool(tool, &["verify", "manifest.json", &keys])?;
        change(&self.folder.join("manifest.json"))?;
        let changed = self.tool(tool, &["verify", "manifest.json", &keys])?;
        self.note(&format!("{name} verifies {alg} of proof"), good, changed);
        Ok(())
    }

    fn ours_verifies_theirs(&mut self, name: &str, tool: &[String], alg: &str) -> anyhow::Result<()> {
        self.sign("eddsa")?;
        ensure!(self.tool(tool, &["sign", alg, "manifest.json", "theirs.json"])?, "{name} does not sign with {alg}");
        let good = self.proof(&["verify", "manifest.json", "--keys", "theirs.json"])?;
        change(&self.folder.join("manifest.json"))?;
        let changed = self.proof(&["verify", "manifest.json", "--keys", "theirs.json"])?;
        self.note(&format!("proof verifies {alg} of {name}"), good, changed);
        Ok(())
    }

    fn note(&mut self, what: &str, good: bool, changed: bool) {
        println!("{what:<40} {}", if good && !changed { "ok" } else { "WRONG" });
        self.tried += 2;
        if !good {
            self.complaints.push(format!("{what}: a good manifest is refused"));
        }
        if changed {
            self.complaints.push(format!("{what}: a changed manifest passes"));
        }
    }
}

/// Changes the provider of a manifest.
fn change(path: &Path) -> anyhow::Result<()> {
    let mut manifest: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    manifest["provider"]["name"] = "Someone".into();
    fs::write(path, manifest.to_string()).with_context(|| format!("cannot write {}", path.display()))
}

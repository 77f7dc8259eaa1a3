//! `cargo xtask clients-peers --add-mcp`: add-mcp and `proof` change the same forty files; what each lost goes to
//! docs/clients-compared.md.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;

use super::files::{CASES, Case, Style};
use super::judged::{Counts, MEASURES, Ran, Seen, judged};
use crate::peers::Home;
use crate::{Verdict, root};

/// A secret that new files are given in clear, because their clients have no references.
const SECRET: &str = "f3c1a97b20d84e6655aa";

/// Runs both installers; well is what `proof` loses nothing of.
pub(super) fn run(home: &Home, proof: &Path) -> Verdict {
    let (node, script) = home.install_add_mcp()?;
    let theirs = Installer::AddMcp { node, script };
    let ours = Installer::Proof(proof.to_owned());
    let mut rows = Vec::new();
    for case in &CASES {
        let folder = home.files().join("compared");
        let counts = |installer: &Installer| anyhow::Ok(judged(case, &installer.try_on(case, &folder)?));
        rows.push((case, counts(&theirs)?, counts(&ours)?));
    }
    fs::write(root().join("docs/clients-compared.md"), page(&rows)?)?;
    println!("docs/clients-compared.md");
    Ok(rows.iter().all(|(.., ours)| *ours == Counts::default()))
}

enum Installer {
    AddMcp { node: PathBuf, script: PathBuf },
    Proof(PathBuf),
}

impl Installer {
    /// Adds a server to the file of a user who has nothing else, adds another, and removes both.
    fn try_on(&self, case: &Case, folder: &Path) -> anyhow::Result<Ran> {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder.join("project")).with_context(|| format!("cannot make {}", folder.display()))?;
        let file = folder.join(case.client.file);
        put(case, &file, &folder.join("elsewhere"))?;
        let before = seen(&file);
        let is_reported = self.change(folder, &self.adding(case, "weather", "1.2.3"))?;
        let added = seen(&file);
        // With another change between, no installer can put the old text back as a whole.
        self.change(folder, &self.adding(case, "forecast", "1.0.0"))?;
        for name in ["weather", "forecast"] {
            self.change(folder, &self.removing(case, name))?;
        }
        Ok(Ran { before, added, is_reported, removed: seen(&file) })
    }

    fn adding(&self, case: &Case, name: &str, version: &str) -> Vec<String> {
        let package = format!("{name}-mcp@{version}");
        let env = match case.style {
            Style::New => format!("WEATHER_TOKEN={SECRET}"),
            _ if case.client.reference.is_empty() => "MODE=fast".to_owned(),
            _ => "WEATHER_TOKEN=${WEATHER_TOKEN}".to_owned(),
        };
        match self {
            Self::AddMcp { .. } => {
                let command = format!("npx -y {package}");
                strings(&[&command, "-g", "-y", "--name", name, "-a", case.client.theirs, "--env", &env])
            }
            Self::Proof(_) => {
                let words = ["add", name, "--client", case.client.id, "--scope", "user", "--no-verify"];
                strings(&[&words[..], &["--clear-secrets", "--env", &env, "--", "npx", "-y", &package]].concat())
            }
        }
    }

    fn removing(&self, case: &Case, name: &str) -> Vec<String> {
        match self {
            Self::AddMcp { .. } => strings(&["remove", name, "-g", "-y", "-a", case.client.theirs]),
            Self::Proof(_) => strings(&["remove", name, "--client", case.client.id]),
        }
    }

    /// Runs one command; `true` where it reports success.
    fn change(&self, folder: &Path, words: &[String]) -> anyhow::Result<bool> {
        let mut command = match self {
            Self::AddMcp { node, script } => {
                let mut command = super::command(node, folder);
                command.arg(script);
                command
            }
            Self::Proof(proof) => super::command(proof, folder),
        };
        let quiet = |command: &mut Command| command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        Ok(quiet(command.args(words)).context("an installer does not start")?.success())
    }
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Puts the file of a case in its place.
fn put(case: &Case, file: &Path, elsewhere: &Path) -> anyhow::Result<()> {
    let Some(text) = case.text() else { return Ok(()) };
    fs::create_dir_all(file.parent().unwrap_or(file))?;
    if case.style == Style::Link {
        fs::write(elsewhere, text)?;
        return Ok(symlink(elsewhere, file)?);
    }
    fs::write(file, text)?;
    let mode = if case.style == Style::Private { 0o600 } else { 0o644 };
    Ok(fs::set_permissions(file, fs::Permissions::from_mode(mode))?)
}

fn seen(file: &Path) -> Seen {
    Seen {
        text: fs::read_to_string(file).unwrap_or_default(),
        mode: file.metadata().ok().map(|found| found.permissions().mode() & 0o777),
        is_link: file.symlink_metadata().is_ok_and(|found| found.is_symlink()),
    }
}

type Row<'r> = (&'r Case, Counts, Counts);

const HEAD: &str = "# `proof add` beside add-mcp

Made by `cargo xtask clients-peers --add-mcp` on {today}, with add-mcp 2.4.0 from npm.

Both installers add a server to the same 40 files, add another one, and remove both by their names. Each file is that of a user
who has nothing else; in most, another server is called `weather-eu`. Comments, other servers and settings carry marks, which
are looked for afterwards; the files are in `crates/xtask/src/clients_peers/files.rs`. An installer that leaves a file alone loses
nothing.

`add-mcp remove weather -y` also removes `weather-eu`: it takes every server whose name contains the word. References are written
as given (`${NAME}`), which some clients do not know. TOML and YAML that do not parse are refused by both.

## What went wrong

| in 40 files | add-mcp | `proof` |
|---|---|---|
";

fn page(rows: &[Row<'_>]) -> anyhow::Result<String> {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let today: String = wire::timestamp::rfc3339(since_epoch).chars().take(10).collect();
    let mut page = HEAD.replace("{today}", &today);
    let columns = [rows.iter().map(|row| row.1).collect::<Vec<_>>(), rows.iter().map(|row| row.2).collect()];
    for (at, (name, _)) in MEASURES.iter().enumerate() {
        let [theirs, ours] = columns.each_ref().map(|files| files.iter().map(|counts| counts[at]).sum::<usize>());
        let _ = writeln!(page, "| {name} | {theirs} | {ours} |");
    }
    let clean = |files: &Vec<Counts>| files.iter().filter(|counts| **counts == Counts::default()).count();
    let [theirs, ours] = columns.each_ref().map(clean);
    let _ = writeln!(page, "| **files without any of these** | **{theirs}** | **{ours}** |");
    page.push_str("\n## By file\n\n| client | file | add-mcp | `proof` |\n|---|---|---|---|\n");
    for (case, theirs, ours) in rows {
        let _ =
            writeln!(page, "| `{}` | {} | {} | {} |", case.client.id, case.style.name(), words(theirs), words(ours));
    }
    Ok(page)
}

/// What went wrong with one file, in words.
fn words(counts: &Counts) -> String {
    let wrong: Vec<_> = MEASURES
        .iter()
        .zip(counts)
        .filter(|(_, count)| **count > 0)
        .map(|((_, unit), count)| if unit.contains(" lost") { format!("{unit}: {count}") } else { (*unit).to_owned() })
        .collect();
    if wrong.is_empty() { "–".to_owned() } else { wrong.join(", ") }
}

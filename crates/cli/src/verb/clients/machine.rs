//! Which clients and files there are on this machine. Reads no configuration.

use std::io::{ErrorKind, IsTerminal as _};
use std::path::{Component, Path, PathBuf};

use clients::{Client, Platform, Scope, Variables, clients, find};

use crate::args::clients::Selection;
use crate::args::suggestion;
use crate::exit::{Exit, prompt, usage};

/// The largest `.git` that is a file.
const LONGEST_LINK: u64 = 64 << 10;

/// The user's folders, and where this run stands.
pub(in crate::verb) struct Machine {
    pub(in crate::verb) variables: Variables<'static>,
    /// The folder of the project: that of the repository, or else the working directory.
    pub(in crate::verb) project: PathBuf,
    /// The working directory.
    pub(super) here: PathBuf,
}

/// A file of a client that exists.
pub(in crate::verb) struct Place {
    pub(in crate::verb) client: &'static Client,
    pub(in crate::verb) scope: Scope,
    pub(in crate::verb) path: PathBuf,
}

fn environment(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

impl Machine {
    pub(in crate::verb) fn here() -> Result<Self, Exit> {
        let no_home = || usage("HOME is not set, so there is no place to look for configurations", "export HOME");
        let variables = Variables::new(Platform::here(), &environment).ok_or_else(no_home)?;
        let here = std::env::current_dir().map_err(|error| {
            usage(&format!("the working directory cannot be used: {error}"), "change to a directory that exists")
        })?;
        let project = root(&here, variables.home());
        Ok(Self { variables, project, here })
    }

    /// Whether a file of the project is outside of it, by links.
    pub(super) fn leads_out(&self, path: &Path) -> bool {
        let Ok(root) = std::fs::canonicalize(&self.project) else { return true };
        // A path that never ends is invalid.
        resolved(path).is_none_or(|end| !end.starts_with(root))
    }

    /// The folder that Claude Code keeps entries of one project under: that of the repository, for all its worktrees.
    pub(in crate::verb) fn local_project(&self) -> String {
        let root = self.project.ancestors().find_map(repository).unwrap_or_else(|| self.project.clone());
        root.to_string_lossy().into_owned()
    }

    /// Whether a client is installed, as far as its folders show.
    pub(super) fn is_found(&self, client: &Client) -> bool {
        let in_project = client.project.iter().any(|file| exists(&self.nearest(file)));
        in_project || self.variables.signs(client).iter().any(|path| exists(path))
    }

    /// The file that a new server goes into: the first that exists, or else the first.
    pub(super) fn file(&self, client: &Client, scope: Scope) -> Option<PathBuf> {
        let files = self.files(client, scope);
        files.iter().find(|path| exists(path)).or(files.first()).cloned()
    }

    /// A file of the project: the nearest that exists above the working directory, or else that of the project's folder.
    fn nearest(&self, file: &str) -> PathBuf {
        let folders = self.here.ancestors().take_while(|folder| folder.starts_with(&self.project));
        let found = folders.map(|folder| folder.join(file)).find(|path| path.symlink_metadata().is_ok());
        found.unwrap_or_else(|| self.project.join(file))
    }

    fn files(&self, client: &Client, scope: Scope) -> Vec<PathBuf> {
        match scope {
            Scope::Project => client.project.iter().map(|file| self.nearest(file)).collect(),
            Scope::Local if !client.local => Vec::new(),
            Scope::Local | Scope::User => self.variables.user_files(client),
        }
    }

    /// Every file of a client that exists; servers of one project alone stand in the user's.
    pub(super) fn places(&self, client: &'static Client) -> Vec<Place> {
        let user = self.variables.user_files(client);
        // The first file of a project hides the others. In the user's own folder, it may be that of the user.
        let project = self.files(client, Scope::Project).into_iter().find(|path| exists(path));
        let real = |path: &PathBuf| std::fs::canonicalize(path).ok();
        let is_user = |path: &PathBuf| user.iter().any(|other| real(other).is_some() && real(other) == real(path));
        let project = project.filter(|path| !is_user(path));
        let user = user.iter().map(|path| (Scope::User, path.clone()));
        let all = user.chain(project.map(|path| (Scope::Project, path)));
        let found = all.filter(|(_, path)| exists(path));
        found.map(|(scope, path)| Place { client, scope, path }).collect()
    }

    /// The clients that are named, or all; `names` empty means all that are known.
    pub(super) fn named(names: &[String]) -> Result<Vec<&'static Client>, Exit> {
        if names.is_empty() {
            return Ok(clients().iter().collect());
        }
        let mut found: Vec<&Client> = names.iter().map(|name| named(name)).collect::<Result<_, _>>()?;
        found.dedup_by_key(|client| &client.id);
        Ok(found)
    }

    /// The clients that a change is for: those that are named, or those that are found. On a terminal, the user chooses.
    pub(super) fn chosen(&self, selection: &Selection) -> Result<Vec<&'static Client>, Exit> {
        if !selection.client.is_empty() {
            return Self::named(&selection.client);
        }
        let found: Vec<&Client> =
            clients().iter().filter(|client| !client.discontinued && self.is_found(client)).collect();
        if found.is_empty() {
            let remedy = "name one with --client; `proof clients` lists them";
            return Err(usage("no client was found on this machine", remedy));
        }
        if selection.all {
            return Ok(found);
        }
        let ids: Vec<_> = found.iter().map(|client| client.id.as_str()).collect();
        if is_terminal() {
            return asked(&found);
        }
        let what = format!("no client is named; found: {}", ids.join(", "));
        Err(usage(&what, &format!("--client {}, or --all", ids[0])))
    }
}

/// The nearest folder with a repository. The user's own folder counts only where the run stands in it.
fn root(here: &Path, home: &Path) -> PathBuf {
    let found = here.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok());
    found.filter(|root| *root != home).unwrap_or(here).to_owned()
}

/// Where a path ends when all links are followed, also where nothing is there yet.
fn resolved(path: &Path) -> Option<PathBuf> {
    let (mut end, mut steps) = (PathBuf::new(), vec![path.to_owned()]);
    // As many links as the kernel follows.
    let mut links = 40;
    while let Some(rest) = steps.pop() {
        let mut parts = rest.components();
        while let Some(part) = parts.next() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    end.pop();
                }
                part => end.push(part),
            }
            if let Ok(target) = end.read_link() {
                links = i32::checked_sub(links, 1).filter(|left| *left > 0)?;
                end.pop();
                steps.push(parts.as_path().to_owned());
                steps.push(target);
                break;
            }
        }
    }
    Some(end)
}

/// The repository whose folder or worktree this is.
fn repository(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(folder.to_owned());
    }
    let text = crate::verb::given_file::text(&git, LONGEST_LINK).ok()?;
    let place = folder.join(text.strip_prefix("gitdir:")?.trim());
    Some(repository_of_worktree(&git, &place).unwrap_or_else(|| folder.to_owned()))
}

/// The repository that keeps a worktree in `place`, `REPOSITORY/.git/worktrees/NAME`. The repository must name the worktree,
/// too: the file in a folder may come from anyone.
fn repository_of_worktree(git: &Path, place: &Path) -> Option<PathBuf> {
    let worktrees = place.parent().filter(|parent| parent.file_name().is_some_and(|name| name == "worktrees"))?;
    let back = crate::verb::given_file::text(&place.join("gitdir"), LONGEST_LINK).ok()?;
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let is_mutual = real(&place.join(back.trim()))? == real(git)?;
    let root = worktrees.parent()?.parent().filter(|_| is_mutual)?;
    Some(real(root).unwrap_or_else(|| root.to_owned()))
}

/// Lets the user choose among clients.
fn asked(found: &[&'static Client]) -> Result<Vec<&'static Client>, Exit> {
    let lines: Vec<_> = found.iter().enumerate().map(|(at, client)| format!("  {} {}", at + 1, client.name)).collect();
    prompt(&format!("Clients on this machine:\n{}\nNumbers, or Enter for all: ", lines.join("\n")));
    let line = answer()?;
    let words: Vec<_> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return Ok(found.to_vec());
    }
    let chosen = words.iter().map(|word| found.get(word.parse::<usize>().ok()?.checked_sub(1)?).copied());
    let chosen: Option<Vec<_>> = chosen.collect();
    chosen.ok_or_else(|| usage("that is no number of the list", "run the command again, or use --client"))
}

/// Whether a person can be asked.
pub(super) fn is_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// A line that the user types. The end of the input is no answer.
pub(super) fn answer() -> Result<String, Exit> {
    let mut line = String::new();
    match std::io::stdin().read_line(&mut line) {
        Ok(length) if length > 0 => Ok(line.trim().to_owned()),
        _ => Err(usage("no answer was given", "run the command again")),
    }
}

fn named(name: &str) -> Result<&'static Client, Exit> {
    find(name).ok_or_else(|| {
        let what = format!("unknown client `{}`", wire::escape::line(name));
        match suggestion(name, clients().iter().map(|client| client.id.as_str())) {
            Some(near) => usage(&what, &format!("`{near}`; `proof clients` lists all")),
            None => usage(&what, "`proof clients` lists all"),
        }
    })
}

/// Whether something is there; what may not be looked at is.
pub(in crate::verb) fn exists(path: &Path) -> bool {
    let absent = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
    path.metadata().map_or_else(|error| !absent(error.kind()), |_| true)
}

//! What clients of this machine have in their configurations: for `init`, which makes entries of it, and for `audit`, which says
//! what of it the inventory does not have. Reads files, starts nothing.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clients::place::{Platform, Variables};
use clients::text::{self, Format};
use clients::{Launch as Configured, Scope, plan};
use wire::redact::{Redactor, Secrets};

use crate::config::{Fleet, Launch, Server};
use crate::{launch, secret};

/// The largest configuration that is read.
const LONGEST: u64 = 16 << 20;

/// A server in the configuration of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its name there.
    pub name: String,
    /// The client.
    pub client: String,
    /// The file.
    pub file: PathBuf,
    /// How it is reached.
    pub launch: Configured,
}

/// What was found, and the files that cannot be read.
#[derive(Debug, Default)]
pub struct Configurations {
    /// The servers.
    pub servers: Vec<Found>,
    /// Files with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
    /// How many files were read.
    pub files: usize,
}

/// Reads the configurations of all clients: the user's, and those of the project in `folder`.
pub fn read(folder: &Path) -> Result<Configurations, String> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let variables = Variables::new(Platform::here(), &variable)
        .ok_or("HOME is not set, so there is no place to look for configurations")?;
    let mut out = Configurations::default();
    for client in clients::clients() {
        let user = variables.all_files(client).into_iter().map(|path| (Scope::User, path));
        let project = client.project.iter().map(|file| (Scope::Project, folder.join(file)));
        let mut seen = Vec::new();
        for (scope, path) in user.chain(project) {
            let real = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
            if seen.contains(&real) || !path.is_file() {
                continue;
            }
            seen.push(real);
            match read_file(&path, client.format) {
                Ok(value) => {
                    out.files += 1;
                    for held in plan::held(client, scope, &value) {
                        let Some(launch) = Configured::of_entry(&held.value) else { continue };
                        out.servers.push(Found {
                            name: held.name,
                            client: client.id.clone(),
                            file: path.clone(),
                            launch,
                        });
                    }
                }
                Err(why) => out.unreadable.push((path, why)),
            }
        }
    }
    Ok(out)
}

fn read_file(path: &Path, format: Format) -> Result<serde_json::Value, String> {
    let mut content = String::new();
    let file = net::open_regular(path).map_err(|error| error.to_string())?;
    file.take(LONGEST).read_to_string(&mut content).map_err(|error| error.to_string())?;
    text::read(&content, format).map_err(|error| error.what)
}

/// What makes an entry of the inventory the same server as one of a client.
fn identity(server: &Server) -> Option<String> {
    if let Launch::Url(url) = &server.launch {
        return Some(url.trim_end_matches('/').to_owned());
    }
    let words = launch::words(server)?;
    let (command, args) = words.split_first()?;
    Some(Configured::Stdio { command: command.clone(), args: args.to_vec(), env: Vec::new() }.identity())
}

/// What makes each entry of the inventory the same server as another.
pub fn identities(fleet: &Fleet) -> Vec<String> {
    fleet.servers.iter().filter_map(identity).collect()
}

/// What runs but is not in the inventory: each server once, with the clients that have it.
pub fn unlisted(fleet: &Fleet, configurations: &Configurations) -> BTreeMap<String, Vec<Found>> {
    let known = identities(fleet);
    let mut unlisted: BTreeMap<String, Vec<Found>> = BTreeMap::new();
    for found in &configurations.servers {
        let identity = found.launch.identity();
        if !known.contains(&identity) {
            unlisted.entry(identity).or_default().push(found.clone());
        }
    }
    unlisted
}

/// How it is reached, in one line and without secrets.
pub fn shown(launch: &Configured) -> String {
    let mut known = Secrets::default();
    let text = match launch {
        Configured::Stdio { command, args, .. } => {
            known.arguments(std::iter::once(command).chain(args).map(String::as_str));
            std::iter::once(command).chain(args).cloned().collect::<Vec<_>>().join(" ")
        }
        Configured::Remote { url, .. } => {
            known.address(url);
            url.clone()
        }
    };
    let redactor = Redactor::masking().knowing(&known);
    redactor.redact_known(&redactor.redact_text(&text)).into_owned()
}

/// An entry of `fleet.yaml` for a server of a client, as lines of YAML. Values of variables and headers stay where they are:
/// the entry names variables. `Err`: what a person must write.
pub fn entry(name: &str, found: &Found) -> Result<String, String> {
    use std::fmt::Write as _;
    let mut out = format!("  - name: {}\n", document::scalar(name));
    let _ = writeln!(out, "    source: {}", document::scalar(&format!("configuration of {}", found.client)));
    match &found.launch {
        Configured::Stdio { command, args, env } => {
            let words: Vec<String> = std::iter::once(command).chain(args).cloned().collect();
            if secret::in_words(&words).is_some() {
                return Err("its command holds a secret: put it into a variable first".to_owned());
            }
            let words: Vec<String> = words.iter().map(|word| document::scalar(word)).collect();
            let _ = writeln!(out, "    command: [{}]", words.join(", "));
            let _ = writeln!(out, "    transports: [stdio]");
            let names: Vec<&String> = env.iter().map(|(name, _)| name).filter(|name| is_variable(name)).collect();
            if !names.is_empty() {
                let _ = writeln!(out, "    env:");
                for name in names {
                    let _ = writeln!(out, "      {name}: {{ env: {name} }}");
                }
            }
        }
        Configured::Remote { url, headers, .. } => {
            if secret::in_address(url) {
                return Err("its address holds a secret: use a header".to_owned());
            }
            let _ = writeln!(out, "    url: {}", document::scalar(url));
            let _ = writeln!(out, "    transports: [http]");
            if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
                let variable: String = name
                    .chars()
                    .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
                    .collect();
                let _ = writeln!(out, "    bearer: {{ env: MCP_{variable}_TOKEN }}");
            }
        }
    }
    Ok(out)
}

fn is_variable(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

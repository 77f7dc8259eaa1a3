//! What `fleet.yaml` says, as types, once `docs/fleet.schema.json` has found nothing wrong with it. Must not know results.

mod entry;
mod meaning;
#[cfg(test)]
mod tests;
mod webhook;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use document::{FileError, FileErrors, Shape};
use serde::Deserialize;

pub use self::entry::{Launch, Server, Text};
pub use self::webhook::{EventKind, Webhook, address};
use crate::gate::GateKind;

/// The largest `fleet.yaml`.
const LONGEST: u64 = 16 << 20;

/// The bounds of a file with thousands of servers.
pub(crate) const BOUNDS: document::Bounds = document::Bounds { depth: 32, weight: 2_000_000, key: 1024 };

static SHAPE: Shape = Shape::new(
    include_str!("../../../../../docs/fleet.schema.json"),
    "https://github.com/proofhouse/proofhouse/blob/main/docs/fleet.md",
    &["servers", "stages", "dashboards", "webhooks"],
);

/// The JSON Schema of `fleet.yaml`.
pub const fn schema() -> &'static str {
    SHAPE.schema()
}

/// A fleet: its inventory, and what makes its gates green.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// Its name.
    pub name: String,
    /// The folder of `fleet.yaml`; paths in it start there.
    pub folder: PathBuf,
    /// Where results are kept.
    pub store: StorePlace,
    /// The inventory, in the order of the file.
    pub servers: Vec<Server>,
    /// The stages from the first to the last.
    pub stages: Vec<Stage>,
    /// What makes gates green.
    pub thresholds: Thresholds,
    /// What one gate may use.
    pub limits: Limits,
    /// Days after which a result is too old.
    pub days: u32,
    /// Saved filters and columns.
    pub dashboards: Vec<Dashboard>,
    /// Who gets messages.
    pub webhooks: Vec<Webhook>,
}

/// Where results are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorePlace {
    /// A folder.
    Folder(PathBuf),
    /// An address in a variable.
    Variable(String),
}

/// A stage: reached where all its gates and those of earlier stages are green.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Its gates.
    pub gates: Vec<GateKind>,
}

/// What makes gates green.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// Percent of the applicable MUST rules that must be judged.
    pub exercised: u32,
    /// How many broken SHOULD rules are allowed.
    pub warnings: Option<u64>,
    /// Percent of tools and arguments that tests must use.
    pub touched: u32,
    /// Percent of cases that must expect a refusal or an error.
    pub negatives: u32,
    /// The lowest severity that fails a scan.
    pub severity: String,
    /// Checks of the lint that fail.
    pub lint: Vec<String>,
    /// The most tokens of a list of tools.
    pub tokens: Option<u64>,
    /// Milliseconds of a listing, with the start.
    pub start_ms: u64,
    /// Milliseconds of 95 % of the test cases.
    pub call_ms: u64,
    /// Percent of correct answers.
    pub score: u32,
}

impl Default for Thresholds {
    fn default() -> Self {
        let lint = ["unsatisfiable", "description", "name", "schema"];
        Self {
            exercised: 40,
            warnings: None,
            touched: 80,
            negatives: 40,
            severity: "high".to_owned(),
            lint: lint.map(str::to_owned).to_vec(),
            tokens: None,
            start_ms: 10_000,
            call_ms: 2_000,
            score: 80,
        }
    }
}

/// What one gate may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Seconds.
    pub seconds: u64,
    /// Memory of all its processes, in MiB.
    pub memory_mb: u64,
    /// How many processes.
    pub processes: usize,
    /// How many gates run at once; 0 for one on each core.
    pub workers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { seconds: 300, memory_mb: 4096, processes: 512, workers: 0 }
    }
}

/// A saved filter with its columns.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dashboard {
    /// Its name.
    pub name: String,
    /// Which servers it shows.
    #[serde(default)]
    pub filter: String,
    /// Its columns.
    #[serde(default)]
    pub columns: Vec<String>,
    /// What its rows are grouped by.
    pub group: Option<String>,
}

/// The file, as it stands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "$schema")]
    _schema: Option<String>,
    name: Option<String>,
    store: Option<Text>,
    #[serde(default)]
    defaults: Defaults,
    servers: Vec<entry::Entry>,
    stages: Option<Vec<Stage>>,
    #[serde(default)]
    thresholds: Thresholds,
    #[serde(default)]
    limits: Limits,
    days: Option<u32>,
    #[serde(default)]
    dashboards: Vec<Dashboard>,
    #[serde(default)]
    webhooks: Vec<webhook::Entry>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Defaults {
    owner: Option<String>,
    source: Option<String>,
    stage: Option<entry::StageName>,
    language: Option<String>,
    tags: Vec<String>,
}

impl Fleet {
    /// Reads `fleet.yaml`.
    pub fn load(path: &Path) -> Result<Self, FileErrors> {
        use std::io::Read as _;
        let name = path.display().to_string();
        let refuse = |what: String, remedy: &str| FileErrors::new(&name, vec![FileError::new(None, what, remedy)]);
        let unreadable = |error: std::io::Error| {
            let what = match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
                _ => format!("the file cannot be read: {error}"),
            };
            refuse(what, "`proof fleet init` writes one; `--file` names another")
        };
        let file = net::open_regular(path).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > LONGEST {
            return Err(refuse("the file is longer than 16 MiB".to_owned(), "several files"));
        }
        let text = String::from_utf8(bytes).map_err(|_| {
            refuse(
                "the file is not UTF-8".to_owned(),
                "a text file; see https://github.com/proofhouse/proofhouse/blob/main/docs/fleet.md",
            )
        })?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Children run in folders of their own: relative paths would lead elsewhere there.
        let folder = std::path::absolute(folder).map_err(unreadable)?;
        Self::read(&text, folder).map_err(|errors| FileErrors::new(&name, errors))
    }

    /// Reads the text of a `fleet.yaml` in `folder`; every mistake, each with its place.
    pub fn read(text: &str, folder: PathBuf) -> Result<Self, Vec<FileError>> {
        let (tree, mut errors) = document::read_within(text, BOUNDS).map_err(|error| vec![error])?;
        let mut value = tree.to_value();
        let misfits = SHAPE.check(&tree, &mut value);
        errors.extend(misfits.errors);
        if value.get("servers").is_none() {
            return Err(errors);
        }
        let file: File = serde_json::from_value(value).map_err(|error| {
            if !errors.is_empty() {
                return std::mem::take(&mut errors);
            }
            let what = format!("the schema of such files and their reader disagree: {error}");
            vec![FileError::new(None, what, "report it, with the file: this is a bug of ours")]
        })?;
        let (fleet, wrong) = meaning::of(file, folder);
        // Where an entry was taken out, places no longer count from the same beginning.
        if errors.is_empty() {
            errors.extend(wrong.into_iter().map(|one| FileError::new(tree.place(&one.pointer), one.what, one.remedy)));
        }
        if errors.is_empty() { Ok(fleet) } else { Err(errors) }
    }

    /// The server with this name.
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// All gates of all stages, each once, in order.
    pub fn gates(&self) -> Vec<GateKind> {
        let mut gates: Vec<GateKind> = Vec::new();
        for gate in self.stages.iter().flat_map(|stage| &stage.gates) {
            if !gates.contains(gate) {
                gates.push(*gate);
            }
        }
        gates
    }

    /// A path of the file.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// Servers by name.
    pub fn by_name(&self) -> BTreeMap<&str, &Server> {
        self.servers.iter().map(|server| (server.name.as_str(), server)).collect()
    }
}

/// The stages where a file names no others.
pub fn default_stages() -> Vec<Stage> {
    use GateKind::{Conforms, Described, Evaluated, Fast, Listed, Locked, Ready, Scanned, Signed, Starts, Tested};
    let stage = |name: &str, gates: &[GateKind]| Stage { name: name.to_owned(), gates: gates.to_vec() };
    vec![
        stage("listed", &[Listed]),
        stage("starts", &[Starts]),
        stage("described", &[Described]),
        stage("conforms", &[Conforms]),
        stage("tested", &[Tested]),
        stage("secured", &[Scanned, Locked]),
        stage("operable", &[Fast, Ready]),
        stage("certified", &[Evaluated, Signed]),
    ]
}

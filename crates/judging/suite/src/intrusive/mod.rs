//! Calls a server on purpose with arguments that do harm where they are not checked. `guard` says what is sent and what is
//! proof; this module makes the traffic, plants what is needed for proof, and removes it.

mod audience;
mod calls;
mod canary;
mod listings;
mod ordinary;
mod planted;
mod resources;
mod states;
mod user;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use client::{Client, ClientError, ClientEvent};
use guard::intrusive::{Attack, Supplies};
use guard::scan::{Proven, Rule};

use canary::Canary;
use planted::{Markers, Planted};
use user::User;

/// The most calls of one server.
const CALLS: usize = 5000;

/// What is tried, and how long.
#[derive(Clone, Debug)]
pub struct Options {
    /// How the server is reached.
    pub client: client::Options,
    /// The folder that the server serves: canaries are planted in it and around it.
    pub plant: Option<PathBuf>,
    /// Where a site is served that the server may fetch.
    pub site: Option<SocketAddr>,
    /// Whether tools that are marked as destructive are called.
    pub calls_destructive: bool,
    /// A token whose audience is another server.
    pub other_audience: Option<String>,
    /// How long all of it may take.
    pub time: Duration,
}

/// What was proven, and what was tried for it.
#[derive(Clone, Debug, Default)]
pub struct Probed {
    /// The findings.
    pub proven: Vec<Proven>,
    /// By rule, how often its subject was tried.
    pub tried: BTreeMap<&'static str, (&'static Rule, usize)>,
    /// Results of lists that differ from the first.
    pub lists: Vec<serde_json::Value>,
    /// How many calls and reads were answered.
    pub answered: usize,
    /// How many were sent.
    pub sent: usize,
    /// Tools that were called.
    pub tools: usize,
    /// What was left out on purpose, in words.
    pub notes: Vec<String>,
    /// What could not be tried, in words.
    pub incomplete: Vec<String>,
}

/// Why nothing was tried.
#[derive(Debug)]
pub enum ProbeError {
    /// The server did not answer.
    Client(ClientError),
    /// Nothing can be planted in or next to the folder.
    Plant(io::Error),
    /// There is no listener at the address of the site.
    Site(io::Error),
    /// There is no folder for markers, or no listener on loopback.
    Machine(io::Error),
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(error) => error.fmt(f),
            Self::Plant(error) => write!(f, "cannot plant canaries in and next to the folder: {error}"),
            Self::Site(error) => write!(f, "cannot listen at the address of the site: {error}"),
            Self::Machine(error) => write!(f, "cannot prepare the canaries: {error}"),
        }
    }
}

impl std::error::Error for ProbeError {}

impl From<ClientError> for ProbeError {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

/// Tries everything that suits the server. Boxed so that the code is compiled once, in this crate.
pub fn probe(options: &Options) -> Pin<Box<dyn Future<Output = Result<Probed, ProbeError>> + Send + '_>> {
    Box::pin(probed(options))
}

async fn probed(options: &Options) -> Result<Probed, ProbeError> {
    let markers = Markers::new(&token()).map_err(ProbeError::Machine)?;
    let planted = options.plant.as_ref().map(|folder| Planted::new(folder, &token())).transpose();
    let planted = planted.map_err(ProbeError::Plant)?;
    let is_site = options.site.is_some();
    let canary = Canary::start(options.site).await;
    let canary = canary.map_err(if is_site { ProbeError::Site } else { ProbeError::Machine })?;
    let announced = Arc::new(AtomicBool::new(false));
    let client = Client::connect(dressed(options, &announced)).await?;
    let deadline = Instant::now() + options.time;
    let mut run = Run {
        client,
        options,
        markers,
        planted,
        canary,
        deadline,
        changed: Vec::new(),
        sent: Vec::new(),
        out: Probed::default(),
    };
    let done = run.all(&announced).await;
    run.client.close().await;
    done?;
    let mut out = run.out;
    if let Some(token) = &options.other_audience {
        audience::probe(options, token, &mut out).await;
    }
    Ok(out)
}

/// The options of a client that fills in forms and notices announced changes.
fn dressed(options: &Options, announced: &Arc<AtomicBool>) -> client::Options {
    let (announced, observer) = (Arc::clone(announced), options.client.observer.clone());
    client::Options {
        respondent: Arc::new(User::default()),
        observer: Arc::new(move |event| {
            if matches!(&event, ClientEvent::Notification { method, .. } if method == "notifications/tools/list_changed")
            {
                announced.store(true, Ordering::Relaxed);
            }
            observer(event);
        }),
        ..options.client.clone()
    }
}

/// One attack that was sent, with what would prove it.
struct Sent {
    attack: &'static Attack,
    at: Site,
    token: String,
}

/// What an attack is about.
#[derive(Clone)]
struct Site {
    kind: guard::scan::Kind,
    item: String,
    pointer: String,
}

/// A probe under way.
struct Run<'r> {
    client: Client,
    options: &'r Options,
    markers: Markers,
    planted: Option<Planted>,
    canary: Canary,
    deadline: Instant,
    /// Changes of definitions that were reported.
    changed: Vec<listings::Known>,
    /// Attacks without proof so far: it may come late.
    sent: Vec<Sent>,
    out: Probed,
}

impl Run<'_> {
    async fn all(&mut self, announced: &AtomicBool) -> Result<(), ProbeError> {
        let first = self.listings(announced).await?;
        self.states(&first.tools).await;
        self.tools(&first.tools).await;
        self.resources().await;
        self.late_proof().await;
        self.listings_afterwards(&first, announced).await;
        self.notes();
        Ok(())
    }

    fn supplies(&self) -> Supplies {
        Supplies { folder: self.planted.is_some(), v6: self.canary.has_v6(), site: self.options.site.is_some() }
    }

    /// Whether there is neither time nor a call left.
    fn is_over(&mut self) -> bool {
        let why = if Instant::now() >= self.deadline {
            format!("the attacks took longer than {} s", self.options.time.as_secs())
        } else if self.out.sent >= CALLS {
            format!("more than {CALLS} calls would be needed")
        } else {
            return false;
        };
        self.incomplete(why);
        true
    }

    fn incomplete(&mut self, what: String) {
        if !self.out.incomplete.contains(&what) {
            self.out.incomplete.push(what);
        }
    }

    fn tried(&mut self, rule: &'static Rule) {
        self.out.tried.entry(rule.id).or_insert((rule, 0)).1 += 1;
    }

    fn notes(&mut self) {
        if self.out.sent > 0 && self.out.answered == 0 {
            self.incomplete("no call was answered".to_owned());
        }
        if self.planted.is_none() {
            self.out.notes.push("path traversal was not tried: no folder is named".to_owned());
        }
    }
}

/// Random letters and digits.
fn token() -> String {
    let mut bytes = [0; 8];
    // Without randomness there is no run: connections need it as well.
    let _ = getrandom::fill(&mut bytes);
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// A number of five digits.
fn number() -> u32 {
    let mut bytes = [0; 4];
    let _ = getrandom::fill(&mut bytes);
    10_000 + u32::from_le_bytes(bytes) % 90_000
}

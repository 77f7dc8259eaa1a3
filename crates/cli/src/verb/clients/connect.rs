//! Starts or reaches a server as its client would, and greets it; fetches a `server.json`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ::client::{Client, ClientError};
use clap::Parser;
use clients::Launch;
use clients::reference::expanded;
use clients::server::Transport;
use net::client::{Address, Command, HttpAddress};
use serde_json::{Value, json};

use super::target::REGISTRY;
use crate::advice::asking;
use crate::args::reach::Reach;
use crate::exit::{Exit, tell, tell_redacted, usage};
use crate::run::Run;
use crate::verb::client_options;
use crate::verb::connecting::until_interrupted;

/// How long a server may take from its start to its answer, where the user does not say; clients wait about as long.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// The options of a connection where none is given.
#[derive(Parser)]
struct Plain {
    #[command(flatten)]
    reach: Reach,
}

/// Where a server is, with the values of variables. `Err` says what is missing.
pub(in crate::verb) fn address(launch: &Launch, cwd: Option<&Path>) -> Result<Address, String> {
    let value = |text: &str| {
        if text.contains("${input:") {
            return Err("its client asks for a value when it starts the server".to_owned());
        }
        let variable = |name: &str| std::env::var(name).ok();
        expanded(text, variable)
            .map_err(|name| format!("it needs {}, which is not set here", wire::escape::line(&name)))
    };
    let pairs = |pairs: &[(String, String)]| {
        pairs.iter().map(|(name, text)| Ok((name.clone(), value(text)?))).collect::<Result<Vec<_>, String>>()
    };
    match launch {
        Launch::Stdio { command, args, env } => {
            let args = args.iter().map(|text| value(text)).collect::<Result<_, _>>()?;
            let cwd = cwd.map(PathBuf::from);
            Ok(Address::Stdio(Command { program: value(command)?, args, env: pairs(env)?, cwd }))
        }
        Launch::Remote { transport, url, headers } => {
            let url = url::Url::parse(&value(url)?).map_err(|error| format!("its URL is invalid: {error}"))?;
            let address = HttpAddress { headers: pairs(headers)?, ..HttpAddress::new(url) };
            Ok(if *transport == Transport::Sse { Address::Sse(address) } else { Address::Http(address) })
        }
    }
}

/// What a server said.
#[derive(Clone)]
pub(super) struct Greeted {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) revision: String,
    pub(super) capabilities: Value,
}

/// Servers that were greeted in this run: equal ones are started once.
pub(super) struct Greetings<'r> {
    run: &'r Run,
    patience: Duration,
    done: Vec<(Launch, Option<PathBuf>, Result<Greeted, Exit>)>,
}

impl<'r> Greetings<'r> {
    pub(super) fn new(run: &'r Run, patience: Option<Duration>) -> Self {
        Self { run, patience: patience.unwrap_or(PATIENCE), done: Vec::new() }
    }

    /// Greets a server that is reached this way. The outer error says what is missing; the inner one is printed.
    pub(super) fn greet(&mut self, launch: &Launch, cwd: &Path) -> Result<Result<Greeted, Exit>, String> {
        let cwd = matches!(launch, Launch::Stdio { .. }).then(|| cwd.to_owned());
        if let Some((.., answer)) = self.done.iter().find(|(other, folder, _)| (other, folder) == (launch, &cwd)) {
            return Ok(answer.clone());
        }
        let answer = greet(self.run, address(launch, cwd.as_deref())?, self.patience);
        self.done.push((launch.clone(), cwd, answer.clone()));
        Ok(answer)
    }
}

/// Connects once, without asking for anything. Prints an error. The caller ends what still runs.
fn greet(run: &Run, address: Address, patience: Duration) -> Result<Greeted, Exit> {
    let mut plain = Plain::try_parse_from(["proof"]).map_err(|_| Exit::Bug)?;
    plain.reach.timeout = Some(patience);
    let options = client_options::options(run, &plain.reach, address, None)?;
    until_interrupted(run, async {
        let conversed = async {
            let client = Client::connect(options).await.map_err(|error| failed(&error))?;
            let greeting = client.greeting();
            client.close().await;
            let text = |member: &str| {
                greeting.server_info().and_then(|info| info[member].as_str()).unwrap_or_default().to_owned()
            };
            Ok(Greeted {
                name: text("name"),
                version: text("version"),
                revision: greeting.revision.to_string(),
                capabilities: greeting.capabilities().cloned().unwrap_or_default(),
            })
        };
        // Each step has the limit, too; all together have no more.
        tokio::time::timeout(patience, conversed).await.unwrap_or_else(|_| {
            let seconds = patience.as_secs_f64();
            tell(format_args!(
                "error: the server did not answer in {seconds} s\n  try: a longer --timeout, or start it by hand"
            ));
            Err(Exit::NoAnswer)
        })
    })
}

fn runtime() -> Result<tokio::runtime::Runtime, Exit> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: cannot start the async runtime: {error}"));
        Exit::Bug
    })
}

fn failed(error: &ClientError) -> Exit {
    tell_redacted(&format!("error: {}", error.describe(asking)));
    Exit::NoAnswer
}

impl Greeted {
    /// In words.
    pub(super) fn line(&self) -> String {
        format!("{} {} answers, at revision {}", self.name, self.version, self.revision)
    }

    /// Which lists the server says it announces changes of.
    pub(super) fn announces(&self) -> Vec<&'static str> {
        ["tools", "prompts", "resources"]
            .into_iter()
            .filter(|kind| self.capabilities[*kind]["listChanged"] == true)
            .collect()
    }

    /// Whether it is a channel of Claude Code, which users opt in to.
    pub(super) fn is_channel(&self) -> bool {
        !self.capabilities["experimental"]["claude/channel"].is_null()
    }
}

/// Fetches what a registry says of a server: `BASE/v0.1/servers/NAME/versions/latest`, or the address itself where it ends in `.json`.
pub(super) fn registry(base: &str, name: &str) -> Result<Value, Exit> {
    let shown = wire::escape::line(base).into_owned();
    let invalid = || usage(&format!("`{shown}` is not an http(s):// URL"), "https://registry.example");
    let mut url = url::Url::parse(base).map_err(|_| invalid())?;
    let is_file = Path::new(url.path()).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    if !is_file {
        let mut steps = url.path_segments_mut().map_err(|()| invalid())?;
        steps.pop_if_empty();
        steps.extend(["v0.1", "servers", name, "versions", "latest"]);
    }
    let runtime = runtime()?;
    let fetched = runtime.block_on(oauth::fetch(&url, oauth::Reach::Machine, REGISTRY));
    runtime.shutdown_background();
    fetched.map(|value| json!(value)).map_err(|error| {
        tell_redacted(&format!("error: {}", error.describe(crate::advice::authorizing)));
        Exit::NoAnswer
    })
}

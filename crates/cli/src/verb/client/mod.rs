//! `proof client`: sends one request to a server and prints the answer.

mod answers;
mod arguments;
mod ask;
mod conformance;
mod conventions;
mod credentials;
mod dialogue;
mod observer;
mod options;
mod show;
mod suggestions;
mod terminal;
mod watch;

use std::sync::Arc;

use client::{Client, ClientError, Connector, Options};
use net::client::Address;

use crate::advice::asking;
use crate::args::client::ClientArgs;
use crate::args::no_server;
use crate::args::reach::environment;
use crate::exit::{self, Exit, tell};
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::{serve, sign_in};
pub(in crate::verb) use arguments::parse as parse_argument;
pub(crate) use conventions::verb_of as verb_of_extension;
use observer::Notifications;

/// The text to print, and the exit code.
struct Printed {
    /// `None` where it was printed as it came.
    text: Option<String>,
    exit: Exit,
}

impl Printed {
    const fn success(text: String) -> Self {
        Self { text: Some(text), exit: Exit::Clean }
    }
}

/// Why there is no answer to print.
enum NotPrinted {
    /// The request failed.
    Client(Box<ClientError>),
    /// The error was already reported.
    Reported(Exit),
}

impl From<ClientError> for NotPrinted {
    fn from(error: ClientError) -> Self {
        Self::Client(Box::new(error))
    }
}

impl From<Exit> for NotPrinted {
    fn from(exit: Exit) -> Self {
        Self::Reported(exit)
    }
}

/// Sends the request, prints the answer and closes the connection.
pub(crate) fn run(run: &Run, args: &mut ClientArgs) -> Exit {
    if args.faults.list {
        return serve::list_faults(
            faults::client::all().map(|fault| (fault.name, fault.rule, fault.about, fault.place_and_scenario())),
            &args.to,
        );
    }
    if let Err(exit) = args.settle_target() {
        return exit;
    }
    if let Some(word) = args.words.first() {
        return suggestions::unknown_verb(word);
    }
    let run = &run.with_environment(environment(&args.reach.inherit_env));
    exit::conceal(run.redactor_of(&args.reach.secrets(args.named())));
    match start(run, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn start(run: &Run, args: &ClientArgs) -> Result<Exit, Exit> {
    args.to.check(&[])?;
    let address = args.reach.address(args.named())?.ok_or_else(|| {
        no_server("add its URL at the end, or its command after `--`: proof client tools -- my-server")
    })?;
    let (observer, notifications) = observer::observer(args);
    let suite = args.conformance.as_ref().map(|_| address.clone());
    let answers = options::answers(args)?;
    let options = Options { observer, ..options::options(run, args, address, answers.clone())? };
    let connector = faults::client::connector(&args.faults.selected()?);
    let has_child = args.has_command();
    if has_child {
        // Before the first child starts.
        run.children.adopt_orphans();
    }
    // One thread is enough for one request, and starts faster.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: cannot start the async runtime: {error}"));
        Exit::Bug
    })?;
    let exit = runtime.block_on(async {
        match suite {
            Some(address) => Box::pin(conformance::play(run, args, address)).await,
            None => Box::pin(converse(args, options, connector, notifications)).await,
        }
    });
    if has_child {
        // On every way out, end the children that still run.
        run.children.kill_all();
    }
    runtime.shutdown_background();
    Ok(answers.settle(exit))
}

async fn converse(
    args: &ClientArgs,
    mut options: Options,
    connector: Arc<dyn Connector>,
    notifications: Notifications,
) -> Exit {
    let interrupted = interrupted();
    tokio::pin!(interrupted);
    if matches!(options.address, Address::Sse(_) | Address::WebSocket(_)) {
        let signed = tokio::select! {
            signed = sign_in::sign_in_at(&args.reach, &mut options.address, options.revision) => signed,
            signal = &mut interrupted => return Exit::Interrupted(signal),
        };
        if let Err(exit) = signed {
            return exit;
        }
    }
    let client = tokio::select! {
        client = Client::connect_with(options, connector) => client,
        signal = &mut interrupted => return Exit::Interrupted(signal),
    };
    let client = match client {
        Ok(client) => client,
        Err(error) => return failed(&error),
    };
    // Kept alive until the server knows of the cancellation: a dropped request is forgotten.
    let request = request(args, &client, notifications);
    tokio::pin!(request);
    let exit = tokio::select! {
        exit = &mut request => exit,
        signal = &mut interrupted => {
            client.cancel_all("interrupted by the user").await;
            Exit::Interrupted(signal)
        }
    };
    client.close().await;
    exit
}

/// Sends the request and prints the answer.
async fn request(args: &ClientArgs, client: &Client, notifications: Notifications) -> Exit {
    let answer = match options::check_revision(args, client) {
        Ok(()) => ask::ask(args, client, notifications).await,
        Err(exit) => Err(exit.into()),
    };
    match answer {
        Ok(Printed { text, exit }) => {
            text.map_or(Ok(()), |text| args.to.write(&text)).map_or_else(|refused| refused, |()| exit)
        }
        Err(NotPrinted::Reported(exit)) => exit,
        Err(NotPrinted::Client(error)) => failed(&error),
    }
}

/// Reports a failed request.
fn failed(error: &ClientError) -> Exit {
    exit::tell_redacted(&format!("error: {}", error.describe(asking)));
    match error {
        ClientError::Rpc { .. } | ClientError::Cancelled => Exit::Finding,
        ClientError::Open(error) if matches!(**error, net::OpenError::BadAddress { .. }) => Exit::Usage,
        ClientError::NotSent { .. } => Exit::Usage,
        _ => Exit::NoAnswer,
    }
}

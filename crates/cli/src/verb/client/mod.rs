//! `proof client`: one question to a server, and its answer.

mod ask;
mod conformance;
mod credentials;
mod dialogue;
mod meant;
mod options;
mod pairs;
mod show;
mod terminal;
mod told;
mod watch;

use std::sync::Arc;

use client::{Client, ClientError, Connector, Options};
use net::client::Address;

use crate::advice::asking;
use crate::args::client::ClientArgs;
use crate::exit::{self, Exit, tell, usage};
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::{output, serve, sign_in};
use told::Heard;

/// What is to be printed, and how it ended.
struct Printed {
    text: String,
    exit: Exit,
}

impl Printed {
    const fn well(text: String) -> Self {
        Self { text, exit: Exit::Clean }
    }
}

/// Why there is nothing to print.
enum NotPrinted {
    /// The server, or the way to it.
    Client(Box<ClientError>),
    /// It is told already.
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

/// Asks, prints, and ends the conversation in order.
pub(crate) fn run(run: &Run, args: &ClientArgs) -> Exit {
    if args.faults.list {
        return serve::list_faults(
            faults::client::all().map(|fault| (fault.name, fault.rule, fault.about, fault.place_and_scenario())),
        );
    }
    if let Some(stray) = args.stray.first() {
        return meant::no_verb(stray);
    }
    let target = args.named();
    exit::conceal(run.redactor_of(&args.reach.secrets(target)));
    match started(run, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn started(run: &Run, args: &ClientArgs) -> Result<Exit, Exit> {
    let address = args.reach.address(args.named())?.ok_or_else(|| {
        usage("no server is named", "--url URL, or a command after `--`: proof client tools -- my-server")
    })?;
    let (observer, heard) = told::observer(args);
    let suite = args.conformance.as_ref().map(|_| address.clone());
    let options = Options { observer, ..options::options(run, args, address)? };
    let connector = faults::client::connector(&args.faults.meaning()?);
    let has_child = !args.named().command.is_empty();
    if has_child {
        // Before the first child starts.
        run.children.adopt_orphans();
    }
    // One thread: there is one question, and threads cost time to start.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: the runtime did not start: {error}"));
        Exit::Bug
    })?;
    let exit = runtime.block_on(async {
        match suite {
            Some(address) => Box::pin(conformance::play(run, args, address)).await,
            None => Box::pin(conversed(args, options, connector, heard)).await,
        }
    });
    if has_child {
        // Whatever is still running is ours to end, on every way out.
        run.children.kill_all();
    }
    runtime.shutdown_background();
    Ok(exit)
}

async fn conversed(args: &ClientArgs, mut options: Options, connector: Arc<dyn Connector>, heard: Heard) -> Exit {
    let interrupted = interrupted();
    tokio::pin!(interrupted);
    if matches!(options.address, Address::Sse(_) | Address::WebSocket(_)) {
        let signed = tokio::select! {
            signed = sign_in::at(&args.reach, &mut options.address, options.revision) => signed,
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
    // Kept until the server is told: what is dropped is forgotten.
    let asked = asked(args, &client, heard);
    tokio::pin!(asked);
    let exit = tokio::select! {
        said = &mut asked => said,
        signal = &mut interrupted => {
            client.cancel_all("interrupted by the user").await;
            Exit::Interrupted(signal)
        }
    };
    client.close().await;
    exit
}

/// Asks and prints.
async fn asked(args: &ClientArgs, client: &Client, heard: Heard) -> Exit {
    let said = match options::as_wanted(args, client) {
        Ok(()) => ask::ask(args, client, heard).await,
        Err(exit) => Err(exit.into()),
    };
    match said {
        Ok(Printed { text, exit }) => match output::print(&text) {
            Ok(()) => exit,
            Err(exit) => exit,
        },
        Err(NotPrinted::Reported(exit)) => exit,
        Err(NotPrinted::Client(error)) => failed(&error),
    }
}

/// Says why there is no answer.
fn failed(error: &ClientError) -> Exit {
    exit::tell_redacted(&format!("error: {}", error.describe(asking)));
    match error {
        ClientError::Rpc { .. } | ClientError::Cancelled => Exit::Finding,
        ClientError::Open(error) if matches!(**error, net::OpenError::BadAddress { .. }) => Exit::Usage,
        ClientError::NotSent { .. } => Exit::Usage,
        _ => Exit::NoAnswer,
    }
}

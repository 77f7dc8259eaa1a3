//! Connects to a server as a client, for every verb that reads what the server declares. Must not know what is read.

use client::{Client, ClientError, Options};
use lock::Surface;
use net::client::Address;
use suite::snapshot::surface;
use wire::Revision;

use crate::args::reach::Reach;
use crate::exit::{Exit, tell};
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::{client_options, sign_in};

/// Runs `work` until it is done or a signal comes. What it started and left is ended with the program: another server may come.
pub(crate) fn until_interrupted<T, E: From<Exit>>(run: &Run, work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    until_interrupted_then(run, work, async {})
}

/// The same, and after a signal `farewell`, which must end by itself.
pub(crate) fn until_interrupted_then<T, E: From<Exit>>(
    run: &Run,
    work: impl Future<Output = Result<T, E>>,
    farewell: impl Future<Output = ()>,
) -> Result<T, E> {
    // Before the first child starts.
    run.children.adopt_orphans();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: cannot start the async runtime: {error}"));
        Exit::Bug
    })?;
    let outcome = runtime.block_on(async {
        let interrupted = interrupted();
        tokio::pin!(interrupted);
        tokio::select! {
            outcome = work => outcome,
            signal = &mut interrupted => {
                farewell.await;
                Err(Exit::Interrupted(signal).into())
            }
        }
    });
    runtime.shutdown_background();
    outcome
}

/// Runs `read` with the options of a client of the server at `address`. Signs in first where the transport opens with one
/// request.
pub(crate) fn connected<T, E: From<Exit>>(
    run: &Run,
    reach: &Reach,
    address: Address,
    revision: Option<Revision>,
    read: impl AsyncFnOnce(Options) -> Result<T, E>,
) -> Result<T, E> {
    let mut options = client_options::options(run, reach, address, revision)?;
    until_interrupted(run, async {
        if matches!(options.address, Address::Sse(_) | Address::WebSocket(_)) {
            sign_in::sign_in_at(reach, &mut options.address, options.revision).await?;
        }
        read(options).await
    })
}

/// Everything that the server declares; `failed` reports why it cannot be read.
pub(crate) fn declared(
    run: &Run,
    reach: &Reach,
    address: Address,
    revision: Option<Revision>,
    failed: fn(&ClientError) -> Exit,
) -> Result<Surface, Exit> {
    connected(run, reach, address, revision, async |options| {
        let client = Client::connect(options).await.map_err(|error| failed(&error))?;
        let surface = surface(&client).await.map_err(|error| failed(&error));
        client.close().await;
        surface
    })
}

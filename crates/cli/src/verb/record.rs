//! `proof record`: stands between a client and a server and writes down what crosses. Stdout is the protocol's.

mod file;

use net::process::Command;
use net::server::stdio::wrap::wrap;
use wire::trace::Header;
use wire::{Party, Transport};

use crate::args::record::RecordArgs;
use crate::exit::{self, Exit, tell};
use crate::signals::interrupted;
use file::Recording;

/// Records until the server ends; its exit code is ours.
pub(crate) fn run(args: &RecordArgs) -> Exit {
    exit::conceal(args.secrets());
    match recorded(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn recorded(args: &RecordArgs) -> Result<Exit, Exit> {
    let Some((program, arguments)) = args.command.split_first() else { return Err(Exit::Usage) };
    let redactor = workbench::check::redactor(&args.secrets());
    let header =
        Header { subject: Party::Server, transport: Transport::Stdio, revision: None, case: "recorded".to_owned() };
    let recording = Recording::create(&args.output, &header, redactor)?;
    net::orphans::adopt();
    // One thread: what one side says is written down before the other can answer it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: the runtime did not start: {error}"));
        Exit::Bug
    })?;
    let tap = recording.tap(header);
    let command = Command::new(program, arguments);
    let ended = runtime.block_on(async { wrap(&command, &tap, interrupted()).await });
    tap.close();
    // Whatever is still running is ours to end, on every way out.
    net::process::kill_all();
    // A read of stdin that never ends is not waited for.
    runtime.shutdown_background();
    ended.map(Exit::As).map_err(|error| {
        let shown = wire::escape::line(program);
        tell(format_args!("error: `{shown}` was not started: {error}\n  try: the command by itself"));
        Exit::NoAnswer
    })
}

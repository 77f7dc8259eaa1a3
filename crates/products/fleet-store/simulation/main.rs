//! Simulated jobs: `fleet-simulation ROLE NAME=VALUE…`. Roles that are parts of a fleet can stop at a named point, so that they
//! can be killed there; `kill` and `scale` start the others and look at the store afterwards.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for tests and tasks, which read what it says"
)]

mod arguments;
mod check;
mod children;
mod kill;
mod points;
mod postgres;
mod roles;
mod scale;

use std::process::ExitCode;

use arguments::Arguments;

/// What failed, in words.
type Failed = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let role = words.next().unwrap_or_default();
    let done = Arguments::read(words).and_then(|arguments| {
        points::stop_at(&arguments)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(play(&role, &arguments))
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{role}: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn play(role: &str, arguments: &Arguments) -> Result<(), Failed> {
    match role {
        "command" => roles::command(arguments).await,
        "coordinator" => roles::coordinator(arguments).await,
        "worker" => roles::worker(arguments).await,
        "kill" => kill::run(arguments).await,
        "scale" => scale::run(arguments).await,
        other => Err(format!("there is no role {other:?} – use command, coordinator, worker, kill or scale").into()),
    }
}

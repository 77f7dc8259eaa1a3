//! The `proof` binary: arguments → verb → reporter → exit code.
//!
//! Only this crate prints and exits. Answers and reports go to stdout, everything else to stderr.

mod advice;
mod args;
mod colour;
mod exit;
mod format;
mod progress;
mod run;
mod signals;
mod verb;

use std::process::ExitCode;

fn main() -> ExitCode {
    let run = run::Run::new();
    exit::end_on_panic(run.children.clone());
    let exit = match args::read() {
        Ok(args::Verb::Check(args)) => verb::check::run(&run, *args),
        Ok(args::Verb::CheckClient(args)) => verb::check_client::run(&run, &args),
        Ok(args::Verb::Test(args)) => verb::test::run(&run, &args),
        Ok(args::Verb::Generate(args)) => verb::generate::run(&run, &args),
        Ok(args::Verb::Snapshot(args)) => verb::snapshot::run(&run, &args),
        Ok(args::Verb::Scan(args)) => verb::scan::run(&run, &args),
        Ok(args::Verb::Eval(args)) => verb::eval::run(&run, &args),
        Ok(args::Verb::Add(args)) => verb::clients::add(&run, &args),
        Ok(args::Verb::Remove(args)) => verb::clients::remove(&run, &args),
        Ok(args::Verb::Undo(args)) => verb::clients::undo(&run, &args),
        Ok(args::Verb::List(args)) => verb::clients::list(&run, &args),
        Ok(args::Verb::Sync(args)) => verb::clients::sync(&run, &args),
        Ok(args::Verb::Doctor(args)) => verb::doctor::run(&run, &args),
        Ok(args::Verb::Clients(args)) => verb::clients::clients(&args),
        Ok(args::Verb::Config(args)) => match args.verb {
            args::clients::ConfigVerb::Effective(args) => verb::clients::effective(&run, &args),
        },
        Ok(args::Verb::Lock(args)) => verb::lock::run(&run, &args),
        Ok(args::Verb::Keygen(args)) => verb::keys::keygen(&args),
        Ok(args::Verb::Sign(args)) => verb::sign::run(&run, &args),
        Ok(args::Verb::Verify(args)) => verb::verify::run(&run, &args),
        Ok(args::Verb::Explain(args)) => verb::explain::run(&args),
        Ok(args::Verb::Rules(args)) => verb::rules::run(&args),
        Ok(args::Verb::Diff(args)) => verb::saved::diff(&args),
        Ok(args::Verb::Badge(args)) => verb::saved::badge(&args),
        Ok(args::Verb::Serve(args)) => verb::serve::run(&args),
        Ok(args::Verb::Factory(args)) => verb::factory::run(&args),
        Ok(args::Verb::StdioBridge(args)) => verb::check_client::bridge(&args),
        Ok(args::Verb::Record(args)) => verb::record::run(&run, &args),
        Ok(args::Verb::Replay(args)) => verb::replay::run(&run, &args),
        Ok(args::Verb::Gateway(args)) => verb::gateway::run(&run, &args),
        Ok(args::Verb::Fleet(args)) => verb::program::fleet(&args),
        Ok(args::Verb::Ready(args)) => verb::gateway::ready(&args),
        Ok(args::Verb::Inspect(args)) => verb::inspect::run(&run, &args),
        Ok(args::Verb::Client(mut args)) => verb::client::run(&run, &mut args),
        Ok(args::Verb::Completion(args)) => verb::completion::run(&args),
        Ok(args::Verb::Man(args)) => verb::man::run(&args),
        Err(code) => code,
    };
    // On every way out, end the children that still run.
    run.children.kill_all();
    exit.into()
}

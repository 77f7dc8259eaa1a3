//! `proof factory`: a REST API is prepared to be served.

use std::fmt::Write as _;

use openapi::propose::{Proposed, overlay, propose};
use openapi::{Api, Choice};
use report::render::text::{count, wrap};
use wire::escape;

use crate::args::factory::{FactoryArgs, FactoryVerb, InitArgs};
use crate::exit::{Exit, tell};
use crate::verb::{described, output, serving};

/// Runs the verb.
pub(crate) fn run(args: &FactoryArgs) -> Exit {
    match &args.verb {
        FactoryVerb::Init(args) => serving::run(async { init(args).await.unwrap_or_else(|exit| exit) }),
    }
}

async fn init(args: &InitArgs) -> Result<Exit, Exit> {
    let api = described::read(&args.description, &args.overlay, &Choice::default()).await?.api;
    let proposed = propose(&api, args.most.into());
    if proposed.is_empty() {
        tell(format_args!("{}: no operation to propose", escape::line(&args.description)));
        return Ok(Exit::Finding);
    }
    let text = format!("{:#}\n", overlay(&api, &proposed));
    let summary = summary(args, &api, &proposed);
    if let Some(path) = &args.output {
        output::write(path, &text)?;
        output::print(&summary)?;
    } else {
        // The proposal may go through a pipe: what is said of it must not.
        output::print(&text)?;
        tell(summary.trim_end());
    }
    Ok(Exit::Clean)
}

/// The tools by their paths, and what to do next.
fn summary(args: &InitArgs, api: &Api, proposed: &[Proposed]) -> String {
    let (few, all) = (proposed.len(), count(api.operations.len(), "operation"));
    let mut out = format!("{few} of {all} proposed as tools\n");
    for one in proposed {
        let operation = &api.operations[one.operation];
        let line = format!("{} {}: {}", operation.method.as_str(), operation.path, one.why);
        wrap(&mut out, 2, &escape::line(&line));
    }
    let file = args.output.as_ref().map_or_else(|| "FILE".to_owned(), |path| output::shown(path));
    let description = escape::line(&args.description);
    let _ = write!(out, "\nNext: proof serve --openapi {description} --overlay {file} --check\n");
    out
}

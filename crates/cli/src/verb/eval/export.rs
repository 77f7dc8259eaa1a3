//! `proof eval export-tools`: a server's tools in the form of a model's API.

use eval::export::{Api, export};

use super::offered;
use crate::args::eval::export::{ApiFormat, ExportArgs};
use crate::exit::{Exit, tell, usage};
use crate::format::eval::export::{notes, report, tools};
use crate::run::Run;
use crate::verb::output;

/// Prints the tools.
pub(super) fn exported(run: &Run, args: &ExportArgs) -> Result<Exit, Exit> {
    let is_openai = matches!(args.format, ApiFormat::OpenAi | ApiFormat::OpenAiChat);
    if args.strict && !is_openai {
        return Err(usage("--strict needs an API with strict tools", "--format openai or --format openai-chat"));
    }
    let written: Vec<_> = args.to.output.iter().chain(&args.report).map(|path| path.as_path()).collect();
    written.iter().try_for_each(|path| output::writable(path))?;
    output::distinct(&written, &args.tools.tools.iter().map(|path| path.as_path()).collect::<Vec<_>>())?;
    let catalogue = offered::tools(run, &args.tools)?;
    let exported = export(&catalogue, api(args.format), args.strict);
    tell(notes(&exported, args.strict).trim_end());
    if let Some(path) = &args.report {
        output::write(path, &report(&exported, name(args.format)))?;
    }
    args.to.publish(&tools(&exported))?;
    let is_whole = !args.strict || exported.tools.iter().all(|tool| tool.is_strict);
    Ok(if is_whole { Exit::Clean } else { Exit::Finding })
}

const fn api(format: ApiFormat) -> Api {
    match format {
        ApiFormat::OpenAi => Api::OpenAi,
        ApiFormat::OpenAiChat => Api::OpenAiChat,
        ApiFormat::Anthropic => Api::Anthropic,
        ApiFormat::Gemini => Api::Gemini,
    }
}

const fn name(format: ApiFormat) -> &'static str {
    match format {
        ApiFormat::OpenAi => "openai",
        ApiFormat::OpenAiChat => "openai-chat",
        ApiFormat::Anthropic => "anthropic",
        ApiFormat::Gemini => "gemini",
    }
}

//! What every request of `proof eval run` has, and what its recording says of it.

use agent::{Choice, Dialect, Mode, Request, Tools};
use serde_json::{Map, Value, json};
use wire::escape::snippet;

use super::super::files::unreadable;
use super::super::model::Model;
use crate::args::eval::run::RunArgs;
use crate::exit::{Exit, usage};
use crate::verb::given_file;

/// How large a file of instructions may be, in bytes.
const LIMIT: u64 = 4 << 20;

/// The model of a run, and the instructions before every prompt.
pub(super) struct Settings {
    pub(super) model: Model,
    system: Option<String>,
}

impl Settings {
    pub(super) fn new(args: &RunArgs) -> Result<Self, Exit> {
        let of = &args.model;
        let model = Model::new(&of.endpoint, &args.budget, args.tools.server.reach.ca_file.clone(), "--set")?;
        if args.strict && model.dialect == Dialect::Messages {
            return Err(usage("--strict needs an API with strict tools", "--api responses or --api chat"));
        }
        let text = |path: &std::path::PathBuf| {
            given_file::text(path, LIMIT).map_err(|error| unreadable(path, &error.to_string()))
        };
        Ok(Self { model, system: of.system.as_ref().map(text).transpose()? })
    }

    /// What every request has.
    pub(super) fn request(&self, args: &RunArgs, tools: &Tools) -> Result<Request, Exit> {
        Ok(Request {
            dialect: self.model.dialect,
            model: self.model.name.clone(),
            system: self.system.clone(),
            choice: choice(&args.tool_choice, tools)?,
            is_parallel: !args.no_parallel,
            is_streamed: args.model.stream,
            parameters: self.model.parameters.clone(),
        })
    }

    /// The first line of the recording.
    pub(super) fn header(&self, args: &RunArgs, address: &str, tools: &Tools) -> Map<String, Value> {
        let header = json!({
            "format": eval::recording::FORMAT,
            "api": self.model.dialect.as_str(),
            "endpoint": address,
            "model": self.model.name,
            "system": self.system,
            "tool_choice": args.tool_choice,
            "parallel": !args.no_parallel,
            "strict": args.strict,
            "stream": args.model.stream,
            "max_turns": args.max_turns,
            "parameters": self.model.parameters,
            "tools": tools.listed(),
        });
        header.as_object().cloned().unwrap_or_default()
    }
}

/// The choice of tools by their names on the server.
fn choice(text: &str, tools: &Tools) -> Result<Choice, Exit> {
    let name = |name: &str| {
        tools.name_in_api(name).map(str::to_owned).ok_or_else(|| {
            usage(&format!("--tool-choice: there is no tool `{}`", snippet(name, 60)), "a tool that the server lists")
        })
    };
    let names = |list: &str| list.split(',').map(|one| name(one.trim())).collect::<Result<Vec<_>, Exit>>();
    let choice = match (text, text.split_once(':')) {
        ("auto", _) => Choice::Auto,
        ("required", _) => Choice::Required,
        ("none", _) => Choice::None,
        (_, Some(("tool", tool))) => Choice::Tool(name(tool)?),
        (_, Some(("allowed", list))) => Choice::Allowed(Mode::Auto, names(list)?),
        (_, Some(("allowed-required", list))) => Choice::Allowed(Mode::Required, names(list)?),
        _ => {
            let what = format!("invalid --tool-choice `{}`", snippet(text, 60));
            return Err(usage(&what, "auto, required, none, tool:NAME, allowed:NAME,NAME or allowed-required:NAME"));
        }
    };
    if tools.listed().is_empty() && !matches!(choice, Choice::Auto | Choice::None) {
        return Err(usage("--tool-choice demands a call, and the server has no tools", "--tool-choice auto"));
    }
    Ok(choice)
}

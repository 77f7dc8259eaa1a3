//! The tools of a server or of a file.

use std::path::Path;

use eval::{CaseFile, Catalogue};
use lock::Kind;
use serde_json::json;
use wire::escape;

use super::files::unreadable;
use crate::args::eval::tools::ToolsArgs;
use crate::args::reach::environment;
use crate::exit::{self, Exit, usage};
use crate::run::Run;
use crate::verb::connecting::declared;
use crate::verb::snapshot::failed;
use crate::verb::{given_file, output};

/// How large a file may be, in bytes.
const LIMIT: u64 = 256 << 20;

/// Reads the tools.
pub(super) fn tools(run: &Run, args: &ToolsArgs) -> Result<Catalogue, Exit> {
    let server = &args.server;
    if let Some(path) = &args.tools {
        return in_file(path);
    }
    let run = &run.with_environment(environment(&server.reach.inherit_env));
    exit::conceal(run.redactor_of(&server.secrets()));
    let address = server.address()?.ok_or_else(|| {
        usage("no tools given", "a URL, a command after `--`, or a file with --tools: --tools tools.json")
    })?;
    let surface = declared(run, &server.reach, address, args.revision, failed)?;
    Catalogue::read(&json!({ "tools": surface.items(Kind::Tool) })).map_err(|why| {
        usage(
            &format!("the server's tools cannot be used: {}", escape::line(&why)),
            "`proof check` examines the server",
        )
    })
}

/// Reads the tools: those that are given, or else those that a file of cases names, relative to it.
pub(super) fn tools_or_those_of(run: &Run, args: &ToolsArgs, path: &Path, file: &CaseFile) -> Result<Catalogue, Exit> {
    if args.tools.is_some() || !args.server.is_unnamed() {
        return tools(run, args);
    }
    let named = file
        .tools
        .as_ref()
        .ok_or_else(|| usage("the cases name no tools", "`tools: FILE` in the case file, --tools FILE, or a server"))?;
    in_file(&path.parent().unwrap_or(Path::new("")).join(named))
}

/// Reads the tools in a file.
fn in_file(path: &Path) -> Result<Catalogue, Exit> {
    let text = given_file::text(path, LIMIT).map_err(|error| unreadable(path, &error.to_string()))?;
    eval::listed::read(&text).map_err(|why| {
        let what = format!("no list of tools in {}: {}", output::shown(path), escape::line(&why));
        usage(&what, "a result of `proof client tools --json`, a snapshot, a trace, or the `tools` of a request")
    })
}

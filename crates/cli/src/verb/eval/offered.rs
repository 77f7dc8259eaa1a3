//! The tools of a server or of a file.

use std::path::Path;

use eval::Catalogue;
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

/// Reads the tools in a file.
pub(super) fn in_file(path: &Path) -> Result<Catalogue, Exit> {
    let text = given_file::text(path, LIMIT).map_err(|error| unreadable(path, &error.to_string()))?;
    eval::listed::read(&text).map_err(|why| {
        let what = format!("no list of tools in {}: {}", output::shown(path), escape::line(&why));
        usage(&what, "a result of `proof client tools --json`, a snapshot, a trace, or the `tools` of a request")
    })
}

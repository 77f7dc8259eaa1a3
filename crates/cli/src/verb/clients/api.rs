//! A REST API as the server to add: `proof serve` in front of it, by its OpenAPI description. Reads of the description only what
//! it is; whether it can be served shows when the entry is connected.

use std::path::Path;

use clients::Launch;
use document::FileErrors;
use openapi::LARGEST;

use super::target::{Target, variables};
use crate::args::clients::AddArgs;
use crate::exit::{Exit, tell, usage};
use crate::verb::{given_file, output};

/// The longest name that is made of a title.
const LONGEST: usize = 40;

/// Whether a text names the file of a description, and not a server.
pub(super) fn is_file(text: &str) -> bool {
    let end = Path::new(text).extension().and_then(|end| end.to_str()).unwrap_or_default();
    !text.contains("://") && ["json", "yaml", "yml"].iter().any(|known| end.eq_ignore_ascii_case(known))
}

/// The server for the description in `file`.
pub(super) fn target(args: &AddArgs, name: Option<&str>, file: &Path) -> Result<Target, Exit> {
    if !args.header.is_empty() || args.transport.as_deref().is_some_and(|transport| transport != "stdio") {
        let remedy = "--api-config FILE has the credentials of an API: \
                      https://github.com/proofhouse/proofhouse/blob/main/docs/factory.md";
        return Err(usage("--header and --transport http are for URLs of servers", remedy));
    }
    let title = title(file)?;
    let program = std::env::current_exe()
        .map_err(|error| usage(&format!("the path of proof is unknown: {error}"), "give a command, after `--`"))?;
    let mut words = ["serve", "--stdio", "--openapi"].map(str::to_owned).to_vec();
    words.push(absolute(file)?);
    if let Some(config) = &args.api_config {
        let error = |error| usage(&format!("cannot read {}: {error}", output::shown(config)), "check the path");
        config.metadata().map_err(error)?;
        words.extend(["--config".to_owned(), absolute(config)?]);
    }
    let launch = Launch::Stdio { command: absolute(&program)?, args: words, env: variables(&args.env)? };
    let name = args.name.clone().or(name.map(str::to_owned)).unwrap_or_else(|| name_of(&title));
    Ok(Target { name, launches: vec![launch], scope: None })
}

/// The title of a description. Anything but a description is an error.
fn title(file: &Path) -> Result<String, Exit> {
    let shown = output::shown(file);
    let text = given_file::text(file, LARGEST as u64)
        .map_err(|error| usage(&format!("cannot read {shown}: {error}"), "check the path and its permissions"))?;
    let (value, _) = openapi::parse(&text).map_err(|error| {
        tell(FileErrors::new(shown.as_str(), vec![error]));
        Exit::Usage
    })?;
    if value["openapi"].is_null() && value["swagger"].is_null() {
        let remedy = "--registry FILE for a server.json, or a command after `--`";
        return Err(usage(&format!("{shown} is no OpenAPI description: it has no `openapi`"), remedy));
    }
    Ok(value["info"]["title"].as_str().unwrap_or_default().to_owned())
}

/// Clients start the server in folders of their own, so every path is a whole one.
fn absolute(path: &Path) -> Result<String, Exit> {
    let whole = std::path::absolute(path).ok().and_then(|whole| whole.to_str().map(str::to_owned));
    whole.ok_or_else(|| usage(&format!("{} cannot stand in a file of text", output::shown(path)), "rename it"))
}

/// A name made of a title.
fn name_of(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = String::new();
    for word in words {
        if name.len() + word.len() >= LONGEST {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(&word.to_ascii_lowercase());
    }
    if name.is_empty() { "api".to_owned() } else { name }
}

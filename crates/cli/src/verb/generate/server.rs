//! The `server` of a generated test file, relative to the file.

use std::path::Path;

use serde_json::{Map, Value, json};
use wire::redact::{Redactor, Secrets};

use crate::args::reach::ServerArgs;
use crate::verb::generated_file::relative;

/// The complete entry, including secrets, to run the file at once.
pub(super) fn complete(args: &ServerArgs, path: &Path) -> Map<String, Value> {
    let target = args.named();
    let mut server = Map::new();
    let pairs = |texts: &[String], mark: char| -> Map<String, Value> {
        let pair =
            |text: &String| text.split_once(mark).map(|(name, value)| (name.trim().to_owned(), json!(value.trim())));
        texts.iter().filter_map(pair).collect()
    };
    if let Some(url) = target.url {
        server.insert("url".to_owned(), json!(url));
        let headers = pairs(&args.reach.header, ':');
        if !headers.is_empty() {
            server.insert("headers".to_owned(), headers.into());
        }
        server.extend(args.reach.bearer_env.iter().map(|name| ("bearerEnv".to_owned(), json!(name))));
        return server;
    }
    server.insert("command".to_owned(), json!(target.command));
    let env = pairs(&args.reach.env, '=');
    if !env.is_empty() {
        server.insert("env".to_owned(), env.into());
    }
    let inherited = &args.reach.inherit_env;
    if !inherited.is_empty() {
        server.insert("inheritEnv".to_owned(), json!(inherited));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let cwd = relative(folder, args.reach.cwd.as_deref().unwrap_or(Path::new(".")));
    server.extend(cwd.map(|cwd| ("cwd".to_owned(), json!(cwd.to_string_lossy()))));
    server
}

/// The entry without values that may be secret, and their names.
pub(crate) fn without_secrets(
    args: &ServerArgs,
    path: &Path,
    redactor: &Redactor,
) -> (Map<String, Value>, Vec<String>) {
    let mut server = complete(args, path);
    let mut left_out = Vec::new();
    for (member, header) in [("headers", true), ("env", false)] {
        let Some(Value::Object(pairs)) = server.get_mut(member) else { continue };
        pairs.retain(|name, value| {
            let value = value.as_str().unwrap_or_default();
            let mut secrets = Secrets::default();
            if header {
                secrets.header(name, value);
            } else {
                secrets.variable(name, value);
            }
            let keeps = redactor.clone().knowing(&secrets).redact_known(value) == value;
            if !keeps {
                left_out.push(name.clone());
            }
            keeps
        });
        if pairs.is_empty() {
            server.shift_remove(member);
        }
    }
    (server, left_out)
}

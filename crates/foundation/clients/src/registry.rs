//! Reads a registry's `server.json`: the ways to reach a server, the best first.

use serde_json::Value;

use crate::reference::is_name;
use crate::server::{Launch, Transport};
use crate::shape::variable_of;

/// What a `server.json` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The whole name, such as `io.github.owner/name`.
    pub name: String,
    /// The ways to reach it: Streamable HTTP, HTTP+SSE, then packages.
    pub launches: Vec<Launch>,
}

impl Published {
    /// The name in the files of clients.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }
}

/// Reads a `server.json`, also as a registry's API wraps it. `Err` says why nothing can be made of it.
pub fn read(value: &Value) -> Result<Published, String> {
    let value = value.get("server").filter(|server| server.is_object()).unwrap_or(value);
    let name = value["name"].as_str().ok_or("it has no `name`")?;
    let server = name.rsplit('/').next().unwrap_or(name);
    let list = |key: &str| value[key].as_array().into_iter().flatten();
    let mut problems = Vec::new();
    let mut keep = |launch: Result<Launch, String>| launch.map_err(|why| problems.push(why)).ok();
    let mut launches: Vec<_> = list("remotes").filter_map(|one| keep(remote(server, one))).collect();
    launches.sort_by_key(|launch| !matches!(launch, Launch::Remote { transport: Transport::Http, .. }));
    let packages: Vec<_> = list("packages").filter_map(|one| keep(package(server, one))).collect();
    launches.extend(packages);
    if launches.is_empty() {
        return Err(if problems.is_empty() {
            "it has no `remotes` and no `packages`".to_owned()
        } else {
            problems.join("; ")
        });
    }
    Ok(Published { name: name.to_owned(), launches })
}

fn remote(server: &str, value: &Value) -> Result<Launch, String> {
    let transport = match value["type"].as_str() {
        Some("streamable-http" | "http") => Transport::Http,
        Some("sse") => Transport::Sse,
        other => return Err(format!("a remote has the unknown type {}", document::quoted(other.unwrap_or_default()))),
    };
    let url = value["url"].as_str().ok_or("a remote has no `url`")?;
    if plain(url).is_err() {
        return Err("its URL has variables, which proof does not fill in".to_owned());
    }
    let is_header = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
    let headers = inputs(server, &value["headers"], is_header)?;
    Ok(Launch::Remote { transport, url: url.to_owned(), headers })
}

fn package(server: &str, value: &Value) -> Result<Launch, String> {
    let identifier = plain(value["identifier"].as_str().ok_or("a package has no `identifier`")?)?;
    if let Some(kind) = value["transport"]["type"].as_str().filter(|kind| *kind != "stdio") {
        return Err(format!("the package {} serves over {}", document::quoted(identifier), document::quoted(kind)));
    }
    let version = plain(value["version"].as_str().unwrap_or_default())?;
    let versioned = |mark: &str| {
        if version.is_empty() { identifier.to_owned() } else { format!("{identifier}{mark}{version}") }
    };
    let kind = value["registryType"].as_str().unwrap_or_default();
    let env = inputs(server, &value["environmentVariables"], is_name)?;
    let runtime = arguments(&value["runtimeArguments"])?;
    let own = arguments(&value["packageArguments"])?;
    let (command, before, package) = match kind {
        "npm" => ("npx", vec!["-y".to_owned()], versioned("@")),
        "pypi" => ("uvx", Vec::new(), versioned("==")),
        "oci" => {
            let mut words: Vec<_> = ["run", "-i", "--rm"].map(str::to_owned).into();
            words.extend(env.iter().flat_map(|(name, _)| ["-e".to_owned(), name.clone()]));
            ("docker", words, versioned(":"))
        }
        _ => {
            return Err(format!(
                "the package {} is of the unknown type {}",
                document::quoted(identifier),
                document::quoted(kind)
            ));
        }
    };
    let command = value["runtimeHint"].as_str().filter(|hint| *hint == command).unwrap_or(command);
    let mut args = before;
    args.extend(runtime.into_iter().filter(|word| word != "-y" && word != "--yes"));
    args.push(package);
    args.extend(own);
    Ok(Launch::Stdio { command: command.to_owned(), args, env })
}

/// A text that goes into the entry as it is: no client may find a reference in it.
fn plain(text: &str) -> Result<&str, String> {
    if text.contains(['{', '}', '$', '\r', '\n', '\0']) {
        return Err(format!("{} holds a reference or a line break", document::quoted(text)));
    }
    Ok(text)
}

/// Variables or headers: one that needs a value refers to a variable of this server alone. Its author may not choose which of
/// the user's variables is read.
fn inputs(server: &str, list: &Value, is_valid: impl Fn(&str) -> bool) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for one in list.as_array().into_iter().flatten() {
        let name = one["name"].as_str().ok_or("a variable has no `name`")?;
        if name.is_empty() || !is_valid(name) {
            return Err(format!("{} cannot be the name of a variable or a header", document::quoted(name)));
        }
        let value = one["value"].as_str().or_else(|| one["default"].as_str());
        let value = match value {
            Some(value) if !value.contains('{') => plain(value)?.to_owned(),
            Some(value) if value.matches('{').count() == 1 && value.ends_with('}') => {
                let (before, variable) = value.split_once('{').unwrap_or_default();
                let before = plain(before.trim_end_matches('$'))?;
                format!("{before}${{{}}}", variable_of(server, variable.trim_end_matches('}')))
            }
            Some(_) => return Err(format!("{} has a value with several variables", document::quoted(name))),
            None if one["isRequired"] == true || one["isSecret"] == true => {
                format!("${{{}}}", variable_of(server, name))
            }
            None => continue,
        };
        found.push((name.to_owned(), value));
    }
    Ok(found)
}

fn arguments(list: &Value) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    for one in list.as_array().into_iter().flatten() {
        let name = one["name"].as_str().map(plain).transpose()?;
        let value = one["value"].as_str().or_else(|| one["default"].as_str()).filter(|value| plain(value).is_ok());
        let is_flag =
            one["type"] == "named" && one["value"].is_null() && one["default"].is_null() && one["valueHint"].is_null();
        match (value, name) {
            (Some(value), name) => words.extend(name.map(str::to_owned).into_iter().chain([value.to_owned()])),
            (None, Some(name)) if is_flag && one["isRequired"] == true => words.push(name.to_owned()),
            (None, _) if one["isRequired"] == true => {
                let hint = name.or_else(|| one["valueHint"].as_str()).unwrap_or("an argument");
                return Err(format!("it needs a value for {}", document::quoted(hint)));
            }
            (None, _) => {}
        }
    }
    Ok(words)
}

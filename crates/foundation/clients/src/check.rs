//! What may be the name of a server and how one may be reached, the same for every way in: options, lines, lists.

use document::quoted;
use url::Url;

use crate::reference;
use crate::server::Launch;

/// The longest name.
const LONGEST: usize = 128;

/// Names that are something else to programs that read the file.
const TAKEN: [&str; 3] = ["__proto__", "constructor", "prototype"];

/// What is wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: &'static str,
}

fn invalid(what: impl Into<String>, remedy: &'static str) -> Result<(), Invalid> {
    Err(Invalid { what: what.into(), remedy })
}

/// Checks the name of a server.
pub fn name(name: &str) -> Result<(), Invalid> {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
    let is_path = name.chars().all(|c| c == '.');
    if is_plain && !is_path && !name.starts_with('-') && name.len() <= LONGEST && !TAKEN.contains(&name) {
        return Ok(());
    }
    let shown: String = name.chars().take(LONGEST).collect();
    let what = format!("{} cannot be the name of a server", quoted(&shown));
    invalid(what, "letters, digits, `_`, `-` and `.`, a letter or digit first")
}

/// Checks how a server is reached.
pub fn launch(launch: &Launch) -> Result<(), Invalid> {
    match launch {
        Launch::Stdio { command, args, env } => {
            if command.trim().is_empty() {
                return invalid("the command is empty", "npx -y package@1.2.3");
            }
            if command.contains("://") {
                let what = format!("the command {} is a URL", quoted(command));
                return invalid(what, "--transport http for a URL (`url` in a list)");
            }
            if std::iter::once(command).chain(args).any(|word| word.contains('\0')) {
                return invalid("the command has a zero byte in it", "leave it out");
            }
            env.iter().try_for_each(|(name, value)| variable(name, value))
        }
        Launch::Remote { url, headers, .. } => {
            address(url)?;
            headers.iter().try_for_each(|(name, value)| header(name, value))
        }
    }
}

/// Checks a URL.
pub fn address(url: &str) -> Result<(), Invalid> {
    // A parser of URLs drops line breaks and tabs; a client may not.
    let is_clean = !url.chars().any(|c| c.is_whitespace() || c.is_control());
    let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if is_clean && parsed.is_some() {
        return Ok(());
    }
    invalid(format!("{} is not an http(s):// URL", quoted(url)), "https://host/mcp")
}

/// Checks a variable.
pub fn variable(name: &str, value: &str) -> Result<(), Invalid> {
    if !reference::is_name(name) {
        return invalid(format!("{} cannot be the name of a variable", quoted(name)), "NAME=value");
    }
    if value.is_empty() || value.contains('\0') {
        return invalid(format!("the variable {name} has no value that a process can have"), "NAME=value");
    }
    Ok(())
}

/// Checks a header.
pub fn header(name: &str, value: &str) -> Result<(), Invalid> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(is_token) {
        return invalid(format!("{} cannot be the name of a header", quoted(name)), "`Name: value`");
    }
    if value.trim().is_empty() || value.chars().any(|c| c.is_control() && c != '\t') {
        let what = format!("the header {name} has no value, or a control character in it");
        return invalid(what, "`Name: value` on one line");
    }
    Ok(())
}

//! Launch commands that run whatever is newest.

use serde_json::Value;

/// The argument at fault, and what it does; the pointer is into the entry.
pub(super) fn unpinned(entry: &Value) -> Option<(String, String)> {
    let words = words(entry);
    let mut rest: Vec<(&str, &str)> = words.iter().map(|(pointer, word)| (pointer.as_str(), word.as_str())).collect();
    // On Windows, launchers need a shell; elsewhere `env` sets variables.
    while rest.first().is_some_and(|(_, word)| {
        let word = program(word);
        matches!(word, "cmd" | "/c" | "/C" | "env") || word.contains('=')
    }) {
        rest.remove(0);
    }
    let (_, first) = *rest.first()?;
    let rest = &rest[1..];
    let subcommand = rest.first().map(|(_, word)| *word);
    match (program(first), subcommand) {
        ("npx" | "bunx" | "pnpx", _) => package(rest, npm),
        ("npm", Some("exec" | "x")) | ("pnpm" | "yarn", Some("dlx")) | ("bun", Some("x")) => package(&rest[1..], npm),
        ("uvx", _) => package(rest, python),
        ("pipx", Some("run")) => package(&rest[1..], python),
        ("uv", Some("tool")) if rest.get(1).is_some_and(|(_, word)| *word == "run") => package(&rest[2..], python),
        ("docker" | "podman" | "nerdctl", Some("run")) => image(&rest[1..]),
        ("go", Some("run")) => package(&rest[1..], go),
        ("sh" | "bash" | "zsh", _) => rest
            .iter()
            .find(|(_, word)| pipes(word))
            .map(|(pointer, _)| ((*pointer).to_owned(), "pipes a download into a shell".to_owned())),
        _ => None,
    }
}

/// The command and its arguments, each with its pointer.
pub(super) fn words(entry: &Value) -> Vec<(String, String)> {
    let mut words = Vec::new();
    for member in ["command", "cmd", "args"] {
        match &entry[member] {
            // Some files have a whole line for a command, or for its arguments.
            Value::String(line) if entry["args"].is_null() || member == "args" => {
                let unquoted = |word: &str| word.trim_matches(['"', '\'']).to_owned();
                words.extend(line.split_whitespace().map(|word| (format!("/{member}"), unquoted(word))));
            }
            Value::String(word) => words.push((format!("/{member}"), word.clone())),
            Value::Array(list) => {
                let list = list.iter().enumerate().filter_map(|(at, word)| Some((at, word.as_str()?)));
                words.extend(list.map(|(at, word)| (format!("/{member}/{at}"), word.to_owned())));
            }
            _ => {}
        }
    }
    words
}

fn program(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    if word.len() == 2 { word } else { name.trim_end_matches(".cmd").trim_end_matches(".exe") }
}

/// The package that a runner is given: after `--package` or `--from`, or the first word that is no flag.
fn package(rest: &[(&str, &str)], is_pinned: fn(&str) -> bool) -> Option<(String, String)> {
    let mut words = rest.iter().copied();
    let (mut named, mut follows) = (None, "");
    while let Some((pointer, word)) = words.next() {
        match word {
            "-p" | "--package" | "--from" | "--spec" => {
                named = words.next();
                break;
            }
            "--python" | "--with" | "--index-url" | "--directory" | "--registry" => drop(words.next()),
            _ => {
                let given = ["--package=", "--from=", "--spec="].iter().find_map(|flag| word.strip_prefix(flag));
                if given.is_some() || !word.starts_with('-') {
                    named = Some((pointer, given.unwrap_or(word)));
                    break;
                }
                follows = word;
            }
        }
    }
    let (pointer, name) = named?;
    let is_local = name.starts_with(['.', '/', '~', '$', '<']) || name.starts_with("file:");
    let shown = printable(name, follows).map_or_else(|| "the package".to_owned(), |name| format!("`{name}`"));
    (!is_local && !is_pinned(name)).then(|| (pointer.to_owned(), format!("{shown} names no exact version")))
}

/// The name of a package as reports may print it: without user information and query. A word after a flag that is not
/// known to stand alone may be a secret.
fn printable(name: &str, follows: &str) -> Option<String> {
    let stands_alone = ["", "-y", "--yes", "-q", "--quiet", "--silent", "-i", "-t", "-it", "-d", "--rm", "--init"];
    let is_assigned = name.contains('=') && !name.contains("==") && !name.contains("://");
    if !stands_alone.contains(&follows) || is_assigned || super::secrets::find(name).is_some() {
        return None;
    }
    let (scheme, rest) = name.split_once("://").map_or(("", name), |(scheme, rest)| (scheme, rest));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    if scheme.is_empty() {
        return Some(rest.to_owned());
    }
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    Some(format!("{scheme}://{host}/{path}"))
}

/// Whether it is a whole version: digits, a dot, digits.
fn is_version(text: &str) -> bool {
    let text = text.trim_start_matches('v');
    let mut parts = text.split('.');
    let is_number = |part: Option<&str>| part.is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    is_number(parts.next()) && is_number(parts.next())
}

fn is_commit(text: &str) -> bool {
    text.len() >= 40 && text.chars().all(|c| c.is_ascii_hexdigit())
}

fn npm(name: &str) -> bool {
    if name.contains("://") || name.starts_with("github:") || name.starts_with("git+") {
        return name.rsplit_once('#').is_some_and(|(_, at)| is_commit(at));
    }
    name.get(1..).and_then(|rest| rest.rsplit_once('@')).is_some_and(|(_, version)| is_version(version))
}

fn python(name: &str) -> bool {
    if name.contains("://") {
        return name.rsplit_once('@').is_some_and(|(_, at)| is_commit(at) || is_version(at));
    }
    let version = name.rsplit_once("==").or_else(|| name.rsplit_once('@')).map(|(_, version)| version);
    version.is_some_and(is_version)
}

fn go(name: &str) -> bool {
    !name.contains('/') || name.rsplit_once('@').is_some_and(|(_, version)| is_version(version))
}

/// Flags of `docker run` whose value is a word of its own.
const VALUED: [&str; 21] = [
    "-e",
    "--env",
    "-v",
    "--volume",
    "--name",
    "--mount",
    "-p",
    "--publish",
    "--network",
    "--net",
    "--env-file",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "--entrypoint",
    "--platform",
    "-m",
    "--memory",
    "--label",
    "--add-host",
];

fn image(rest: &[(&str, &str)]) -> Option<(String, String)> {
    let mut words = rest.iter();
    let mut follows = "";
    while let Some((pointer, word)) = words.next() {
        if VALUED.contains(word) {
            words.next();
            follows = "";
        } else if !word.starts_with('-') {
            let tag = word.rsplit('/').next().and_then(|last| last.split_once(':')).map(|(_, tag)| tag);
            let is_pinned = word.contains("@sha256:")
                || tag.is_some_and(|tag| tag.starts_with(|c: char| c == 'v' || c.is_ascii_digit()));
            let shown = printable(word, follows).map_or_else(String::new, |word| format!("`{word}` "));
            return (!is_pinned)
                .then(|| ((*pointer).to_owned(), format!("the image {shown}names no version or digest")));
        } else {
            follows = word;
        }
    }
    None
}

fn pipes(script: &str) -> bool {
    (script.contains("curl ") || script.contains("wget "))
        && (script.contains("| sh") || script.contains("| bash") || script.contains("|sh") || script.contains("|bash"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::unpinned;

    #[test]
    fn what_is_pinned_and_what_is_not() {
        let found = |line: &str| {
            let mut words = line.split(' ');
            let command = words.next();
            unpinned(&json!({ "command": command, "args": words.collect::<Vec<_>>() })).map(|(pointer, _)| pointer)
        };
        for (line, pointer) in [
            ("npx -y some-server", "/args/1"),
            ("npx -y @scope/server@latest /data", "/args/1"),
            ("npx --package=server@^1 server", "/args/0"),
            ("/usr/bin/npx.cmd server", "/args/0"),
            ("cmd /c npx -y server", "/args/3"),
            ("uvx mcp-server-x", "/args/0"),
            ("uvx --from git+https://x.example/a/b tool", "/args/1"),
            ("uv tool run x", "/args/2"),
            ("docker run -i --rm -e KEY mcp/server", "/args/5"),
            ("docker run --rm x.example:5000/a/b:latest", "/args/2"),
            ("go run x.example/a/b@latest", "/args/1"),
        ] {
            assert_eq!(found(line).as_deref(), Some(pointer), "{line}");
        }
        for line in [
            "npx -y server@1.2.3",
            "npx -y @scope/server@1.2.3-beta.1",
            "npx ./local",
            "uvx x==1.2",
            "uvx x@1.2.3",
            "uvx --python 3.12 x==1.0",
            "docker run -i x.example/a@sha256:0123",
            "docker run -v a:b mcp/server:1.4",
            "node server.js",
            "uv run server.py",
            "go run .",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
        assert!(unpinned(&json!({ "command": ["npx", "-y", "a"] })).is_some());
        assert!(unpinned(&json!({ "command": "npx", "args": "-y a" })).is_some());
        assert!(unpinned(&json!({ "command": "bash", "args": ["-c", "curl https://x.example/i | sh"] })).is_some());
    }

    #[test]
    fn messages_print_packages_and_no_secrets() {
        let secret = "Zx9k2Lq8Vn4T";
        for (line, shown) in [
            ("uvx --from git+https://oauth2:Zx9k2Lq8Vn4T@x.example/o/r", Some("x.example/o/r")),
            ("npx -y srv -k Zx9k2Lq8Vn4T", Some("`srv`")),
            ("npx --registry-auth Zx9k2Lq8Vn4T srv", None),
            ("npx git+https://x.example/o/r?key=Zx9k2Lq8Vn4T#main", Some("x.example/o/r")),
            ("docker run --token Zx9k2Lq8Vn4T mcp/server", None),
            ("docker run -i --rm mcp/server", Some("`mcp/server`")),
        ] {
            let (_, message) = unpinned(&json!({ "command": line })).unwrap_or_else(|| panic!("{line}"));
            assert!(!message.contains(secret), "{message}");
            assert!(shown.is_none_or(|shown| message.contains(shown)), "{message}");
        }
    }
}

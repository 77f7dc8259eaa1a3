//! Which crate may depend on which: the arrows of DESIGN and ARCHITECTURE, the owners of the heavy libraries, and the
//! promise that no MCP SDK is anywhere in the product. It reads manifests line by line and knows of TOML what cargo's
//! own manifests need.

use super::{Source, Violation};

/// The folders of `crates/` that hold crates, from the ground up.
const FLOORS: &[&str] = &["foundation", "transport", "peers", "judging", "products"];

/// Whether a folder of `crates/` is a floor, not a crate.
pub(super) fn is_floor(folder: &str) -> bool {
    FLOORS.contains(&folder)
}

/// From each crate, the arrows it may have. `None`: any.
const ARROWS: &[(&str, Option<&[&str]>)] = &[
    ("wire", Some(&[])),
    ("schema", Some(&["wire"])),
    ("document", Some(&["wire"])),
    ("report", Some(&["wire"])),
    ("lock", Some(&["wire", "schema"])),
    ("guard", Some(&["wire"])),
    ("clients", Some(&["document"])),
    ("rank", Some(&[])),
    ("eval", Some(&["wire", "schema", "document", "rank"])),
    ("openapi", Some(&["wire", "schema", "document", "guard"])),
    ("net", Some(&["wire"])),
    ("oauth", Some(&["wire", "net"])),
    ("client", Some(&["wire", "schema", "guard", "net", "oauth"])),
    ("doctor", Some(&["wire", "net", "oauth", "client"])),
    ("reference", Some(&["wire", "schema", "document", "net", "oauth"])),
    ("faults", Some(&["wire", "schema", "document", "net", "oauth", "client", "reference"])),
    ("rules", Some(&["wire", "schema"])),
    ("judge", Some(&["wire", "schema", "report", "net", "oauth", "client", "reference", "faults", "rules"])),
    ("suite", Some(&["wire", "schema", "document", "lock", "guard", "net", "client"])),
    ("replay", Some(&["wire", "schema", "net", "client"])),
    ("page", Some(&["wire", "net"])),
    ("console", Some(&["wire", "net", "oauth", "client", "doctor", "page"])),
    ("gateway", Some(&["wire", "schema", "document", "lock", "clients", "guard", "rank", "net", "oauth"])),
    ("factory", Some(&["wire", "schema", "openapi", "document", "net", "oauth"])),
    ("agent", Some(&["wire", "eval", "net", "client"])),
    ("fleet-store", Some(&["wire", "net"])),
    ("fleet", Some(&["wire", "document", "report", "clients", "net", "page", "fleet-store"])),
    // The binary puts together what there is.
    (
        "cli",
        Some(&[
            "wire",
            "schema",
            "document",
            "report",
            "lock",
            "guard",
            "eval",
            "openapi",
            "clients",
            "document",
            "net",
            "oauth",
            "client",
            "doctor",
            "reference",
            "faults",
            "rules",
            "judge",
            "suite",
            "replay",
            "console",
            "factory",
            "agent",
            "gateway",
        ]),
    ),
    ("xtask", None),
];

/// Libraries that only some crates may have: what opens sockets, spawns, rolls rng, or talks to people.
const OWNED: &[(&[&str], &[&str])] = &[
    (
        &[
            "http-body-util",
            "hyper",
            "hyper-util",
            "mio",
            "nix",
            "process-wrap",
            "reqwest",
            "rustls",
            "rustls-native-certs",
            "signal-hook",
            "socket2",
            "tokio-rustls",
            "tokio-tungstenite",
            "tungstenite",
        ],
        &["net", "oauth"],
    ),
    // Without its feature `net` it opens no socket, and nowhere does it start a process.
    (&["rustix"], &["net", "reference"]),
    (
        &["tokio", "tokio-util", "futures-util", "tracing"],
        &[
            "net",
            "oauth",
            "client",
            "doctor",
            "reference",
            "faults",
            "judge",
            "suite",
            "replay",
            "console",
            "page",
            "factory",
            "agent",
            "fleet-store",
            "fleet",
            "gateway",
            "cli",
        ],
    ),
    (
        &["fastrand", "getrandom", "rand", "uuid"],
        &[
            "net",
            "oauth",
            "client",
            "reference",
            "faults",
            "judge",
            "suite",
            "replay",
            "console",
            "page",
            "factory",
            "agent",
            "fleet-store",
            "gateway",
            "cli",
        ],
    ),
    // The databases of the store of a fleet: `proof` has none.
    (&["rusqlite", "tokio-postgres", "sqlx", "libsqlite3-sys"], &["fleet-store"]),
    (&["chrono", "jiff", "time"], &["net", "judge", "cli"]),
    (&["clap"], &["cli", "fleet", "gateway"]),
    (&["indicatif"], &["cli"]),
    (&["anyhow"], &["cli", "xtask"]),
];

/// One dependency in a manifest.
struct Dependency<'t> {
    line: usize,
    name: &'t str,
    dev: bool,
}

/// Everything wrong with the manifests and the lock file.
pub(super) fn check(sources: &[Source]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for source in sources {
        match source.krate() {
            Some(krate) if source.inside() == Some("Cargo.toml") => {
                violations.extend(manifest(source, krate));
                violations.extend(lints(source));
            }
            None if source.path == "Cargo.toml" => {
                violations.extend(dependencies(&source.text).iter().filter_map(|one| sdk(source, one.line, one.name)));
            }
            None if source.path == "Cargo.lock" => violations.extend(lock(source)),
            _ => {}
        }
    }
    violations
}

fn manifest(source: &Source, krate: &str) -> Vec<Violation> {
    let Some((_, arrows)) = ARROWS.iter().find(|(name, _)| *name == krate) else {
        let remedy = "give it one in ARCHITECTURE.md and in xtask's tidy/arrows.rs";
        return vec![Violation::new(source, 1, format!("{krate} has no place in the picture of crates"), remedy)];
    };
    let mut violations = Vec::new();
    for one in dependencies(&source.text) {
        violations.extend(sdk(source, one.line, one.name));
        let ours = ARROWS.iter().any(|(name, _)| *name == one.name);
        let strangers = matches!((krate, one.name), ("rules", "net") | ("net", "rules"));
        let forbidden = arrows.is_some_and(|arrows| !arrows.contains(&one.name));
        // A test may look further than the crate, but never from `rules` to `net` or back.
        if ours && (strangers || (forbidden && !one.dev)) {
            let remedy = "move the code to where the arrows of ARCHITECTURE.md allow it";
            violations.push(Violation::new(
                source,
                one.line,
                format!("{krate} must not depend on {}", one.name),
                remedy,
            ));
        }
        let owners = OWNED.iter().find(|(names, _)| names.contains(&one.name)).map(|(_, owners)| owners);
        if owners.is_some_and(|owners| !owners.contains(&krate)) && !one.dev {
            let what = format!("{krate} must not depend on {}", one.name);
            violations.push(Violation::new(source, one.line, what, "let the crate that owns it do the work"));
        }
    }
    violations
}

fn lints(source: &Source) -> Option<Violation> {
    let mut lines = source.text.lines().skip_while(|line| line.trim() != "[lints]").skip(1);
    let inherits = lines.next().is_some_and(|line| line.trim() == "workspace = true");
    let remedy = "add `[lints]` with `workspace = true`";
    (!inherits).then(|| Violation::new(source, 1, "does not take the lints of the workspace", remedy))
}

/// The rule is broad on purpose: nothing we use has those letters in its name.
fn sdk(source: &Source, line: usize, name: &str) -> Option<Violation> {
    let remedy = "the product has no MCP SDK; a peer lives in peers/, a workspace of its own";
    name.contains("mcp").then(|| Violation::new(source, line, format!("{name} is an MCP library"), remedy))
}

fn lock(source: &Source) -> Vec<Violation> {
    let lines = source.text.lines().enumerate();
    let names = lines.filter_map(|(at, line)| Some((at + 1, line.strip_prefix("name = \"")?.strip_suffix('"')?)));
    names.filter_map(|(line, name)| sdk(source, line, name)).collect()
}

/// Every dependency that a manifest names, under whatever name it is imported.
fn dependencies(text: &str) -> Vec<Dependency<'_>> {
    let mut found = Vec::new();
    let mut section = "";
    for (at, line) in text.lines().enumerate() {
        let line = line.split(" #").next().unwrap_or(line).trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
        }
        let dev = section.contains("dev-dependencies");
        found.extend(names(section, line).into_iter().map(|name| Dependency { line: at + 1, name, dev }));
    }
    found
}

/// What one line of a manifest names: the key, and what the key stands for where it is another package.
fn names<'t>(section: &'t str, line: &'t str) -> Vec<&'t str> {
    if !section.contains("dependencies") || line.is_empty() {
        return Vec::new();
    }
    if line.starts_with('[') {
        // `[dependencies.NAME]`: the header is the key.
        return section.rsplit_once("dependencies.").map(|(_, name)| name).into_iter().collect();
    }
    let mut names: Vec<&str> = ["package", "path"].iter().filter_map(|key| value(line, key)).collect();
    if section.ends_with("dependencies") {
        names.extend(line.split([' ', '.', '=']).next());
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// The value of a text key on this line, and of a path its last part, which names the crate.
fn value<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    let text = |rest: &'t str| rest.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?.split('"').next();
    let value = line.match_indices(key).find_map(|(at, _)| text(&line[at + key.len()..]))?;
    Some(value.rsplit('/').next().unwrap_or(value))
}

//! What a server and a gate's result depend on, as digests: the entry, the files that it names, what the server lists.

use std::path::{Path, PathBuf};

use crate::config::{Fleet, Launch, Server, Text};
use crate::gate::GateKind;
use crate::gates::Surface;
use crate::{digest, launch};

/// The largest file that is digested; of a larger one, the size and the time of its last change count.
const LONGEST: u64 = 64 << 20;

/// How many files of one folder are digested, and how deep they may be.
const MOST: usize = 10_000;
const DEEPEST: usize = 16;

/// How many digits of a digest are part of a version.
const DIGITS: usize = 40;

/// The digest of how a server is started: the words, the variables' names, the folder, and the files that words name.
pub fn definition(fleet: &Fleet, server: &Server) -> String {
    let folder = launch::folder(fleet, server);
    let mut parts: Vec<String> = vec!["definition".to_owned(), server.cwd.clone().unwrap_or_default()];
    if let Launch::Url(url) = &server.launch {
        parts.push(url.clone());
    }
    for word in launch::words(server).unwrap_or_default() {
        let path = folder.join(&word);
        // The program itself may be large and is of the system; scripts and descriptions stand after it.
        if parts.len() > 2 && path.is_file() {
            parts.push(of_file(&path));
        }
        parts.push(word);
    }
    for (name, value) in launch::variables(server) {
        let value = match value {
            Text::Plain(value) => value,
            Text::Variable { env } => format!("${env}"),
        };
        parts.extend([name, value]);
    }
    digest::of(parts.iter().map(String::as_str))[..DIGITS].to_owned()
}

/// The version of a server: how it is started, and what it lists.
pub fn version(definition: &str, surface: Option<&Surface>) -> String {
    let listed = surface.map_or_else(|| "none".to_owned(), |surface| surface.digest.chars().take(DIGITS).collect());
    format!("{definition}-{listed}")
}

/// Whether a version is of this definition.
pub fn is_of(version: &str, definition: &str) -> bool {
    version.split('-').next() == Some(definition)
}

/// The key of a gate's result: whatever changes it changes the key.
pub fn key(gate: GateKind, fleet: &Fleet, server: &Server, version: &str, proof: &str) -> String {
    let work = Path::new("work");
    let invocations = match launch::invocations(gate, fleet, server, work) {
        Ok(list) => list.into_iter().flat_map(|one| one.args).collect::<Vec<_>>().join("\u{0}"),
        Err(why) => why.to_owned(),
    };
    // The same fleet at another place has the same results.
    let invocations = invocations.replace(&fleet.folder.display().to_string(), ".");
    let thresholds = format!("{:?} {:?}", fleet.thresholds, server.tools);
    let gate_version = gate.version().to_string();
    let files = launch::files(gate, fleet, server);
    let digests: Vec<String> = files.iter().map(|path| of_path(path)).collect();
    let parts = ["gate", gate.as_str(), &gate_version, version, proof, &invocations, &thresholds];
    digest::of(parts.into_iter().chain(digests.iter().map(String::as_str)))
}

/// The digest of a file, or of the test files in a folder.
fn of_path(path: &Path) -> String {
    if !path.is_dir() {
        return of_file(path);
    }
    let digests: Vec<String> =
        test_files(path).iter().map(|file| format!("{} {}", file.display(), of_file(file))).collect();
    digest::of(digests.iter().map(String::as_str))
}

fn of_file(path: &Path) -> String {
    let Ok(metadata) = path.metadata() else { return "missing".to_owned() };
    if metadata.len() > LONGEST || !metadata.is_file() {
        return format!("{} {:?}", metadata.len(), metadata.modified().ok());
    }
    std::fs::read(path).map_or_else(|_| "unreadable".to_owned(), |bytes| digest::of_bytes(&bytes))
}

/// Test files and their snapshots below a folder, in order.
pub fn test_files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut pending) = (Vec::new(), vec![(folder.to_owned(), 0)]);
    while let Some((folder, depth)) = pending.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST) {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < DEEPEST && !name.starts_with('.') && name != "node_modules" {
                pending.push((path, depth + 1));
            } else if kind.is_file() && (name.ends_with(".mcp.yaml") || name.ends_with(".snap.json")) {
                found.push(path);
            }
        }
    }
    found.sort();
    found.truncate(MOST);
    found
}

/// The names of the cases that expect a refusal or an error, in the test files of a server.
pub fn negatives(fleet: &Fleet, server: &Server) -> Vec<String> {
    let paths = server.tests.iter().map(|path| fleet.path(path));
    let files = paths.flat_map(|path| if path.is_dir() { test_files(&path) } else { vec![path] });
    let texts = files.filter(|path| path.to_string_lossy().ends_with(".yaml")).filter_map(|path| {
        (path.metadata().ok()?.len() <= LONGEST).then(|| std::fs::read_to_string(&path).ok()).flatten()
    });
    texts.flat_map(|text| negatives_of(&text)).collect()
}

/// The names of such cases in one file.
fn negatives_of(text: &str) -> Vec<String> {
    let Ok((tree, _)) = document::read_within(text, BOUNDS) else { return Vec::new() };
    let value = tree.to_value();
    let cases = value["cases"].as_array().into_iter().flatten();
    let negative = cases.filter(|case| {
        let expect = &case["expect"];
        let refused = matches!(expect["outcome"].as_str(), Some("refused" | "error" | "tool-error"));
        (refused || expect.get("code").is_some()) && case.get("xfail").is_none() && case.get("skip").is_none()
    });
    negative.filter_map(|case| case["name"].as_str().map(str::to_owned)).collect()
}

const BOUNDS: document::Bounds = document::Bounds { depth: 64, weight: 4_000_000, key: 4096 };

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{definition, is_of, key, negatives_of, version};
    use crate::config::Fleet;
    use crate::gate::GateKind;
    use crate::gates::Surface;

    const TEXT: &str = "\
servers:
  - name: a
    command: [node, server.js]
    env: { MODE: fast, TOKEN: { env: A_TOKEN } }
    tests: [tests]
    lock: a.lock
";

    fn surface(digest: &str) -> Surface {
        Surface { digest: digest.repeat(64), ..Surface::default() }
    }

    #[test]
    fn what_changes_a_result_changes_its_key_and_nothing_else_does() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
        fs::create_dir(folder.path().join("tests")).expect("a folder");
        write("server.js", "1");
        write("tests/a.mcp.yaml", "cases: []");
        write("a.lock", "{}");
        let fleet = |text: &str| Fleet::read(text, folder.path().to_owned()).expect("valid");
        let keys = |fleet: &Fleet, listed: &str, proof: &str| {
            let server = &fleet.servers[0];
            let version = version(&definition(fleet, server), Some(&surface(listed)));
            [GateKind::Conforms, GateKind::Tested, GateKind::Locked]
                .map(|gate| key(gate, fleet, server, &version, proof))
        };
        let first = keys(&fleet(TEXT), "a", "1");
        assert_eq!(first, keys(&fleet(TEXT), "a", "1"));
        let differ = |name: &str, after: [String; 3], expected: [bool; 3]| {
            let found = [0, 1, 2].map(|at| first[at] != after[at]);
            assert_eq!(found, expected, "{name}");
        };
        differ("another surface", keys(&fleet(TEXT), "b", "1"), [true; 3]);
        differ("another proof", keys(&fleet(TEXT), "a", "2"), [true; 3]);
        differ("another variable", keys(&fleet(&TEXT.replace("fast", "slow")), "a", "1"), [true; 3]);
        differ("another reference", keys(&fleet(&TEXT.replace("A_TOKEN", "B_TOKEN")), "a", "1"), [true; 3]);
        let owner = TEXT.replace("    lock", "    owner: ada\n    lock");
        differ("another owner", keys(&fleet(&owner), "a", "1"), [false; 3]);
        let threshold = format!("{TEXT}thresholds: {{ touched: 10 }}\n");
        differ("another threshold", keys(&fleet(&threshold), "a", "1"), [true; 3]);
        write("tests/a.mcp.yaml", "cases: [ ]");
        differ("another test", keys(&fleet(TEXT), "a", "1"), [false, true, false]);
        write("tests/a.mcp.yaml", "cases: []");
        write("a.lock", "{ }");
        differ("another lock", keys(&fleet(TEXT), "a", "1"), [false, false, true]);
        write("a.lock", "{}");
        write("server.js", "2");
        differ("another script", keys(&fleet(TEXT), "a", "1"), [true; 3]);
    }

    #[test]
    fn a_version_knows_its_definition() {
        let one = version("abc", Some(&surface("d")));
        assert!(is_of(&one, "abc") && !is_of(&one, "ab") && is_of(&version("abc", None), "abc"));
        assert!(one.len() <= 128);
    }

    #[test]
    fn a_case_that_may_be_accepted_is_no_refusal() {
        let text = "\
cases:
  - { name: a, call: x, expect: { outcome: refused } }
  - { name: b, call: x, expect: { code: -32602 } }
  - { name: c, call: x }
  - { name: d, call: x, xfail: accepted, expect: { outcome: refused } }
  - { name: e, call: x, expect: { outcome: tool-error } }
";
        assert_eq!(negatives_of(text), ["a", "b", "e"]);
    }
}

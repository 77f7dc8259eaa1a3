//! The invariants of ARCHITECTURE that show in the words a crate's sources use: who opens sockets and processes, who reads
//! clocks and files, who prints, who may see whom. Tests are free; comments and strings do not count.

use std::path::Path;

use super::code::{code_only, has_word, imports, without_tests};
use super::{Source, Violation};

/// Words that some crates must not use.
struct Ban {
    crates: &'static [&'static str],
    words: &'static [&'static str],
    what: &'static str,
    remedy: &'static str,
}

const BANS: &[Ban] = &[
    Ban {
        crates: &["wire", "schema", "document", "clients", "report", "rank", "eval", "rules"],
        words: &[
            "tokio",
            "std::net",
            "std::fs",
            "std::env",
            "std::process",
            "std::thread",
            "SystemTime",
            "Instant::now",
        ],
        what: "a pure crate knows no runtime, clock, socket, file or process",
        remedy: "take the value as an argument",
    },
    Ban {
        crates: &["client", "reference", "faults", "judge", "suite", "replay", "cli"],
        words: &[
            "TcpListener",
            "TcpStream",
            "UdpSocket",
            "UnixListener",
            "UnixStream",
            "tokio::net",
            "tokio::process",
            "process::Command",
        ],
        what: "only `net` opens sockets and child processes",
        remedy: "ask `net` for it",
    },
    Ban {
        crates: &[
            "wire",
            "schema",
            "document",
            "report",
            "rank",
            "eval",
            "rules",
            "net",
            "oauth",
            "client",
            "reference",
            "faults",
            "judge",
        ],
        words: &["print!", "println!", "eprint!", "eprintln!", "dbg!", "process::exit", "process::abort"],
        what: "only `cli` prints and exits",
        remedy: "return a value, or trace it",
    },
    Ban {
        crates: &[
            "wire",
            "schema",
            "document",
            "report",
            "rank",
            "eval",
            "rules",
            "client",
            "reference",
            "faults",
            "judge",
            "suite",
            "replay",
        ],
        words: &["io::stdout", "io::stderr", "io::stdin"],
        what: "only `cli` and the stdio transport of `net` hold the standard streams",
        remedy: "return a value, or take a link as an argument",
    },
    Ban {
        crates: &["rules"],
        words: &["net::"],
        what: "`rules` and `net` never see each other",
        remedy: "meet in `wire`",
    },
    Ban {
        crates: &["net"],
        words: &["rules::"],
        what: "`rules` and `net` never see each other",
        remedy: "meet in `wire`",
    },
];

/// The only files that write to a person's screen: they escape what a terminal obeys, whoever sent it.
const SCREENS: [&str; 2] = ["src/exit.rs", "src/verb/output.rs"];

/// What writes past them.
const PAST_SCREENS: [&str; 6] = ["stdout()", "stderr()", "print!(", "println!(", "eprint!(", "eprintln!("];

/// Every place in `cli` that could print what a peer sent without escaping it.
pub(super) fn check_screens(source: &Source) -> Vec<Violation> {
    let elsewhere = source.inside().is_some_and(|inside| !SCREENS.contains(&inside));
    if source.krate() != Some("cli") || !is_product(source) || !elsewhere {
        return Vec::new();
    }
    let code = without_tests(&code_only(&source.text));
    let lines = code.lines().enumerate().filter(|(_, line)| !line.contains(".is_terminal()"));
    let past = lines.filter_map(|(at, line)| Some((at, PAST_SCREENS.iter().find(|word| line.contains(**word))?)));
    let what = "only exit.rs and verb/output.rs write to the screen: they escape foreign text";
    let remedy = "call `tell`, `prompt` or `output::print`";
    past.map(|(at, word)| Violation::new(source, at + 1, format!("{word}: {what}"), remedy)).collect()
}

/// Every word in a crate's sources that it must not use.
pub(super) fn check(source: &Source) -> Vec<Violation> {
    let Some(krate) = source.krate().filter(|_| is_product(source)) else { return Vec::new() };
    let code = without_tests(&code_only(&source.text));
    let mut lines: Vec<(usize, String)> =
        code.lines().enumerate().map(|(at, line)| (at + 1, line.to_owned())).collect();
    lines.extend(imports(&code));
    let mut violations = Vec::new();
    for ban in BANS.iter().filter(|ban| ban.crates.contains(&krate)) {
        for (line, text) in &lines {
            let Some(word) = ban.words.iter().find(|word| has_word(text, word)) else { continue };
            let violation = Violation::new(source, *line, format!("{word}: {}", ban.what), ban.remedy);
            // An import is seen twice: as a line and spelled out.
            if !violations.contains(&violation) {
                violations.push(violation);
            }
        }
    }
    violations
}

/// Whether the file is part of what we ship: under `src/`, and no test.
pub(super) fn is_product(source: &Source) -> bool {
    let Some(inside) = source.inside().and_then(|inside| inside.strip_prefix("src/")) else { return false };
    let name = Path::new(inside).file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let in_tests = inside.split('/').any(|part| part == "tests") || name == "tests" || name.ends_with("_tests");
    source.is("rs") && !in_tests
}

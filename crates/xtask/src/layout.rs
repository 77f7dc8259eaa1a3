//! `cargo xtask layout`: which functions a server runs when it starts and answers its first requests, written down as a
//! linker script that puts them side by side. The kernel maps 64 KiB around every page of a program that is touched: the
//! half mebibyte of code that a server needs to start is six where it lies scattered over all that `proof` can do.
//!
//! Names are those of symbols, without what changes with a compiler or a dependency. One that is not there any more does no
//! harm, and neither does one that is missing: only memory shows it (`cargo xtask bench serve`).

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

use crate::served::Served;
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask layout

Builds `proof` with its symbols, runs it under valgrind's callgrind, and writes crates/cli/layout.ld.";

/// Where the linker finds it.
const SCRIPT: &str = "crates/cli/layout.ld";

/// What a client of each era says first.
const GREETINGS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"layout","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
"#;
/// And then.
const CALLS: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}
{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
"#;

/// How far a client goes.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Stage {
    Start,
    Greeting,
    Call,
}

/// Writes the script: first what runs before anybody says anything, then what it takes to greet and, last, to call.
pub fn run(args: &[String]) -> Verdict {
    ensure!(args.is_empty(), "{USAGE}");
    let proof = build()?;
    let mut ordered: Vec<String> = Vec::new();
    for stage in [Stage::Start, Stage::Greeting, Stage::Call] {
        let known: BTreeSet<String> = ordered.iter().cloned().collect();
        ordered.extend(functions(&proof, stage)?.difference(&known).cloned());
        // Fewer, and it was something else that ran.
        ensure!(ordered.len() > 200, "only {} functions were seen: are the symbols there?", ordered.len());
    }
    fs::write(root().join(SCRIPT), script(&ordered))?;
    println!("{SCRIPT}: {} functions", ordered.len());
    Ok(true)
}

/// What runs over stdio and HTTP as far as a stage.
fn functions(proof: &Path, stage: Stage) -> anyhow::Result<BTreeSet<String>> {
    let mut functions = BTreeSet::new();
    for run in [over_stdio, over_http] {
        let output = proof.with_extension("callgrind");
        run(proof, &output, stage)?;
        functions.extend(run_functions(&fs::read_to_string(&output)?));
    }
    Ok(functions)
}

fn build() -> anyhow::Result<PathBuf> {
    let target = root().join("target/layout");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--release", "-p", "cli", "--target-dir"]).arg(&target).current_dir(root());
    let built = cargo.env("CARGO_PROFILE_RELEASE_STRIP", "none").status()?;
    ensure!(built.success(), "`proof` does not build");
    Ok(target.join("release/proof"))
}

fn callgrind(proof: &Path, output: &Path, options: &[&str]) -> Command {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--demangle=no", "--compress-strings=no"]);
    valgrind.arg(format!("--callgrind-out-file={}", output.display()));
    valgrind.arg(proof).arg("serve").args(options);
    valgrind
}

fn over_stdio(proof: &Path, output: &Path, stage: Stage) -> anyhow::Result<()> {
    let mut command = callgrind(proof, output, &["--stdio"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = command.spawn().context("cannot start valgrind")?;
    let mut input = server.stdin.take().context("no standard input")?;
    for (at, said) in [(Stage::Greeting, GREETINGS), (Stage::Call, CALLS)] {
        input.write_all(if at <= stage { said.as_bytes() } else { b"" })?;
    }
    drop(input);
    let ended = server.wait()?;
    ensure!(ended.success(), "the server under valgrind ended with {ended}");
    Ok(())
}

fn over_http(proof: &Path, output: &Path, stage: Stage) -> anyhow::Result<()> {
    let server = Served::start(callgrind(proof, output, &["--http", "127.0.0.1:0"]))?;
    let said: &[&str] = match stage {
        Stage::Start => &[],
        Stage::Greeting => &["discover"],
        Stage::Call => &["call", "echo", "message=hi"],
    };
    for revision in ["2026-07-28", "2025-11-25"].iter().filter(|_| !said.is_empty()) {
        let mut client = Command::new(proof);
        client.arg("client").args(said).args(["--revision", revision, "--url", server.url()]);
        ensure!(client.stdout(Stdio::null()).status()?.success(), "`proof client` failed at {revision}");
    }
    server.interrupt()
}

/// The functions of `proof` in a profile: nothing else there is Rust. Of which object they are callgrind does not know for all.
fn run_functions(profile: &str) -> BTreeSet<String> {
    profile.lines().filter_map(|line| pattern(line.strip_prefix("fn=")?)).collect()
}

/// A symbol without what changes with a compiler or a dependency: the digest of each crate (`Cs…_`), the positions of what
/// is named again, which shift with their length (`B…_`), and what the optimiser adds. Within a word the same letters are left
/// open, too: that fits no less. `None` for a name of C.
fn pattern(symbol: &str) -> Option<String> {
    let name = symbol.split(['\'', '.']).next().filter(|name| name.starts_with("_R"))?;
    let mut pattern = String::new();
    let mut rest = name;
    while let Some(letter) = rest.chars().next() {
        let marked = if rest.starts_with("Cs") { 2 } else { usize::from(letter == 'B') };
        let after = rest[marked..].trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        match after.strip_prefix('_') {
            Some(after) if marked > 0 => {
                pattern.push_str(&rest[..marked]);
                pattern.push_str("*_");
                rest = after;
            }
            _ => {
                pattern.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
    Some(pattern)
}

fn script(functions: &[String]) -> String {
    // What is seldom called has a section of another name.
    let line = |name: &String| format!("    *(.text.{name}* .text.unlikely.{name}*)\n");
    let lines: String = functions.iter().map(line).collect();
    format!(
        "/* Made by `cargo xtask layout`: what a server runs when it starts, side by side. */\n\
         SECTIONS {{\n  .text.start : {{\n{lines}  }}\n}}\nINSERT BEFORE .text;\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{pattern, run_functions};

    #[test]
    fn what_changes_with_a_compiler_is_left_open() {
        let name =
            "_RNvMs4_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner11finish_growCsjrHSEGnQ3l9_3std.llvm.3643'2";
        let left = "_RNvMs4_NtCs*_5alloc7raw_vecNtB*_11RawVecInner11finish_growCs*_3std";
        assert_eq!(pattern(name).as_deref(), Some(left));
        assert_eq!(pattern("_RNvNtCs1_4wire4readNtB_4Text").as_deref(), Some("_RNvNtCs*_4wire4readNtB*_4Text"));
        assert_eq!(pattern("malloc"), None);
    }

    #[test]
    fn only_what_ran_of_our_own_counts() {
        let functions = run_functions("ob=/t/proof\nfn=_RNvCs1_5proof4main\n1 2\ncfn=_RNvCs1_5proof6called\nfn=main\n");
        assert_eq!(functions.into_iter().collect::<Vec<_>>(), ["_RNvCs*_5proof4main"]);
    }
}

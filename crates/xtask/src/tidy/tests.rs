//! Every check is shown a tiny bad input that it must catch, and a good one that it must accept.

use super::text::stale;
use super::{Source, check, code};

const LEAD: &str = "//! What this is.\n";

fn source(path: &str, text: &str) -> Source {
    Source { path: path.to_owned(), text: text.to_owned() }
}

/// Lines and complaints for one file.
fn found(path: &str, text: &str) -> Vec<(usize, String)> {
    check(&[source(path, text)]).into_iter().map(|one| (one.line, one.what)).collect()
}

#[track_caller]
fn catches(path: &str, text: &str, line: usize, what: &str) {
    let found = found(path, text);
    assert!(found.len() == 1 && found[0].0 == line && found[0].1.contains(what), "{path}: {found:?}");
}

#[track_caller]
fn passes(path: &str, text: &str) {
    assert_eq!(found(path, text), [], "{path}");
}

/// A Rust file of a crate, with its leading paragraph, so that the body begins on line 2.
fn rust(body: &str) -> String {
    format!("{LEAD}{body}\n")
}

const WIRE: &str = "crates/wire/src/a.rs";

#[test]
fn a_violation_says_where_what_and_the_way_out() {
    let violations = check(&[source(WIRE, &rust("fn f() { todo!() }"))]);
    let text = violations.iter().map(ToString::to_string).collect::<String>();
    assert_eq!(text, "crates/wire/src/a.rs:2 – work left undone – do it, or write it down in an issue");
}

#[test]
fn long_files() {
    catches(WIRE, &format!("{LEAD}{}", "fn f() {}\n".repeat(600)), 601, "601 lines");
    passes(WIRE, &format!("{LEAD}{}", "fn f() {}\n".repeat(599)));
    let short = source(WIRE, LEAD);
    let listed = [(WIRE, "a reason")];
    assert_eq!(stale(&[short], &listed).len(), 1);
    assert_eq!(stale(&[], &listed).len(), 1);
    assert_eq!(stale(&[source(WIRE, &"\n".repeat(601))], &listed), []);
}

#[test]
fn modules_without_a_lead() {
    catches(WIRE, "fn f() {}\n", 1, "does not say what it is");
    catches(WIRE, "/// Of the next item.\nfn f() {}\n", 1, "does not say what it is");
    catches(WIRE, "//!\nfn f() {}\n", 1, "does not say what it is");
    catches(WIRE, "", 1, "does not say what it is");
    passes(WIRE, LEAD);
}

#[test]
fn names_that_say_nothing() {
    for path in ["crates/wire/src/utils.rs", "crates/wire/src/common/a.rs", "crates/cli/tests/helpers/mod.rs"] {
        catches(path, LEAD, 1, "a module called");
    }
    catches(WIRE, &rust("mod imp {}"), 2, "a module called imp");
    passes("crates/wire/src/uncommon.rs", &rust("mod managerial {}"));
}

#[test]
fn work_left_undone() {
    catches(WIRE, &rust("fn f() { todo!() }"), 2, "left undone");
    catches(WIRE, &rust("fn f() { unimplemented!(\"x\") }"), 2, "left undone");
    catches(WIRE, &rust("#[test]\n#[ignore = \"slow\"]\nfn f() {}"), 3, "a test that does not run");
    passes(WIRE, &rust("// todo!() and #[ignore]\nconst A: &str = \"todo!() #[ignore]\";"));
}

#[test]
fn white_space() {
    for path in ["a.rs", "a.md", "a.toml"] {
        catches(path, &format!("{LEAD}a \n"), 2, "white space at the end");
        catches(path, &format!("{LEAD}\ta\n"), 2, "a tab");
        catches(path, LEAD.trim_end(), 1, "does not end");
    }
    catches("a.md", "a\r\n", 1, "white space at the end");
    passes("a.jsonl", "a\t \nb");
}

#[test]
fn machine_paths() {
    let at = |place: &str| format!("/{place}/x");
    for text in [at("root"), format!("see \"{}\"", at("work")), format!("file://{}", at("work"))] {
        catches("any.txt", &format!("\n{text}\n"), 2, "one machine");
    }
    for text in ["a/work/b", "./root/b", "https://example.org/work/a", "/judge/a", "{home}/root/"] {
        passes("any.txt", text);
    }
}

#[test]
fn every_banned_word_is_caught_where_it_is_banned() {
    for (krate, body, word) in [
        ("wire", "use tokio::io;", "tokio"),
        ("wire", "fn f(_: std::net::IpAddr) {}", "std::net"),
        ("rules", "use std::{fmt, fs};", "std::fs"),
        ("rules", "use std::{\n    fmt,\n    time::{self, SystemTime},\n};", "SystemTime"),
        ("wire", "fn f() { Instant::now(); }", "Instant::now"),
        ("rules", "use std::process;", "std::process"),
        ("judge", "use std::{process::{Command, Stdio}};", "process::Command"),
        ("judge", "fn f() { process::Command::new(\"x\"); }", "process::Command"),
        ("reference", "use tokio::{io, net};", "tokio::net"),
        ("cli", "fn f(_: TcpStream) {}", "TcpStream"),
        ("net", "fn f() { println!(\"x\"); }", "println!"),
        ("rules", "fn f() { eprint!(\"x\"); }", "eprint!"),
        ("judge", "fn f() { std::process::exit(1) }", "process::exit"),
        ("reference", "fn f() { std::io::stdout(); }", "io::stdout"),
        ("rules", "fn f() { net::connect(); }", "net::"),
        ("net", "use rules::Rule;", "rules::"),
    ] {
        let found = found(&format!("crates/{krate}/src/a.rs"), &rust(body));
        assert!(found.iter().any(|(_, what)| what.starts_with(&format!("{word}: "))), "{body}: {found:?}");
    }
}

#[test]
fn only_two_files_write_to_the_screen() {
    for body in ["fn f() { let mut out = std::io::stderr(); }", "fn f() { println!(\"x\"); }"] {
        catches("crates/cli/src/verb/a.rs", &rust(body), 2, "only exit.rs and verb/output.rs");
        passes("crates/cli/src/exit.rs", &rust(body));
        passes("crates/cli/tests/a.rs", &rust(body));
    }
    passes("crates/cli/src/verb/a.rs", &rust("fn f() -> bool { std::io::stdout().is_terminal() }"));
}

#[test]
fn a_second_verifier_is_found_outside_faults() {
    let lax = rust("impl Verifier for Lax {}");
    let chosen = rust("fn f() { Authorizer::with_verifier(a, b, c, d); }");
    for path in ["crates/transport/oauth/src/a.rs", "crates/transport/client/src/a.rs", "crates/cli/src/a.rs"] {
        catches(path, &lax, 2, "only `faults` has a verifier");
    }
    catches("crates/cli/src/a.rs", &rust("impl oauth::Verifier for Lax {}"), 2, "only `faults` has a verifier");
    catches("crates/transport/net/src/a.rs", &chosen, 2, "only `faults` chooses");
    passes("crates/peers/faults/src/a.rs", &lax);
    passes("crates/peers/faults/src/a.rs", &chosen);
    catches("crates/transport/oauth/src/verifier.rs", &lax, 2, "only `faults` has a verifier");
    passes("crates/transport/oauth/src/verifier.rs", &rust("impl Verifier for StrictVerifier {}"));
    catches("crates/cli/src/a.rs", &rust("impl Verifier for StrictVerifier {}"), 2, "only `faults` has a verifier");
    passes("crates/transport/oauth/src/lib.rs", &chosen);
    passes("crates/transport/oauth/tests/a.rs", &lax);
    passes("crates/transport/net/src/a.rs", &rust("impl ServerCertVerifier for A {}"));
}

#[test]
fn a_library_names_no_option() {
    for body in [
        "const A: &str = \"give a token with --bearer-env\";",
        "const A: &str = \"`--update` writes it\";",
        "fn f() { format!(\"(--{{x}}) --only {}\", 1); }",
        "const A: &str = r#\"--x\"#;",
    ] {
        catches("crates/transport/net/src/a.rs", &rust(body), 2, "names an option");
        catches("crates/judging/suite/src/a.rs", &rust(body), 2, "names an option");
        for free in ["crates/cli/src/a.rs", "crates/foundation/report/src/a.rs", "crates/transport/net/tests/a.rs"] {
            passes(free, &rust(body));
        }
    }
    let continued = rust("const A: &str = \"a \\\n    --b\";");
    catches("crates/transport/net/src/a.rs", &continued, 3, "names an option");
    for body in [
        "// --x\nconst A: &str = \"a -- b, --, a--b, ---c\";",
        "#[cfg(test)]\nmod tests {\n    const A: &str = \"--x\";\n}",
    ] {
        passes("crates/transport/net/src/a.rs", &rust(body));
    }
}

#[test]
fn a_grouped_import_is_found_on_its_own_line() {
    catches("crates/rules/src/a.rs", &rust("use std::{\n    fmt,\n    fs as f,\n};"), 4, "std::fs");
}

#[test]
fn words_are_free_where_they_do_no_harm() {
    passes(WIRE, &rust("// tokio\n/* std::fs /* nested */ tokio */\nconst A: &str = \"tokio\";"));
    passes(WIRE, &rust("#[cfg(test)]\nmod checks {\n    use std::fs;\n    fn f() { println!(\"{}\", { 1 }); }\n}"));
    passes(WIRE, &rust("fn tokio_like(eprintln: u8) {}"));
    passes("crates/wire/src/a/tests.rs", &rust("use std::fs;"));
    passes("crates/wire/src/a_tests.rs", &rust("use std::fs;"));
    passes("crates/wire/tests/a.rs", &rust("use std::fs;"));
    passes("crates/net/src/a.rs", &rust("use std::net::TcpListener;\nuse tokio::process::Command;"));
    passes("crates/net/src/a.rs", &rust("fn f() { tokio::io::stdout(); }"));
    passes("crates/cli/src/exit.rs", &rust("fn main() { println!(\"x\"); std::process::exit(1) }"));
    passes("crates/rules/src/a.rs", &rust("use wire::subnet::A;\nfn f() { subnet::a(); wire::net::b(); }"));
}

#[test]
fn code_after_a_test_module_is_still_code() {
    let body = "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod more {\n    use std::fs;\n}\nuse std::fs;";
    catches(WIRE, &rust(body), 8, "std::fs");
}

#[test]
fn literals_do_not_swallow_code() {
    for literal in
        ["'\"'", "'\\''", "\"\\\"\"", "r#\"\"\"#", "br\"\\\"", "b'\"'", "\"//\"", "r\"/*\"", "'/'", "\"\\\\\""]
    {
        catches(WIRE, &rust(&format!("const A: X = {literal}; use std::fs;")), 2, "std::fs");
    }
    catches(WIRE, &rust("fn f<'a>(r#type: &'a str, bar: &'a [u8; r]) { tokio(); }"), 2, "tokio");
    assert_eq!(code::code_only("a \"b\nc\" d // e\nf"), "a   \n   d     \nf");
}

fn manifest(krate: &str, body: &str) -> Vec<(usize, String)> {
    let text = format!("[lints]\nworkspace = true\n{body}\n");
    found(&format!("crates/{krate}/Cargo.toml"), &text)
}

#[test]
fn arrows_that_point_the_wrong_way() {
    for (krate, body, name) in [
        ("wire", "[dependencies]\nrules.workspace = true", "rules"),
        ("rules", "[dependencies]\nnet = { path = \"../net\" }", "net"),
        ("rules", "[dev-dependencies]\nnet.workspace = true", "net"),
        ("net", "[dependencies]\nrules.workspace = true", "rules"),
        ("reference", "[dependencies]\njudge.workspace = true", "judge"),
        ("reference", "[target.'cfg(unix)'.dependencies]\nrules.workspace = true", "rules"),
        ("judge", "[build-dependencies]\ncli.workspace = true", "cli"),
        ("reference", "[dependencies]\nfaults.workspace = true", "faults"),
        ("net", "[dependencies]\nfaults.workspace = true", "faults"),
        ("oauth", "[dependencies]\nfaults.workspace = true", "faults"),
        ("client", "[dependencies]\nfaults.workspace = true", "faults"),
        ("net", "[dependencies]\nother = { package = \"reference\", path = \"../a\" }", "reference"),
        ("net", "[dependencies]\nother = { path = \"../reference\" }", "reference"),
        ("net", "[dependencies]\npathfinder = { path = \"../reference\" }", "reference"),
        ("net", "[dependencies]\nfaults.workspace = true", "faults"),
        ("oauth", "[dependencies]\nfaults.workspace = true", "faults"),
        ("client", "[dependencies]\nfaults.workspace = true", "faults"),
        ("reference", "[dependencies]\nfaults.workspace = true", "faults"),
        ("client", "[dependencies]\nreference.workspace = true", "reference"),
        ("oauth", "[dependencies]\nreference.workspace = true", "reference"),
        ("wire", "[dependencies]\ntokio = \"1\"", "tokio"),
        ("rules", "[dependencies]\ngetrandom.workspace = true", "getrandom"),
        ("judge", "[dependencies]\nhyper.workspace = true", "hyper"),
        ("net", "[dependencies]\nclap.workspace = true", "clap"),
        ("judge", "[dependencies]\nanyhow.workspace = true", "anyhow"),
    ] {
        let found = manifest(krate, body);
        let what = format!("{krate} must not depend on {name}");
        assert!(found.len() == 1 && found[0] == (4, what), "{krate} {body}: {found:?}");
    }
    let table = manifest("net", "[dependencies.reference]\nworkspace = true");
    assert_eq!(table, [(3, "net must not depend on reference".to_owned())]);
}

#[test]
fn arrows_that_point_the_right_way() {
    for (krate, body) in [
        ("rules", "[dependencies]\nwire.workspace = true\nserde_json.workspace = true"),
        ("net", "[dependencies]\nwire.workspace = true # not rules\ntokio.workspace = true\ngetrandom = \"1\""),
        ("net", "[dev-dependencies]\nreference.workspace = true"),
        ("cli", "[dependencies]\nwire.workspace = true\nanyhow.workspace = true\ntokio.workspace = true"),
        ("xtask", "[dependencies]\njudge.workspace = true\nanyhow.workspace = true"),
        ("wire", "[package]\nname = \"tokio\"\n[features]\ntokio = []"),
    ] {
        assert_eq!(manifest(krate, body), [], "{krate} {body}");
    }
}

#[test]
fn crates_outside_the_picture_and_without_lints() {
    assert!(manifest("elsewhere", "")[0].1.contains("no place in the picture"));
    catches("crates/wire/Cargo.toml", "[package]\nname = \"wire\"\n", 1, "lints");
}

#[test]
fn sdks_in_the_product() {
    assert!(manifest("cli", "[dependencies]\nrmcp = \"3\"")[0].1.contains("MCP library"));
    assert!(manifest("xtask", "[dev-dependencies]\nx = { package = \"rust-mcp-sdk\" }")[0].1.contains("MCP library"));
    catches("Cargo.toml", "[workspace.dependencies]\nrmcp = \"3\"\n", 2, "MCP library");
    catches("Cargo.lock", "[[package]]\nname = \"rmcp-macros\"\n", 2, "MCP library");
    passes("peers/rmcp-server/Cargo.toml", "[dependencies]\nrmcp = \"3\"\n");
    passes("peers/rmcp-server/Cargo.lock", "[[package]]\nname = \"rmcp\"\n");
}

#[test]
fn this_workspace_is_tidy() {
    let sources = super::read(&crate::root());
    let Ok(sources) = sources else {
        println!("skipped: git does not know this tree");
        return;
    };
    let violations: Vec<String> = check(&sources).iter().map(ToString::to_string).collect();
    assert_eq!(violations, [""; 0]);
}

#[test]
fn pages_that_users_do_not_have() {
    const CLI: &str = "crates/cli/src/a.rs";
    let address = "https://github.com/proofhouse/proofhouse/blob/main/docs/eval.md";
    catches(CLI, &rust("const A: &str = \"see docs/eval.md\";"), 2, "that they do not have");
    catches(CLI, &rust("use clap::Args;\n/// Calls (docs/eval.md)"), 3, "that they do not have");
    passes(CLI, &rust(&format!("const A: &str = \"see {address}#x\";")));
    passes(CLI, &rust("/// The shape is in docs/eval.md.\n// docs/eval.md"));
    passes(CLI, &rust("const A: &str = \"proof://docs/readme\"; const B: &str = \"docs/fleet.schema.json\";"));
    passes("crates/xtask/src/a.rs", &rust("const A: &str = \"docs/corpus.md\";"));
}

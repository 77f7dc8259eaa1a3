//! Some of `examples/factory`, each in front of its model: test files, locks; tools of several calls and pages to show.

#[path = "shared/ran.rs"]
mod ran;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ran::{PROOF, ends_with, proof};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/factory")
}

/// Runs `proof` in the folder of the examples; their commands find this same program.
fn run(arguments: &[&str]) -> Output {
    let beside = Path::new(PROOF).parent().expect("a folder").to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(beside).chain(std::env::split_paths(&others))).expect("a PATH");
    Command::new(PROOF).args(arguments).current_dir(examples()).env("PATH", path).output().expect("the binary runs")
}

#[test]
fn examples_pass_their_tests() {
    // Items counted from one; several calls as one tool; pages to show; OAuth, and other credentials refused.
    let files = [
        "quickbooks/flow.mcp.yaml",
        "competitor-research/compose.mcp.yaml",
        "n8n-apps/pages.mcp.yaml",
        "calendly/denied.mcp.yaml",
    ];
    let arguments: Vec<_> = ["test"].into_iter().chain(files).collect();
    let said = ends_with(0, &run(&arguments));
    for file in files {
        assert!(said.contains(file), "{file} is not played: {said}");
    }
    assert!(said.contains(" passed in ") && !said.contains("skipped"), "{said}");
}

#[test]
fn examples_are_as_their_locks_say() {
    for name in ["trello", "n8n-apps", "competitor-research"] {
        let (openapi, config) = (format!("{name}/openapi.json"), format!("{name}/api.yaml"));
        let lock = format!("{name}/mcp.lock");
        let check = ["lock", "--check", "-o", &lock, "--", "python3", "upstream.py", name, "--", "proof", "serve"];
        let serve = ["--stdio", "--openapi", &openapi, "--config", &config];
        ends_with(0, &run(&[&check[..], &serve[..]].concat()));
    }
}

/// Every mistake in `compose` and `ui` is an error before anything is served, and `--check` finds it, too.
#[test]
fn what_cannot_be_composed_is_an_error_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let description = examples().join("n8n-apps/openapi.json").display().to_string();
    std::fs::write(folder.path().join("page.html"), "<p>x").expect("written");
    let auth = "auth:\n  key: { file: key }\n";
    std::fs::write(folder.path().join("key"), "example-secret").expect("written");
    let compose = |tool: &str, call: &str| {
        format!(
            "compose:\n  - {{ tool: {tool}, description: Does it, steps: [{{ call: {call} }}], result: {{ x: 1 }} }}\n"
        )
    };
    let ui = |file: &str, tools: &str| format!("ui:\n  - {{ uri: ui://x/y, file: {file}, tools: [{tools}] }}\n");
    for (text, part) in [
        (compose("both", "list_workflow"), "`both` calls `list_workflow`, which is not a tool"),
        (compose("list_workflows", "list_tags"), "there is another tool `list_workflows`"),
        (ui("page.html", "list_nothing"), "names `list_nothing`, which is not a tool"),
        (ui("page.html", "list_tags, list_tags"), "the tool `list_tags` has two pages"),
        (ui("missing.html", "list_tags"), "missing.html` cannot be read"),
        (ui("page.html", "list_tags").replace("ui://x/y", "https://x.example"), "`uri`"),
    ] {
        std::fs::write(folder.path().join("api.yaml"), format!("{auth}{text}")).expect("written");
        for way in ["--stdio", "--check"] {
            let arguments = ["serve", way, "--openapi", &description, "--config", "api.yaml"];
            let said = ends_with(2, &proof(folder.path(), &arguments));
            assert!(said.contains(part) && said.contains("try"), "{text} {way}: {said}");
        }
    }
    std::fs::write(folder.path().join("api.yaml"), format!("{auth}{}", compose("both", "list_workflows")))
        .expect("written");
    let said =
        ends_with(0, &proof(folder.path(), &["serve", "--check", "--openapi", &description, "--config", "api.yaml"]));
    assert!(said.contains("1 tool of several calls\n  both: list_workflows"), "{said}");
}

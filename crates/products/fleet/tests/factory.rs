//! Three of the REST APIs in examples/factory as a fleet: all reach the stage that is wanted, a second run computes nothing, and a
//! server that breaks falls and is named first. `cargo xtask fleet-factory` does the same with all of them. Needs Python and the
//! program `proof`, which a build of the workspace puts beside `proof-fleet`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

const CHOSEN: [&str; 3] = ["fieldedge", "reonomy", "touchbistro"];
/// Breaks a MUST without being in the way of what else is computed.
const BROKEN: &str = "--stdio, --fault, wrong-id, --openapi, reonomy/openapi.json";

/// A copy of the three, with the entries of the real file.
fn scene() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/factory");
    let copy = |path: &Path| {
        std::fs::copy(examples.join(path), folder.path().join(path)).expect("a file");
    };
    copy(Path::new("upstream.py"));
    for name in CHOSEN {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
        for entry in std::fs::read_dir(examples.join(name)).expect("the example") {
            copy(&PathBuf::from(name).join(entry.expect("a file").file_name()));
        }
    }
    let text = std::fs::read_to_string(examples.join("fleet.yaml")).expect("the fleet");
    let mut parts = text.split("\n  - name: ");
    let head = parts.next().expect("a head").to_owned();
    let is_chosen = |part: &&str| CHOSEN.iter().any(|name| part.lines().next() == Some(name));
    let chosen: Vec<&str> = parts.filter(is_chosen).collect();
    assert_eq!(chosen.len(), CHOSEN.len(), "each has its entry");
    let entries = chosen.iter().map(|part| format!("\n  - name: {part}")).collect::<Vec<_>>().concat();
    std::fs::write(folder.path().join("fleet.yaml"), head + &entries + "\nlimits: { seconds: 280 }\n").expect("a file");
    folder
}

fn fleet(folder: &Path, arguments: &[&str]) -> (Output, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof-fleet"));
    let output = command.args(arguments).args(["--format", "json"]).current_dir(folder).output().expect("the program");
    let document = serde_json::from_slice(&output.stdout);
    let document = document.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (output, document)
}

#[test]
fn three_apis_are_as_wanted_a_second_run_computes_nothing_and_a_broken_one_is_found() {
    let folder = scene();
    let (first, document) = fleet(folder.path(), &["run"]);
    let said = String::from_utf8_lossy(&first.stderr);
    let summary = &document["summary"];
    assert_eq!((&summary["as_wanted"], &summary["perfect"]), (&json!(3), &json!(3)), "{said}");
    assert!(summary["test_files"].as_u64() >= Some(6) && summary["cases"].as_u64() >= Some(300), "{summary}");
    assert_eq!(first.status.code(), Some(0), "{said}");
    let (_, second) = fleet(folder.path(), &["run"]);
    assert_eq!((&second["run"]["computed"], &second["run"]["answered"]), (&json!(0), &json!(3)));

    let file = folder.path().join("fleet.yaml");
    let text = std::fs::read_to_string(&file).expect("the fleet");
    let broken = text.replace("--stdio, --openapi, reonomy/openapi.json", BROKEN);
    assert_ne!(broken, text);
    std::fs::write(&file, broken).expect("the fleet");
    let (third, document) =
        fleet(folder.path(), &["run", "--gate", "starts", "--gate", "described", "--gate", "conforms"]);
    assert_eq!(third.status.code(), Some(1));
    assert_eq!(document["run"]["computed"], 3, "what did not change is not computed");
    let servers = document["servers"].as_array().expect("servers");
    let stages: Vec<_> = servers.iter().map(|one| (one["name"].as_str(), one["stage"].as_u64())).collect();
    assert_eq!(stages, [(Some("fieldedge"), Some(6)), (Some("reonomy"), Some(3)), (Some("touchbistro"), Some(6))]);
    let (next, document) = fleet(folder.path(), &["next"]);
    assert_eq!(next.status.code(), Some(1));
    let shown = document.to_string();
    assert!(shown.contains("reonomy") && shown.contains("conforms"), "{shown}");
}

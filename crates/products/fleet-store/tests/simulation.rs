//! Small versions of `cargo xtask fleet-kill` and `cargo xtask fleet-scale`, on SQLite.

use std::process::Command;

fn simulate(role: &str, arguments: &[String]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fleet-simulation")).arg(role).args(arguments).output();
    let output = output.expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[test]
fn what_is_killed_at_any_point_loses_nothing_and_records_nothing_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name).display().to_string();
    let arguments =
        [format!("store={}", place("fleet.db")), format!("artefacts={}", place("artefacts")), "times=7".to_owned()];
    let said = simulate("kill", &[&arguments[..], &["servers=40".to_owned()]].concat());
    assert!(said.contains("7 coordinators killed") && said.contains("7 workers killed"), "{said}");
    assert!(said.contains("280 results are there, each once"), "{said}");
}

#[test]
fn a_larger_fleet_costs_no_more_for_each_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [format!("folder={}", folder.path().display()), "servers=80".to_owned(), "slower=4".to_owned()];
    let said = simulate("scale", &arguments);
    assert!(said.lines().any(|line| line.trim_start().starts_with("80    560")), "{said}");
}

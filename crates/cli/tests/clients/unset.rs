//! Variables that an entry needs and that are not set: named with file, line and column.

use serde_json::{Value, json};

use crate::home::Home;

/// An entry with a variable in each member that Claude Code fills in, as a person writes the file.
const PROJECT: &str = r#"{
  // the servers
  "mcpServers": {
    "a": { "command": "${C}", "args": ["x", "--key=${A}", "${D:-given}"],
      "env": { "E": "${E}", "SET": "${HOME}" } },
    "b": { "type": "http", "url": "https://${U}/mcp", "headers": { "X-Key": "${H}" } }
  }
}
"#;

const PLACES: [(&str, &str, &str, &str); 5] = [
    ("a", "C", "command", "4:24"),
    ("a", "A", "args[1]", "4:52"),
    ("a", "E", "env.E", "5:22"),
    ("b", "U", "url", "6:44"),
    ("b", "H", "headers.X-Key", "6:78"),
];

#[test]
fn every_verb_that_shows_entries_names_them_by_their_place() {
    let home = Home::new();
    home.put("project/.mcp.json", PROJECT);
    let file = format!("{}/.mcp.json", home.project());
    let json = |arguments: &[&str]| -> Value {
        let ran = home.run(arguments);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr))
    };
    let list = json(&["list", "--client", "claude-code", "--json"]);
    let effective = json(&["config", "effective", "--client", "claude-code", "--json"]);
    let doctor = json(&["doctor", "--client", "claude-code", "--json"]);
    let one = |document: &Value, list: &str, name: &str| {
        let entries = document[list].as_array().expect("a list").iter();
        entries.clone().find(|one| one["name"] == name).expect("the entry").clone()
    };
    for (name, variable, member, at) in PLACES {
        let words = format!("{variable} in {member} is not set, and has no default ({file}:{at})");
        let has = |value: &Value| value.as_array().expect("a list").contains(&json!(words));
        let notes = &one(&list, "servers", name)["notes"];
        assert!(has(notes), "{words}: {notes}");
        let faults = &one(&doctor, "entries", name)["faults"];
        assert!(has(faults), "{words}: {faults}");
        let (line, column) = at.split_once(':').expect("a place");
        let expected = json!({
            "variable": variable, "member": member, "file": file,
            "line": line.parse::<u64>().unwrap(), "column": column.parse::<u64>().unwrap(),
        });
        let unset = &one(&effective, "entries", name)["unset"];
        assert!(unset.as_array().expect("a list").contains(&expected), "{expected}: {unset}");
    }
    for document in [&list, &effective, &doctor] {
        let text = document.to_string();
        assert_eq!(text.matches("D in").count() + text.matches("HOME").count(), 0, "{text}");
    }
    for name in ["a", "b"] {
        let ran = home.run(&["doctor", name, "--client", "claude-code"]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    }
    for arguments in [&["list"][..], &["config", "effective"], &["doctor", "a"]] {
        let text = home.run(arguments).stdout;
        assert!(text.contains(":4:24)"), "{text}");
    }
    assert_eq!(home.run(&["doctor", "none"]).code, Some(2));
}

#[test]
fn what_is_set_or_is_no_reference_of_the_client_is_not_named() {
    let home = Home::new();
    home.put(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"a": {"command": "sh", "args": ["-c", "echo ${A}", "${env:B}"]}}}"#,
    );
    home.put(".codex/config.toml", "[mcp_servers.a]\ncommand = \"sh\"\nenv_vars = [\"HOME\", \"K\"]\n");
    let text = home.done(&["list"]);
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("B in args[2] is not set") && joined.contains("mcp.json:1:69)"), "{text}");
    assert!(joined.contains("K in env_vars[1] is not set") && joined.contains("config.toml:3:22)"), "{text}");
    assert!(!joined.contains("A in") && !joined.contains("HOME in"), "{text}");
    let mut set = home.command(&["list"]);
    let ran = crate::printed::Printed::by(set.env("B", "b").env("K", "k"));
    assert!(!ran.stdout.contains("is not set") && !ran.stdout.contains("no default"), "{}", ran.stdout);
}

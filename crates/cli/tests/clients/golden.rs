//! Every client of the data file, with an empty, a typical, a commented and a broken file: what is not the one entry stays.

use serde_json::Value;

use crate::home::Home;

/// A client, and the file of its user relative to the user's folder.
struct Known {
    id: String,
    file: String,
    key: Vec<String>,
}

fn known(home: &Home) -> Vec<Known> {
    let document: Value = serde_json::from_str(&home.done(&["clients", "--json"])).expect("JSON");
    let root = home.path("").to_string_lossy().into_owned();
    let clients =
        document["clients"].as_array().expect("a list").iter().filter(|client| client["discontinued"] == false);
    let known = clients.map(|client| {
        let scopes = client["scopes"].as_array().expect("a list");
        let user = scopes.iter().find(|scope| scope["scope"] == "user").expect("every client has this scope");
        let file = user["file"].as_str().expect("a path").strip_prefix(&root).expect("a file of the user");
        let key =
            client["servers_at"].as_array().expect("a list").iter().map(|key| key.as_str().expect("a key").to_owned());
        Known { id: client["id"].as_str().expect("an id").to_owned(), file: file.to_owned(), key: key.collect() }
    });
    known.collect()
}

fn is_list(id: &str) -> bool {
    matches!(id, "continue" | "mistral-vibe")
}

impl Known {
    fn ending(&self) -> &str {
        self.file.rsplit('.').next().unwrap_or_default()
    }

    fn typical(&self) -> String {
        let key = &self.key[0];
        match self.ending() {
            "toml" if is_list(&self.id) => format!(
                "model = \"m\"\n\n[[{key}]]\nname = \"other\"\ncommand = \"node\"\nargs = [\"x.js\"]\n\n[ui]\ntheme = \"dark\"\n"
            ),
            "toml" => format!(
                "model = \"m\"\n\n[{key}.other]\ncommand = \"node\"\nargs = [\"x.js\"]\n\n[ui]\ntheme = \"dark\"\n"
            ),
            "yaml" if is_list(&self.id) => {
                format!("name: me\n{key}:\n  - name: other\n    command: node\n    args:\n      - x.js\nmodels: []\n")
            }
            "yaml" => {
                format!("model: m\n{key}:\n  other:\n    cmd: node\n    args: [x.js]\n    enabled: false\nz: 1\n")
            }
            _ => format!(
                "{{\n  \"theme\": \"dark\",\n  \"{key}\": {{\n    \"other\": {{ \"command\": \"node\", \"args\": [\"x.js\"], \"disabled\": true }}\n  }},\n  \"z\": [1, 2]\n}}\n"
            ),
        }
    }

    fn commented(&self) -> String {
        let key = &self.key[0];
        match self.ending() {
            "toml" if is_list(&self.id) => format!(
                "# head\r\n\r\nmodel='m' # m\r\n[[{key}]] # first\r\nname = \"other\" # its name\r\n# about the command\r\ncommand = 'node'\r\n\r\n# the end\r\n[ui]\r\ntext = '''\r\n[[{key}]]\r\n'''\r\n# foot"
            ),
            "toml" => format!(
                "# head\r\n\r\nmodel='m' # m\r\n[{key}.other] # first\r\n# about the command\r\ncommand = 'node'\r\n[{key}.other.env] # more\r\nA = \"1\"\r\n\r\n# the end\r\n[ui]\r\ntext = '''\r\n[{key}.srv]\r\n'''\r\n# foot"
            ),
            "yaml" if is_list(&self.id) => format!(
                "# head\nname: me   # me\n\n{key}:   # servers\n\n  # the first\n  - name: other # its name\n    command: node\n\n    # end of the first\n\n# before models\nmodels:\n- a\n- b # b\ntext: |\n  - name: srv\n  # no comment\n"
            ),
            "yaml" => format!(
                "# head\nmodel: m   # m\n\n{key}:   # servers\n\n    # the first\n    other: # its name\n        cmd: node\n\n        # end of the first\n\n# before z\nz:\n- a\n- b # b\ntext: |\n  srv:\n  # no comment\n"
            ),
            _ => format!(
                "\u{feff}// head\r\n{{\r\n\t// about the theme, {{ }}\r\n\t\"theme\": \"dark\", /* dark */\r\n\r\n\t\"{key}\": {{ // servers\r\n\t\t/* the first */ \"other\": {{ \"command\": \"node\", // node\r\n\t\t\t\"url\": \"// no comment\", }}, // after it\r\n\t\t// last of the servers\r\n\t}},\r\n\t\"z\": [1, 2,], // z\r\n}} // foot\r\n"
            ),
        }
    }

    /// TOML with its servers in braces or brackets; other files as [`Self::commented`].
    fn inline(&self) -> String {
        let key = &self.key[0];
        match self.ending() {
            "toml" if is_list(&self.id) => format!(
                "{key} = [ # mine\n  {{ name = \"other\", command = \"x\", since = 2020-01-01 }}, # why\n  # end\n]\nz = 0xFF\n"
            ),
            "toml" => {
                format!("{key} = {{ other = {{ command = \"x\", since = 2020-01-01, f = 1e3 }} }} # mine\nz = 0xFF\n")
            }
            _ => self.commented(),
        }
    }

    fn broken(&self) -> String {
        match self.ending() {
            "toml" => "model = \"m\"\n[mcp_servers.other\ncommand = 1\n".to_owned(),
            "yaml" => "extensions:\n  other: [1\nz: 1\n".to_owned(),
            _ => "{ \"mcpServers\": { \"other\"".to_owned(),
        }
    }
}

fn all(home: &Home, known: &[Known], arguments: &[&str]) -> String {
    let ids: Vec<_> = known.iter().map(|client| client.id.as_str()).collect();
    home.done(&[&arguments[..2], &["--scope", "user", "--client", &ids.join(",")], &arguments[2..]].concat())
}

/// Adds, changes and removes a server in all clients, with another one added between, so that nothing is restored as a whole.
fn in_and_out(variant: &str, text: fn(&Known) -> String) {
    let home = Home::new();
    let known = known(&home);
    assert!(known.len() >= 40, "{}", known.len());
    for client in &known {
        home.put(&client.file, &text(client));
    }
    let add = |name: &str, version: &str| {
        let package = format!("{name}@{version}");
        all(&home, &known, &["add", name, "--no-verify", "--env", "LOG=debug", "--", "npx", "-y", &package])
    };
    let texts = || known.iter().map(|client| home.text(&client.file)).collect::<Vec<_>>();
    add("srv", "1.0.0");
    let with = texts();
    add("srv", "2.0.0");
    for (client, with) in known.iter().zip(&with) {
        let changed = home.text(&client.file);
        assert_eq!(
            changed,
            with.replace("srv@1.0.0", "srv@2.0.0"),
            "{} {variant}: more than the version changed",
            client.id
        );
        assert!(with.contains("srv@1.0.0"), "{} {variant}: {with}", client.id);
    }
    home.done(&["undo"]);
    assert_eq!(texts(), with, "{variant}: undo of a change");
    add("later", "1.0.0");
    let before = texts();
    all(&home, &known, &["remove", "srv"]);
    home.done(&["undo"]);
    assert_eq!(texts(), before, "{variant}: undo of a removal");
    all(&home, &known, &["remove", "srv"]);
    all(&home, &known, &["remove", "later"]);
    for client in &known {
        let (after, before) = (home.text(&client.file), text(client));
        assert_eq!(after, before, "{} {variant}: something stayed or went", client.id);
    }
}

#[test]
fn a_typical_file_is_as_it_was() {
    in_and_out("typical", Known::typical);
}

#[test]
fn a_commented_file_is_as_it_was() {
    in_and_out("commented", Known::commented);
}

#[test]
fn a_file_with_inline_tables_is_as_it_was() {
    in_and_out("inline", Known::inline);
}

#[test]
fn an_empty_file_takes_an_entry_and_undo_empties_it() {
    let home = Home::new();
    let known = known(&home);
    for client in &known {
        home.put(&client.file, "");
    }
    all(&home, &known, &["add", "srv", "--no-verify", "--", "npx", "-y", "srv@1.0.0"]);
    let mut golden = String::new();
    for client in &known {
        golden.extend(["--- ", &client.id, " (", &client.file, ")\n", &home.text(&client.file)]);
    }
    insta::assert_snapshot!("entries_of_all_clients", golden);
    let texts = || known.iter().map(|client| home.text(&client.file)).collect::<Vec<_>>();
    let with = texts();
    all(&home, &known, &["add", "srv", "--no-verify", "--", "npx", "-y", "srv@2.0.0"]);
    for ((client, with), changed) in known.iter().zip(&with).zip(texts()) {
        assert_eq!(changed, with.replace("srv@1.0.0", "srv@2.0.0"), "{}: more than the version changed", client.id);
    }
    home.done(&["undo"]);
    assert_eq!(texts(), with, "undo of a change");
    all(&home, &known, &["remove", "srv"]);
    assert!(texts().iter().all(String::is_empty), "a file that was empty is empty after the removal");
    home.done(&["undo"]);
    assert_eq!(texts(), with, "undo of the removal");
    home.done(&["undo"]);
    assert!(texts().iter().all(String::is_empty), "undo of the addition");
}

#[test]
fn a_broken_file_is_left_alone_with_its_place() {
    let home = Home::new();
    let known = known(&home);
    for client in &known {
        home.put(&client.file, &client.broken());
        for arguments in [
            &["add", "srv", "--scope", "user", "--client", &client.id, "--no-verify", "--", "x"][..],
            &["remove", "other", "--client", &client.id],
        ] {
            let ran = home.run(arguments);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}: {}", client.id, ran.stderr);
            let place = format!("{}:", home.path(&client.file).display());
            let line = ran.stderr.split(&place).nth(1).unwrap_or_else(|| panic!("{}: {}", client.id, ran.stderr));
            assert!(
                line.starts_with(|c: char| c.is_ascii_digit()) && line.contains("\n  try: "),
                "{}: {}",
                client.id,
                ran.stderr
            );
        }
        assert_eq!(home.text(&client.file), client.broken(), "{}", client.id);
    }
    let ran = home.run(&["undo"]);
    assert_eq!(ran.code, Some(2), "nothing was changed: {}", ran.stdout);
}

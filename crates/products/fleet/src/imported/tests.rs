//! Entries from foreign files.

use std::path::Path;

use super::{Imported, Kind, added, read};
use crate::config::{Fleet, Launch};

const SECRET: &str = "sk-4829a7c1e5b36d08f2a91b7c3d";

/// What a file of this name and content lists.
fn imported(name: &str, text: &str) -> (Kind, Vec<Imported>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a file");
    read(&path, folder.path()).expect("servers")
}

fn entries(servers: &[Imported]) -> String {
    servers.iter().filter_map(|one| one.entry(&one.name).ok()).collect()
}

/// The fleet of these entries.
fn fleet(entries: &str) -> Fleet {
    Fleet::read(&format!("servers:\n{entries}"), ".".into()).unwrap_or_else(|errors| panic!("{errors:?}: {entries}"))
}

#[test]
fn a_gateway_a_client_and_a_list_give_launches_without_secrets() {
    let gateway = format!(
        "upstreams:\n  docs:\n    url: https://docs.example/mcp\n    headers: {{ Authorization: {{ from_file: /run/token }} }}\n  \
         shop:\n    command: [node, shop.js, --fast]\n    cwd: work\n    env: {{ TOKEN: {{ from_env: SHOP }}, MODE: \"{SECRET}\" }}\n    \
         inherit_env: [LANG_X]\n"
    );
    let (kind, servers) = imported("gateway.yaml", &gateway);
    let text = entries(&servers);
    let found = fleet(&text);
    assert_eq!((kind, found.servers.len()), (Kind::Gateway, 2));
    assert!(!text.contains(SECRET), "{text}");
    let shop = found.server("shop").expect("a server");
    assert_eq!(shop.launch, Launch::Command(["node", "shop.js", "--fast"].map(str::to_owned).to_vec()));
    assert_eq!((shop.cwd.as_deref(), shop.env.len()), (Some("work"), 3));
    assert_eq!(found.server("docs").expect("a server").launch, Launch::Url("https://docs.example/mcp".to_owned()));

    let client = format!(
        "{{ // a comment\n \"mcpServers\": {{ \"issues\": {{ \"command\": \"npx\", \"args\": [\"-y\", \"issues-mcp@1.2.3\"], \
         \"env\": {{ \"T\": \"{SECRET}\" }} }}, \"leaky\": {{ \"command\": \"x\", \"args\": [\"--api-key\", \"{SECRET}\"] }} }} }}"
    );
    let (kind, servers) = imported("mcp.json", &client);
    assert_eq!((kind, servers.len()), (Kind::Client, 2));
    assert!(servers[1].entry("leaky").is_err_and(|why| why.contains("secret") && !why.contains(SECRET)));
    assert_eq!(fleet(&entries(&servers)).servers.len(), 1);

    let list = "clients: [cursor]\nservers:\n  weather: { command: npx, args: [-y, weather-mcp@1.2.3] }\n  docs: { url: \"https://d.example/mcp\" }\n";
    let (kind, servers) = imported("mcp.servers.yaml", list);
    assert_eq!((kind, fleet(&entries(&servers)).servers.len()), (Kind::List, 2));
}

#[test]
fn an_inventory_comes_back_from_json_and_markdown() {
    let text = "servers:\n  - { name: shop, owner: ada, source: a|b, tools: 12, language: TypeScript, lines: 4656, tags: [x, y], \
                command: [node, 'a b.js'], env: { TOKEN: { env: TOKEN } }, tests: [shop] }\n  \
                - { name: docs, url: \"https://docs.example/mcp\", bearer: { env: DOCS_TOKEN } }\n";
    let before = Fleet::read(text, ".".into()).expect("valid");
    let states: Vec<_> = before
        .servers
        .iter()
        .map(|server| crate::state::ServerState::of(&before, server, crate::state::Kept::default(), 1))
        .collect();
    let json = crate::show::inventory::json(&before, &states).to_string();
    let (kind, servers) = imported("inventory.json", &json);
    let after = fleet(&entries(&servers));
    assert_eq!(kind, Kind::Inventory);
    for (old, new) in before.servers.iter().zip(&after.servers) {
        assert_eq!(
            (&old.name, &old.launch, &old.owner, &old.source),
            (&new.name, &new.launch, &new.owner, &new.source)
        );
        assert_eq!((old.tools, old.lines, &old.tags, &old.tests), (new.tools, new.lines, &new.tags, &new.tests));
        assert_eq!((&old.env, &old.bearer), (&new.env, &new.bearer));
    }
    let (kind, servers) = imported("INVENTORY.md", &crate::show::inventory::markdown(&before, &states));
    let after = fleet(&entries(&servers));
    assert_eq!((kind, after.servers.len()), (Kind::Inventory, 2));
    let shop = &after.servers[0];
    assert_eq!((shop.owner.as_deref(), shop.source.as_deref(), shop.lines), (Some("ada"), Some("a|b"), Some(4656)));
    let by_hand = "# Ours\n\n| Name | URL | Tools |\n|:--|---|---|\n| [crm](crm/) | https://crm.example/mcp | 1,204 |\n\ntext | more\n";
    let (_, servers) = imported("list.md", by_hand);
    let crm = fleet(&entries(&servers)).servers.remove(0);
    assert_eq!((crm.name.as_str(), crm.tools), ("crm", Some(1204)));
    assert_eq!(crm.launch, Launch::Url("https://crm.example/mcp".to_owned()));
}

#[test]
fn what_lists_no_server_or_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in
        [("a.json", "{"), ("b.json", "{}"), ("c.md", "no table"), ("d.yaml", "upstreams: {}"), ("e.json", "[1]")]
    {
        std::fs::write(folder.path().join(name), text).expect("a file");
        assert!(read(&folder.path().join(name), Path::new("/")).is_err(), "{name}");
    }
    assert!(read(&folder.path().join("missing.json"), Path::new("/")).is_err());
}

#[test]
fn entries_are_added_behind_the_last_server_and_nothing_else_changes() {
    let before = "# ours\nname: x\nservers:\n- name: a   # first\n  command: [x]\n\n# what is green\nthresholds: { touched: 10 }\n";
    let after = added(before, "  - name: b\n    command: [y]\n").expect("a text");
    let expected = "# ours\nname: x\nservers:\n- name: a   # first\n  command: [x]\n- name: b\n  command: [y]\n\n# what is green\nthresholds: { touched: 10 }\n";
    assert_eq!(after, expected);
    let wide = added("servers:\n    - { name: a, command: [x] }\n", "  - name: b\n    command: [y]\n").expect("a text");
    assert!(wide.ends_with("    - name: b\n      command: [y]\n"), "{wide}");
    assert_eq!(Fleet::read(&wide, ".".into()).expect("valid").servers.len(), 2);
    assert_eq!(added("servers: [{ name: a, command: [x] }]\n", "  - name: b\n"), None);
    assert_eq!(added("name: x\n", "  - name: b\n"), None);
}

#[test]
fn a_file_with_too_many_servers_is_refused_and_not_cut() {
    let list = |number: usize| {
        let rows: Vec<String> = (0..number).map(|at| format!("{{\"name\":\"s{at}\"}}")).collect();
        let file = tempfile::Builder::new().suffix(".json").tempfile().expect("a file");
        std::fs::write(file.path(), format!("[{}]", rows.join(","))).expect("written");
        read(file.path(), Path::new("."))
    };
    assert_eq!(list(super::MOST).expect("servers").1.len(), super::MOST);
    let why = list(super::MOST + 1).expect_err("one too many");
    assert!(why.contains("10001") && why.contains("10000"), "{why}");
}

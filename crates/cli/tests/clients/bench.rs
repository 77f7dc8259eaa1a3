//! Times with many clients and servers. The bounds are loose: a debug build on a busy machine keeps them, too.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::home::Home;

#[test]
fn forty_clients_with_fifty_servers_are_listed_and_synced_in_time() {
    let home = Home::new();
    let servers: Map<_, _> = (0..50)
        .map(|number| (format!("s{number}"), json!({ "command": "npx", "args": ["-y", format!("p{number}@1.0.0")] })))
        .collect();
    home.put("list.json", &json!({ "servers": servers }).to_string());
    let document: Value = serde_json::from_str(&home.done(&["clients", "--json"])).expect("JSON");
    let ids: Vec<_> = document["clients"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|one| one["discontinued"] == false)
        .map(|one| one["id"].as_str().expect("an id").to_owned())
        .collect();
    let timed = |arguments: &[&str]| {
        let start = Instant::now();
        let text = home.done(arguments);
        (start.elapsed(), text)
    };
    let ids = ids.join(",");
    let sync = ["sync", "../list.json", "--scope", "user", "--client", &ids];
    let (first, _) = timed(&sync);
    let (second, _) = timed(&sync);
    let (list, text) = timed(&["list"]);
    println!("sync {first:?}, again {second:?}, list {list:?}");
    assert!(text.contains("2100 entries in 42 clients"), "{}", text.lines().last().unwrap_or_default());
    assert!(first < Duration::from_mins(1) && second < Duration::from_secs(30) && list < Duration::from_secs(10));
}

//! `replicas`.

use super::{FULL, mentions, settings, upstream};

const KEYS: &str = "keys: [{ from_env: REPLICA_KEY }]";

fn file(replicas: &str) -> String {
    format!("{}store: redis://h\nreplicas: {{ {replicas} }}\n", upstream("command: [x]"))
}

#[test]
fn replicas_are_read() {
    assert_eq!(settings(&upstream("command: [x]")).replicas, None);
    let full = settings(FULL).replicas.expect("replicas");
    assert_eq!(
        (full.own.as_str(), full.listen.to_string().as_str()),
        ("http://gateway-1.internal:3001/", "10.0.0.1:3001")
    );
    assert!(full.keys.len() == 1 && !format!("{full:?}").contains("AQEB"));
    let least = settings(&file(&format!("self: 'http://[::1]:3001', {KEYS}"))).replicas.expect("replicas");
    assert_eq!(least.listen.to_string(), "[::1]:3001");
}

#[test]
fn replicas_are_checked() {
    for (members, parts) in [
        (KEYS.to_owned(), &["`replicas` has no `self`", "http://10.0.0.1:3001"][..]),
        ("self: 'http://10.0.0.1:3001'".to_owned(), &["`replicas` has no `keys`", "from_env"]),
        (format!("self: 'http://gateway-1:3001', {KEYS}"), &["`self` has a host name", "listen"]),
        (format!("self: 'http://10.0.0.1:3001', listen: all, {KEYS}"), &["`all` is not an IP address with a port"]),
        (format!("self: 'http://10.0.0.1:3001', allow: all, {KEYS}"), &["`allow` is unknown"]),
        ("self: 'http://10.0.0.1:3001', keys: []".to_owned(), &["`keys` is empty"]),
        ("self: 'http://10.0.0.1:3001', keys: [abc]".to_owned(), &["`keys` stands in the file", "from_env"]),
        ("self: 'http://10.0.0.1:3001', keys: [{ from_env: FILES_KEY }]".to_owned(), &["is not 32 bytes in base64"]),
    ] {
        mentions(&file(&members), parts);
    }
    for wrong in [
        "https://10.0.0.1:3001",
        "http://10.0.0.1",
        "10.0.0.1:3001",
        "http://10.0.0.1:3001/a",
        "http://u@10.0.0.1:3001",
    ] {
        mentions(&file(&format!("self: '{wrong}', {KEYS}")), &["`self` is not http:// with a host and a port"]);
    }
    let replicas = format!("replicas: {{ self: 'http://10.0.0.1:3001', {KEYS} }}\n");
    for store in ["", "store: ./state\n"] {
        let file = format!("{}{store}{replicas}", upstream("command: [x]"));
        mentions(&file, &["`replicas` needs a store that gateways share", "redis://"]);
    }
}
